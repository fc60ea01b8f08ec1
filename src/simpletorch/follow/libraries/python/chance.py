"""``random``: nothing of it is known but what its results are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simpletorch.follow import iteration
from simpletorch.follow.heap import now
from simpletorch.follow.libraries import NATIVES, Work, gives, library_class, model, native
from simpletorch.follow.memory import stand_ins
from simpletorch.follow.numbers import between, indexes, offsets, sizes
from simpletorch.follow.values import Instance, List, Native, Tensor, Unknown, Value
from simpletorch.shapes import UNKNOWN

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

gives(
    "random.uniform random.gauss random.normalvariate random.betavariate random.expovariate "
    "random.triangular random.lognormvariate random.gammavariate random.vonmisesvariate",
    "float",
    "data",
)
gives("random.getrandbits", "int", "data")
gives("random.getstate random.randbytes", None, "data")


@model("random.random")
def _fraction(run: Interpreter) -> Value:
    return offsets.drawn(run.unknown("a number by chance", "float", "data"))


@native("random.randint")
def _up_to(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = [run.resolve(v) for v in (*args, *kwargs.values())]
    return _between(run, given[0], given[1] + 1) if list(map(type, given)) == [int, int] else _between(run, None, None)


@native("random.randrange")
def _below(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = [run.resolve(v) for v in args]
    return _between(run, *([0, *given][-2:] if len(given) in (1, 2) and not kwargs else (None, None)))


def _between(run: Interpreter, least: Value, end: Value) -> Value:
    """An int by chance."""
    made = offsets.drawn(run.unknown("a number by chance", "int", "data"))
    made.numbers, made.size = indexes.drawn(least, end), True
    return made


@model("random.seed", "random.setstate")
def _nothing(run: Interpreter, *more: Value, **rest: Value) -> Value:
    return None


def any_of(run: Interpreter, source: Value) -> Value:
    """One item by chance: what all have in common."""
    found = run.items(source)
    one = iteration.item(run, source) if found is None else stand_ins.one_of(run, found, "an item by chance")
    if isinstance(one, Unknown):
        made = run.unknown("an item by chance", one.type, "data" if found is not None else one.cause)
        return between.narrowed(run, made, [one] if found is None else found)
    if found is not None:
        one = between.narrowed(run, one, found)
    return Tensor(one.type, array=one.array) if isinstance(one, Tensor) else one


def _items(run: Interpreter, source: Value, count: int) -> tuple[Value, ...]:
    """So many items by chance."""
    start = now()
    return sizes.repeated(run, any_of(run, source), count, start, iteration.another) if count > 0 else ()


def _several(run: Interpreter, source: Value, count: Value) -> Value:
    if isinstance(count, int) and count <= 5_000:
        return List(_items(run, source, count))
    size = sizes.named_dim(run, count)
    return offsets.filled(run, any_of(run, source), None if size is UNKNOWN else (None, 0, size))


@model("random.choice")
def _choice(run: Interpreter, seq: Value) -> Value:
    return any_of(run, seq)


@native("random.sample", "random.choices")
def _sample(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    count = run.resolve(kwargs.get("k", args[1] if len(args) > 1 else 1))
    return _several(run, args[0], count)


@model("random.shuffle")
def _shuffle(run: Interpreter, x: Value) -> Value:
    if isinstance(x, List) and x.items is not None:
        run.heap.write(x.cells, "items", _items(run, x.items, len(x.items)))
    return None


def _of_own(function: Native) -> Work:
    """The method of a generator of its own that does what a function of the module does."""
    return lambda run, args, kwargs: run.call(function, args[1:], kwargs)


library_class(
    "random.Random",
    make=lambda run, cls, args, kwargs: Instance(cls),
    methods={
        name.removeprefix("random."): _of_own(function)
        for name, function in NATIVES.items()
        if name.startswith("random.") and isinstance(function, Native)
    },
    unknown="a generator of random numbers",
)
