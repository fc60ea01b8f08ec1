"""Small StyleGAN2: mapping net, modulated conv, noise injection, path-length reg, R1, EMA, minibatch stddev."""
import argparse
import copy
import math
from functools import partial

import numpy as np
import torch
from torch import nn, autograd
from torch.nn import functional as F
class PixelNorm(nn.Module):
    def forward(self, input):
        return input * torch.rsqrt(torch.mean(input ** 2, dim=1, keepdim=True) + 1e-8)
class EqualLinear(nn.Module):
    def __init__(self, in_dim, out_dim, bias=True, bias_init=0., lr_mul=1., activation=None):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(out_dim, in_dim).div_(lr_mul))
        self.bias = nn.Parameter(torch.zeros(out_dim).fill_(bias_init)) if bias else None
        self.activation = activation
        self.scale = (1 / math.sqrt(in_dim)) * lr_mul
        self.lr_mul = lr_mul
    def forward(self, input):
        out = F.linear(input, self.weight * self.scale, self.bias * self.lr_mul if self.bias is not None else None)
        if self.activation:
            out = F.leaky_relu(out, 0.2) * math.sqrt(2)
        return out
class EqualConv2d(nn.Module):
    def __init__(self, in_channel, out_channel, kernel_size, stride=1, padding=0, bias=True):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(out_channel, in_channel, kernel_size, kernel_size))
        self.scale = 1 / math.sqrt(in_channel * kernel_size ** 2)
        self.stride, self.padding = stride, padding
        self.bias = nn.Parameter(torch.zeros(out_channel)) if bias else None
    def forward(self, input):
        return F.conv2d(input, self.weight * self.scale, bias=self.bias, stride=self.stride, padding=self.padding)
class Blur(nn.Module):
    def __init__(self, kernel=(1, 3, 3, 1), pad=(2, 1), factor=1):
        super().__init__()
        k = torch.tensor(kernel, dtype=torch.float32)
        k = k[None, :] * k[:, None]
        k = k / k.sum() * (factor ** 2)
        self.register_buffer('kernel', k)
        self.pad = pad
    def forward(self, x):
        c = x.shape[1]
        x = F.pad(x, (self.pad[0], self.pad[1], self.pad[0], self.pad[1]))
        return F.conv2d(x, self.kernel.expand(c, 1, -1, -1), groups=c)
class ModulatedConv2d(nn.Module):
    def __init__(self, in_channel, out_channel, kernel_size, style_dim, demodulate=True, upsample=False):
        super().__init__()
        self.kernel_size, self.in_channel, self.out_channel = kernel_size, in_channel, out_channel
        self.upsample = upsample
        if upsample:
            self.blur = Blur(pad=(1, 1), factor=2)
        self.scale = 1 / math.sqrt(in_channel * kernel_size ** 2)
        self.padding = kernel_size // 2
        self.weight = nn.Parameter(torch.randn(1, out_channel, in_channel, kernel_size, kernel_size))
        self.modulation = EqualLinear(style_dim, in_channel, bias_init=1)
        self.demodulate = demodulate
    def forward(self, input, style):
        batch, in_channel, height, width = input.shape
        style = self.modulation(style).view(batch, 1, in_channel, 1, 1)
        weight = self.scale * self.weight * style
        if self.demodulate:
            demod = torch.rsqrt(weight.pow(2).sum([2, 3, 4]) + 1e-8)
            weight = weight * demod.view(batch, self.out_channel, 1, 1, 1)
        weight = weight.view(batch * self.out_channel, in_channel, self.kernel_size, self.kernel_size)
        input = input.reshape(1, batch * in_channel, height, width)
        if self.upsample:
            weight = weight.view(batch, self.out_channel, in_channel, self.kernel_size, self.kernel_size)
            weight = weight.transpose(1, 2).reshape(batch * in_channel, self.out_channel, self.kernel_size, self.kernel_size)
            out = F.conv_transpose2d(input, weight, padding=0, stride=2, groups=batch)
            _, _, height, width = out.shape
            out = self.blur(out.view(batch, self.out_channel, height, width))
        else:
            out = F.conv2d(input, weight, padding=self.padding, groups=batch)
            out = out.view(batch, self.out_channel, out.shape[-2], out.shape[-1])
        return out
class NoiseInjection(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1))
    def forward(self, image, noise=None):
        if noise is None:
            b, _, h, w = image.shape
            noise = image.new_empty(b, 1, h, w).normal_()
        return image + self.weight * noise
class StyledConv(nn.Module):
    def __init__(self, *args, **kwargs):
        super().__init__()
        self.conv = ModulatedConv2d(*args, **kwargs)
        self.noise = NoiseInjection()
        self.bias = nn.Parameter(torch.zeros(1, self.conv.out_channel, 1, 1))
        self.activate = nn.LeakyReLU(0.2)
    def forward(self, input, style, noise=None):
        out = self.noise(self.conv(input, style), noise=noise)
        return self.activate(out + self.bias) * (2 ** 0.5)
class ToRGB(nn.Module):
    def __init__(self, in_channel, style_dim, out_ch=3):
        super().__init__()
        self.conv = ModulatedConv2d(in_channel, out_ch, 1, style_dim, demodulate=False)
        self.bias = nn.Parameter(torch.zeros(1, out_ch, 1, 1))
    def forward(self, input, style, skip=None):
        out = self.conv(input, style) + self.bias
        if skip is not None:
            out = out + F.interpolate(skip, scale_factor=2, mode='bilinear', align_corners=False)
        return out
class Generator(nn.Module):
    def __init__(self, channels, style_dim, z_dim, n_mlp, lr_mlp=0.01):
        super().__init__()
        layers = [PixelNorm()]
        dims = [z_dim] + [style_dim] * n_mlp
        for a, b in zip(dims[:-1], dims[1:]):
            layers.append(EqualLinear(a, b, lr_mul=lr_mlp, activation='fused_lrelu'))
        self.style = nn.Sequential(*layers)
        self.z_dim = z_dim
        self.const = nn.Parameter(torch.randn(1, channels[0], 4, 4))
        self.conv1 = StyledConv(channels[0], channels[0], 3, style_dim)
        self.to_rgb1 = ToRGB(channels[0], style_dim)
        self.convs, self.to_rgbs = nn.ModuleList(), nn.ModuleList()
        for cin, cout in zip(channels[:-1], channels[1:]):
            self.convs.append(StyledConv(cin, cout, 3, style_dim, upsample=True))
            self.convs.append(StyledConv(cout, cout, 3, style_dim))
            self.to_rgbs.append(ToRGB(cout, style_dim))
        self.n_latent = 2 * len(channels)
    @torch.no_grad()
    def mean_latent(self, n):
        return self.style(torch.randn(n, self.z_dim)).mean(0, keepdim=True)
    def forward(self, styles, return_latents=False, inject_index=None, truncation=1, truncation_latent=None):
        styles = [self.style(s) for s in styles]
        if truncation < 1:
            styles = [truncation_latent + truncation * (s - truncation_latent) for s in styles]
        if len(styles) < 2:
            latent = styles[0].unsqueeze(1).repeat(1, self.n_latent, 1)
        else:
            if inject_index is None:
                inject_index = int(torch.randint(1, self.n_latent - 1, ()))
            latent = torch.cat([styles[0].unsqueeze(1).repeat(1, inject_index, 1),
                                styles[1].unsqueeze(1).repeat(1, self.n_latent - inject_index, 1)], 1)
        out = self.const.repeat(latent.shape[0], 1, 1, 1)
        out = self.conv1(out, latent[:, 0])
        skip = self.to_rgb1(out, latent[:, 1])
        i = 1
        for c1, c2, to_rgb in zip(self.convs[::2], self.convs[1::2], self.to_rgbs):
            out = c2(c1(out, latent[:, i]), latent[:, i + 1])
            skip = to_rgb(out, latent[:, i + 2], skip)
            i += 2
        return (skip, latent) if return_latents else (skip, None)
class Discriminator(nn.Module):
    def __init__(self, channels, stddev_group=3):
        super().__init__()
        self.stddev_group = stddev_group
        chs = channels[::-1]
        self.stem = nn.Sequential(EqualConv2d(3, chs[0], 1), nn.LeakyReLU(0.2))
        self.blocks = nn.ModuleList([
            nn.ModuleDict({'main': nn.Sequential(EqualConv2d(a, a, 3, padding=1), nn.LeakyReLU(0.2), Blur(pad=(2, 1)),
                                                 EqualConv2d(a, b, 3, stride=2, padding=1), nn.LeakyReLU(0.2)),
                           'skip': EqualConv2d(a, b, 1, stride=2, bias=False)}) for a, b in zip(chs[:-1], chs[1:])])
        self.final_conv = EqualConv2d(chs[-1] + 1, chs[-1], 3, padding=1)
        self.final = nn.Sequential(EqualLinear(chs[-1] * 16, 27, activation='fused_lrelu'), EqualLinear(27, 1))
    def forward(self, x):
        x = self.stem(x)
        for blk in self.blocks:
            x = (blk['main'](x) + blk['skip'](x)) / math.sqrt(2)
        b, c, h, w = x.shape
        group = min(b, self.stddev_group)
        s = x.view(group, -1, 1, c, h, w)
        s = torch.sqrt(s.var(0, unbiased=False) + 1e-8)
        s = s.mean([2, 3, 4], keepdim=True).squeeze(2).repeat(group, 1, h, w)
        x = F.leaky_relu(self.final_conv(torch.cat([x, s], 1)), 0.2)
        return self.final(x.view(b, -1))
def requires_grad(model, flag=True):
    for p in model.parameters():
        p.requires_grad = flag

@torch.no_grad()
def accumulate(model1, model2, decay=0.9):
    par1, par2 = dict(model1.named_parameters()), dict(model2.named_parameters())
    for k in par1.keys():
        par1[k].data.mul_(decay).add_(par2[k].data, alpha=1 - decay)
def d_r1_loss(real_pred, real_img):
    grad_real, = autograd.grad(outputs=real_pred.sum(), inputs=real_img, create_graph=True)
    return grad_real.pow(2).reshape(grad_real.shape[0], -1).sum(1).mean()

def g_path_regularize(fake_img, latents, mean_path_length, decay=0.01):
    noise = torch.randn_like(fake_img) / math.sqrt(fake_img.shape[2] * fake_img.shape[3])
    grad, = autograd.grad(outputs=(fake_img * noise).sum(), inputs=latents, create_graph=True)
    path_lengths = torch.sqrt(grad.pow(2).sum(2).mean(1))
    path_mean = mean_path_length + decay * (path_lengths.mean() - mean_path_length)
    return (path_lengths - path_mean).pow(2).mean(), path_mean.detach(), path_lengths

def real_images(n, size):
    ax = torch.linspace(-1, 1, size)
    yy, xx = torch.meshgrid(ax, ax, indexing='ij')
    c = torch.rand(n, 2, 1, 1) - 0.5
    blob = torch.exp(-((xx - c[:, 0]) ** 2 + (yy - c[:, 1]) ** 2) / 0.1)
    return blob[:, None] * (torch.rand(n, 3, 1, 1) * 2) - 1

class Trainer:
    def __init__(self, args):
        self.args = args
        channels = [int(c) for c in args.channels.split(',')]
        self.size = 4 * 2 ** (len(channels) - 1)
        self.g = Generator(channels, args.style_dim, args.z_dim, args.n_mlp)
        self.d = Discriminator(channels)
        self.g_ema = copy.deepcopy(self.g).eval()
        make = partial(torch.optim.Adam, lr=args.lr, betas=(0.0, 0.99))
        self.g_opt, self.d_opt = make(self.g.parameters()), make(self.d.parameters())
        self.mean_path = torch.zeros(())
    def mixing_noise(self, n):
        k = 2 if np.random.rand() < self.args.mixing else 1
        return list(torch.randn(k, n, self.args.z_dim).unbind(0))
    def step(self, i):
        stats, n = {}, self.args.batch
        requires_grad(self.g, False); requires_grad(self.d, True)
        real = real_images(n, self.size)
        fake, _ = self.g(self.mixing_noise(n))
        d_loss = F.softplus(-self.d(real)).mean() + F.softplus(self.d(fake)).mean()
        if i % self.args.d_reg_every == 0:
            real.requires_grad_(True)
            stats['r1'] = d_r1_loss(self.d(real), real)
            d_loss = d_loss + self.args.r1 / 2 * stats['r1'] * self.args.d_reg_every
        self.d_opt.zero_grad(); d_loss.backward(); self.d_opt.step()
        requires_grad(self.g, True); requires_grad(self.d, False)
        fake, _ = self.g(self.mixing_noise(n))
        g_loss = F.softplus(-self.d(fake)).mean()
        if i % self.args.g_reg_every == 0:
            fake2, lat = self.g(self.mixing_noise(max(1, n // 2)), return_latents=True)
            path, self.mean_path, _ = g_path_regularize(fake2, lat, self.mean_path)
            g_loss = g_loss + 2 * self.args.g_reg_every * path
            stats['path'] = path
        self.g_opt.zero_grad(); g_loss.backward(); self.g_opt.step()
        accumulate(self.g_ema, self.g)
        stats.update(d=d_loss, g=g_loss)
        return {k: round(v.item(), 4) for k, v in stats.items()}

if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    for name, default in dict(batch=6, iters=7, z_dim=19, style_dim=23, n_mlp=3, lr=2e-3, r1=2.0, mixing=0.9,
                              d_reg_every=3, g_reg_every=2, channels='20,16,10').items():
        parser.add_argument(f'--{name}', type=type(default), default=default)
    args = parser.parse_args()
    torch.manual_seed(4); np.random.seed(4)
    trainer = Trainer(args)
    print(trainer.g.style, sum(p.numel() for p in trainer.g.parameters()), trainer.size)
    for i in range(args.iters):
        print(i, trainer.step(i))
    with torch.no_grad():
        img, _ = trainer.g_ema([torch.randn(5, args.z_dim)], truncation=0.7, truncation_latent=trainer.g_ema.mean_latent(64))
    print(img.shape, img.mean().item(), trainer.mean_path.item())
