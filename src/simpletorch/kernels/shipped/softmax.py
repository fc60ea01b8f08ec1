"""Softmax of scaled scores over the last dim.

torch has a fused softmax. Ours includes the scale (one over the temperature, or over the root of a head's size), which
in torch is another read and write in the forward and in the backward. A row of up to 32,768 is read once.
"""

from __future__ import annotations

import torch
from jaxtyping import Float

from simpletorch.kernels._operator import operator
from simpletorch.kernels.shipped._launch import as_rows, has_kernel, in_triton, row_tile, widened

__all__ = ["softmax"]

_IN_REGISTERS = 32768


@operator("simpletorch::softmax")
def softmax(x: Float[torch.Tensor, "*b n"], scale: float = 1.0) -> Float[torch.Tensor, "*b n"]:
    """``softmax(scale * x)`` over the last dim, computed in float32.

    Args:
        x: ``(*b, n)``, of a floating dtype.
        scale: the factor of ``x`` before the softmax.

    Examples:
        >>> import torch
        >>> from simpletorch import kernels
        >>> kernels.softmax(torch.zeros(2, 4))[0]
        tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """
    return torch.softmax(widened(x) * scale, -1).to(x.dtype)


@operator("simpletorch::softmax_backward")
def softmax_backward(
    grad: Float[torch.Tensor, "*b n"], result: Float[torch.Tensor, "*b n"], scale: float
) -> Float[torch.Tensor, "*b n"]:
    """The gradient of ``x``."""
    y = widened(result)
    slope: torch.Tensor = torch.ops.aten._softmax_backward_data(widened(grad), y, -1, y.dtype)
    return (scale * slope).to(grad.dtype)


@softmax.cuda(traced=True)
def softmax_cuda(x: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
    """A tile of rows for each program."""
    if not has_kernel(x):
        return softmax.reference(x, scale)
    kernels = in_triton("softmax")
    softmax_forward = kernels.softmax_forward
    softmax_forward_long = kernels.softmax_forward_long

    rows = as_rows(x)
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    (count, n) = rows.shape
    arguments = (rows, out, count, n, rows.stride(0), n, scale)
    if n > _IN_REGISTERS:
        softmax_forward_long(*arguments, BLOCK=8192, num_warps=8)
    elif n:
        softmax_forward(*arguments, **row_tile(n))
    return out


@softmax_backward.cuda(traced=True)
def softmax_backward_cuda(grad: torch.Tensor, result: torch.Tensor, scale: float) -> torch.Tensor:
    """As the forward."""
    if not has_kernel(grad, result):
        return softmax_backward.reference(grad, result, scale)
    kernel = in_triton("softmax").softmax_backward
    softmax_backward_long = in_triton("softmax").softmax_backward_long

    slopes, values = as_rows(grad), as_rows(result)
    out = torch.empty(grad.shape, dtype=grad.dtype, device=grad.device)
    (count, n) = slopes.shape
    arguments = (slopes, values, out, count, n, slopes.stride(0), values.stride(0), n, scale)
    if n > _IN_REGISTERS:
        softmax_backward_long(*arguments, BLOCK=8192, num_warps=8)
    elif n:
        kernel(*arguments, **row_tile(n))
    return out


@softmax.backward
def _(grad: torch.Tensor, result: torch.Tensor, scale: float) -> torch.Tensor:
    return softmax_backward(grad, result, scale)
