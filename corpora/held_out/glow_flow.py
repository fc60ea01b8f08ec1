"""Glow (Kingma & Dhariwal 2018), multi-scale, with LU-parametrised 1x1 convolutions; toy images."""
import math
from types import SimpleNamespace

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal, Independent
from torch.nn.utils import parametrize

def mean_over_dims(x, dims):
    return x.mean(dim=dims, keepdim=True)

def squeeze2d(x, factor=2):
    B, C, H, W = x.size()
    x = x.view(B, C, H // factor, factor, W // factor, factor)
    x = x.permute(0, 1, 3, 5, 2, 4).contiguous()
    return x.view(B, C * factor * factor, H // factor, W // factor)

def unsqueeze2d(x, factor=2):
    B, C, H, W = x.size()
    x = x.view(B, C // factor ** 2, factor, factor, H, W)
    x = x.permute(0, 1, 4, 2, 5, 3).contiguous()
    return x.view(B, C // factor ** 2, H * factor, W * factor)

class ActNorm(nn.Module):
    def __init__(self, num_features, scale=1.0):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(1, num_features, 1, 1))
        self.logs = nn.Parameter(torch.zeros(1, num_features, 1, 1))
        self.register_buffer('inited', torch.tensor(0, dtype=torch.uint8))
        self.scale = scale

    @torch.no_grad()
    def initialize(self, x):
        bias = -mean_over_dims(x, [0, 2, 3])
        var = mean_over_dims((x + bias) ** 2, [0, 2, 3])
        self.bias.data.copy_(bias)
        self.logs.data.copy_(torch.log(self.scale / (torch.sqrt(var) + 1e-6)))
        self.inited.fill_(1)

    def forward(self, x, logdet, reverse=False):
        if self.inited.item() == 0 and self.training:
            self.initialize(x)
        dlogdet = self.logs.sum() * x.size(2) * x.size(3)
        if reverse:
            return x * torch.exp(-self.logs) - self.bias, logdet - dlogdet
        return (x + self.bias) * torch.exp(self.logs), logdet + dlogdet

class InvertibleConv1x1(nn.Module):
    def __init__(self, c, lu=True):
        super().__init__()
        q = torch.linalg.qr(torch.randn(c, c))[0]
        self.lu = lu
        if not lu:
            self.weight = nn.Parameter(q)
        else:
            p, lower, upper = torch.linalg.lu(q)
            s = torch.diag(upper)
            self.register_buffer('p', p)
            self.register_buffer('sign_s', torch.sign(s))
            self.register_buffer('l_mask', torch.tril(torch.ones(c, c), -1))
            self.register_buffer('eye', torch.eye(c))
            self.lower = nn.Parameter(lower)
            self.log_s = nn.Parameter(torch.log(torch.abs(s)))
            self.upper = nn.Parameter(torch.triu(upper, 1))

    def get_weight(self, reverse):
        if not self.lu:
            ld = torch.slogdet(self.weight)[1]
            return (torch.inverse(self.weight) if reverse else self.weight), ld
        l = self.lower * self.l_mask + self.eye
        u = self.upper * self.l_mask.t() + torch.diag(self.sign_s * torch.exp(self.log_s))
        ld = self.log_s.sum()
        if not reverse:
            return self.p @ l @ u, ld
        u_inv = torch.linalg.solve_triangular(u, self.eye, upper=True)
        l_inv = torch.linalg.solve_triangular(l, self.eye, upper=False, unitriangular=True)
        return u_inv @ l_inv @ self.p.t(), ld

    def forward(self, x, logdet, reverse=False):
        w, ld = self.get_weight(reverse)
        c = w.shape[0]
        z = F.conv2d(x, w.view(c, c, 1, 1))
        ld = ld * x.shape[2] * x.shape[3]
        return z, (logdet - ld if reverse else logdet + ld)

class ExpScale(nn.Module):
    """parametrization: zero-init conv weight with learned log scale (per output)"""

    def __init__(self, out, factor=3.0):
        super().__init__()
        self.logs = nn.Parameter(torch.zeros(out, 1, 1, 1))
        self.factor = factor

    def forward(self, w):
        return w * torch.exp(self.logs * self.factor)

def conv_zeros(cin, cout):
    conv = nn.Conv2d(cin, cout, 3, padding=1)
    nn.init.zeros_(conv.weight), nn.init.zeros_(conv.bias)
    parametrize.register_parametrization(conv, 'weight', ExpScale(cout))
    return conv

def subnet(cin, cout, hidden, act='ReLU', **kwargs):
    return nn.Sequential(nn.Conv2d(cin, hidden, 3, padding=1), getattr(nn, act)(**kwargs),
                         nn.Conv2d(hidden, hidden - 3, 1), getattr(nn, act)(**kwargs), conv_zeros(hidden - 3, cout))

class Coupling(nn.Module):
    def __init__(self, c, hidden, kind='affine', cond_dim=0, **kwargs):
        super().__init__()
        self.kind = kind
        self.c1 = c // 2
        self.net = subnet(self.c1 + cond_dim, (c - self.c1) * (2 if kind == 'affine' else 1), hidden, **kwargs)

    def forward(self, x, logdet, cond=None, reverse=False):
        z1, z2 = x[:, :self.c1], x[:, self.c1:]
        h = z1
        if cond is not None:
            h = torch.cat([z1, cond[:, :, None, None].expand(-1, -1, *z1.shape[-2:])], 1)
        h = self.net(h)
        if self.kind == 'additive':
            z2 = z2 - h if reverse else z2 + h
            return torch.cat([z1, z2], 1), logdet
        shift, scale = h[:, 0::2], torch.sigmoid(h[:, 1::2] + 2.)
        ld = torch.log(scale).flatten(1).sum(1)
        if reverse:
            return torch.cat([z1, z2 / scale - shift], 1), logdet - ld
        return torch.cat([z1, (z2 + shift) * scale], 1), logdet + ld

class FlowStep(nn.Module):
    def __init__(self, c, **kwargs):
        super().__init__()
        lu = kwargs.pop('lu', True)
        self.actnorm = ActNorm(c)
        self.perm = InvertibleConv1x1(c, lu=lu)
        self.coupling = Coupling(c, **kwargs)

    def forward(self, x, logdet, cond=None, reverse=False):
        if not reverse:
            x, logdet = self.actnorm(x, logdet)
            x, logdet = self.perm(x, logdet)
            return self.coupling(x, logdet, cond)
        x, logdet = self.coupling(x, logdet, cond, reverse=True)
        x, logdet = self.perm(x, logdet, reverse=True)
        return self.actnorm(x, logdet, reverse=True)

class Split2d(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv = conv_zeros(c // 2, c)

    def prior(self, z1):
        h = self.conv(z1)
        return Independent(Normal(h[:, 0::2], h[:, 1::2].exp()), 3)

    def forward(self, x, logdet, reverse=False, temperature=1.0):
        if reverse:
            d = self.prior(x)
            z2 = d.mean + d.stddev * temperature * torch.randn_like(d.mean)
            return torch.cat([x, z2], 1), logdet
        z1, z2 = x.chunk(2, 1)
        return z1, logdet + self.prior(z1).log_prob(z2)

class Glow(nn.Module):
    def __init__(self, shape, K, L, n_classes, n_bits=5, emb=6, **kwargs):
        super().__init__()
        C, H, W = shape
        self.shape, self.n_bits = shape, n_bits
        self.embed = nn.Embedding(n_classes, emb)
        self.levels, self.splits = nn.ModuleList(), nn.ModuleList()
        for i in range(L):
            C, H, W = C * 4, H // 2, W // 2
            self.levels.append(nn.ModuleList(FlowStep(C, cond_dim=emb, **kwargs) for _ in range(K)))
            if i < L - 1:
                self.splits.append(Split2d(C))
                C //= 2
        self.top_shape = (C, H, W)
        self.top = nn.Linear(emb, C * 2)

    def top_prior(self, cond):
        mean, logs = self.top(cond).chunk(2, 1)
        ex = lambda t: t[:, :, None, None].expand(-1, -1, *self.top_shape[1:])
        return Independent(Normal(ex(mean), ex(logs).exp()), 3)

    def forward(self, x, y):
        n_bins = 2 ** self.n_bits
        x = x + torch.rand_like(x) / n_bins
        cond = self.embed(y)
        logdet = torch.full((x.size(0),), -math.log(n_bins) * x[0].numel())
        for i, steps in enumerate(self.levels):
            x = squeeze2d(x)
            for s in steps:
                x, logdet = s(x, logdet, cond)
            if i < len(self.splits):
                x, logdet = self.splits[i](x, logdet)
        ll = logdet + self.top_prior(cond).log_prob(x)
        return x, -ll / (math.log(2.) * int(np.prod(self.shape)))

    @torch.no_grad()
    def sample(self, y, temperature=0.8):
        cond = self.embed(y)
        d = self.top_prior(cond)
        x, ld = d.mean + d.stddev * temperature * torch.randn_like(d.mean), torch.zeros(len(y))
        for i in reversed(range(len(self.levels))):
            if i < len(self.splits):
                x, ld = self.splits[i](x, ld, reverse=True, temperature=temperature)
            for s in reversed(self.levels[i]):
                x, ld = s(x, ld, cond, reverse=True)
            x = unsqueeze2d(x)
        return x

def synthetic(n, shape, n_bits):
    C, H, W = shape
    y = torch.randint(0, 3, (n,))
    grid = torch.stack(torch.meshgrid(torch.linspace(0, 1, H), torch.linspace(0, 1, W), indexing='ij'))
    w = torch.stack([torch.tensor([1., 0.]), torch.tensor([0., 1.]), torch.tensor([.7, .7])])[y]
    ramp = torch.einsum('nk,khw->nhw', w, grid)[:, None] * torch.rand(n, C, 1, 1) + 0.05 * torch.randn(n, C, H, W)
    x = torch.floor(ramp.clamp(0, 0.999) * 2 ** n_bits) / 2 ** n_bits - 0.5
    return x, y

def main(cfg):
    torch.manual_seed(cfg.seed)
    model = Glow(cfg.shape, cfg.K, cfg.L, n_classes=3, n_bits=cfg.n_bits, **cfg.flow)
    x, y = synthetic(cfg.n, cfg.shape, cfg.n_bits)
    opt = torch.optim.Adamax(model.parameters(), lr=cfg.lr)
    print('params', sum(p.numel() for p in model.parameters()), 'top', model.top_shape)
    for epoch in range(cfg.epochs):
        tot = 0.
        for idx in torch.randperm(cfg.n).split(cfg.batch):
            z, bpd = model(x[idx], y[idx])
            opt.zero_grad()
            bpd.mean().backward()
            gn = nn.utils.clip_grad_norm_(model.parameters(), 50.)
            opt.step()
            tot += bpd.sum().item()
        print(f'epoch {epoch} bpd {tot / cfg.n:.4f} grad {gn:.2f}')
    model.eval()
    step, cond = model.levels[0][0], model.embed(y[:4])
    with torch.no_grad():
        h = squeeze2d(x[:4])
        z, ld = step(h, torch.zeros(4), cond)
        back, ld2 = step(z, ld, cond, reverse=True)
        print('inverse err', (back - h).abs().max().item(), ld2.abs().max().item())
    print(model.sample(torch.tensor([0, 1, 2, 1, 0])).shape)

if __name__ == '__main__':
    main(SimpleNamespace(seed=12, shape=(3, 12, 16), K=2, L=2, n_bits=5, n=44, batch=11, epochs=4, lr=3e-3,
                         flow=dict(hidden=26, kind='affine', lu=True, act='LeakyReLU', negative_slope=0.1)))
