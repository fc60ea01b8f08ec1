"""DDPM on scikit-learn digits, U-Net with time embedding + attention, DDIM sampler, EMA weights."""
import copy
import math
from functools import partial
from inspect import isfunction

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn, einsum
from torch.utils.data import DataLoader, TensorDataset

CONFIG = {
    "image_size": 16,
    "channels": 1,
    "dim": 16,
    "dim_mults": (1, 2, 4),
    "timesteps": 100,
    "loss_type": "huber",
    "batch_size": 16,
    "train_steps": 3,
    "ddim_steps": 5,
    "ddim_eta": 0.0,
    "lr": 1e-3,
    "num_classes": 10, "cond_drop": 0.1, "guidance": 1.5,
}


def exists(x):
    return x is not None


def default(val, d):
    if exists(val):
        return val
    return d() if isfunction(d) else d


def extract(a, t, x_shape):
    b, *_ = t.shape
    out = a.gather(-1, t)
    return out.reshape(b, *((1,) * (len(x_shape) - 1)))


class Residual(nn.Module):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, x, *args, **kwargs):
        return self.fn(x, *args, **kwargs) + x


def Upsample(dim, dim_out=None):
    return nn.Sequential(
        nn.Upsample(scale_factor=2, mode="nearest"),
        nn.Conv2d(dim, default(dim_out, dim), 3, padding=1),
    )


def Downsample(dim, dim_out=None):
    return nn.Conv2d(dim, default(dim_out, dim), 4, stride=2, padding=1)


class SinusoidalPositionEmbeddings(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, time):
        half_dim = self.dim // 2
        embeddings = math.log(10000) / (half_dim - 1)
        embeddings = torch.exp(torch.arange(half_dim, device=time.device) * -embeddings)
        embeddings = time[:, None] * embeddings[None, :]
        return torch.cat((embeddings.sin(), embeddings.cos()), dim=-1)


class Block(nn.Module):
    def __init__(self, dim, dim_out, groups=8):
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
    def __init__(self, dim, dim_out, *, time_emb_dim=None, groups=8):
        super().__init__()
        self.mlp = nn.Sequential(nn.SiLU(), nn.Linear(time_emb_dim, dim_out * 2)) \
            if exists(time_emb_dim) else None
        self.block1 = Block(dim, dim_out, groups=groups)
        self.block2 = Block(dim_out, dim_out, groups=groups)
        self.res_conv = nn.Conv2d(dim, dim_out, 1) if dim != dim_out else nn.Identity()

    def forward(self, x, time_emb=None):
        scale_shift = None
        if exists(self.mlp) and exists(time_emb):
            time_emb = self.mlp(time_emb)[:, :, None, None]
            scale_shift = time_emb.chunk(2, dim=1)
        h = self.block1(x, scale_shift=scale_shift)
        return self.block2(h) + self.res_conv(x)


class LinearAttention(nn.Module):
    def __init__(self, dim, heads=4, dim_head=8):
        super().__init__()
        self.scale = dim_head ** -0.5
        self.heads = heads
        hidden_dim = dim_head * heads
        self.norm = nn.GroupNorm(1, dim)
        self.to_qkv = nn.Conv2d(dim, hidden_dim * 3, 1, bias=False)
        self.to_out = nn.Sequential(nn.Conv2d(hidden_dim, dim, 1), nn.GroupNorm(1, dim))

    def forward(self, x):
        b, c, h, w = x.shape
        qkv = self.to_qkv(self.norm(x)).chunk(3, dim=1)
        q, k, v = map(lambda t: t.reshape(b, self.heads, -1, h * w), qkv)
        q = q.softmax(dim=-2) * self.scale
        k = k.softmax(dim=-1)
        context = einsum("b h d n, b h e n -> b h d e", k, v)
        out = einsum("b h d e, b h d n -> b h e n", context, q)
        out = out.reshape(b, -1, h, w)
        return self.to_out(out)


class Unet(nn.Module):
    def __init__(self, dim, init_dim=None, out_dim=None, dim_mults=(1, 2, 4, 8), channels=3,
                 num_classes=None, groups=4):
        super().__init__()
        self.channels = channels
        init_dim = default(init_dim, dim)
        self.init_conv = nn.Conv2d(channels, init_dim, 1, padding=0)

        dims = [init_dim, *map(lambda m: dim * m, dim_mults)]
        in_out = list(zip(dims[:-1], dims[1:]))
        block_klass = partial(ResnetBlock, groups=groups, time_emb_dim=dim * 4)

        self.time_mlp = nn.Sequential(
            SinusoidalPositionEmbeddings(dim),
            nn.Linear(dim, dim * 4),
            nn.GELU(),
            nn.Linear(dim * 4, dim * 4),
        )
        # one more row for "no class"
        self.label_emb = nn.Embedding(num_classes + 1, dim * 4) if num_classes else None

        self.downs = nn.ModuleList([])
        self.ups = nn.ModuleList([])
        num_resolutions = len(in_out)
        for ind, (dim_in, dim_out) in enumerate(in_out):
            is_last = ind >= (num_resolutions - 1)
            self.downs.append(nn.ModuleList([
                block_klass(dim_in, dim_in),
                Residual(LinearAttention(dim_in)),
                Downsample(dim_in, dim_out) if not is_last
                else nn.Conv2d(dim_in, dim_out, 3, padding=1),
            ]))

        mid_dim = dims[-1]
        self.mid_block1 = block_klass(mid_dim, mid_dim)
        self.mid_block2 = block_klass(mid_dim, mid_dim)

        for ind, (dim_in, dim_out) in enumerate(reversed(in_out)):
            is_last = ind == (len(in_out) - 1)
            self.ups.append(nn.ModuleList([
                block_klass(dim_out + dim_in, dim_out),
                Residual(LinearAttention(dim_out)),
                Upsample(dim_out, dim_in) if not is_last
                else nn.Conv2d(dim_out, dim_in, 3, padding=1),
            ]))

        self.final_res_block = block_klass(dim * 2, dim)
        self.final_conv = nn.Conv2d(dim, default(out_dim, channels), 1)

    def forward(self, x, time, labels=None):
        x = self.init_conv(x)
        r = x.clone()
        t = self.time_mlp(time)
        if exists(self.label_emb) and exists(labels):
            t = t + self.label_emb(labels)

        h = []
        for block, attn, downsample in self.downs:
            x = block(x, t)
            x = attn(x)
            h.append(x)
            x = downsample(x)

        x = self.mid_block1(x, t)
        x = self.mid_block2(x, t)

        for block, attn, upsample in self.ups:
            x = torch.cat((x, h.pop()), dim=1)
            x = block(x, t)
            x = attn(x)
            x = upsample(x)

        x = torch.cat((x, r), dim=1)
        x = self.final_res_block(x, t)
        return self.final_conv(x)


def cosine_beta_schedule(timesteps, s=0.008):
    x = torch.linspace(0, timesteps, timesteps + 1)
    alphas_cumprod = torch.cos(((x / timesteps) + s) / (1 + s) * torch.pi * 0.5) ** 2
    alphas_cumprod = alphas_cumprod / alphas_cumprod[0]
    betas = 1 - (alphas_cumprod[1:] / alphas_cumprod[:-1])
    return torch.clip(betas, 0.0001, 0.9999)


class Diffusion(nn.Module):
    def __init__(self, timesteps, loss_type):
        super().__init__()
        betas = cosine_beta_schedule(timesteps)
        alphas_cumprod = torch.cumprod(1.0 - betas, dim=0)
        self.timesteps = timesteps
        self.loss_type = loss_type
        self.register_buffer("alphas_cumprod", alphas_cumprod)
        self.register_buffer("sqrt_alphas_cumprod", alphas_cumprod.sqrt())
        self.register_buffer("sqrt_one_minus_alphas_cumprod", (1.0 - alphas_cumprod).sqrt())

    def q_sample(self, x_start, t, noise):
        return (extract(self.sqrt_alphas_cumprod, t, x_start.shape) * x_start
                + extract(self.sqrt_one_minus_alphas_cumprod, t, x_start.shape) * noise)

    def p_losses(self, model, x_start, labels, noise=None):
        t = torch.randint(0, self.timesteps, (x_start.shape[0],), device=x_start.device).long()
        noise = default(noise, lambda: torch.randn_like(x_start))
        predicted = model(self.q_sample(x_start, t, noise), t, labels)
        fn = {"l1": F.l1_loss, "l2": F.mse_loss, "huber": F.smooth_l1_loss}[self.loss_type]
        return fn(predicted, noise)

    @torch.no_grad()
    def ddim_sample(self, model, shape, labels, steps, eta=0.0, guidance=1.0, null_label=None):
        device = self.alphas_cumprod.device
        img = torch.randn(shape, device=device)
        seq = np.linspace(-1, self.timesteps - 1, steps + 1).astype(int)[::-1]
        for now, nxt in zip(seq[:-1], seq[1:]):
            t = torch.full((shape[0],), int(now), device=device, dtype=torch.long)
            eps = model(img, t, labels)
            if guidance != 1.0:
                uncond = model(img, t, torch.full_like(labels, null_label))
                eps = uncond + guidance * (eps - uncond)
            a_now = self.alphas_cumprod[now]
            a_next = self.alphas_cumprod[nxt] if nxt >= 0 else torch.ones_like(a_now)
            x0 = ((img - (1 - a_now).sqrt() * eps) / a_now.sqrt()).clamp(-1, 1)
            sigma = eta * ((1 - a_next) / (1 - a_now) * (1 - a_now / a_next)).sqrt()
            direction = (1 - a_next - sigma ** 2).clamp(min=0).sqrt() * eps
            img = a_next.sqrt() * x0 + direction + sigma * torch.randn_like(img)
        return img


def load_images(size):
    data = load_digits()
    x = torch.tensor(data.images, dtype=torch.float32)[:, None] / 8.0 - 1.0
    x = F.interpolate(x, size=size, mode="bilinear", align_corners=False)
    return TensorDataset(x, torch.from_numpy(data.target).long())


def main(cfg):
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    loader = DataLoader(load_images(cfg["image_size"]), batch_size=cfg["batch_size"], shuffle=True)
    model = Unet(cfg["dim"], channels=cfg["channels"], dim_mults=cfg["dim_mults"],
                 num_classes=cfg["num_classes"]).to(device)
    ema = copy.deepcopy(model).requires_grad_(False)
    diffusion = Diffusion(cfg["timesteps"], cfg["loss_type"]).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg["lr"])

    for step, (batch, labels) in zip(range(cfg["train_steps"]), loader):
        batch, labels = batch.to(device), labels.to(device)
        drop = torch.rand(labels.shape, device=device) < cfg["cond_drop"]
        labels = torch.where(drop, torch.full_like(labels, cfg["num_classes"]), labels)
        loss = diffusion.p_losses(model, batch, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for p_ema, p in zip(ema.parameters(), model.parameters()):
            p_ema.lerp_(p.detach(), 0.05)
        print(f"step {step}: loss {loss.item():.4f}")

    labels = torch.arange(4, device=device)
    shape = (4, cfg["channels"], cfg["image_size"], cfg["image_size"])
    samples = diffusion.ddim_sample(ema, shape, labels, cfg["ddim_steps"], cfg["ddim_eta"],
                                    cfg["guidance"], null_label=cfg["num_classes"])
    print("samples", samples.shape, samples.min().item(), samples.max().item())


if __name__ == "__main__":
    main(CONFIG)
