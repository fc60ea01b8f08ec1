"""ConvNeXt, with torchvision's parameter names.

Liu et al., A ConvNet for the 2020s, 2022.

Letters: B batch, C channels, H and W height and width, K classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Generic, TypeVar

import torch
from torch import nn

from simpletorch.dims import B, C, Dim, H, K, W
from simpletorch.dtypes import Float
from simpletorch.errors import ShapeMismatch, as_also
from simpletorch.nn import Module
from simpletorch.nn._arguments import probability, refuse, sizes
from simpletorch.tensor import Tensor
from simpletorch.vision.models._blocks import LayerNorm2d, Permute, StochasticDepth, depth_probabilities
from simpletorch.vision.models._weights import Weights, chosen, load_weights

__all__ = ["ConvNeXt", "ConvNeXtBlock", "convnext_base", "convnext_large", "convnext_small", "convnext_tiny"]

DT = TypeVar("DT", bound=Float)

_EPS: Final = 1e-6  # of the layer norms, as in the authors' code


class ConvNeXtBlock(Module, Generic[C]):
    """A 7×7 convolution of each channel and a perceptron over the channels, added: ``(B, C, H, W) -> (B, C, H, W)``.

    Args:
        channels: the number of channels, C.
        layer_scale: the first value of the learned factor of each channel.
        depth: the probability that the block is skipped in training, 0 to 1.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> models.ConvNeXtBlock(16, layer_scale=1e-6, depth=0.0)(torch.zeros(2, 16, 8, 8)).shape
        torch.Size([2, 16, 8, 8])
    """

    def __init__(self, channels: Dim[C], layer_scale: float, depth: float) -> None:
        super().__init__()
        self.block = nn.Sequential(
            nn.Conv2d(channels, channels, kernel_size=7, padding=3, groups=channels),
            Permute(0, 2, 3, 1),
            nn.LayerNorm(channels, eps=_EPS),
            nn.Linear(channels, 4 * channels),
            nn.GELU(),
            nn.Linear(4 * channels, channels),
            Permute(0, 3, 1, 2),
        )
        self.layer_scale = nn.Parameter(torch.full((channels, 1, 1), layer_scale))
        self.stochastic_depth = StochasticDepth(depth)

    def forward(self, x: Tensor[DT, B, C, H, W]) -> Tensor[DT, B, C, H, W]:
        """The pixels' next states.

        Args:
            x: feature maps, ``(B, C, H, W)`` of a floating dtype.
        """
        made: Tensor[DT, B, C, H, W] = self.block(x)
        return x + self.stochastic_depth(self.layer_scale * made)


def _stem(width: int) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(3, width, kernel_size=4, stride=4), LayerNorm2d(width, eps=_EPS))


def _between(width: int, wider: int) -> nn.Sequential:
    return nn.Sequential(LayerNorm2d(width, eps=_EPS), nn.Conv2d(width, wider, kernel_size=2, stride=2))


class ConvNeXt(Module, Generic[K]):
    """Scores for ``K`` classes: ``(B, 3, H, W) -> (B, K)``; images of any size from 32×32 up.

    Args:
        widths: the channels of each stage.
        layers: how many blocks each stage has.
        num_classes: how many scores there are.
        layer_scale: the initial factor of the branches.
        stochastic_depth_prob: probability with which the last block is passed over in training; earlier ones less.

    Raises:
        ShapeMismatch: (a `ValueError` too) there are not as many widths as layers, or a number is below 1.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> model = models.ConvNeXt([16, 32, 48, 64], [1, 1, 1, 1], num_classes=10)
        >>> model(torch.zeros(2, 3, 64, 64)).shape
        torch.Size([2, 10])

    Source: https://arxiv.org/abs/2201.03545, Section 3.
    """

    def __init__(
        self,
        widths: Sequence[int],
        layers: Sequence[int],
        num_classes: Dim[K] = 1000,
        *,
        layer_scale: float = 1e-6,
        stochastic_depth_prob: float = 0.0,
    ) -> None:
        super().__init__()
        if not widths or len(widths) != len(layers):
            error = as_also(ShapeMismatch, ValueError)
            reason = f"widths={list(widths)} and layers={list(layers)} must have an entry for each stage"
            raise error(len(widths), len(layers), reason, operation="ConvNeXt")
        given = {f"widths[{i}]": n for i, n in enumerate(widths)} | {f"layers[{i}]": n for i, n in enumerate(layers)}
        refuse("ConvNeXt", sizes(num_classes=num_classes, **given))
        probability("ConvNeXt", "stochastic_depth_prob", stochastic_depth_prob)
        depths = iter(depth_probabilities(stochastic_depth_prob, sum(layers), reached=True))
        made: list[nn.Module] = []
        before = 0
        for width, count in zip(widths, layers, strict=True):
            made.append(_between(before, width) if before else _stem(width))
            made.append(nn.Sequential(*[ConvNeXtBlock(width, layer_scale, next(depths)) for _ in range(count)]))
            before = width
        self.features = nn.Sequential(*made)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(LayerNorm2d(before, eps=_EPS), nn.Flatten(1), nn.Linear(before, num_classes))
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d | nn.Linear):
                nn.init.trunc_normal_(layer.weight, std=0.02)
                if layer.bias is not None:
                    nn.init.zeros_(layer.bias)

    def forward(self, x: Tensor[DT, B, 3, H, W]) -> Tensor[DT, B, K]:
        """A score for each class, not normalized.

        Args:
            x: images, ``(B, 3, H, W)`` of a floating dtype.
        """
        scores: Tensor[DT, B, K] = self.classifier(self.avgpool(self.features(x)))
        return scores


def convnext_tiny(
    *,
    weights: Weights | None = None,
    pretrained: bool = False,
    num_classes: Dim[K] = 1000,
    stochastic_depth_prob: float = 0.1,
) -> ConvNeXt[K]:
    """ConvNeXt-T: 28.6M parameters, 4.5 billion multiply-adds for an image of 224×224.

    Args:
        weights: the name of published ones such as ``"IMAGENET1K_V1"``, a file with torchvision's parameter names, its
            address, or a state dict; random by default.
        pretrained: the same as ``weights="DEFAULT"``: published ones, which are fetched; another head stays random.
        num_classes: how many scores there are.
        stochastic_depth_prob: probability with which the last block is passed over in training; earlier ones less.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be fetched or read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> with torch.device("meta"):
        ...     model = models.convnext_tiny(num_classes=10)
        >>> model(torch.zeros(2, 3, 224, 224, device="meta")).shape
        torch.Size([2, 10])
    """
    model = ConvNeXt((96, 192, 384, 768), (3, 3, 9, 3), num_classes, stochastic_depth_prob=stochastic_depth_prob)
    load_weights(model, chosen("convnext_tiny", weights, pretrained))
    return model


def convnext_small(
    *,
    weights: Weights | None = None,
    pretrained: bool = False,
    num_classes: Dim[K] = 1000,
    stochastic_depth_prob: float = 0.4,
) -> ConvNeXt[K]:
    """ConvNeXt-S: 50.2M parameters, 8.7 billion multiply-adds for an image of 224×224.

    Args:
        weights: the name of published ones such as ``"IMAGENET1K_V1"``, a file with torchvision's parameter names, its
            address, or a state dict; random by default.
        pretrained: the same as ``weights="DEFAULT"``: published ones, which are fetched; another head stays random.
        num_classes: how many scores there are.
        stochastic_depth_prob: probability with which the last block is passed over in training; earlier ones less.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be fetched or read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> with torch.device("meta"):
        ...     model = models.convnext_small()
        >>> model(torch.zeros(2, 3, 224, 224, device="meta")).shape
        torch.Size([2, 1000])
    """
    model = ConvNeXt((96, 192, 384, 768), (3, 3, 27, 3), num_classes, stochastic_depth_prob=stochastic_depth_prob)
    load_weights(model, chosen("convnext_small", weights, pretrained))
    return model


def convnext_base(
    *,
    weights: Weights | None = None,
    pretrained: bool = False,
    num_classes: Dim[K] = 1000,
    stochastic_depth_prob: float = 0.5,
) -> ConvNeXt[K]:
    """ConvNeXt-B: 88.6M parameters, 15.4 billion multiply-adds for an image of 224×224.

    Args:
        weights: the name of published ones such as ``"IMAGENET1K_V1"``, a file with torchvision's parameter names, its
            address, or a state dict; random by default.
        pretrained: the same as ``weights="DEFAULT"``: published ones, which are fetched; another head stays random.
        num_classes: how many scores there are.
        stochastic_depth_prob: probability with which the last block is passed over in training; earlier ones less.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be fetched or read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> with torch.device("meta"):
        ...     model = models.convnext_base()
        >>> model(torch.zeros(2, 3, 224, 224, device="meta")).shape
        torch.Size([2, 1000])
    """
    model = ConvNeXt((128, 256, 512, 1024), (3, 3, 27, 3), num_classes, stochastic_depth_prob=stochastic_depth_prob)
    load_weights(model, chosen("convnext_base", weights, pretrained))
    return model


def convnext_large(
    *,
    weights: Weights | None = None,
    pretrained: bool = False,
    num_classes: Dim[K] = 1000,
    stochastic_depth_prob: float = 0.5,
) -> ConvNeXt[K]:
    """ConvNeXt-L: 197.8M parameters, 34.4 billion multiply-adds for an image of 224×224.

    Args:
        weights: the name of published ones such as ``"IMAGENET1K_V1"``, a file with torchvision's parameter names, its
            address, or a state dict; random by default.
        pretrained: the same as ``weights="DEFAULT"``: published ones, which are fetched; another head stays random.
        num_classes: how many scores there are.
        stochastic_depth_prob: probability with which the last block is passed over in training; earlier ones less.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be fetched or read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> with torch.device("meta"):
        ...     model = models.convnext_large()
        >>> model(torch.zeros(2, 3, 224, 224, device="meta")).shape
        torch.Size([2, 1000])
    """
    model = ConvNeXt((192, 384, 768, 1536), (3, 3, 27, 3), num_classes, stochastic_depth_prob=stochastic_depth_prob)
    load_weights(model, chosen("convnext_large", weights, pretrained))
    return model
