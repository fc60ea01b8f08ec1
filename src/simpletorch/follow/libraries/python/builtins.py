"""Python's own functions and classes."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final, cast

from simpletorch.follow import attributes, branches, classes, files, guards, items, iteration, operators, texts
from simpletorch.follow.budget import LARGEST, is_huge, weight
from simpletorch.follow.budget import length as length_of_range
from simpletorch.follow.heap import now
from simpletorch.follow.libraries import NATIVES, VALUES, Work, by_name, gives, library_class, model, native
from simpletorch.follow.mistakes import events
from simpletorch.follow.model import abstract, coroutines, descriptors, iterators, kinds, members, metaclasses, often
from simpletorch.follow.numbers import between, offsets, processes, sizes
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.sources.syntax import has_effects
from simpletorch.follow.values import (
    MISSING,
    NEXT,
    SIZE,
    BoundNative,
    Choice,
    Class,
    Dict,
    Function,
    Instance,
    Iterator,
    Last,
    List,
    Method,
    Namespace,
    Native,
    Property,
    Set,
    Sizes,
    StaticMethod,
    Tensor,
    Unknown,
    Value,
    as_tuple,
    behind,
    is_int,
    is_known,
)
from simpletorch.rules import Device
from simpletorch.shapes import UNKNOWN, Expr, maximum, minimum

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

_ERRORS: Final = (
    ValueError,
    TypeError,
    ZeroDivisionError,
    OverflowError,
    IndexError,
    KeyError,
    AttributeError,
    LookupError,
)
_LONGEST: Final = 5_000


def computed(
    run: Interpreter, function: Callable[..., Any], args: tuple[Value, ...], kwargs: dict[str, Value]
) -> Value:
    """What Python's own function gives for known arguments.

    Raises:
        Raised: it raises.
    """
    try:
        return function(*args, **kwargs)
    except _ERRORS as error:
        bases = tuple(c.__name__ for c in type(error).__mro__[1:])
        raise Raised(type(error).__name__, None, bases) from None


VALUES.update({"builtins.Ellipsis": ..., "builtins.NotImplemented": NotImplemented, "builtins.__debug__": True})


# -- objects of Python's classes -------------------------------------------------------------------------------------


def _make_int(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    if not args:
        if kwargs:
            raise kinds.error("TypeError")
        return 0
    return run.each(args[0], lambda v: _int(run, v, args[1:], kwargs))


def _int(run: Interpreter, value: Value, rest: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    if isinstance(value, Expr) or (isinstance(value, Unknown) and value.type == "int"):
        return value
    if isinstance(value, Tensor):
        return (
            offsets.as_number(value, run.ask("Tensor.__int__", (value,)))
            if not value.array
            else run.unknown("a number of an array", "int", "data")
        )
    if is_known(value) and all(map(is_known, rest)):
        return computed(run, int, (value, *rest), kwargs)
    for name in ("__int__", "__index__", "__trunc__") if isinstance(value, Instance) else ():
        if (own := run.special(value, name)) is not None:
            return _as_number(run, run.call(own, ()), int)
    if branches.type_name(value) is None:
        kinds.need(run, value, "__int__", "__index__", "__trunc__")
    if (number := processes.number_in(run, value)) is not None:
        return number
    return run.unknown("an int made of what isn't known", "int", getattr(value, "cause", "code"))


def _as_number(run: Interpreter, value: Value, kind: type) -> Value:
    """A number that an object's own method gives.

    Raises:
        Raised: it is no such number.
    """
    value = run.resolve(value)
    if (is_known(value) or isinstance(value, List | Dict | Set)) and not isinstance(value, kind):
        raise kinds.error("TypeError")
    return value


def _make_float(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    value = run.resolve(args[0]) if args else 0.0
    if isinstance(value, Tensor) and not value.array:
        return run.ask("Tensor.__float__", (value,))
    if is_known(value) and not isinstance(value, tuple):
        return computed(run, float, (value,), {})
    for name, kind in (("__float__", float), ("__index__", int)) if isinstance(value, Instance) else ():
        if (own := run.special(cast(Instance, value), name)) is not None:
            found = _as_number(run, run.call(own, ()), kind)
            return float(found) if type(found) is int else found
    if branches.type_name(value) is None:
        kinds.need(run, value, "__float__", "__index__")
    return run.unknown("a float", "float", getattr(value, "cause", "data"))


def _make_bool(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    if not args:
        return False
    return operators.as_bool(run, args[0])


def _make_str(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    value = run.resolve(args[0]) if args else kwargs.get("object", "")
    if len(args) > 1 or kwargs:
        known = all(map(is_known, (*args, *kwargs.values()))) and weight(value) <= LARGEST
        return computed(run, str, args, kwargs) if known else run.unknown("a text", "str")
    if is_known(value) and not texts.is_of_torch(value) and weight(value) <= LARGEST:
        return computed(run, str, (value,), {})
    if isinstance(value, Instance) and (own := run.special(value, "__str__") or run.special(value, "__repr__")):
        return run.call(own, ())
    return run.unknown("the text of a value", "str", getattr(value, "cause", "code"))


def _sequence(
    run: Interpreter,
    args: tuple[Value, ...],
    items_of: Callable[[Interpreter, Value], tuple[Value, ...] | None] = iteration.items,
) -> tuple[Value, ...] | Value:
    """The items of the only argument; where their number isn't known, an unknown-length list of them."""
    if not args:
        return ()
    is_hinted = items_of is iteration.items  # no set is made of them
    source = iteration.gathered(run, args[0]) if is_hinted else iteration.check(run, args[0])
    found = None if isinstance(source, Choice) else items_of(run, source)
    if found is not None:
        return found
    size = between.size_of(source)
    return offsets.filled(run, iteration.item(run, source), size)


def _make_list(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    found = _sequence(run, args)
    if not isinstance(found, tuple):
        return found
    made = List(found)
    if args and isinstance(run.resolve(args[0]), Set | frozenset) and (held := iteration.members(run, args[0])):
        made.cells[iteration.MEMBERS] = found, held
    return made


def _make_tuple(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    if args and isinstance(run.resolve(args[0]), tuple):
        return tuple(run.resolve(args[0]))
    found = _sequence(run, args)
    if isinstance(found, List):
        return as_tuple(found) if found.items is None else found.items
    return found


def _make_set(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    if args and isinstance(text := run.resolve(args[0]), str | bytes):
        return Set(tuple(dict.fromkeys(text)))  # few letters, however long the text is
    found = _sequence(run, args, iteration.members)
    for value in found if isinstance(found, tuple) else ():
        items.check_key(run, value)
    if isinstance(found, tuple) and all(map(is_known, found)):
        return Set(found)
    return Set((), open=True)


def _make_frozenset(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    found = _sequence(run, args, iteration.members)
    for value in found if isinstance(found, tuple) else ():
        items.check_key(run, value)
    known = isinstance(found, tuple) and all(map(is_known, found))
    return frozenset(found) if known else run.unknown("what a frozenset holds", "frozenset")


def make_dict(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``dict(...)``."""
    made = Dict()
    if args:
        items.update(run, made, args[0])
    for name, value in kwargs.items():
        run.heap.write(made.cells, name, value)
    return made


def _make_range(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    args = tuple(items.as_index(run, run.resolve(a)) for a in args)
    for one in args:
        if branches.type_name(one) == "float":
            shown = one if isinstance(one, float) else "a float"
            return guards.refuse(run, f"range takes ints, but it is given {shown}", "divide with //, or use int()")
        if isinstance(one, Sizes):
            return guards.refuse(run, f"range takes ints, but it is given the shape {one}", "take a size of it: [0]")
    if all(map(is_known, args)):
        return computed(run, range, args, {})
    for one in args:
        kinds.need(run, one, "__index__")
    if len(args) == 2 and isinstance(args[1], int) and args[1] <= _least_rank(args[0]):
        return computed(run, range, (0,), {})
    number = run.unknown("a number of a range", "int", "data")
    start, step = args[0] if len(args) > 1 else 0, args[2] if len(args) > 2 else 1
    number.first = (start, step > 0) if isinstance(start, int) and isinstance(step, int) else None
    made = Iterator(None, number)
    size = sizes.named_dim(run, args[0]) if len(args) == 1 else UNKNOWN
    if isinstance(size, Expr):
        made.cells[SIZE] = None, 0, size
    return made


def _least_rank(value: Value) -> int:
    """The least that the number of a tensor's dims may be; 0 if it is another number."""
    match value:
        case Unknown(fact=("ndim", Tensor() as counted, _)):
            return counted.type.shape.min_rank
    return 0


def _make_type(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    if len(args) == 1:
        return run.each(args[0], lambda v: run.attribute(v, "__class__"))
    if len(args) == 3 and any(
        kinds.is_of_python(run.resolve(a)) and not isinstance(run.resolve(a), kind)
        for a, kind in zip(args, (str, tuple, Dict), strict=True)
    ):
        raise kinds.error("TypeError")
    if len(args) == 3 and cls.qualified == "builtins.type":
        name, bases, namespace = map(run.resolve, args)
        if not isinstance(behind(namespace), Dict | Unknown | Choice) and not _is_open(namespace):
            raise kinds.error("TypeError")
        if type(name) is str and type(bases) is tuple:
            held = namespace if isinstance(namespace, Dict) else Dict({}, run.unknown("what a class has"))
            return classes.build(run, name, tuple(map(run.resolve, bases)), held, kwargs)
    return run.unknown("a class that is made at run time")


def _is_open(value: Value) -> bool:
    """Whether an object may be of a class that isn't known: one that derives from dict."""
    return isinstance(value, Instance) and value.cls.unknown_base is not None


def _make_slice(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return slice(*map(run.resolve, args))


def _make_property(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    said = by_name("fget fset fdel", args, kwargs)
    return Property(said.get("fget"), said.get("fset"), deleter=said.get("fdel"))


def _make_complex(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    all_known = all(map(is_known, (*args, *kwargs.values())))
    return computed(run, complex, args, kwargs) if all_known else run.unknown("a complex number", "complex")


def _init_dict(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``dict.__init__`` of an object of a subclass."""
    from simpletorch.follow import items

    held = behind(args[0])
    if isinstance(held, Dict):
        items.update(run, held, make_dict(run, args[0].cls, args[1:], kwargs))
    return None


def _init_list(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``list.__init__`` of an object of a subclass."""
    held, found = behind(args[0]), _sequence(run, args[1:])
    if isinstance(held, List):
        known = isinstance(found, tuple)
        run.heap.write(held.cells, "items", found if known else None)
        run.heap.write(held.cells, "item", None if isinstance(found, tuple) else found.item)
    return None


def _init_set(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``set.__init__`` of an object of a subclass."""
    held, found = behind(args[0]), _make_set(run, args[0].cls, args[1:], kwargs)
    if isinstance(held, Set) and isinstance(found, Set):
        for value in found.cells:
            run.heap.write(held.cells, value, True)
        run.heap.write(held.state, "open", found.state["open"])
    return None


_INITS: Final = {"dict": _init_dict, "list": _init_list, "set": _init_set}
library_class("builtins.object", ())
for _name, _make in {
    "int": _make_int,
    "float": _make_float,
    "bool": _make_bool,
    "str": _make_str,
    "list": _make_list,
    "tuple": _make_tuple,
    "set": _make_set,
    "frozenset": _make_frozenset,
    "dict": make_dict,
    "range": _make_range,
    "type": _make_type,
    "slice": _make_slice,
    "property": _make_property,
    "complex": _make_complex,
}.items():
    library_class(
        f"builtins.{_name}",
        ("builtins.int",) if _name == "bool" else (),
        make=_make,
        methods={"__init__": _INITS[_name]} if _name in _INITS else None,
    )


def _make_bytes(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = tuple(
        found if isinstance(a, List) and (found := a.items) is not None else a for a in map(run.resolve, args)
    )
    if all(map(is_known, (*given, *kwargs.values()))) and not any(isinstance(a, int) and a > LARGEST for a in given):
        made = computed(run, bytes, given, kwargs)
        if cls.name == "bytes":
            return made
    return run.unknown(f"what {cls.name} gives")


library_class("builtins.bytes", make=_make_bytes)
library_class("builtins.bytearray", make=_make_bytes)
for _name in ("memoryview", "NoneType"):
    library_class(f"builtins.{_name}", make=lambda run, cls, args, kwargs: run.unknown(f"what {cls.name} gives"))


def _register_exceptions() -> None:
    """Python's exceptions with their bases."""
    for name, value in vars(builtins).items():
        if isinstance(value, type) and issubclass(value, BaseException) and value.__name__ == name:
            library_class(f"builtins.{name}", tuple(f"builtins.{base.__name__}" for base in value.__bases__))


_register_exceptions()


# -- functions -------------------------------------------------------------------------------------------------------


gives("builtins.input", "str", "data")


@model("builtins.print")
def _print(
    run: Interpreter, *values: Value, sep: Value = " ", end: Value = "\n", file: Value = None, flush: Value = False
) -> Value:
    if file is not None:
        files.spoiled(run, (file,))
    _ask(run, file, ("write", "flush"))
    for value in values:
        _ask(run, value, ("__str__", "__repr__"))
    return None


def _ask(run: Interpreter, value: Value, names: tuple[str, ...]) -> None:
    """Python calls these methods of an object: they may change it."""
    own = tuple(f for f in often.own_methods(run, value, names) if has_effects(f.node))
    if own:
        guards.may_raise(run, guards.ANY)
        run.escape((run.resolve(value), *own))


@model("builtins.breakpoint", "builtins.help")
def _asks(run: Interpreter, *more: Value, **rest: Value) -> Value:
    return None


@model("builtins.len")
def _len(run: Interpreter, obj: Value, /) -> Value:
    return run.each(obj, lambda v: length(run, v))


def length(run: Interpreter, value: Value) -> Value:
    """``len(value)``."""
    if isinstance(value, Tensor):
        return _first_size(run, value)
    if isinstance(value, Instance):
        if (own := run.special(value, "__len__")) is not None:
            return branches.length_said(run, run.call(own, ()))
        if behind(value) is not value:
            return length(run, behind(value))
        kinds.need(run, value, "__len__")
        return run.unknown(f"the length of {value!r}", "int")
    if isinstance(value, List):
        known = between.count(value)
        if known is not None:
            return known
        made = run.unknown("how long a list is", "int", branches.cause_of(value))
        made.offset = offsets.size_of(run, value)
        return made
    if isinstance(value, Dict):
        ways = items.whole(run, value)
        if ways is not value:
            return run.each(ways, lambda v: length(run, v))
        return len(value.cells) if value.rest is MISSING else run.unknown("how many items a dict has", "int")
    if isinstance(value, Set):
        return run.unknown("how many items a set has", "int") if value.open else len(value.cells)
    if isinstance(value, range):
        size = length_of_range(value)
        if size > sys.maxsize:
            raise Raised("OverflowError", None, ("ArithmeticError", "Exception", "BaseException"))
        return size
    if isinstance(value, tuple | str | bytes | frozenset):
        return len(value)
    if isinstance(value, Class) and (own := metaclasses.special(value, "__len__")) is not None:
        return run.call(own, ())
    if isinstance(value, Class) and "members" in value.metadata:
        return len(value.metadata["members"])
    if isinstance(value, Unknown) and value.length is not None:
        return value.length
    kinds.need(run, value, "__len__")
    return run.derived("len", value, None, "int")


def _first_size(run: Interpreter, value: Tensor) -> Value:
    shape = run.attribute(value, "shape")
    return shape[0] if isinstance(shape, tuple) and shape else run.unknown("the length of an array", "int", "data")


@model("builtins.isinstance")
def _isinstance(run: Interpreter, obj: Value, class_or_tuple: Value, /) -> Value:
    return operators.is_instance(run, obj, class_or_tuple)


@model("torch.is_tensor")
def _is_tensor(run: Interpreter, obj: Value, /) -> Value:
    return operators.is_instance(run, obj, run.program.library_class("torch.Tensor"))


@model("builtins.issubclass")
def _issubclass(run: Interpreter, cls: Value, class_or_tuple: Value, /) -> Value:
    if isinstance(class_or_tuple, Class) and (own := metaclasses.special(class_or_tuple, "__subclasscheck__")):
        return operators.as_bool(run, run.call(own, (cls,)))
    options = class_or_tuple if isinstance(class_or_tuple, tuple) else (class_or_tuple,)
    if options and any(kinds.is_of_python(run.resolve(v)) for v in (cls, *options)):
        raise kinds.error("TypeError")
    if isinstance(cls, Class) and all(isinstance(o, Class) for o in options):
        answers = [_derives(run, cls, o) for o in options]
        if True in answers or None not in answers:
            return True in answers
    return run.unknown("what a class is derived from", "bool")


def _derives(run: Interpreter, cls: Class, other: Class) -> bool | None:
    """``issubclass(cls, other)``; None where that isn't known."""
    if any(metaclasses.REBASED in c.metadata for c in cls.mro):
        return None
    if operators.is_subclass(cls, other):
        return True
    if cls.unknown_base is not None or metaclasses.may_claim(other):
        return None
    if other.is_a("typing.Protocol"):
        return None
    asked = abstract.asked_class(other)
    return False if asked is None else abstract.derives(run, cls, asked)


@model("builtins.callable")
def _callable(run: Interpreter, obj: Value, /) -> Value:
    def one(value: Value) -> Value:
        if isinstance(value, Unknown):
            return run.derived("callable", value, None)
        if isinstance(value, Instance):
            there = value.cls.find("__call__") is not None or value.cls.is_a("torch.nn.Module")
            unsure = value.cls.unknown_base is not None and not there
            return run.derived("callable", value, None) if unsure else there
        return isinstance(value, Function | Method | Native | BoundNative | Class | StaticMethod)

    return run.each(obj, one)


def _kind(*kinds: type) -> Work:
    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        value = run.resolve(args[0])
        return run.derived("kind", value, None) if isinstance(value, Unknown) else isinstance(value, kinds)

    return work


NATIVES["inspect.isfunction"] = Native("inspect.isfunction", _kind(Function))
NATIVES["inspect.ismethod"] = Native("inspect.ismethod", _kind(Method))
NATIVES["inspect.isclass"] = Native("inspect.isclass", _kind(Class))


@model("builtins.getattr")
def _getattr(run: Interpreter, owner: Value, name: Value, default: Value = MISSING, /) -> Value:
    if isinstance(name, Choice):
        return run.each(name, lambda n: _getattr(run, owner, n, default))
    if not isinstance(name, str):
        found = run.unknown("an attribute by a name that isn't known")
        found.given = (owner,)  # it may be a method
        often.computed(run, owner)
        return found
    if default is MISSING:
        return run.attribute(owner, name)
    try:
        found = _asked_for(run, owner, name)
    except Raised as error:
        if not is_no_attribute(error):
            raise
        found = MISSING
    return default if found is MISSING else found


def is_no_attribute(error: Raised) -> bool:
    """Whether an exception says that there is no such attribute."""
    return "AttributeError" in (error.name, *error.bases)


def _asked_for(run: Interpreter, owner: Value, name: str) -> Value:
    """An attribute, MISSING where there is surely none.

    Raises:
        Raised: the program's code that computes it raises this.
    """
    with run.asked():
        found = attributes.find(run, owner, name)
    one = run.resolve(owner)
    if isinstance(one, Tensor) and members.tensor_lacks(one, name):
        return MISSING
    if isinstance(found, BoundNative) and not isinstance(one, Tensor) and not attributes.is_there(one, name, found):
        return run.unknown(f".{name}, which may be there")
    return found


@model("builtins.hasattr")
def _hasattr(run: Interpreter, owner: Value, name: Value, /) -> Value:
    if isinstance(owner, Choice):
        return run.each(owner, lambda v: _hasattr(run, v, name))
    if not isinstance(name, str) or isinstance(owner, Unknown):
        return run.derived("hasattr", owner, name)
    if isinstance(owner, Instance) and isinstance(owner.cells.get(name), Choice):
        held = owner.cells[name]
        if MISSING in (held.when_true, held.when_false):
            return held.condition if held.when_false is MISSING else operators.negate(run, held.condition)
    try:
        found = _asked_for(run, owner, name)
    except Raised as error:
        if not is_no_attribute(error):
            raise
        return False
    return run.derived("hasattr", owner, name) if isinstance(found, Unknown) else found is not MISSING


@model("builtins.setattr")
def _setattr(run: Interpreter, obj: Value, name: Value, value: Value, /) -> Value:
    if isinstance(name, str):
        run.set_attribute(obj, name, value)
    elif isinstance(obj, Instance | Class):  # any attribute may be it
        by_any_name = run.unknown("an attribute that was set by a name that isn't known")
        for key in list(obj.cells):
            run.heap.write(obj.cells, key, by_any_name)
        if isinstance(obj, Instance):
            run.heap.write(obj.state, "open", True)
        else:
            obj.unknown_base = obj.unknown_base or by_any_name
    return None


@model("builtins.delattr")
def _delattr(run: Interpreter, obj: Value, name: Value, /) -> Value:
    if isinstance(name, str):
        attributes.delete(run, obj, name)
    else:
        run.escape((obj,))
    return None


@model("builtins.vars")
def _vars(run: Interpreter, owner: Value = None, /) -> Value:
    if isinstance(owner, Instance) and owner.cls.find("__dict__") is not None:
        return run.attribute(owner, "__dict__")
    if isinstance(owner, Instance):
        if descriptors.slots(owner.cls) is not None or owner.cls.qualified in descriptors.WITHOUT_DICT:
            raise kinds.error("TypeError")
        if owner.cls.native is not None or owner.cls.metadata.get("tuple") or not kinds.is_plain(run, owner.cls):
            guards.may_raise(run, guards.ANY)
        if not attributes.has_dict(run, owner):
            return run.unknown("the attributes of an object")
        return attributes.attributes_of(run, owner)
    if isinstance(owner, Namespace):
        return attributes.get(run, owner, "__dict__")
    if kinds.has_attribute(owner, "__dict__") is False:
        raise kinds.error("TypeError")
    guards.may_raise(run, guards.ANY)
    return run.unknown("the attributes of a value")


library_class(coroutines.NAME)


@model("builtins.iter")
def _iter(run: Interpreter, source: Value, sentinel: Value = MISSING, /) -> Value:
    if sentinel is MISSING:
        iteration.check(run, source)
    else:
        kinds.need(run, source, "__call__")
    if sentinel is not MISSING:
        return _until_sentinel(run, source, sentinel)
    if isinstance(source, Iterator):  # of a range it is known how long it is, but not of what is left of it
        return Iterator(None, source.cells["item"]) if SIZE in source.cells else source
    if (held := _of_deque(source)) is not None:
        return _over_deque(run, held, held.items or ())
    if isinstance(source, Instance) and source.cls.find("__iter__") is not None:
        own = source.cls.find("__iter__")
        found = run.resolve(run.call(run.attribute(source, "__iter__"), ()))
        if isinstance(found, Instance) or (own and isinstance(own[0], Function) and not isinstance(found, Iterator)):
            kinds.need(run, found, "__next__")
        return found if isinstance(found, Iterator | Instance) else _iter(run, found)
    if isinstance(source, Instance) and behind(source) is source:
        by_index = iteration.iterator(run, source)
        if isinstance(by_index, Iterator):
            return by_index
    if isinstance(source, Dict):
        source = run.resolve(run.call(BoundNative("keys", source), ()))
    if isinstance(source, List) and source.items is not None:
        return iterators.alive(source)
    found = run.items(source)
    if isinstance(source, Set) and found is not None:
        return _over_set(run, source, found)
    return Iterator(None, iteration.item(run, source)) if found is None else Iterator(found)


def _of_deque(value: Value) -> List | None:
    """The items of a deque, where they are known and the program's class doesn't go over them itself."""
    if not isinstance(value, Instance) or not value.cls.is_a("collections.deque"):
        return None
    held = value.cells.get("held")
    own = value.cls.find("__iter__")
    is_plain = own is not None and own[1].qualified == "collections.deque"
    return held if is_plain and isinstance(held, List) and held.items is not None else None


def _over_deque(run: Interpreter, source: List, found: tuple[Value, ...], *, backwards: bool = False) -> Iterator:
    """``iter`` and ``reversed`` of a deque: it refuses one that has changed meanwhile, backwards not at its end."""
    at, begun = iterators.Count(run, 0), source.items

    def changed() -> bool | None:
        number, now = at.value, source.items
        if backwards and number is not None and number >= len(found):
            return False
        if number is None or now is None or (now is not begun and len(now) == len(found)):
            guards.may_raise(run, guards.ANY)
            return None
        return now is not begun

    return _over_found(run, found, at, changed, "an item of a deque")


def _over_set(run: Interpreter, source: Set, found: tuple[Value, ...], first: int = 0) -> Iterator:
    """``iter`` of a set: it refuses one that has changed meanwhile."""
    at, size = iterators.Count(run, first), len(source.cells)

    def changed() -> bool | None:
        return None if source.open else len(source.cells) != size

    def again(given: int) -> Value:
        return _over_set(run, source, found, given)

    return _over_found(run, found, at, changed, "an item of a set", again)


def _over_found(
    run: Interpreter,
    found: tuple[Value, ...],
    at: iterators.Count,
    changed: Callable[[], bool | None],
    item: str,
    again: Callable[[int], Value] | None = None,
) -> Iterator:
    """Items in order, refused as soon as their source has changed; None where nobody knows whether it has."""

    def one() -> Value:
        number, is_other = at.value, changed()
        if number is None or is_other is None:
            return iterators.UNSURE
        if is_other:
            raise kinds.error("RuntimeError")
        if number >= len(found):
            return iterators.END
        at.value = number + 1
        return found[number]

    def whole() -> Value:
        number = at.value
        return Iterator(None, run.unknown(item)) if number is None else Iterator(found[number:])

    return iterators.lazily(iterators.Lazy(whole, one, minds=True, again=again))


_MOST_CALLS: Final = 16  # of a function that is called until it gives something


def _until_sentinel(run: Interpreter, function: Value, last: Value) -> Value:
    """``iter(function, last)``."""

    def one() -> Value:
        value = run.call(function, ())
        found = branches.truth(run, run.operate("__eq__", value, last))
        return iterators.UNSURE if not isinstance(found, bool) else iterators.END if found else value

    def whole() -> Value:
        taken: list[Value] = []
        while len(taken) < _MOST_CALLS and (value := one()) is not iterators.UNSURE:
            if value is iterators.END:
                return tuple(taken)
            taken.append(value)
        found = branches.common_item((*taken, run.call(function, ())))
        run.escape((function,))
        return Iterator(None, found)

    known = isinstance(function, Function | Method | BoundNative | Native | Class | Instance)
    if known and is_known(run.resolve(last)):
        return iterators.lazily(iterators.Lazy(whole, one, minds=True))
    try:
        found = tuple(run.call(function, ()) for _ in range(2))
        run.escape((function,))
        return Iterator(None, branches.common_item(found))
    except Raised:  # it isn't called before somebody asks
        return Iterator(None, run.unknown("an item of an iterator"))


@model("builtins.next")
def _next(run: Interpreter, source: Value, default: Value = MISSING, /) -> Value:
    if isinstance(source, Instance) and (own := run.special(source, "__next__")) is not None:
        try:
            return run.call(own, ())
        except Raised as error:
            if default is MISSING or error.name != "StopIteration":
                raise
            return default
    if not isinstance(source, Iterator):
        if (refused := events.NO_ITERATOR(run, source)) is not None:
            return refused
        kinds.need(run, source, "__next__")
        return run.unknown("the next item of what isn't known")
    found = iterators.pull(run, source)
    if found is iterators.END:
        if default is not MISSING:
            return default
        raise iterators.stop(run, source)
    if found is not iterators.UNSURE:
        return found
    left = source.items
    if left is None and default is not MISSING:
        condition = run.unknown("whether there is a next item", "bool", "data")
        return branches.merge(condition, iteration.another(source.cells["item"]), default)
    guards.may_raise(run, (kinds.error("StopIteration"),))
    if left is None:
        run.heap.write(source.cells, NEXT, 1)
        return iteration.another(source.cells["item"])
    return run.unknown("the next item of what isn't known")


def _lazily(
    run: Interpreter,
    sources: tuple[Value, ...],
    whole: Callable[[tuple[Value, ...]], Value],
    one: Callable[..., Value],
    again: Callable[[tuple[Value, ...], int], Value] | None = None,
    first: int = 0,
    *,
    minds: bool = False,
) -> Value:
    """The results for several iterables, item by item where these can be asked so, else at once."""
    sources = tuple(iteration.asked(run, iteration.check(run, s)) for s in sources)
    if not all(iterators.is_simple(run, s) for s in sources):
        return whole(sources)
    asked: list[Value] = []

    def next_one() -> Value:
        if not asked:
            asked.extend(iterators.over(run, s, first) for s in sources)
        return one(asked)

    minds = minds or iterators.minds(run, sources)
    later = None if again is None or minds else partial(again, sources)
    made = iterators.Lazy(lambda: whole(sources), next_one, minds=minds, over=sources, again=later)
    return iterators.lazily(made)


def _row(run: Interpreter, asked: list[Value]) -> tuple[Value, ...] | Value:
    """An item of each; `END` or `UNSURE` where one has none."""
    row: list[Value] = []
    for source in asked:
        found = iterators.pull(run, source)
        if found is iterators.END or found is iterators.UNSURE:
            return found
        row.append(found)
    return tuple(row) if row else iterators.END


def _full_row(run: Interpreter, asked: list[Value]) -> tuple[Value, ...] | Value:
    """The same where all must end together.

    Raises:
        Raised: one ends before another.
    """
    row: list[Value] = []
    for number, source in enumerate(asked):
        found = iterators.pull(run, source)
        if found is iterators.UNSURE:
            return found
        row.append(found)
        if (found is iterators.END) != (row[0] is iterators.END):
            raise kinds.error("ValueError")
        if number == len(asked) - 1 and found is iterators.END:
            return found
    return tuple(row) if row else iterators.END


@model("builtins.zip")
def _zip(run: Interpreter, *iterables: Value, strict: Value = False) -> Value:
    if strict is True:
        rows = [run.items(s) for s in iterables if not isinstance(s, Iterator)]
        differ = len({None if r is None else len(r) for r in rows}) > 1
        row = partial(_full_row, run)
        return _lazily(run, iterables, lambda given: _zip_whole(run, given, True), row, minds=differ)
    if strict is not False:
        return _zip_whole(run, iterables, strict)
    return _zipped(run, iterables)


def _zipped(run: Interpreter, sources: tuple[Value, ...], first: int = 0) -> Value:
    return _lazily(
        run,
        sources,
        lambda given: _zip_whole(run, given, False),
        lambda asked: _row(run, asked),
        partial(_zipped, run),
        first,
    )


def _zip_whole(run: Interpreter, args: tuple[Value, ...], strict: Value) -> Value:
    asked = tuple(map(run.resolve, args))
    simple = all(iterators.is_simple(run, a) for a in asked)
    ends = any(not isinstance(a, Iterator) or a.items is not None for a in asked)
    if simple and ends and iterators.minds(run, asked):
        sources = [iterators.over(run, a) for a in asked]
        row = _full_row if strict is True else _row
        made = iterators.lazily(iterators.Lazy(lambda: None, lambda: row(run, sources)))
        return Iterator(*iterators.taken(run, made, _LONGEST))
    rows = [run.items(a) for a in args]
    known = [r for r in rows if r is not None]
    if len(known) == len(rows):
        if strict is True and len({len(r) for r in known}) > 1:
            raise Raised("ValueError", None, ("Exception", "BaseException"))
        return Iterator(tuple(zip(*known, strict=False)))
    return Iterator(
        None,
        tuple(
            iteration.item(run, a) if r is None else branches.common_item(r) for a, r in zip(args, rows, strict=True)
        ),
    )


def _count(run: Interpreter, source: Value) -> int | None:
    """How many items a library's object gives, such as a loader."""
    source = run.resolve(source)
    if isinstance(source, Iterator):
        return source.count
    if not isinstance(source, Instance) or source.cls.module == run.program.main:
        return None
    found = run.resolve(length(run, source)) if source.cls.find("__len__") is not None else None
    return found if isinstance(found, int) else None


@model("builtins.enumerate")
def _enumerate(run: Interpreter, iterable: Value, start: Value = 0) -> Value:
    if not isinstance(start, int):
        return _enumerate_whole(run, iterable, start)
    return _numbered(run, start, (iterable,))


def _numbered(run: Interpreter, start: int, sources: tuple[Value, ...], first: int = 0) -> Value:
    number = iterators.Count(run, start + first)

    def one(asked: list[Value]) -> Value:
        at, row = number.value, _row(run, asked)
        if at is None or not isinstance(row, tuple):
            return iterators.UNSURE if at is None else row
        number.value = at + 1
        return (at, *row)

    def whole(given: tuple[Value, ...]) -> Value:
        return _enumerate_whole(run, given[0], start)

    return _lazily(run, sources, whole, one, partial(_numbered, run, start), first)


def _enumerate_whole(run: Interpreter, iterable: Value, start: Value) -> Value:
    source = iteration.stream(run, iterable)
    found = run.items(source)
    if found is None or not isinstance(start, int):
        one = iteration.item(run, source) if found is None else branches.common_item(found)
        number = run.unknown("a number of enumerate", "int", "data")
        number.first = (start, True) if isinstance(start, int) else None
        return _also_last(Iterator(None, (number, one), _count(run, iterable)), source, number)
    return _also_last(Iterator(tuple(enumerate(found, start))), source, start + len(found) - 1)


def _also_last(made: Iterator, source: Value, number: Value) -> Iterator:
    """The last batch of a loader is the last one of what counts them, too."""
    last = source.last if isinstance(source, Iterator) else None
    if last is not None:
        made.last = Last(lambda: (number, last.make()), last.samples, last.full)
    return made


@model("builtins.map")
def _map(run: Interpreter, function: Value, iterable: Value, /, *iterables: Value, strict: Value = False) -> Value:
    def one(asked: list[Value]) -> Value:
        row = _row(run, asked)
        return run.call(function, row) if isinstance(row, tuple) else row

    return _lazily(run, (iterable, *iterables), lambda given: _map_whole(run, function, given), one)


def _map_whole(run: Interpreter, function: Value, sources: tuple[Value, ...]) -> Value:
    rows = iteration.common_length(run, sources)
    if rows is None:
        row = tuple(iteration.item(run, a) for a in sources)
        return Iterator(None, often.repeat(run, lambda: run.call(function, row)))
    return Iterator(tuple(run.call(function, row) for row in rows))


@model("builtins.filter")
def _filter(run: Interpreter, function: Value, iterable: Value, /) -> Value:
    def one(asked: list[Value]) -> Value:
        while isinstance(row := _row(run, asked), tuple):
            keeps = branches.truth(run, row[0] if function is None else run.call(function, row))
            if not isinstance(keeps, bool):
                run.escape((function,))  # how often it is asked isn't known
                return iterators.UNSURE
            if keeps:
                return row[0]
        return row

    return _lazily(run, (iterable,), lambda given: _filter_whole(run, function, given[0]), one)


def _filter_whole(run: Interpreter, function: Value, source: Value) -> Value:
    found = run.items(source)
    if found is None:
        often.may_call(run, function)
        return Iterator(None, iteration.item(run, source))
    answers = [branches.truth(run, v if function is None else run.call(function, (v,))) for v in found]
    if not all(isinstance(a, bool) for a in answers):
        return Iterator(None, branches.common_item(found))
    return Iterator(tuple(v for v, a in zip(found, answers, strict=True) if a))


@model("builtins.reversed")
def _reversed(run: Interpreter, sequence: Value, /) -> Value:
    if isinstance(sequence, Instance) and (own := run.special(sequence, "__reversed__")) is not None:
        return run.call(own, ())
    if isinstance(sequence, Tensor) and not sequence.array:
        return sequence if sequence.type.shape.rank == 0 else run.call(run.attribute(sequence, "flip"), (0,))
    kinds.need(run, sequence, "__reversed__", "__getitem__")
    if kinds.has(run, sequence, "__reversed__") is not True:
        kinds.need(run, sequence, "__reversed__", "__len__")
    is_range = isinstance(sequence, Iterator) and sequence.cells.get("items") is None  # of an unknown length
    if isinstance(sequence, int | float | type(None) | Set | Iterator) and not is_range:
        raise Raised("TypeError", None, ("Exception", "BaseException"))
    if (held := _of_deque(sequence)) is not None:
        return _over_deque(run, held, tuple(reversed(held.items or ())), backwards=True)
    if isinstance(sequence, Instance) and behind(sequence) is sequence and sequence.cls.find("__getitem__"):
        return _by_index_backwards(run, sequence)
    sequence = behind(sequence)
    if isinstance(sequence, List) and sequence.items is not None:
        return _backwards(run, sequence, len(sequence.items) - 1)
    found = run.items(sequence)
    return Iterator(None, iteration.item(run, sequence)) if found is None else Iterator(tuple(reversed(found)))


def _by_index_backwards(run: Interpreter, sequence: Instance) -> Value:
    """``reversed`` of an object of the program's with a length and items."""
    count, get = length(run, sequence), run.special(sequence, "__getitem__")
    if not isinstance(count, int) or count > _LONGEST or get is None:
        return Iterator(None, run.call(get, (run.unknown("an index", "int"),)))
    left = iterators.Count(run, count - 1)

    def one() -> Value:
        at = left.value
        if at is None:
            return iterators.UNSURE
        if at < 0:
            return iterators.END
        left.value = at - 1
        return run.call(get, (at,))

    return iterators.lazily(iterators.Lazy(lambda: tuple(run.call(get, (i,)) for i in range(count - 1, -1, -1)), one))


def _backwards(run: Interpreter, source: List, last: int) -> Iterator:
    """``reversed`` of a list, which may change, from an item on."""
    left = iterators.Count(run, last)

    def one() -> Value:
        at, items_ = left.value, source.items
        if items_ is None or at is None:
            return iterators.UNSURE
        if not 0 <= at < len(items_):
            return iterators.END
        left.value = at - 1
        return items_[at]

    def whole() -> Value:
        at = left.value
        if source.items is None or at is None:
            return Iterator(None, iteration.item(run, source))
        return Iterator(tuple(reversed(source.items[: at + 1])) if at < len(source.items) else ())

    def again(given: int) -> Value:
        return _backwards(run, source, last - given)

    return iterators.lazily(iterators.Lazy(whole, one, over=(source,), again=again))


@model("builtins.sorted")
def _sorted(run: Interpreter, iterable: Value, /, *, key: Value = None, reverse: Value = False) -> Value:
    source = iteration.gathered(run, iterable)
    found = iteration.members(run, source)
    if found is None:
        often.may_call(run, key)
        return List(None, iteration.item(run, source))
    return List(in_order(run, found, {"key": key, "reverse": reverse}))


def in_order(run: Interpreter, found: tuple[Value, ...], kwargs: dict[str, Value]) -> tuple[Value, ...]:
    """The items sorted; where their order isn't known, so many of them, each of which may be any."""
    ordered = _in_known_order(run, found, kwargs)
    if ordered is not None or not found:
        return ordered or ()
    start = now()
    one = between.narrowed(run, branches.common_item(found), found)
    return sizes.repeated(run, one, len(found), start, iteration.another)


def _path_parts(value: Value) -> Value:
    """The key by which a path is sorted; another value itself."""
    is_path = isinstance(value, Instance) and value.cls.is_a("pathlib.PurePath") and isinstance(value.native, str)
    return PurePosixPath(value.native).parts if is_path else value


def _in_known_order(run: Interpreter, found: tuple[Value, ...], kwargs: dict[str, Value]) -> tuple[Value, ...] | None:
    key = run.resolve(kwargs.get("key"))
    keys = [_path_parts(v) for v in found] if key is None else [run.resolve(run.call(key, (v,))) for v in found]
    if not all(map(is_known, keys)):
        if len(keys) > 1 and not all(branches.type_name(k) for k in keys):
            guards.may_raise(run, guards.ANY)
        return None
    reverse = run.resolve(kwargs.get("reverse", False)) is True
    order = computed(run, sorted, (range(len(found)),), {"key": keys.__getitem__, "reverse": reverse})
    return tuple(found[i] for i in order)


def _extreme(run: Interpreter, name: str, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    if not args or not kwargs.keys() <= {"key", "default"} or (len(args) > 1 and "default" in kwargs):
        raise kinds.error("TypeError")
    found = args if len(args) > 1 else iteration.members(run, iteration.check(run, args[0]))
    if found is None:
        often.may_call(run, kwargs.get("key"))
        one = iteration.item(run, args[0])
        made = run.unknown(f"the {name} of a list", branches.type_name(one), getattr(one, "cause", "data"))
        made.without_tensors, made.scalar = branches.has_no_tensor(one), branches.is_scalar(one)
        return made
    if not found:
        if "default" in kwargs:
            return kwargs["default"]
        raise Raised("ValueError", None, ("Exception", "BaseException"))
    values = tuple(map(run.resolve, found))
    if any(isinstance(v, Choice) for v in values) and len(values) <= 4:
        at = next(i for i, v in enumerate(values) if isinstance(v, Choice))
        return run.each(values[at], lambda v: _extreme(run, name, (*values[:at], v, *values[at + 1 :]), kwargs))
    if all(map(is_known, values)) and kwargs.keys() <= {"key", "default"}:
        ordered = _in_known_order(run, values, {**kwargs, "reverse": name == "max"})
        if ordered is not None:
            return ordered[0]
    if all(map(is_int, values)) and "key" not in kwargs:
        out = values[0]
        for v in values[1:]:
            out = maximum(out, v) if name == "max" else minimum(out, v)
        return out
    if any(isinstance(v, Tensor) for v in values):
        guards.may_raise(run, guards.OF_TENSORS)
        return branches.common_item(values)
    types = {branches.type_name(v) for v in values}
    causes = {v.cause for v in values if isinstance(v, Unknown)}
    cause = "data" if causes == {"data"} else "code"
    found_type = types.pop() if len(types) == 1 else None  # of an int and a float, either may be it
    made = run.unknown(f"the {name} of values that aren't known", found_type, cause)
    made.without_tensors = all(map(branches.has_no_tensor, values))
    made.scalar = all(map(branches.is_scalar, values))
    return made


@native("builtins.super")
def _super(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """Under another name than its own: where a method calls ``super()``, `expressions` looks around it."""
    run.escape(args)
    return run.unknown("super() under another name")


@native("builtins.max")
def _max(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return _extreme(run, "max", args, kwargs)


@native("builtins.min")
def _min(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return _extreme(run, "min", args, kwargs)


@model("builtins.sum")
def _sum(run: Interpreter, iterable: Value, /, start: Value = 0) -> Value:
    source = iteration.asked(run, iteration.check(run, iterable))
    out: Value = start
    if isinstance(run.resolve(start), str | bytes):
        raise kinds.error("TypeError")
    if iterators.can_pull(source) and (source.lazy is None or not source.lazy.minds):
        taken = 0
        while taken < _LONGEST and (one := iterators.pull(run, source)) is not iterators.UNSURE:
            if one is iterators.END:
                return out
            out, taken = run.operate("__add__", out, one), taken + 1
        run.escape((source,))
        return run.unknown("a sum")
    found = iteration.members(run, source)
    if found is None:
        one = iteration.item(run, iterable)
        return (
            run.operate("__add__", one, one)
            if isinstance(one, Tensor)
            else run.unknown("a sum", branches.type_name(one), getattr(one, "cause", "data"))
        )
    for value in found:
        out = run.operate("__add__", out, value)
    return out


@model("builtins.abs")
def _abs(run: Interpreter, x: Value, /) -> Value:
    def one(value: Value) -> Value:
        if isinstance(value, Tensor):
            return run.ask("Tensor.__abs__", (value,))
        if isinstance(value, Instance) and (own := run.special(value, "__abs__")) is not None:
            return run.call(own, ())
        if is_known(value) or isinstance(value, List | Dict | Set):
            return computed(run, abs, (value,), {})
        made = run.unknown("an absolute value", branches.type_name(value), getattr(value, "cause", "code"))
        made.without_tensors = branches.has_no_tensor(value)
        return made

    return run.each(x, one)


_SPECIAL: Final = {
    "builtins.divmod": "__divmod__", "builtins.pow": "__pow__", "builtins.repr": "__repr__", "round": "__round__",
    "builtins.format": "__format__", "builtins.hash": "__hash__", "math.floor": "__floor__", "math.ceil": "__ceil__",
    "math.trunc": "__trunc__", "builtins.ascii": "__repr__",
}  # fmt: skip
"""By function, the method of an object that it calls."""


def _of_object(run: Interpreter, name: str, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """The result of such a function for an object of the program's; MISSING where its class doesn't define it."""
    method = run.special(args[0], _SPECIAL[name])
    if method is None:
        return MISSING
    found = run.call(method, (*args[1:], *(("",) if name == "builtins.format" and len(args) == 1 else ())), kwargs)
    return hash(found) if name == "builtins.hash" and type(found) is int else found  # -1 becomes -2


def pure(name: str, function: Callable[..., Any], type: str | None = None) -> Native:
    """A function that Python computes where all arguments are known; else its result is unknown, of this class."""

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        args = tuple(map(run.resolve, args))
        for i, a in enumerate(args):
            if isinstance(a, Choice):
                return run.each(a, lambda v, i=i: work(run, (*args[:i], v, *args[i + 1 :]), kwargs))  # type: ignore[misc]
        is_other = type == "str" and any(texts.is_of_torch(v) or isinstance(v, Device) for v in args)
        if args and isinstance(args[0], Instance) and name in _SPECIAL:
            found = _of_object(run, name, args, kwargs)
            if found is not MISSING:
                return found
        if name == "builtins.hash" and args:
            items.check_key(run, args[0])
        known = all(map(is_known, (*args, *kwargs.values()))) and not is_other
        if known and not is_huge(name, args) and weight(args) <= LARGEST:
            return computed(run, function, args, kwargs)
        causes = {v.cause for v in args if isinstance(v, Unknown)}
        made = run.unknown(f"what {name} gives", type, "data" if causes == {"data"} else "code")
        made.scalar = name == "builtins.pow" and all(branches.type_name(v) in ("int", "float") for v in args)
        return made

    return Native(name, work)


for _name, _type in {
    "divmod": None,
    "pow": None,
    "chr": "str",
    "ord": "int",
    "hash": "int",
    "repr": "str",
    "format": "str",
    "hex": "str",
    "bin": "str",
    "oct": "str",
    "ascii": "str",
}.items():
    NATIVES[f"builtins.{_name}"] = pure(f"builtins.{_name}", getattr(builtins, _name), _type)


@model("builtins.round")
def _round(run: Interpreter, number: Value, ndigits: Value = MISSING) -> Value:
    def one(value: Value) -> Value:
        if isinstance(value, Tensor) and not value.array:
            raise kinds.error("TypeError")
        if isinstance(value, Tensor):
            return run.unknown("a rounded number")
        places = () if ndigits is MISSING else (ndigits,)
        type_ = "int" if ndigits is None or ndigits is MISSING else branches.type_name(value)
        return pure("round", round, type_).work(run, (value, *places), {})

    return run.each(number, one)


@model("builtins.any")
def _any(run: Interpreter, iterable: Value, /) -> Value:
    return _quantified(run, iterable, True)


@model("builtins.all")
def _all(run: Interpreter, iterable: Value, /) -> Value:
    return _quantified(run, iterable, False)


def _quantified(run: Interpreter, source: Value, wanted: bool) -> Value:
    source = iteration.asked(run, iteration.check(run, source))
    while iterators.can_pull(source):
        one = iterators.pull(run, source)
        if one is iterators.END:
            return not wanted
        answer = None if one is iterators.UNSURE else branches.truth(run, one)
        if answer is wanted:
            return wanted
        if not isinstance(answer, bool):
            run.items(source)
            return run.unknown("whether any or all of what isn't known holds", "bool")
    found = iteration.members(run, source)
    if found is None:
        return run.unknown("whether any or all of what isn't known holds", "bool")
    answers: list[object] = []
    for value in found:
        answers.append(branches.truth(run, value))
        if answers[-1] is wanted:
            return wanted
    if all(isinstance(a, bool) for a in answers):
        return not wanted
    return run.unknown("whether any or all of what isn't known holds", "bool")


@model("builtins.staticmethod")
def _staticmethod(run: Interpreter, function: Value, /) -> Value:
    return StaticMethod(function)


@model("builtins.classmethod")
def _classmethod(run: Interpreter, function: Value, /) -> Value:
    if isinstance(function, Property):  # it was asked for the class's value until Python 3.13
        return run.unknown("a property of a class")
    return StaticMethod(function, of_class=True)


@native("builtins.open")
def _open(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return run.call(run.program.library(run, "io.open"), args, kwargs)


@native("builtins.eval", "builtins.exec")
def _runs(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """Code that isn't known: it may change what it is given."""
    run.escape((*args, *kwargs.values()))
    guards.may_raise(run, guards.ANY)
    return run.unknown("what Python's own function gives")


@native("builtins.id", "builtins.globals", "builtins.locals", "builtins.compile")
def _dark(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return run.unknown("what Python's own function gives")


@native("builtins.__import__")
def _import(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return run.call(run.program.library(run, "importlib.__import__"), args, kwargs)


@native("builtins.dir")
def _dir(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """The names in a module of the program, in a plain class of it, or in an object of one."""
    owner = run.resolve(args[0]) if args else None
    if isinstance(owner, Instance) and (said := run.special(owner, "__dir__")) is not None:
        return run.call(run.program.builtin(run, "sorted"), (run.call(said, ()),))
    cls = owner.cls if isinstance(owner, Instance) else owner
    if isinstance(cls, Class) and (kinds.real(cls) is not None or any("__slots__" in c.cells for c in cls.mro)):
        return List(None, run.unknown("a name", "str"))
    if isinstance(cls, Class) and owner is not None:
        own = {n for c in cls.mro[:-1] for n in c.cells}
        held = {n for n in owner.cells if isinstance(n, str)} if isinstance(owner, Instance) else set()
        is_plain = all(c.module in run.program.modules and not c.unknown_base for c in cls.mro[:-1])
        if is_plain and cls.native is None and not (isinstance(owner, Instance) and owner.state.get("open")):
            return List(tuple(sorted(own | held | {*dir(object), "__dict__", "__module__", "__weakref__"})))
        return List(None, run.unknown("a name", "str"))
    found = attributes.get(run, owner, "__dict__") if isinstance(owner, Namespace) else None
    if isinstance(found, Dict) and found.rest is MISSING and items.whole(run, found) is found:
        return List(tuple(sorted(found.cells)))
    return List(None, run.unknown("a name", "str"))


def _name_in(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``torch.nn.__dict__[name]``."""
    owner, name = run.program.library(run, args[0].native), run.resolve(args[1])
    return run.attribute(owner, name) if isinstance(name, str) else run.unknown(f"a name in {args[0].native}")


library_class(
    "builtins._Names",
    methods={"__getitem__": _name_in, "get": _name_in},
    unknown="the names in a library",
)


@model("builtins.exit", "builtins.quit", "sys.exit", "os._exit")
def _exit(run: Interpreter, *more: Value, **rest: Value) -> Value:
    raise Raised("SystemExit", None, ("BaseException",))
