"""``residual + dropout(x)``, which follows attention and the feed-forward layer in a transformer.

torch has no fused one; eager keeps a mask as large as ``x``. Here the dropped elements are computed from a seed,
forward and backward, so nothing is kept, and they are the same on every device: a run on a GPU can be repeated on the
CPU.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Int64

from simpletorch.kernels._operator import operator
from simpletorch.kernels.shipped._launch import has_kernel, in_triton, widened
from simpletorch.kernels.shipped._philox import philox

__all__ = ["dropout_add"]

_SEGMENT, _SEGMENTS = 1024, 8
_WARPS = 4


def dropout_add(
    x: Float[torch.Tensor, "*n"],
    residual: Float[torch.Tensor, "*n"],
    p: float = 0.5,
    *,
    training: bool = True,
    seed: int | torch.Tensor | None = None,
) -> Float[torch.Tensor, "*n"]:
    """``residual + dropout(x, p)``.

    Args:
        x: the tensor whose elements are dropped, of any shape and a floating dtype.
        residual: added to the result, of the shape of ``x``.
        p: the chance that an element is dropped, in steps of 1/65536. Kept elements are scaled so that the mean stays.
        training: without it nothing is dropped.
        seed: decides which elements are dropped. By default one is drawn from torch's generator, so `torch.manual_seed`
            does.

    Raises:
        ValueError: ``p`` isn't between 0 and 1.

    Examples:
        >>> import torch
        >>> from simpletorch import kernels
        >>> kernels.dropout_add(torch.ones(3), torch.ones(3), training=False)
        tensor([2., 2., 2.])
    """
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"p={p} is no chance, which is between 0 and 1")
    if not training or p == 0.0:
        return (x + residual).to(x.dtype)
    if not isinstance(seed, torch.Tensor):
        shape: tuple[int, ...] = ()
        if seed is None:
            seed = torch.randint(2**63 - 1, shape, device=x.device)
        else:
            seed = torch.full(shape, seed, dtype=torch.int64, device=x.device)
    return dropout_add_seeded(x, residual, seed, p)


def _chance(p: float) -> tuple[int, float]:
    """How many of 65536 numbers drop an element, and the factor for the others."""
    dropped = round(p * 65536)
    return dropped, 65536 / (65536 - dropped) if dropped < 65536 else 0.0


def _kept(x: torch.Tensor, seed: torch.Tensor, dropped: int) -> torch.Tensor:
    """Which elements are kept: the definition is in `simpletorch.kernels.shipped._triton.dropout_add`."""
    block = _SEGMENT * _SEGMENTS
    programs = -(-x.numel() // block)
    position = torch.arange(_SEGMENT, device=x.device)[None, :]
    numbers = philox(seed, position, torch.arange(programs, device=x.device)[:, None])
    halves = [half for number in numbers for half in (number & 0xFFFF, number >> 16)]
    return (torch.stack(halves, 1) >= dropped).reshape(-1)[: x.numel()].reshape(x.shape)


@operator("simpletorch::dropout_add_seeded")
def dropout_add_seeded(
    x: Float[torch.Tensor, "*n"], residual: Float[torch.Tensor, "*n"], seed: Int64[torch.Tensor, ""], p: float
) -> Float[torch.Tensor, "*n"]:
    """``residual + dropout(x, p)`` with the mask that ``seed`` gives."""
    return (_dropped(x, seed, p) + widened(residual)).to(x.dtype)


@operator("simpletorch::dropout_seeded")
def dropout_seeded(x: Float[torch.Tensor, "*n"], seed: Int64[torch.Tensor, ""], p: float) -> Float[torch.Tensor, "*n"]:
    """``dropout(x, p)`` with the mask that ``seed`` gives: the gradient of `dropout_add_seeded` too."""
    return _dropped(x, seed, p).to(x.dtype)


def _dropped(x: torch.Tensor, seed: torch.Tensor, p: float) -> torch.Tensor:
    dropped, scale = _chance(p)
    return torch.where(_kept(x, seed, dropped), widened(x) * scale, 0.0)


def _launched(x: torch.Tensor, residual: torch.Tensor | None, seed: torch.Tensor, p: float) -> torch.Tensor:
    kernel = in_triton("dropout_add").dropout_add

    x = x.contiguous()
    out = torch.empty_like(x)
    given = None if residual is None else residual.contiguous()
    kernel(x, given, out, seed, x.numel(), *_chance(p), SEGMENT=_SEGMENT, num_warps=_WARPS)
    return out


@dropout_add_seeded.cuda(traced=True)
def dropout_add_seeded_cuda(x: torch.Tensor, residual: torch.Tensor, seed: torch.Tensor, p: float) -> torch.Tensor:
    """A program for each 8192 elements."""
    if not has_kernel(x, residual):
        return dropout_add_seeded.reference(x, residual, seed, p)
    return _launched(x, residual, seed, p)


@dropout_seeded.cuda(traced=True)
def dropout_seeded_cuda(x: torch.Tensor, seed: torch.Tensor, p: float) -> torch.Tensor:
    """As `dropout_add_seeded`."""
    return _launched(x, None, seed, p) if has_kernel(x) else dropout_seeded.reference(x, seed, p)


@dropout_add_seeded.backward
def _(grad: torch.Tensor, residual: torch.Tensor, seed: torch.Tensor, p: float) -> tuple[torch.Tensor, torch.Tensor]:
    return dropout_seeded(grad, seed, p), grad.to(residual.dtype)


@dropout_seeded.backward
def _(grad: torch.Tensor, seed: torch.Tensor, p: float) -> torch.Tensor:
    return dropout_seeded(grad, seed, p)
