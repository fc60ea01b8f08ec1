"""Several tensors into one: cat, stack and their relatives, block_diag."""

from __future__ import annotations

from collections.abc import Sequence

from simpletorch.rules.common.arguments import some_tensors, tensor_list
from simpletorch.rules.common.conditions import need_equal, need_max_rank, need_same_rank
from simpletorch.rules.common.positions import insert, of_rank, position, unknown_dims
from simpletorch.rules.core.dtype import DEFAULT_FLOAT, promote_all
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.rules.functions.shaping.reshaping import padded
from simpletorch.shapes import ANY_REST, ANY_SHAPE, UNKNOWN, Dim, Item, Rest, Shape, Unknown

__all__ = ["cat", "joined", "stack"]


def _tensor(shape: Shape, tensors: Sequence[TensorType]) -> TensorType:
    return TensorType(shape, promote_all(t.dtype for t in tensors))


def _aligned(shapes: Sequence[Shape], prefer_tail: bool = False) -> list[Shape]:
    """Shapes of one rank brought to one structure: as many dims before and after the unknown part in each."""
    ranks = {s.rank for s in shapes if s.rank is not None}
    if ranks and max(s.min_rank for s in shapes) > min(ranks):
        return [ANY_SHAPE for _ in shapes]  # they don't fit, in a way that `need_same_rank` couldn't tell
    if ranks:
        (rank,) = ranks
        return [of_rank(s, rank) for s in shapes]
    if len({(s.rest, len(s.head), len(s.tail)) for s in shapes}) == 1:
        return list(shapes)
    least = max(s.min_rank for s in shapes)
    heads, tails = max(len(s.head) for s in shapes), max(len(s.tail) for s in shapes)
    if prefer_tail:
        heads = min(heads, least - tails)
    else:
        tails = min(tails, least - heads)
    return [_cut(s, heads, tails) for s in shapes]


def _cut(shape: Shape, heads: int, tails: int) -> Shape:
    return Shape((*(shape.dim(i) for i in range(heads)), ANY_REST, *(shape.dim(i) for i in range(-tails, 0))))


def _need_one_rank(shapes: Sequence[tuple[int, Shape]]) -> None:
    """All must have one rank."""
    known = next(((i, s) for i, s in shapes if s.rank is not None), None)
    for i, s in shapes:
        if known is not None and (s.min_rank > len(known[1].items) or s.rank not in (None, known[1].rank)):
            (a, first), (b, second) = sorted([known, (i, s)], key=lambda pair: pair[0])
            need_same_rank(f"tensors[{a}]", first, f"tensors[{b}]", second)


def _common(columns: Sequence[Item], places: Sequence[int], where: str) -> Item:
    """The one size that all have: the most exact of those known."""
    out: Item = UNKNOWN
    source = 0
    for place, item in zip(places, columns, strict=True):
        if isinstance(item, Rest):
            return item
        if isinstance(item, Unknown):
            continue
        if isinstance(out, Unknown):
            out, source = item, place
            continue
        assert not isinstance(out, Rest)
        need_equal(f"tensors[{source}]", out, f"tensors[{place}]", item, what=f"the sizes of {where}")
        if isinstance(item, int) and not isinstance(out, int):
            out, source = item, place
    return out


def _sum(items: Sequence[Item]) -> Item:
    total: Dim = 0
    for i in items:
        if isinstance(i, Rest):
            return i
        total = total + i
    return total


def _find(shapes: Sequence[Shape], dim: Value) -> tuple[list[Shape], int]:
    """The shapes brought to one structure, and where ``dim`` is in it."""
    if all(s.rank is None for s in shapes):
        shapes = [position(dim, s)[0] for s in shapes]
    rows = _aligned(shapes, prefer_tail=isinstance(dim, int) and dim < 0)
    return rows, position(dim, rows[0])[1]


def _named_dim(shape: Shape, at: int) -> str:
    return f"dim {at if shape.is_exact or at < len(shape.head) else at - len(shape.items)}"


def _cat_shape(shapes: Sequence[Shape], dim: Value) -> Shape:
    """The shapes joined at ``dim``. A 1-dim tensor without elements is left out, as torch does for old code's sake."""
    for place, shape in enumerate(shapes):
        if shape.rank == 0:
            raise Mismatch(f"tensors[{place}] is 0-dim; it can't be concatenated", hint="use torch.stack")
    kept = [(i, s) for i, s in enumerate(shapes) if s.items != (0,)]
    if not kept:
        return shapes[0]
    if any(_may_be_left_out(s) for _, s in kept) and any(s.min_rank > 1 for _, s in kept):
        raise CannotTell
    _need_one_rank(kept)
    try:
        rows, at = _find([s for _, s in kept], dim)
    except CannotTell:
        return unknown_dims(next((s for _, s in kept if s.is_exact), ANY_SHAPE))
    places = [i for i, _ in kept]
    out = [
        _sum(column) if i == at else _common(column, places, _named_dim(rows[0], i))
        for i, column in enumerate(zip(*(r.items for r in rows), strict=True))
    ]
    return Shape(tuple(out))


def _may_be_left_out(shape: Shape) -> bool:
    """Whether it isn't known if the shape is (0,). A size that has a name isn't always 0."""
    if shape.rank is None:
        return shape.min_rank == 1 and 0 in shape.items
    return shape.rank == 1 and shape.dim(0) is UNKNOWN


def joined(tensors: Sequence[TensorType], dim: Value) -> TensorType:
    """The tensors (at least one), joined at ``dim``."""
    try:
        return _tensor(_cat_shape([t.shape for t in tensors], dim), tensors)
    except CannotTell:
        return _tensor(ANY_SHAPE, tensors)


@rule("torch.cat", "torch.concat", "torch.concatenate")
def cat(tensors: Value, dim: Value = 0) -> TensorType:
    """``(*a, n, *b), (*a, m, *b), … -> (*a, n + m + …, *b)``"""
    return joined(some_tensors("tensors", tensors), dim)


@rule("torch.stack")
def stack(tensors: Value, dim: Value = 0) -> TensorType:
    """``k tensors (*a, *b) -> (*a, k, *b)``"""
    given = some_tensors("tensors", tensors)
    shapes = list(enumerate(t.shape for t in given))
    _need_one_rank(shapes)
    rows = _aligned([s for _, s in shapes], prefer_tail=isinstance(dim, int) and dim < 0)
    columns = zip(*(r.items for r in rows), strict=True)
    same = Shape(tuple(_common(c, range(len(given)), _named_dim(rows[0], i)) for i, c in enumerate(columns)))
    try:
        return _tensor(insert(same, dim, len(given)), given)
    except CannotTell:
        return _tensor(unknown_dims(same, 1), given)


def _padded(tensors: Value, count: int) -> tuple[TensorType, ...]:
    return tuple(padded(t, count) for t in some_tensors("tensors", tensors))


@rule("torch.hstack")
def hstack(tensors: Value) -> TensorType:
    """``(n,), (m,) -> (n + m,)``, ``(a, n, *s), (a, m, *s) -> (a, n + m, *s)``"""
    given = _padded(tensors, 1)
    if given[0].shape.min_rank > 1:
        return joined(given, 1)
    return joined(given, 0 if given[0].shape.rank == 1 else UNKNOWN)


@rule("torch.vstack", "torch.row_stack")
def vstack(tensors: Value) -> TensorType:
    """``(n,), (n,) -> (2, n)``, ``(a, *s), (b, *s) -> (a + b, *s)``"""
    return joined(_padded(tensors, 2), 0)


@rule("torch.dstack")
def dstack(tensors: Value) -> TensorType:
    """``(n, m), (n, m) -> (n, m, 2)``, ``(n, m, a, *s), (n, m, b, *s) -> (n, m, a + b, *s)``"""
    return joined(_padded(tensors, 3), 2)


@rule("torch.column_stack")
def column_stack(tensors: Value) -> TensorType:
    """``(n,), (n, m) -> (n, 1 + m)``"""
    given = tuple(_column(t) for t in some_tensors("tensors", tensors))
    return joined(given, 1)


def _column(t: TensorType) -> TensorType:
    if t.shape.rank is None:
        return t if t.shape.min_rank > 1 else t.with_shape(ANY_REST)
    return t.with_shape(t.shape.numel(), 1) if t.shape.rank < 2 else t


@rule("torch.block_diag", "torch.functional.block_diag")
def block_diag(*tensors: Value) -> TensorType:
    """``(n, m), (k, l), … -> (n + k + …, m + l + …)``"""
    given = tensor_list(tensors)
    if not given:
        return TensorType(Shape.of(1, 0), DEFAULT_FLOAT)
    rows: Dim = 0
    columns: Dim = 0
    for i, t in enumerate(given):
        need_max_rank(f"tensors[{i}]", t, 2)
        shape = padded(t, 2).shape
        rows, columns = rows + shape.dim(-2), columns + shape.dim(-1)
    return _tensor(Shape.of(rows, columns), given)
