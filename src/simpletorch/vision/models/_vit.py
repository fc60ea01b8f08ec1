"""The vision transformer, with torchvision's parameter names.

Dosovitskiy et al., An Image is Worth 16x16 Words: Transformers for Image Recognition at Scale, 2021.

Letters: B batch, N side of the image, P side of a patch, T tokens, D model width, H heads, K classes.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import MutableMapping
from itertools import chain
from typing import Any, Generic, TypeVar

import torch
from torch import nn

from simpletorch.dims import B, D, Dim, H, K, N, P, T
from simpletorch.dtypes import Float
from simpletorch.nn import Module
from simpletorch.nn._arguments import divisible, probability, refuse, sizes
from simpletorch.tensor import Tensor
from simpletorch.vision.models._weights import Weights, chosen, load_weights

__all__ = ["EncoderBlock", "VisionTransformer", "vit_b_16"]

DT = TypeVar("DT", bound=Float)

_EPS = 1e-6  # of the layer norms, as in the authors' code


def _mlp(dim: int, hidden: int, dropout: float) -> nn.Sequential:
    made = nn.Sequential(
        nn.Linear(dim, hidden), nn.GELU(), nn.Dropout(dropout), nn.Linear(hidden, dim), nn.Dropout(dropout)
    )
    for layer in made:
        if isinstance(layer, nn.Linear):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.normal_(layer.bias, std=1e-6)
    return made


class EncoderBlock(Module, Generic[D, H]):
    """Attention and a perceptron, each normalized before and added after: ``(B, T, D) -> (B, T, D)``."""

    def __init__(self, dim: Dim[D], heads: Dim[H], hidden: int, dropout: float, attention_dropout: float) -> None:
        super().__init__()
        self.ln_1 = nn.LayerNorm(dim, eps=_EPS)
        self.self_attention = nn.MultiheadAttention(dim, heads, dropout=attention_dropout, batch_first=True)
        self.dropout = nn.Dropout(dropout)
        self.ln_2 = nn.LayerNorm(dim, eps=_EPS)
        self.mlp = _mlp(dim, hidden, dropout)
        # torch types no hook
        self.register_load_state_dict_pre_hook(_renamed)  # type: ignore[no-untyped-call]

    def forward(self, x: Tensor[DT, B, T, D]) -> Tensor[DT, B, T, D]:
        """The tokens' next states."""
        normed = self.ln_1(x)
        attended, _ = self.self_attention(normed, normed, normed, need_weights=False)
        x = x + self.dropout(attended)
        added: Tensor[DT, B, T, D] = self.mlp(self.ln_2(x))
        return x + added


def _renamed(_module: nn.Module, state: MutableMapping[str, Any], prefix: str, *_: Any) -> None:
    """torchvision's published files are older than its names: there the perceptron's layers are numbered otherwise."""
    for old, new in (("linear_1", "0"), ("linear_2", "3")):
        for kind in ("weight", "bias"):
            if (key := f"{prefix}mlp.{old}.{kind}") in state:
                state[f"{prefix}mlp.{new}.{kind}"] = state.pop(key)


class _Encoder(Module, Generic[T, D]):
    """Learned positions, the blocks, and a last norm."""

    def __init__(
        self,
        tokens: Dim[T],
        dim: Dim[D],
        layers: int,
        heads: int,
        hidden: int,
        dropout: float,
        attention_dropout: float,
    ) -> None:
        super().__init__()
        self.pos_embedding = nn.Parameter(torch.empty(1, tokens, dim).normal_(std=0.02))
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.Sequential(
            OrderedDict(
                (f"encoder_layer_{i}", EncoderBlock(dim, heads, hidden, dropout, attention_dropout))
                for i in range(layers)
            )
        )
        self.ln = nn.LayerNorm(dim, eps=_EPS)

    def forward(self, x: Tensor[DT, B, T, D]) -> Tensor[DT, B, T, D]:
        """The tokens' last states."""
        return self.ln(self.layers(self.dropout(x + self.pos_embedding)))


class VisionTransformer(Module, Generic[N, P, D, H, K]):
    """Scores for ``K`` classes: ``(B, 3, N, N) -> (B, K)``.

    Args:
        image_size: side of the image, in pixels.
        patch_size: side of a patch, in pixels.
        num_layers: number of encoder blocks.
        num_heads: number of attention heads.
        hidden_dim: width of the model.
        mlp_dim: width of the perceptrons.
        num_classes: how many scores there are.
        dropout: probability with which a value is dropped.
        attention_dropout: probability with which an attention weight is dropped.

    Raises:
        ShapeMismatch: (a `ValueError` too) a number is below 1, the patches don't cover the image, or the heads don't
            divide the width.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> sizes = {"num_layers": 2, "num_heads": 4, "hidden_dim": 32, "mlp_dim": 64}
        >>> model = models.VisionTransformer(64, 16, **sizes, num_classes=10)
        >>> model(torch.zeros(2, 3, 64, 64)).shape
        torch.Size([2, 10])

    Source: https://arxiv.org/abs/2010.11929, Table 1.
    """

    def __init__(
        self,
        image_size: Dim[N],
        patch_size: Dim[P],
        num_layers: int,
        num_heads: Dim[H],
        hidden_dim: Dim[D],
        mlp_dim: int,
        num_classes: Dim[K] = 1000,
        *,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        given = sizes(
            image_size=image_size,
            patch_size=patch_size,
            num_layers=num_layers,
            num_heads=num_heads,
            hidden_dim=hidden_dim,
            mlp_dim=mlp_dim,
            num_classes=num_classes,
        )
        covers = divisible("image_size", image_size, "patch_size", patch_size)
        refuse("VisionTransformer", chain(given, covers, divisible("hidden_dim", hidden_dim, "num_heads", num_heads)))
        probability("VisionTransformer", "dropout", dropout)
        probability("VisionTransformer", "attention_dropout", attention_dropout)
        self.patch_size = patch_size
        self.conv_proj = nn.Conv2d(3, hidden_dim, kernel_size=patch_size, stride=patch_size)
        self.class_token = nn.Parameter(torch.zeros(1, 1, hidden_dim))
        tokens = 1 + (image_size // patch_size) ** 2
        self.encoder = _Encoder(tokens, hidden_dim, num_layers, num_heads, mlp_dim, dropout, attention_dropout)
        head = nn.Linear(hidden_dim, num_classes)
        self.heads = nn.Sequential(OrderedDict(head=head))
        nn.init.trunc_normal_(self.conv_proj.weight, std=math.sqrt(1 / (3 * patch_size**2)))
        for start in (self.conv_proj.bias, head.weight, head.bias):
            if start is not None:
                nn.init.zeros_(start)

    def forward(self, x: Tensor[DT, B, 3, N, N]) -> Tensor[DT, B, K]:
        """A score for each class, read from the class token; not normalized.

        Args:
            x: square images, ``(B, 3, N, N)`` of a floating dtype; N is the model's image size.
        """
        patches = self.conv_proj(x).flatten(2).transpose(1, 2)
        tokens = torch.cat([self.class_token.expand(x.shape[0], -1, -1), patches], dim=1)
        scores: Tensor[DT, B, K] = self.heads(self.encoder(tokens)[:, 0])
        return scores


def vit_b_16(
    *,
    weights: Weights | None = None,
    pretrained: bool = False,
    num_classes: Dim[K] = 1000,
    image_size: Dim[N] = 224,
    dropout: float = 0.0,
    attention_dropout: float = 0.0,
) -> VisionTransformer[N, 16, 768, 12, K]:
    """ViT-B/16, "Base" of the paper's Table 1: 86.6M parameters for images of 224×224.

    Args:
        weights: the name of published ones such as ``"IMAGENET1K_V1"``, a file with torchvision's parameter names, its
            address, or a state dict; random by default.
        pretrained: the same as ``weights="DEFAULT"``: published ones, which are fetched; another head stays random.
        num_classes: how many scores there are.
        image_size: side of the image, in pixels; the weights' positions are for one size.
        dropout: probability with which a value is dropped.
        attention_dropout: probability with which an attention weight is dropped.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be fetched or read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> with torch.device("meta"):
        ...     model = models.vit_b_16(num_classes=10)
        >>> model(torch.zeros(2, 3, 224, 224, device="meta")).shape
        torch.Size([2, 10])
    """
    model = VisionTransformer(
        image_size, 16, 12, 12, 768, 3072, num_classes, dropout=dropout, attention_dropout=attention_dropout
    )
    load_weights(model, chosen("vit_b_16", weights, pretrained))
    return model
