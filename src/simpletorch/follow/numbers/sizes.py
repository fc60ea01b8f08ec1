"""Sizes that aren't known, but between which numbers they lie: ``torch.zeros(random.randint(5, 9))``.

Each gets a name of its own wherever it becomes a size: the int may be another one in the next round of a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow.heap import CHANGED
from simpletorch.follow.marks.layout import LAYOUT, Layout
from simpletorch.follow.numbers import indexes, offsets
from simpletorch.follow.values import SIZE, Cause, Choice, Dict, Instance, List, Tensor, Unknown, Value
from simpletorch.rules import TensorType
from simpletorch.rules.core.dtype import BOOL
from simpletorch.shapes import UNKNOWN, Bounded, Dim, Expr, Item, Shape, Var, at_least, bounds, substitute, variables

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = [
    "CHANGES",
    "MAKERS",
    "all_named",
    "by_content",
    "cause_of",
    "counted",
    "counts",
    "made_since",
    "name_new",
    "named",
    "named_dim",
    "of_layer",
    "of_list",
    "one_of_many",
    "rename",
    "renamed",
    "repeated",
    "varies",
    "with_new",
]

CHANGES: Final = "it changes from round to round of a loop"
_NAMES: Final = ("zeros", "ones", "empty", "full", "rand", "randn", "randint", "randperm", "arange", "eye")
MAKERS: Final = frozenset(
    {*(f"torch.{n}" for n in _NAMES), *(f"Tensor.new_{n}" for n in ("zeros", "ones", "empty", "full"))}
)
"""What makes a tensor of the sizes that it is given."""


def named(run: Interpreter, value: Value) -> Value:
    """Sizes as they are given, with a name for an int that isn't known."""
    if isinstance(value, Unknown):
        known = indexes.bounds(value)
        if isinstance(value.size, Expr) or known is None or known.least < 0:
            return value.size if isinstance(value.size, Expr) else value
        if known.least == known.most:
            return known.least
        size = run.some_size(known.least, known.most, varies=known.by_chance or known.varies)
        if value.size:
            value.size = size
        return size
    if type(value) is Tensor:
        return _of_number(run, value)
    if type(value) is tuple:
        return tuple(named(run, v) for v in value)
    parts = value.items if isinstance(value, List) else None
    if parts is not None and any(isinstance(v, Unknown | Tensor) for v in parts):
        return List(tuple(named(run, v) for v in parts))
    return value


def all_named(run: Interpreter, name: str, args: tuple[Value, ...]) -> tuple[Value, ...]:
    """The arguments of one of `MAKERS`, with a symbol for each unknown size."""
    args = named(run, args)
    start = 1 if name.startswith("Tensor.") else 0
    takes_sizes_only = not name.endswith(("full", "randint", "arange"))
    several = takes_sizes_only and len(args) > start + 1
    first = start + (name.endswith("full") or len(args) == start + 1)
    end = len(args) if takes_sizes_only else first
    return (*args[:start], *(_size(run, v, several) for v in args[start:end]), *args[end:])


def _size(run: Interpreter, value: Value, is_one: bool) -> Value:
    if isinstance(value, Unknown):
        return of_layer(run, value) if is_one or value.type == "int" else value
    if type(value) is tuple:
        return tuple(_size(run, v, True) for v in value)
    if type(value) is List and value.items is not None:
        return List(tuple(_size(run, v, True) for v in value.items))
    return value


def of_layer(run: Interpreter, value: Value) -> Value:
    """The symbol of an unknown int that a layer or a tensor is made of; each use of the int gives the same symbol.

    An int that changes in a loop gets none: it is another one in each round.
    """
    if not isinstance(value, Unknown) or value.type not in ("int", None) or value.reason == CHANGES:
        return value
    if isinstance(value.size, Expr):
        return value.size
    if indexes.bounds(value) is not None:
        return named(run, value)
    number = run.derived("as a size", value, None, "int")
    if not isinstance(number.size, Expr):
        number.size = run.some_size(0)
    return number.size


def _of_number(run: Interpreter, value: Tensor) -> Value:
    """The size that a tensor of one int stands for; any other tensor is none."""
    kind = value.type
    if kind.shape.rank != 0 or kind.dtype is None or kind.dtype.category != "int":
        return value
    number = run.derived(f"as a size, changed {value.cells.get(CHANGED, 0)} times", value, None, "int")
    number.numbers, number.size = indexes.bounds(value), number.size or True
    return named(run, number)


def named_dim(run: Interpreter, value: Value) -> Dim:
    """One such size; UNKNOWN where nothing is known of it."""
    found = _size(run, named(run, value), False)
    return found if isinstance(found, int | Expr) else UNKNOWN


def _number(size: Var) -> int:
    """The number of a size that `Interpreter.some_size` has named, counted from 1; 0 for any other size."""
    return int(size.scope[1:]) if size.is_some and size.scope.startswith("?") else 0


def _made_at(run: Interpreter, size: Var) -> int:
    """When it got its name, see `heap.now`."""
    number = _number(size)
    return run.sizes[number - 1] if 0 < number <= len(run.sizes) else 0


def made_since(run: Interpreter, start: int, *values: Value) -> list[Var]:
    """The sizes in these values, which lead to nothing older, that got their names later than this, see `heap.now`."""
    if not run.sizes or run.sizes[-1] < start:
        return []
    found = {v for value in values for v in _sizes(value, set()) if _made_at(run, v) > start}
    return sorted(found, key=lambda v: v.sort_key)


def _sizes(value: Value, seen: set[int]) -> Iterator[Var]:
    if isinstance(value, Expr):
        yield from variables(value)
    elif isinstance(value, tuple):
        for item in value:
            yield from _sizes(item, seen)
    elif isinstance(value, TensorType):
        yield from _sizes(value.shape.items, seen)
    elif isinstance(value, Tensor):
        yield from _sizes((value.type, value.marks.layout), seen)
    elif isinstance(value, List | Dict | Instance) and id(value) not in seen:
        seen.add(id(value))
        held = (*value.cells.values(), *(() if isinstance(value, List) else value.state.values()))
        yield from _sizes(held, seen)


def varies(run: Interpreter, size: Dim, start: int = 0) -> bool:
    """Whether a size, with a name not older than ``start``, is hardly the same for another one of its kind."""
    return any(_number(v) in run.varying and _made_at(run, v) > start for v in variables(size))


def renamed(run: Interpreter, value: Value, names: dict[Var, Dim], start: int = 0) -> Value:
    """The same value as another sample has it: a size that isn't known is another one there.

    Args:
        run: the interpreter.
        value: a tensor, or a collection that was made for this sample.
        names: the names so far of the sample's sizes; new ones are added.
        start: sizes that had their names before this, see `heap.now`, are no sizes of the sample.
    """
    if isinstance(value, Tensor):
        found = _other_names(run, value.type.shape.items, names, start)
        if found is not None:
            rename(value, found)
        return value
    if isinstance(value, Expr):
        found = _other_names(run, (value,), names, start)
        return value if found is None else substitute(value, found)
    if type(value) is tuple:
        return tuple(renamed(run, v, names, start) for v in value)
    if isinstance(value, List) and value.items is not None:
        value.cells["items"] = renamed(run, value.items, names, start)
    elif isinstance(value, Dict) and value.default is None:
        value.cells.update({k: renamed(run, v, names, start) for k, v in value.cells.items()})
    return value


def rename(tensor: Tensor, names: Mapping[Var, Dim]) -> Tensor:
    """A new tensor, which has got other names for its sizes."""
    tensor.cells["type"] = replace(tensor.type, shape=tensor.type.shape.substitute(names))
    LAYOUT.put(tensor, _with_names(tensor.marks.layout, names))
    return tensor


def _with_names(layout: Layout, names: Mapping[Var, Dim]) -> Layout:
    return tuple(substitute(d, names) for d in layout) if isinstance(layout, tuple) else layout


def repeated(
    run: Interpreter, one: Value, count: int, start: int, another: Callable[[Value], Value]
) -> tuple[Value, ...]:
    """So many values like this one, which was made since ``start``: each with sizes of its own."""
    return (one, *(_unlike(run, one, start, another) for _ in range(count - 1)))


def _unlike(run: Interpreter, one: Value, start: int, another: Callable[[Value], Value]) -> Value:
    if isinstance(one, Unknown):
        return _measured_anew(run, one)
    if type(one) is tuple:
        return tuple(_unlike(run, v, start, another) for v in one)
    return renamed(run, another(one), {}, start)


def _measured_anew(run: Interpreter, value: Unknown) -> Unknown:
    """Another string or number, of which the same is known."""
    made = copy(value)
    made.size = value.size is not False
    if isinstance(value.length, Expr):
        least, most = bounds(value.length)
        made.length = run.some_size(least or 0, most, varies=varies(run, value.length))
    return made


def one_of_many(run: Interpreter, value: Value) -> Value:
    """An item of a list of unknown length, by what is known of each: sizes that aren't known are other ones each time.

    Objects that can be changed are given as they are: what is written to one may be read of another.
    """
    if isinstance(value, Tensor):
        items = value.type.shape.items
        names = _other_names(run, items, {}) or {}
        own = tuple(
            run.some_size() if d is UNKNOWN else substitute(d, names) if isinstance(d, Expr) else d for d in items
        )
        made = value.one_of_many(replace(value.type, shape=Shape(own)))
        LAYOUT.put(made, _with_names(value.marks.layout, names))
        return made
    if type(value) is tuple:
        return tuple(one_of_many(run, v) for v in value)
    if isinstance(value, Unknown) and (value.length is not None or value.numbers is not None):
        return _measured_anew(run, value)
    return value


def _other_names(
    run: Interpreter, items: Iterable[Item], names: dict[Var, Dim], start: int = 0
) -> dict[Var, Dim] | None:
    found = {v for i in items if isinstance(i, Expr) for v in variables(i) if _made_at(run, v) > start}
    for v in sorted(found - names.keys(), key=lambda v: v.sort_key):
        names[v] = run.some_size(*v.range, varies=_number(v) in run.varying)
    return names if found else None


def of_list(run: Interpreter, value: Value) -> Dim:
    """How many items a list has of which that isn't known: those that were added to it at least."""
    if not isinstance(value, List) or SIZE not in value.cells:
        return UNKNOWN
    _, times, more = offsets.size_of(run, value)
    if times == 0:
        return more
    return run.some_size(more) if type(times) is int and times >= 0 and type(more) is int and more >= 0 else UNKNOWN


def cause_of(size: Expr) -> Cause:
    """Why it isn't known how large it is: what the data hold, where all its parts come from there."""
    return "data" if all(isinstance(v, Bounded) for v in variables(size)) else "code"


def counts(short: str) -> bool:
    """Whether sizes of what an operation gives may depend on what its operands hold."""
    return short in _CHOSEN or short in _PLACES or short in ("bincount", "__getitem__")


def counted(run: Interpreter, short: str, args: tuple[Value, ...], kwargs: Mapping[str, Value], result: Any) -> Any:
    """The answer of an operation, with names for the sizes that depend on what its operands hold."""
    if short == "bincount" and isinstance(result, TensorType):
        return replace(result, shape=Shape((_bins(run, args, kwargs),)))
    if short in _DISTINCT and _is_sized(args[0]):
        return _distinct(run, _compared(args[0].type.shape, kwargs.get("dim")), result)
    if short == "__getitem__" and isinstance(result, TensorType) and result.shape.is_exact and _is_sized(args[0]):
        result = replace(result, shape=_at_most(run, args[0].type.shape, args[1], result.shape))
    if short in _PLACES and isinstance(result, tuple) and _is_sized(args[0]):
        return _places(run, args[0].type.shape.numel(), result)
    chosen = short in _CHOSEN or (short == "__getitem__" and _has_mask(args[1]))
    if not chosen or not isinstance(result, TensorType) or not result.shape.is_exact or not _is_sized(args[0]):
        return result
    dims = tuple(by_content(run, run.some_size(0)) if d is UNKNOWN else d for d in result.shape.dims)
    return replace(result, shape=Shape(dims))


def with_new(run: Interpreter, operands: Iterable[Value], result: TensorType, least: int = 0) -> TensorType:
    """The result of an operation, with a symbol for each unknown size: ``x[:n]``.

    The operands' own sizes must be known: an unknown size of a result may be that of an operand.
    """
    items = result.shape.items
    if not result.shape.is_exact or UNKNOWN not in items or not all(map(_are_sized, operands)):
        return result
    return replace(result, shape=Shape(tuple(run.some_size(least) if d is UNKNOWN else d for d in items)))


def name_new(run: Interpreter, operands: tuple[Value, ...], made: Tensor | tuple[Value, ...]) -> None:
    """A symbol for each unknown size of what a library has made of these operands, as in `with_new`."""
    for one in made if type(made) is tuple else (made,):
        if type(one) is Tensor and UNKNOWN in one.type.shape.items:
            known = with_new(run, operands, one.type, least=1)
            if known is not one.type:
                run.heap.learn(one.cells, known)


def _are_sized(value: Value) -> bool:
    if isinstance(value, Tensor):
        return _is_sized(value)
    if isinstance(value, List):
        return all(map(_are_sized, value.items if value.items is not None else (value.item,)))
    return all(map(_are_sized, value)) if isinstance(value, tuple) else not isinstance(value, Choice)


def _places(run: Interpreter, elements: Dim, result: tuple[Any, ...]) -> Any:
    """Where a condition holds, a tensor for each dim: all of one length, which may be 0."""
    if not all(isinstance(t, TensorType) and t.shape.items == (UNKNOWN,) for t in result):
        return result
    size = by_content(run, run.some_size(0, elements if isinstance(elements, int) else None))
    return tuple(replace(t, shape=Shape((size,))) for t in result)


def by_content(run: Interpreter, size: Expr) -> Expr:
    """A size that says how many elements hold something: there may be few."""
    run.by_content |= variables(size)
    return size


def _at_most(run: Interpreter, shape: Shape, index: Value, result: Shape) -> Shape:
    """``x[:n]`` of elements that hold something has fewer than ``n`` where there may be fewer.

    Who cuts a text or a list of unknown length is trusted to know that it is long enough.
    """
    dims, place, at = list(result.dims), 0, 0
    for part in index if type(index) is tuple else (index,):
        if type(part) is slice:
            size, most = shape.dims[place], part.stop
            if part.start in (None, 0) and part.step in (None, 1) and type(most) is int and most >= 0:
                least, greatest = bounds(size) if isinstance(size, Expr) else (most, None)
                if isinstance(size, Expr) and (least or 0) < most and variables(size) <= run.by_content:
                    fits = greatest is not None and greatest <= most
                    dims[at] = size if fits else run.some_size(max(least or 0, 0), most)
            place, at = place + 1, at + 1
        elif part is None:
            at += 1
        elif type(part) is int:
            place += 1
        else:
            break
    return Shape(tuple(dims))


def _compared(shape: Shape, dim: Value) -> Dim:
    """How many there are of what `unique` compares."""
    if dim is None:
        return shape.numel()
    return shape.dims[dim] if type(dim) is int and -len(shape.dims) <= dim < len(shape.dims) else UNKNOWN


def _distinct(run: Interpreter, elements: Dim, result: Any) -> Any:
    """There is one distinct value at least, where there are any; they are counted as often as there are of them."""
    types = result if isinstance(result, tuple) else (result,)
    if not all(isinstance(t, TensorType) and t.shape.is_exact for t in types):
        return result
    most = elements if isinstance(elements, int) else None
    size = by_content(run, run.some_size(int(at_least(elements, 1) is True), most))
    named = tuple(replace(t, shape=Shape(tuple(size if d is UNKNOWN else d for d in t.shape.dims))) for t in types)
    return named if isinstance(result, tuple) else named[0]


_DISTINCT: Final = frozenset({"unique", "unique_consecutive"})
_PLACES: Final = ("where", "nonzero")
_CHOSEN: Final = _DISTINCT | {"nonzero", "argwhere", "masked_select"}


def _is_sized(value: Value) -> bool:
    """Whether all sizes of a tensor have a name at least."""
    return isinstance(value, Tensor) and value.type.shape.is_exact and UNKNOWN not in value.type.shape.items


def _has_mask(index: Value) -> bool:
    if type(index) is tuple:
        return any(map(_has_mask, index))
    return isinstance(index, Tensor) and index.type.dtype == BOOL


def _bins(run: Interpreter, args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> Dim:
    """``bincount(x, minlength=n)`` has ``n`` elements, or more if ``x`` holds greater ones."""
    least = args[2] if len(args) > 2 else kwargs.get("minlength", 0)
    if type(least) is not int or least < 0:
        return UNKNOWN
    known = indexes.bounds(args[0]) if args else None
    return least if known is not None and known.most < least else run.some_size(least)
