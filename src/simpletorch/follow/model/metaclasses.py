"""How a class is made: its metaclass, what its bases say of subclasses, whether objects of it can be made."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from simpletorch.follow import guards
from simpletorch.follow.model import descriptors, kinds
from simpletorch.follow.model.descriptors import META
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.values import (
    MISSING,
    Class,
    Dict,
    Function,
    List,
    Method,
    Missing,
    Native,
    Property,
    StaticMethod,
    Super,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = [
    "ABC",
    "ABSTRACT",
    "REGISTERS",
    "begin",
    "behaves_otherwise",
    "check_bases",
    "is_abstract",
    "mark_abstract",
    "may_claim",
    "of_type",
    "settle",
    "special",
    "subclassed",
]

ABSTRACT: Final = "abstract"
ABC: Final = "abc"
QUALIFIED: Final = "qualified"  # the name with those of the classes around it; None inside of functions
REGISTERS: Final = "registers"
REBASED: Final = "rebased"  # its bases were set anew
UNWRITTEN: Final = "unwritten"  # what the namespace of its body has that no statement puts there
CELL: Final = "__classcell__"
_TOLD: Final = "told"  # its descriptors and bases know of the class
_GIVEN: Final = "given"  # the keywords that a metaclass hands on to `type.__new__`
"""In the metadata of an abstract class: that other classes may be told to be subclasses of it."""
_MARK: Final = "__isabstractmethod__"
_BASES: Final = ("Exception", "BaseException")
_VALUES: Final = frozenset({
    *(f"builtins.{n}" for n in ("int", "float", "str", "bytes", "tuple", "complex", "frozenset", "bytearray")),
    "collections.Counter", "collections.defaultdict",
})  # fmt: skip
"""Python's classes whose objects are kept as values, without a place for a class of the program's."""


def check_bases(cls: Class) -> None:
    """A class can't derive from these.

    Raises:
        Raised: there is no order of them, or one of them allows no subclasses.
    """
    if cls.unknown_base is not None:
        return
    if len(set(map(id, cls.bases))) < len(cls.bases):
        raise Raised("TypeError", None, _BASES)
    real = [next((vars(builtins).get(c.name) for c in b.mro if c.module == "builtins"), object) for b in cls.bases]
    kinds_ = [k for k in dict.fromkeys(real) if isinstance(k, type) and k is not object]
    try:  # whether Python's own classes go together
        type("_", tuple(k for k in kinds_ if not any(issubclass(o, k) and o is not k for o in kinds_)), {})
    except TypeError:
        raise Raised("TypeError", None, _BASES) from None
    if not all(c.module == cls.module or c.qualified == "builtins.object" for c in cls.mro):
        return  # the bases of a library's classes are known in part
    for row in (*(b.mro for b in cls.bases), cls.bases):
        places = [cls.mro.index(c) for c in row]
        if places != sorted(places):
            raise Raised("TypeError", None, _BASES)


def begin(run: Interpreter, cls: Class, bases: Sequence[Value], options: Mapping[str, Value]) -> Callable[[], Value]:
    """A class body is about to be run; gives what finishes the class behind it."""
    named = run.resolve(options["metaclass"]) if "metaclass" in options else None
    inherited = next((b.metadata[META] for b in cls.bases if META in b.metadata), None)
    meta = named if isinstance(named, Class) and named.module == run.program.main else inherited
    more = {k: v for k, v in options.items() if k != "metaclass"}
    others: Value | Missing = MISSING  # what else may be in the namespace
    if meta is not None:
        cls.metadata[META] = meta
        cls.metadata["metaclass"] = True
        prepare = meta.find("__prepare__")
        if prepare is not None and isinstance(prepare[0], StaticMethod | Function):
            inner = prepare[0].function if isinstance(prepare[0], StaticMethod) else prepare[0]
            given = run.resolve(run.call(inner, (meta, cls.name, tuple(bases)), more))
            if isinstance(given, Dict) and given.rest is MISSING:
                for name, value in given.cells.items():
                    run.heap.write(cls.cells, name, value)
            else:
                cls.unknown_base = others = run.unknown("what a metaclass prepares for a class")

    def finished() -> Value:
        cls.metadata[descriptors.SLOTS] = stated = descriptors.stated_slots(run, cls.cells)
        if kinds.is_of_python(own := run.resolve(cls.cells.get("__qualname__", ""))) and not isinstance(own, str):
            raise kinds.error("TypeError")
        _check_slots(run, cls)
        if stated is not None and any(cls.cells.get(n, MISSING) is not MISSING for n in stated):
            raise Raised("ValueError", None, _BASES)
        if "__eq__" in cls.cells and "__hash__" not in cls.cells:
            cls.metadata["unhashable"] = True
        if any(not isinstance(c.cells.get(descriptors.READS), Native | None) for c in cls.mro):
            cls.metadata[descriptors.READS] = True
        value: Value = cls
        if meta is not None:
            order = meta.find("mro")
            if order is not None and isinstance(order[0], Function):
                _put_in_order(run, cls, order[0])
            value = _by_metaclass(run, meta, cls, tuple(bases), more, others)
        has_abc = any(c.qualified == "abc.ABC" for c in cls.mro) or (
            isinstance(named, Class) and named.is_a("abc.ABCMeta")
        )
        cls.metadata[ABC] = has_abc or any(c.metadata.get(ABC) for c in cls.mro)
        settle(cls)
        return value

    return finished


def _check_slots(run: Interpreter, cls: Class) -> None:
    """``__slots__`` has names; objects of Python's classes of any length have none.

    Raises:
        Raised: it has something else.
    """
    held = run.resolve(cls.cells.get("__slots__", MISSING))
    if held is MISSING or not kinds.is_of_python(held):
        return
    kinds.need(run, held, "__iter__")
    names = (held,) if isinstance(held, str) else run.items(held)
    known = [n for n in map(run.resolve, names or ()) if kinds.is_of_python(n)]
    of_length = any(kinds.real(c) in (int, tuple, bytes) for c in cls.mro)
    fit = all(isinstance(n, str) and n.isidentifier() for n in known)
    if not fit or (known and of_length and "__dict__" not in known):
        raise kinds.error("TypeError")


def _put_in_order(run: Interpreter, cls: Class, order: Function) -> None:
    """Ask the metaclass's own ``mro`` for the classes in which names are looked up.

    Raises:
        Raised: it gives something else.
    """
    found = run.resolve(run.call(Method(order, cls), ()))
    given = run.items(found) if isinstance(found, List | tuple) else None
    if kinds.is_of_python(found) and not isinstance(found, List | tuple):
        raise kinds.error("TypeError")
    classes = [run.resolve(v) for v in given] if given is not None else []
    own = [c for c in classes if isinstance(c, Class) and (c.module == cls.module or c.qualified == "builtins.object")]
    if tuple(classes) == cls.usual_order or (own and own[0] is cls and len(own) == len(classes)):
        cls.put_in_order(tuple(classes))
        return
    guards.may_raise(run, guards.ANY)
    cls.put_in_order((cls,))
    cls.unknown_base = run.unknown("the order of a class's bases")


def settle(cls: Class) -> None:
    """Whether objects of a class can be made, by what it and its bases hold now."""
    cls.metadata[ABSTRACT] = bool(cls.metadata[ABC]) and cls.unknown_base is None and _has_abstract(cls)


def _by_metaclass(
    run: Interpreter,
    meta: Class,
    cls: Class,
    bases: tuple[Value, ...],
    options: dict[str, Value],
    others: Value | Missing,
) -> Value:
    """``meta(name, bases, namespace)`` of the class that is made of them."""
    unwritten = cls.metadata.pop(UNWRITTEN, {})
    namespace = Dict(unwritten | cls.cells, others)
    value: Value = cls
    new = meta.find("__new__")
    if new is not None and isinstance(new[0], Function | StaticMethod):
        inner = new[0].function if isinstance(new[0], StaticMethod) else new[0]
        run.pending.append((namespace, cls, unwritten))
        try:
            value = run.resolve(run.call(inner, (meta, cls.name, bases, namespace), options))
        finally:
            run.pending.pop()
        if isinstance(value, Unknown) and cls.unknown_base is None:
            cls.unknown_base = value
    init = meta.find("__init__")
    if value is cls and init is not None and isinstance(init[0], Function):
        run.call(Method(init[0], cls), (cls.name, bases, namespace), options)
    return value


def of_type(run: Interpreter, value: Super, name: str) -> Value:
    """``super().name`` in a metaclass, where that is what ``type`` itself does; MISSING if it isn't."""
    receiver = value.receiver
    if not isinstance(receiver, Class):
        return MISSING
    if name == "__new__" and receiver.is_a("builtins.type"):
        return Native(name, _new)
    meta = receiver.metadata.get(META)
    if meta is None or value.after not in meta.mro:
        return MISSING
    found = meta.find(name, after=value.after)
    if found is not None and isinstance(found[0], Function):
        return Method(found[0], receiver)
    if name == "__call__":
        return Native(name, lambda run, args, kwargs: run.make(receiver, args, kwargs))
    if name == "__init__":
        return Native(name, lambda run, args, kwargs: None)
    if name == "mro":
        return Native(name, lambda run, args, kwargs: List(receiver.usual_order))
    if name in ("__setattr__", "__delattr__"):
        return Native(name, lambda run, args, kwargs: run.heap.write(receiver.cells, args[0], (*args[1:], MISSING)[0]))
    return run.unknown(f"{name} of a class")


def _new(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``type.__new__(meta, name, bases, namespace)``."""
    given = run.resolve(args[3]) if len(args) > 3 else None
    for namespace, cls, unwritten in reversed(run.pending):
        cls.metadata[_GIVEN] = kwargs
        if isinstance(given, Dict) and given.cells.get(CELL, MISSING) is not unwritten.get(CELL, MISSING):
            if CELL not in given.cells and given.rest is MISSING:
                raise Raised("RuntimeError", None, _BASES)
            guards.may_raise(run, guards.ANY)
        if isinstance(given, Dict) and given.rest is MISSING:
            for name in [n for n in cls.cells if n not in given.cells and n != "__annotations__"]:
                run.heap.write(cls.cells, name, MISSING)
            for name, value in given.cells.items():
                if name != CELL and value is not unwritten.get(name):
                    run.heap.write(cls.cells, name, value)
        elif given is not namespace or not isinstance(given, Dict):
            cls.unknown_base = run.unknown("what a metaclass makes of a class")
        subclassed(run, cls, kwargs)
        cls.metadata[_TOLD] = True
        return cls
    return run.unknown("a class that is made at run time")


def special(cls: Class, name: str) -> Value:
    """The method of the program's metaclass that an operation on the class itself calls, None without one."""
    meta = cls.metadata.get(META)
    found = None if meta is None else meta.find(name)
    return Method(found[0], cls) if found is not None and isinstance(found[0], Function) else None


def may_claim(cls: Class) -> bool:
    """Whether a class may count others as its subclasses that don't derive from it."""
    return any(c.metadata.get(REGISTERS) or "__subclasshook__" in c.cells for c in cls.mro)


def subclassed(run: Interpreter, cls: Class, options: Mapping[str, Value]) -> None:
    """The class is there: its descriptors, and its bases, are told."""
    if cls.metadata.pop(_TOLD, False):
        return
    descriptors.named(run, cls)
    found = cls.find("__init_subclass__", after=cls)
    given = cls.metadata.pop(_GIVEN, {k: v for k, v in options.items() if k != "metaclass"})
    if found is not None and isinstance(found[0], Function | StaticMethod):
        inner = found[0].function if isinstance(found[0], StaticMethod) else found[0]
        run.call(inner, (cls,), given)
    elif found is None:
        of_object(cls, given)


def of_object(cls: Class, options: Mapping[str, Value]) -> None:
    """``object.__init_subclass__(**options)`` for a class.

    Raises:
        Raised: there are options.
    """
    modules = {c.module for c in cls.mro if c.qualified != "builtins.object"}
    if options and cls.unknown_base is None and modules == {cls.module}:
        raise Raised("TypeError", None, _BASES)


# -- abstract classes ------------------------------------------------------------------------------------------------


def mark_abstract(run: Interpreter, value: Value) -> Value:
    """``abc.abstractmethod(value)``."""
    inner = run.resolve(value)
    while isinstance(inner, StaticMethod):
        inner = inner.function
    if isinstance(inner, Property):
        inner = inner.getter
    if isinstance(inner, Function):
        run.heap.write(inner.attributes, _MARK, True)
    return value


def is_abstract(value: Value) -> bool:
    """Whether a class has to give something else in its place."""
    if isinstance(value, StaticMethod):
        return is_abstract(value.function)
    if isinstance(value, Property):
        return any(is_abstract(f) for f in (value.getter, value.setter, value.deleter))
    return isinstance(value, Function) and value.attributes.get(_MARK) is True


def _has_abstract(cls: Class) -> bool:
    names = {n for c in cls.mro for n, v in c.cells.items() if is_abstract(v)}
    return any((found := cls.find(n)) is not None and is_abstract(found[0]) for n in names)


# -- classes that derive from Python's own ---------------------------------------------------------------------------


def behaves_otherwise(cls: Class) -> str | None:
    """The class of Python's that it derives from, if objects of that are kept as values without their class."""
    own = [c for c in cls.mro if c.module not in ("builtins", "collections", "typing", "abc")]
    base = next((c.name for c in cls.mro if c.qualified in _VALUES), None)
    return base if own and "members" not in cls.metadata and not cls.metadata.get("tuple") else None
