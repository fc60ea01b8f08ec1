# %%
# Fourier neural operator (1d in x, plus a 2d variant) and DeepONet baseline on the same operator
import math
import operator
from functools import reduce

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
np.random.seed(0)

# %%
# configs
ntrain = 60
ntest = 18
s = 64
sub = 1
MODES = 11
WIDTH = 20
BATCH_SIZE = 12
EPOCHS = 7
LEARNING_RATE = 4e-3
STEP_SIZE = 3
GAMMA = 0.5
DEEPONET_P = 30
N_SENSORS = 32
NU = 0.02
T_END = 0.3

# %%
# data: GRF initial condition -> burgers solution at T_END (pseudo-spectral)


def grf(n, size, tau=5.0, alpha=2.5):
    k = torch.fft.rfftfreq(size, d=1.0 / size)
    sigma = tau ** (alpha - 0.5) * (4 * math.pi ** 2 * k ** 2 + tau ** 2) ** (-alpha / 2) * size
    sigma[0] = 0.0
    coeff = torch.complex(torch.randn(n, len(k)), torch.randn(n, len(k))) * sigma
    return torch.fft.irfft(coeff, n=size)


def solve_burgers(u0, n_steps=120):
    size = u0.shape[-1]
    k = 2 * math.pi * torch.fft.rfftfreq(size, d=1.0 / size)
    dt = T_END / n_steps
    dealias = (torch.arange(len(k)) < (2 / 3) * len(k)).float()
    uh = torch.fft.rfft(u0)
    for _ in range(n_steps):
        u = torch.fft.irfft(uh, n=size)
        nl = -0.5j * k * torch.fft.rfft(u * u) * dealias
        uh = (uh + dt * nl) / (1 + dt * NU * k ** 2)
    return torch.fft.irfft(uh, n=size)


x_all = grf(ntrain + ntest, s)
y_all = solve_burgers(x_all)
print(x_all.shape, y_all.shape, x_all.std(), y_all.std(), torch.isnan(y_all).any())
x_train, x_test = x_all[:ntrain], x_all[ntrain:]
y_train, y_test = y_all[:ntrain], y_all[ntrain:]

# %%


class UnitGaussianNormalizer(object):
    def __init__(self, x, eps=0.00001):
        super(UnitGaussianNormalizer, self).__init__()
        self.mean = torch.mean(x, 0)
        self.std = torch.std(x, 0)
        self.eps = eps

    def encode(self, x):
        return (x - self.mean) / (self.std + self.eps)

    def decode(self, x):
        return x * (self.std + self.eps) + self.mean


class LpLoss(object):
    def __init__(self, d=2, p=2, size_average=True):
        self.d, self.p, self.size_average = d, p, size_average

    def rel(self, x, y):
        n = x.size(0)
        diff = torch.norm(x.reshape(n, -1) - y.reshape(n, -1), self.p, 1)
        ynorm = torch.norm(y.reshape(n, -1), self.p, 1)
        return torch.mean(diff / ynorm) if self.size_average else torch.sum(diff / ynorm)

    def __call__(self, x, y):
        return self.rel(x, y)


x_norm = UnitGaussianNormalizer(x_train)
grid = torch.linspace(0, 1, s + 1)[:-1].reshape(1, s, 1)
a_train = torch.cat([x_norm.encode(x_train).unsqueeze(-1), grid.repeat(ntrain, 1, 1)], dim=2)
a_test = torch.cat([x_norm.encode(x_test).unsqueeze(-1), grid.repeat(ntest, 1, 1)], dim=2)
print(a_train.shape, a_test.shape)

# %%


class SpectralConv1d(nn.Module):
    def __init__(self, in_channels, out_channels, modes1):
        super(SpectralConv1d, self).__init__()
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.modes1 = modes1
        self.scale = (1 / (in_channels * out_channels))
        self.weights1 = nn.Parameter(self.scale * torch.rand(in_channels, out_channels, self.modes1, dtype=torch.cfloat))

    def compl_mul1d(self, input, weights):
        # (batch, in_channel, x), (in_channel, out_channel, x) -> (batch, out_channel, x)
        return torch.einsum("bix,iox->box", input, weights)

    def forward(self, x):
        batchsize = x.shape[0]
        x_ft = torch.fft.rfft(x)
        out_ft = torch.zeros(batchsize, self.out_channels, x.size(-1) // 2 + 1, device=x.device, dtype=torch.cfloat)
        out_ft[:, :, :self.modes1] = self.compl_mul1d(x_ft[:, :, :self.modes1], self.weights1)
        return torch.fft.irfft(out_ft, n=x.size(-1))


class SpectralConv2d(nn.Module):
    def __init__(self, cin, cout, m1, m2):
        super().__init__()
        self.m1, self.m2, self.cout = m1, m2, cout
        self.w = nn.Parameter(torch.rand(2, cin, cout, m1, m2, 2) / (cin * cout))

    def forward(self, x):
        b = x.shape[0]
        xf = torch.fft.rfft2(x)
        w = torch.view_as_complex(self.w)
        out = torch.zeros(b, self.cout, x.size(-2), x.size(-1) // 2 + 1, dtype=torch.cfloat)
        out[:, :, :self.m1, :self.m2] = torch.einsum('bixy,ioxy->boxy', xf[:, :, :self.m1, :self.m2], w[0])
        out[:, :, -self.m1:, :self.m2] = torch.einsum('bixy,ioxy->boxy', xf[:, :, -self.m1:, :self.m2], w[1])
        return torch.fft.irfft2(out, s=(x.size(-2), x.size(-1)))


class FNO1d(nn.Module):
    def __init__(self, modes, width):
        super(FNO1d, self).__init__()
        self.modes1 = modes
        self.width = width
        self.padding = 3
        self.fc0 = nn.Linear(2, self.width)
        for i in range(3):
            setattr(self, f'conv{i}', SpectralConv1d(self.width, self.width, self.modes1))
            setattr(self, f'w{i}', nn.Conv1d(self.width, self.width, 1))
        self.fc1 = nn.Linear(self.width, 50)
        self.fc2 = nn.Linear(50, 1)

    def forward(self, x):
        x = self.fc0(x)
        x = x.permute(0, 2, 1)
        x = F.pad(x, [0, self.padding])
        for i in range(3):
            x1 = getattr(self, f'conv{i}')(x)
            x2 = getattr(self, f'w{i}')(x)
            x = x1 + x2
            if i < 2:
                x = F.gelu(x)
        x = x[..., :-self.padding]
        x = x.permute(0, 2, 1)
        x = F.gelu(self.fc1(x))
        return self.fc2(x)


def count_params(model):
    c = 0
    for p in list(model.parameters()):
        c += reduce(operator.mul, list(p.size() + (2,) if p.is_complex() else p.size()), 1)
    return c


model = FNO1d(MODES, WIDTH)
print(count_params(model), model(a_train[:5]).shape)
print(SpectralConv2d(3, 7, 4, 3)(torch.randn(2, 3, 18, 14)).shape)

# %%
train_loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(a_train, y_train), batch_size=BATCH_SIZE, shuffle=True)
test_loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(a_test, y_test), batch_size=BATCH_SIZE)
optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE, weight_decay=1e-4)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=STEP_SIZE, gamma=GAMMA)
myloss = LpLoss()
for ep in range(EPOCHS):
    model.train()
    train_l2 = 0
    for x, y in train_loader:
        optimizer.zero_grad()
        out = model(x)
        l2 = myloss(out.view(out.size(0), -1), y.view(y.size(0), -1))
        l2.backward()
        optimizer.step()
        train_l2 += l2.item() * x.size(0)
    scheduler.step()
    model.eval()
    test_l2 = 0.0
    with torch.no_grad():
        for x, y in test_loader:
            test_l2 += myloss(model(x).squeeze(-1), y).item() * x.size(0)
    print(ep, train_l2 / ntrain, test_l2 / ntest)

# %%
# zero-shot super-resolution
x_hi = F.interpolate(x_test.unsqueeze(1), size=2 * s, mode='linear', align_corners=False)
g_hi = torch.linspace(0, 1, 2 * s + 1)[:-1].reshape(1, -1, 1).repeat(ntest, 1, 1)
std_hi = F.interpolate(x_norm.std[None, None], size=2 * s, mode='nearest')[0, 0]
with torch.no_grad():
    hi = model(torch.cat([(x_hi.squeeze(1) / std_hi)[..., None], g_hi], -1)).squeeze(-1)
print('hi-res', hi.shape, 'rel', myloss(hi[:, ::2], y_test).item())

# %%
# DeepONet


def mlp(sizes, act=nn.Tanh):
    layers = []
    for i in range(len(sizes) - 1):
        layers += [nn.Linear(sizes[i], sizes[i + 1])]
        if i != len(sizes) - 2:
            layers += [act()]
    return nn.Sequential(*layers)


branch = mlp([N_SENSORS, 42, DEEPONET_P])
trunk = mlp([1, 26, 26, DEEPONET_P])
b0 = nn.Parameter(torch.zeros(1))
sensors = torch.arange(0, s, s // N_SENSORS)
opt2 = torch.optim.Adam([*branch.parameters(), *trunk.parameters(), b0], lr=3e-3)
for it in range(60):
    idx = torch.randperm(ntrain)[:BATCH_SIZE]
    q = torch.randint(0, s, (25,))
    pred = torch.einsum('bp,qp->bq', branch(x_train[idx][:, sensors]), trunk(grid[0, q])) + b0
    loss = F.mse_loss(pred, y_train[idx][:, q])
    opt2.zero_grad(); loss.backward(); opt2.step()
    if it % 20 == 0:
        print('deeponet', it, loss.item())
with torch.no_grad():
    full = branch(x_test[:, sensors]) @ trunk(grid[0]).T + b0
print(full.shape, 'rel', myloss(full, y_test).item())
