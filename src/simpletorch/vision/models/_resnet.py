"""ResNet, with torchvision's parameter names.

He et al., Deep Residual Learning for Image Recognition, 2016; the stride of a bottleneck is in its 3×3 convolution, as
in torchvision ("ResNet v1.5").

Letters: B batch, I channels in, O channels out, S stride, H and W height and width, K classes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final, Generic, Protocol, TypeAlias, TypeVar

import torch
import torch.nn.functional as F
from torch import nn

from simpletorch.dims import B, Dim, H, I, K, O, S, W
from simpletorch.dtypes import Float
from simpletorch.errors import ShapeMismatch, as_also
from simpletorch.nn import Module
from simpletorch.nn._arguments import refuse, sizes
from simpletorch.tensor import Tensor
from simpletorch.vision.models._weights import Published, Weights, chosen, load_weights

__all__ = ["BasicBlock", "Bottleneck", "ResNet", "resnet18", "resnet34", "resnet50", "resnet101", "resnet152"]

DT = TypeVar("DT", bound=Float)
Norm: TypeAlias = Callable[[int], nn.Module]  # is given the number of channels

_WIDTHS: Final = (64, 128, 256, 512)  # Table 1 of the paper: of conv2_x to conv5_x


def _shortcut(channels: int, out: int, stride: int, norm: Norm) -> nn.Sequential | None:
    """A projection where the shape changes (option B of the paper), else none."""
    if stride == 1 and channels == out:
        return None
    return nn.Sequential(nn.Conv2d(channels, out, kernel_size=1, stride=stride, bias=False), norm(out))


class BasicBlock(Module, Generic[I, O, S]):
    """Two 3×3 convolutions beside a shortcut: ``(B, I, H, W) -> (B, O, (H-1)//S+1, (W-1)//S+1)``.

    Args:
        channels: the number of input channels, I.
        out: the number of output channels, O.
        stride: the step of the first convolution and of the shortcut, S.
        norm: makes a normalization layer from a number of channels.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> models.BasicBlock(16, 32, stride=2)(torch.zeros(2, 16, 8, 8)).shape
        torch.Size([2, 32, 4, 4])
    """

    expansion: ClassVar[int] = 1

    def __init__(self, channels: Dim[I], out: Dim[O], stride: Dim[S], norm: Norm = nn.BatchNorm2d) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, out, kernel_size=3, stride=stride, padding=1, bias=False)
        self.bn1 = norm(out)
        self.conv2 = nn.Conv2d(out, out, kernel_size=3, padding=1, bias=False)
        self.bn2 = norm(out)
        self.downsample = _shortcut(channels, out, stride, norm)

    def forward(self, x: Tensor[DT, B, I, H, W]) -> Tensor[DT, B, O, "(H-1)//S+1", "(W-1)//S+1"]:
        """``O`` feature maps, every ``S``-th pixel.

        Args:
            x: feature maps, ``(B, I, H, W)`` of a floating dtype.
        """
        inner: Tensor[DT, B, O, "(H-1)//S+1", "(W-1)//S+1"] = self.bn1(self.conv1(x))
        residual: Tensor[DT, B, O, "(H-1)//S+1", "(W-1)//S+1"] = self.bn2(self.conv2(F.relu(inner)))
        shortcut = x if self.downsample is None else self.downsample(x)
        return F.relu(residual + shortcut)


class Bottleneck(Module, Generic[I, O, S]):
    """1×1, 3×3 and 1×1 convolutions beside a shortcut: ``(B, I, H, W) -> (B, O, (H-1)//S+1, (W-1)//S+1)``.

    Args:
        channels: the number of input channels, I.
        out: the number of output channels, O; the 3×3 convolution has a quarter of them.
        stride: the step of the 3×3 convolution and of the shortcut, S.
        norm: makes a normalization layer from a number of channels.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> models.Bottleneck(16, 64, stride=2)(torch.zeros(2, 16, 8, 8)).shape
        torch.Size([2, 64, 4, 4])
    """

    expansion: ClassVar[int] = 4

    def __init__(self, channels: Dim[I], out: Dim[O], stride: Dim[S], norm: Norm = nn.BatchNorm2d) -> None:
        super().__init__()
        width = out // self.expansion
        self.conv1 = nn.Conv2d(channels, width, kernel_size=1, bias=False)
        self.bn1 = norm(width)
        self.conv2 = nn.Conv2d(width, width, kernel_size=3, stride=stride, padding=1, bias=False)
        self.bn2 = norm(width)
        self.conv3 = nn.Conv2d(width, out, kernel_size=1, bias=False)
        self.bn3 = norm(out)
        self.downsample = _shortcut(channels, out, stride, norm)

    def forward(self, x: Tensor[DT, B, I, H, W]) -> Tensor[DT, B, O, "(H-1)//S+1", "(W-1)//S+1"]:
        """``O`` feature maps, every ``S``-th pixel.

        Args:
            x: feature maps, ``(B, I, H, W)`` of a floating dtype.
        """
        narrow = F.relu(self.bn1(self.conv1(x)))
        narrow = F.relu(self.bn2(self.conv2(narrow)))
        residual: Tensor[DT, B, O, "(H-1)//S+1", "(W-1)//S+1"] = self.bn3(self.conv3(narrow))
        shortcut = x if self.downsample is None else self.downsample(x)
        return F.relu(residual + shortcut)


class Block(Protocol):
    """A class of blocks, such as `BasicBlock`: takes the channels in and out, the stride, and a factory of norms."""

    @property
    def expansion(self) -> int:
        """How many times as many channels leave a block as the paper's table says that its 3×3 convolutions have."""

    def __call__(self, channels: Any, out: Any, stride: Any, norm: Norm, /) -> nn.Module: ...


def _stage(block: Block, channels: int, out: int, stride: int, count: int, norm: Norm) -> nn.Sequential:
    """Blocks of one width; the first has the stride."""
    first = block(channels, out, stride, norm)
    return nn.Sequential(first, *[block(out, out, 1, norm) for _ in range(count - 1)])


class ResNet(Module, Generic[K]):
    """Scores for ``K`` classes: ``(B, 3, H, W) -> (B, K)``; images of any size from 1×1 up.

    Args:
        block: `BasicBlock`, `Bottleneck` or a class of your own.
        layers: how many blocks each of the four stages has.
        num_classes: how many scores there are.
        zero_init_residual: start every branch at zero, so that a block begins as the identity (Goyal et al., Accurate,
            Large Minibatch SGD, 2017).
        norm_layer: makes a norm, given the number of channels.

    Raises:
        ShapeMismatch: (a `ValueError` too) there are not four stages, or a number is below 1.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> model = models.ResNet(models.BasicBlock, [1, 1, 1, 1], num_classes=10)
        >>> model(torch.zeros(2, 3, 64, 64)).shape
        torch.Size([2, 10])

    Source: https://arxiv.org/abs/1512.03385, Table 1.
    """

    def __init__(
        self,
        block: Block,
        layers: Sequence[int],
        num_classes: Dim[K] = 1000,
        *,
        zero_init_residual: bool = False,
        norm_layer: Norm = nn.BatchNorm2d,
    ) -> None:
        super().__init__()
        if len(layers) != len(_WIDTHS):
            error = as_also(ShapeMismatch, ValueError)
            reason = f"layers={list(layers)} has {len(layers)} stages, but there are {len(_WIDTHS)}: conv2_x to conv5_x"
            raise error(len(_WIDTHS), len(layers), reason, operation="ResNet")
        refuse("ResNet", sizes(num_classes=num_classes, **{f"layers[{i}]": n for i, n in enumerate(layers)}))
        self.conv1 = nn.Conv2d(3, 64, kernel_size=7, stride=2, padding=3, bias=False)
        self.bn1 = norm_layer(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        outs = [width * block.expansion for width in _WIDTHS]
        self.layer1 = _stage(block, 64, outs[0], 1, layers[0], norm_layer)
        self.layer2 = _stage(block, outs[0], outs[1], 2, layers[1], norm_layer)
        self.layer3 = _stage(block, outs[1], outs[2], 2, layers[2], norm_layer)
        self.layer4 = _stage(block, outs[2], outs[3], 2, layers[3], norm_layer)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(outs[3], num_classes)
        _draw(self, zero_init_residual)

    def forward(self, x: Tensor[DT, B, 3, H, W]) -> Tensor[DT, B, K]:
        """A score for each class, not normalized.

        Args:
            x: images, ``(B, 3, H, W)`` of a floating dtype.
        """
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(self.avgpool(x), 1))


def _draw(model: ResNet[K], zero_init_residual: bool) -> None:
    """The weights to begin with: He's normal for ReLU, by the number of outputs."""
    for layer in model.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
    if zero_init_residual:
        for layer in model.modules():
            last = layer.bn2 if isinstance(layer, BasicBlock) else layer.bn3 if isinstance(layer, Bottleneck) else None
            # norm_layer may make norms without a weight
            if last is not None and isinstance(last.weight, nn.Parameter):
                nn.init.zeros_(last.weight)


def _resnet(
    block: Block, layers: Sequence[int], weights: Weights | Published | None, num_classes: Dim[K], **options: Any
) -> ResNet[K]:
    model = ResNet(block, layers, num_classes, **options)
    load_weights(model, weights)
    return model


def resnet18(
    *, weights: Weights | None = None, pretrained: bool = False, num_classes: Dim[K] = 1000, **options: Any
) -> ResNet[K]:
    """ResNet-18: 11.7M parameters, 1.8 billion multiply-adds for an image of 224×224.

    Args:
        weights: the name of published ones such as ``"IMAGENET1K_V1"``, a file with torchvision's parameter names, its
            address, or a state dict; random by default.
        pretrained: the same as ``weights="DEFAULT"``: published ones, which are fetched; another head stays random.
        num_classes: how many scores there are.
        options: ``zero_init_residual`` and ``norm_layer``, see `ResNet`.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be fetched or read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> with torch.device("meta"):
        ...     model = models.resnet18(num_classes=10)
        >>> model(torch.zeros(2, 3, 224, 224, device="meta")).shape
        torch.Size([2, 10])
    """
    return _resnet(BasicBlock, (2, 2, 2, 2), chosen("resnet18", weights, pretrained), num_classes, **options)


def resnet34(
    *, weights: Weights | None = None, pretrained: bool = False, num_classes: Dim[K] = 1000, **options: Any
) -> ResNet[K]:
    """ResNet-34: 21.8M parameters, 3.7 billion multiply-adds for an image of 224×224.

    Args:
        weights: the name of published ones such as ``"IMAGENET1K_V1"``, a file with torchvision's parameter names, its
            address, or a state dict; random by default.
        pretrained: the same as ``weights="DEFAULT"``: published ones, which are fetched; another head stays random.
        num_classes: how many scores there are.
        options: ``zero_init_residual`` and ``norm_layer``, see `ResNet`.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be fetched or read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> with torch.device("meta"):
        ...     model = models.resnet34()
        >>> model(torch.zeros(2, 3, 224, 224, device="meta")).shape
        torch.Size([2, 1000])
    """
    return _resnet(BasicBlock, (3, 4, 6, 3), chosen("resnet34", weights, pretrained), num_classes, **options)


def resnet50(
    *, weights: Weights | None = None, pretrained: bool = False, num_classes: Dim[K] = 1000, **options: Any
) -> ResNet[K]:
    """ResNet-50: 25.6M parameters, 4.1 billion multiply-adds for an image of 224×224.

    Args:
        weights: the name of published ones such as ``"IMAGENET1K_V1"``, a file with torchvision's parameter names, its
            address, or a state dict; random by default.
        pretrained: the same as ``weights="DEFAULT"``: published ones, which are fetched; another head stays random.
        num_classes: how many scores there are.
        options: ``zero_init_residual`` and ``norm_layer``, see `ResNet`.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be fetched or read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> with torch.device("meta"):
        ...     model = models.resnet50(num_classes=10)
        >>> model(torch.zeros(2, 3, 224, 224, device="meta")).shape
        torch.Size([2, 10])
    """
    return _resnet(Bottleneck, (3, 4, 6, 3), chosen("resnet50", weights, pretrained), num_classes, **options)


def resnet101(
    *, weights: Weights | None = None, pretrained: bool = False, num_classes: Dim[K] = 1000, **options: Any
) -> ResNet[K]:
    """ResNet-101: 44.5M parameters, 7.8 billion multiply-adds for an image of 224×224.

    Args:
        weights: the name of published ones such as ``"IMAGENET1K_V1"``, a file with torchvision's parameter names, its
            address, or a state dict; random by default.
        pretrained: the same as ``weights="DEFAULT"``: published ones, which are fetched; another head stays random.
        num_classes: how many scores there are.
        options: ``zero_init_residual`` and ``norm_layer``, see `ResNet`.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be fetched or read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> with torch.device("meta"):
        ...     model = models.resnet101()
        >>> model(torch.zeros(2, 3, 224, 224, device="meta")).shape
        torch.Size([2, 1000])
    """
    return _resnet(Bottleneck, (3, 4, 23, 3), chosen("resnet101", weights, pretrained), num_classes, **options)


def resnet152(
    *, weights: Weights | None = None, pretrained: bool = False, num_classes: Dim[K] = 1000, **options: Any
) -> ResNet[K]:
    """ResNet-152: 60.2M parameters, 11.5 billion multiply-adds for an image of 224×224.

    Args:
        weights: the name of published ones such as ``"IMAGENET1K_V1"``, a file with torchvision's parameter names, its
            address, or a state dict; random by default.
        pretrained: the same as ``weights="DEFAULT"``: published ones, which are fetched; another head stays random.
        num_classes: how many scores there are.
        options: ``zero_init_residual`` and ``norm_layer``, see `ResNet`.

    Raises:
        FileNotFoundError: there is no such file.
        CheckpointError: the file can't be fetched or read, or its keys or shapes are not the model's.

    Examples:
        >>> import torch
        >>> from simpletorch.vision import models
        >>> with torch.device("meta"):
        ...     model = models.resnet152()
        >>> model(torch.zeros(2, 3, 224, 224, device="meta")).shape
        torch.Size([2, 1000])
    """
    return _resnet(Bottleneck, (3, 8, 36, 3), chosen("resnet152", weights, pretrained), num_classes, **options)
