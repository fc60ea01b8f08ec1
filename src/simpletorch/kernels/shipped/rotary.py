"""Rotary position embedding (Su et al. 2021, "RoFormer").

torch has none. In eager it is two slices, a negation, a concatenation, two products and a sum: 11 reads and writes
where 2 do. Strides of batch, tokens and heads are free, so queries and keys may be slices of one packed projection.
"""

from __future__ import annotations

import torch
from jaxtyping import Float

from simpletorch.kernels._operator import operator
from simpletorch.kernels.shipped._launch import has_kernel, in_triton, power_of_two, widened

__all__ = ["rotary"]


def rotary(
    x: Float[torch.Tensor, "b t h d"],
    cos: Float[torch.Tensor, "t d//2"],
    sin: Float[torch.Tensor, "t d//2"],
    paired: bool = False,
) -> Float[torch.Tensor, "b t h d"]:
    """Each pair of features of each head, turned by the angle of its token.

    Args:
        x: queries or keys, batch × tokens × heads × features; strides are free but for the features'.
        cos: of the angles, for each token and pair.
        sin: of the angles.
        paired: a pair is features ``2*i`` and ``2*i + 1`` (GPT-J, the paper). By default it is ``i`` and ``i + d//2``
            (GPT-NeoX, Llama in transformers).

    Raises:
        ValueError: ``cos`` or ``sin`` requires a gradient, which there is none of.

    Examples:
        >>> import torch
        >>> from simpletorch import kernels
        >>> x = torch.ones(2, 7, 4, 8)
        >>> angles = torch.arange(7)[:, None] * 0.1 ** torch.arange(4)
        >>> kernels.rotary(x, angles.cos(), angles.sin()).shape
        torch.Size([2, 7, 4, 8])
    """
    if torch.is_grad_enabled() and (cos.requires_grad or sin.requires_grad):
        raise ValueError("rotary gives its tables cos and sin no gradient; detach them")
    return rotary_turned(x, cos, sin, paired)


def _in_torch(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, paired: bool) -> torch.Tensor:
    value = widened(x)
    c, s = (table.to(value.dtype)[None, :, None, :] for table in (cos, sin))
    if paired:
        first, second = value[..., 0::2], value[..., 1::2]
        return torch.stack((first * c - second * s, second * c + first * s), -1).flatten(-2).to(x.dtype)
    first, second = value.chunk(2, -1)
    return torch.cat((first * c - second * s, second * c + first * s), -1).to(x.dtype)


@operator("simpletorch::rotary_turned")
def rotary_turned(
    x: Float[torch.Tensor, "b t h d"],
    cos: Float[torch.Tensor, "t d//2"],
    sin: Float[torch.Tensor, "t d//2"],
    paired: bool,
) -> Float[torch.Tensor, "b t h d"]:
    """`rotary` without looking at gradients."""
    return _in_torch(x, cos, sin, paired)


@rotary_turned.cuda(traced=True)
def rotary_turned_cuda(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, paired: bool) -> torch.Tensor:
    """A program for each token and up to 4096 of its features."""
    return _turned(x, cos, sin, paired, 1)


def _turned(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, paired: bool, sign: int) -> torch.Tensor:
    batch, tokens, heads, size = x.shape
    if not has_kernel(x, cos, sin) or not x.numel():
        return _in_torch(x, cos, sin * sign, paired)
    kernel = in_triton("rotary").rotary

    x = x if x.stride(3) == 1 else x.contiguous()
    out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    block = power_of_two(size // 2)
    at_once = min(power_of_two(heads), max(1, 2048 // block))
    kernel(
        *(x, cos.contiguous(), sin.contiguous(), out, batch, tokens, heads, size // 2, *x.stride()[:3]),
        SIGN=sign,
        PAIRED=paired,
        BLOCK_H=at_once,
        BLOCK=block,
        num_warps=min(8, max(1, at_once * block // 512)),
    )
    return out


@operator("simpletorch::rotary_backward")
def rotary_backward(
    grad: Float[torch.Tensor, "b t h d"],
    cos: Float[torch.Tensor, "t d//2"],
    sin: Float[torch.Tensor, "t d//2"],
    paired: bool,
) -> Float[torch.Tensor, "b t h d"]:
    """The gradient of ``x``: turned back."""
    return _in_torch(grad, cos, -sin, paired)


@rotary_backward.cuda(traced=True)
def rotary_backward_cuda(grad: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, paired: bool) -> torch.Tensor:
    """As the forward."""
    return _turned(grad, cos, sin, paired, -1)


@rotary_turned.backward
def _(grad: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, paired: bool) -> tuple[torch.Tensor, None, None]:
    return rotary_backward(grad, cos, sin, paired), None, None
