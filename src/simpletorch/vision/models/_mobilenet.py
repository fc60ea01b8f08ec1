"""MobileNetV3, with torchvision's parameter names.

Howard et al., Searching for MobileNetV3, 2019.

Letters: B batch, H and W height and width, K classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final, Generic, NamedTuple, TypeVar

import torch
from torch import nn

from simpletorch.dims import B, Dim, H, K, W
from simpletorch.dtypes import Float
from simpletorch.nn import Module
from simpletorch.nn._arguments import probability, refuse, sizes
from simpletorch.tensor import Tensor
from simpletorch.vision.models._blocks import (
    InvertedResidual,
    Norm,
    SqueezeExcitation,
    conv_norm,
    draw_convolutions,
    rounded,
)
from simpletorch.vision.models._weights import Weights, chosen, load_weights

__all__ = ["MobileNetV3", "mobilenet_v3_large", "mobilenet_v3_small"]

DT = TypeVar("DT", bound=Float)


class _Row(NamedTuple):
    """A block: a row of the paper's Table 1 or 2."""

    kernel: int
    expanded: int
    out: int
    excited: bool
    hard: bool
    stride: int


_LARGE: Final = (
    _Row(3, 16, 16, False, False, 1),
    _Row(3, 64, 24, False, False, 2),
    _Row(3, 72, 24, False, False, 1),
    _Row(5, 72, 40, True, False, 2),
    _Row(5, 120, 40, True, False, 1),
    _Row(5, 120, 40, True, False, 1),
    _Row(3, 240, 80, False, True, 2),
    _Row(3, 200, 80, False, True, 1),
    _Row(3, 184, 80, False, True, 1),
    _Row(3, 184, 80, False, True, 1),
    _Row(3, 480, 112, True, True, 1),
    _Row(3, 672, 112, True, True, 1),
    _Row(5, 672, 160, True, True, 2),
    _Row(5, 960, 160, True, True, 1),
    _Row(5, 960, 160, True, True, 1),
)
_SMALL: Final = (
    _Row(3, 16, 16, True, False, 2),
    _Row(3, 72, 24, False, False, 2),
    _Row(3, 88, 24, False, False, 1),
    _Row(5, 96, 40, True, True, 2),
    _Row(5, 240, 40, True, True, 1),
    _Row(5, 240, 40, True, True, 1),
    _Row(5, 120, 48, True, True, 1),
    _Row(5, 144, 48, True, True, 1),
    _Row(5, 288, 96, True, True, 2),
    _Row(5, 576, 96, True, True, 1),
    _Row(5, 576, 96, True, True, 1),
)
_STEM: Final = 16
_NORM: Final = partial(nn.BatchNorm2d, eps=0.001, momentum=0.01)  # as in the authors' code


def _block(channels: int, row: _Row, norm: Norm) -> nn.Module:
    inner = SqueezeExcitation(row.expanded, rounded(row.expanded // 4), nn.ReLU(), nn.Hardsigmoid())
    return InvertedResidual(
        channels,
        row.out,
        row.stride,
        expanded=row.expanded,
        kernel=row.kernel,
        norm=norm,
        activation=nn.Hardswish if row.hard else nn.ReLU,
        excitation=inner if row.excited else None,
    )


class MobileNetV3(Module, Generic[K]):
    """Scores for ``K`` classes: ``(B, 3, H, W) -> (B, K)``; images of any size from 1×1 up.

    Args:
        rows: the blocks: side of the kernel, channels in the middle, channels out, whether channels are scaled, whether
            the activation is hard swish (else ReLU), and the stride.
        hidden: values between the two linear layers of the classifier.
        num_classes: how many scores there are.
        dropout: probability with which a hidden value of the classifier is dropped.
        norm_layer: makes a norm, given the number of channels.

    Raises:
        ShapeMismatch: (a `ValueError` too) a number is below 1.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> with torch.device("meta"):
        ...     model = models.mobilenet_v3_small(num_classes=10)
        >>> model(torch.zeros(2, 3, 224, 224, device="meta")).shape
        torch.Size([2, 10])
        >>> isinstance(model, models.MobileNetV3)
        True

    Source: https://arxiv.org/abs/1905.02244, Tables 1 and 2.
    """

    def __init__(
        self,
        rows: Sequence[tuple[int, int, int, bool, bool, int]],
        hidden: int,
        num_classes: Dim[K] = 1000,
        *,
        dropout: float = 0.2,
        norm_layer: Norm = _NORM,
    ) -> None:
        super().__init__()
        refuse("MobileNetV3", sizes(rows=len(rows), hidden=hidden, num_classes=num_classes))
        probability("MobileNetV3", "dropout", dropout)
        made: list[nn.Module] = [conv_norm(3, _STEM, norm_layer, nn.Hardswish, kernel=3, stride=2)]
        channels = _STEM
        for row in rows:
            made.append(_block(channels, _Row(*row), norm_layer))
            channels = row[2]
        made.append(conv_norm(channels, 6 * channels, norm_layer, nn.Hardswish))
        self.features = nn.Sequential(*made)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(
            nn.Linear(6 * channels, hidden),
            nn.Hardswish(inplace=True),
            nn.Dropout(dropout, inplace=True),
            nn.Linear(hidden, num_classes),
        )
        draw_convolutions(self, lambda layer: nn.init.normal_(layer.weight, 0, 0.01))

    def forward(self, x: Tensor[DT, B, 3, H, W]) -> Tensor[DT, B, K]:
        """A score for each class, not normalized.

        Args:
            x: images, ``(B, 3, H, W)`` of a floating dtype.
        """
        return self.classifier(torch.flatten(self.avgpool(self.features(x)), 1))


def mobilenet_v3_large(
    *, weights: Weights | None = None, pretrained: bool = False, num_classes: Dim[K] = 1000, **options: Any
) -> MobileNetV3[K]:
    """MobileNetV3-Large: 5.5M parameters, 0.22 billion multiply-adds for an image of 224×224.

    Args:
        weights: the name of published ones such as ``"IMAGENET1K_V1"``, a file with torchvision's parameter names, its
            address, or a state dict; random by default.
        pretrained: the same as ``weights="DEFAULT"``: published ones, which are fetched; another head stays random.
        num_classes: how many scores there are.
        options: ``dropout`` and ``norm_layer``, see `MobileNetV3`.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be fetched or read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> with torch.device("meta"):
        ...     model = models.mobilenet_v3_large()
        >>> model(torch.zeros(2, 3, 224, 224, device="meta")).shape
        torch.Size([2, 1000])
    """
    model = MobileNetV3(_LARGE, 1280, num_classes, **options)
    load_weights(model, chosen("mobilenet_v3_large", weights, pretrained))
    return model


def mobilenet_v3_small(
    *, weights: Weights | None = None, pretrained: bool = False, num_classes: Dim[K] = 1000, **options: Any
) -> MobileNetV3[K]:
    """MobileNetV3-Small: 2.5M parameters, 0.06 billion multiply-adds for an image of 224×224.

    Args:
        weights: the name of published ones such as ``"IMAGENET1K_V1"``, a file with torchvision's parameter names, its
            address, or a state dict; random by default.
        pretrained: the same as ``weights="DEFAULT"``: published ones, which are fetched; another head stays random.
        num_classes: how many scores there are.
        options: ``dropout`` and ``norm_layer``, see `MobileNetV3`.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be fetched or read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> with torch.device("meta"):
        ...     model = models.mobilenet_v3_small(num_classes=10)
        >>> model(torch.zeros(2, 3, 224, 224, device="meta")).shape
        torch.Size([2, 10])
    """
    model = MobileNetV3(_SMALL, 1024, num_classes, **options)
    load_weights(model, chosen("mobilenet_v3_small", weights, pretrained))
    return model
