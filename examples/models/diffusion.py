"""Denoising diffusion: a U-Net that is told the time predicts the noise in an image; images are made step by step.

Ho, Jain and Abbeel, Denoising Diffusion Probabilistic Models, 2020; the embedding of the time is from Vaswani et al.,
Attention Is All You Need, 2017.

Letters: B batch, I colours, C width, M channels out, E width of the time embedding, H and W height and width, S steps.
"""

from typing import Generic

import torch
import torch.nn.functional as F

from simpletorch import Float32, Int64, Tensor, nn
from simpletorch.dims import B, C, Dim, E, H, I, M, S, W


def embed_time(time: Tensor[Int64, B], dim: Dim[E]) -> Tensor[Float32, B, E]:
    """Sines and cosines of the time, from short waves to long ones; ``dim`` is even."""
    half = dim // 2
    frequencies = 10_000 ** (-torch.arange(half, device=time.device) / half)
    angles = time[:, None] * frequencies[None, :]
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


class ResidualBlock(nn.Module, Generic[I, M, E]):
    """Two convolutions beside a shortcut; the time is added in between."""

    def __init__(self, channels: Dim[I], out: Dim[M], time_dim: Dim[E], groups: int) -> None:
        super().__init__()
        self.norm1 = nn.GroupNorm(groups, channels)
        self.conv1 = nn.Conv2d(channels, out, kernel_size=3, padding=1)
        self.time = nn.Linear(time_dim, out)
        self.norm2 = nn.GroupNorm(groups, out)
        self.conv2 = nn.Conv2d(out, out, kernel_size=3, padding=1)
        self.shortcut = nn.Conv2d(channels, out, kernel_size=1)

    def forward(self, x: Tensor[Float32, B, I, H, W], time: Tensor[Float32, B, E]) -> Tensor[Float32, B, M, H, W]:
        """Other channels, the same size."""
        h = self.conv1(F.silu(self.norm1(x)))
        h = h + self.time(F.silu(time))[:, :, None, None]
        h = self.conv2(F.silu(self.norm2(h)))
        return h + self.shortcut(x)


class SelfAttention(nn.Module, Generic[C]):
    """Every place of the map looks at every other."""

    def __init__(self, channels: Dim[C], groups: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(groups, channels)
        self.qkv = nn.Conv2d(channels, 3 * channels, kernel_size=1)
        self.out = nn.Conv2d(channels, channels, kernel_size=1)

    def forward(self, x: Tensor[Float32, B, C, H, W]) -> Tensor[Float32, B, C, H, W]:
        """The map, and what each place learned from the others."""
        b, c, h, w = x.shape
        q, k, v = self.qkv(self.norm(x)).reshape(b, 3, c, h * w).unbind(1)
        weights = (torch.einsum("bcq,bck->bqk", q, k) * c**-0.5).softmax(dim=-1)
        attended = torch.einsum("bqk,bck->bcq", weights, v)
        return x + self.out(attended.view(b, c, h, w))


class Denoiser(nn.Module, Generic[I, C]):
    """Predicts the noise in an image. ``channels`` is an even multiple of ``groups``; defaults: CIFAR-10."""

    def __init__(self, colours: Dim[I] = 3, channels: Dim[C] = 128, groups: int = 32) -> None:
        super().__init__()
        self.channels = channels
        time_dim = 4 * channels
        self.time = nn.Sequential(nn.Linear(channels, time_dim), nn.SiLU(), nn.Linear(time_dim, time_dim))
        self.first = nn.Conv2d(colours, channels, kernel_size=3, padding=1)
        self.down1 = ResidualBlock(channels, channels, time_dim, groups)
        self.shrink1 = nn.Conv2d(channels, channels, kernel_size=3, stride=2, padding=1)
        self.down2 = ResidualBlock(channels, 2 * channels, time_dim, groups)
        self.shrink2 = nn.Conv2d(2 * channels, 2 * channels, kernel_size=3, stride=2, padding=1)
        self.middle1 = ResidualBlock(2 * channels, 2 * channels, time_dim, groups)
        self.attention = SelfAttention(2 * channels, groups)
        self.middle2 = ResidualBlock(2 * channels, 2 * channels, time_dim, groups)
        self.grow2 = nn.Conv2d(2 * channels, 2 * channels, kernel_size=3, padding=1)
        self.up2 = ResidualBlock(4 * channels, channels, time_dim, groups)
        self.grow1 = nn.Conv2d(channels, channels, kernel_size=3, padding=1)
        self.up1 = ResidualBlock(2 * channels, channels, time_dim, groups)
        self.norm = nn.GroupNorm(groups, channels)
        self.last = nn.Conv2d(channels, colours, kernel_size=3, padding=1)

    def forward(
        self, images: Tensor[Float32, B, I, "4*H", "4*W"], time: Tensor[Int64, B]
    ) -> Tensor[Float32, B, I, "4*H", "4*W"]:
        """The noise in images that were noised ``time`` times."""
        t = self.time(embed_time(time, self.channels))
        full = self.down1(self.first(images), t)
        half = self.down2(self.shrink1(full), t)
        x = self.middle1(self.shrink2(half), t)
        x = self.middle2(self.attention(x), t)
        x = self.grow2(F.interpolate(x, scale_factor=2))
        x = self.up2(torch.cat([x, half], dim=1), t)
        x = self.grow1(F.interpolate(x, scale_factor=2))
        x = self.up1(torch.cat([x, full], dim=1), t)
        return self.last(F.silu(self.norm(x)))


class Diffusion(nn.Module, Generic[I, C, S]):
    """The noise of ``S`` steps, and how to learn to take it away."""

    signal: Tensor[Float32, S]
    betas: Tensor[Float32, S]

    def __init__(self, denoiser: Denoiser[I, C], steps: Dim[S] = 1000) -> None:
        super().__init__()
        self.denoiser = denoiser
        self.steps = steps
        betas = torch.linspace(1e-4, 0.02, steps)
        self.register_buffer("betas", betas)
        self.register_buffer("signal", (1 - betas).cumprod(dim=0))

    def loss(self, images: Tensor[Float32, B, I, "4*H", "4*W"]) -> Tensor[Float32, ""]:
        """The mean squared error of the predicted noise, at a random time for each image (algorithm 1 of the paper)."""
        time = torch.randint(self.steps, (len(images),), device=images.device)
        noise = torch.randn_like(images)
        signal = self.signal[time].view(-1, 1, 1, 1)
        noisy = signal.sqrt() * images + (1 - signal).sqrt() * noise
        return F.mse_loss(self.denoiser(noisy, time), noise)

    @torch.no_grad()
    def sample(self, images: Tensor[Float32, B, I, "4*H", "4*W"]) -> Tensor[Float32, B, I, "4*H", "4*W"]:
        """Images made of the noise ``images`` (algorithm 2 of the paper)."""
        for step in reversed(range(self.steps)):
            time = torch.full((len(images),), step, device=images.device)
            beta, signal = self.betas[step], self.signal[step]
            noise = self.denoiser(images, time)
            images = (images - beta / (1 - signal).sqrt() * noise) / (1 - beta).sqrt()
            if step > 0:
                images = images + beta.sqrt() * torch.randn_like(images)
        return images
