"""The shape that remains when dims are summed, averaged, sorted out: shared by everything that reduces."""

from __future__ import annotations

from simpletorch.rules.common.arguments import is_dim
from simpletorch.rules.common.conditions import need_distinct
from simpletorch.rules.common.positions import axis, locate, without
from simpletorch.rules.core.mismatch import CannotTell
from simpletorch.rules.core.values import ANYTHING, Value
from simpletorch.shapes import ANY_SHAPE, UNKNOWN, Dim, Shape, equal

__all__ = ["reduced"]


def reduced(shape: Shape, dim: Value, keepdim: Value = False, *, empty_is_all: bool = True) -> Shape:
    """``shape`` without ``dim`` (an int, a tuple, None for all), or with 1 there under ``keepdim``.

    Raises:
        Mismatch: a dim is out of range or given twice.
    """
    if dim is None or (dim == () and empty_is_all):
        if keepdim is False:
            return Shape(())
        ones = None if shape.rank is None else Shape((1,) * shape.rank)
        return ones if keepdim is True and ones is not None else (shape if shape.rank == 0 else ANY_SHAPE)
    given = dim if isinstance(dim, tuple) else (dim,)
    known = all(isinstance(d, int) and not isinstance(d, bool) for d in given)
    if not known or not isinstance(keepdim, bool):
        return _reduced_somewhere(shape, dim, keepdim)
    try:
        visible, at = locate(shape, *given)
    except CannotTell:
        return ANY_SHAPE
    need_distinct("dim", given, at)
    # torch takes 0 and -1 of a 0-dim tensor, which stays as it is
    if shape.rank == 0 or not at:
        return shape
    if not keepdim:
        return without(visible, at)
    if shape.min_rank == 0 and shape.rank is None and given in ((0,), (-1,)):
        return ANY_SHAPE  # a 0-dim tensor takes these dims too, and stays 0-dim
    return Shape(tuple(1 if i in at else item for i, item in enumerate(visible.items)))


def _reduced_somewhere(shape: Shape, dim: Value, keepdim: Value) -> Shape:
    """As `reduced` where it isn't known which dims are meant, or whether they are kept."""
    given = dim if isinstance(dim, tuple) else (dim,)
    for d in given:
        if isinstance(d, int) and not isinstance(d, bool):
            try:
                axis(d, shape)
            except CannotTell:
                continue
        elif d is not ANYTHING and not is_dim(d):
            raise CannotTell
    if shape.rank is None or not isinstance(keepdim, bool):
        return shape if shape.rank == 0 else ANY_SHAPE
    if keepdim:
        return Shape(tuple(1 if d == 1 else UNKNOWN for d in shape.dims))
    if dim is ANYTHING or len(given) > shape.rank:
        return shape if shape.rank == 0 else ANY_SHAPE
    if len(given) == 1:
        # whichever dim goes, what remains at each place is this dim or the next
        return Shape(tuple(_either(a, b) for a, b in zip(shape.dims, shape.dims[1:], strict=False)))
    return Shape((UNKNOWN,) * (shape.rank - len(given)))


def _either(a: Dim, b: Dim) -> Dim:
    return a if equal(a, b) else UNKNOWN
