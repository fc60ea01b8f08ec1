"""How a class defines its objects' attributes: descriptors, properties, slots, frozen dataclasses, metaclasses."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import guards
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.values import MISSING, Class, Function, Instance, Method, Native, Property, StaticMethod, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = [
    "META",
    "READS",
    "WITHOUT_DICT",
    "asked_first",
    "is_data",
    "named",
    "of_metaclass",
    "refuse_frozen",
    "remove",
    "slots",
    "store",
]

READS: Final = "__getattribute__"
"""In the metadata of a class: that the program says how its attributes are read."""
META: Final = "metaclass of the program"
FROZEN: Final = "frozen"
SLOTS: Final = "slots"
WITHOUT_DICT: Final = ("builtins.object", "collections.deque")
"""Python's classes whose objects have no attributes of their own, as far as they are objects here."""
_BASES: Final = ("Exception", "BaseException")


def is_data(found: Value) -> bool:
    """Whether what a class has under a name comes before what its object has."""
    if type(found) is not Instance:
        return False
    cls = found.cls
    return cls.find("__get__") is not None and (cls.find("__set__") or cls.find("__delete__")) is not None


def asked_first(run: Interpreter, value: Instance, name: str, plainly: Callable[[], Value]) -> Value:
    """``value.name`` where the class has a ``__getattribute__`` of its own."""
    hook = run.special(value, READS)
    if hook is None or isinstance(hook, Native):
        return plainly()
    try:
        return run.call(hook, (name,))
    except Raised as error:
        last = run.special(value, "__getattr__")
        if last is None or "AttributeError" not in (error.name, *error.bases):
            raise
        return run.call(last, (name,))


def of_metaclass(run: Interpreter, cls: Class, name: str, found: tuple[Any, Class] | None) -> Value:
    """The attribute that a class has by its metaclass, None where that has none."""
    meta: Class = cls.metadata[META]
    own = meta.find(name)
    if own is None or own[1].module == "builtins" or name in ("__init__", "__new__", "__call__"):
        hook = meta.find("__getattr__")
        return run.call(Method(hook[0], cls), (name,)) if hook is not None and found is None else None
    if found is not None and not (isinstance(own[0], Property) or is_data(own[0])):
        return None
    if isinstance(own[0], Property):
        return run.call(own[0].getter, (cls,))
    if isinstance(own[0], Function):
        return Method(own[0], cls)
    if isinstance(own[0], StaticMethod):
        return Method(own[0].function, meta) if own[0].of_class else own[0].function
    if type(own[0]) is Instance and (getter := own[0].cls.find("__get__")) is not None:
        return run.call(Method(getter[0], own[0]), (cls, meta))
    return own[0]


def refuse_frozen(cls: Class, name: str) -> None:
    """Attributes of a frozen dataclass are neither set nor deleted; a class that derives from one may have others.

    Raises:
        Raised: it is one.
    """
    frozen = [c for c in cls.mro if c.metadata.get(FROZEN)]
    if any(c is cls or any(f.name == name for f in c.metadata.get("dataclass", ())) for c in frozen):
        raise Raised("FrozenInstanceError", None, ("AttributeError", *_BASES))


def slots(cls: Class) -> frozenset[str] | None:
    """The names that objects of the class may have; None where there may be any."""
    names: set[str] = set()
    for c in cls.mro:
        if c.qualified == "builtins.object":
            continue
        own = c.metadata.get(SLOTS)
        if own is None or "__dict__" in own:
            return None
        names.update(own)
    return frozenset(names) if cls.unknown_base is None else None


def stated_slots(run: Interpreter, namespace: dict[str, Any]) -> tuple[str, ...] | None:
    """The names in ``__slots__`` of a class body."""
    held = run.resolve(namespace.get("__slots__", MISSING))
    found = (held,) if isinstance(held, str) else None if held is MISSING else run.items(held)
    return found if found is not None and all(isinstance(n, str) for n in found) else None


def store(run: Interpreter, value: Instance, name: str, new: Value) -> bool:
    """``value.name = new``, where that isn't a plain attribute. Whether it was dealt with.

    Raises:
        Raised: the attribute can't be set.
    """
    in_class = value.cls.find(name)
    if in_class is not None:
        held = in_class[0]
        if isinstance(held, Property) and not held.cached:
            if held.setter is None:
                _refuse_unless_native(held)
                return False
            run.call(held.setter, (value, new))
            return True
        if type(held) is Instance and (setter := held.cls.find("__set__")) is not None:
            run.call(Method(setter[0], held), (value, new))
            return True
        if type(held) is Instance and held.cls.find("__delete__") is not None:  # it may be deleted, but not set
            raise Raised("AttributeError", None, _BASES)
    allowed = slots(value.cls) if name != "__class__" else None
    is_own = "_fields" in value.cls.cells  # the class of a named tuple itself, whose objects have nothing else
    is_field = value.cls.metadata.get("tuple") and (is_own or any(name == n for n, _ in value.cls.fields or ()))
    has_none = value.cls.qualified in WITHOUT_DICT
    if (allowed is not None and name not in allowed) or is_field or has_none:
        raise Raised("AttributeError", None, _BASES)
    if any("__slots__" in c.cells and c.metadata.get(SLOTS) is None for c in value.cls.mro):
        guards.may_raise(run, (Raised("AttributeError", None, _BASES),))
    return False


def remove(run: Interpreter, value: Instance, name: str) -> bool:
    """``del value.name``, where that isn't a plain attribute. Whether it was dealt with.

    Raises:
        Raised: the attribute can't be deleted.
    """
    in_class = value.cls.find(name)
    held = in_class[0] if in_class is not None else None
    if isinstance(held, Property) and not held.cached:
        if held.deleter is None:
            _refuse_unless_native(held)
            return False
        run.call(held.deleter, (value,))
        return True
    if type(held) is Instance and (deleter := held.cls.find("__delete__")) is not None:
        run.call(Method(deleter[0], held), (value,))
        return True
    if type(held) is Instance and held.cls.find("__set__") is not None:
        raise Raised("AttributeError", None, _BASES)
    return False


def _refuse_unless_native(held: Property) -> None:
    """A library's class may have a setter that no model has."""
    if not isinstance(held.getter, Native):
        raise Raised("AttributeError", None, _BASES)


def named(run: Interpreter, cls: Class) -> None:
    """Descriptors are told the names that a class has given them."""
    for name, value in list(cls.cells.items()):
        if type(value) is Instance and (hook := value.cls.find("__set_name__")) is not None:
            run.call(Method(hook[0], value), (cls, name))
