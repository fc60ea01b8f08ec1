"""The vision transformer.

Dosovitskiy et al., An Image is Worth 16x16 Words: Transformers for Image Recognition at Scale, 2021.

Letters: B batch, C colours, N side of the image, P side of a patch, L tokens, D model width, H heads, M width of the
perceptron, K classes.
"""

from typing import Generic

import torch
from torch.nn.functional import scaled_dot_product_attention

from simpletorch import Float32, Tensor, nn
from simpletorch.dims import B, C, D, Dim, H, K, L, M, N, P


class PatchEmbedding(nn.Module, Generic[C, N, P, D]):
    """Cuts the image into patches of ``P×P`` and gives each a vector."""

    def __init__(self, channels: Dim[C], size: Dim[N], patch: Dim[P], dim: Dim[D]) -> None:
        super().__init__()
        if size % patch != 0:
            raise ValueError(f"patches of {patch}×{patch} don't cover an image of {size}×{size}")
        self.project = nn.Conv2d(channels, dim, kernel_size=patch, stride=patch)

    def forward(self, images: Tensor[Float32, B, C, N, N]) -> Tensor[Float32, B, "(N//P)**2", D]:
        """One vector for each patch, row by row."""
        return self.project(images).flatten(start_dim=2).transpose(1, 2)


class SelfAttention(nn.Module, Generic[D, H]):
    """Every token looks at every token, in ``H`` ways."""

    def __init__(self, dim: Dim[D], heads: Dim[H]) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x: Tensor[Float32, B, L, D]) -> Tensor[Float32, B, L, D]:
        """What each token learns from the others."""
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = self.split(q), self.split(k), self.split(v)
        return self.out(self.merge(scaled_dot_product_attention(q, k, v)))

    def split(self, x: Tensor[Float32, B, L, D]) -> Tensor[Float32, B, H, L, "D//H"]:
        """A part of the width for each head."""
        b, t, d = x.shape
        return x.view(b, t, self.heads, d // self.heads).transpose(1, 2)

    def merge(self, x: Tensor[Float32, B, H, L, "D//H"]) -> Tensor[Float32, B, L, D]:
        """The heads side by side again."""
        return x.transpose(1, 2).flatten(start_dim=2)


class Layer(nn.Module, Generic[D, H, M]):
    """Attention and a perceptron, each normalized before and added after."""

    def __init__(self, dim: Dim[D], heads: Dim[H], hidden: Dim[M], dropout: float) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.attention = SelfAttention(dim, heads)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(
            nn.Linear(dim, hidden), nn.GELU(), nn.Dropout(dropout), nn.Linear(hidden, dim), nn.Dropout(dropout)
        )

    def forward(self, x: Tensor[Float32, B, L, D]) -> Tensor[Float32, B, L, D]:
        """The tokens' next states."""
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class ViT(nn.Module, Generic[C, N, P, D, H, M, K]):
    """Scores for ``K`` classes. The defaults are ViT-Base/16."""

    def __init__(
        self,
        channels: Dim[C] = 3,
        size: Dim[N] = 224,
        patch: Dim[P] = 16,
        dim: Dim[D] = 768,
        heads: Dim[H] = 12,
        hidden: Dim[M] = 3072,
        classes: Dim[K] = 1000,
        layers: int = 12,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self.patches = PatchEmbedding(channels, size, patch, dim)
        self.class_token = nn.Parameter(torch.zeros(1, 1, dim))
        self.positions = nn.Parameter(torch.randn(1, 1 + (size // patch) ** 2, dim) * 0.02)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList([Layer(dim, heads, hidden, dropout) for _ in range(layers)])
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, classes)

    def forward(self, images: Tensor[Float32, B, C, N, N]) -> Tensor[Float32, B, K]:
        """A score for each class, read from the class token."""
        patches = self.patches(images)
        class_tokens = self.class_token.expand(len(images), -1, -1)
        x = self.dropout(torch.cat([class_tokens, patches], dim=1) + self.positions)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x[:, 0]))
