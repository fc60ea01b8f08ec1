"""VGG, with torchvision's parameter names.

Simonyan and Zisserman, Very Deep Convolutional Networks for Large-Scale Image Recognition, 2015; with batch norm after
each convolution in the variants that torchvision calls ``_bn``.

Letters: B batch, H and W height and width, K classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Generic, TypeVar

import torch
from torch import nn

from simpletorch.dims import B, Dim, H, K, W
from simpletorch.dtypes import Float
from simpletorch.errors import ShapeMismatch, as_also
from simpletorch.nn import Module
from simpletorch.nn._arguments import probability, refuse, sizes
from simpletorch.tensor import Tensor
from simpletorch.vision.models._weights import Published, Weights, chosen, load_weights

__all__ = ["VGG", "vgg11", "vgg11_bn", "vgg13", "vgg13_bn", "vgg16", "vgg16_bn", "vgg19", "vgg19_bn"]

DT = TypeVar("DT", bound=Float)

_WIDTHS: Final = (64, 128, 256, 512, 512)  # Table 1 of the paper: of the convolutions between two poolings


class VGG(Module, Generic[K]):
    """Scores for ``K`` classes: ``(B, 3, H, W) -> (B, K)``; images of any size from 32×32 up.

    Args:
        layers: how many 3×3 convolutions each of the five stages has.
        num_classes: how many scores there are.
        batch_norm: whether a batch norm follows each convolution.
        dropout: probability with which a hidden value of the classifier is dropped.

    Raises:
        ShapeMismatch: (a `ValueError` too) there are not five stages, or a number is below 1.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> with torch.device("meta"):
        ...     model = models.VGG([1, 1, 2, 2, 2], num_classes=10)
        >>> model(torch.zeros(2, 3, 224, 224, device="meta")).shape
        torch.Size([2, 10])

    Source: https://arxiv.org/abs/1409.1556, Table 1.
    """

    def __init__(
        self,
        layers: Sequence[int],
        num_classes: Dim[K] = 1000,
        *,
        batch_norm: bool = False,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        if len(layers) != len(_WIDTHS):
            error = as_also(ShapeMismatch, ValueError)
            reason = f"layers={list(layers)} has {len(layers)} stages, but there are {len(_WIDTHS)}"
            raise error(len(_WIDTHS), len(layers), reason, operation="VGG")
        refuse("VGG", sizes(num_classes=num_classes, **{f"layers[{i}]": n for i, n in enumerate(layers)}))
        probability("VGG", "dropout", dropout)
        self.features = _features(layers, batch_norm)
        self.avgpool = nn.AdaptiveAvgPool2d((7, 7))
        self.classifier = nn.Sequential(
            nn.Linear(512 * 7 * 7, 4096),
            nn.ReLU(inplace=True),
            nn.Dropout(dropout),
            nn.Linear(4096, 4096),
            nn.ReLU(inplace=True),
            nn.Dropout(dropout),
            nn.Linear(4096, num_classes),
        )
        _draw(self)

    def forward(self, x: Tensor[DT, B, 3, H, W]) -> Tensor[DT, B, K]:
        """A score for each class, not normalized.

        Args:
            x: images, ``(B, 3, H, W)`` of a floating dtype.
        """
        return self.classifier(torch.flatten(self.avgpool(self.features(x)), 1))


def _features(layers: Sequence[int], batch_norm: bool) -> nn.Sequential:
    """The convolutions, with a 2×2 max pooling after each stage."""
    made: list[nn.Module] = []
    channels = 3
    for count, width in zip(layers, _WIDTHS, strict=True):
        for _ in range(count):
            made.append(nn.Conv2d(channels, width, kernel_size=3, padding=1))
            made += [nn.BatchNorm2d(width)] if batch_norm else []
            made.append(nn.ReLU(inplace=True))
            channels = width
        made.append(nn.MaxPool2d(kernel_size=2, stride=2))
    return nn.Sequential(*made)


def _draw(model: VGG[K]) -> None:
    """The weights to begin with: He's normal by the number of outputs, and torchvision's 0.01 for linear layers."""
    for layer in model.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
        elif isinstance(layer, nn.Linear):
            nn.init.normal_(layer.weight, 0, 0.01)
        if isinstance(layer, nn.Conv2d | nn.Linear) and layer.bias is not None:
            nn.init.zeros_(layer.bias)


def _vgg(
    layers: Sequence[int], weights: Weights | Published | None, num_classes: Dim[K], batch_norm: bool, dropout: float
) -> VGG[K]:
    model = VGG(layers, num_classes, batch_norm=batch_norm, dropout=dropout)
    load_weights(model, weights)
    return model


def vgg11(
    *, weights: Weights | None = None, pretrained: bool = False, num_classes: Dim[K] = 1000, dropout: float = 0.5
) -> VGG[K]:
    """VGG-11, column A of the paper's table: 132.9M parameters.

    Args:
        weights: the name of published ones such as ``"IMAGENET1K_V1"``, a file with torchvision's parameter names, its
            address, or a state dict; random by default.
        pretrained: the same as ``weights="DEFAULT"``: published ones, which are fetched; another head stays random.
        num_classes: how many scores there are.
        dropout: probability with which a hidden value of the classifier is dropped.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be fetched or read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> with torch.device("meta"):
        ...     model = models.vgg11()
        >>> model(torch.zeros(2, 3, 224, 224, device="meta")).shape
        torch.Size([2, 1000])
    """
    return _vgg((1, 1, 2, 2, 2), chosen("vgg11", weights, pretrained), num_classes, False, dropout)


def vgg11_bn(
    *, weights: Weights | None = None, pretrained: bool = False, num_classes: Dim[K] = 1000, dropout: float = 0.5
) -> VGG[K]:
    """VGG-11 with batch norm, column A of the paper's table: 132.9M parameters.

    Args:
        weights: the name of published ones such as ``"IMAGENET1K_V1"``, a file with torchvision's parameter names, its
            address, or a state dict; random by default.
        pretrained: the same as ``weights="DEFAULT"``: published ones, which are fetched; another head stays random.
        num_classes: how many scores there are.
        dropout: probability with which a hidden value of the classifier is dropped.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be fetched or read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> with torch.device("meta"):
        ...     model = models.vgg11_bn()
        >>> model(torch.zeros(2, 3, 224, 224, device="meta")).shape
        torch.Size([2, 1000])
    """
    return _vgg((1, 1, 2, 2, 2), chosen("vgg11_bn", weights, pretrained), num_classes, True, dropout)


def vgg13(
    *, weights: Weights | None = None, pretrained: bool = False, num_classes: Dim[K] = 1000, dropout: float = 0.5
) -> VGG[K]:
    """VGG-13, column B of the paper's table: 133.0M parameters.

    Args:
        weights: the name of published ones such as ``"IMAGENET1K_V1"``, a file with torchvision's parameter names, its
            address, or a state dict; random by default.
        pretrained: the same as ``weights="DEFAULT"``: published ones, which are fetched; another head stays random.
        num_classes: how many scores there are.
        dropout: probability with which a hidden value of the classifier is dropped.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be fetched or read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> with torch.device("meta"):
        ...     model = models.vgg13()
        >>> model(torch.zeros(2, 3, 224, 224, device="meta")).shape
        torch.Size([2, 1000])
    """
    return _vgg((2, 2, 2, 2, 2), chosen("vgg13", weights, pretrained), num_classes, False, dropout)


def vgg13_bn(
    *, weights: Weights | None = None, pretrained: bool = False, num_classes: Dim[K] = 1000, dropout: float = 0.5
) -> VGG[K]:
    """VGG-13 with batch norm, column B of the paper's table: 133.1M parameters.

    Args:
        weights: the name of published ones such as ``"IMAGENET1K_V1"``, a file with torchvision's parameter names, its
            address, or a state dict; random by default.
        pretrained: the same as ``weights="DEFAULT"``: published ones, which are fetched; another head stays random.
        num_classes: how many scores there are.
        dropout: probability with which a hidden value of the classifier is dropped.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be fetched or read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> with torch.device("meta"):
        ...     model = models.vgg13_bn()
        >>> model(torch.zeros(2, 3, 224, 224, device="meta")).shape
        torch.Size([2, 1000])
    """
    return _vgg((2, 2, 2, 2, 2), chosen("vgg13_bn", weights, pretrained), num_classes, True, dropout)


def vgg16(
    *, weights: Weights | None = None, pretrained: bool = False, num_classes: Dim[K] = 1000, dropout: float = 0.5
) -> VGG[K]:
    """VGG-16, column D of the paper's table: 138.4M parameters.

    Args:
        weights: the name of published ones such as ``"IMAGENET1K_V1"``, a file with torchvision's parameter names, its
            address, or a state dict; random by default.
        pretrained: the same as ``weights="DEFAULT"``: published ones, which are fetched; another head stays random.
        num_classes: how many scores there are.
        dropout: probability with which a hidden value of the classifier is dropped.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be fetched or read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> with torch.device("meta"):
        ...     model = models.vgg16()
        >>> model(torch.zeros(2, 3, 224, 224, device="meta")).shape
        torch.Size([2, 1000])
    """
    return _vgg((2, 2, 3, 3, 3), chosen("vgg16", weights, pretrained), num_classes, False, dropout)


def vgg16_bn(
    *, weights: Weights | None = None, pretrained: bool = False, num_classes: Dim[K] = 1000, dropout: float = 0.5
) -> VGG[K]:
    """VGG-16 with batch norm, column D of the paper's table: 138.4M parameters.

    Args:
        weights: the name of published ones such as ``"IMAGENET1K_V1"``, a file with torchvision's parameter names, its
            address, or a state dict; random by default.
        pretrained: the same as ``weights="DEFAULT"``: published ones, which are fetched; another head stays random.
        num_classes: how many scores there are.
        dropout: probability with which a hidden value of the classifier is dropped.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be fetched or read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> with torch.device("meta"):
        ...     model = models.vgg16_bn(num_classes=10)
        >>> model(torch.zeros(2, 3, 224, 224, device="meta")).shape
        torch.Size([2, 10])
    """
    return _vgg((2, 2, 3, 3, 3), chosen("vgg16_bn", weights, pretrained), num_classes, True, dropout)


def vgg19(
    *, weights: Weights | None = None, pretrained: bool = False, num_classes: Dim[K] = 1000, dropout: float = 0.5
) -> VGG[K]:
    """VGG-19, column E of the paper's table: 143.7M parameters.

    Args:
        weights: the name of published ones such as ``"IMAGENET1K_V1"``, a file with torchvision's parameter names, its
            address, or a state dict; random by default.
        pretrained: the same as ``weights="DEFAULT"``: published ones, which are fetched; another head stays random.
        num_classes: how many scores there are.
        dropout: probability with which a hidden value of the classifier is dropped.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be fetched or read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> with torch.device("meta"):
        ...     model = models.vgg19()
        >>> model(torch.zeros(2, 3, 224, 224, device="meta")).shape
        torch.Size([2, 1000])
    """
    return _vgg((2, 2, 4, 4, 4), chosen("vgg19", weights, pretrained), num_classes, False, dropout)


def vgg19_bn(
    *, weights: Weights | None = None, pretrained: bool = False, num_classes: Dim[K] = 1000, dropout: float = 0.5
) -> VGG[K]:
    """VGG-19 with batch norm, column E of the paper's table: 143.7M parameters.

    Args:
        weights: the name of published ones such as ``"IMAGENET1K_V1"``, a file with torchvision's parameter names, its
            address, or a state dict; random by default.
        pretrained: the same as ``weights="DEFAULT"``: published ones, which are fetched; another head stays random.
        num_classes: how many scores there are.
        dropout: probability with which a hidden value of the classifier is dropped.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be fetched or read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> with torch.device("meta"):
        ...     model = models.vgg19_bn()
        >>> model(torch.zeros(2, 3, 224, 224, device="meta")).shape
        torch.Size([2, 1000])
    """
    return _vgg((2, 2, 4, 4, 4), chosen("vgg19_bn", weights, pretrained), num_classes, True, dropout)
