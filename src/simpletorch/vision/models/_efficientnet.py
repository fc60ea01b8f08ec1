"""EfficientNet, with torchvision's parameter names.

Tan and Le, EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks, 2019.

Letters: B batch, H and W height and width, K classes.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Final, Generic, NamedTuple, TypeVar

import torch
from torch import nn

from simpletorch.dims import B, Dim, H, K, W
from simpletorch.dtypes import Float
from simpletorch.errors import ShapeMismatch, as_also
from simpletorch.nn import Module
from simpletorch.nn._arguments import probability, refuse, sizes
from simpletorch.tensor import Tensor
from simpletorch.vision.models._blocks import (
    InvertedResidual,
    Norm,
    SqueezeExcitation,
    conv_norm,
    depth_probabilities,
    draw_convolutions,
    rounded,
)
from simpletorch.vision.models._weights import Published, Weights, chosen, load_weights

__all__ = ["EfficientNet", *(f"efficientnet_b{i}" for i in range(8))]

DT = TypeVar("DT", bound=Float)


class _Stage(NamedTuple):
    """A row of the paper's Table 1, before it is scaled."""

    expansion: int
    kernel: int
    stride: int
    out: int
    layers: int


_STAGES: Final = (
    _Stage(1, 3, 1, 16, 1),
    _Stage(6, 3, 2, 24, 2),
    _Stage(6, 5, 2, 40, 2),
    _Stage(6, 3, 2, 80, 3),
    _Stage(6, 5, 1, 112, 3),
    _Stage(6, 5, 2, 192, 4),
    _Stage(6, 3, 1, 320, 1),
)
_STEM: Final = 32
_TENSORFLOW: Final = partial(nn.BatchNorm2d, eps=0.001, momentum=0.01)  # b5 to b7: the authors' weights were converted


def _block(channels: int, out: int, stride: int, stage: _Stage, norm: Norm, depth: float) -> nn.Module:
    expanded = rounded(channels * stage.expansion)
    inner = SqueezeExcitation(expanded, max(1, channels // 4), nn.SiLU(inplace=True), nn.Sigmoid())
    return InvertedResidual(
        channels,
        out,
        stride,
        expanded=expanded,
        kernel=stage.kernel,
        norm=norm,
        activation=nn.SiLU,
        excitation=inner,
        depth=depth,
    )


class EfficientNet(Module, Generic[K]):
    """Scores for ``K`` classes: ``(B, 3, H, W) -> (B, K)``; images of any size from 1×1 up.

    Args:
        width: how many times as many channels a layer has as that of EfficientNet-B0.
        depth: how many times as many blocks a stage has.
        num_classes: how many scores there are.
        dropout: probability with which a feature of the image is dropped.
        stochastic_depth_prob: the probability with which the last block is skipped in training; it grows from 0.
        norm_layer: makes a norm, given the number of channels.

    Raises:
        ShapeMismatch: (a `ValueError` too) a number isn't above 0.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> models.EfficientNet(width=0.25, depth=0.25, num_classes=10)(torch.zeros(2, 3, 64, 64)).shape
        torch.Size([2, 10])

    Source: https://arxiv.org/abs/1905.11946, Table 1 and Section 3.3.
    """

    def __init__(
        self,
        width: float = 1.0,
        depth: float = 1.0,
        num_classes: Dim[K] = 1000,
        *,
        dropout: float = 0.2,
        stochastic_depth_prob: float = 0.2,
        norm_layer: Norm = nn.BatchNorm2d,
    ) -> None:
        super().__init__()
        for name, scale in (("width", width), ("depth", depth)):
            if not scale > 0:
                error = as_also(ShapeMismatch, ValueError)
                raise error("> 0", scale, f"{name} is {scale}, but it must be above 0", operation="EfficientNet")
        refuse("EfficientNet", sizes(num_classes=num_classes))
        probability("EfficientNet", "dropout", dropout)
        probability("EfficientNet", "stochastic_depth_prob", stochastic_depth_prob)
        counts = [math.ceil(stage.layers * depth) for stage in _STAGES]
        depths = iter(depth_probabilities(stochastic_depth_prob, sum(counts), reached=False))
        channels = rounded(_STEM * width)
        made: list[nn.Module] = [conv_norm(3, channels, norm_layer, nn.SiLU, kernel=3, stride=2)]
        for stage, count in zip(_STAGES, counts, strict=True):
            out = rounded(stage.out * width)
            blocks = [_block(channels, out, stage.stride, stage, norm_layer, next(depths))]
            blocks += [_block(out, out, 1, stage, norm_layer, next(depths)) for _ in range(count - 1)]
            made.append(nn.Sequential(*blocks))
            channels = out
        made.append(conv_norm(channels, 4 * channels, norm_layer, nn.SiLU))
        self.features = nn.Sequential(*made)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(nn.Dropout(dropout, inplace=True), nn.Linear(4 * channels, num_classes))
        draw_convolutions(self, _draw)

    def forward(self, x: Tensor[DT, B, 3, H, W]) -> Tensor[DT, B, K]:
        """A score for each class, not normalized.

        Args:
            x: images, ``(B, 3, H, W)`` of a floating dtype.
        """
        return self.classifier(torch.flatten(self.avgpool(self.features(x)), 1))


def _draw(layer: nn.Linear) -> None:
    most = 1 / math.sqrt(layer.out_features)
    nn.init.uniform_(layer.weight, -most, most)


def _efficientnet(
    width: float,
    depth: float,
    dropout: float,
    weights: Weights | Published | None,
    num_classes: Dim[K],
    options: dict[str, Any],
) -> EfficientNet[K]:
    model = EfficientNet(width, depth, num_classes, **{"dropout": dropout} | options)
    load_weights(model, weights)
    return model


def efficientnet_b0(
    *, weights: Weights | None = None, pretrained: bool = False, num_classes: Dim[K] = 1000, **options: Any
) -> EfficientNet[K]:
    """EfficientNet-B0: 5.3M parameters, 0.39 billion multiply-adds for an image of 224×224.

    Args:
        weights: the name of published ones such as ``"IMAGENET1K_V1"``, a file with torchvision's parameter names, its
            address, or a state dict; random by default.
        pretrained: the same as ``weights="DEFAULT"``: published ones, which are fetched; another head stays random.
        num_classes: how many scores there are.
        options: ``dropout``, ``stochastic_depth_prob`` and ``norm_layer``, see `EfficientNet`.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be fetched or read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> with torch.device("meta"):
        ...     model = models.efficientnet_b0(num_classes=10)
        >>> model(torch.zeros(2, 3, 224, 224, device="meta")).shape
        torch.Size([2, 10])
    """
    return _efficientnet(1.0, 1.0, 0.2, chosen("efficientnet_b0", weights, pretrained), num_classes, options)


def efficientnet_b1(
    *, weights: Weights | None = None, pretrained: bool = False, num_classes: Dim[K] = 1000, **options: Any
) -> EfficientNet[K]:
    """EfficientNet-B1: 7.8M parameters, 0.69 billion multiply-adds for an image of 240×240.

    Args:
        weights: the name of published ones such as ``"IMAGENET1K_V1"``, a file with torchvision's parameter names, its
            address, or a state dict; random by default.
        pretrained: the same as ``weights="DEFAULT"``: published ones, which are fetched; another head stays random.
        num_classes: how many scores there are.
        options: ``dropout``, ``stochastic_depth_prob`` and ``norm_layer``, see `EfficientNet`.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be fetched or read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> with torch.device("meta"):
        ...     model = models.efficientnet_b1()
        >>> model(torch.zeros(2, 3, 240, 240, device="meta")).shape
        torch.Size([2, 1000])
    """
    return _efficientnet(1.0, 1.1, 0.2, chosen("efficientnet_b1", weights, pretrained), num_classes, options)


def efficientnet_b2(
    *, weights: Weights | None = None, pretrained: bool = False, num_classes: Dim[K] = 1000, **options: Any
) -> EfficientNet[K]:
    """EfficientNet-B2: 9.1M parameters, 1.09 billion multiply-adds for an image of 288×288.

    Args:
        weights: the name of published ones such as ``"IMAGENET1K_V1"``, a file with torchvision's parameter names, its
            address, or a state dict; random by default.
        pretrained: the same as ``weights="DEFAULT"``: published ones, which are fetched; another head stays random.
        num_classes: how many scores there are.
        options: ``dropout``, ``stochastic_depth_prob`` and ``norm_layer``, see `EfficientNet`.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be fetched or read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> with torch.device("meta"):
        ...     model = models.efficientnet_b2()
        >>> model(torch.zeros(2, 3, 288, 288, device="meta")).shape
        torch.Size([2, 1000])
    """
    return _efficientnet(1.1, 1.2, 0.3, chosen("efficientnet_b2", weights, pretrained), num_classes, options)


def efficientnet_b3(
    *, weights: Weights | None = None, pretrained: bool = False, num_classes: Dim[K] = 1000, **options: Any
) -> EfficientNet[K]:
    """EfficientNet-B3: 12.2M parameters, 1.83 billion multiply-adds for an image of 300×300.

    Args:
        weights: the name of published ones such as ``"IMAGENET1K_V1"``, a file with torchvision's parameter names, its
            address, or a state dict; random by default.
        pretrained: the same as ``weights="DEFAULT"``: published ones, which are fetched; another head stays random.
        num_classes: how many scores there are.
        options: ``dropout``, ``stochastic_depth_prob`` and ``norm_layer``, see `EfficientNet`.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be fetched or read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> with torch.device("meta"):
        ...     model = models.efficientnet_b3()
        >>> model(torch.zeros(2, 3, 300, 300, device="meta")).shape
        torch.Size([2, 1000])
    """
    return _efficientnet(1.2, 1.4, 0.3, chosen("efficientnet_b3", weights, pretrained), num_classes, options)


def efficientnet_b4(
    *, weights: Weights | None = None, pretrained: bool = False, num_classes: Dim[K] = 1000, **options: Any
) -> EfficientNet[K]:
    """EfficientNet-B4: 19.3M parameters, 4.39 billion multiply-adds for an image of 380×380.

    Args:
        weights: the name of published ones such as ``"IMAGENET1K_V1"``, a file with torchvision's parameter names, its
            address, or a state dict; random by default.
        pretrained: the same as ``weights="DEFAULT"``: published ones, which are fetched; another head stays random.
        num_classes: how many scores there are.
        options: ``dropout``, ``stochastic_depth_prob`` and ``norm_layer``, see `EfficientNet`.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be fetched or read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> with torch.device("meta"):
        ...     model = models.efficientnet_b4()
        >>> model(torch.zeros(2, 3, 380, 380, device="meta")).shape
        torch.Size([2, 1000])
    """
    return _efficientnet(1.4, 1.8, 0.4, chosen("efficientnet_b4", weights, pretrained), num_classes, options)


def efficientnet_b5(
    *, weights: Weights | None = None, pretrained: bool = False, num_classes: Dim[K] = 1000, **options: Any
) -> EfficientNet[K]:
    """EfficientNet-B5: 30.4M parameters, 10.27 billion multiply-adds for an image of 456×456.

    Args:
        weights: the name of published ones such as ``"IMAGENET1K_V1"``, a file with torchvision's parameter names, its
            address, or a state dict; random by default.
        pretrained: the same as ``weights="DEFAULT"``: published ones, which are fetched; another head stays random.
        num_classes: how many scores there are.
        options: ``dropout``, ``stochastic_depth_prob`` and ``norm_layer``, see `EfficientNet`.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be fetched or read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> with torch.device("meta"):
        ...     model = models.efficientnet_b5()
        >>> model(torch.zeros(2, 3, 456, 456, device="meta")).shape
        torch.Size([2, 1000])
    """
    return _efficientnet(
        1.6,
        2.2,
        0.4,
        chosen("efficientnet_b5", weights, pretrained),
        num_classes,
        {"norm_layer": _TENSORFLOW} | options,
    )


def efficientnet_b6(
    *, weights: Weights | None = None, pretrained: bool = False, num_classes: Dim[K] = 1000, **options: Any
) -> EfficientNet[K]:
    """EfficientNet-B6: 43.0M parameters, 19.07 billion multiply-adds for an image of 528×528.

    Args:
        weights: the name of published ones such as ``"IMAGENET1K_V1"``, a file with torchvision's parameter names, its
            address, or a state dict; random by default.
        pretrained: the same as ``weights="DEFAULT"``: published ones, which are fetched; another head stays random.
        num_classes: how many scores there are.
        options: ``dropout``, ``stochastic_depth_prob`` and ``norm_layer``, see `EfficientNet`.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be fetched or read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> with torch.device("meta"):
        ...     model = models.efficientnet_b6()
        >>> model(torch.zeros(2, 3, 528, 528, device="meta")).shape
        torch.Size([2, 1000])
    """
    return _efficientnet(
        1.8,
        2.6,
        0.5,
        chosen("efficientnet_b6", weights, pretrained),
        num_classes,
        {"norm_layer": _TENSORFLOW} | options,
    )


def efficientnet_b7(
    *, weights: Weights | None = None, pretrained: bool = False, num_classes: Dim[K] = 1000, **options: Any
) -> EfficientNet[K]:
    """EfficientNet-B7: 66.3M parameters, 37.75 billion multiply-adds for an image of 600×600.

    Args:
        weights: the name of published ones such as ``"IMAGENET1K_V1"``, a file with torchvision's parameter names, its
            address, or a state dict; random by default.
        pretrained: the same as ``weights="DEFAULT"``: published ones, which are fetched; another head stays random.
        num_classes: how many scores there are.
        options: ``dropout``, ``stochastic_depth_prob`` and ``norm_layer``, see `EfficientNet`.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be fetched or read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> with torch.device("meta"):
        ...     model = models.efficientnet_b7()
        >>> model(torch.zeros(2, 3, 600, 600, device="meta")).shape
        torch.Size([2, 1000])
    """
    return _efficientnet(
        2.0,
        3.1,
        0.5,
        chosen("efficientnet_b7", weights, pretrained),
        num_classes,
        {"norm_layer": _TENSORFLOW} | options,
    )
