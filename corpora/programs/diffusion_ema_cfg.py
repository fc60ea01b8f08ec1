"""Class-conditional diffusion with an EMA copy, classifier-free guidance and DDIM sampling."""
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from typing import Tuple
import math

import torch
from torch import nn, einsum
import torch.nn.functional as F


@dataclass
class Config:
    image_size: int = 16
    channels: int = 3
    dim: int = 16
    dim_mults: Tuple[int, ...] = (1, 2)
    num_classes: int = 5
    timesteps: int = 50
    sampling_timesteps: int = 4
    batch_size: int = 6
    steps: int = 3
    ema_decay: float = 0.995
    p_uncond: float = 0.1
    betas: Tuple[float, float] = field(default=(0.9, 0.99))


def exists(x):
    return x is not None


def default(val, d):
    if exists(val):
        return val
    return d() if callable(d) else d


def cosine_beta_schedule(timesteps, s=0.008):
    steps = timesteps + 1
    x = torch.linspace(0, timesteps, steps, dtype=torch.float64)
    alphas_cumprod = torch.cos(((x / timesteps) + s) / (1 + s) * math.pi * 0.5) ** 2
    alphas_cumprod = alphas_cumprod / alphas_cumprod[0]
    betas = 1 - (alphas_cumprod[1:] / alphas_cumprod[:-1])
    return torch.clip(betas, 0, 0.999)


def extract(a, t, x_shape):
    b, *_ = t.shape
    out = a.gather(-1, t)
    return out.reshape(b, *((1,) * (len(x_shape) - 1)))


class SinusoidalPosEmb(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        half_dim = self.dim // 2
        emb = math.log(10000) / (half_dim - 1)
        emb = torch.exp(torch.arange(half_dim, device=x.device) * -emb)
        emb = x[:, None] * emb[None, :]
        return torch.cat((emb.sin(), emb.cos()), dim=-1)


class Block(nn.Module):
    def __init__(self, dim, dim_out, groups=4):
        super().__init__()
        self.proj = nn.Conv2d(dim, dim_out, 3, padding=1)
        self.norm = nn.GroupNorm(groups, dim_out)
        self.act = nn.SiLU()

    def forward(self, x, scale_shift=None):
        x = self.norm(self.proj(x))
        if exists(scale_shift):
            scale, shift = scale_shift
            x = x * (scale + 1) + shift
        return self.act(x)


class ResnetBlock(nn.Module):
    def __init__(self, dim, dim_out, *, time_emb_dim=None, groups=4):
        super().__init__()
        self.mlp = nn.Sequential(nn.SiLU(), nn.Linear(time_emb_dim, dim_out * 2)) if exists(time_emb_dim) else None
        self.block1 = Block(dim, dim_out, groups=groups)
        self.block2 = Block(dim_out, dim_out, groups=groups)
        self.res_conv = nn.Conv2d(dim, dim_out, 1) if dim != dim_out else nn.Identity()

    def forward(self, x, time_emb=None):
        scale_shift = None
        if exists(self.mlp) and exists(time_emb):
            time_emb = self.mlp(time_emb)
            time_emb = time_emb[:, :, None, None]
            scale_shift = time_emb.chunk(2, dim=1)
        h = self.block1(x, scale_shift=scale_shift)
        h = self.block2(h)
        return h + self.res_conv(x)


class LinearAttention(nn.Module):
    def __init__(self, dim, heads=2, dim_head=8):
        super().__init__()
        self.scale = dim_head ** -0.5
        self.heads = heads
        hidden_dim = dim_head * heads
        self.to_qkv = nn.Conv2d(dim, hidden_dim * 3, 1, bias=False)
        self.to_out = nn.Sequential(nn.Conv2d(hidden_dim, dim, 1), nn.GroupNorm(1, dim))

    def forward(self, x):
        b, c, h, w = x.shape
        qkv = self.to_qkv(x).chunk(3, dim=1)
        q, k, v = map(lambda t: t.reshape(b, self.heads, -1, h * w), qkv)
        q = q.softmax(dim=-2) * self.scale
        k = k.softmax(dim=-1)
        context = einsum('b h d n, b h e n -> b h d e', k, v)
        out = einsum('b h d e, b h d n -> b h e n', context, q)
        return self.to_out(out.reshape(b, -1, h, w))


class Residual(nn.Module):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, x, *args, **kwargs):
        return self.fn(x, *args, **kwargs) + x


class Unet(nn.Module):
    def __init__(self, dim, dim_mults, channels, num_classes, init_dim=None, out_dim=None):
        super().__init__()
        init_dim = default(init_dim, dim)
        self.init_conv = nn.Conv2d(channels, init_dim, 7, padding=3)
        dims = [init_dim, *map(lambda m: dim * m, dim_mults)]
        in_out = list(zip(dims[:-1], dims[1:]))
        time_dim = dim * 4
        self.time_mlp = nn.Sequential(SinusoidalPosEmb(dim), nn.Linear(dim, time_dim), nn.GELU(), nn.Linear(time_dim, time_dim))
        self.class_emb = nn.Embedding(num_classes + 1, time_dim)
        self.null_class = num_classes
        block = partial(ResnetBlock, time_emb_dim=time_dim)
        self.downs = nn.ModuleList([])
        self.ups = nn.ModuleList([])
        for ind, (dim_in, dim_out) in enumerate(in_out):
            is_last = ind >= (len(in_out) - 1)
            self.downs.append(nn.ModuleList([
                block(dim_in, dim_in),
                Residual(LinearAttention(dim_in)),
                nn.Conv2d(dim_in, dim_out, 4, 2, 1) if not is_last else nn.Conv2d(dim_in, dim_out, 3, padding=1)
            ]))
        mid_dim = dims[-1]
        self.mid_block = block(mid_dim, mid_dim)
        for ind, (dim_in, dim_out) in enumerate(reversed(in_out)):
            is_last = ind == (len(in_out) - 1)
            self.ups.append(nn.ModuleList([
                block(dim_out + dim_in, dim_out),
                Residual(LinearAttention(dim_out)),
                nn.Sequential(nn.Upsample(scale_factor=2), nn.Conv2d(dim_out, dim_in, 3, padding=1)) if not is_last
                else nn.Conv2d(dim_out, dim_in, 3, padding=1)
            ]))
        self.out_dim = default(out_dim, channels)
        self.final_res_block = block(init_dim * 2, dim)
        self.final_conv = nn.Conv2d(dim, self.out_dim, 1)

    def forward(self, x, time, y=None):
        if y is None:
            y = torch.full((x.shape[0],), self.null_class, device=x.device, dtype=torch.long)
        x = self.init_conv(x)
        r = x.clone()
        t = self.time_mlp(time) + self.class_emb(y)
        h = []
        for block, attn, downsample in self.downs:
            x = block(x, t)
            x = attn(x)
            h.append(x)
            x = downsample(x)
        x = self.mid_block(x, t)
        for block, attn, upsample in self.ups:
            x = torch.cat((x, h.pop()), dim=1)
            x = block(x, t)
            x = attn(x)
            x = upsample(x)
        x = torch.cat((x, r), dim=1)
        x = self.final_res_block(x, t)
        return self.final_conv(x)


class GaussianDiffusion(nn.Module):
    def __init__(self, model, cfg):
        super().__init__()
        self.model = model
        self.cfg = cfg
        betas = cosine_beta_schedule(cfg.timesteps)
        alphas_cumprod = torch.cumprod(1. - betas, dim=0)
        register_buffer = lambda name, val: self.register_buffer(name, val.to(torch.float32))
        register_buffer('betas', betas)
        register_buffer('alphas_cumprod', alphas_cumprod)
        register_buffer('sqrt_alphas_cumprod', torch.sqrt(alphas_cumprod))
        register_buffer('sqrt_one_minus_alphas_cumprod', torch.sqrt(1. - alphas_cumprod))
        snr = alphas_cumprod / (1 - alphas_cumprod)
        register_buffer('loss_weight', snr.clamp(max=5) / snr)

    def q_sample(self, x_start, t, noise=None):
        noise = default(noise, lambda: torch.randn_like(x_start))
        return (extract(self.sqrt_alphas_cumprod, t, x_start.shape) * x_start
                + extract(self.sqrt_one_minus_alphas_cumprod, t, x_start.shape) * noise)

    def forward(self, img, classes):
        b, c, h, w, device, img_size = *img.shape, img.device, self.cfg.image_size
        assert h == img_size and w == img_size, f'height and width of image must be {img_size}'
        t = torch.randint(0, self.cfg.timesteps, (b,), device=device).long()
        drop = torch.rand(b, device=device) < self.cfg.p_uncond
        classes = torch.where(drop, torch.full_like(classes, self.model.null_class), classes)
        noise = torch.randn_like(img)
        out = self.model(self.q_sample(img, t, noise), t, classes)
        loss = F.mse_loss(out, noise, reduction='none')
        loss = loss.flatten(1).mean(dim=1) * extract(self.loss_weight, t, (b,))
        return loss.mean()

    @torch.no_grad()
    def ddim_sample(self, classes, guidance=2.0):
        cfg = self.cfg
        shape = (classes.shape[0], cfg.channels, cfg.image_size, cfg.image_size)
        times = torch.linspace(-1, cfg.timesteps - 1, steps=cfg.sampling_timesteps + 1)
        times = list(reversed(times.int().tolist()))
        img = torch.randn(shape)
        for time, time_next in zip(times[:-1], times[1:]):
            t = torch.full((shape[0],), time, dtype=torch.long)
            cond, uncond = self.model(img, t, classes), self.model(img, t)
            pred_noise = uncond + (cond - uncond) * guidance
            alpha = self.alphas_cumprod[time]
            x_start = ((img - (1 - alpha).sqrt() * pred_noise) / alpha.sqrt()).clamp(-1., 1.)
            if time_next < 0:
                img = x_start
                continue
            alpha_next = self.alphas_cumprod[time_next]
            img = x_start * alpha_next.sqrt() + (1 - alpha_next).sqrt() * pred_noise
        return (img + 1) * 0.5


class EMA:
    def __init__(self, model, decay):
        self.decay = decay
        self.shadow = deepcopy(model).eval()
        self.shadow.requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for s, p in zip(self.shadow.parameters(), model.parameters()):
            s.lerp_(p, 1 - self.decay)
        for s, b in zip(self.shadow.buffers(), model.buffers()):
            s.copy_(b)


def cycle(cfg):
    while True:
        y = torch.randint(0, cfg.num_classes, (cfg.batch_size,))
        x = torch.rand(cfg.batch_size, cfg.channels, cfg.image_size, cfg.image_size) * 0.1 + y[:, None, None, None] / cfg.num_classes
        yield x * 2 - 1, y


def main():
    cfg = Config()
    torch.manual_seed(7)
    unet = Unet(cfg.dim, cfg.dim_mults, cfg.channels, cfg.num_classes)
    diffusion = GaussianDiffusion(unet, cfg)
    ema = EMA(diffusion, cfg.ema_decay)
    opt = torch.optim.Adam(diffusion.parameters(), lr=8e-4, betas=cfg.betas)
    dl = cycle(cfg)
    step = 0
    while step < cfg.steps:
        x, y = next(dl)
        loss = diffusion(x, y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(diffusion.parameters(), 1.0)
        opt.step()
        opt.zero_grad()
        ema.update(diffusion)
        step += 1
        print(f'{step}: {loss.item():.4f}')
    samples = ema.shadow.ddim_sample(torch.arange(cfg.num_classes))
    nrow = 3
    pad = (-samples.shape[0]) % nrow
    samples = F.pad(samples, (0, 0, 0, 0, 0, 0, 0, pad))
    grid = samples.reshape(-1, nrow, *samples.shape[1:]).permute(2, 0, 3, 1, 4).flatten(3).flatten(1, 2)
    print(grid.shape)


if __name__ == '__main__':
    main()
