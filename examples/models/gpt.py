"""GPT-2: a decoder-only transformer, with a key-value cache and sampling.

Radford et al., Language Models are Unsupervised Multitask Learners, 2019. Every step sees ``T`` new tokens and a cache
of ``S`` earlier ones (``S = 0`` at the start), so training, the prompt and one-token steps are the same code.

Letters: B batch, T new tokens, S cached tokens, D model width, H heads, V vocabulary, L longest context.
"""

from typing import Any, Generic, Literal, NamedTuple

import torch
import torch.nn.functional as F

from simpletorch import Bool, Float32, Int64, Tensor, nn
from simpletorch.dims import B, D, Dim, E, H, L, S, T, V


class KVCache(NamedTuple, Generic[B, H, S, E]):
    """Keys and values of the ``S`` tokens seen so far, in one layer of ``H`` heads of width ``E``."""

    keys: Tensor[Float32, B, H, S, E]
    values: Tensor[Float32, B, H, S, E]


def causal_mask(new: Dim[T], cached: Dim[S], device: torch.device) -> Tensor[Bool, T, "S+T"]:
    """Which of all tokens each new one may see: the cached ones, the new ones before it, and itself."""
    return torch.ones(new, cached + new, dtype=torch.bool, device=device).tril(cached)


class Attention(nn.Module, Generic[D, H]):
    """Causal self-attention of ``H`` heads."""

    def __init__(self, dim: Dim[D], heads: Dim[H]) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(
        self, x: Tensor[Float32, B, T, D], cache: KVCache[B, H, S, Literal["D//H"]]
    ) -> tuple[Tensor[Float32, B, T, D], KVCache[B, H, Literal["S+T"], Literal["D//H"]]]:
        """What each new token learns from those before it, and the cache with the new tokens."""
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        keys = torch.cat([cache.keys, k], dim=2)
        values = torch.cat([cache.values, v], dim=2)
        scores = q @ keys.transpose(-2, -1) * (d // self.heads) ** -0.5
        mask = causal_mask(t, cache.keys.shape[2], x.device)
        attended = scores.masked_fill(~mask, float("-inf")).softmax(dim=-1) @ values
        return self.proj(attended.transpose(1, 2).reshape(b, t, d)), KVCache(keys, values)


class Block(nn.Module, Generic[D, H]):
    """Attention and a perceptron, each added to what it read."""

    def __init__(self, dim: Dim[D], heads: Dim[H]) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.attention = Attention(dim, heads)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(approximate="tanh"), nn.Linear(4 * dim, dim))

    def forward(
        self, x: Tensor[Float32, B, T, D], cache: KVCache[B, H, S, Literal["D//H"]]
    ) -> tuple[Tensor[Float32, B, T, D], KVCache[B, H, Literal["S+T"], Literal["D//H"]]]:
        """The tokens' new states, and the layer's new cache."""
        attended, longer = self.attention(self.norm1(x), cache)
        x = x + attended
        return x + self.mlp(self.norm2(x)), longer


class GPT(nn.Module, Generic[V, L, D, H]):
    """Scores for the next token at every position. The defaults are GPT-2's smallest (124M parameters)."""

    def __init__(
        self, vocab: Dim[V] = 50257, context: Dim[L] = 1024, dim: Dim[D] = 768, heads: Dim[H] = 12, layers: int = 12
    ) -> None:
        super().__init__()
        self.dim, self.heads = dim, heads
        self.tokens = nn.Embedding(vocab, dim)
        self.positions = nn.Embedding(context, dim)
        self.blocks = nn.ModuleList([Block(dim, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, vocab, bias=False)
        self.head.weight = self.tokens.weight

    def empty_cache(self, batch: Dim[B]) -> list[KVCache[B, H, Literal[0], Literal["D//H"]]]:
        """A cache of no token for each layer."""
        empty = torch.zeros(batch, self.heads, 0, self.dim // self.heads, device=self.head.weight.device)
        return [KVCache(empty, empty) for _ in self.blocks]

    def forward(
        self, tokens: Tensor[Int64, B, T], caches: list[KVCache[B, H, S, Literal["D//H"]]]
    ) -> tuple[Tensor[Float32, B, T, V], list[KVCache[B, H, Literal["S+T"], Literal["D//H"]]]]:
        """Scores for the token after each new one, and the layers' caches with the new tokens."""
        t, s = tokens.shape[1], caches[0].keys.shape[2]
        x = self.tokens(tokens) + self.positions(torch.arange(s, s + t, device=tokens.device))
        longer = []
        for block, cache in zip(self.blocks, caches, strict=True):
            x, cache = block(x, cache)
            longer.append(cache)
        return self.head(self.norm(x)), longer

    def loss(self, tokens: Tensor[Int64, B, T]) -> Tensor[Float32, ""]:
        """The mean cross-entropy, in nats, of each token but the first given those before it."""
        scores, _ = self(tokens[:, :-1], self.empty_cache(tokens.shape[0]))
        return F.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten())

    @torch.no_grad()
    def generate(self, tokens: Tensor[Int64, B, T], steps: int, temperature: float = 1.0) -> Tensor[Int64, B, Any]:
        """The prompt, and ``steps`` tokens sampled after it one by one."""
        scores, caches = self(tokens, self.empty_cache(tokens.shape[0]))
        for _ in range(steps):
            probabilities = (scores[:, -1] / temperature).softmax(dim=-1)
            token = torch.multinomial(probabilities, num_samples=1)
            tokens = torch.cat([tokens, token], dim=1)
            scores, caches = self(token, caches)
        return tokens
