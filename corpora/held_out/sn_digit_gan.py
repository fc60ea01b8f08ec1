"""Spectral-norm GAN on the sklearn 8x8 digits (upsampled to 16x16).

Usage:
    python sn_digit_gan.py --steps 3 --z-dim 32
"""
import argparse
import copy
import os
import random
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.nn.utils import spectral_norm
from torch.utils.data import DataLoader, TensorDataset


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=3)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--z-dim", type=int, default=32)
    p.add_argument("--ngf", type=int, default=16)
    p.add_argument("--ndf", type=int, default=16)
    p.add_argument("--d-iters", type=int, default=2)
    p.add_argument("--lr-g", type=float, default=1e-4)
    p.add_argument("--lr-d", type=float, default=4e-4)
    p.add_argument("--ema", type=float, default=0.99)
    p.add_argument("--seed", type=int, default=7)
    return p.parse_args()


def make_loader(batch_size):
    digits = load_digits()
    imgs = digits.images.astype(np.float32) / 8.0 - 1.0
    x = torch.from_numpy(imgs).unsqueeze(1)
    x = F.interpolate(x, size=(16, 16), mode="bilinear", align_corners=False)
    y = torch.from_numpy(digits.target).long()
    return DataLoader(TensorDataset(x, y), batch_size=batch_size, shuffle=True, drop_last=True)


class ConditionalBatchNorm2d(nn.Module):
    def __init__(self, num_features, num_classes):
        super().__init__()
        self.num_features = num_features
        self.bn = nn.BatchNorm2d(num_features, affine=False)
        self.embed = nn.Embedding(num_classes, num_features * 2)
        self.embed.weight.data[:, :num_features].normal_(1, 0.02)
        self.embed.weight.data[:, num_features:].zero_()

    def forward(self, x, y):
        out = self.bn(x)
        gamma, beta = self.embed(y).chunk(2, 1)
        out = gamma.view(-1, self.num_features, 1, 1) * out + beta.view(-1, self.num_features, 1, 1)
        return out


class GenBlock(nn.Module):
    def __init__(self, in_ch, out_ch, n_classes):
        super().__init__()
        self.cbn1 = ConditionalBatchNorm2d(in_ch, n_classes)
        self.conv1 = nn.Conv2d(in_ch, out_ch, 3, 1, 1)
        self.cbn2 = ConditionalBatchNorm2d(out_ch, n_classes)
        self.conv2 = nn.Conv2d(out_ch, out_ch, 3, 1, 1)
        self.skip = nn.Conv2d(in_ch, out_ch, 1)

    def forward(self, x, y):
        h = F.relu(self.cbn1(x, y))
        h = F.interpolate(h, scale_factor=2)
        h = self.conv1(h)
        h = F.relu(self.cbn2(h, y))
        h = self.conv2(h)
        return h + self.skip(F.interpolate(x, scale_factor=2))


class Generator(nn.Module):
    def __init__(self, z_dim, ngf, n_classes=10):
        super().__init__()
        self.ngf = ngf
        self.fc = nn.Linear(z_dim, 4 * 4 * ngf * 4)
        self.block1 = GenBlock(ngf * 4, ngf * 2, n_classes)
        self.block2 = GenBlock(ngf * 2, ngf, n_classes)
        self.bn = nn.BatchNorm2d(ngf)
        self.to_img = nn.Conv2d(ngf, 1, 3, padding=1)

    def forward(self, z, y):
        h = self.fc(z).view(z.size(0), self.ngf * 4, 4, 4)
        h = self.block1(h, y)
        h = self.block2(h, y)
        return torch.tanh(self.to_img(F.relu(self.bn(h))))


class Discriminator(nn.Module):
    """Projection discriminator."""

    def __init__(self, ndf, n_classes=10):
        super().__init__()
        self.net = nn.Sequential(
            spectral_norm(nn.Conv2d(1, ndf, 3, 1, 1)),
            nn.LeakyReLU(0.1, inplace=True),
            spectral_norm(nn.Conv2d(ndf, ndf * 2, 4, 2, 1)),
            nn.LeakyReLU(0.1, inplace=True),
            spectral_norm(nn.Conv2d(ndf * 2, ndf * 4, 4, 2, 1)),
            nn.LeakyReLU(0.1, inplace=True),
        )
        self.linear = spectral_norm(nn.Linear(ndf * 4, 1))
        self.embed = spectral_norm(nn.Embedding(n_classes, ndf * 4))

    def forward(self, x, y):
        h = self.net(x).sum(dim=(2, 3))
        out = self.linear(h)
        out = out + (self.embed(y) * h).sum(1, keepdim=True)
        return out.squeeze(1)


@torch.no_grad()
def update_ema(ema_model, model, decay):
    for pe, p in zip(ema_model.parameters(), model.parameters()):
        pe.mul_(decay).add_(p, alpha=1 - decay)
    for be, b in zip(ema_model.buffers(), model.buffers()):
        be.copy_(b)


def make_grid(images, nrow=5, pad=1):
    n, c, h, w = images.shape
    rows = (n + nrow - 1) // nrow
    grid = torch.full((c, rows * (h + pad) + pad, nrow * (w + pad) + pad), -1.0)
    for i in range(n):
        r, col = divmod(i, nrow)
        top, left = r * (h + pad) + pad, col * (w + pad) + pad
        grid[:, top:top + h, left:left + w] = images[i]
    return grid


def main():
    args = get_args()
    random.seed(args.seed)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    loader = make_loader(args.batch_size)
    G = Generator(args.z_dim, args.ngf).to(device)
    D = Discriminator(args.ndf).to(device)
    G_ema = copy.deepcopy(G)
    opt_g = torch.optim.Adam(G.parameters(), lr=args.lr_g, betas=(0.0, 0.9))
    opt_d = torch.optim.Adam(D.parameters(), lr=args.lr_d, betas=(0.0, 0.9))
    fixed_z = torch.randn(10, args.z_dim, device=device)
    fixed_y = torch.arange(10, device=device)

    data_iter = iter(loader)
    for step in range(args.steps):
        for _ in range(args.d_iters):
            real, y = next(data_iter)
            real, y = real.to(device), y.to(device)
            z = torch.randn(real.size(0), args.z_dim, device=device)
            with torch.no_grad():
                fake = G(z, y)
            d_real = D(real, y)
            d_fake = D(fake, y)
            loss_d = F.relu(1.0 - d_real).mean() + F.relu(1.0 + d_fake).mean()
            opt_d.zero_grad()
            loss_d.backward()
            opt_d.step()

        z = torch.randn(args.batch_size, args.z_dim, device=device)
        y_fake = torch.randint(0, 10, (args.batch_size,), device=device)
        loss_g = -D(G(z, y_fake), y_fake).mean()
        opt_g.zero_grad()
        loss_g.backward()
        opt_g.step()
        update_ema(G_ema, G, args.ema)
        print(f"[{step + 1}/{args.steps}] D: {loss_d.item():.4f}  G: {loss_g.item():.4f}  "
              f"D(x): {d_real.mean().item():.3f}  D(G(z)): {d_fake.mean().item():.3f}")

    G_ema.eval()
    with torch.no_grad():
        samples = G_ema(fixed_z, fixed_y).cpu()
    grid = make_grid(samples)
    out = os.path.join(tempfile.mkdtemp(), "samples.npy")
    np.save(out, ((grid[0].numpy() + 1) * 127.5).clip(0, 255).astype(np.uint8))
    print("saved grid", tuple(grid.shape), "range", samples.min().item(), samples.max().item())


if __name__ == "__main__":
    main()
