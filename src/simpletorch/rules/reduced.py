"""The shape that remains when dims are summed, averaged, sorted out: shared by everything that reduces."""

from __future__ import annotations

from simpletorch.rules.arguments import axes, axis, is_dim
from simpletorch.rules.mismatch import CannotTell
from simpletorch.rules.values import ANYTHING, Value
from simpletorch.shapes import ANY_SHAPE, UNKNOWN, Dim, Shape, equal

__all__ = ["expose", "positions", "reduced"]


def expose(shape: Shape, *dims: Value) -> Shape:
    """A shape of unknown rank with unknown dims spelled out, so that ``dims``, which it must have, are visible."""
    for dim in dims:
        if shape.rank is not None or not isinstance(dim, int):
            continue
        if dim < 0 and not shape.head:
            missing = max(0, -dim - len(shape.tail))
            shape = Shape((shape.items[0], *(UNKNOWN,) * missing, *shape.tail))
        elif dim >= 0 and not shape.tail:
            missing = max(0, dim + 1 - len(shape.head))
            shape = Shape((*shape.head, *(UNKNOWN,) * missing, shape.items[-1]))
    return shape


def positions(shape: Shape, dims: tuple[int, ...]) -> tuple[int, ...]:
    """Places among ``shape.items`` of dims as `axes` gives them."""
    return tuple(d if d >= 0 else len(shape.items) + d for d in dims)


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
    visible = expose(shape, *given)
    try:
        found = axes(given, visible)
    except CannotTell:
        return ANY_SHAPE
    if shape.rank == 0 or not found:
        return shape
    at = positions(visible, found)
    if not keepdim:
        return Shape(tuple(item for i, item in enumerate(visible.items) if i not in at))
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
        return Shape(tuple(_either(a, b) for a, b in zip(shape.dims, shape.dims[1:], strict=False)))
    return Shape((UNKNOWN,) * (shape.rank - len(given)))


def _either(a: Dim, b: Dim) -> Dim:
    return a if equal(a, b) else UNKNOWN
