"""Models as people write them, out of operations that the shipped kernels do together."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn


class HalfNorm(nn.Module):
    """RMS normalization in float32 as transformers has it; ``shifted``: by one more than the parameter (Gemma)."""

    def __init__(self, dim: int, *, shifted: bool = False) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(dim))
        self.shifted = shifted

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = x.to(torch.float32)
        normal = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
        if self.shifted:
            return (normal * (1.0 + self.weight.float())).to(x.dtype)
        return self.weight * normal.to(x.dtype)


class HandNorm(nn.Module):
    """Layer normalization by its definition."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(dim)), nn.Parameter(torch.randn(dim))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        centred = x - x.mean(-1, keepdim=True)
        return centred / torch.sqrt(x.var(-1, keepdim=True, unbiased=False) + 1e-5) * self.weight + self.bias


def rotate_half(x: torch.Tensor) -> torch.Tensor:
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), dim=-1)


class Block(nn.Module):
    """A layer as in transformers: grouped queries, an added mask, softmax in float32, a packed perceptron."""

    def __init__(self, dim: int, heads: int, kv_heads: int, hidden: int) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.size = heads, kv_heads, dim // heads
        self.norm1, self.norm2 = HalfNorm(dim), HalfNorm(dim, shifted=True)
        self.q = nn.Linear(dim, heads * self.size, bias=False)
        self.kv = nn.Linear(dim, 2 * kv_heads * self.size, bias=False)
        self.o = nn.Linear(heads * self.size, dim, bias=False)
        self.gate_up, self.down = nn.Linear(dim, 2 * hidden), nn.Linear(hidden, dim)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        b, t, _ = x.shape
        angles = torch.outer(torch.arange(t).float(), 10.0 ** -torch.arange(0, self.size, 2).float())
        angles = torch.cat((angles, angles), dim=-1)
        cos, sin = angles.cos()[None, None].to(x.dtype), angles.sin()[None, None].to(x.dtype)
        normed = self.norm1(x)
        q = self.q(normed).view(b, t, self.heads, self.size).transpose(1, 2)
        k, v = self.kv(normed).view(b, t, 2, self.kv_heads, self.size).permute(2, 0, 3, 1, 4)
        q, k = q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin
        groups = self.heads // self.kv_heads
        k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
        scores = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(self.size) + mask
        shares = F.softmax(scores, dim=-1, dtype=torch.float32).to(q.dtype)
        x = x + self.o(torch.matmul(shares, v).transpose(1, 2).reshape(b, t, -1))
        gate, up = self.gate_up(self.norm2(x)).chunk(2, dim=-1)
        return x + self.down(F.gelu(gate, approximate="tanh") * up)


class Pairs(nn.Module):
    """Rotary positions of neighbouring features (GPT-J), and of halves that are each computed."""

    def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        first, second = x[..., 0::2], x[..., 1::2]
        paired = torch.stack((first * cos - second * sin, second * cos + first * sin), -1).flatten(-2)
        left, right = x.chunk(2, -1)
        return paired, torch.cat((left * cos - right * sin, right * cos + left * sin), -1)


class Many(nn.Module):
    """The other chains: relu of a sum (in place too), SwiGLU by its definition, scaled softmax, layer norm by hand."""

    def __init__(self, dim: int, classes: int) -> None:
        super().__init__()
        self.norm, self.root, self.first, self.second = (
            HandNorm(dim),
            nn.RMSNorm(dim),
            nn.Linear(dim, dim),
            nn.Linear(dim, dim),
        )
        self.head = nn.Linear(dim, classes, bias=False)

    def forward(self, x: torch.Tensor, targets: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        gate = self.first(self.norm(x))
        y = torch.relu(gate * torch.sigmoid(gate) * self.second(x) + x)
        z = self.second(y)
        z += y
        z = F.relu(z, inplace=True)
        total = z + self.first(z)
        shares = (self.root(total) / 3.0).softmax(-1)
        return shares + total, F.cross_entropy(
            self.head(shares * total).flatten(0, 1), targets.flatten(), ignore_index=1
        )
