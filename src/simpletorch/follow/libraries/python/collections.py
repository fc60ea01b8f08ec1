"""``collections``: the other dicts, deques, named tuples; and ``collections.abc``."""

from __future__ import annotations

import collections.abc
import sys
from collections.abc import Callable
from keyword import iskeyword
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import branches, classes, guards, items, iteration
from simpletorch.follow.budget import LARGEST
from simpletorch.follow.libraries import OWN, library_class, model
from simpletorch.follow.libraries.python.builtins import make_dict
from simpletorch.follow.model import kinds, metaclasses
from simpletorch.follow.values import MISSING, Class, Dict, Instance, List, Native, StaticMethod, Tensor, Value, behind

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

_HERE: Final = Path(__file__).parent


def _given(name: str) -> Callable[[Interpreter, Class], None]:
    """The hook of an abstract class for its subclasses: it gets the methods of `abc.txt`."""

    def subclassed(run: Interpreter, cls: Class) -> None:
        own = run.program.library_class(f"collections.abc.{name}")
        text = run.program.library(run, f"simpletorch_abc.{name}")
        for short, value in text.cells.items() if isinstance(text, Class) else ():
            if short not in own.cells and short not in ("__module__", "__qualname__", "__doc__"):
                own.cells[short] = value
        metaclasses.settle(cls)

    return subclassed


for _name in collections.abc.__all__:
    OWN[f"simpletorch_abc.{_name}"] = _HERE / "abc.txt"
    _bases = [b.__name__ for b in getattr(collections.abc, _name).__bases__]
    library_class(
        f"collections.abc.{_name}",
        tuple(f"collections.abc.{b}" if b != "object" else "builtins.object" for b in _bases),
        subclassed=_given(_name),
        abc=True,
        abstract=bool(getattr(collections.abc, _name).__abstractmethods__),
    )


# -- dicts -----------------------------------------------------------------------------------------------------------


def _make_ordered(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    made: Dict = make_dict(run, cls, args, kwargs)
    made.kind = "OrderedDict"
    return made


def _make_default(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    factory = run.resolve(args[0]) if args else None
    if factory is not None and (kinds.is_of_python(factory) or isinstance(factory, Tensor)):
        raise kinds.error("TypeError")
    made: Dict = make_dict(run, cls, args[1:], kwargs)
    made.default, made.kind = factory, "defaultdict"
    return made


library_class("collections.OrderedDict", ("builtins.dict",), make=_make_ordered)
library_class("collections.defaultdict", ("builtins.dict",), make=_make_default)


OWN["collections.ChainMap"] = _HERE / "chain_map.txt"


# -- deques ----------------------------------------------------------------------------------------------------------


def _make_deque(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    made = Instance(cls)
    _fill(run, made, args, kwargs)
    return made


def _fill(run: Interpreter, made: Instance, args: tuple[Value, ...], kwargs: dict[str, Value]) -> None:
    """``deque.__init__``: what it held before is gone."""
    if len(args) > 2:
        raise kinds.error("TypeError")
    most = run.resolve(args[1] if len(args) > 1 else kwargs.get("maxlen"))
    if most is not None:
        kinds.need(run, most, "__index__")
    if isinstance(most, Instance) and not isinstance(behind(most), int) and kinds.is_plain(run, most.cls):
        raise kinds.error("TypeError")  # only an int will do
    if isinstance(most, int) and not 0 <= most <= sys.maxsize:
        raise kinds.error("ValueError" if most < 0 and -most <= sys.maxsize else "OverflowError")
    found = run.items(iteration.check(run, args[0])) if args else ()
    run.heap.write(made.cells, "maxlen", most)
    if found is None:
        run.heap.write(made.cells, "held", List(None, iteration.item(run, args[0])))
    else:
        run.heap.write(made.cells, "held", List())
        _keep(run, made, found, at_end=True)


def _held(run: Interpreter, deque: Instance) -> List:
    """The items as a list; unknown ones where unknown code had the deque."""
    held = deque.cells.get("held")
    if not isinstance(held, List):
        held = List(None, run.unknown("an item of a deque"))
        run.heap.write(deque.cells, "held", held)
    return held


def _keep(run: Interpreter, deque: Instance, items_: tuple[Value, ...], *, at_end: bool) -> None:
    """All items, or as many as it may hold."""
    most, held = run.resolve(deque.cells["maxlen"]), _held(run, deque)
    if most is None or (isinstance(most, int) and len(items_) <= most):
        kept = items_
    elif isinstance(most, int):
        kept = (items_[len(items_) - most :] if at_end else items_[:most]) if most > 0 else ()
    else:
        run.heap.write(held.cells, "item", branches.common_item(items_))
        run.heap.write(held.cells, "items", None)
        return
    run.heap.write(held.cells, "items", tuple(kept))


def _grow(*, at_end: bool, several: bool) -> Any:
    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        owner, held = args[0], _held(run, args[0])
        more = run.items(iteration.check(run, args[1])) if several else (args[1],)
        if more is None or held.items is None or len(more) + len(held.items) > LARGEST:
            kept = held.items if held.items is not None else (held.item,)
            new = (iteration.item(run, args[1]),) if more is None else more
            run.heap.write(held.cells, "item", branches.common_item((*kept, *new), "which item of a deque it is"))
            run.heap.write(held.cells, "items", None)
        else:
            _keep(run, owner, (*held.items, *more) if at_end else (*reversed(more), *held.items), at_end=at_end)
        return None

    return work


def _of_held(name: str) -> Any:
    """A method that is the list's."""

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        held = _held(run, args[0])
        if any(isinstance(v, Instance) and v.cls.find("__eq__") is not None for v in held.items or ()):
            guards.may_raise(run, guards.ANY)  # a comparison may change the deque, which it refuses
        return run.call(run.attribute(held, name), args[1:], kwargs)

    return work


def _insert(run: Interpreter, self: Value, index: Value, object: Value, /) -> Value:
    held, most = _held(run, self), run.resolve(self.cells["maxlen"])
    if isinstance(most, int) and held.items is not None and len(held.items) >= most:
        raise kinds.error("IndexError")
    if most is not None:
        guards.may_raise(run, guards.ANY)
    return run.call(run.attribute(held, "insert"), (index, object))


def _checked(name: str, work: Any) -> Any:
    """A method with as many arguments as Python's takes."""

    def checked(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        kinds.check_arity(collections.deque, name, len(args), kwargs)
        return work(run, args, kwargs)

    return checked


def _place(run: Interpreter, args: tuple[Value, ...]) -> tuple[List, Value]:
    """The items of a deque, and an index in them.

    Raises:
        Raised: it is a slice.
    """
    index = run.resolve(args[1])
    if isinstance(index, slice):
        raise kinds.error("TypeError")
    return _held(run, args[0]), index


def _pop(run: Interpreter, self: Value, /) -> Value:
    return run.call(run.attribute(_held(run, self), "pop"), ())


def _popleft(run: Interpreter, self: Value, /) -> Value:
    return run.call(run.attribute(_held(run, self), "pop"), (0,))


def _rotate(run: Interpreter, self: Value, n: Value = 1, /) -> Value:
    held = _held(run, self)
    if held.items and isinstance(n, int):
        at = -n % len(held.items)
        run.heap.write(held.cells, "items", held.items[at:] + held.items[:at])
    elif held.items:
        run.heap.write(held.cells, "item", branches.common_item(held.items))
        run.heap.write(held.cells, "items", None)
    return None


def _copy(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    made, held = Instance(args[0].cls), _held(run, args[0])
    made.cells.update(maxlen=args[0].cells["maxlen"], held=List(held.items, held.item))
    return made


library_class(
    "collections.deque",
    make=_make_deque,
    methods={
        "__init__": lambda run, args, kwargs: _fill(run, args[0], args[1:], kwargs),
        "append": _checked("append", _grow(at_end=True, several=False)),
        "appendleft": _checked("appendleft", _grow(at_end=False, several=False)),
        "extend": _checked("extend", _grow(at_end=True, several=True)),
        "extendleft": _checked("extendleft", _grow(at_end=False, several=True)),
        "insert": _insert,
        "pop": _pop,
        "popleft": _popleft,
        "rotate": _rotate,
        "copy": _checked("copy", _copy),
        "__iter__": lambda run, args, kwargs: _held(run, args[0]),
        "__len__": lambda run, args, kwargs: run.call(run.program.builtin(run, "len"), (_held(run, args[0]),)),
        "__getitem__": _checked("__getitem__", lambda run, args, kwargs: items.get(run, *_place(run, args))),
        "__setitem__": lambda run, args, kwargs: items.put(run, *_place(run, args), args[2]),
        "__delitem__": lambda run, args, kwargs: items.remove(run, *_place(run, args)),
        **{name: _checked(name, _of_held(name)) for name in ("clear", "count", "index", "remove", "reverse")},
    },
)


# -- named tuples ----------------------------------------------------------------------------------------------------


_NEW: Final = "simpletorch_named_tuple.New"
"""The class of a named tuple's ``__new__``: a function that has ``__defaults__``."""


def make_named_tuple(run: Interpreter, cls: Class, fields: tuple[tuple[str, Any], ...]) -> None:
    """A class whose objects are tuples with names for their items."""
    new = Instance(run.program.library_class(_NEW))
    new.cells["class"] = cls
    cls.fields = fields
    cls.metadata["tuple"] = True
    cls.cells.update({
        "_fields": tuple(name for name, _ in fields),
        "_replace": Native("_replace", _replace),
        "_asdict": Native("_asdict", _as_dict),
        "_make": StaticMethod(Native("_make", _make), of_class=True),
        "__new__": new,
        "__len__": Native("__len__", lambda run, args, kwargs: len(fields)),
    })  # fmt: skip


def _make_new(run: Interpreter, self: Value, cls: Value, /, *args: Value, **kwargs: Value) -> Value:
    cls = run.resolve(cls)
    if not isinstance(cls, Class) or cls.fields is None:
        return run.unknown("a named tuple")
    made = Instance(cls)
    classes.fill(run, made, args, kwargs)
    return made


def _set_of_new(run: Interpreter, self: Value, name: Value, new: Value, /) -> Value:
    """``Point.__new__.__defaults__ = (…)``: what the last fields are where they aren't given."""
    run.heap.write(self.cells, name, new)
    if name == "__defaults__":
        run.heap.write(self.cells["class"].cells, classes.DEFAULTS, run.resolve(new))
    return None


library_class(_NEW, methods={"__call__": _make_new, "__setattr__": _set_of_new})


def _replace(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    made = Instance(args[0].cls)
    made.cells.update({**args[0].cells, **kwargs})
    return made


def _as_dict(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return Dict({name: args[0].cells[name] for name, _ in args[0].cls.fields})


def _make(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    found = run.items(args[1])
    return run.unknown("a named tuple") if found is None else run.call(args[0], found)


@model("collections.namedtuple")
def _named_tuple(
    run: Interpreter,
    typename: Value,
    field_names: Value,
    *,
    rename: Value = False,
    defaults: Value = None,
    module: Value = None,
) -> Value:
    names = tuple(field_names.replace(",", " ").split()) if isinstance(field_names, str) else run.items(field_names)
    defaults = run.items(defaults) if defaults is not None else ()
    if not isinstance(typename, str) or names is None or defaults is None or not all(isinstance(n, str) for n in names):
        return run.unknown("a named tuple's class")
    if rename is not False:
        is_bad = any(_is_no_field(n) or n in names[:i] for i, n in enumerate(names))
        if is_bad and rename is not True:
            return run.unknown("a named tuple's class")
        names = tuple(f"_{i}" if _is_no_field(n) or n in names[:i] else n for i, n in enumerate(names))
    elif any(map(_is_no_field, names)) or len(set(names)) < len(names):
        raise kinds.error("ValueError")
    if not typename.isidentifier() or iskeyword(typename):
        raise kinds.error("ValueError")
    if len(defaults) > len(names):
        raise kinds.error("TypeError")
    made = Class(typename, (run.program.library_class("typing.NamedTuple"),), {}, run.program.main)
    padding = (MISSING,) * (len(names) - len(defaults))
    make_named_tuple(run, made, tuple(zip(names, (*padding, *defaults), strict=True)))
    if module is not None:
        made.cells["__module__"] = module
    return made


def _is_no_field(name: str) -> bool:
    return not name.isidentifier() or iskeyword(name) or name.startswith("_")
