"""The Swin transformer, with torchvision's parameter names.

Liu et al., Swin Transformer: Hierarchical Vision Transformer using Shifted Windows, 2021.

Letters: B batch, H and W height and width, D width of the model, N side of a window, K classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, Final, Generic, TypeVar

import torch
import torch.nn.functional as F
from torch import nn

from simpletorch.dims import B, D, Dim, H, K, W
from simpletorch.dtypes import Float, Int64
from simpletorch.errors import ShapeMismatch, as_also
from simpletorch.nn import Module
from simpletorch.nn._arguments import divisible, probability, refuse, sizes
from simpletorch.tensor import Tensor
from simpletorch.vision.models._blocks import Permute, StochasticDepth, depth_probabilities
from simpletorch.vision.models._weights import Weights, chosen, load_weights

__all__ = ["SwinBlock", "SwinTransformer", "swin_b", "swin_s", "swin_t"]

DT = TypeVar("DT", bound=Float)

_APART: Final = -100.0  # added to the score of two pixels that only the roll made neighbours, as in the authors' code


def window_positions(window: int) -> torch.Tensor:
    """For each pair of a window's pixels, the row of the table for their offset: ``(N**4,)``."""
    side = torch.arange(window)
    rows, columns = (axis.flatten() for axis in torch.meshgrid(side, side, indexing="ij"))
    down, right = rows[:, None] - rows + window - 1, columns[:, None] - columns + window - 1
    return (down * (2 * window - 1) + right).flatten()


def _regions(size: int, window: int, shift: int, device: torch.device) -> torch.Tensor:
    """Which of an axis' pixels belong together after the roll: ``(size,)``."""
    at = torch.arange(size, device=device)
    return (at >= size - window).long() + (at >= size - shift).long() if shift else torch.zeros_like(at)


class WindowAttention(Module, Generic[D]):
    """Attention among the pixels of each window, the windows shifted or not: ``(B, H, W, D) -> (B, H, W, D)``."""

    relative_position_index: Tensor[Int64, ...]

    def __init__(
        self, dim: Dim[D], heads: int, window: int, shift: int, dropout: float, attention_dropout: float
    ) -> None:
        super().__init__()
        self.heads, self.window, self.shift = heads, window, shift
        self.dropout, self.attention_dropout = dropout, attention_dropout
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)
        self.relative_position_bias_table = nn.Parameter(torch.zeros((2 * window - 1) ** 2, heads))
        self.register_buffer("relative_position_index", window_positions(window))
        nn.init.trunc_normal_(self.relative_position_bias_table, std=0.02)

    def forward(self, x: Tensor[DT, B, H, W, D]) -> Tensor[DT, B, H, W, D]:
        """The pixels' next states; the image is padded to whole windows, and an axis of one window isn't shifted."""
        height, width, window = x.shape[1], x.shape[2], self.window
        # whole windows by their form, as `torch.export` wants to know: of `height + -height % window` it can't see it
        rows, columns = (height + window - 1) // window * window, (width + window - 1) // window * window
        padded = F.pad(x, (0, 0, 0, columns - width, 0, rows - height))
        down, right = (0 if window >= size else self.shift for size in (rows, columns))
        rolled = torch.roll(padded, (-down, -right), dims=(1, 2)) if down or right else padded
        attended = self._attended(rolled, rows, columns, down, right)
        back = torch.roll(attended, (down, right), dims=(1, 2)) if down or right else attended
        cropped: Tensor[DT, B, H, W, D]
        if torch.compiler.is_exporting():  # which would ask of a slice whether it ends within
            cropped = F.pad(back, (0, 0, 0, width - columns, 0, height - rows))
        else:
            cropped = back[:, :height, :width]
        return cropped

    def _attended(self, x: torch.Tensor, rows: int, columns: int, down: int, right: int) -> torch.Tensor:
        """Attention within the windows of an image that consists of whole windows."""
        batch, dim = x.shape[0], x.shape[-1]
        count = rows // self.window, columns // self.window
        windows = self._windows(x, count).reshape(batch, count[0] * count[1], self.window**2, dim)
        qkv = self.qkv(windows).unflatten(-1, (3, self.heads, dim // self.heads))
        # windows and heads are one dim, because attention in ONNX takes four
        query, key, value = qkv.permute(3, 0, 1, 4, 2, 5).flatten(2, 3)
        scores = self.relative_position_bias_table[self.relative_position_index]
        bias = scores.view(self.window**2, self.window**2, self.heads).permute(2, 0, 1)
        if down or right:
            bias = bias + self._mask(rows, columns, down, right, x.device).to(bias.dtype)[:, None]
        bias = bias.expand(count[0] * count[1], -1, -1, -1).flatten(0, 1)
        p = self.attention_dropout if self.training else 0.0
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=bias, dropout_p=p).unflatten(
            1, (-1, self.heads)
        )
        made = F.dropout(self.proj(mixed.transpose(2, 3).flatten(-2)), self.dropout, self.training)
        parts = made.reshape(batch, *count, self.window, self.window, dim)
        return parts.transpose(2, 3).reshape(batch, rows, columns, dim)

    def _windows(self, x: torch.Tensor, count: tuple[int, int]) -> torch.Tensor:
        """The windows' pixels: ``(B, H, W, D) -> (B, H//N, W//N, N, N, D)``."""
        apart = x.reshape(x.shape[0], count[0], self.window, count[1], self.window, x.shape[3])
        return apart.transpose(2, 3)

    def _mask(self, rows: int, columns: int, down: int, right: int, device: torch.device) -> torch.Tensor:
        """The bias of the score of two pixels, by window: ``(H//N*W//N, N*N, N*N)``."""
        row = _regions(rows, self.window, down, device)
        column = _regions(columns, self.window, right, device)
        count = rows // self.window, columns // self.window
        region = self._windows((3 * row[:, None] + column)[None, :, :, None], count).reshape(-1, self.window**2)
        return (region[:, :, None] != region[:, None]) * _APART


class SwinBlock(Module, Generic[D]):
    """Attention in windows and a perceptron, each normalized before, and added: ``(B, H, W, D) -> (B, H, W, D)``.

    Args:
        dim: the number of channels, D; a multiple of ``heads``.
        heads: the number of attention heads.
        window: the height and width of an attention window, in positions.
        shift: by how many positions the windows are shifted along both dims; 0 for none.
        mlp_ratio: the hidden width of the perceptron as a multiple of ``dim``.
        dropout: the dropout probability after the attention's projection and in the perceptron.
        attention_dropout: the dropout probability of attention weights.
        depth: the probability that a branch is skipped in training, 0 to 1.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> models.SwinBlock(32, heads=4, window=4, shift=2)(torch.zeros(2, 8, 8, 32)).shape
        torch.Size([2, 8, 8, 32])
    """

    def __init__(
        self,
        dim: Dim[D],
        heads: int,
        window: int,
        shift: int,
        *,
        mlp_ratio: float = 4.0,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        depth: float = 0.0,
    ) -> None:
        super().__init__()
        hidden = int(dim * mlp_ratio)
        self.norm1 = nn.LayerNorm(dim)
        self.attn = WindowAttention(dim, heads, window, shift, dropout, attention_dropout)
        self.stochastic_depth = StochasticDepth(depth)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(
            nn.Linear(dim, hidden), nn.GELU(), nn.Dropout(dropout), nn.Linear(hidden, dim), nn.Dropout(dropout)
        )

    def forward(self, x: Tensor[DT, B, H, W, D]) -> Tensor[DT, B, H, W, D]:
        """The pixels' next states.

        Args:
            x: feature maps with the channels last, ``(B, H, W, D)`` of a floating dtype.
        """
        x = x + self.stochastic_depth(self.attn(self.norm1(x)))
        return x + self.stochastic_depth(self.mlp(self.norm2(x)))


class PatchMerging(Module, Generic[D]):
    """Four pixels become one of twice the width: ``(B, H, W, D) -> (B, (H+1)//2, (W+1)//2, 2*D)``."""

    def __init__(self, dim: Dim[D]) -> None:
        super().__init__()
        self.reduction = nn.Linear(4 * dim, 2 * dim, bias=False)
        self.norm = nn.LayerNorm(4 * dim)

    def forward(self, x: Tensor[DT, B, H, W, D]) -> Tensor[DT, B, "(H+1)//2", "(W+1)//2", "2*D"]:
        """The pixels' states, an odd image padded with zeros."""
        rows, columns = (x.shape[1] + 1) // 2, (x.shape[2] + 1) // 2
        even = F.pad(x, (0, 0, 0, 2 * columns - x.shape[2], 0, 2 * rows - x.shape[1]))
        pairs = even.reshape(x.shape[0], rows, 2, columns, 2, x.shape[3])
        four = [pairs[:, :, i, :, j] for j in (0, 1) for i in (0, 1)]
        merged: Tensor[DT, B, "(H+1)//2", "(W+1)//2", "4*D"] = torch.cat(four, dim=-1)
        return self.reduction(self.norm(merged))


class SwinTransformer(Module, Generic[K]):
    """Scores for ``K`` classes: ``(B, 3, H, W) -> (B, K)``; images of any size from a patch up.

    Args:
        patch_size: side of a patch, in pixels.
        embed_dim: width of the first stage; each stage has twice that of the one before.
        depths: how many blocks each stage has.
        num_heads: number of attention heads of each stage.
        window_size: side of a window, in patches.
        num_classes: how many scores there are.
        mlp_ratio: how many times as wide as the model its perceptrons are.
        dropout: probability with which a value is dropped.
        attention_dropout: probability with which an attention weight is dropped.
        stochastic_depth_prob: probability with which the last block is passed over in training; earlier ones less.

    Raises:
        ShapeMismatch: (a `ValueError` too) there are not as many depths as heads, a number is below 1, or the heads
            don't divide the width.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> model = models.SwinTransformer(4, 32, [2, 2], [2, 4], window_size=4, num_classes=10)
        >>> model(torch.zeros(2, 3, 64, 64)).shape
        torch.Size([2, 10])

    Source: https://arxiv.org/abs/2103.14030, Section 3.3.
    """

    def __init__(
        self,
        patch_size: int,
        embed_dim: int,
        depths: Sequence[int],
        num_heads: Sequence[int],
        window_size: int,
        num_classes: Dim[K] = 1000,
        *,
        mlp_ratio: float = 4.0,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        stochastic_depth_prob: float = 0.1,
    ) -> None:
        super().__init__()
        _refuse(patch_size, embed_dim, depths, num_heads, window_size, num_classes)
        for name, p in (("dropout", dropout), ("attention_dropout", attention_dropout)):
            probability("SwinTransformer", name, p)
        probability("SwinTransformer", "stochastic_depth_prob", stochastic_depth_prob)
        skips = iter(depth_probabilities(stochastic_depth_prob, sum(depths), reached=True))
        patches = nn.Conv2d(3, embed_dim, kernel_size=patch_size, stride=patch_size)
        made: list[nn.Module] = [nn.Sequential(patches, Permute(0, 2, 3, 1), nn.LayerNorm(embed_dim))]
        dim = embed_dim
        for stage, (count, heads) in enumerate(zip(depths, num_heads, strict=True)):
            if stage:
                made.append(PatchMerging(dim))
                dim *= 2
            shifts = [window_size // 2 if i % 2 else 0 for i in range(count)]
            blocks = [
                SwinBlock(
                    dim,
                    heads,
                    window_size,
                    shift,
                    mlp_ratio=mlp_ratio,
                    dropout=dropout,
                    attention_dropout=attention_dropout,
                    depth=next(skips),
                )
                for shift in shifts
            ]
            made.append(nn.Sequential(*blocks))
        self.features = nn.Sequential(*made)
        self.norm = nn.LayerNorm(dim)
        self.permute = Permute(0, 3, 1, 2)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.flatten = nn.Flatten(1)
        self.head = nn.Linear(dim, num_classes)
        for layer in self.modules():
            if isinstance(layer, nn.Linear):
                nn.init.trunc_normal_(layer.weight, std=0.02)
                if layer.bias is not None:
                    nn.init.zeros_(layer.bias)

    def forward(self, x: Tensor[DT, B, 3, H, W]) -> Tensor[DT, B, K]:
        """A score for each class, not normalized.

        Args:
            x: images, ``(B, 3, H, W)`` of a floating dtype.
        """
        images = self.permute(self.norm(self.features(x)))
        if torch.compiler.is_exporting():  # pooling of channels that come last asks whether there are several images
            images = images.contiguous()
        scores: Tensor[DT, B, K] = self.head(self.flatten(self.avgpool(images)))
        return scores


def _refuse(patch: int, dim: int, depths: Sequence[int], heads: Sequence[int], window: int, classes: int) -> None:
    """Raise for a transformer that can't be built."""
    if not depths or len(depths) != len(heads):
        error = as_also(ShapeMismatch, ValueError)
        reason = f"depths={list(depths)} and num_heads={list(heads)} must have an entry for each stage"
        raise error(len(depths), len(heads), reason, operation="SwinTransformer")
    given: dict[str, Any] = {"patch_size": patch, "embed_dim": dim, "window_size": window, "num_classes": classes}
    given |= {f"depths[{i}]": n for i, n in enumerate(depths)} | {f"num_heads[{i}]": n for i, n in enumerate(heads)}
    divided = [divisible(f"the width of stage {i}", dim * 2**i, f"num_heads[{i}]", n) for i, n in enumerate(heads)]
    refuse("SwinTransformer", chain(sizes(**given), *divided))


def swin_t(
    *, weights: Weights | None = None, pretrained: bool = False, num_classes: Dim[K] = 1000, **options: Any
) -> SwinTransformer[K]:
    """Swin-T: 28.3M parameters, 4.5 billion multiply-adds for an image of 224×224.

    Args:
        weights: the name of published ones such as ``"IMAGENET1K_V1"``, a file with torchvision's parameter names, its
            address, or a state dict; random by default.
        pretrained: the same as ``weights="DEFAULT"``: published ones, which are fetched; another head stays random.
        num_classes: how many scores there are.
        options: ``mlp_ratio``, ``dropout``, ``attention_dropout`` and ``stochastic_depth_prob``, see `SwinTransformer`.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be fetched or read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> with torch.device("meta"):
        ...     model = models.swin_t(num_classes=10)
        >>> model(torch.zeros(2, 3, 224, 224, device="meta")).shape
        torch.Size([2, 10])
    """
    model = SwinTransformer(
        4, 96, (2, 2, 6, 2), (3, 6, 12, 24), 7, num_classes, **{"stochastic_depth_prob": 0.2} | options
    )
    load_weights(model, chosen("swin_t", weights, pretrained))
    return model


def swin_s(
    *, weights: Weights | None = None, pretrained: bool = False, num_classes: Dim[K] = 1000, **options: Any
) -> SwinTransformer[K]:
    """Swin-S: 49.6M parameters, 8.7 billion multiply-adds for an image of 224×224.

    Args:
        weights: the name of published ones such as ``"IMAGENET1K_V1"``, a file with torchvision's parameter names, its
            address, or a state dict; random by default.
        pretrained: the same as ``weights="DEFAULT"``: published ones, which are fetched; another head stays random.
        num_classes: how many scores there are.
        options: ``mlp_ratio``, ``dropout``, ``attention_dropout`` and ``stochastic_depth_prob``, see `SwinTransformer`.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be fetched or read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> with torch.device("meta"):
        ...     model = models.swin_s()
        >>> model(torch.zeros(2, 3, 224, 224, device="meta")).shape
        torch.Size([2, 1000])
    """
    model = SwinTransformer(
        4, 96, (2, 2, 18, 2), (3, 6, 12, 24), 7, num_classes, **{"stochastic_depth_prob": 0.3} | options
    )
    load_weights(model, chosen("swin_s", weights, pretrained))
    return model


def swin_b(
    *, weights: Weights | None = None, pretrained: bool = False, num_classes: Dim[K] = 1000, **options: Any
) -> SwinTransformer[K]:
    """Swin-B: 87.8M parameters, 15.4 billion multiply-adds for an image of 224×224.

    Args:
        weights: the name of published ones such as ``"IMAGENET1K_V1"``, a file with torchvision's parameter names, its
            address, or a state dict; random by default.
        pretrained: the same as ``weights="DEFAULT"``: published ones, which are fetched; another head stays random.
        num_classes: how many scores there are.
        options: ``mlp_ratio``, ``dropout``, ``attention_dropout`` and ``stochastic_depth_prob``, see `SwinTransformer`.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be fetched or read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> with torch.device("meta"):
        ...     model = models.swin_b()
        >>> model(torch.zeros(2, 3, 224, 224, device="meta")).shape
        torch.Size([2, 1000])
    """
    model = SwinTransformer(
        4, 128, (2, 2, 18, 2), (4, 8, 16, 32), 7, num_classes, **{"stochastic_depth_prob": 0.5} | options
    )
    load_weights(model, chosen("swin_b", weights, pretrained))
    return model
