"""Shared by convolution, pooling, padding and resampling: a size per spatial dim, channels, sliding windows."""

from __future__ import annotations

from typing import Final

from simpletorch.rules.common.arguments import as_dim
from simpletorch.rules.common.conditions import need_rank, unequal
from simpletorch.rules.core.mismatch import Mismatch
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.shapes import UNKNOWN, Dim, Expr, Item, Unknown, at_least, equal

__all__ = ["LETTERS", "need_channels", "need_reach", "per_dim", "scaled", "split_spatial"]

LETTERS: Final = ("", "L", "H, W", "D, H, W")
"""The spatial dims, by how many there are."""


def per_dim(name: str, value: Value, count: int, *, repeat: bool = True) -> tuple[Dim, ...]:
    """An argument that is one int for all of ``count`` dims, or one for each; ``(n,)`` is ``n`` if it may ``repeat``.

    Raises:
        Mismatch: there are more or fewer of them.
        CannotTell: it is something else.
    """
    if not isinstance(value, tuple):
        return (as_dim(value),) * count
    # ATen's expand_param_if_needed: one entry stands for all dims
    if len(value) == 1 and repeat:
        return (as_dim(value[0]),) * count
    if len(value) != count:
        raise Mismatch(
            f"{name} has {len(value)} entries, but it must be one int"
            + ("" if count == 1 else f" or a tuple of {count}"),
            expected=count,
            got=len(value),
        )
    return tuple(as_dim(v) for v in value)


def split_spatial(input: TensorType, count: int) -> tuple[tuple[Item, ...], Dim, tuple[Dim, ...]]:
    """A shape ``(N, C, *spatial)`` or, unbatched, ``(C, *spatial)``: what stands before C, C, the spatial dims.

    Raises:
        Mismatch: the number of dims is another.
    """
    letters = LETTERS[count]
    hint = ("input.unsqueeze(0) adds the channel dim", "input.unsqueeze(1) adds the channel dim")
    need_rank("input", input, count + 2, count + 1, meaning=f"(N, C, {letters}) or (C, {letters})", hint=hint)
    channels, *spatial = input.shape.last(count + 1)
    return input.shape.drop_last(count + 1).items, channels, tuple(spatial)


def _channels(count: Dim) -> str:
    return "1 channel" if count == 1 else f"{count} channels"


def need_channels(input: TensorType, channels: Dim, wanted: Dim, whose: str, count: int) -> None:
    """The channel dim must be what the layer takes; a channels-last input is recognised."""
    if equal(channels, wanted) is not False:
        return
    rank = input.shape.rank
    hints: list[str | None] = []
    if rank == count + 1:
        hints.append("input.unsqueeze(1) adds the channel dim")
    if whose == "the layer takes":
        swapped = rank == count + 2 and equal(input.shape.dim(0), wanted) is True
        also = f"; or are batch and channels swapped? input.transpose(0, 1) has {wanted}" if swapped else ""
        hints.append(f"a layer for {_channels(channels)} would fit{also}")
    if count > 0 and equal(input.shape.dim(-1), wanted) is True:
        order = {
            (4, 2): ".permute(0, 3, 1, 2)",
            (3, 2): ".permute(2, 0, 1)",
            (5, 3): ".permute(0, 4, 1, 2, 3)",
            (4, 3): ".permute(3, 0, 1, 2)",
        }.get((rank or 0, count), f".movedim(-1, {-count - 1})")
        hints = [f"the last dim is {wanted}: channels come before {LETTERS[count]}, as in input{order}"]
    at = "" if rank is None else f" at dim {rank - count - 1}"
    raise Mismatch(
        f"input has {_channels(channels)}{at}, but {whose} {wanted}{unequal(channels, wanted)}",
        hint=hints,
        expected=wanted,
        got=channels,
    )


def need_reach(size: Dim, low: Dim, high: Dim) -> None:
    """A spatial size that is asked of what turns a convolution or a pooling round must be one that gives the input."""
    if at_least(size, low) is False or at_least(high, size) is False:
        raise Mismatch(f"output_size {size} is out of reach; it must be in [{low}, {high}]", expected=low, got=size)


def scaled(dim: Dim, factor: Value) -> Dim:
    """``int(dim * factor)``; of a symbolic dim where the float is a fraction like 1/2 or 3/4, so that it is exact."""
    if isinstance(factor, bool) or isinstance(dim, Unknown):
        return UNKNOWN
    if isinstance(factor, int | Expr):
        return dim * factor
    if not isinstance(factor, float) or not 0 < factor < 1e6:
        return UNKNOWN
    if isinstance(dim, int):
        return int(dim * factor)
    # 0.1 is no tenth but a fraction with a huge denominator: an expression with it in helps no reader
    top, bottom = factor.as_integer_ratio()
    return dim * top // bottom if bottom <= 1024 else UNKNOWN
