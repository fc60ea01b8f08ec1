# %%
"""PINN for viscous Burgers + inverse problem for the viscosity.
u_t + u u_x = nu u_xx,  x in [-1, 1], t in [0, 1]
"""
import math
import numpy as np
import torch
import torch.nn as nn
from torch.func import functional_call, grad, vmap, jacrev

torch.manual_seed(3)
np.random.seed(3)

# %%
NU_TRUE = 0.05
N_COLLOC = 180
N_IC = 45
N_BC = 26
N_OBS = 60
WIDTHS = [2, 24, 24, 20, 1]
ADAM_STEPS = 45
LBFGS_ITERS = 6
LAMBDA_IC = 5.0
FOURIER_K = 4

# %%
# reference solution: simple finite differences
NX, DT = 81, 0.002
xg = np.linspace(-1, 1, NX)
dx = xg[1] - xg[0]
u = -np.sin(np.pi * xg)
snap_t, snaps = [0.0], [u.copy()]
for it in range(1, int(1 / DT) + 1):
    up, um = np.roll(u, -1), np.roll(u, 1)
    u = u + DT * (-u * (up - um) / (2 * dx) + NU_TRUE * (up - 2 * u + um) / dx ** 2)
    u[0] = u[-1] = 0.0
    if it % 50 == 0:
        snap_t.append(it * DT)
        snaps.append(u.copy())
U_ref = torch.tensor(np.stack(snaps), dtype=torch.float32)
T_ref = torch.tensor(snap_t, dtype=torch.float32)
X_ref = torch.tensor(xg, dtype=torch.float32)
print(U_ref.shape, T_ref.shape, X_ref.shape, U_ref.abs().max())

TT, XX = torch.meshgrid(T_ref, X_ref, indexing='ij')
print(TT.shape, XX.shape)

# %%
# points


def lhs(n, d):
    cut = torch.linspace(0, 1, n + 1)
    pts = cut[:n, None] + torch.rand(n, d) / n
    return torch.stack([pts[torch.randperm(n), j] for j in range(d)], dim=1)


colloc = lhs(N_COLLOC, 2)
t_f = colloc[:, 0:1].clone()
x_f = colloc[:, 1:2] * 2 - 1
x_ic = torch.linspace(-1, 1, N_IC)[:, None]
u_ic = -torch.sin(math.pi * x_ic)
t_bc = torch.rand(N_BC, 1)
x_bc = torch.where(torch.rand(N_BC, 1) < 0.5, -torch.ones(1), torch.ones(1))
flat = torch.randperm(TT.numel())[:N_OBS]
t_obs, x_obs, u_obs = TT.flatten()[flat, None], XX.flatten()[flat, None], U_ref.flatten()[flat, None]
print(t_f.shape, x_f.shape, x_bc.shape, u_obs.shape)

# %%


class AdaptiveTanh(nn.Module):
    def __init__(self, n=2.0):
        super().__init__()
        self.a = nn.Parameter(torch.tensor(1.0 / n))
        self.n = n

    def forward(self, x):
        return torch.tanh(self.n * self.a * x)


class PINN(nn.Module):
    def __init__(self, widths):
        super().__init__()
        self.register_buffer('freqs', math.pi * torch.arange(1, FOURIER_K + 1).float())
        widths = [1 + 2 * FOURIER_K] + list(widths[1:])
        layers = []
        for i, (a, b) in enumerate(zip(widths[:-1], widths[1:])):
            lin = nn.Linear(a, b)
            nn.init.xavier_normal_(lin.weight)
            nn.init.zeros_(lin.bias)
            layers.append(lin)
            if i < len(widths) - 2:
                layers.append(AdaptiveTanh())
        self.net = nn.Sequential(*layers)
        self.log_nu = nn.Parameter(torch.tensor(-1.5))

    @property
    def nu(self):
        return self.log_nu.exp()

    def forward(self, t, x):
        ang = x * self.freqs
        h = torch.cat([t, torch.sin(ang), torch.cos(ang)], dim=-1)
        return self.net(h)


net = PINN(WIDTHS)
print(net)
print('out', net(t_f, x_f).shape, 'nu0', net.nu.item())

# %%


def gradients(y, x):
    return torch.autograd.grad(y, x, grad_outputs=torch.ones_like(y), create_graph=True, retain_graph=True)[0]


def residual(t, x):
    t = t.clone().requires_grad_(True)
    x = x.clone().requires_grad_(True)
    u = net(t, x)
    u_t = gradients(u, t)
    u_x = gradients(u, x)
    u_xx = gradients(u_x, x)
    return u_t + u * u_x - net.nu * u_xx


r = residual(t_f, x_f)
print('residual', r.shape, r.abs().mean())

# causal weights in time bins
N_BINS = 6
bin_id = (t_f[:, 0] * N_BINS).long().clamp(max=N_BINS - 1)
bin_cnt = torch.bincount(bin_id, minlength=N_BINS).float()
print(bin_cnt)


def compute_losses():
    r2 = residual(t_f, x_f).pow(2).squeeze(1)
    per_bin = torch.zeros(N_BINS).index_add(0, bin_id, r2) / bin_cnt.clamp(min=1)
    with torch.no_grad():
        w = torch.exp(-0.5 * (torch.cumsum(per_bin, 0) - per_bin))
    losses = {
        'pde': (w * per_bin).mean(),
        'ic': LAMBDA_IC * (net(torch.zeros_like(x_ic), x_ic) - u_ic).pow(2).mean(),
        'bc': net(t_bc, x_bc).pow(2).mean(),
        'obs': (net(t_obs, x_obs) - u_obs).pow(2).mean(),
    }
    return losses


# %%
opt = torch.optim.Adam([{'params': net.net.parameters(), 'lr': 4e-3},
                        {'params': [net.log_nu], 'lr': 2e-2}])
history = []
for step in range(ADAM_STEPS):
    opt.zero_grad()
    ls = compute_losses()
    total = sum(ls.values())
    total.backward()
    opt.step()
    history.append([v.item() for v in ls.values()])
    if step % 20 == 0:
        print(step, {k: round(v.item(), 4) for k, v in ls.items()}, 'nu', round(net.nu.item(), 4))
history = np.array(history)
print(history.shape, history[-1])

# %%
lbfgs = torch.optim.LBFGS(net.parameters(), max_iter=LBFGS_ITERS, history_size=10, line_search_fn='strong_wolfe')


def closure():
    lbfgs.zero_grad()
    loss = sum(compute_losses().values())
    loss.backward()
    return loss


print('lbfgs start', lbfgs.step(closure).item(), 'after', closure().item(), 'nu', net.nu.item())

# %%
# cross check the autograd residual with torch.func
params = {k: v.detach() for k, v in net.named_parameters()}
bufs = dict(net.named_buffers())


def u_scalar(t, x):
    return functional_call(net, (params, bufs), (t[None, None], x[None, None])).squeeze()


u_t_fn = grad(u_scalar, argnums=0)
u_x_fn = grad(u_scalar, argnums=1)
u_xx_fn = grad(u_x_fn, argnums=1)
tt, xx = t_f[:17, 0], x_f[:17, 0]
r_func = vmap(u_t_fn)(tt, xx) + vmap(u_scalar)(tt, xx) * vmap(u_x_fn)(tt, xx) \
    - net.nu.detach() * vmap(u_xx_fn)(tt, xx)
r_auto = residual(t_f[:17], x_f[:17]).squeeze(1).detach()
print(r_func.shape, 'max diff', (r_func - r_auto).abs().max())
assert torch.allclose(r_func, r_auto, atol=1e-3)

# NTK-ish: jacobian of 9 outputs wrt all params


def f_params(p, t, x):
    return functional_call(net, (p, bufs), (t[:, None], x[:, None])).squeeze(-1)


jac = jacrev(f_params)(params, t_f[:9, 0], x_f[:9, 0])
J = torch.cat([j.reshape(9, -1) for j in jac.values()], dim=1)
K = J @ J.T
print(J.shape, K.shape, 'eigs', torch.linalg.eigvalsh(K)[-3:])

# %%
with torch.no_grad():
    pred = net(TT.reshape(-1, 1), XX.reshape(-1, 1)).reshape(TT.shape)
    rel = torch.linalg.norm(pred - U_ref) / torch.linalg.norm(U_ref)
    per_t = (pred - U_ref).pow(2).mean(1).sqrt()
print('rel l2', rel.item(), 'worst t', T_ref[per_t.argmax()].item(), per_t.shape)
