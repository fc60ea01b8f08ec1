"""Class conditional GAN with spectral norm, projection discriminator and hinge loss."""
import argparse
import copy
from itertools import chain

import numpy as np
import torch
from torch import nn, optim
from torch.nn import functional as F
from torch.nn.utils import spectral_norm as sn

parser = argparse.ArgumentParser()
parser.add_argument("--nz", type=int, default=24)
parser.add_argument("--ngf", type=int, default=8)
parser.add_argument("--ndf", type=int, default=8)
parser.add_argument("--classes", type=int, default=5)
parser.add_argument("--bs", type=int, default=6)
parser.add_argument("--iters", type=int, default=3)
parser.add_argument("--n_dis", type=int, default=2)
parser.add_argument("--ema", type=float, default=0.99)


class CondBN(nn.Module):
    def __init__(self, ch, n_cls):
        super().__init__()
        self.bn = nn.BatchNorm2d(ch, affine=False)
        self.gamma = nn.Embedding(n_cls, ch)
        self.beta = nn.Embedding(n_cls, ch)
        nn.init.ones_(self.gamma.weight)
        nn.init.zeros_(self.beta.weight)

    def forward(self, x, y):
        out = self.bn(x)
        g, b = self.gamma(y), self.beta(y)
        return g[:, :, None, None] * out + b[:, :, None, None]


class GBlock(nn.Module):
    def __init__(self, cin, cout, n_cls, up=True):
        super().__init__()
        self.up = up
        self.bn1, self.bn2 = CondBN(cin, n_cls), CondBN(cout, n_cls)
        self.c1 = nn.Conv2d(cin, cout, 3, 1, 1)
        self.c2 = nn.Conv2d(cout, cout, 3, 1, 1)
        self.sc = nn.Conv2d(cin, cout, 1) if cin != cout or up else None

    def _up(self, x):
        return F.interpolate(x, scale_factor=2) if self.up else x

    def forward(self, x, y):
        h = self._up(F.relu(self.bn1(x, y)))
        h = self.c2(F.relu(self.bn2(self.c1(h), y)))
        return h + (self.sc(self._up(x)) if self.sc is not None else x)


class Generator(nn.Module):
    def __init__(self, nz, ngf, n_cls, bottom=4):
        super().__init__()
        self.nz, self.bottom = nz, bottom
        self.l1 = nn.Linear(nz, ngf * 4 * bottom ** 2)
        self.blocks = nn.ModuleList([GBlock(ngf * 4, ngf * 2, n_cls), GBlock(ngf * 2, ngf, n_cls)])
        self.out = nn.Sequential(nn.BatchNorm2d(ngf), nn.ReLU(), nn.Conv2d(ngf, 3, 3, padding=1), nn.Tanh())

    def forward(self, z, y):
        h = self.l1(z).view(z.size(0), -1, self.bottom, self.bottom)
        for b in self.blocks:
            h = b(h, y)
        return self.out(h)


class DBlock(nn.Module):
    def __init__(self, cin, cout, down=True, first=False):
        super().__init__()
        self.first, self.down = first, down
        self.c1, self.c2 = sn(nn.Conv2d(cin, cout, 3, 1, 1)), sn(nn.Conv2d(cout, cout, 3, 1, 1))
        self.sc = sn(nn.Conv2d(cin, cout, 1, 1, 0))

    def forward(self, x):
        h = x if self.first else F.relu(x)
        h = self.c2(F.relu(self.c1(h)))
        s = self.sc(x)
        if self.down:
            h, s = F.avg_pool2d(h, 2), F.avg_pool2d(s, 2)
        return h + s


class SelfAttention(nn.Module):
    def __init__(self, ch, r=4):
        super().__init__()
        self.q, self.k = sn(nn.Conv2d(ch, ch // r, 1, bias=False)), sn(nn.Conv2d(ch, ch // r, 1, bias=False))
        self.v, self.o = sn(nn.Conv2d(ch, ch // 2, 1, bias=False)), sn(nn.Conv2d(ch // 2, ch, 1, bias=False))
        self.gamma = nn.Parameter(torch.tensor(0.), requires_grad=True)

    def forward(self, x):
        n, c, h, w = x.shape
        q = self.q(x).flatten(2)
        k = F.max_pool2d(self.k(x), 2).flatten(2)
        v = F.max_pool2d(self.v(x), 2).flatten(2)
        attn = torch.bmm(q.transpose(1, 2), k).softmax(-1)
        o = torch.bmm(v, attn.transpose(1, 2)).view(n, c // 2, h, w)
        return x + self.gamma * self.o(o)


class Discriminator(nn.Module):
    def __init__(self, ndf, n_cls):
        super().__init__()
        self.body = nn.Sequential(DBlock(3, ndf, first=True), SelfAttention(ndf), DBlock(ndf, ndf * 2),
                                  DBlock(ndf * 2, ndf * 4, down=False))
        self.lin = sn(nn.Linear(ndf * 4, 1))
        self.emb = sn(nn.Embedding(n_cls, ndf * 4))

    def forward(self, x, y):
        h = F.relu(self.body(x)).sum(dim=(2, 3))
        return self.lin(h).squeeze(1) + (self.emb(y) * h).sum(1)


def toggle(net, flag):
    for p in net.parameters():
        p.requires_grad = flag


@torch.no_grad()
def update_ema(src, dst, decay):
    a, b = dict(src.named_parameters()), dict(dst.named_parameters())
    for k in b:
        b[k].mul_(decay).add_(a[k].data, alpha=1 - decay)
    for s, d in zip(src.buffers(), dst.buffers()):
        d.copy_(s)


def real_batch(rng, n, classes, size=16):
    y = rng.integers(0, classes, n)
    img = rng.standard_normal((n, size, size, 3)).astype(np.float32) * 0.2
    img += (y / classes)[:, None, None, None]
    return torch.from_numpy(img.transpose(0, 3, 1, 2).copy()).clamp(-1, 1), torch.as_tensor(y)


def main():
    opt = parser.parse_args()
    torch.manual_seed(1)
    rng = np.random.default_rng(1)
    G, D = Generator(opt.nz, opt.ngf, opt.classes), Discriminator(opt.ndf, opt.classes)
    ema = copy.deepcopy(G)
    toggle(ema, False)
    og = optim.Adam(G.parameters(), 1e-4, (0., 0.9))
    od = optim.Adam(D.parameters(), 4e-4, (0., 0.9))
    fixed_z, fixed_y = torch.randn(opt.classes * 2, opt.nz), torch.arange(opt.classes).repeat(2)
    for it in range(opt.iters):
        toggle(D, True)
        for _ in range(opt.n_dis):
            x, y = real_batch(rng, opt.bs, opt.classes)
            with torch.no_grad():
                fake = G(torch.randn(opt.bs, opt.nz), y)
            logits = D(torch.cat([x, fake]), torch.cat([y, y]))
            lr, lf = logits.chunk(2)
            loss_d = F.relu(1 - lr).mean() + F.relu(1 + lf).mean()
            od.zero_grad()
            loss_d.backward()
            od.step()
        toggle(D, False)
        y = torch.randint(opt.classes, (opt.bs,))
        loss_g = -D(G(torch.randn(opt.bs, opt.nz), y), y).mean()
        og.zero_grad()
        loss_g.backward()
        og.step()
        update_ema(G, ema, opt.ema)
        print(f"{it} d {loss_d.item():.3f} g {loss_g.item():.3f}")
    ema.eval()
    with torch.no_grad():
        grid = ema(fixed_z, fixed_y).mul(0.5).add(0.5).view(2, opt.classes, 3, 16, 16)
    grid = grid.permute(0, 3, 1, 4, 2).reshape(2 * 16, opt.classes * 16, 3)
    print(grid.numpy().shape, sum(p.numel() for p in chain(G.parameters(), D.parameters())))


if __name__ == "__main__":
    main()
