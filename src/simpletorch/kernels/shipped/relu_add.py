"""relu(x + y).

torch has no fused one: eager reads and writes the sum once more. The backward needs the result alone, so neither
argument is kept.
"""

from __future__ import annotations

from typing import Final

import torch
from jaxtyping import Float

from simpletorch.kernels._operator import operator
from simpletorch.kernels.shipped._launch import has_kernel, in_triton

__all__ = ["relu_add"]

_TILE: Final = {"BLOCK": 1024, "num_warps": 8}


@operator("simpletorch::relu_add")
def relu_add(x: Float[torch.Tensor, "*n"], y: Float[torch.Tensor, "*n"]) -> Float[torch.Tensor, "*n"]:
    """``relu(x + y)``, element by element.

    Args:
        x: a tensor of any shape, of a floating dtype.
        y: a tensor of the shape of ``x``.

    Examples:
        >>> import torch
        >>> from simpletorch import kernels
        >>> kernels.relu_add(torch.tensor([1.0, -3.0]), torch.ones(2))
        tensor([2., 0.])
    """
    return torch.relu(x + y).to(x.dtype)


@operator("simpletorch::relu_add_backward")
def relu_add_backward(grad: Float[torch.Tensor, "*n"], result: Float[torch.Tensor, "*n"]) -> Float[torch.Tensor, "*n"]:
    """The gradient of either argument."""
    slope: torch.Tensor = torch.ops.aten.threshold_backward(grad, result, 0)
    return slope


@relu_add.cuda(traced=True)
def relu_add_cuda(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """One program for each 1024 elements."""
    if not has_kernel(x, y):
        return relu_add.reference(x, y)
    relu_add_forward = in_triton("relu_add").relu_add_forward

    x, y = x.contiguous(), y.contiguous()
    out = torch.empty_like(x)
    relu_add_forward(x, y, out, x.numel(), **_TILE)
    return out


@relu_add_backward.cuda(traced=True)
def relu_add_backward_cuda(grad: torch.Tensor, result: torch.Tensor) -> torch.Tensor:
    """As the forward."""
    if not has_kernel(grad, result):
        return relu_add_backward.reference(grad, result)
    kernel = in_triton("relu_add").relu_add_backward

    grad, result = grad.contiguous(), result.contiguous()
    out = torch.empty_like(grad)
    kernel(grad, result, out, grad.numel(), **_TILE)
    return out


@relu_add.backward
def _(grad: torch.Tensor, result: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    kept = relu_add_backward(grad, result)
    return kept, kept
