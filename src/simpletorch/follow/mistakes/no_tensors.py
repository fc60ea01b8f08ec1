"""Values where a tensor is due: a tuple of results, a list, None, a number, an array, an object."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import guards
from simpletorch.follow.mistakes import arguments, events
from simpletorch.follow.model import kinds, members
from simpletorch.follow.tensors import JOINS
from simpletorch.follow.values import (
    Class,
    Dict,
    Fields,
    Function,
    Instance,
    Iterator,
    List,
    Set,
    Sizes,
    Tensor,
    Unknown,
    Value,
    View,
)
from simpletorch.rules import RULES, ModuleRule, Packed, Report, TensorType, infer, infer_module
from simpletorch.rules.core import due
from simpletorch.rules.core.registry import forward_rule, spoken_name
from simpletorch.shapes import Expr

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["LISTENS", "Places", "described", "is_none"]

_NO_TENSORS: Final = frozenset((tuple, Fields, Sizes, List, Dict, Set, frozenset, str, bytes, type(None), Function))
"""The types of what torch takes for no tensor, whatever it holds. An object may know how to be one."""

_WITHOUT_OPERATORS: Final = _NO_TENSORS | {Instance}
"""The types of operands that a tensor may not go together with."""

_NUMBERS: Final = (int, float, bool, complex, Expr)
_TYPES_OF_NUMBERS: Final = ("int", "float", "bool", "complex")
_TAKE_NUMBERS: Final = frozenset({
    "torch.nn.functional.gaussian_nll_loss", "torch.nn.functional.multilabel_soft_margin_loss",
})  # fmt: skip
"""Functions whose Python only computes with their second tensor."""
_SCALED: Final = frozenset({"addbmm", "addcdiv", "addcmul", "addmm", "addmv", "addr", "baddbmm", "sspaddmm"})
"""torch still takes their old signatures: ``addcmul(input, value, tensor1, tensor2)``."""
_WITHOUT: Final = ("__torch_function__", "__getattr__", "__getattribute__")
"""With these an object may be taken for a tensor."""
_OF_PYTHON: Final = ("builtins.", "typing.", "abc.", "enum.")
_ON_ALL: Final = ("__eq__", "__ne__")  # Python answers these itself
_REPEATS: Final = ("__mul__", "__rmul__", "__imul__")  # a whole number in a tensor says how often
_REPEATED: Final = (tuple, Fields, Sizes, List, str, bytes)


class Places:
    """Where an operation takes tensors: alone (``tensors``), or numbers as well (``operands``)."""

    __slots__ = ("is_method", "is_torchs", "operands", "short", "takes_numbers", "tensors")

    def __init__(self, name: str) -> None:
        rule = RULES[name]
        self.short = name.rpartition(".")[2]
        self.tensors = due.places(rule)
        self.is_method = name.startswith("Tensor.")
        # torch's own functions look at the classes of their arguments; Python's operators may be answered by these
        self.is_torchs = name.startswith(("torch.", "Tensor.")) and not name.startswith("torch.distributed.")
        self.is_torchs = self.is_torchs and not self.short.startswith("__") and name not in _TAKE_NUMBERS
        self.takes_numbers = self.short.removesuffix("_") in _SCALED
        names = rule.signature.parameters if self.is_torchs and self.short not in ("max", "min") else ()
        operands = _OTHERS.get(self.short, _OPERANDS)
        self.operands = tuple(i for i, p in enumerate(names) if p in operands and i not in self.tensors)


_OPERANDS: Final = ("other", "exponent")
_OTHERS: Final = {"copy_": ("src",), "where": ("input", "other")}


def _is_meant(run: Interpreter, value: Value) -> bool:
    """Whether the program gives it. Who calls a function that nobody calls in sight gives another than None."""
    return value is not None or not run.entry


def is_none(value: Value, name: str = "") -> bool:
    """Whether it is surely no tensor, for a function of torch's of this name."""
    kind = type(value)
    if kind in _NO_TENSORS or kind in _NUMBERS:
        return True
    if isinstance(value, Tensor):
        return value.array
    if isinstance(value, Unknown):
        return value.type in _TYPES_OF_NUMBERS
    return isinstance(value, Instance) and _is_no_tensor(value, name)


def _is_no_tensor(value: Instance, name: str) -> bool:
    """Whether an object's classes are all known, and none says how it is a tensor, or does itself as ``name``."""
    cls = value.cls
    if isinstance(value.native, Packed) or "is_no_tensor" in cls.metadata:
        return True
    if cls.unknown_base is not None or any("metaclass" in c.metadata for c in cls.mro) or members.is_of_mistake(value):
        return False
    return all(map(_is_known, cls.mro)) and not any(cls.find(n) for n in (*_WITHOUT, name)) and name not in value.cells


def _is_known(cls: Class) -> bool:
    of_program = "parameters" in cls.metadata or "tuple" in cls.metadata
    return of_program or cls.qualified.startswith(_OF_PYTHON) or cls.is_a(members.MODULE)


def _operands(name: str) -> Callable[[Interpreter, tuple[Value, ...], Mapping[str, Value]], Unknown | None]:
    """The listener to an operation."""
    places, short = Places(name), name.rpartition(".")[2]
    if short not in JOINS:
        return lambda run, args, kwargs: _check(run, name, places, args)

    def joins(run: Interpreter, args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> Unknown | None:
        refused = _check_many(run, name, args[0]) if args else None
        return _check(run, name, places, args) if refused is None else refused

    return joins


def _check(run: Interpreter, name: str, places: Places, args: tuple[Value, ...]) -> Unknown | None:
    """An operation of torch's that is given something else where it takes a tensor; None if it isn't."""
    for i, value in enumerate(args):
        if type(value) is Tensor and not value.array:
            continue
        if i in places.tensors:
            any_kind = places.is_torchs and (i > 0 or not places.is_method)
            found = is_none(value, places.short) if any_kind else type(value) in _NO_TENSORS
            found = found and not (places.takes_numbers and _is_number(value))
        else:
            found = i in places.operands and not _is_number(value) and is_none(value, places.short)
            found = found and type(args[0]) is Tensor and not args[0].array
        if found and _is_meant(run, value):
            return _refuse(run, spoken_name(name), value, partial(_ask, name, args, i))
    return None


def _ask(what: str | ModuleRule, args: tuple[Value, ...], at: int, one: TensorType) -> Any:
    """The answer of an operation or a layer to this tensor as its argument ``at``."""
    given = [a.type if isinstance(a, Tensor) else a for a in args]
    given[at] = one
    return infer(what, given) if isinstance(what, str) else infer_module(what, given)


def _is_number(value: Value) -> bool:
    """Whether torch takes it for a number: an array of one may be one of NumPy's numbers."""
    if type(value) is Tensor:
        return value.array and value.type.shape.rank in (0, None)
    return type(value) in _NUMBERS or type(value) is Unknown


def _check_many(run: Interpreter, name: str, many: Value) -> Unknown | None:
    """``torch.cat`` and its like take a tuple or a list, of tensors alone."""
    spoken = spoken_name(name)
    if type(many) in _NO_LISTS or type(many) in _NUMBERS or isinstance(many, View) or _is_no_list(many, spoken):
        holds = isinstance(many, View | Iterator) or (isinstance(many, Instance) and many.cls.qualified in _LISTS)
        hint = "list(...) makes one of it" if holds else None
        return guards.refuse(run, f"{spoken} takes a list of tensors, but it is given {described(many)}", hint)
    if type(many) is List:
        items = (many.item,) if many.items is None else many.items
    elif type(many) is tuple or type(many) is Fields:
        items = many
    else:
        return None
    for i, one in enumerate(items):
        one = run.resolve(one)
        if is_none(one) and _is_meant(run, one):
            which = "an item" if type(many) is List and many.items is None else f"[{i}]"
            message = f"{spoken} takes a list of tensors, but {which} of it is {described(one)}"
            return guards.refuse(run, message, _hint(one, lambda one: None))
    return None


_LISTS: Final = ("collections.deque", "torch.nn.ParameterList")
"""Classes of lists that torch takes for none."""


def _is_no_list(value: Value, name: str) -> bool:
    """Whether an object is surely no tuple or list, though it may hold tensors as one does."""
    if not isinstance(value, Instance) or any(map(value.cls.is_a, ("builtins.list", "builtins.tuple"))):
        return False
    return value.cls.qualified in _LISTS or _is_no_tensor(value, name)


def _check_array(run: Interpreter, value: Value) -> Unknown | None:
    """``torch.from_numpy`` takes an array alone."""
    value = run.resolve(value)
    if type(value) is Tensor and (value.array or not members.is_of_torchs_own(value)):
        return None
    if type(value) not in _NO_ARRAYS:
        return None
    hint = "it is one already" if type(value) is Tensor else "torch.tensor(...) makes a tensor of it"
    return guards.refuse(run, f"from_numpy takes an array, but it is given {described(value)}", hint)


_NO_ARRAYS: Final = (Tensor, List, tuple, int, float, type(None))
_NO_LISTS: Final = (Tensor, Iterator, Dict, Set, str, bytes, type(None))


_MOST_LOOKED_AT: Final = 1_000
_OF_NO_NUMBERS: Final = (str, type(None), Dict, Set)


def _check_data(run: Interpreter, value: Value, place: int | None = None) -> Unknown | None:
    """``torch.tensor`` makes a tensor of numbers, arrays, and lists of these: anything else is refused.

    Args:
        run: what follows the program.
        value: what it is given, or an item of that.
        place: which item of a list it is, None if of none.
    """
    value = run.resolve(value)
    if isinstance(value, _OF_NO_NUMBERS) and (value is not None or not run.entry):
        is_text = isinstance(value, str)
        error = "RuntimeError" if not is_text else "TypeError" if place is None or place else "ValueError"
        hint = "give each text a number, and take that" if is_text else None
        return guards.refuse(run, f"tensor takes numbers, but it is given {described(value)}", hint, error)
    items = run.items(value) if isinstance(value, tuple | List) else None
    for i, one in enumerate(map(run.resolve, (items or ())[:_MOST_LOOKED_AT])):
        count = one.type.shape.numel() if isinstance(one, Tensor) and not one.array else 1
        if type(count) is int and count != 1:
            message = f"tensor takes a list of numbers, but [{i}] of it is a tensor, {one.type}"
            return guards.refuse(run, message, "torch.stack(...) joins tensors", "ValueError")
        if (refused := _check_data(run, one, i)) is not None:
            return refused
    return None


def _layer_operands(
    run: Interpreter, layer: Instance, rule: ModuleRule | None, args: tuple[Value, ...], kwargs: Mapping[str, Value]
) -> Unknown | None:
    """The same of a layer; None if all fits."""
    if rule is None:
        return None
    for i in due.places_of_layer(rule):
        if i < len(args) and is_none(args[i]) and _is_meant(run, args[i]):
            return _refuse(run, str(rule), args[i], partial(_ask, rule, args, i))
    return _check_call(run, rule, args, kwargs)


def _check_call(
    run: Interpreter, rule: ModuleRule, args: tuple[Value, ...], kwargs: Mapping[str, Value]
) -> Unknown | None:
    """A layer that is called without what its ``forward`` needs, or with more than it takes."""
    binder = forward_rule(type(rule)).binder  # type: ignore[arg-type]
    if binder.misfit(len(args) + 1, kwargs, 1) is None:
        return None
    wrong = arguments.of_layer(run, binder, args, kwargs)
    return None if wrong is None else guards.refuse(run, f"{rule} {wrong}", None)


def _operator(run: Interpreter, name: str, left: Value, right: Value) -> Unknown | None:
    """``x + (a, b)``, ``x.max(1) + 1``; ``name`` is the method of the left one."""
    if type(left) is not Tensor:
        return _check_several(run, name, left, right)
    return _check_operator(run, name, left, right) if type(right) in _WITHOUT_OPERATORS else None


def _check_operator(run: Interpreter, name: str, tensor: Tensor, other: Value) -> Unknown | None:
    """``tensor + (a, b)``; ``name`` is the tensor's method."""
    if name in _ON_ALL or tensor.array or not _is_meant(run, other):
        return None
    if type(other) is Instance:
        if not _is_no_tensor(other, _mirrored(name)) or ("dataclass" in other.cls.metadata and name in _ORDER):
            return None
    elif type(other) not in _NO_TENSORS:
        return None
    if name in _REPEATS and isinstance(other, _REPEATED) and tensor.type.shape.rank in (0, None):
        return None
    return _refuse(run, spoken_name(name), other, lambda one: infer(f"Tensor.{name}", (tensor.type, one)))


def _mirrored(name: str) -> str:
    """The method that Python asks of the other operand."""
    own = name.strip("_").removeprefix("i" if name.startswith("__i") and name != "__invert__" else "")
    return f"__{own[1:]}__" if own.startswith("r") and own != "rshift" else f"__r{own}__"


_ORDER: Final = ("__lt__", "__le__", "__gt__", "__ge__")


def _check_several(run: Interpreter, name: str, left: Value, right: Value) -> Unknown | None:
    """``x.max(1) + 1``, ``x.shape / 2``, ``outputs - 1``: a tuple, or a list, has no arithmetic."""
    value, other = (left, right) if isinstance(left, _SEVERAL) else (right, left)
    known = isinstance(other, int | float) and not isinstance(other, bool)
    if value is None:
        holds = not run.entry
    elif isinstance(value, Dict):
        holds = any(isinstance(v, Tensor) for v in value.cells.values())
    else:
        held = value.items or () if isinstance(value, List) else value
        holds = isinstance(value, Sizes) or any(isinstance(v, Tensor) for v in held)
    if not known or name not in _ARITHMETIC or not holds:
        return None
    if name == "__mul__" and isinstance(other, int) and isinstance(value, _REPEATED):
        return None
    if value is None:
        return guards.refuse(run, f"{spoken_name(name)} takes a number, but it is given None", None)
    return _refuse(run, spoken_name(name), value, lambda one: infer(f"Tensor.{name}", (one, other)))


_SEVERAL: Final = (tuple, List, Dict, type(None))
_OPERATIONS: Final = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lt", "le", "gt", "ge")
_ARITHMETIC: Final = frozenset(f"__{name}__" for name in _OPERATIONS)


def _lacks(run: Interpreter, value: Value, name: str) -> Unknown | None:
    """A collection of Python's is asked for what a tensor has, and it hasn't."""
    if type(value) is Dict and name in value.cells and kinds.has_attribute(value, name) is False:
        message = f"a dict has no attribute {name!r}, which is one of its keys"
        return guards.refuse(run, message, f"[{name!r}]", "AttributeError")
    if type(value) is Dict and name in _OF_MODULES and any(isinstance(v, Tensor) for v in value.cells.values()):
        message = f"a dict of tensors has no attribute {name!r}, which a module has"
        return guards.refuse(run, message, "build the model, which load_state_dict(...) fills", "AttributeError")
    if type(value) in (tuple, List) and name in _OF_MODULES and kinds.has_attribute(value, name) is False:
        held = [(shown, v) for shown, v in _items(value) if isinstance(v, Instance) and v.cls.is_a(members.MODULE)]
        if held:
            message = f"{described(value)} has no attribute {name!r}, which a module has"
            return guards.refuse(run, message, f"take {held[0][0]} of it", "AttributeError")
    of_tensors = f"Tensor.{name}" in RULES or name in _OF_TENSORS
    if not of_tensors or type(value) not in _COLLECTIONS or kinds.has_attribute(value, name) is not False:
        return None
    message = f"{described(value)} has no attribute {name!r}, which a tensor has"
    return guards.refuse(run, message, _hint(value, lambda one: None), "AttributeError")


_OF_MODULES: Final = ("eval", "forward", "load_state_dict", "named_parameters", "parameters", "state_dict", "train")
_OF_TENSORS: Final = ("shape", "dtype", "device", "ndim", "grad", "data", "requires_grad")
_COLLECTIONS: Final = frozenset({tuple, Fields, List, View, Dict, str, int, float, bool, Expr})


def _refuse(run: Interpreter, name: str, value: Value, ask: Callable[[TensorType], Any]) -> Unknown:
    return guards.refuse(run, f"{name} {due.refusal(described(value))}", _hint(value, ask))


def described(value: Value) -> str:
    """A value in a message: its kind, and as much of it as helps."""
    if value is None:
        return "None"
    if isinstance(value, Sizes):
        return f"the shape {value}"
    if isinstance(value, tuple):
        shown = ", ".join(str(v.type) if isinstance(v, Tensor) else "…" for v in value[:4])
        return f"a tuple of {len(value)}: ({shown}{', …' if len(value) > 4 else ''})"
    if isinstance(value, View):
        return "a view of a dict"
    if isinstance(value, List):
        return "a list" if value.items is None else f"a list of {len(value.items)}"
    if isinstance(value, _NUMBERS):
        return f"the number {value}"
    if isinstance(value, Unknown):
        return f"a number ({value.type})"
    if isinstance(value, Tensor):
        return f"an array, {value.type}" if value.array else f"a tensor, {value.type}"
    if isinstance(value, Instance):
        return _object(value)
    if isinstance(value, Iterator):
        return "an iterator"
    if isinstance(value, Function):
        return f"the function {value.name}"
    return {Dict: "a dict", Set: "a set", frozenset: "a set", str: "a text", bytes: "bytes"}[type(value)]


def _object(value: Instance) -> str:
    if value.cls.is_a(members.MODULE):
        return f"the module {value.cls.name}"
    name = value.cls.name
    return f"a named tuple, {name}" if value.cls.metadata.get("tuple") else f"an object of the class {name}"


def _hint(value: Value, ask: Callable[[TensorType], Any]) -> str | None:
    """How to take the tensor that fits out of several."""
    for shown, one in _items(value):
        if isinstance(one, Tensor) and not one.array and not isinstance(ask(one.type), Report):
            return f"take {shown} of it, {one.type}"
    if isinstance(value, Tensor):
        return "torch.from_numpy(...) makes a tensor of it" if value.array else None
    if isinstance(value, Instance) and value.cls.is_a(members.MODULE):
        return f"call it: {value.cls.name}(...)(x)"
    if isinstance(value, _NUMBERS):
        return "torch.tensor(...) makes one of a number"
    if isinstance(value, List) and value.items and all(isinstance(v, int | float) for v in value.items):
        return "torch.tensor(...) makes one of numbers"
    return None


def _items(value: Value) -> Iterable[tuple[str, Value]]:
    if isinstance(value, Fields):
        yield from ((f".{name}", one) for name, one in zip(value.names, value, strict=True))
    elif isinstance(value, Instance) and isinstance(value.native, Packed):
        yield ".data", Tensor(value.native.data)
    elif isinstance(value, Instance):
        places = {"(value)": ".wait()"}
        yield from ((places.get(key, f".{key}"), one) for key, one in value.cells.items() if isinstance(key, str))
    elif isinstance(value, Dict):
        yield from ((f"[{key!r}]", one) for key, one in value.cells.items())
    else:
        rows = value.items if isinstance(value, List) else value if isinstance(value, tuple) else None
        yield from ((f"[{i}]", one) for i, one in enumerate(rows or ()))


LISTENS: Final = (
    events.OPERANDS.to(_operands),
    events.LAYER_OPERANDS.to(_layer_operands),
    events.OPERATOR.to(_operator),
    events.LACKS.to(_lacks),
    events.ARRAY.to(_check_array),
    events.DATA.to(_check_data),
)
