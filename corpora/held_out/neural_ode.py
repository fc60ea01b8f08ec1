"""
Neural ODE playground (no torchdiffeq).
spiral fit, latent ODE on irregular sines, 2d CNF, ODE-Net on digits with an adjoint Function
"""
import os
import tempfile
from collections import defaultdict

import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_digits, make_moons
from sklearn.model_selection import train_test_split

torch.manual_seed(42)
np.random.seed(42)
history = defaultdict(list)


# ------------------------------------------------------------------ solvers
def euler_step(f, t, dt, y):
    return y + dt * f(t, y)


def rk4_step(f, t, dt, y):
    k1 = f(t, y)
    k2 = f(t + dt / 2, y + dt * k1 / 2)
    k3 = f(t + dt / 2, y + dt * k2 / 2)
    k4 = f(t + dt, y + dt * k3)
    return y + dt * (k1 + 2 * k2 + 2 * k3 + k4) / 6


STEPPERS = {'euler': euler_step, 'rk4': rk4_step}


def odeint(f, y0, t, method='rk4', substeps=1):
    """returns solution at all t, stacked along dim 0. y0 may be a tuple."""
    if isinstance(y0, tuple):
        shapes = [y.shape for y in y0]
        sizes = [y.numel() for y in y0]

        def flat_f(tt, y):
            parts = [p.view(s) for p, s in zip(y.split(sizes), shapes)]
            return torch.cat([d.reshape(-1) for d in f(tt, tuple(parts))])

        sol = odeint(flat_f, torch.cat([y.reshape(-1) for y in y0]), t, method, substeps)
        return tuple(o.view(len(t), *s) for o, s in zip(sol.split(sizes, dim=1), shapes))

    step = STEPPERS[method]
    ys = [y0]
    y = y0
    for t0, t1 in zip(t[:-1], t[1:]):
        h = (t1 - t0) / substeps
        for k in range(substeps):
            y = step(f, t0 + k * h, h, y)
        ys.append(y)
    return torch.stack(ys)


class RunningAverageMeter:
    def __init__(self, momentum=0.9):
        self.momentum, self.val, self.avg = momentum, None, 0

    def update(self, val):
        self.avg = val if self.val is None else self.avg * self.momentum + val * (1 - self.momentum)
        self.val = val


# ------------------------------------------------------------------ part 1
data_size, batch_time, batch_size = 120, 9, 16
true_y0 = torch.tensor([[2., 0.]])
t = torch.linspace(0., 8., data_size)
true_A = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])

with torch.no_grad():
    true_y = odeint(lambda t, y: torch.mm(y ** 3, true_A), true_y0, t, substeps=4)
print('true trajectory', true_y.shape)


def get_batch():
    s = torch.from_numpy(np.random.choice(np.arange(data_size - batch_time, dtype=np.int64), batch_size, replace=False))
    batch_y0 = true_y[s]
    batch_t = t[:batch_time]
    batch_y = torch.stack([true_y[s + i] for i in range(batch_time)], dim=0)
    return batch_y0, batch_t, batch_y


class ODEFunc(nn.Module):
    def __init__(self):
        super(ODEFunc, self).__init__()
        self.nfe = 0
        self.net = nn.Sequential(nn.Linear(2, 50), nn.Tanh(), nn.Linear(50, 2))
        for m in self.net.modules():
            if isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, mean=0, std=0.1)
                nn.init.constant_(m.bias, val=0)

    def forward(self, t, y):
        self.nfe += 1
        return self.net(y ** 3)


func = ODEFunc()
optimizer = torch.optim.RMSprop(func.parameters(), lr=1e-3)
meter = RunningAverageMeter(0.97)
for itr in range(3):
    optimizer.zero_grad()
    batch_y0, batch_t, batch_y = get_batch()
    pred_y = odeint(func, batch_y0, batch_t)
    loss = torch.mean(torch.abs(pred_y - batch_y))
    loss.backward()
    optimizer.step()
    meter.update(loss.item())
    history['spiral'].append(loss.item())
with torch.no_grad():
    full = odeint(func, true_y0, t, method='euler')
    err = (full - true_y).squeeze(1).norm(dim=1)
print(f'spiral loss {meter.avg:.4f} nfe {func.nfe} final err {err[-1]:.3f} worst at {err.argmax().item()}')

# ------------------------------------------------------------------ part 2
latent_dim, obs_dim, rec_hidden, nsample, n_series = 6, 3, 22, 25, 14


def make_series(n, n_t):
    ts = np.sort(np.random.uniform(0, 5, size=n_t))
    freq = np.random.uniform(0.8, 1.4, size=(n, 1, 1))
    phase = np.random.uniform(0, 2 * np.pi, size=(n, 1, obs_dim))
    x = np.sin(freq * ts[None, :, None] + phase)
    x += 0.05 * np.random.randn(*x.shape)
    mask = np.random.rand(n, n_t, 1) > 0.2
    return torch.from_numpy(ts).float(), torch.from_numpy(x).float(), torch.from_numpy(mask).float()


class LatentODEfunc(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(dim + 1, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, dim)
        self.act = nn.ELU(inplace=True)

    def forward(self, t, z):
        tt = torch.ones(z.shape[0], 1) * t
        h = self.act(self.fc1(torch.cat([z, tt], 1)))
        return self.fc3(self.act(self.fc2(h)))


class RecognitionRNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(2 * obs_dim, rec_hidden)
        self.out = nn.Linear(rec_hidden, latent_dim * 2)

    def forward(self, x, m):
        h = torch.zeros(x.size(0), rec_hidden)
        for i in reversed(range(x.size(1))):
            h_new = self.cell(torch.cat((x[:, i] * m[:, i], m[:, i].expand(-1, obs_dim)), dim=1), h)
            h = torch.where(m[:, i] > 0, h_new, h)
        return self.out(h)


ts, series, obs_mask = make_series(n_series, nsample)
lfunc, rec = LatentODEfunc(latent_dim, 18), RecognitionRNN()
dec = nn.Sequential(nn.Linear(latent_dim, 20), nn.ReLU(inplace=True), nn.Linear(20, obs_dim))
params = list(lfunc.parameters()) + list(rec.parameters()) + list(dec.parameters())
opt = torch.optim.Adam(params, lr=1e-2)
for itr in range(3):
    out = rec(series, obs_mask)
    mean, logvar = out[:, :latent_dim], out[:, latent_dim:]
    z0 = mean + torch.randn_like(mean) * torch.exp(.5 * logvar)
    pred_z = odeint(lfunc, z0, ts).permute(1, 0, 2)
    pred_x = dec(pred_z)
    const = np.log(2 * np.pi * 0.3 ** 2)
    logpx = -.5 * (const + (series - pred_x) ** 2 / 0.3 ** 2) * obs_mask
    logpx = logpx.sum(-1).sum(-1)
    kl = 0.5 * (mean ** 2 + logvar.exp() - 1 - logvar).sum(-1)
    elbo = torch.mean(logpx - kl, dim=0)
    opt.zero_grad()
    (-elbo).backward()
    opt.step()
    history['latent'].append(-elbo.item())
print('latent ode -elbo', ['%.1f' % v for v in history['latent']], pred_x.shape)


# ------------------------------------------------------------------ part 3
class HyperCNF(nn.Module):
    """rank-width time dependent vector field, weights come from a hyper network"""

    def __init__(self, in_out_dim, hidden_dim, width):
        super().__init__()
        blocksize = width * in_out_dim
        self.fc = nn.Sequential(nn.Linear(1, hidden_dim), nn.Tanh(), nn.Linear(hidden_dim, 3 * blocksize + width))
        self.d, self.width, self.blocksize = in_out_dim, width, blocksize

    def hyper(self, t):
        p = self.fc(t.reshape(1, 1)).reshape(-1)
        W = p[:self.blocksize].reshape(self.width, self.d, 1)
        U = p[self.blocksize:2 * self.blocksize].reshape(self.width, 1, self.d)
        G = p[2 * self.blocksize:3 * self.blocksize].reshape(self.width, 1, self.d)
        B = p[3 * self.blocksize:].reshape(self.width, 1, 1)
        return W, B, U * torch.sigmoid(G)

    def forward(self, t, states):
        z, _ = states
        with torch.enable_grad():
            z = z.requires_grad_(True) if z.is_leaf else z
            W, B, U = self.hyper(t)
            Z = z.unsqueeze(0).repeat(self.width, 1, 1)
            h = torch.tanh(torch.matmul(Z, W) + B)
            dz = torch.matmul(h, U).mean(0)
            trace = 0.
            for i in range(self.d):
                trace = trace + torch.autograd.grad(dz[:, i].sum(), z, create_graph=True)[0][:, i]
        return dz, -trace.view(-1, 1)


moons = torch.from_numpy(make_moons(60, noise=0.05)[0].astype('float32'))
moons = (moons - moons.mean(0)) / moons.std(0)
cnf = HyperCNF(2, 10, 24)
base = torch.distributions.MultivariateNormal(torch.zeros(2), 0.5 * torch.eye(2))
copt = torch.optim.Adam(cnf.parameters(), lr=3e-3)
for itr in range(2):
    copt.zero_grad()
    x = moons.clone().requires_grad_(True)
    z_t, dlogp = odeint(cnf, (x, torch.zeros(len(x), 1)), torch.linspace(1., 0., 6))
    logp = base.log_prob(z_t[-1]) - dlogp[-1].view(-1)
    closs = -logp.mean()
    closs.backward()
    copt.step()
    history['cnf'].append(closs.item())
print('cnf nll', history['cnf'])


# ------------------------------------------------------------------ part 4
class AdjointRK4(torch.autograd.Function):
    @staticmethod
    def forward(ctx, func, y0, n_steps, *params):
        ctx.func, ctx.n = func, n_steps
        h = 1.0 / n_steps
        with torch.no_grad():
            y = y0
            for i in range(n_steps):
                y = rk4_step(func, i * h, h, y)
        ctx.save_for_backward(y, *params)
        return y.clone()

    @staticmethod
    def backward(ctx, grad_y):
        y, *params = ctx.saved_tensors
        func, h = ctx.func, 1.0 / ctx.n
        gp = [torch.zeros_like(p) for p in params]
        a = grad_y
        for i in range(ctx.n, 0, -1):
            # go back one step then vjp through it
            with torch.no_grad():
                y_prev = rk4_step(func, i * h, -h, y)
            with torch.enable_grad():
                yp = y_prev.detach().requires_grad_()
                yn = rk4_step(func, (i - 1) * h, h, yp)
                grads = torch.autograd.grad(yn, (yp, *params), a)
            a = grads[0]
            for g, d in zip(gp, grads[1:]):
                g += d
            y = y_prev
        return (None, a, None, *gp)


class ConcatConv2d(nn.Module):
    def __init__(self, dim_in, dim_out, ksize=3):
        super().__init__()
        self.conv = nn.Conv2d(dim_in + 1, dim_out, ksize, padding=ksize // 2)

    def forward(self, t, x):
        tt = torch.ones_like(x[:, :1, :, :]) * t
        return self.conv(torch.cat([tt, x], 1))


class ConvODE(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.n1, self.n2 = nn.GroupNorm(min(8, dim), dim), nn.GroupNorm(min(8, dim), dim)
        self.c1, self.c2 = ConcatConv2d(dim, dim), ConcatConv2d(dim, dim)

    def forward(self, t, x):
        return self.c2(t, torch.relu(self.n2(self.c1(t, torch.relu(self.n1(x))))))


class ODEBlock(nn.Module):
    def __init__(self, odefunc, n_steps=3):
        super().__init__()
        self.odefunc, self.n_steps = odefunc, n_steps

    def forward(self, x):
        return AdjointRK4.apply(self.odefunc, x, self.n_steps, *self.odefunc.parameters())


digits = load_digits()
X = (digits.images / 16.0).astype(np.float32)[:, None]
Xtr, Xte, ytr, yte = train_test_split(X, digits.target, test_size=200, random_state=0, stratify=digits.target)
Xtr, Xte = map(torch.from_numpy, (Xtr, Xte))
ytr, yte = map(torch.from_numpy, (ytr, yte))
net = nn.Sequential(
    nn.Conv2d(1, 24, 3, 1), nn.GroupNorm(8, 24), nn.ReLU(inplace=True), nn.Conv2d(24, 16, 4, 2, 1),
    ODEBlock(ConvODE(16)),
    nn.GroupNorm(8, 16), nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten(), nn.Linear(16, 10))
nopt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
perm = torch.randperm(len(Xtr))
for itr, idx in enumerate(perm[:3 * 64].split(64)):
    logits = net(Xtr[idx])
    nloss = nn.functional.cross_entropy(logits, ytr[idx])
    nopt.zero_grad()
    nloss.backward()
    nopt.step()
    history['digits'].append(nloss.item())
with torch.no_grad():
    acc = np.mean([(net(xb).argmax(1) == yb).float().mean().item() for xb, yb in zip(Xte.split(50), yte.split(50))])
print('digits loss', history['digits'], 'acc', acc)

with tempfile.TemporaryDirectory() as d:
    torch.save({'func': func.state_dict(), 'net': net.state_dict(), 'history': dict(history)}, os.path.join(d, 'all.pt'))
    ck = torch.load(os.path.join(d, 'all.pt'))
    net.load_state_dict(ck['net'])
