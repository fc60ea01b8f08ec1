"""The table of rules: an operation's public torch name leads to the one function that knows its shapes and dtypes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, replace
from functools import cache, cached_property, lru_cache
from typing import Any, ClassVar, Final, TypeVar, dataclass_transform

from simpletorch.rules.core.autocast import Autocast, any_float, cast
from simpletorch.rules.core.binding import Binder
from simpletorch.rules.core.cards import PLAIN, Card
from simpletorch.rules.core.dtype import FLOAT32, DType
from simpletorch.rules.core.index import FUNCTIONS, LAYERS
from simpletorch.rules.core.mismatch import CannotTell, Kind, Mismatch, Report
from simpletorch.rules.core.table import Table
from simpletorch.rules.core.trials import fits, most_fitting
from simpletorch.rules.core.values import (
    ANY_TENSOR,
    ANYTHING,
    Device,
    Hashed,
    Many,
    Named,
    TensorType,
    Value,
    as_device,
)
from simpletorch.shapes import UNKNOWN, Shape, same

__all__ = [
    "MODULES",
    "RULES",
    "ModuleRule",
    "Rule",
    "answer",
    "card_of",
    "field_names",
    "forward_rule",
    "infer",
    "infer_module",
    "module",
    "new_module",
    "old_reduction",
    "parameters",
    "prepared",
    "record",
    "rule",
    "spoken_name",
    "try_hint",
]

R = TypeVar("R", bound=Callable[..., Any])
T = TypeVar("T")
M = TypeVar("M", bound="type[ModuleRule]")


@dataclass(frozen=True)
class Rule:
    """One operation: its names, and the pure function that computes the result's type."""

    names: tuple[str, ...]
    function: Callable[..., Value]
    moves: bool = False  # whether operands may be on different devices: creation, .to(), indexing
    card: Card = PLAIN

    @cached_property
    def signature(self) -> inspect.Signature:
        """The parameters, named as torch names them."""
        return inspect.signature(self.function)

    @cached_property
    def binder(self) -> Binder:
        """The binder that finds the parameter for each argument."""
        return Binder.of(self.signature)

    @cached_property
    def tensor_parameters(self) -> frozenset[str]:
        """The parameters that must be tensors: an unknown argument is taken to be an unknown tensor there."""
        # the annotation is a text where a file has `from __future__ import annotations`
        return frozenset(
            name for name, p in self.signature.parameters.items() if p.annotation in ("TensorType", TensorType)
        )

    @property
    def sentence(self) -> str:
        """The shape rule in one line: the first line of the function's docstring."""
        return (inspect.getdoc(self.function) or "").partition("\n")[0]


RULES: Final[Table[Rule]] = Table(FUNCTIONS)
MODULES: Final[Table[type[ModuleRule]]] = Table(LAYERS)


@cache
def card_of(name: str) -> Card:
    """The card of an operation, by any of its names. One without a rule has that of most operations."""
    entry = RULES.get(name)
    return (PLAIN if entry is None else entry.card).spelled(name)


def rule(*names: str, moves: bool = False, card: Card = PLAIN) -> Callable[[R], R]:
    """Register a rule under public torch names: ``"torch.cat"``, ``"Tensor.view"``, ``"torch.nn.functional.relu"``.

    The function's parameters have torch's names and defaults. It gets values (see `values`), answers a value,
    raises `Mismatch` with a short reason, or `CannotTell`. A parameter annotated ``TensorType`` is always a tensor.
    Devices are seen to here: operands must agree, and the result is where they are, unless the rule ``moves`` data.
    The ``card`` says what the operations do beside that; one of several names is spelled as `Card.spelled` reads it.
    """

    def register(function: R) -> R:
        entry = Rule(names, function, moves, card)
        for name in names:
            if RULES.is_read(name):
                raise ValueError(f"two rules for {name}")
            RULES[name] = entry
        return function

    return register


@dataclass_transform(frozen_default=True)
def record(cls: type[T]) -> type[T]:
    """A `ModuleRule` as a frozen dataclass, made in a fraction of the time: mypy starts with some 150 of them.

    `ModuleRule` has once the methods that `dataclass` would compile for each class; mypy sees that nothing is assigned.
    One without fields of its own has its base's constructor.
    """
    if "__dataclass_fields__" in vars(cls.__base__) and not inspect.get_annotations(cls):
        return cls
    if cls.__doc__ is None:
        cls.__doc__ = cls.__name__  # else `dataclass` writes one, and reads the signature for it: half of its time
    return dataclass(eq=False, repr=False)(cls)


@record
class ModuleRule(Hashed):
    """A ``torch.nn`` module class: its fields are the constructor arguments that decide shapes, under torch's names.

    The fields are, in this order, the type parameters that the class has for the checker. A field's value is `ANYTHING`
    where it isn't known.
    """

    # by this mypy knows a dataclass that a decorator of our own has made
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    names: ClassVar[tuple[str, ...]] = ()
    takes_parameters_dtype: ClassVar[tuple[str, ...]] = ()
    """The operands that torch refuses if their dtype isn't that of the parameters."""
    holds_modules: ClassVar[bool] = False
    """Whether there are modules inside, whose parameters and buffers `attributes` doesn't list."""

    def check(self) -> None:
        """Raise `Mismatch` for arguments with which torch refuses to build the module."""

    @classmethod
    def check_given(cls, given: Mapping[str, Value]) -> None:
        """The same for arguments that decide no shape and are therefore no fields, by name."""

    @property
    def parameters_dtype(self) -> DType | None:
        """The dtype given as ``dtype=``; without it torch's default, float32."""
        given = getattr(self, "dtype", ANYTHING)
        return FLOAT32 if given is None else given if isinstance(given, DType) else None

    @property
    def parameters_device(self) -> Device | None:
        """The device given as ``device=``; unknown without it, because the default can be changed."""
        given = getattr(self, "device", None)
        if isinstance(given, str):
            return as_device(given)
        return given if isinstance(given, Device) and given.type else None  # Device("") is some device

    def forward(self, input: TensorType) -> Value:
        """The rule of ``forward``; subclasses declare their own parameters."""
        raise CannotTell

    def attributes(self) -> Mapping[str, Value]:
        """The types of parameters and buffers, such as ``weight``."""
        return {}

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            self._hash = hash((type(self), *vars(self).values()))
            return self._hash

    def __getstate__(self) -> dict[str, Any]:
        return vars(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"

    def __str__(self) -> str:
        """The module as a user would write it, with the arguments that decide shapes and differ from the defaults."""
        shown: list[str] = []
        for f in fields(self):
            value = getattr(self, f.name)
            if value == f.default and type(value) is type(f.default):
                continue
            if isinstance(f.default, float) or (value is ANYTHING and f.default is not MISSING):
                continue  # a probability decides no shape; what isn't known and may be left out says nothing
            text = "?" if value is ANYTHING else repr(value) if isinstance(value, str) else str(value)
            positional = len(shown) < 3 and not any("=" in s for s in shown) and f is fields(self)[len(shown)]
            shown.append(text if positional else f"{f.name}={text}")
        return f"{type(self).names[0].rpartition('.')[2]}({', '.join(shown)})"


def module(*names: str) -> Callable[[M], M]:
    """Register a `ModuleRule` under its public names: ``"torch.nn.Linear"``."""

    def register(cls: M) -> M:
        cls.names = names
        for name in names:
            if MODULES.is_read(name):
                raise ValueError(f"two module rules for {name}")
            MODULES[name] = cls
        return cls

    return register


# Names that torch takes for a parameter beside the one that most rules give it: NumPy's, and those of single operations
# (`torch.pow(input, exponent)`, `torch.det(input)`), so that one function can serve them all.
_NAMES_OF_THE_FIRST: Final = frozenset({"input", "tensor", "a", "x", "x1"})
_OTHER_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "axis": ("dim",),
    "keepdims": ("keepdim",),
    "x2": ("other",),
    "exponent": ("other",),
    "n": ("other",),
    "b": ("B",),
    "other": ("B",),
    "input2": ("L", "tau"),
    "input3": ("other",),
    "split_size_or_sections": ("split_size",),
    "tensor_indices_or_sections": ("indices_or_sections",),
}


def _own_names(
    entry: Rule, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> tuple[Sequence[Value], Mapping[str, Value]]:
    """The arguments with keywords as the rule calls them; its first parameter, if it is given by name, by place.

    By place, because what wraps a rule takes the tensor so: `torch.broadcast_to(input=x, size=s)`.
    """
    names = entry.binder.by_name
    if args and kwargs.keys() <= names:
        return args, kwargs
    own = {
        k if k in names else next((n for n in _OTHER_NAMES.get(k, ()) if n in names), k): v for k, v in kwargs.items()
    }
    first = None if args else next(iter(entry.binder.positional), None)
    if first is None:
        return args, own
    given = first if first in own else next((k for k in own if k in _NAMES_OF_THE_FIRST and k not in names), None)
    return (args, own) if given is None else ((own.pop(given),), own)


def _tensors_for_unknown(
    entry: Rule, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> tuple[Sequence[Value], Mapping[str, Value]]:
    """Where a tensor must stand, "not known" becomes an unknown tensor."""
    wanted = entry.tensor_parameters
    for one in args:
        if one is ANYTHING:
            names = entry.binder.positional
            args = [
                ANY_TENSOR if a is ANYTHING and i < len(names) and names[i] in wanted else a for i, a in enumerate(args)
            ]
            break
    if not kwargs:
        return args, kwargs
    return args, {k: ANY_TENSOR if v is ANYTHING and k in wanted else v for k, v in kwargs.items()}


def _operands(arguments: Mapping[str, Value]) -> dict[str, TensorType]:
    """The tensors among the arguments, by parameter name; those in a list by name and place."""
    found: dict[str, TensorType] = {}
    for name, value in arguments.items():
        if type(value) is TensorType:
            found[name] = value
        elif isinstance(value, tuple):
            items = value[0] if len(value) == 1 and isinstance(value[0], tuple) else value  # f(*xs) taken as f(xs)
            found.update({f"{name}[{i}]": v for i, v in enumerate(items) if isinstance(v, TensorType)})
    return found


def _common_device(operands: Mapping[str, TensorType]) -> Device | None:
    """The one device that all operands are on, as far as stated. A CPU tensor that may be 0-dim fits everywhere.

    Raises:
        Mismatch: two operands are on different devices for sure.
    """
    found: tuple[str, Device] | None = None
    for name, value in operands.items():
        if value.device is None or (value.device.type == "cpu" and value.shape.min_rank == 0):
            continue
        if found is None:
            found = name, value.device
        elif not found[1].agrees(value.device):
            raise Mismatch(
                f"{found[0]} is on {found[1]}, but {name} is on {value.device}",
                kind="device",
                hint=f"move one of them: {name}.to({str(found[1])!r})",
                expected=found[1],
                got=value.device,
            )
    return None if found is None else found[1]


def _need_parameters_dtype(layer: ModuleRule, operands: Mapping[str, TensorType]) -> None:
    """Refuse an operand of another dtype than the parameters that the layer multiplies it with."""
    own = layer.parameters_dtype
    for name in layer.takes_parameters_dtype:
        got = operands[name].dtype if name in operands else None
        if own is not None and got is not None and own.is_concrete and got.is_concrete and got != own:
            raise Mismatch(
                f"{name} is {got}, but the layer's parameters are {own}",
                kind="dtype",
                hint=f"{name}.to(torch.{own.name.lower()})",
                expected=own,
                got=got,
            )


def _finish(result: Value, device: Device | None) -> Value:
    """A result is never itself a parameter, and is where its operands are unless the rule says otherwise."""
    if type(result) is TensorType:
        if result.is_parameter or (result.device is None and device is not None):
            return TensorType(result.shape, result.dtype, result.device or device)
        return result
    if isinstance(result, tuple):
        return tuple(_finish(r, device) for r in result)
    if isinstance(result, Many):
        item = _finish(result.item, device)
        return Many(item) if isinstance(item, TensorType) else result
    if isinstance(result, Named):
        return Named(result.type_name, tuple((k, _finish(v, device)) for k, v in result.fields))
    return result


def prepared(
    entry: Rule, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> tuple[Sequence[Value], Mapping[str, Value], dict[str, Any]]:
    """The arguments as the rule takes them, and by its parameters' names.

    Raises:
        CannotTell: the rule can't be asked about them.
    """
    if kwargs:
        args, kwargs = _own_names(entry, args, kwargs)
    args, kwargs = _tensors_for_unknown(entry, args, kwargs)
    bound = entry.binder.bind(args, kwargs)
    if any(name in bound and not isinstance(bound[name], TensorType) for name in entry.tensor_parameters):
        raise CannotTell
    return args, kwargs, bound


def _call(
    entry: Rule, op: object, args: Sequence[Value], kwargs: Mapping[str, Value], *, dtype_counts: bool = True
) -> Value | Report:
    """The border of every rule: binds, asks, and turns a reason into a report with the operation and operands."""
    try:
        args, kwargs, bound = prepared(entry, args, kwargs)
    except CannotTell:
        return ANYTHING
    try:
        return answer(entry, bound, args, kwargs, dtype_counts=dtype_counts)
    except CannotTell:
        return ANYTHING
    except Mismatch as m:
        known = {k: v for k, v in _operands(bound).items() if v != ANY_TENSOR}
        if next(iter(known), "") in ("other", "exponent") and "input" in known:  # of a reflected operator
            known = {"input": known["input"], **known}
        kind = m.kind
        hint = most_fitting(m.hints, lambda said: _fits(entry, bound, kind, said))
        return Report(str(op), kind, m.reason, known, hint, m.expected, m.got)


def _fits(entry: Rule, bound: Mapping[str, Value], kind: Kind, hint: str) -> bool | None:
    def ask(changed: Mapping[str, Value]) -> Value:
        args, kwargs = entry.binder.split(changed)
        if not kwargs.keys() <= entry.binder.by_name:
            raise Mismatch("it has no such argument", kind=kind)
        return answer(entry, changed, args, kwargs)

    return fits(kind, hint, bound, ask, infer)


def try_hint(
    rule: str | ModuleRule, args: Sequence[Value], kwargs: Mapping[str, Value], kind: Kind, hint: str
) -> bool | None:
    """Whether a call that was refused goes through with what a hint writes.

    Args:
        rule: the operation's name, or the layer.
        args: the arguments by place.
        kwargs: those by name.
        kind: the kind of the mismatch: a call that then fails for a reason of another kind is mended all the same.
        hint: the hint, with the operands by the names of the rule's parameters.

    Returns:
        None where the hint has nothing in it that can be tried.
    """
    if isinstance(rule, str):
        entry, given = RULES.get(rule), args
    else:
        # as in `infer_module`; mypy can't see that a class is hashable
        entry, given = forward_rule(type(rule)), (rule, *args)  # type: ignore[arg-type]
    if entry is None:
        return None
    try:
        _, _, bound = prepared(entry, given, kwargs)  # type: ignore[arg-type]
    except CannotTell:
        return None
    return _fits(entry, bound, kind, hint)


def answer(
    entry: Rule,
    bound: Mapping[str, Value],
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
    *,
    dtype_counts: bool = True,
) -> Value:
    """The rule's answer for its arguments, ``bound`` by name and as given, with the checks that all rules share.

    Raises:
        Mismatch: they don't fit; the devices neither, or the dtypes of a layer's operands.
        CannotTell: they aren't known well enough.
    """
    operands = _operands(bound)
    layer = bound.get("self")
    if isinstance(layer, ModuleRule) and (own := layer.parameters_device) is not None:
        # with a dim, so that a layer on the CPU isn't passed over as a number would be
        device = _common_device({**operands, "the layer": TensorType(Shape((UNKNOWN,)), device=own)})
    else:
        device = None if entry.moves else _common_device(operands)
    result = _finish(entry.function(*args, **kwargs), device)
    if isinstance(layer, ModuleRule) and dtype_counts and layer.takes_parameters_dtype:
        _need_parameters_dtype(layer, operands)
    return result


_OPERATOR_SIGNS: Final = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@",
    "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>",
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "getitem": "[]", "setitem": "[]=",
    "invert": "~", "neg": "-",
}  # fmt: skip


@lru_cache(maxsize=4096)
def spoken_name(name: str) -> str:
    """An operation as messages call it: the last part of its name, an operator by its sign."""
    short = name.rpartition(".")[2]
    if not short.startswith("__"):
        return short
    bare = short.strip("_")
    for prefix in ("", "r", "i"):
        if bare.startswith(prefix) and bare.removeprefix(prefix) in _OPERATOR_SIGNS:
            sign = _OPERATOR_SIGNS[bare.removeprefix(prefix)]
            return sign + "=" if prefix == "i" else sign
    return short


def infer(
    name: str,
    args: Sequence[Value] = (),
    kwargs: Mapping[str, Value] | None = None,
    *,
    autocast: Autocast | None = None,
) -> Value | Report:
    """The result of ``name(*args, **kwargs)``: a value, a `Report` of what doesn't fit, or `ANYTHING`.

    Args:
        name: the operation's public name.
        args: the positional arguments.
        kwargs: those by name.
        autocast: what is in force there.
    """
    entry = RULES.get(name)
    if entry is None:
        return ANYTHING
    if autocast is not None:
        return _under(autocast, name, args, kwargs, lambda own, named: infer(name, own, named))
    if not kwargs:
        return _call(entry, spoken_name(name), args, {})
    given = dict(kwargs)
    # for all rules at once: none of them has a parameter for it
    out = given.pop("out", None)
    result = _call(entry, spoken_name(name), args, given)
    return _written(out, result) if isinstance(out, TensorType) and isinstance(result, TensorType) else result


def _under(
    autocast: Autocast,
    name: str,
    args: Sequence[Value],
    kwargs: Mapping[str, Value] | None,
    ask: Callable[[Sequence[Value], Mapping[str, Value]], Value | Report],
) -> Value | Report:
    """The answer of ``ask`` for the operands as autocast casts them; with any float dtype if the cast isn't known."""
    result = ask(*cast(autocast, name, args, kwargs or {}))
    unsure = autocast.policy(name) == "unknown" and not isinstance(result, Report)
    return any_float(result) if unsure else result


def _written(out: TensorType, result: TensorType) -> TensorType:
    """``out`` after the result was written to it: torch gives it the result's shape, whatever it had."""
    resized = out.shape.numel() == 0 or same(out.shape, result.shape) is False
    return replace(out, shape=result.shape) if resized else out


_FIELD_NAMES: Final[dict[type[ModuleRule], tuple[str, ...]]] = {}


def field_names(cls: type[ModuleRule]) -> tuple[str, ...]:
    """The constructor arguments that decide shapes, in order."""
    found = _FIELD_NAMES.get(cls)
    if found is None:
        found = _FIELD_NAMES[cls] = tuple(f.name for f in fields(cls))
    return found


def old_reduction(size_average: Value, reduce: Value, reduction: Value) -> Value:
    """How a loss is reduced: the arguments that came before ``reduction`` beat it. `ANYTHING` if they aren't known."""
    if size_average is None and reduce is None:
        return reduction
    if not all(v is None or isinstance(v, bool) for v in (size_average, reduce)):
        return ANYTHING
    return "none" if reduce is False else "sum" if size_average is False else "mean"


def new_module(name: str, arguments: Mapping[str, Value]) -> ModuleRule | Report | None:
    """The module that the constructor ``name`` builds from arguments by name (those that decide no shape are ignored).

    None if there is no rule for the class or a needed argument is missing.
    """
    cls: type[ModuleRule] | None = MODULES.get(name)
    if cls is None:
        return None
    own = field_names(cls)
    if "reduction" in own and not arguments.keys().isdisjoint(("size_average", "reduce")):
        old = arguments.get("size_average"), arguments.get("reduce")
        arguments = {**arguments, "reduction": old_reduction(*old, arguments.get("reduction", "mean"))}
    try:
        built = cls(**{k: v for k, v in arguments.items() if k in own})
    except TypeError:
        return None
    try:
        cls.check_given(arguments)
        built.check()
    except CannotTell:
        pass
    except Mismatch as m:
        return Report(name.rpartition(".")[2], m.kind, m.reason, {}, m.hint, m.expected, m.got)
    return built


def parameters(self: ModuleRule) -> Mapping[str, Value]:
    """The types of the module's parameters and buffers, with their dtype and device."""
    dtype, device = self.parameters_dtype, self.parameters_device
    return {
        name: replace(value, dtype=value.dtype or dtype, device=value.device or device)
        if isinstance(value, TensorType)
        else value
        for name, value in self.attributes().items()
    }


@cache
def forward_rule(cls: type[ModuleRule]) -> Rule:
    """The rule of a layer's ``forward``; its first parameter is the layer."""
    return Rule(cls.names, cls.forward)


def infer_module(
    self: ModuleRule,
    args: Sequence[Value],
    kwargs: Mapping[str, Value] | None = None,
    *,
    dtype_counts: bool = True,
    autocast: Autocast | None = None,
) -> Value | Report:
    """The result of calling the module: a value, a `Report`, or `ANYTHING`.

    Args:
        self: the module.
        args: the positional arguments.
        kwargs: those by name.
        dtype_counts: whether the parameters certainly have the dtype that they were made with.
        autocast: what is in force there.
    """
    if autocast is not None:
        counts = dtype_counts and autocast.policy(self.names[0]) == "none"
        return _under(
            autocast,
            self.names[0],
            args,
            kwargs,
            lambda own, named: infer_module(self, own, named, dtype_counts=counts),
        )
    # the module is the first argument of its own rule, which reads its sizes from there
    return _call(forward_rule(type(self)), self, (self, *args), kwargs or {}, dtype_counts=dtype_counts)  # type: ignore[arg-type]
