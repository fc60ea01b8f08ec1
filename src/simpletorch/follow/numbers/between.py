"""One of several values, of which nobody knows which it is: its sizes lie between those of all.

``data[i]`` of samples of 5 to 8 rows has 5 to 8 rows; a word of a list is as long as the words are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from simpletorch.follow import budget
from simpletorch.follow.numbers import indexes, offsets, sizes
from simpletorch.follow.numbers.indexes import Numbers
from simpletorch.follow.values import (
    MISSING,
    NEXT,
    SIZE,
    Cause,
    Dict,
    Instance,
    Iterator,
    List,
    Tensor,
    Unknown,
    Value,
    is_int,
)
from simpletorch.shapes import UNKNOWN, Bounded, Dim, Expr, Shape, at_least, bounds, variables

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["count", "cut", "extended", "first", "joined", "joined_by", "limits", "narrowed", "ordered", "size_of"]

Range: TypeAlias = tuple[int, int | None]


def narrowed(run: Interpreter, found: Value, several: Iterable[Value]) -> Value:
    """What several values have in common, with what is known of the numbers in it.

    Args:
        run: the interpreter.
        found: what `branches.common_item` gives for them.
        several: the values.
    """
    return _narrowed(run, found, [run.resolve(v) for v in several])


def _narrowed(run: Interpreter, found: Value, several: Sequence[Value]) -> Value:
    if isinstance(found, Unknown) and any(found is v for v in several) and any(found is not v for v in several):
        found = run.unknown(found.reason, found.type, found.cause)
    if any(found is v for v in several):
        return found
    if isinstance(found, Tensor):
        _narrow_shape(run, found, several)
    elif type(found) is tuple:
        return tuple(_narrowed(run, v, [_item(run, s, i) for s in several]) for i, v in enumerate(found))
    elif isinstance(found, Unknown) and found.type == "str":
        found.length = _size(run, [count(v) if isinstance(v, str | Unknown) else None for v in several])
    elif isinstance(found, Unknown) and found.type == "int" and found.numbers is None:
        found.numbers, found.size = _numbers(several), True
    elif isinstance(found, List):
        _narrow_list(run, found, several)
    elif isinstance(found, Dict) or (isinstance(found, Instance) and found.cls.metadata.get("tuple")):
        for key, value in found.cells.items():
            inside = [v.cells.get(key, MISSING) if type(v) is type(found) else MISSING for v in several]
            if not any(v is MISSING for v in inside):
                found.cells[key] = _narrowed(run, value, [run.resolve(v) for v in inside])
    return found


def _item(run: Interpreter, value: Value, index: int) -> Value:
    return run.resolve(value[index]) if isinstance(value, tuple) and index < len(value) else MISSING


def _narrow_shape(run: Interpreter, found: Tensor, several: Sequence[Value]) -> None:
    shape = found.type.shape
    kinds = [v.type.shape for v in several if isinstance(v, Tensor)]
    exact = all(k.is_exact and k.rank == shape.rank for k in kinds) and len(kinds) == len(several)
    if not exact or not shape.is_exact or UNKNOWN not in shape.items:
        return
    dims = list(shape.dims)
    for i, dim in enumerate(dims):
        if dim is UNKNOWN:
            known = _size(run, [k.dims[i] for k in kinds])
            dims[i] = dim if known is None else known
    found.cells["type"] = replace(found.type, shape=Shape(tuple(dims)))


def _narrow_list(run: Interpreter, found: List, several: Sequence[Value]) -> None:
    if found.items is not None:
        rows = [v.items if isinstance(v, List) else None for v in several]
        if all(row is not None and len(row) == len(found.items) for row in rows):
            found.cells["items"] = tuple(
                _narrowed(run, v, [run.resolve(row[i]) for row in rows if row is not None])
                for i, v in enumerate(found.items)
            )
    elif SIZE not in found.cells:
        size = _size(run, [count(v) for v in several])
        if size is not None:
            found.cells[SIZE] = None, 0, size


def _numbers(several: Sequence[Value]) -> Numbers | None:
    found = [Numbers(v, v, False, []) if type(v) is int else indexes.bounds(v) for v in several]
    known = [n for n in found if n is not None]
    if not known or len(known) < len(found):
        return None
    varies = len(known) > 1 and any(n.by_chance or n.varies or n != known[0] for n in known)
    return Numbers(min(n.least for n in known), max(n.most for n in known), False, [], True, varies)


def count(value: Value) -> Dim | None:
    """How many items a value surely has, as far as that has a number or a name; None if not."""
    if isinstance(value, str | tuple):
        return len(value)
    if isinstance(value, range):
        return budget.length(value)
    if isinstance(value, Unknown):
        return value.length
    if isinstance(value, Tensor):
        shape = value.type.shape
        return shape.dim(0) if shape.min_rank and shape.dim(0) is not UNKNOWN else None
    if isinstance(value, List | Iterator) and value.items is not None:
        return len(value.items)
    if isinstance(value, List | Iterator) and SIZE in value.cells:
        origin, _, more = value.cells[SIZE]
        return more if origin is None else None
    if isinstance(value, Iterator) and value.cells[NEXT] == 0:  # nobody has taken one of them
        return value.count
    return None


def limits(size: Dim) -> Range | None:
    """The least and the greatest number that a size may be; None where it may be any."""
    if not isinstance(size, int | Expr):
        return None
    least, most = bounds(size)
    return None if least is None or (least <= 1 and most is None) else (max(least, 0), most)


def _size(run: Interpreter, several: Sequence[Dim | None]) -> int | Expr | None:
    """A size that is one of several; None where one of these isn't known."""
    known = [r for size in several if size is not None and (r := limits(size)) is not None]
    if not known or len(known) < len(several):
        return None
    least, greatest = min(low for low, _ in known), [high for _, high in known if high is not None]
    most = max(greatest) if len(greatest) == len(known) else None
    if least == most:
        return least
    differs = len({size for size in several if isinstance(size, int)}) > 1
    varies = differs or any(size is not None and sizes.varies(run, size) for size in several)
    return run.some_size(least, most, varies=varies)


def size_of(value: Value) -> offsets.Offset | None:
    """How many items there are in what isn't a list of known items, as `offsets.filled` takes it."""
    size = count(value)
    return None if size is None else (None, 0, size)


def extended(count: Dim, two: Dim, three: Dim) -> Dim:
    """A dim of what is joined of so many alike, from that of two and of three of them."""
    step = three - two
    return two + (count - 2) * step if isinstance(step, int) else UNKNOWN


def ordered(name: str, left: Value, right: Value) -> bool | None:
    """``left < right`` and its like of sizes of which it is known between which numbers they lie."""
    if not is_int(left) or not is_int(right) or not all(isinstance(v, Bounded) for v in variables(left - right)):
        return None
    match name:
        case "__ge__":
            return at_least(left, right)
        case "__gt__":
            return at_least(left, right + 1)
        case "__le__":
            return at_least(right, left)
        case "__lt__":
            return at_least(right, left + 1)
    return None


# -- parts of texts and lists ----------------------------------------------------------------------------------------


def first(run: Interpreter, size: Dim, index: slice) -> int | Expr | None:
    """How many items ``items[:n]`` has of so many."""
    most, known = index.stop, limits(size)
    if index.start not in (None, 0) or index.step not in (None, 1) or type(most) is not int or most < 0:
        return None
    if known is None:
        return None
    least, greatest = known
    if greatest is not None and greatest <= most and isinstance(size, int | Expr):
        return size
    return run.some_size(least, most) if least < most else most


def cut(run: Interpreter, owner: List, index: slice) -> offsets.Offset | None:
    """How long ``items[:n]`` is of a list of which the number of items isn't known."""
    most = index.stop
    if index.start not in (None, 0) or index.step not in (None, 1) or not is_int(most) or SIZE not in owner.cells:
        return None
    for condition, holds in run.assumed.items():  # that there are ``n`` at least
        operation, left, right = condition.fact or ("", None, None)
        if right != most or offsets.linear(left) != owner.cells[SIZE]:
            continue
        if (operation == "<" and not holds) or (operation in (">", "==") and holds):
            return None, 0, most
    size = count(owner)
    found = None if size is None else first(run, size, index)
    return None if found is None else (None, 0, found)


def joined(run: Interpreter, source: Unknown, parts: Sequence[Value]) -> Unknown:
    """A string that is made of others, as long as all of them; ``source``: one that isn't known."""
    made = run.unknown(source.reason, "str", source.cause)
    made.length = _total(map(count, parts))
    return made


def _total(lengths: Iterable[Dim | None]) -> int | Expr | None:
    """The sum, None where one of them isn't known."""
    total: Dim = 0
    for length in lengths:
        total = UNKNOWN if length is None else total + length
    return total if isinstance(total, int | Expr) else None


def joined_by(run: Interpreter, by: Value, items: Value, cause: Cause) -> Unknown:
    """``by.join(items)``."""
    made = run.unknown("what .join() gives", "str", cause)
    number, between = count(items), count(by)
    if number is None or between is None or not isinstance(items, tuple | List | Iterator):
        return made
    rows = items if isinstance(items, tuple) else items.items
    if rows is not None:
        made.length = _total((max(len(rows) - 1, 0) * between, *(count(run.resolve(v)) for v in rows)))
    elif between == 0 and not isinstance(items, tuple):
        each = count(run.resolve(items.cells["item"]))
        made.length = _total((number * each,)) if isinstance(each, int) else None
    return made
