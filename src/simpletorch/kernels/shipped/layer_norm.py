"""Layer normalization over the last dim.

torch has a fused one. Ours keeps only the input for the backward: mean and variance are computed again from the row
that is in registers anyway. It takes weights of another dtype than the input. Their gradients are summed in float32 in
a fixed order, so the bits are the same each time.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Inexact

from simpletorch.kernels._operator import operator
from simpletorch.kernels.shipped._launch import as_rows, has_kernel, in_triton, row_tile, walking_tile, widened

__all__ = ["layer_norm"]

_LONGEST = 65536
_SUMMED_TOGETHER = 8192


@operator("simpletorch::layer_norm")
def layer_norm(
    x: Float[torch.Tensor, "*b n"],
    weight: Float[torch.Tensor, "n"],
    bias: Float[torch.Tensor, "n"] | None = None,
    eps: float = 1e-5,
) -> Float[torch.Tensor, "*b n"]:
    """``(x - mean) / sqrt(variance + eps) * weight + bias`` over the last dim, computed in float32.

    Args:
        x: ``(*b, n)``, of a floating dtype.
        weight: the factor of each value, ``(n,)``.
        bias: added to each value, ``(n,)``; None adds nothing.
        eps: added to the variance before the root.

    Examples:
        >>> import torch
        >>> from simpletorch import kernels
        >>> kernels.layer_norm(torch.ones(2, 4), torch.ones(4)).shape
        torch.Size([2, 4])
    """
    value = widened(x)
    bias = None if bias is None else bias.to(value.dtype)
    return torch.nn.functional.layer_norm(value, x.shape[-1:], weight.to(value.dtype), bias, eps).to(x.dtype)


# the weight may have another dtype than the input: what is annotated as Inexact has the dtype of the weight
@operator("simpletorch::layer_norm_backward")
def layer_norm_backward(
    grad: Float[torch.Tensor, "*b n"],
    x: Float[torch.Tensor, "*b n"],
    weight: Inexact[torch.Tensor, "n"],
    eps: float,
) -> tuple[Float[torch.Tensor, "*b n"], Inexact[torch.Tensor, "n"], Inexact[torch.Tensor, "n"]]:
    """The gradients of ``x``, ``weight`` and ``bias``."""
    value = widened(x)
    mean = value.mean(-1, keepdim=True)
    inverse = torch.rsqrt((value - mean).square().mean(-1, keepdim=True) + eps)
    wide, slope = weight.to(value.dtype), widened(grad)
    if torch.is_grad_enabled():  # of torch's own there are no second derivatives with respect to mean and inverse
        normal, scaled, rows = (value - mean) * inverse, slope * wide, tuple(range(x.dim() - 1))
        inputs = scaled - scaled.mean(-1, keepdim=True) - normal * (scaled * normal).mean(-1, keepdim=True)
        inputs, weights, biases = inputs * inverse, slope * normal, slope
        if rows:
            weights, biases = weights.sum(rows), biases.sum(rows)
    else:
        inputs, weights, biases = torch.ops.aten.native_layer_norm_backward(
            slope, value, list(x.shape[-1:]), mean, inverse, wide, wide, [True, True, True]
        )
    return inputs.to(grad.dtype), weights.to(weight.dtype), biases.to(weight.dtype)


@layer_norm.cuda(traced=True)
def layer_norm_cuda(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None, eps: float = 1e-5
) -> torch.Tensor:
    """A tile of rows for each program."""
    if not has_kernel(x, weight, bias, longest=_LONGEST) or not x.shape[-1]:
        return layer_norm.reference(x, weight, bias, eps)
    layer_norm_forward = in_triton("layer_norm").layer_norm_forward

    rows = as_rows(x)
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    (count, n) = rows.shape
    given = None if bias is None else bias.contiguous()
    layer_norm_forward(rows, weight.contiguous(), given, out, count, n, rows.stride(0), n, eps, **row_tile(n))
    return out


@layer_norm_backward.cuda(traced=True)
def layer_norm_backward_cuda(
    grad: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, eps: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Programs that walk over the rows, then the sum over the programs."""
    if not has_kernel(x, grad, weight, longest=_LONGEST) or not x.numel():
        return layer_norm_backward.reference(grad, x, weight, eps)
    kernels = in_triton("column_sums")
    column_sums = kernels.column_sums
    partial_sums = kernels.partial_sums
    kernel = in_triton("layer_norm").layer_norm_backward

    slopes, rows = as_rows(grad), as_rows(x)
    (count, n) = rows.shape
    out = torch.empty(grad.shape, dtype=grad.dtype, device=grad.device)
    programs, tile = walking_tile(rows, 2048)
    # the sums of a longer row's biases find no registers beside those of its weights
    together = n <= _SUMMED_TOGETHER
    partial = torch.empty((2 if together else 1, programs, n), dtype=torch.float32, device=x.device)
    strides = (slopes.stride(0), rows.stride(0), n)
    kernel(slopes, rows, weight.contiguous(), out, partial, count, n, *strides, programs, eps, BIAS=together, **tile)
    sums = torch.empty((2, n), dtype=weight.dtype, device=x.device)
    column_sums(partial, sums, partial.shape[0], programs, n)
    if not together:
        parts = min(16, count)
        partial = torch.empty((1, parts, n), dtype=torch.float32, device=x.device)
        partial_sums(slopes, partial, count, n, slopes.stride(0), parts)
        column_sums(partial, sums.select(0, 1), 1, parts, n)
    return out, sums.select(0, 0), sums.select(0, 1)


@layer_norm.backward
def _(
    grad: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, eps: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
    inputs, weights, biases = layer_norm_backward(grad, x, weight, eps)
    return inputs, weights, None if bias is None else biases.to(bias.dtype)
