"""``torch.utils.data``: datasets, samplers, and loaders: batches are what the dataset gives, with the batch in front.

A loader gives batches that are like one another. Where the last one is smaller (no ``drop_last``, and the length isn't
a multiple) it is the full one that is followed, and the smaller one where that may fail (`mistakes.last_batches`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import branches, guards, iteration, tensors
from simpletorch.follow.heap import now
from simpletorch.follow.iteration import another
from simpletorch.follow.libraries import ALIASES, by_name, library_class, model, signed
from simpletorch.follow.libraries.python.builtins import length
from simpletorch.follow.marks import carried, gradients, sequences
from simpletorch.follow.mistakes import events
from simpletorch.follow.model import often
from simpletorch.follow.numbers import indexes, offsets, sizes
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.values import (
    MISSING,
    Class,
    Dict,
    Fields,
    Instance,
    Iterator,
    Last,
    List,
    Native,
    StaticMethod,
    Tensor,
    Unknown,
    Value,
    is_int,
)
from simpletorch.rules import Report, TensorType
from simpletorch.rules.core.dtype import BOOL, FLOAT32, FLOAT64, INT64
from simpletorch.shapes import UNKNOWN, Dim, Expr, Shape, variables

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["batch_of", "collated", "sample"]

_DATA: Final = "torch.utils.data"
_FEW_BATCHES: Final = 3  # of a loader: each is followed, the last with the samples that it has
_MOST_SAMPLES: Final = 256  # of a batch, for a collate_fn of the program: one by one
_NUMBERS: Final = {"bool": BOOL, "int": INT64, "float": FLOAT64}

ALIASES.update(
    {
        f"{_DATA}.dataset": _DATA,
        f"{_DATA}.dataloader": _DATA,
        f"{_DATA}.sampler": _DATA,
        f"{_DATA}.distributed": _DATA,
        f"{_DATA}._utils.collate": _DATA,
        "simpletorch.data.DataLoader": "simpletorch.data.DataLoader",  # its batches of tuples are tuples
        "simpletorch.data.Digits": "simpletorch.data.Digits",
        "simpletorch.data": _DATA,
    }
)


def _index(run: Interpreter, count: Value = None) -> Unknown:
    """An index, of which a loader asks for so many at least."""
    made = run.unknown("an index of a sampler", "int", "data")
    made.numbers = indexes.up_to(count)
    return offsets.drawn(made)  # a dataset is as long as it has samples


def _count(run: Interpreter) -> Unknown:
    return run.unknown("how long a dataset is", "int", "data")


def _known(size: Value) -> Dim:
    """A number of samples as a dim."""
    return size if is_int(size) else UNKNOWN


# -- samples ---------------------------------------------------------------------------------------------------------


def sample(run: Interpreter, dataset: Value, count: Value = None) -> Value:
    """What a dataset gives for an index that isn't known; ``count``: of which there are so many at least."""
    dataset = run.resolve(dataset)
    if isinstance(dataset, Instance):
        if dataset.cls.find("__getitem__") is not None and not dataset.cls.is_a(f"{_DATA}.IterableDataset"):
            asked = run.attribute(dataset, "__getitem__"), (_index(run, count),)
            return run.resolve(often.repeat(run, lambda: run.call(*asked)))
        inner = iteration.iterator(run, dataset)
        return run.unknown("a sample of a dataset") if inner is None else _any_item(run, inner)
    if isinstance(dataset, Tensor | List | tuple | range | Iterator):
        return _any_item(run, dataset)
    return run.unknown("a sample of a dataset that isn't known")


def _any_item(run: Interpreter, source: Value) -> Value:
    if isinstance(source, Tensor):
        return run.ask("Tensor.__getitem__", (source, _index(run)))
    found = run.items(source)
    return iteration.item(run, source) if found is None else branches.common_item(found, "which sample it is")


def row(run: Interpreter, dataset: Value, index: Value) -> Value:
    """``dataset[index]``."""
    return (
        run.resolve(run.call(run.attribute(dataset, "__getitem__"), (index,)))
        if isinstance(dataset, Instance)
        else (run.ask("Tensor.__getitem__", (dataset, index)) if isinstance(dataset, Tensor) else sample(run, dataset))
    )


# -- batches ---------------------------------------------------------------------------------------------------------


def collated(run: Interpreter, one: Value, size: Dim, *, tuples: bool = False) -> Value:
    """What ``default_collate`` makes of ``size`` samples such as this one; ``tuples``: tuples stay tuples."""
    one = run.resolve(one)

    def inner(value: Value) -> Value:
        return collated(run, value, size, tuples=tuples)

    if isinstance(one, Tensor):
        return carried.batch_of(one, TensorType(Shape((size, *one.type.shape.items)), one.type.dtype, one.type.device))
    if isinstance(one, str | bytes) or (isinstance(one, Unknown) and one.type == "str"):
        return List((one,) * size) if isinstance(size, int) and size <= _MOST_SAMPLES else List(None, one)
    kind = "int" if isinstance(one, Expr) else branches.type_name(one)
    if kind in _NUMBERS:
        made = gradients.mark(Tensor(TensorType(Shape((size,)), _NUMBERS[kind])), gradients.PLAIN)
        return carried.of_data(made)
    if isinstance(one, Dict):
        return Dict({k: inner(v) for k, v in one.cells.items()}, MISSING if one.rest is MISSING else inner(one.rest))
    if one is None and not tuples:
        message = "default_collate makes batches of tensors, arrays, numbers and texts, but it is given None"
        return guards.refuse(run, message, "a collate_fn of your own makes batches of the rest")
    if isinstance(one, Fields):
        return Fields(one.names, tuple(map(inner, one)))
    if isinstance(one, tuple):
        return tuple(map(inner, one)) if tuples else List(tuple(map(inner, one)))
    if isinstance(one, List) and one.items is not None:
        return List(tuple(map(inner, one.items)))
    if isinstance(one, Instance) and one.cls.metadata.get("tuple") and one.cls.fields is not None:
        made = Instance(one.cls)
        for name, _ in one.cls.fields:
            run.heap.write(made.cells, name, inner(one.cells[name]))
        return made
    return run.each(one, inner) if tensors.first_choice((one,)) else run.unknown("what samples become in a batch")


def converted(run: Interpreter, one: Value) -> Value:
    """What ``default_convert`` makes of a sample: arrays become tensors, in whatever they lie."""
    one = run.resolve(one)
    if isinstance(one, Tensor):
        return gradients.mark(Tensor(one.type), gradients.PLAIN) if one.array else one
    if isinstance(one, Dict):
        return Dict({k: converted(run, v) for k, v in one.cells.items()}, one.rest)
    if isinstance(one, tuple) and type(one) is tuple:
        return List(tuple(converted(run, v) for v in one))
    if isinstance(one, List) and one.items is not None:
        return List(tuple(converted(run, v) for v in one.items))
    return one


def _distinct(value: Value) -> Value:
    """The same once more, as another object: samples are changed apart."""
    if isinstance(value, Dict):
        return Dict({k: _distinct(v) for k, v in value.cells.items()}, value.rest)
    if isinstance(value, List):
        return List(value.items if value.items is None else tuple(map(_distinct, value.items)), value.item)
    return tuple(map(_distinct, value)) if type(value) is tuple else another(value)


def batch_of(run: Interpreter, one: Value, size: Dim, collate: Value, *, tuples: bool = False) -> Value:
    """A batch of ``size`` samples such as this one, by the program's ``collate_fn`` or torch's own."""
    if collate is None:
        return collated(run, one, size, tuples=tuples)
    few = isinstance(size, int) and size <= _MOST_SAMPLES
    if few and isinstance(size, int):
        rows = List(tuple(sizes.renamed(run, _distinct(one), {}) for _ in range(size)))
    else:
        rows = List(None, one)
    return run.call(collate, (rows,))


@model("simpletorch.data.collate")
def _collate(run: Interpreter, samples: Value) -> Value:
    return _default_collate(run, samples)


@model(f"{_DATA}.default_collate")
def _default_collate(run: Interpreter, batch: Value) -> Value:
    found = run.items(batch)
    one = iteration.item(run, batch) if found is None else branches.common_item(found, "which sample it is")
    return collated(run, one, run.some_size() if found is None else len(found))


@model(f"{_DATA}.default_convert")
def _default_convert(run: Interpreter, data: Value) -> Value:
    return converted(run, data)


# -- datasets --------------------------------------------------------------------------------------------------------


def _concatenated(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return run.call(run.program.library_class(f"{_DATA}.ConcatDataset"), (List(args),))


library_class(f"{_DATA}.Dataset", methods={"__add__": _concatenated})
library_class(f"{_DATA}.IterableDataset", (f"{_DATA}.Dataset",))


def _init_tensors(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    me, *given = args
    if kwargs:
        names = ", ".join(f"{name}=" for name in kwargs)
        message = f"TensorDataset takes tensors by position only, but it is given {names}"
        return guards.refuse(run, message, "TensorDataset(x, y)")
    run.heap.write(me.cells, "tensors", tuple(given))
    sizes = [
        (t, t.type.shape.dim(0)) for t in map(run.resolve, given) if isinstance(t, Tensor) and t.type.shape.min_rank
    ]
    for tensor, size in sizes[1:]:
        first, expected = sizes[0]
        if is_int(size) and is_int(expected) and run.same_size(expected, size) is False:
            operands = {"first": first, "other": tensor}
            reason = f"the tensors have one row for each sample, but the first has {expected} rows and another {size}"
            run.report(Report("TensorDataset", "shape", reason, operands))
            break
    return None


def _row_of_tensors(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    me, index = args
    given = run.items(run.attribute(me, "tensors"))
    if given is None:
        return run.unknown("a row of tensors that aren't known")
    return tuple(run.ask("Tensor.__getitem__", (t, index)) for t in given)


def _length_of_tensors(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = run.items(run.attribute(args[0], "tensors"))
    return (
        run.each(given[0], lambda v: length(run, v)) if given else run.unknown("how long a dataset is", "int", "data")
    )


library_class(
    f"{_DATA}.TensorDataset",
    (f"{_DATA}.Dataset",),
    {"__init__": _init_tensors, "__getitem__": _row_of_tensors, "__len__": _length_of_tensors},
)


def _init_digits(run: Interpreter, self: Value, train: Value = True) -> Value:
    """The pictures and their digits that come with the package."""
    count = {True: 1437, False: 360}.get(train, UNKNOWN) if isinstance(train, bool) else UNKNOWN
    images, targets = (
        carried.of_data(Tensor(TensorType(Shape((count, *sizes)), dtype)))
        for sizes, dtype in (((1, 8, 8), FLOAT32), ((), INT64))
    )
    run.heap.write(self.cells, "images", images)
    run.heap.write(self.cells, "targets", targets)
    return _init_tensors(run, (self, images, targets), {})


library_class(
    "simpletorch.data.Digits",
    (f"{_DATA}.TensorDataset",),
    {"__init__": _init_digits, "classes": tuple("0123456789")},
)


def _init_several(run: Interpreter, self: Value, datasets: Value) -> Value:
    found = run.items(datasets)
    held = List(None, iteration.item(run, datasets)) if found is None else List(found)
    run.heap.write(self.cells, "datasets", held)
    return None


def _sample_of_several(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return _any_of(run, args[0], lambda d: sample(run, d))


def _stream_of_several(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return Iterator(None, _sample_of_several(run, args, kwargs))


def _any_of(run: Interpreter, me: Instance, compute: Callable[[Value], Value]) -> Value:
    inside = run.attribute(me, "datasets")
    found = run.items(inside)
    if found is None:
        return compute(iteration.item(run, inside))
    return branches.common_item([compute(d) for d in found], "which dataset a sample comes from")


def _length_of_several(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    found = run.items(run.attribute(args[0], "datasets"))
    if found is None:
        return _count(run)
    out: Value = 0
    for dataset in found:
        out = run.operate("__add__", out, length(run, run.resolve(dataset)))
    return out


_SEVERAL: Final = {"__init__": _init_several, "__len__": _length_of_several}
library_class(f"{_DATA}.ConcatDataset", (f"{_DATA}.Dataset",), {**_SEVERAL, "__getitem__": _sample_of_several})
library_class(f"{_DATA}.ChainDataset", (f"{_DATA}.IterableDataset",), {**_SEVERAL, "__iter__": _stream_of_several})


def _init_stack(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    run.heap.write(args[0].cells, "datasets", Dict(kwargs) if kwargs else args[1:])
    return None


def _row_of_stack(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    me, index = args
    inside = run.resolve(run.attribute(me, "datasets"))
    if isinstance(inside, Dict):
        return Dict({k: row(run, run.resolve(d), index) for k, d in inside.cells.items()})
    found = run.items(inside)
    return run.unknown("a row of datasets") if found is None else tuple(row(run, run.resolve(d), index) for d in found)


library_class(f"{_DATA}.StackDataset", (f"{_DATA}.Dataset",), {"__init__": _init_stack, "__getitem__": _row_of_stack})


def _init_subset(run: Interpreter, self: Value, dataset: Value, indices: Value) -> Value:
    run.heap.write(self.cells, "dataset", dataset)
    run.heap.write(self.cells, "indices", indices)
    events.PART(run, dataset, self)
    return None


def _row_of_subset(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    dataset = run.attribute(args[0], "dataset")
    return run.each(dataset, lambda d: row(run, d, _index(run)))


def _length_of_subset(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    counted = args[0].state.get("length")
    return length(run, run.resolve(run.attribute(args[0], "indices"))) if counted is None else counted


library_class(
    f"{_DATA}.Subset",
    (f"{_DATA}.Dataset",),
    {"__init__": _init_subset, "__getitem__": _row_of_subset, "__len__": _length_of_subset},
)


@model(f"{_DATA}.random_split")
def _random_split(run: Interpreter, dataset: Value, lengths: Value, generator: Value = None) -> Value:
    wanted = run.items(lengths)
    if wanted is None:
        return List(None, _part(run, dataset, _count(run)))
    whole = run.each(dataset, lambda d: length(run, d))
    parts = tuple(_part(run, dataset, n) for n in _lengths(run, whole, tuple(map(run.resolve, wanted))))
    events.SPLIT(run, dataset, parts)
    return List(parts)


def _part(run: Interpreter, dataset: Value, count: Value) -> Instance:
    indices = List(None, _index(run))
    made = Instance(run.program.library_class(f"{_DATA}.Subset"))
    run.heap.write(made.cells, "dataset", dataset)
    run.heap.write(made.cells, "indices", indices)
    run.heap.write(made.state, "length", count)
    return made


def _lengths(run: Interpreter, whole: Value, wanted: tuple[Value, ...]) -> tuple[Value, ...]:
    """The lengths of the parts.

    Raises:
        Raised: they don't add up.
    """
    fractions = [w for w in wanted if isinstance(w, int | float)]
    if len(fractions) < len(wanted) or not isinstance(whole, int):
        return tuple(w if is_int(w) else _count(run) for w in wanted)
    if math.isclose(sum(fractions), 1) and sum(fractions) <= 1:
        counts = [math.floor(whole * f) for f in fractions]
        for i in range(whole - sum(counts)):
            counts[i % len(counts)] += 1
        return tuple(counts)
    odd = next((w for w in fractions if isinstance(w, float)), None)
    if odd is not None and not run.tries:
        run.report(tensors.no_int("random_split", "a length", odd))
        return tuple(map(int, fractions))
    if sum(fractions) != whole:
        if run.tries:
            raise Raised("ValueError", None, ("Exception", "BaseException"))
        reason = f"the lengths {', '.join(map(str, wanted))} add up to {sum(fractions)}, but there are {whole} samples"
        run.report(Report("random_split", "shape", reason, {}, None, whole, sum(fractions)))
    return wanted


# -- samplers --------------------------------------------------------------------------------------------------------


def _sampler(name: str, parameters: str, counted: str) -> None:
    """A sampler whose length is an argument, or the length of one."""

    def init(run: Interpreter, given: dict[str, Value]) -> Value:
        me = given.pop("self")
        for key, value in given.items():
            run.heap.write(me.cells, key, value)
        number = given.get("num_samples")
        if number is None and counted in given:
            number = run.each(given[counted], lambda v: length(run, v))
        run.heap.write(me.state, "length", number)
        if name == "SubsetRandomSampler":
            events.PART(run, "samplers", me)
        return None

    library_class(f"{_DATA}.{name}", (f"{_DATA}.Sampler",), {"__init__": signed(f"self, {parameters}", init)})


def _indices(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = args[0].cells.get("indices")  # of a `SubsetRandomSampler`, which may be given anything: lists of indices
    return Iterator(None, _index(run) if given is None else iteration.item(run, given))


def _length_of_sampler(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    found = args[0].state.get("length")
    return run.unknown("how long a sampler is", "int", "data") if found is None else found


def _nothing(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return None


library_class(f"{_DATA}.Sampler", methods={"__init__": _nothing, "__iter__": _indices, "__len__": _length_of_sampler})
_sampler("SequentialSampler", "data_source", "data_source")
_sampler("RandomSampler", "data_source, replacement=False, num_samples=None, generator=None", "data_source")
_sampler("SubsetRandomSampler", "indices, generator=None", "indices")
_sampler("WeightedRandomSampler", "weights, num_samples, replacement=True, generator=None", "weights")


def _distributed(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = by_name("self dataset num_replicas rank", args, kwargs)
    processes, rank = (run.resolve(given.get(name)) for name in ("num_replicas", "rank"))
    if type(processes) is int and type(rank) is int and not 0 <= rank < processes:
        message = f"DistributedSampler: rank is {rank}, but ranks go from 0 to {processes - 1}"
        guards.refuse(run, message, None, "ValueError", "tensor-option")
    return None


library_class(f"{_DATA}.DistributedSampler", (f"{_DATA}.Sampler",), {"__init__": _distributed, "set_epoch": _nothing})


def _init_batches(run: Interpreter, self: Value, sampler: Value, batch_size: Value, drop_last: Value) -> Value:
    for name, value in (("sampler", sampler), ("batch_size", batch_size), ("drop_last", drop_last)):
        run.heap.write(self.cells, name, value)
    return None


def _lists_of_indices(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    size = _full_size(run, args[0], args[0].cells.get("sampler"))
    few = isinstance(size, int) and size <= _MOST_SAMPLES
    return Iterator(None, List(tuple(_index(run) for _ in range(size))) if few else List(None, _index(run)))  # type: ignore[arg-type]


def _length_of_batches(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return _number_of_batches(run, args[0], args[0].cells.get("sampler"))


library_class(
    f"{_DATA}.BatchSampler",
    (f"{_DATA}.Sampler",),
    {"__init__": _init_batches, "__iter__": _lists_of_indices, "__len__": _length_of_batches},
)


# -- loaders ---------------------------------------------------------------------------------------------------------

_PARAMETERS: Final = (
    "self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0, collate_fn=None, "
    "pin_memory=False, drop_last=False, timeout=0, worker_init_fn=None, multiprocessing_context=None, generator=None, "
    "*, prefetch_factor=None, persistent_workers=False, pin_memory_device='', in_order=True"
)
_DEFAULTS: Final = {"dataset": None, "batch_size": 1, "sampler": None, "batch_sampler": None, "num_workers": 0,
                    "collate_fn": None, "pin_memory": False, "drop_last": False, "generator": None}  # fmt: skip


def _init_loader(run: Interpreter, asked: dict[str, Value]) -> Value:
    me = asked.pop("self")
    events.LOADER(run, asked["dataset"], asked)
    given = {**_DEFAULTS, **asked}
    for name, value in given.items():
        run.heap.write(me.cells, name, value)
    if given["batch_sampler"] is not None:
        run.heap.write(me.cells, "batch_size", None)
    return None


def _full_size(run: Interpreter, me: Instance, source: Value) -> Dim | None:
    """The samples of a full batch: all that there are, where these are fewer. None if there is no batch at all."""
    size = run.resolve(run.attribute(me, "batch_size"))
    total = _total(run, source)
    if isinstance(size, int) and isinstance(total, int) and total < size:
        return None if total == 0 or run.resolve(me.cells.get("drop_last")) is True else total
    return None if total == 0 else _known(size)


def _total(run: Interpreter, source: Value) -> Value:
    """How many samples there are."""
    source = run.resolve(source)
    if isinstance(source, Instance) and source.cls.find("__len__") is None:
        return run.unknown("how many samples there are", "int", "data")
    return run.each(source, lambda v: length(run, v))


def _number_of_batches(run: Interpreter, me: Instance, source: Value) -> Value:
    size, total = run.resolve(run.attribute(me, "batch_size")), _total(run, source)
    drops = run.resolve(run.attribute(me, "drop_last"))
    if size is None:
        return total
    if isinstance(size, int) and isinstance(total, int) and isinstance(drops, bool) and size > 0:
        return total // size if drops else -(-total // size)
    return run.unknown("how many batches there are", "int", "data")


def _source(run: Interpreter, me: Instance) -> Value:
    """What the length of a loader is counted by."""
    sampler = run.resolve(run.attribute(me, "sampler"))
    return run.attribute(me, "dataset") if sampler is None else sampler


def _length_of_loader(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    batches = run.resolve(run.attribute(args[0], "batch_sampler"))
    return _number_of_batches(run, args[0], _source(run, args[0])) if batches is None else _total(run, batches)


def _iterate(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    me = args[0]
    number = _length_of_loader(run, args, kwargs)
    count = number if isinstance(number, int) else None
    if count == 0:
        return Iterator(())
    last = None if count is None else _last_size(run, me, count)
    if count is not None and last is not None and count <= _FEW_BATCHES:
        made = Iterator((*(_batch(run, me) for _ in range(count - 1)), _batch(run, me, last)))
    else:
        made = Iterator(None, _batch(run, me), count)
    size = run.resolve(run.attribute(me, "batch_size"))
    if last is not None and isinstance(size, int) and last < size and count != 1:
        made.last = Last(lambda: _batch(run, me, last), last, size)
    return made


def _last_size(run: Interpreter, me: Instance, count: int) -> int | None:
    """How many samples the last batch has, where that is known."""
    if run.resolve(run.attribute(me, "batch_sampler")) is not None:
        return None
    size, total = run.resolve(run.attribute(me, "batch_size")), _total(run, _source(run, me))
    return min(size, total - (count - 1) * size) if isinstance(size, int) and isinstance(total, int) else None


def _least_samples(run: Interpreter, me: Instance) -> Value:
    """So many samples, and as many different ones, are in the first batch."""
    own = [run.resolve(run.attribute(me, name)) for name in ("sampler", "batch_sampler")]
    size, total = run.resolve(run.attribute(me, "batch_size")), _total(run, run.attribute(me, "dataset"))
    return min(size, total) if own == [None, None] and isinstance(size, int) and isinstance(total, int) else None


def _batch(run: Interpreter, me: Instance, last: int | None = None) -> Value:
    least, start = _least_samples(run, me), now()
    one = run.each(run.attribute(me, "dataset"), lambda d: sample(run, d, least))
    collate = run.resolve(run.attribute(me, "collate_fn"))
    batches = run.resolve(run.attribute(me, "batch_sampler"))
    size: Value
    if batches is not None:
        found = run.items(_any_item(run, batches)) if isinstance(batches, Instance | List | tuple) else None
        size = UNKNOWN if found is None else len(found)
    elif run.resolve(run.attribute(me, "batch_size")) is None:
        return converted(run, one) if collate is None else run.call(collate, (one,))
    else:
        size = _full_size(run, me, _source(run, me)) if last is None else last
    if collate is None and batches is None:
        shuffle = run.resolve(me.cells.get("shuffle"))
        if shuffle is True:
            _check_sizes(run, one, size, start)
        elif not shuffle and run.resolve(run.attribute(me, "sampler")) is None:
            _check_first(run, run.resolve(run.attribute(me, "dataset")), size)
    size = run.some_size() if size is UNKNOWN else size
    batch = batch_of(run, one, size, collate, tuples=bool(_metadata(me.cls, "tuples")))
    return sequences.loaded(run, batch) if collate is None else batch


def _check_sizes(run: Interpreter, one: Value, count: Value, start: int) -> None:
    """Samples of different sizes can't be stacked, ``count`` of them, if they were drawn since ``start``."""
    if not isinstance(count, int) or count < _ENOUGH or run.entry:
        return
    for value in one if isinstance(one, tuple) else one.cells.values() if isinstance(one, Dict) else (one,):
        kind = value.type if isinstance(value, Tensor) else TensorType()
        for i, size in enumerate(kind.shape.items):
            if isinstance(size, Expr) and len(variables(size)) == 1 and sizes.varies(run, size, start):
                _differ(run, f"dim {i} is {size} of {kind}")
                return


def _check_first(run: Interpreter, source: Value, count: Value) -> None:
    """The first samples of a list, which come in their order, can't be stacked where their sizes differ."""
    found = run.items(source) if type(source) in (List, tuple) and not run.entry else None
    if found is None or type(count) is not int:
        return
    rows = [row if type(row) is tuple else (row,) for row in map(run.resolve, found[:count])]
    for parts in zip(*rows, strict=False):
        kinds = [part.type for part in map(run.resolve, parts) if type(part) is Tensor]
        by_shape = {kind.shape: kind for kind in kinds if all(type(d) is int for d in kind.shape.items)}
        if len(by_shape) > 1:
            _differ(run, " and ".join(map(str, [*by_shape.values()][:2])))
            return


def _differ(run: Interpreter, how: str) -> None:
    reason = f"the samples of a batch have different sizes: {how}"
    hint = "a collate_fn that pads them, such as with torch.nn.utils.rnn.pad_sequence"
    run.report(Report("default_collate", "shape", reason, {}, hint))


_ENOUGH: Final = 3  # samples, of which hardly ever all are of one size


def _metadata(cls: Class, name: str) -> Any:
    return next((c.metadata[name] for c in cls.mro if name in c.metadata), None)


def _builder(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``DataLoader.builder()``, which makes loaders of the class."""
    return run.call(run.program.library(run, "simpletorch.data.LoaderBuilder"), args)


_LOADER: Final = {"__init__": signed(_PARAMETERS, _init_loader), "__iter__": _iterate, "__len__": _length_of_loader}
library_class(f"{_DATA}.DataLoader", methods=_LOADER)
library_class(
    "simpletorch.data.DataLoader",
    (f"{_DATA}.DataLoader",),
    {"builder": StaticMethod(Native("DataLoader.builder", _builder), of_class=True)},
    tuples=True,
)


@model(f"{_DATA}.get_worker_info")
def _worker(run: Interpreter) -> Value:
    return run.unknown("the worker that reads the data")
