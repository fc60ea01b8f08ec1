"""Indexing, ``x[index]``: the shape that an index of ints, slices, None, ``...``, masks and index tensors gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from simpletorch.rules.common.arguments import is_dim
from simpletorch.rules.common.conditions import differ, need_index, unequal
from simpletorch.rules.common.positions import one_rest, reveal
from simpletorch.rules.common.slicing import length
from simpletorch.rules.core.dtype import BOOL, INT32, INT64, UINT8
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.values import Scalar, TensorType, Value
from simpletorch.shapes import (
    ANY_REST,
    UNKNOWN,
    BroadcastError,
    Dim,
    Expr,
    Item,
    Rest,
    Shape,
    Unknown,
    broadcast,
    equal,
)

__all__ = ["Selection", "select"]


@dataclass(frozen=True)
class _Pick:
    """An advanced index: the shape that it puts in, how many dims it takes, and what a mask's dims must be."""

    shape: Shape
    takes: int = 1
    mask: Shape | None = None
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True)
class Selection:
    """The shape that is selected, and by what: whether index tensors take part, whether it is one mask."""

    shape: Shape
    is_advanced: bool = False
    is_mask: bool = False
    may_be_nothing: bool = False  # a bool that isn't surely True is among the indices


_Part: TypeAlias = slice | _Pick | Dim | None


def select(shape: Shape, index: Value) -> Selection:
    """The selection of ``x[index]`` from an ``x`` of this shape; a list of ints stands inside the index's tuple.

    Raises:
        Mismatch: the index doesn't fit.
        CannotTell: it isn't known well enough.
    """
    given: tuple[object, ...] = index if isinstance(index, tuple) else (index,)
    if given.count(...) > 1:
        raise CannotTell
    if len(given) == 1 and _is_unknown_mask(given[0]):
        return Selection(Shape.of(UNKNOWN, ANY_REST), is_advanced=True, is_mask=True)
    at = given.index(...) if ... in given else len(given)
    # what stands before ``...`` counts from the left and what stands behind it from the right
    left, right = ([_read(g, alone=len(given) == 1) for g in side] for side in (given[:at], given[at + 1 :]))
    taken_left, taken_right = sum(map(_takes, left)), sum(map(_takes, right))
    _need_enough_dims(shape, taken_left + taken_right)
    shape = reveal(shape, taken_left, taken_right)
    end = len(shape.items) - taken_right
    entries = [
        *_walk(shape, 0, left),
        *shape.items[taken_left:end],
        *_walk(shape, end, right),
    ]
    picks = [e for e in entries if isinstance(e, _Pick)]
    return Selection(
        _combine(entries, picks),
        is_advanced=bool(picks) and not (len(given) == 1 and picks[0].takes == 0),  # `x[True] = y` converts y
        is_mask=len(picks) == 1 and picks[0].mask is not None,
        may_be_nothing=any(p.takes == 0 and p.shape.items != (1,) for p in picks),
    )


def _is_unknown_mask(value: object) -> bool:
    return isinstance(value, TensorType) and value.dtype in (BOOL, UINT8) and value.shape.rank is None


def _takes(part: _Part) -> int:
    return part.takes if isinstance(part, _Pick) else 0 if part is None else 1


def _need_enough_dims(shape: Shape, taken: int) -> None:
    if shape.rank is None or taken <= shape.rank:
        return
    if shape.rank == 0:
        raise Mismatch("a 0-dim tensor can't be indexed", hint="use .item() to get its value", got=taken)
    raise Mismatch(
        f"too many indices: {taken} for {shape.rank} dim{'s' if shape.rank > 1 else ''} {shape}",
        expected=shape.rank,
        got=taken,
    )


def _read(value: object, alone: bool) -> _Part:
    """One index as far as it matters for the shape."""
    match value:
        case None:
            return None
        case slice(start=start, stop=stop, step=step):
            _need_bounds(start, stop, step)
            return value
        case bool():
            return _Pick(Shape.of(1 if value else 0), takes=0)
        case Scalar("bool"):
            return _Pick(Shape.of(UNKNOWN), takes=0)
        case float() | complex() | str() | Scalar():
            shown = value.type if isinstance(value, Scalar) else repr(value)
            raise Mismatch(f"an index must be an integer, slice, mask or None, not {shown}", kind="dtype", got=value)
        case TensorType():
            return _read_tensor(value)
        case tuple():
            return _read_list(value, alone)
        case int() | Expr() | Unknown():
            return value
        case _:
            raise CannotTell


def _need_bounds(*bounds: object) -> None:
    for bound in bounds:
        if isinstance(bound, float | complex | str | Scalar) and bound != Scalar("bool"):
            shown = f"a {bound.type}" if isinstance(bound, Scalar) else repr(bound)
            hint = None if isinstance(bound, str) else "divide with //, or use int()"
            raise Mismatch(f"a bound of a slice must be an int, not {shown}", kind="dtype", hint=hint, got=bound)


def _read_tensor(index: TensorType) -> _Part:
    dtype, rank = index.dtype, index.shape.rank
    if dtype is None or dtype.category is None:
        # a mask takes as many dims as it has, numbers always one: only for a vector both are the same
        if rank != 1:
            raise CannotTell
        return _Pick(Shape.of(UNKNOWN))  # a vector of numbers or a mask, each takes one dim
    if dtype in (BOOL, UINT8):
        if rank is None:
            raise CannotTell
        return _Pick(Shape.of(UNKNOWN), takes=rank, mask=index.shape)
    if dtype.category != "int" or (dtype.is_concrete and dtype not in (INT64, INT32)):
        raise Mismatch(
            f"an index tensor must be Int64, Int32 or Bool, but this one is {dtype}",
            kind="dtype",
            hint="use .long() or .bool()",
            got=dtype,
        )
    if rank is None and index.shape.min_rank == 0:
        raise CannotTell  # a 0-dim one counts as an int
    return UNKNOWN if rank == 0 else _Pick(index.shape)


def _read_list(value: tuple[Value, ...], alone: bool) -> _Part:
    """A list of ints or bools is the tensor of them; torch takes other lists for a tuple of indices."""
    if all(isinstance(v, bool) for v in value) and value:
        return _Pick(Shape.of(sum(v is True for v in value)), mask=Shape.of(len(value)))
    if all(is_dim(v) for v in value):
        return _Pick(Shape.of(len(value)), numbers=tuple(v for v in value if isinstance(v, int)))
    if alone or not all(isinstance(v, tuple) and all(is_dim(w) for w in v) for v in value):
        raise CannotTell
    rows: list[tuple[Value, ...]] = [v for v in value if isinstance(v, tuple)]
    if len({len(r) for r in rows}) != 1:
        raise CannotTell
    return _Pick(Shape.of(len(rows), len(rows[0])), numbers=tuple(v for r in rows for v in r if isinstance(v, int)))


def _walk(shape: Shape, at: int, parts: Sequence[_Part]) -> list[Item | _Pick]:
    """The dims that the parts of an index make of those from ``at`` on."""
    out: list[Item | _Pick] = []
    for part in parts:
        dims = tuple(i for i in shape.items[at : at + _takes(part)] if not isinstance(i, Rest))
        shown = at if shape.is_exact or at < len(shape.head) else at - len(shape.items)
        if isinstance(part, slice):
            out.append(length(dims[0], part.start, part.stop, part.step))
        elif part is None:
            out.append(1)
        elif isinstance(part, _Pick):
            _need_fitting_pick(part, dims, shown)
            out.append(part)
        else:
            need_index(part, dims[0], shown)
        at += len(dims)
    return out


def _need_fitting_pick(pick: _Pick, dims: tuple[Dim, ...], at: int) -> None:
    for i, (m, d) in enumerate(zip(pick.mask.dims if pick.mask else (), dims, strict=False)):
        if equal(m, d) is False:
            where = f"the mask {pick.mask} has {m} where the tensor has {d} (dim {at + i})"
            raise Mismatch(where + unequal(m, d), expected=d, got=m)
    for n in pick.numbers:
        need_index(n, dims[0], at)
    if pick.mask is None and dims == (0,) and isinstance(pick.shape.numel(), int) and pick.shape.numel():
        raise Mismatch(f"dim {at} has no elements to index", got=0)


def _combine(entries: Sequence[Item | _Pick], picks: Sequence[_Pick]) -> Shape:
    """Index tensors broadcast to one shape. It stands where they are if they are neighbours, else in front."""
    if not picks:
        return one_rest([e for e in entries if not isinstance(e, _Pick)])
    joint = _broadcast_picks(picks)
    first = next(i for i, e in enumerate(entries) if isinstance(e, _Pick))
    last = max(i for i, e in enumerate(entries) if isinstance(e, _Pick))
    between = [e for e in entries[first : last + 1] if not isinstance(e, _Pick)]
    if all(isinstance(e, Rest) for e in between) and between and first > 0:
        raise CannotTell  # whether they are neighbours depends on the rank
    before = [e for e in entries[:first] if not isinstance(e, _Pick)]
    after = [e for e in entries[last + 1 :] if not isinstance(e, _Pick)]
    # as NumPy, but that torch has taken the ints out before: they part no index tensors
    return one_rest([*joint.items, *before, *between, *after] if between else [*before, *joint.items, *after])


def _broadcast_picks(picks: Sequence[_Pick]) -> Shape:
    joint = picks[0].shape
    for p in picks[1:]:
        try:
            joint = broadcast(joint, p.shape)
        except BroadcastError as e:
            shapes = ", ".join(str(p.shape) for p in picks)
            why = differ(e.left, e.right)
            raise Mismatch(
                f"the index tensors {shapes} can't be broadcast: {why}", expected=e.left, got=e.right
            ) from None
    return joint
