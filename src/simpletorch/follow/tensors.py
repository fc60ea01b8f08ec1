"""Tensors: operations asked of their rules, what a refusal becomes, and what is learnt about a tensor by using it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final, final

from simpletorch.follow import branches, guards, iteration
from simpletorch.follow.libraries.harmless import OF_NUMBERS
from simpletorch.follow.marks import carried, devices, gradients, layout, sequences, sparsity, spread, streams
from simpletorch.follow.marks.mark import Call
from simpletorch.follow.memory import answers
from simpletorch.follow.memory.answers import Answer
from simpletorch.follow.mistakes import events
from simpletorch.follow.model import members
from simpletorch.follow.numbers import between, indexes, offsets, sizes
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.values import (
    BoundNative,
    Choice,
    Class,
    Dict,
    Fields,
    Function,
    Instance,
    Iterator,
    List,
    Method,
    Namespace,
    Native,
    Set,
    Tensor,
    Unknown,
    Value,
    View,
    as_tuple,
    is_known,
)
from simpletorch.rules import (
    ANYTHING,
    RULES,
    Device,
    Group,
    Many,
    Named,
    Packed,
    Report,
    Scalar,
    TensorType,
    infer,
)
from simpletorch.rules import Value as RuleValue
from simpletorch.rules.core.autocast import Autocast
from simpletorch.rules.core.dtype import BOOL, COMPLEX64, FLOAT32, INT64, DType
from simpletorch.rules.core.values import Sizes
from simpletorch.shapes import ANY_REST, UNKNOWN, Expr, Item, Rest, Shape

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from simpletorch.follow.interpreter import Interpreter

__all__ = [
    "JOINS",
    "ask",
    "autocast",
    "by_rule",
    "first_choice",
    "from_rule",
    "holds_choice",
    "is_odd",
    "made",
    "narrow",
    "narrow_rank",
    "no_int",
    "not_none",
    "operands",
    "settle",
    "to_rule",
    "type_of_many",
]

_PYTHON_DTYPES: Final = {"float": FLOAT32, "int": INT64, "bool": BOOL, "complex": COMPLEX64}
_UNKNOWN_KINDS: Final[dict[str, RuleValue]] = {
    "int": UNKNOWN,
    "float": Scalar("float"),
    "bool": Scalar("bool"),
    "complex": Scalar("complex"),
    "device": Device(""),
}


_SCALAR: Final = TensorType(Shape(()))
_SAME: Final = (int, float, complex, str, bool, Expr, DType, Device, Group, Many, type(...), type(None))
_EXACTLY: Final = frozenset(_SAME)


def to_rule(value: Value) -> Any:
    """The value as the rules have it; ANYTHING where they have no word for it."""
    kind = type(value)
    if kind is Tensor:
        return _number(value.type) if value.array else value.type
    if kind in _EXACTLY:
        return value
    if isinstance(value, Unknown):
        if value.type is None and value.fact is not None and value.fact[0] == ".device":
            return Device("")  # what has this name is no dtype, whatever it is of
        return _UNKNOWN_KINDS.get(value.type or "", ANYTHING)
    if isinstance(value, slice):
        return slice(to_rule(value.start), to_rule(value.stop), to_rule(value.step))
    if isinstance(value, tuple):
        return (Sizes if type(value) is Sizes else tuple)(map(to_rule, value))
    if isinstance(value, List):  # of a dict's keys torch takes nothing
        return ANYTHING if value.items is None or isinstance(value, View) else tuple(map(to_rule, value.items))
    if isinstance(value, _SAME):
        return value
    if isinstance(value, range):
        return tuple(value) if len(value) < 1_000 else ANYTHING
    if isinstance(value, Iterator):
        return ANYTHING if value.items is None else tuple(map(to_rule, value.items))
    if isinstance(value, Class) and value.module == "builtins":
        return _PYTHON_DTYPES.get(value.name, ANYTHING)
    if isinstance(value, Instance) and (isinstance(value.native, Packed) or _is_layer(value)):
        return value.native
    return ANYTHING


def _is_layer(value: Instance) -> bool:
    """Whether an object is one of torch's layers as it was made."""
    is_as_made = not value.state.get("changed") and not value.state.get("open")
    return is_as_made and members.is_layer_of_torchs(value)


def autocast(run: Interpreter) -> Autocast | None:
    """The autocast that is in force, uncertain where it depends on an unknown condition whether, or which."""
    found = run.modes.get("autocast")
    if found is None:
        return None
    found = run.resolve(found)
    return found if found is None or isinstance(found, Autocast) else Autocast(certain=False)


def operands(values: tuple[Value, ...]) -> tuple[Any, ...]:
    """Several values as rules have them."""
    return tuple(map(to_rule, values))


def made(run: Interpreter, type: TensorType) -> Tensor:
    """A new tensor; Float32 is only known where nobody has set another default dtype."""
    if run.modes.get("other default dtype") and type.dtype in (FLOAT32, COMPLEX64):
        type = replace(type, dtype=None)
    new = Tensor(type)
    if run.order is not None:
        streams.mark(run, new)
    return new


def _number(kind: TensorType) -> RuleValue:
    """What torch makes of an array where it wants a number."""
    category = None if kind.dtype is None or kind.shape.rank != 0 else kind.dtype.category
    return _UNKNOWN_KINDS.get(category or "", ANYTHING)


def from_rule(run: Interpreter, value: Any, what: str) -> Value:
    """A rule's answer as the program has it."""
    if isinstance(value, TensorType):
        return made(run, value)
    if value is ANYTHING:
        made_of = run.unknown(f"what {what} gives")
        made_of.without_tensors = f".{what}" in OF_NUMBERS
        return made_of
    if value is UNKNOWN:
        return run.unknown(f"a number that {what} gives", "int", "data")
    if isinstance(value, Scalar):
        return run.unknown(f"a number that {what} gives", value.type, "data")
    if isinstance(value, tuple):
        return tuple(from_rule(run, v, what) for v in value)
    if isinstance(value, Named):
        return Fields(tuple(k for k, _ in value.fields), tuple(from_rule(run, v, what) for _, v in value.fields))
    if isinstance(value, Many):
        return as_tuple(List(None, made(run, value.item)))
    if isinstance(value, Packed):
        return Instance(run.program.library_class("torch.nn.utils.rnn.PackedSequence"), value)
    return value


def first_choice(args: tuple[Value, ...]) -> Choice | None:
    """The first of the arguments, or of the items of a list among them, that is a choice."""
    for a in args:
        if isinstance(a, Choice):
            return a
        if type(a) is tuple and (found := first_choice(a)) is not None:
            return found
        if isinstance(a, List) and a.items is not None and (found := first_choice(a.items)) is not None:
            return found
    return None


def holds_choice(values: Iterable[Value]) -> bool:
    """Whether one of these values, or of the items of lists and tuples among them, is a choice."""
    for value in values:
        kind = type(value)
        if kind is Tensor:
            continue
        if kind is Choice:
            return True
        if kind is List:
            if holds_choice((value.item,) if value.items is None else value.items):
                return True
        elif isinstance(value, tuple) and holds_choice(value):
            return True
    return False


def settle(run: Interpreter, value: Value) -> Value:
    """The value with the choices in it that are decided here."""
    if isinstance(value, Choice):
        return branches.resolve(run, value)
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(settle(run, v) for v in value)
    if isinstance(value, List) and value.items is not None and holds_choice(value.items):
        return List(tuple(settle(run, v) for v in value.items))
    return value


def not_none(value: Value) -> Value:
    """The tensor that an operation is of, or those that it joins: who asks for it knows that there is one."""
    if isinstance(value, Choice):
        there = [v for v in (value.when_true, value.when_false) if v is not None]
        return there[0] if len(there) == 1 else value
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(map(not_none, value))
    if isinstance(value, List) and any(isinstance(v, Choice) for v in value.items or (value.item,)):
        return List(None if value.items is None else tuple(map(not_none, value.items)), not_none(value.item))
    return value


def ask(run: Interpreter, name: str, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """What the operation of this public name gives; a refusal is reported."""
    if holds_choice(args) or (kwargs and holds_choice(kwargs.values())):
        args = tuple(settle(run, a) for a in args)
        kwargs = {k: settle(run, v) for k, v in kwargs.items()}
        args = (not_none(args[0]), *args[1:]) if args else args
        choice = first_choice((*args, *kwargs.values()))
        if choice is not None:
            return branches.distribute(run, choice, lambda _: ask(run, name, args, kwargs))
    for a in args:
        if type(a) is Unknown:
            if (found := sparsity.operation(run, name, args, kwargs)) is not None:
                return found
            break
    for a in args:
        if type(a) is Tensor and a.array:
            is_numpys = name.startswith("Tensor.") and type(args[0]) is Tensor and args[0].array
            for listener in _operation(name).given if name in RULES and not is_numpys else ():
                if (refused := listener(run, args, kwargs)) is not None:
                    return refused
            return run.program.array_operation(run, name, args, kwargs)
    return by_rule(run, name, args, kwargs)


@final
class _Operation:
    """What is asked of an operation each time it is met, by its public name."""

    __slots__ = (
        "converts",
        "counts",
        "done",
        "first",
        "given",
        "indexes",
        "is_arithmetic",
        "is_checked",
        "is_in_place",
        "iterates",
        "makes_samples",
        "names_sizes",
        "short",
        "takes_sizes",
        "writes",
    )

    def __init__(self, name: str) -> None:
        self.short = short = _short(name)
        self.indexes = name in ("Tensor.__getitem__", "Tensor.__setitem__")
        self.is_in_place = name.startswith("Tensor.") and short.endswith("_") and not short.startswith("__")
        self.is_arithmetic = short.endswith(("add__", "sub__", "mul__", "truediv__"))
        self.is_checked = indexes.is_checked(name) or layout.writes(name)
        self.names_sizes = name in sizes.MAKERS
        self.takes_sizes = name in _TAKES_SIZES
        self.iterates = short == "pad_sequence"
        rule = RULES[name]
        positional = rule.binder.positional
        tensors = next((i for i, n in enumerate(positional) if n not in rule.tensor_parameters), len(positional))
        self.first = positional[: max(tensors, short in JOINS)]
        self.counts = sizes.counts(short)
        self.converts = name in _CONVERSIONS
        self.writes = indexes.writes(name)  # numbers, or says what they are
        self.makes_samples = name in sequences.MAKERS
        self.given = events.OPERANDS.of(name).listeners
        self.done = events.OPERATION.of(name).listeners


_operations: Final[dict[str, _Operation]] = {}


def _operation(name: str) -> _Operation:
    if name not in _operations:
        _operations[name] = _Operation(name)
    return _operations[name]


_ITERABLES: Final = (Tensor, Iterator, View, Set, Dict, Instance)


def _gone_over(run: Interpreter, many: Value) -> Value:
    """The list that an operation makes of any iterable of tensors."""
    if not isinstance(many, _ITERABLES) or (isinstance(many, Tensor) and many.type.shape.rank == 0):
        return many
    given = iteration.check(run, many)
    found = run.items(given)
    return List(None, iteration.item(run, given)) if found is None else List(found)


def by_rule(run: Interpreter, name: str, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """What torch's operation gives, of values that have no choice left in them."""
    operation = _operations.get(name)
    if operation is None:
        if name not in RULES:
            return run.unknown(f"what {name} gives (it has no rule)")
        operation = _operation(name)
    if kwargs:  # ``torch.mm(input=a, mat2=b)``: what follows looks for operands by position
        kwargs = dict(kwargs)
        while len(args) < len(operation.first) and operation.first[len(args)] in kwargs:
            args = (*args, kwargs.pop(operation.first[len(args)]))
    if operation.iterates and args:
        args = (_gone_over(run, args[0]), *args[1:])
    first = args[0] if args else None
    for listener in operation.given:
        if (refused := listener(run, args, kwargs)) is not None:
            return refused
    if type(first) is List and first.items is None and isinstance(run.resolve(first.item), Tensor):
        return _of_many(run, name, first, args[1:], kwargs)
    if operation.indexes:
        args = (args[0], offsets.placed(args[1]), *args[2:])
    if operation.takes_sizes:
        for one in _sizes_given(operation.short, name, args):
            if is_no_size(one):
                return run.report(no_int(name, "a size", one))
    if run.order is not None:
        streams.check(run, name, (*args, *kwargs.values()))
    if run.spreads:
        spread.check(run, name, args, kwargs)
    if operation.names_sizes:
        args, kwargs = sizes.all_named(run, name, args), {k: sizes.named(run, v) for k, v in kwargs.items()}
    given, named = operands(args), {k: to_rule(v) for k, v in kwargs.items()} if kwargs else {}
    if operation.is_arithmetic and ANYTHING in given:
        given = tuple(_SCALAR if isinstance(v, Unknown) and v.scalar else g for v, g in zip(args, given, strict=True))
    if operation.indexes and isinstance(args[1], List | range):
        given = (given[0], (given[1],), *given[2:])  # x[[0, 1]] takes rows, x[0, 1] an element: rules know tuples only
    cast = None if run.modes.get("autocast") is None else autocast(run)
    known: Answer | None = None
    if not run.symbols and not run.free:  # `Interpreter.is_plain`
        what = name if cast is None else (name, cast)
        known = answers.known(what, given, named, lambda: infer(name, given, named, autocast=cast))
        result = known.result
    else:
        result = run.adapting(lambda: infer(name, given, named, autocast=cast), args)
    if isinstance(result, Report) and devices.is_doubtful(run, result, (*args, *kwargs.values())):
        result = infer(name, devices.untold(given), {k: devices.untold(v) for k, v in named.items()}, autocast=cast)
        known = None
    if name == "Tensor.__getitem__":
        result = offsets.unplaced(result)
    if operation.counts and (sized := sizes.counted(run, operation.short, args, kwargs, result)) is not result:
        result, known = sized, None
    if type(result) is TensorType and UNKNOWN in result.shape.items and not operation.is_in_place:
        sized = sizes.with_new(run, (*args, *kwargs.values()), result)
        result, known = sized, known if sized is result else None
    if run.takers and not isinstance(result, Report) and (_is_open(result) or _may_fail(name, args, kwargs)):
        asks = any(isinstance(v, Instance | Class) for v in args)  # what its methods raise isn't torch's
        guards.may_raise(run, guards.ANY if asks else guards.OF_TENSORS)
    if isinstance(result, Report):
        found = _reported(run, result, args, kwargs)
        return _as_asked(name, args, given) or found
    if result is ANYTHING and (asked := _as_asked(name, args, given)) is not None:
        return asked
    if operation.is_checked or "out" in kwargs or "inplace" in kwargs:
        misfit = indexes.check(name, args, kwargs) or layout.check(name, args, kwargs)
        if misfit is not None:
            run.report(misfit)
    if operation.converts and _changes_nothing(args, kwargs, result):
        return first
    if operation.is_in_place or kwargs:
        given_back = _in_place(run, name, args, kwargs, result)
    else:
        given_back = from_rule(run, result, operation.short)
    if operation.writes or kwargs or not indexes.holds_none(given_back):
        indexes.follow(run, name, args, kwargs, given_back)
    if type(given_back) is Tensor and (
        operation.writes or given_back is first or (type(first) is Tensor and first.is_written_out)
    ):
        indexes.note_written_out(name, args, given_back)
    gradients.follow(run, name, args, kwargs, given_back)
    _mark(run, known, name, args, kwargs, given_back)
    if operation.makes_samples:
        sequences.made(run, name, given_back)
    for listen in operation.done:
        listen(run, args, kwargs, given_back)
    return given_back


_CONVERSIONS: Final = frozenset(
    f"Tensor.{name}" for name in ("to", "type", "float", "double", "half", "bfloat16", "int", "long", "short", "bool")
)


def _changes_nothing(args: tuple[Value, ...], kwargs: Mapping[str, Value], result: Any) -> bool:
    """``x.float()`` of a Float32 is ``x`` itself."""
    tensor = args[0]
    if kwargs or type(tensor) is not Tensor or not isinstance(result, TensorType) or result.dtype is None:
        return False
    return all(isinstance(a, DType) for a in args[1:]) and result.dtype == tensor.type.dtype


def _mark(
    run: Interpreter,
    known: Answer | None,
    name: str,
    args: tuple[Value, ...],
    kwargs: dict[str, Value],
    result: Value,
) -> None:
    """Results get their marks: those that are remembered with the answer, or what each mark says."""
    key: list[Any] = [run.places]
    operands = (*args, *kwargs.values()) if kwargs else args
    if known is None or run.spreads or not answers.marks(operands, key, run.moved):
        known = None
    elif answers.recall(known, tuple(key), result):
        return
    before, call = run.told, Call(name, args, kwargs, result)
    carried.of_operation(run, call)
    if known is not None and before == run.told and carried.follows_alone(run, call):
        answers.keep(known, tuple(key), result, operands)


JOINS: Final = frozenset({
    "cat", "concat", "concatenate", "stack", "hstack", "vstack", "dstack", "column_stack", "pad_sequence",
})  # fmt: skip


def _short(name: str) -> str:
    return name.rpartition(".")[2]


_BY_CONTENT: Final = {
    "cholesky", "cross_entropy", "embedding", "gather", "index_add", "index_copy", "index_put", "index_select", "inv",
    "inverse", "item", "linalg", "multinomial", "nll_loss", "one_hot", "scatter", "scatter_add", "solve", "take",
    "take_along_dim", "tolist", "view",
}  # fmt: skip
"""What may fail for what tensors hold, or for how it lies in memory, though all shapes fit."""


_PRODUCTS: Final = {
    "matmul",
    "__matmul__",
    "__rmatmul__",
    "mm",
    "bmm",
    "mv",
    "dot",
    "addmm",
    "baddbmm",
    "einsum",
    "conv",
}


@cache
def _parts(name: str) -> frozenset[str]:
    """The words of an operation's name, without the underscore of what works in place."""
    return frozenset(part.rstrip("_") if not part.startswith("__") else part for part in name.split("."))


def _is_open(result: Any) -> bool:
    """Whether a rule doesn't say what it gives."""
    return result is ANYTHING or (isinstance(result, TensorType) and result.shape.rank is None)


def _reported(run: Interpreter, result: Report, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """A refusal; where torch may refuse the class of an argument first, it isn't known with which exception."""
    try:
        return run.report(result)
    except Raised:
        if any(map(is_odd, (*args, *kwargs.values()))):
            raise Raised("", None, ("Exception", "BaseException")) from None
        raise


def _may_fail(name: str, args: tuple[Value, ...], kwargs: dict[str, Value]) -> bool:
    parts = _parts(name)
    if parts & _BY_CONTENT:
        return True
    if parts & _PRODUCTS and not all(a.type.dtype in (FLOAT32, INT64) for a in args if isinstance(a, Tensor)):
        return True  # not every device has them for every dtype
    if name == "Tensor.__getitem__" and (not is_known(args[1]) or _slices_oddly(args[1])):
        return True
    if any(map(is_odd, (*args, *kwargs.values()))):
        return True
    if name == "Tensor.__setitem__" and not isinstance(args[2], Tensor | int | float):
        return True
    if parts & _DIVISIONS and any(type(v) is int and v == 0 for v in args):
        return True
    return not guards.is_sure((*args, *kwargs.values()))


def _slices_oddly(index: Value) -> bool:
    """Whether an index has a slice of something else than numbers."""
    parts = index if isinstance(index, tuple) else (index,)
    bounds = [b for p in parts if isinstance(p, slice) for b in (p.start, p.stop, p.step)]
    return not all(b is None or isinstance(b, int) for b in bounds)


def is_odd(value: Value) -> bool:
    """Whether torch may refuse an argument for its class, or because it is too large."""
    return isinstance(value, _NO_OPERANDS) or value is NotImplemented or (type(value) is int and abs(value) >= 1 << 63)


_NO_OPERANDS: Final = (
    Dict,
    Set,
    Instance,
    Iterator,
    Class,
    Function,
    View,
    range,
    bytes,
    Namespace,
    Native,
    BoundNative,
    Method,
)
_DIVISIONS: Final = frozenset(
    {"__floordiv__", "__mod__", "__ifloordiv__", "__imod__", "floor_divide", "remainder", "fmod", "div"}
)
_MAKERS: Final = frozenset({f"torch.{name}" for name in ("zeros", "ones", "empty", "rand", "randn")})
_TAKES_SIZES: Final = (
    _MAKERS
    | {f"Tensor.{name}" for name in ("view", "reshape", "expand", "repeat", "new_zeros", "split", "chunk")}
    | {"torch.reshape", "torch.split", "torch.chunk"}
)


def _sizes_given(short: str, name: str, args: tuple[Value, ...]) -> tuple[Value, ...]:
    sizes = args if name in _MAKERS else args[1:2] if short in ("split", "chunk") else args[1:]
    first = sizes[0] if len(sizes) == 1 else None
    return tuple(first) if isinstance(first, tuple) else (first.items or ()) if isinstance(first, List) else sizes


def is_no_size(value: Value) -> bool:
    """Whether a value surely can't be one size: it is no int, and no tensor of one."""
    if isinstance(value, Tensor):
        count = value.type.shape.numel()
        return type(count) is int and count != 1
    kind = type(value)
    return branches.type_name(value) in ("float", "str") or value is None or kind in (BoundNative, Sizes)


def no_int(name: str, what: str, value: Value) -> Report:
    """The report that something else stands where a size must: mostly a float."""
    hint: str | None = "divide with //, or use int()"
    shown = value if isinstance(value, float) else "a float"
    if isinstance(value, BoundNative):
        shown, hint = f"the method {value.name}", f"call it: {value.name}()"
    elif isinstance(value, Sizes):
        shown, hint = f"the shape {value}", "unpack it: *shape"
    elif isinstance(value, Tensor):
        shown, hint = f"a tensor, {value.type}", None
    elif value is None or branches.type_name(value) == "str":
        shown, hint = repr(value) if is_known(value) else "a text", None
    return Report(name.rpartition(".")[2], "shape", f"{what} is {shown}, but it must be an int", {}, hint)


def _as_asked(name: str, args: tuple[Value, ...], given: tuple[Any, ...]) -> Tensor | None:
    """What a ``view`` gives whose sizes are chosen so that it fits."""
    sizes = given[1:] if len(given) != 2 or not isinstance(given[1], tuple) else given[1]
    symbolic = any(isinstance(s, Expr) for s in sizes) and all(
        isinstance(s, Expr) or (isinstance(s, int) and s > 0) for s in sizes
    )
    if name not in ("Tensor.view", "Tensor.reshape") or not symbolic or not isinstance(args[0], Tensor):
        return None
    return Tensor(replace(args[0].type, shape=Shape(tuple(sizes)), is_parameter=False))


def _of_many(run: Interpreter, name: str, many: List, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``torch.cat`` and its like of an unknown number of tensors: what the results for two and three have in common."""
    item = run.resolve(many.item)
    first, second = found = [by_rule(run, name, ((item,) * n, *args), kwargs) for n in (2, 3)]
    type_ = type_of_many(name, many, found)
    if type_ is not None:
        return Tensor(sizes.with_new(run, (many, *args), type_))
    return first if first is second else run.unknown(f"what {name} of an unknown number of tensors gives")


def type_of_many(name: str, many: Value, found: Sequence[Value]) -> TensorType | None:
    """The type of what an operation makes of an unknown number of tensors.

    Args:
        name: the operation's.
        many: the collection; of it may be known how long it is.
        found: what the operation makes of two of its items, and of three.
    """
    first, second = found
    if not isinstance(first, Tensor) or not isinstance(second, Tensor):
        return None
    size, two, three = between.count(many), first.type.shape, second.type.shape
    if _short(name) in JOINS and size is not None and two.is_exact and two.rank == three.rank:
        pairs = zip(two.dims, three.dims, strict=True)
        return replace(first.type, shape=Shape(tuple(between.extended(size, *p) for p in pairs)))
    return branches.common_type(first.type, second.type)


def _in_place(run: Interpreter, name: str, args: tuple[Value, ...], kwargs: dict[str, Value], result: Any) -> Value:
    """Operations that write give the tensor that they wrote to."""
    out = kwargs.get("out")
    method = name.rpartition(".")[2]
    written = out if isinstance(out, Tensor) else None
    if written is None and name.startswith("Tensor.") and method.endswith("_") and not method.startswith("__"):
        written = args[0] if isinstance(args[0], Tensor) else None
    if kwargs.get("inplace") is True and isinstance(args[0], Tensor):
        written = args[0]
    if written is None or not isinstance(result, TensorType):
        return from_rule(run, result, method)
    kept = replace(result, is_parameter=written.type.is_parameter)
    if kept != written.type:
        run.heap.write(written.cells, "type", kept)
    return written


# -- what using a tensor says about it -------------------------------------------------------------------------------


def narrow_rank(run: Interpreter, value: Tensor, rank: Value) -> None:
    """The tensor has this many dims from here on."""
    shape = value.type.shape
    if not isinstance(rank, int) or shape.is_exact or rank < shape.min_rank:
        return
    items = (*shape.head, *(UNKNOWN,) * (rank - shape.min_rank), *shape.tail)
    run.heap.learn(value.cells, replace(value.type, shape=Shape(items)))


def narrow(run: Interpreter, value: Tensor, demanded: Shape, most: int | None = None) -> None:
    """Who gets on after a layer took the tensor had one of this shape: what wasn't known of it is known now.

    Args:
        run: the interpreter.
        value: the tensor.
        demanded: what the layer takes.
        most: the largest number of dims that it takes.
    """
    shape = value.type.shape
    if not shape.is_exact and shape.min_rank == most:
        shape = Shape((*shape.head, *shape.tail))
    known = _narrowed(shape, demanded)
    if known is not None and known != value.type.shape:
        run.heap.learn(value.cells, replace(value.type, shape=known))


def _narrowed(shape: Shape, demanded: Shape) -> Shape | None:
    if shape.is_exact:
        if demanded.min_rank > len(shape.items):
            return None
        items = list(shape.items)
        for i, d in enumerate(reversed(demanded.tail), 1):
            items[-i] = _better(items[-i], d)
        if demanded.is_exact:
            return Shape(tuple(items)) if len(items) == len(demanded.items) else None
        for i, d in enumerate(demanded.head):
            items[i] = _better(items[i], d)
        return Shape(tuple(items))
    if demanded.is_exact and demanded.min_rank >= shape.min_rank and not shape.head and not shape.tail:
        return demanded
    if not demanded.is_exact and (not shape.head or len(shape.tail) >= len(demanded.tail)):
        tail: list[Item] = list(demanded.tail)
        for i, d in enumerate(reversed(shape.tail), 1):
            if i <= len(tail):
                tail[-i] = _better(d, tail[-i])
            else:
                tail.insert(0, d)
        return Shape((*shape.head, ANY_REST, *tail))
    return None


def _better(own: Item, other: Item) -> Item:
    return other if own is UNKNOWN or isinstance(own, Rest) else own
