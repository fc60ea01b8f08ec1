"""``enum``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

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
    inherited = next((c.metadata["members"] for c in cls.mro[1:] if c.metadata.get("members")), ())
    members: list[Instance] = []
    hidden = ("__annotations__",)
    for name, value in list(cls.cells.items()):
        if name.startswith("_") or name in hidden or isinstance(value, _NO_MEMBERS):
            continue
        value = _value(run, cls, name, value, members)
        same = next((m for m in members if is_known(value) and m.cells["value"] == value), None)
        cls.cells[name] = same or _member(run, cls, name, value)
        if same is None:
            members.append(cls.cells[name])
    if members or not inherited:
        cls.metadata["members"] = tuple(members)
    if members:
        cls.metadata["make"] = _by_value
    else:
        cls.metadata.pop("members", None)  # a base for others


def define(cls: Class, members: tuple[Instance, ...]) -> None:
    """An enumeration whose members are there already."""
    cls.metadata["members"], cls.metadata["make"] = members, _by_value


def _value(run: Interpreter, cls: Class, name: str, value: Value, members: list[Instance]) -> Value:
    """The value, counted where it is ``auto()``."""
    if not (isinstance(value, Instance) and value.cls.is_a("enum.auto")):
        return run.resolve(value)
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
    wanted = run.resolve(args[0])
    members: tuple[Instance, ...] = cls.metadata.get("members", ())
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
        return run.unknown("several flags")
    raise Raised("ValueError", None, ("Exception", "BaseException"))


def _as_value(value: Value) -> Value:
    """The number or string that a member of IntEnum, StrEnum or ``(str, Enum)`` is."""
    plain = isinstance(value, Instance) and any(c.qualified in ("builtins.int", "builtins.str") for c in value.cls.mro)
    return value.cells["value"] if plain and "value" in value.cells else value


def _operator(name: str) -> Any:
    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        left, right = _as_value(args[0]), _as_value(run.resolve(args[1]))
        if not isinstance(left, Instance) and not isinstance(right, Instance):
            return run.operate(name, left, right)
        if name in ("__eq__", "__ne__"):
            unknown = not isinstance(right, Instance) and not is_known(right)
            if unknown or stand_ins.may_be_one(left, right):
                return run.derived("==" if name == "__eq__" else "!=", left, right)
            return (left is right) is (name == "__eq__")
        return run.unknown("what members of an enumeration give")

    return work


def _text(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    value = args[0]
    if value.cls.is_a("enum.StrEnum") or value.cls.is_a("enum.IntEnum"):
        return str(value.cells["value"]) if is_known(value.cells["value"]) else run.unknown("a text", "str")
    return f"{value.cls.name}.{value.cells['name']}"


_OPERATORS: Final = (
    "eq", "ne", "lt", "le", "gt", "ge", "add", "sub", "mul", "floordiv", "truediv", "mod", "radd", "rsub", "rmul",
)  # fmt: skip
library_class(
    "enum.Enum",
    subclassed=_subclassed,
    methods={**{f"__{n}__": _operator(f"__{n}__") for n in _OPERATORS if not n.startswith("r")}, "__str__": _text},
)
library_class("enum.IntEnum", ("builtins.int", "enum.Enum"))
library_class("enum.StrEnum", ("builtins.str", "enum.Enum"))
library_class("enum.Flag", ("enum.Enum",))
library_class("enum.IntFlag", ("builtins.int", "enum.Flag"))
library_class("enum.auto")


@model("enum.unique")
def _unique(run: Interpreter, enumeration: Value) -> Value:
    return enumeration


@model("enum.member", "enum.nonmember")
def _plain(run: Interpreter, value: Value) -> Value:
    return value
