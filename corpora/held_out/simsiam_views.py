"""Multi-view pretraining on generated textures: simsiam | byol | ntxent; kNN + linear probe."""
import argparse
import copy
import math
import os
import tempfile
from abc import ABC, abstractmethod

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SIZE = 20

class Textures:
    n_classes = 5   # stripes at 3 orientations, checkers, rings

    def __init__(self, n, seed):
        rng = np.random.RandomState(seed)
        yy, xx = np.mgrid[:SIZE, :SIZE].astype(np.float64)
        imgs, ys = [], []
        for i in range(n):
            k = i % self.n_classes
            f, ph = rng.uniform(0.8, 1.4), rng.uniform(0, 2 * np.pi)
            if k < 3:
                ang = k * np.pi / 3 + rng.uniform(-0.15, 0.15)
                g = np.sin(f * (np.cos(ang) * xx + np.sin(ang) * yy) + ph)
            elif k == 3:
                g = np.sign(np.sin(f * xx + ph) * np.sin(f * yy + ph))
            else:
                g = np.sin(f * np.hypot(xx - rng.uniform(4, 16), yy - rng.uniform(4, 16)) + ph)
            tint = rng.uniform(0.3, 1, size=(3, 1, 1))
            imgs.append(0.5 + 0.4 * g[None] * tint + 0.08 * rng.randn(3, SIZE, SIZE))
            ys.append(k)
        self.x = torch.tensor(np.stack(imgs), dtype=torch.float32).clamp_(0, 1)
        self.y = torch.tensor(ys)

    def batches(self, bs, g):
        order = torch.randperm(len(self.x), generator=g)
        yield from ((self.x[i], self.y[i]) for i in order.split(bs) if len(i) == bs)


class Compose(list):
    def __call__(self, x):
        for t in self:
            x = t(x)
        return x


def random_resized_crop(x, scale=(0.4, 1.0)):
    b = x.size(0)
    s = torch.empty(b).uniform_(*scale).sqrt()
    tx, ty = (torch.rand(2, b) * 2 - 1) * (1 - s)
    theta = torch.zeros(b, 2, 3)
    theta[:, 0, 0] = theta[:, 1, 1] = s
    theta[:, 0, 2], theta[:, 1, 2] = tx, ty
    grid = F.affine_grid(theta, x.shape, align_corners=False)
    return F.grid_sample(x, grid, padding_mode="reflection", align_corners=False)


def color_jitter(x, strength=0.4):
    b = x.size(0)
    gain = 1 + strength * (torch.rand(b, 3, 1, 1) * 2 - 1)
    return (x * gain + 0.3 * strength * (torch.rand(b, 1, 1, 1) * 2 - 1)).clamp(0, 1)


def random_gray(x, p=0.25):
    gray = (x * torch.tensor([0.299, 0.587, 0.114]).view(1, 3, 1, 1)).sum(1, keepdim=True).expand_as(x)
    return torch.where(torch.rand(x.size(0), 1, 1, 1) < p, gray, x)


def cutout(x, size=5):
    x = x.clone()
    ys = torch.randint(0, SIZE - size, (x.size(0),)).tolist()
    xs = torch.randint(0, SIZE - size, (x.size(0),)).tolist()
    for i, (a, b) in enumerate(zip(ys, xs)):
        x[i, :, a:a + size, b:b + size] = 0.5
    return x


normalize = lambda x: (x - 0.5) / 0.25


class Backbone(nn.Module):
    def __init__(self, widths=(9, 15, 24)):
        super().__init__()
        layers, prev = [], 3
        for w in widths:
            layers.extend((nn.Conv2d(prev, w, 3, 2, 1, bias=False), nn.BatchNorm2d(w), nn.ReLU(inplace=True)))
            prev = w
        self.net, self.out_dim = nn.Sequential(*layers), prev

    def forward(self, x):
        return self.net(x).mean(dim=[2, 3])


def mlp(dims, last_bn):
    mods = []
    for i, (a, b) in enumerate(zip(dims[:-1], dims[1:])):
        last = i == len(dims) - 2
        mods.append(nn.Linear(a, b, bias=last and not last_bn))
        if not last:
            mods += [nn.BatchNorm1d(b), nn.ReLU(inplace=True)]
        elif last_bn:
            mods.append(nn.BatchNorm1d(b, affine=False))
    return nn.Sequential(*mods)


class SSL(nn.Module, ABC):
    registry = {}

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        SSL.registry[cls.__name__.lower()] = cls

    def __init__(self, proj=33):
        super().__init__()
        self.backbone = Backbone()
        self.projector = mlp([self.backbone.out_dim, 40, proj], last_bn=True)
        self.proj = proj

    @property
    def encoder(self):
        return nn.Sequential(self.backbone, self.projector)

    @abstractmethod
    def loss(self, v1, v2): ...

    def after_step(self, progress):
        pass


def neg_cos(p, z):
    return -F.cosine_similarity(p, z.detach(), dim=-1).mean()


class SimSiam(SSL):
    def __init__(self):
        super().__init__()
        self.predictor = mlp([self.proj, 12, self.proj], last_bn=False)

    def loss(self, v1, v2):
        z1, z2 = map(self.encoder, (v1, v2))
        p1, p2 = map(self.predictor, (z1, z2))
        return 0.5 * (neg_cos(p1, z2) + neg_cos(p2, z1)), z1


class BYOL(SimSiam):
    base_tau = 0.95

    def __init__(self):
        super().__init__()
        self.target = nn.ModuleList([copy.deepcopy(self.backbone), copy.deepcopy(self.projector)])
        for p in self.target.parameters():
            p.requires_grad_(False)

    def loss(self, v1, v2):
        z = self.encoder(torch.cat([v1, v2]))
        p1, p2 = self.predictor(z).chunk(2)
        with torch.no_grad():
            h = torch.cat([v1, v2])
            for m in self.target:
                h = m(h)
            t1, t2 = h.tensor_split(2)
        return 0.5 * (neg_cos(p1, t2) + neg_cos(p2, t1)), z[:len(v1)]

    @torch.no_grad()
    def after_step(self, progress):
        tau = 1 - (1 - self.base_tau) * (math.cos(math.pi * progress) + 1) / 2
        for online, target in zip((self.backbone, self.projector), self.target):
            for p, q in zip(online.parameters(), target.parameters()):
                q.lerp_(p, 1 - tau)


class NTXent(SSL):
    temperature = 0.3

    def loss(self, v1, v2):
        n = v1.size(0)
        z = F.normalize(self.encoder(torch.cat([v1, v2], 0)), dim=1)
        sim = z @ z.t() / self.temperature
        sim.fill_diagonal_(-1e9)
        target = torch.arange(2 * n).roll(n)
        return F.cross_entropy(sim, target), z[:n]


@torch.no_grad()
def knn(model, train, test, k=7, t=0.1):
    model.eval()
    bank = F.normalize(model.backbone(normalize(train.x)), dim=1)
    q = F.normalize(model.backbone(normalize(test.x)), dim=1)
    w, idx = (q @ bank.T).topk(k, dim=-1)
    votes = torch.zeros(len(q), Textures.n_classes).scatter_add_(1, train.y[idx], (w / t).exp())
    model.train()
    return (votes.argmax(1) == test.y).float().mean().item()


def linear_probe(model, train, test, steps=40):
    model.eval()
    with torch.no_grad():
        a, b = model.backbone(normalize(train.x)), model.backbone(normalize(test.x))
    a, b = ((t - a.mean(0)) / (a.std(0) + 1e-5) for t in (a, b))
    head = nn.Linear(a.size(1), Textures.n_classes)
    opt = torch.optim.LBFGS(head.parameters(), lr=0.5, max_iter=steps)

    def closure():
        opt.zero_grad()
        l = F.cross_entropy(head(a), train.y) + 1e-3 * head.weight.square().sum()
        l.backward()
        return l
    opt.step(closure)
    return (head(b).argmax(1) == test.y).float().mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--method", nargs="*", default=["simsiam", "byol", "ntxent"])
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--bs", type=int, default=26)
    ap.add_argument("--lr", type=float, default=0.08)
    args = ap.parse_args()
    train, test = Textures(210, 0), Textures(65, 1)
    augment = Compose([random_resized_crop, color_jitter, random_gray, cutout, normalize])
    for name in args.method:
        torch.manual_seed(0)
        g = torch.Generator().manual_seed(1)
        model = SSL.registry[name]()
        opt = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], args.lr, momentum=0.9, weight_decay=5e-4)
        total = args.epochs * (len(train.x) // args.bs)
        sched, step = torch.optim.lr_scheduler.CosineAnnealingLR(opt, total), 0
        print(name, "kNN before: %.3f" % knn(model, train, test))
        for epoch in range(args.epochs):
            for x, _ in train.batches(args.bs, g):
                loss, z = model.loss(augment(x), augment(x))
                opt.zero_grad(set_to_none=True)
                loss.backward()
                opt.step(); sched.step()
                step += 1
                model.after_step(step / total)
            collapse = F.normalize(z.detach(), dim=1).std(0).mean().item() * math.sqrt(z.size(1))
            print("  ep %d loss %+.4f std %.3f knn %.3f" % (epoch, loss.item(), collapse, knn(model, train, test)))
        with tempfile.TemporaryDirectory() as d:
            torch.save({k: v for k, v in model.state_dict().items() if k.startswith("backbone.")}, os.path.join(d, "b.pt"))
            missing, unexpected = model.load_state_dict(torch.load(os.path.join(d, "b.pt")), strict=False)
        print("  linear probe %.3f (missing keys %d, unexpected %d)" % (linear_probe(model, train, test), len(missing), len(unexpected)))


if __name__ == "__main__":
    main()
