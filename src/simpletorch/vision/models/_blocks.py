"""Blocks of several architectures, with torchvision's parameter names.

Letters: B batch, C channels, I channels in, O channels out, S stride, H and W height and width.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeAlias, TypeVar

import torch
from torch import nn

from simpletorch.dims import B, Batch, C, Dim, H, I, O, S, W
from simpletorch.dtypes import Float
from simpletorch.nn import Module
from simpletorch.nn._arguments import probability
from simpletorch.tensor import Tensor

__all__ = [
    "InvertedResidual",
    "LayerNorm2d",
    "Norm",
    "Permute",
    "SqueezeExcitation",
    "StochasticDepth",
    "conv_norm",
    "depth_probabilities",
    "rounded",
]

DT = TypeVar("DT", bound=Float)
Norm: TypeAlias = Callable[[int], nn.Module]  # is given the number of channels
Activation: TypeAlias = Callable[..., nn.Module]  # is given ``inplace``


def rounded(channels: float) -> int:
    """``channels`` as a multiple of 8, and at most a tenth below the number asked for (MobileNet's rule)."""
    near = max(8, int(channels + 4) // 8 * 8)
    return near + 8 if near < 0.9 * channels else near


def conv_norm(
    channels: int,
    out: int,
    norm: Norm,
    activation: Activation | None,
    *,
    kernel: int = 1,
    stride: int = 1,
    groups: int = 1,
) -> nn.Sequential:
    """A convolution that keeps the size (but for its stride), a norm and an activation: torchvision's unit."""
    conv = nn.Conv2d(channels, out, kernel, stride, padding=kernel // 2, groups=groups, bias=False)
    made: list[nn.Module] = [conv, norm(out)]
    made += [] if activation is None else [activation(inplace=True)]
    return nn.Sequential(*made)


def depth_probabilities(last: float, blocks: int, *, reached: bool) -> list[float]:
    """How probably each block is passed over: from 0 up in equal steps, to ``last`` if it is ``reached``."""
    steps = blocks - 1 if reached else blocks
    return [last * i / steps if steps else 0.0 for i in range(blocks)]


class StochasticDepth(Module):
    """In training, drops whole samples of a branch: ``(*Batch) -> (*Batch)``; the others are scaled to the same mean.

    Args:
        p: probability with which a sample is dropped.

    Raises:
        TorchError: (a `ValueError` too) ``p`` is no probability.

    Source: https://arxiv.org/abs/1603.09382
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        probability("StochasticDepth", "p", p)
        self.p = p

    def forward(self, x: Tensor[DT, *Batch]) -> Tensor[DT, *Batch]:
        """``x`` with some samples set to zero."""
        if not self.training or self.p == 0:
            return x
        kept = torch.empty([x.shape[0]] + [1] * (x.dim() - 1), dtype=x.dtype, device=x.device).bernoulli_(1 - self.p)
        scaled: Tensor[DT, *Batch] = x * (kept / (1 - self.p) if self.p < 1 else kept)
        return scaled

    def extra_repr(self) -> str:
        """The probability."""
        return f"p={self.p}"


class Permute(nn.Module):
    """The dims in another order; a layer, because torchvision counts it as one."""

    def __init__(self, *dims: int) -> None:
        super().__init__()
        self.dims = dims

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """``x`` with its dims in the order ``dims``."""
        return x.permute(self.dims)

    def extra_repr(self) -> str:
        """The order."""
        return ", ".join(map(str, self.dims))


class LayerNorm2d(nn.LayerNorm):
    """A layer norm over the channels of each pixel: ``(B, C, H, W) -> (B, C, H, W)``."""

    def forward(self, x: Tensor[DT, B, C, H, W]) -> Tensor[DT, B, C, H, W]:
        """The pixels, each normalized."""
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class SqueezeExcitation(Module, Generic[C]):
    """Scales each channel by a factor that is computed from all channels' averages: ``(B, C, H, W) -> (B, C, H, W)``.

    Source: https://arxiv.org/abs/1709.01507
    """

    def __init__(self, channels: Dim[C], squeezed: int, activation: nn.Module, scale_activation: nn.Module) -> None:
        super().__init__()
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc1 = nn.Conv2d(channels, squeezed, 1)
        self.fc2 = nn.Conv2d(squeezed, channels, 1)
        self.activation = activation
        self.scale_activation = scale_activation

    def forward(self, x: Tensor[DT, B, C, H, W]) -> Tensor[DT, B, C, H, W]:
        """``x``, each channel times a number."""
        scale: Tensor[DT, B, C, 1, 1] = self.scale_activation(self.fc2(self.activation(self.fc1(self.avgpool(x)))))
        return scale * x


class InvertedResidual(Module, Generic[I, O, S]):
    """Expands the channels, convolves each by itself, and projects: ``(B, I, H, W) -> (B, O, (H-1)//S+1, (W-1)//S+1)``.

    If size and channels stay, the input is added.

    Args:
        channels: channels in.
        out: channels out.
        stride: of the convolution in the middle.
        expanded: channels in the middle; as many as ``channels`` need no expansion.
        kernel: side of the convolution in the middle.
        norm: makes a norm, given the number of channels.
        activation: makes an activation, given ``inplace``.
        excitation: is between the convolution and the projection.
        depth: the probability with which the branch is passed over in training.

    Source: https://arxiv.org/abs/1801.04381, https://arxiv.org/abs/1905.02244
    """

    def __init__(
        self,
        channels: Dim[I],
        out: Dim[O],
        stride: Dim[S],
        *,
        expanded: int,
        kernel: int,
        norm: Norm,
        activation: Activation,
        excitation: nn.Module | None = None,
        depth: float | None = None,
    ) -> None:
        super().__init__()
        made: list[nn.Module] = []
        if expanded != channels:
            made.append(conv_norm(channels, expanded, norm, activation))
        made.append(conv_norm(expanded, expanded, norm, activation, kernel=kernel, stride=stride, groups=expanded))
        made += [] if excitation is None else [excitation]
        made.append(conv_norm(expanded, out, norm, None))
        self.block = nn.Sequential(*made)
        self.stochastic_depth = None if depth is None else StochasticDepth(depth)
        self.adds = stride == 1 and channels == out

    def forward(self, x: Tensor[DT, B, I, H, W]) -> Tensor[DT, B, O, "(H-1)//S+1", "(W-1)//S+1"]:
        """``O`` feature maps, every ``S``-th pixel."""
        made: Tensor[DT, B, O, "(H-1)//S+1", "(W-1)//S+1"] = self.block(x)
        if not self.adds:
            return made
        shortcut: torch.Tensor = x  # of the size of what is made: only then it adds
        return shortcut + (made if self.stochastic_depth is None else self.stochastic_depth(made))


def draw_convolutions(model: nn.Module, linear: Callable[[nn.Linear], Any]) -> None:
    """The weights to begin with: He's normal for convolutions, by the number of outputs; biases are zero.

    Args:
        linear: draws the weight of a linear layer.
    """
    for layer in model.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight, mode="fan_out")
        elif isinstance(layer, nn.Linear):
            linear(layer)
        if isinstance(layer, nn.Conv2d | nn.Linear) and layer.bias is not None:
            nn.init.zeros_(layer.bias)
