"""``enum``."""

from __future__ import annotations

import enum
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import branches, guards, operators
from simpletorch.follow.libraries import library_class, model
from simpletorch.follow.memory import stand_ins
from simpletorch.follow.model import kinds
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.values import Class, Function, Instance, Method, Native, Property, StaticMethod, Value, is_known

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

_NO_MEMBERS: Final = (Function, StaticMethod, Property, Native, Class, Method)


def _subclassed(run: Interpreter, cls: Class) -> None:
    """The names of the class body become its members."""
    if "members" in cls.metadata:
        return
    if _is_unmodelled(run, cls):
        guards.may_raise(run, guards.ANY)
        cls.unknown_base = run.unknown("what a class makes of its members")
        for name in [n for n in cls.cells if _is_public(n) or n in _OWN_WAYS]:
            run.heap.write(cls.cells, name, cls.unknown_base)
        return
    inherited = next((c.metadata["members"] for c in cls.mro[1:] if c.metadata.get("members")), ())
    members: list[Instance] = []
    named: dict[str, Instance] = {}
    counted: dict[int, Value] = {}  # the values of the objects in the class body
    for name, value in list(cls.cells.items()):
        if not _is_public(name) or isinstance(value, _NO_MEMBERS):
            continue
        held, value = value, _value(run, cls, name, value, members, counted)
        counted[id(held)] = value
        same = next((m for m in members if is_known(value) and m.cells["value"] == value), None)
        cls.cells[name] = named[name] = same or _member(run, cls, name, value)
        if same is None:
            members.append(cls.cells[name])
    if members or not inherited:
        is_flag = cls.is_a("enum.Flag")
        cls.metadata["members"] = tuple(m for m in members if not is_flag or _is_single(m.cells["value"]))
        cls.metadata["named"] = named
    if members:
        cls.metadata["make"] = _by_value
    else:
        cls.metadata.pop("members", None)  # a base for others


def _is_public(name: str) -> bool:
    return not name.startswith("_")


def _is_unmodelled(run: Interpreter, cls: Class) -> bool:
    """Whether the members are made in a way of their own, or differ by Python's version."""
    names = list(cls.cells)
    held = {name: run.resolve(cls.cells[name]) for name in names if _is_public(name)}
    if any(n in cls.cells for n in _OWN_WAYS) or any(
        c.cells.get("__new__") or "dataclass" in c.metadata for c in cls.mro
    ):
        return True
    order = cls.cells.get("_order_")
    if order is not None and order != " ".join(n for n, v in held.items() if not isinstance(v, _NO_MEMBERS)):
        return True
    if "_generate_next_value_" in names[1:] and any(
        _is_auto(held.get(n)) for n in names[: names.index("_generate_next_value_")]
    ):
        return True
    is_flag = cls.is_a("enum.Flag")
    return any(_is_unmodelled_value(v, is_flag=is_flag) for v in held.values())


def _is_auto(value: Value) -> bool:
    return isinstance(value, Instance) and value.cls.is_a("enum.auto")


def _is_unmodelled_value(value: Value, *, is_flag: bool) -> bool:
    if isinstance(value, _NO_MEMBERS):
        return isinstance(value, Class)
    if isinstance(value, tuple):
        return is_flag or any(map(_is_auto, value))
    if not isinstance(value, Instance):
        return is_flag and not isinstance(value, int)
    return "value" in value.cells if _is_auto(value) else is_flag or value.cls.is_a("enum.member")


_OWN_WAYS: Final = ("_ignore_", "__order__")


def _is_single(value: Value) -> bool:
    """Whether a flag is one of those that a flag class counts, and goes over: no combination, and not nothing."""
    return not isinstance(value, int) or (value > 0 and value & (value - 1) == 0)


def define(cls: Class, members: tuple[Instance, ...]) -> None:
    """An enumeration whose members are there already."""
    cls.metadata["members"], cls.metadata["make"] = members, _by_value


def _value(
    run: Interpreter, cls: Class, name: str, value: Value, members: list[Instance], counted: dict[int, Value]
) -> Value:
    """The value, counted where it is ``auto()``."""
    if not _is_auto(value):
        return run.resolve(value)
    if value.native is not None:
        method, *parts = value.native
        return run.operate(method, *(_value(run, cls, name, v, members, counted) for v in parts))
    if id(value) in counted:
        return counted[id(value)]
    if cls.is_a("enum.StrEnum"):
        return name.lower()
    own = cls.find("_generate_next_value_")
    earlier = [m.cells["value"] for m in members]
    if own is not None:
        return run.call(own[0].function if isinstance(own[0], StaticMethod) else own[0],
                        (name, 1, len(members), tuple(earlier)))  # fmt: skip
    if not all(isinstance(v, int) for v in earlier):
        return run.unknown("a value that is counted", "int")
    highest = max(earlier, default=0)
    return 1 << highest.bit_length() if cls.is_a("enum.Flag") else highest + 1


def _member(run: Interpreter, cls: Class, name: str, value: Value) -> Instance:
    made = Instance(cls)
    made.cells.update({"name": name, "value": value, "_name_": name, "_value_": value})
    init = cls.find("__init__")
    if init is not None and isinstance(init[0], Function):
        run.call(Method(init[0], made), value if isinstance(value, tuple) else (value,))
    return made


def _by_value(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``Color("red")``."""
    if not args:
        raise kinds.error("TypeError")
    if len(args) > 1:  # by Python's version: the names of new members, or a member's several values
        guards.may_raise(run, guards.ANY)
        return run.unknown("a member of an enumeration")
    wanted = run.resolve(args[0])
    members = tuple(cls.metadata.get("named", {}).values()) or cls.metadata.get("members", ())
    if any(wanted is m for m in members):
        return wanted
    if not is_known(wanted) or not all(is_known(m.cells["value"]) for m in members):
        return run.unknown("a member of an enumeration")
    found = next((m for m in members if m.cells["value"] == wanted), None)
    if found is not None:
        return found
    own = cls.find("_missing_")
    if own is not None:
        inner = own[0].function if isinstance(own[0], StaticMethod) else own[0]
        made = run.resolve(run.call(inner, (cls, wanted)))
        if made is not None:
            return made
    if cls.is_a("enum.Flag"):
        return _asked(run, cls, lambda real: real(wanted))
    raise Raised("ValueError", None, ("Exception", "BaseException"))


def _at_run_time(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``Enum("Color", "RED BLUE")``."""
    guards.may_raise(run, guards.ANY)
    return run.unknown("an enumeration that a call makes")


# -- flags -----------------------------------------------------------------------------------------------------------


def _real(cls: Class) -> Any:
    """Python's own class of flags with the same members; None where the program's does something of its own."""
    if "real" not in cls.metadata:
        cls.metadata["real"] = _made_real(cls)
    return cls.metadata["real"]


def _made_real(cls: Class) -> Any:
    named: dict[str, Instance] = cls.metadata.get("named", {})
    values = {name: m.cells["value"] for name, m in named.items()}
    is_plain = {c.qualified for c in cls.mro[1:]} <= _BEHIND_FLAGS and cls.unknown_base is None
    own = cls.metadata.get("options") or any(n.startswith("_") and n not in _OF_BODIES for n in cls.cells)
    if not named or not is_plain or own or not all(type(v) is int for v in values.values()):
        return None
    kind: Any = enum.IntFlag if cls.is_a("enum.IntFlag") else enum.Flag
    try:
        return kind("_", values)
    except (ValueError, TypeError):
        return None


_BEHIND_FLAGS: Final = frozenset({"enum.Flag", "enum.IntFlag", "enum.Enum", "builtins.int", "builtins.object"})
_OF_BODIES: Final = frozenset({"__module__", "__qualname__", "__doc__", "__annotations__", "__str__", "__repr__"})


def _asked(run: Interpreter, cls: Class, ask: Callable[[Any], Any]) -> Value:
    """The answer of Python's own class of flags.

    Raises:
        Raised: it raises.
    """
    real = _real(cls)
    if real is None:
        guards.may_raise(run, guards.ANY)
        return run.unknown("several flags")
    try:
        return _flag(cls, ask(real))
    except (ValueError, TypeError) as error:
        raise kinds.error(type(error).__name__) from None


def _flag(cls: Class, found: Any) -> Value:
    """The follower's value for a flag of Python's."""
    if not isinstance(found, enum.Flag):
        return tuple(_flag(cls, f) for f in found) if isinstance(found, tuple) else found
    for member in cls.metadata["named"].values():
        if member.cells["value"] == found.value:
            return member
    composed = cls.metadata.setdefault("composed", {})
    if found.value not in composed:
        made = composed[found.value] = Instance(cls)
        name, value = found.name, found.value
        made.cells.update({"name": name, "value": value, "_name_": name, "_value_": value})
    return composed[found.value]


def _of_flags(name: str) -> Any:
    """An operator of flags of one class, or of ints with flags that are ints."""

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        own = args[0].cls
        plain = [found for v in map(run.resolve, args) if (found := _plain_flag(own, v)) is not None]
        if len(plain) < len(args):
            guards.may_raise(run, guards.ANY)
            return run.unknown("what flags give")

        def ask(real: Any) -> Any:
            first, *others = (real(v) if is_flag else v for is_flag, v in plain)
            if name == "__iter__":
                return tuple(first)
            of_module = getattr(operator, name, None)
            return getattr(first, name)(*others) if of_module is None else of_module(first, *others)

        return _asked(run, own, ask)

    return work


def _plain_flag(cls: Class, value: Value) -> tuple[bool, Any] | None:
    """Whether a value is a flag of the class, and its number; another constant itself."""
    if isinstance(value, Instance):
        number = value.cells.get("value")
        return (True, number) if value.cls is cls and type(number) is int else None
    return (False, value) if is_known(value) else None


def _as_value(value: Value) -> Value:
    """The number or text that a member of IntEnum, StrEnum or ``(str, Enum)`` is."""
    of_python = isinstance(value, Instance) and any(kinds.real(c) not in (None, object) for c in value.cls.mro)
    return value.cells["value"] if of_python and "value" in value.cells else value


def _operator(name: str) -> Any:
    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        left, right = _as_value(args[0]), _as_value(run.resolve(args[1]))
        if not isinstance(left, Instance) and not isinstance(right, Instance):
            return run.operate(name, left, right)
        if isinstance(right, Instance) and not right.cls.is_a("enum.Enum"):
            return NotImplemented  # its class may have the mirrored operator
        if name in ("__eq__", "__ne__"):
            unknown = not isinstance(right, Instance) and not is_known(right)
            if unknown or stand_ins.may_be_one(left, right):
                return run.derived("==" if name == "__eq__" else "!=", left, right)
            return (left is right) is (name == "__eq__")
        if all(_has_no_order(run, v) for v in (left, right)):
            raise kinds.error("TypeError")
        guards.may_raise(run, guards.ANY)
        return run.unknown("what members of an enumeration give")

    return work


def _has_no_order(run: Interpreter, value: Value) -> bool:
    """Whether a value is a member of a plain enumeration, or one of Python's."""
    if not isinstance(value, Instance):
        return is_known(value)
    own = {c.qualified for c in value.cls.mro if c.module != run.program.main}
    return own <= {"enum.Enum", "builtins.object"} and value.cls.unknown_base is None


def _text(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    value = args[0]
    if any(value.cls.is_a(f"enum.{n}") for n in ("StrEnum", "IntEnum", "IntFlag")):
        return str(value.cells["value"]) if is_known(value.cells["value"]) else run.unknown("a text", "str")
    return f"{value.cls.name}.{value.cells['name']}"


def _truth(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """A member is true, if it isn't a number or string that is not."""
    found = branches.truth(run, _as_value(args[0])) if _as_value(args[0]) is not args[0] else True
    return found if isinstance(found, bool) else found[0] if found[1] else operators.negate(run, found[0])


_OPERATORS: Final = (
    "eq", "ne", "lt", "le", "gt", "ge", "add", "sub", "mul", "floordiv", "truediv", "mod", "radd", "rsub", "rmul",
)  # fmt: skip
library_class(
    "enum.Enum",
    make=_at_run_time,
    subclassed=_subclassed,
    methods={
        **{f"__{n}__": _operator(f"__{n}__") for n in _OPERATORS if not n.startswith("r")},
        "__str__": _text,
        "__bool__": _truth,
    },
)
library_class("enum.IntEnum", ("builtins.int", "enum.Enum"))
library_class("enum.StrEnum", ("builtins.str", "enum.Enum"))
_METHODS: Final = {
    f"__{n}__": _of_flags(f"__{n}__")
    for n in ("and", "or", "xor", "invert", "contains", "iter", "len", "bool", "rand", "ror", "rxor")
}
library_class("enum.Flag", ("enum.Enum",), methods=_METHODS)
library_class("enum.IntFlag", ("builtins.int", "enum.Flag"), methods=_METHODS)


def _composed(name: str) -> Any:
    """``A | B`` in a class body, of values that are counted when the class is there."""
    return lambda run, args, kwargs: Instance(run.program.library_class("enum.auto"), (name, *args))


library_class("enum.auto", methods={f"__{n}__": _composed(f"__{n}__") for n in ("or", "and", "xor")})


@model("enum.unique")
def _unique(run: Interpreter, enumeration: Value) -> Value:
    named = enumeration.metadata.get("named") if isinstance(enumeration, Class) else None
    if named is None:
        guards.may_raise(run, guards.ANY)
    elif len({id(m) for m in named.values()}) < len(named):
        raise kinds.error("ValueError")
    return enumeration


library_class("enum.member")
library_class("enum.nonmember", ("enum.member",))
