"""Llama 3: rotary positions, grouped-query attention, RMS normalization and SwiGLU.

Touvron et al., LLaMA: Open and Efficient Foundation Language Models, 2023; Grattafiori et al., The Llama 3 Herd of
Models, 2024. Rotary positions: Su et al., RoFormer, 2021. Grouped queries: Ainslie et al., GQA, 2023. SwiGLU: Shazeer,
GLU Variants Improve Transformer, 2020. RMSNorm: Zhang and Sennrich, 2019.

Letters: B batch, T time, D model width, H query heads, G key-value heads, E width of a head, M width of the perceptron,
V vocabulary, L longest context. Every key-value head serves ``H//G`` query heads.
"""

from dataclasses import dataclass
from typing import Generic

import torch
import torch.nn.functional as F

from simpletorch import Float32, Int64, Tensor, nn
from simpletorch.dims import B, D, Dim, E, G, H, L, M, T, V


@dataclass(frozen=True)
class Config(Generic[V, D, H, G, E, M, L]):
    """The sizes of a model."""

    vocab: Dim[V]
    dim: Dim[D]
    heads: Dim[H]
    kv_heads: Dim[G]
    head_dim: Dim[E]
    hidden: Dim[M]
    context: Dim[L]
    layers: int
    theta: float = 500_000.0


LLAMA_3_8B = Config(vocab=128_256, dim=4096, heads=32, kv_heads=8, head_dim=128, hidden=14_336, context=8192, layers=32)


def rotations(time: Dim[T], head_dim: Dim[E], theta: float) -> tuple[Tensor[Float32, T, E], Tensor[Float32, T, E]]:
    """Cosine and sine of the angle by which each pair of values turns at each position."""
    frequencies = theta ** (-torch.arange(0, head_dim, 2) / head_dim)
    angles = torch.outer(torch.arange(time), frequencies)
    angles = torch.cat([angles, angles], dim=-1)
    return angles.cos(), angles.sin()


def rotate(
    x: Tensor[Float32, B, H, T, E], cos: Tensor[Float32, T, E], sin: Tensor[Float32, T, E]
) -> Tensor[Float32, B, H, T, E]:
    """Turn the pairs ``(x[i], x[i + E//2])`` of each head."""
    left, right = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-right, left], dim=-1) * sin


class RMSNorm(nn.Module, Generic[D]):
    """Divides by the root of the mean square; no mean is subtracted."""

    def __init__(self, dim: Dim[D], eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x: Tensor[Float32, B, T, D]) -> Tensor[Float32, B, T, D]:
        """The same directions, of length about ``sqrt(D)``."""
        return x * torch.rsqrt(x.pow(2).mean(dim=-1, keepdim=True) + self.eps) * self.weight


class Attention(nn.Module, Generic[D, H, G, E]):
    """Causal self-attention with fewer key-value heads than query heads."""

    def __init__(self, dim: Dim[D], heads: Dim[H], kv_heads: Dim[G], head_dim: Dim[E]) -> None:
        super().__init__()
        self.heads, self.kv_heads, self.head_dim = heads, kv_heads, head_dim
        self.q_proj = nn.Linear(dim, heads * head_dim, bias=False)
        self.k_proj = nn.Linear(dim, kv_heads * head_dim, bias=False)
        self.v_proj = nn.Linear(dim, kv_heads * head_dim, bias=False)
        self.o_proj = nn.Linear(heads * head_dim, dim, bias=False)

    def forward(
        self, x: Tensor[Float32, B, T, D], cos: Tensor[Float32, T, E], sin: Tensor[Float32, T, E]
    ) -> Tensor[Float32, B, T, D]:
        """What each token learns from those before it."""
        b, t, _ = x.shape
        q = self.q_proj(x).view(b, t, self.heads, self.head_dim).transpose(1, 2)
        k = self.k_proj(x).view(b, t, self.kv_heads, self.head_dim).transpose(1, 2)
        v = self.v_proj(x).view(b, t, self.kv_heads, self.head_dim).transpose(1, 2)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        # every key-value head is shared by a group of query heads: an axis of its own instead of copies
        groups = q.view(b, self.kv_heads, self.heads // self.kv_heads, t, self.head_dim)
        scores = groups @ k.unsqueeze(2).transpose(-2, -1) / self.head_dim**0.5
        hidden = torch.ones(t, t, dtype=torch.bool, device=x.device).triu(1)
        attended = scores.masked_fill(hidden, float("-inf")).softmax(dim=-1) @ v.unsqueeze(2)
        heads = attended.view(b, self.heads, t, self.head_dim)
        return self.o_proj(heads.transpose(1, 2).flatten(2))


class SwiGLU(nn.Module, Generic[D, M]):
    """A perceptron whose hidden values are gated."""

    def __init__(self, dim: Dim[D], hidden: Dim[M]) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(dim, hidden, bias=False)
        self.up_proj = nn.Linear(dim, hidden, bias=False)
        self.down_proj = nn.Linear(hidden, dim, bias=False)

    def forward(self, x: Tensor[Float32, B, T, D]) -> Tensor[Float32, B, T, D]:
        """One perceptron for every token."""
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module, Generic[D, H, G, E, M]):
    """Attention and a perceptron, each normalized before and added after."""

    def __init__(self, dim: Dim[D], heads: Dim[H], kv_heads: Dim[G], head_dim: Dim[E], hidden: Dim[M]) -> None:
        super().__init__()
        self.input_layernorm = RMSNorm(dim)
        self.self_attn = Attention(dim, heads, kv_heads, head_dim)
        self.post_attention_layernorm = RMSNorm(dim)
        self.mlp = SwiGLU(dim, hidden)

    def forward(
        self, x: Tensor[Float32, B, T, D], cos: Tensor[Float32, T, E], sin: Tensor[Float32, T, E]
    ) -> Tensor[Float32, B, T, D]:
        """The tokens' next states."""
        x = x + self.self_attn(self.input_layernorm(x), cos, sin)
        return x + self.mlp(self.post_attention_layernorm(x))


class Llama(nn.Module, Generic[V, D, H, G, E, M, L]):
    """Scores for the next token at every position."""

    cos: Tensor[Float32, L, E]
    sin: Tensor[Float32, L, E]

    def __init__(self, config: Config[V, D, H, G, E, M, L]) -> None:
        super().__init__()
        c = config
        self.embed_tokens = nn.Embedding(c.vocab, c.dim)
        self.layers = nn.ModuleList([Layer(c.dim, c.heads, c.kv_heads, c.head_dim, c.hidden) for _ in range(c.layers)])
        self.norm = RMSNorm(c.dim)
        self.lm_head = nn.Linear(c.dim, c.vocab, bias=False)
        cos, sin = rotations(c.context, c.head_dim, c.theta)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, tokens: Tensor[Int64, B, T]) -> Tensor[Float32, B, T, V]:
        """Scores for the token after each."""
        t = tokens.shape[1]
        x = self.embed_tokens(tokens)
        for layer in self.layers:
            x = layer(x, self.cos[:t], self.sin[:t])
        return self.lm_head(self.norm(x))
