"""Root mean square normalization over the last dim, with the residual stream's addition inside.

torch has `torch.nn.functional.rms_norm`, without the residual: what comes before it in every transformer block, and
reads and writes the whole stream once more. `add_rms_norm` returns the sum too, which the next block adds to. Gradients
of weights are added up in float32 in a fixed order.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Inexact

from simpletorch.kernels._operator import operator
from simpletorch.kernels.shipped._launch import as_rows, has_kernel, in_triton, row_tile, walking_tile, widened

__all__ = ["add_rms_norm", "rms_norm"]

_LONGEST = 65536


def _normalized(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    value = widened(x)
    inverse = torch.rsqrt(value.square().mean(-1, keepdim=True) + eps)
    return (value * inverse * weight.to(value.dtype)).to(x.dtype)


@operator("simpletorch::rms_norm")
def rms_norm(
    x: Float[torch.Tensor, "*b n"], weight: Float[torch.Tensor, "n"], eps: float = 1e-6
) -> Float[torch.Tensor, "*b n"]:
    """``x / sqrt(mean(x**2) + eps) * weight`` over the last dim, computed in float32.

    Args:
        x: ``(*b, n)``, of a floating dtype.
        weight: the factor of each value, ``(n,)``.
        eps: added to the mean square before the root.

    Examples:
        >>> import torch
        >>> from simpletorch import kernels
        >>> kernels.rms_norm(torch.full((2, 4), 3.0), torch.ones(4)).shape
        torch.Size([2, 4])
    """
    return _normalized(x, weight, eps)


@operator("simpletorch::add_rms_norm")
def add_rms_norm(
    x: Float[torch.Tensor, "*b n"],
    residual: Float[torch.Tensor, "*b n"],
    weight: Float[torch.Tensor, "n"],
    eps: float = 1e-6,
) -> tuple[Float[torch.Tensor, "*b n"], Float[torch.Tensor, "*b n"]]:
    """``rms_norm(x + residual)``, and ``x + residual`` itself.

    Args:
        x: ``(*b, n)``, of a floating dtype.
        residual: ``(*b, n)``, of a floating dtype.
        weight: the factor of each value, ``(n,)``.
        eps: added to the mean square before the root.

    Examples:
        >>> import torch
        >>> from simpletorch import kernels
        >>> normed, total = kernels.add_rms_norm(torch.ones(2, 4), torch.ones(2, 4), torch.ones(4))
        >>> total[0]
        tensor([2., 2., 2., 2.])
    """
    total = (widened(x) + widened(residual)).to(x.dtype)
    return _normalized(total, weight, eps), total


@operator("simpletorch::rms_norm_backward")
def rms_norm_backward(
    grad: Float[torch.Tensor, "*b n"],
    total_grad: Float[torch.Tensor, "*b n"] | None,
    x: Float[torch.Tensor, "*b n"],
    weight: Inexact[torch.Tensor, "n"],
    eps: float,
) -> tuple[Float[torch.Tensor, "*b n"], Inexact[torch.Tensor, "n"]]:
    """The gradients of what is normalized, to which ``total_grad`` is added, and of ``weight``."""
    value, slope, rows = widened(x), widened(grad), tuple(range(x.dim() - 1))
    inverse = torch.rsqrt(value.square().mean(-1, keepdim=True) + eps)
    normal, scaled = value * inverse, slope * weight.to(slope.dtype)
    inputs = inverse * (scaled - normal * (scaled * normal).mean(-1, keepdim=True))
    if total_grad is not None:
        inputs = inputs + widened(total_grad)
    weights = slope * normal
    return inputs.to(grad.dtype), (weights.sum(rows) if rows else weights).to(weight.dtype)


def _forward(
    x: torch.Tensor, residual: torch.Tensor | None, weight: torch.Tensor, eps: float
) -> tuple[torch.Tensor, torch.Tensor | None]:
    rms_norm_forward = in_triton("rms_norm").rms_norm_forward

    rows = as_rows(x)
    (count, n) = rows.shape
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    added = None if residual is None else as_rows(residual)
    total = None if residual is None else torch.empty_like(out)
    strides = (rows.stride(0), 0 if added is None else added.stride(0), n)
    rms_norm_forward(rows, added, weight.contiguous(), out, total, count, n, *strides, eps, **row_tile(n))
    return out, total


@rms_norm.cuda(traced=True)
def rms_norm_cuda(x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-6) -> torch.Tensor:
    """A tile of rows for each program."""
    if not has_kernel(x, weight, longest=_LONGEST) or not x.shape[-1]:
        return rms_norm.reference(x, weight, eps)
    return _forward(x, None, weight, eps)[0]


@add_rms_norm.cuda(traced=True)
def add_rms_norm_cuda(
    x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float = 1e-6
) -> tuple[torch.Tensor, torch.Tensor]:
    """As `rms_norm`."""
    if not has_kernel(x, residual, weight, longest=_LONGEST) or not x.shape[-1]:
        return add_rms_norm.reference(x, residual, weight, eps)
    out, total = _forward(x, residual, weight, eps)
    assert total is not None
    return out, total


@rms_norm_backward.cuda(traced=True)
def rms_norm_backward_cuda(
    grad: torch.Tensor, total_grad: torch.Tensor | None, x: torch.Tensor, weight: torch.Tensor, eps: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Programs that walk over the rows, then the sum over the programs."""
    if not has_kernel(x, grad, total_grad, weight, longest=_LONGEST) or not x.numel():
        return rms_norm_backward.reference(grad, total_grad, x, weight, eps)
    column_sums = in_triton("column_sums").column_sums
    kernel = in_triton("rms_norm").rms_norm_backward

    slopes, rows = as_rows(grad), as_rows(x)
    more = None if total_grad is None else as_rows(total_grad)
    (count, n) = rows.shape
    out = torch.empty(grad.shape, dtype=grad.dtype, device=grad.device)
    programs, tile = walking_tile(rows, 4096)
    partial = torch.empty((1, programs, n), dtype=torch.float32, device=x.device)
    strides = (slopes.stride(0), 0 if more is None else more.stride(0), rows.stride(0), n)
    kernel(slopes, more, rows, weight.contiguous(), out, partial, count, n, *strides, programs, eps, **tile)
    weights = torch.empty((n,), dtype=weight.dtype, device=x.device)
    column_sums(partial, weights, 1, programs, n)
    return out, weights


@rms_norm.backward
def _(grad: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, eps: float) -> tuple[torch.Tensor, torch.Tensor]:
    return rms_norm_backward(grad, None, x, weight, eps)


@add_rms_norm.backward
def _(
    grads: tuple[torch.Tensor | None, torch.Tensor | None],
    results: tuple[torch.Tensor, torch.Tensor],
    residual: torch.Tensor,
    weight: torch.Tensor,
    eps: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    grad = torch.zeros_like(results[0]) if grads[0] is None else grads[0]
    inputs, weights = rms_norm_backward(grad, grads[1], results[1], weight, eps)
    return inputs, inputs.to(residual.dtype), weights
