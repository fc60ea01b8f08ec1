"""``value[index]``: read, written, deleted."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import branches, guards, iteration
from simpletorch.follow.budget import LARGEST
from simpletorch.follow.marks import sparsity
from simpletorch.follow.memory import stand_ins
from simpletorch.follow.mistakes import events
from simpletorch.follow.model import kinds, metaclasses, unmodelled
from simpletorch.follow.numbers import between, offsets, open_shapes, processes, sizes
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.sources.syntax import has_effects
from simpletorch.follow.values import (
    ASKED_FOR,
    MISSING,
    SIZE,
    Choice,
    Class,
    Dict,
    Fields,
    Function,
    Instance,
    Iterator,
    List,
    Method,
    Missing,
    Namespace,
    Native,
    Property,
    Set,
    Sizes,
    StaticMethod,
    Tensor,
    Unknown,
    Value,
    View,
    as_tuple,
    behind,
    is_int,
    is_known,
    is_tuple,
)
from simpletorch.rules.core.dtype import DType
from simpletorch.shapes import Expr

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = [
    "as_dict",
    "as_index",
    "can_be_key",
    "check_key",
    "extend",
    "get",
    "is_unhashable",
    "or_else",
    "put",
    "remove",
    "update",
    "values",
    "whole",
]

_MOST_WAYS: Final = 3  # keys that a dict may have or not, to look at each of its ways
_MOST_ITEMS: Final = 5_000
_MOST_READ: Final = 256  # of the items that are kept in mind by list and index
_LOOKUP: Final = ("LookupError", "Exception", "BaseException")


def can_be_key(value: Value) -> bool:
    """Whether two of them can be told apart for sure."""
    if isinstance(value, tuple):
        return all(map(can_be_key, value))
    if isinstance(value, Instance):  # by identity, unless its class says otherwise
        if stand_ins.is_one(value):
            return False
        return "members" in value.cls.metadata or (value.cls.fields is None and value.cls.find("__eq__") is None)
    if isinstance(value, Tensor):  # a number of NumPy's is equal to others of its value
        return not value.array
    by_identity = isinstance(value, Class | Function | Native | Iterator)
    return by_identity or (is_known(value) and not isinstance(value, slice))


def as_index(run: Interpreter, value: Value) -> Value:
    """The number that an object is as an index; any other value itself."""
    if isinstance(value, Instance) and (own := run.special(value, "__index__")) is not None:
        found = run.resolve(run.call(own, ()))
        if (is_known(found) or isinstance(found, List | Dict | Set)) and not isinstance(found, int):
            raise kinds.error("TypeError")
        return found
    if isinstance(value, slice) and any(isinstance(v, Instance) for v in (value.start, value.stop, value.step)):
        return slice(*(as_index(run, v) for v in (value.start, value.stop, value.step)))
    return value


def is_unhashable(run: Interpreter, value: Value) -> bool:
    """Whether a value surely can't be a key."""
    value = run.resolve(value)
    if isinstance(value, tuple):
        return any(is_unhashable(run, v) for v in value)
    if isinstance(value, Instance):
        for cls in value.cls.mro:
            if "__hash__" in cls.cells:
                return cls.cells["__hash__"] is None
            if "unhashable" in cls.metadata:
                return cls.metadata["unhashable"] is True and value.cls.unknown_base is None
            real = kinds.real(cls)
            if real not in (None, object) and "__hash__" in vars(real):
                return vars(real)["__hash__"] is None
        return behind(value) is not value
    if isinstance(value, slice):
        return sys.version_info < (3, 12)
    return (
        isinstance(value, List | Dict | Set)
        and not is_tuple(value)
        and not (isinstance(value, View) and value.kind == "values")
    )


def check_key(run: Interpreter, value: Value) -> None:
    """A key must have a hash.

    Raises:
        Raised: it has none.
    """
    if is_unhashable(run, value):
        raise Raised("TypeError", None, _LOOKUP[1:])
    if isinstance(value, Instance):
        for name in ("__hash__", "__eq__"):
            own = value.cls.find(name)
            if own is not None and isinstance(own[0], Function) and has_effects(own[0].node):
                guards.may_raise(run, guards.ANY)  # how often Python asks isn't followed
                run.escape((own[0], value))


def check_index(run: Interpreter, index: Value) -> None:
    """A place in a sequence is a number, or a slice of numbers.

    Raises:
        Raised: it is none.
    """
    for part in (index.start, index.stop, index.step) if isinstance(index, slice) else (index,):
        if part is not None or not isinstance(index, slice):
            kinds.need(run, part, "__index__")


def get(run: Interpreter, owner: Value, index: Value) -> Value:
    """``owner[index]``."""
    if type(owner) is Choice:
        owner = run.resolve(owner)
    if type(index) is Choice:
        index = run.resolve(index)
    if isinstance(owner, Choice):
        return branches.distribute(run, owner, lambda v: get(run, v, index))
    if isinstance(owner, Tensor):
        return run.ask("Tensor.__getitem__", (owner, index))
    if isinstance(index, Choice):
        return branches.distribute(run, index, lambda v: get(run, owner, v))
    if isinstance(owner, Dict):
        return _key(run, owner, index)
    is_sequence = isinstance(owner, List | tuple | str | bytes)
    if is_sequence and (refused := events.INDEX(run, owner, index)) is not None:
        return refused
    if isinstance(owner, List) and not isinstance(owner, View):
        return _of_list(run, owner, as_index(run, index))
    if isinstance(owner, tuple | str | bytes | range):
        return _of_tuple(run, owner, as_index(run, index))
    if isinstance(owner, Instance):
        return _of_instance(run, owner, index)
    if isinstance(owner, Class | Namespace | Native):
        return _of_class(run, owner, index)
    if (refused := events.NO_ITEMS(run, owner, index)) is not None:
        return refused
    kinds.need(run, owner, "__getitem__")
    if isinstance(owner, Unknown) and owner.type == "str":
        return _part(run, owner, index)
    if isinstance(owner, Unknown) and owner.fact is not None and owner.fact[0] == "shape":
        return open_shapes.item(run, owner, index)
    if isinstance(owner, Unknown) and owner.matrix is not None and owner.matrix.kind in sparsity.ITEMS:
        found = sparsity.ITEMS[owner.matrix.kind](run, owner, index)
        if found is not None:
            return found
    return run.part(owner, owner.reason if isinstance(owner, Unknown) else "an item")


def _of_instance(run: Interpreter, owner: Instance, index: Value) -> Value:
    if owner.cls.metadata.get("tuple") and owner.cls.fields is not None and isinstance(index, int | slice):
        return _of_tuple(run, tuple(owner.cells[name] for name, _ in owner.cls.fields), index)
    if owner.cls.find("__getitem__") is not None:
        return run.call(run.attribute(owner, "__getitem__"), (index,))
    held = behind(owner)
    absent = owner.cls.find("__missing__")
    if absent is not None and isinstance(held, Dict) and not (can_be_key(index) and index in held.cells):
        check_key(run, index)
        if held.rest is MISSING and can_be_key(index):
            return run.call(Method(absent[0], owner), (index,))
        guards.may_raise(run, guards.ANY)
        run.escape((absent[0], owner))
        return run.unknown("an item of a dict")
    if held is not owner:
        return get(run, held, index)
    if (refused := events.NO_ITEMS(run, owner, index)) is not None:
        return refused
    kinds.need(run, owner, "__getitem__")
    return run.unknown(f"an item of {owner!r}")


def _of_class(run: Interpreter, owner: Value, index: Value) -> Value:
    """``List[int]``, ``Generic[T]`` and their like are the class; ``Color["RED"]`` is a member."""
    if isinstance(owner, Class) and "members" in owner.metadata and isinstance(index, str):
        if owner.metadata["members"] and owner.unknown_base is None and index not in owner.cells:
            raise Raised("KeyError", None, _LOOKUP)
        return owner.cells.get(index, run.unknown("a member of an enumeration"))
    if isinstance(owner, Class) and owner.metadata.get("members"):
        check_key(run, index)
        if is_known(index):
            raise Raised("KeyError", None, _LOOKUP)
        guards.may_raise(run, guards.ANY)
        return run.unknown("a member of an enumeration")
    if isinstance(owner, Namespace):  # a library's may be an object of it
        if owner.path is not None or owner.name in sys.stdlib_module_names:
            raise kinds.error("TypeError")
        guards.may_raise(run, guards.ANY)
    if isinstance(index, DType) and isinstance(owner, Class) and owner.qualified == "torch.Tensor":
        return run.program.library_class(f"torch.Tensor[{index}]")  # which makes tensors of this dtype
    if isinstance(owner, Class):
        if (own := metaclasses.special(owner, "__getitem__")) is not None:
            return run.call(own, (index,))
        found = owner.find("__class_getitem__")
        if found is not None and isinstance(found[0], Function | StaticMethod):
            inner = found[0].function if isinstance(found[0], StaticMethod) else found[0]
            return run.call(inner, (owner, index))
        real = vars(builtins).get(owner.name) if owner.module == "builtins" else None
        if isinstance(real, type) and real is not type and not hasattr(real, "__class_getitem__"):
            raise kinds.error("TypeError")
        if kinds.is_plain(run, owner) and not owner.metadata.get("parameters"):
            guards.may_raise(run, guards.LOOKUP)
    if isinstance(owner, Native):
        guards.may_raise(run, guards.ANY)
    return owner


def _key(run: Interpreter, owner: Dict, index: Value) -> Value:
    check_key(run, index)
    if can_be_key(index):
        if index in owner.cells:
            if run.takers and branches.may_be_missing(run, owner.cells[index]):
                guards.may_raise(run, guards.LOOKUP)
            return run.resolve(under(owner, index))
        if owner.rest is not MISSING:
            return run.unknown("an item of a dict") if owner.rest is None else owner.rest
        if owner.kind == "Counter":
            return 0
        if owner.default is not None:
            made = run.call(owner.default, ())
            run.heap.write(owner.cells, index, made)
            return made
        raise Raised("KeyError", None, _LOOKUP)
    guards.may_raise(run, guards.ANY)
    if owner.default is not None and owner.rest is MISSING:
        put(run, owner, index, run.call(owner.default, ()))  # the item of any other key too
    return stand_ins.one_of(run, values(owner), "which item of a dict it is")


def whole(run: Interpreter, owner: Dict) -> Value:
    """The dict to read all of it; one for each way, where not every way here has given it the same keys."""
    if not any(isinstance(v, Choice) and branches.may_be_missing(run, v) for v in owner.cells.values()):
        return owner
    settled = {k: _taken(v, lambda c: branches.decision(run, c)) for k, v in owner.cells.items()}
    return _by_ways(owner, {k: v for k, v in settled.items() if v is not MISSING}, _MOST_WAYS)


def _by_ways(owner: Dict, cells: dict[Any, Value], left: int) -> Value:
    optional = [v for v in cells.values() if isinstance(v, Choice) and _may_lack(v)]
    if not optional or left == 0:
        made = Dict({k: v for k, v in cells.items() if not _may_lack(v)}, owner.rest)
        if optional and owner.rest is MISSING:
            made.state["open"] = Unknown("an item that a dict may have", cause=optional[0].condition.cause)
        made.kind, made.default = owner.kind, owner.default
        return made
    condition = optional[0].condition
    ways = []
    for way in (True, False):
        taken = {k: _taken(v, lambda c, way=way: way if c is condition else None) for k, v in cells.items()}  # type: ignore[misc]
        ways.append(_by_ways(owner, {k: v for k, v in taken.items() if v is not MISSING}, left - 1))
    return Choice(condition, *ways)


def _taken(value: Value, decided: Callable[[Unknown], bool | None]) -> Value:
    """The value where some conditions are decided."""
    if not isinstance(value, Choice):
        return value
    way = decided(value.condition)
    if way is not None:
        return _taken(value.when_true if way else value.when_false, decided)
    return Choice(value.condition, _taken(value.when_true, decided), _taken(value.when_false, decided))


def _may_lack(value: Value) -> bool:
    return value is MISSING or (
        isinstance(value, Choice) and (_may_lack(value.when_true) or _may_lack(value.when_false))
    )


def or_else(value: Value, other: Value) -> Value:
    """The other value on the ways that have none."""
    if isinstance(value, Choice) and _may_lack(value):
        return Choice(value.condition, or_else(value.when_true, other), or_else(value.when_false, other))
    return other if value is MISSING else value


def under(owner: Dict, key: Any, default: Value | Missing = MISSING) -> Value | Missing:
    """The item of a known key, or the default; either of them where other keys aren't known."""
    held = owner.cells.get(key, MISSING)
    if owner.rest is not MISSING and not (owner.kind == processes.ENVIRONMENT and held is not MISSING):
        both = owner.rest if default is MISSING else branches.common_item((owner.rest, default), "an item of a dict")
        default = Unknown("an item of a dict") if both is None else both
    return held if default is MISSING else or_else(held, default)


def values(owner: Dict) -> tuple[Value, ...]:
    """What a dict holds: the items under known keys, and one for all others where there may be some."""
    return (*owner.cells.values(), *(() if owner.rest is MISSING else (owner.rest,)))


def _of_list(run: Interpreter, owner: List, index: Value) -> Value:
    count = offsets.length(index) if isinstance(index, slice) else None
    if isinstance(count, int) and 0 <= count <= _MOST_ITEMS and (owner.items is None or len(owner.items) >= count):
        item = owner.item if owner.items is None else branches.common_item(owner.items, "which item it is")
        return List((item,) * count)
    if owner.items is None:
        if not isinstance(index, slice):
            return sizes.one_of_many(run, owner.item)
        made = offsets.filled(run, owner.item, between.cut(run, owner, index))
        return as_tuple(made) if is_tuple(owner) else made
    if type(index) is int and index >= len(owner.items) and ASKED_FOR in owner.cells:
        return owner.cells[ASKED_FOR]
    found = _of_tuple(run, owner.items, index)
    if not isinstance(index, slice) or not isinstance(found, tuple):
        return found
    made = List(found)
    stop = index.stop
    if ASKED_FOR in owner.cells and (stop is None or (type(stop) is int and not 0 <= stop <= len(owner.items))):
        made.cells[ASKED_FOR] = owner.cells[ASKED_FOR]
    return made


def _of_tuple(run: Interpreter, owner: Any, index: Value) -> Value:
    check_index(run, index)
    if is_known(index) and isinstance(index, int | slice):
        try:
            found = owner[index]
        except IndexError:
            if isinstance(owner, Sizes) and not run.tries:
                run.find(
                    "tensor-shape", f"index {index} is out of range for the shape {owner}, which has {len(owner)} dims"
                )
                return run.unknown("an error was found here")
            raise Raised("IndexError", None, _LOOKUP) from None
        except (TypeError, ValueError) as error:
            raise Raised(type(error).__name__, None, _LOOKUP[1:]) from None
        if isinstance(index, slice) and isinstance(owner, Fields):
            return tuple(found)
        return Sizes(found) if isinstance(index, slice) and isinstance(owner, Sizes) else run.resolve(found)
    if isinstance(owner, str):
        return _part(run, owner, index)
    if isinstance(index, slice):
        return run.unknown("a slice of unknown length")
    if isinstance(owner, range):
        return run.unknown(stand_ins.ANY_ITEM, "int", "data")
    if not owner:
        return run.unknown("an item")
    known = run.read.get((id(owner), id(index)))
    held = [v.type if isinstance(v, Tensor) else v for v in owner]
    if known is None or not all(a is b for a, b in zip(known[2], held, strict=True)):
        found = between.narrowed(run, stand_ins.one_of(run, owner), owner)
        if len(run.read) >= _MOST_READ:
            run.read.clear()
        known = run.read[id(owner), id(index)] = owner, index, held, found
    return known[3]


def _part(run: Interpreter, owner: str | Unknown, index: Value) -> Unknown:
    """A letter of a string, or a slice of it: its length may be known."""
    made = run.unknown("a part of a string", "str", "data" if isinstance(owner, str) else owner.cause)
    size = len(owner) if isinstance(owner, str) else owner.length
    if not isinstance(index, slice):
        made.length = 1 if is_int(index) or branches.type_name(index) == "int" else None
        return made
    count = offsets.length(index)
    if isinstance(count, int) and isinstance(size, int) and 0 <= count <= size:
        made.length = count
    elif is_known(index) and isinstance(size, int):
        made.length = len(range(size)[index])
    elif isinstance(size, Expr):
        made.length = between.first(run, size, index)
    return made


def put(run: Interpreter, owner: Value, index: Value, value: Value) -> None:
    """``owner[index] = value``."""
    owner, index = run.resolve(owner), run.resolve(index)
    if run.promises and not isinstance(owner, Tensor):
        events.CHANGE(run, owner)
    if isinstance(owner, Choice):
        branches.distribute(run, owner, lambda v: put(run, v, index, value))
    elif isinstance(owner, Tensor):
        run.ask("Tensor.__setitem__", (owner, index, value))
    elif isinstance(owner, Dict):
        check_key(run, index)
        if can_be_key(index):
            run.heap.write(owner.cells, index, value)
        else:
            for key, old in list(owner.cells.items()):
                run.heap.write(owner.cells, key, branches.generalise(old, value, "which item of a dict was set"))
            old, value = owner.rest, _of_any_key(run, value)
            wide = value if old is MISSING else branches.generalise(old, value, "an item of a dict")
            run.heap.write(owner.state, "open", wide)
    elif isinstance(owner, List) and not isinstance(owner, View) and not is_tuple(owner):
        _put_in_list(run, owner, as_index(run, index), value)
    elif isinstance(owner, Instance) and owner.cls.find("__setitem__") is not None:
        run.call(run.attribute(owner, "__setitem__"), (index, value))
    elif behind(owner) is not owner:
        put(run, behind(owner), index, value)
    else:
        _need(run, owner, index, "__setitem__")
        unmodelled.changes(run, owner)


def _need(run: Interpreter, owner: Value, index: Value, method: str) -> None:
    """An object without this method refuses every index, a huge one with another exception.

    Raises:
        Raised: it surely has none.
    """
    try:
        kinds.need(run, owner, method)
    except Raised:
        if isinstance(index, int) and abs(index) > sys.maxsize:
            raise Raised("", None, _LOOKUP[1:]) from None
        raise


def _of_any_key(run: Interpreter, value: Value) -> Value:
    """An item that stands for those of all unknown keys: each has a list of its own, of whatever length."""
    value = run.resolve(value)
    if not isinstance(value, List) or value.items is None:
        return value
    if value.items:
        return List(None, branches.common_item(value.items))
    run.heap.write(value.cells, "items", None)  # it is filled through the dict, as a rule
    return value


def _put_in_list(run: Interpreter, owner: List, index: Value, value: Value) -> None:
    if owner.items is None:
        size = owner.cells.get(SIZE, MISSING)
        run.heap.write(owner.cells, "item", branches.generalise(owner.item, value, "an item of a list"))
        if is_int(index) and size is not MISSING:
            run.heap.write(owner.cells, SIZE, size)  # it is as long as before
        return
    if isinstance(index, int) and -len(owner.items) <= index < len(owner.items):
        changed = list(owner.items)
        changed[index] = value
        run.heap.write(owner.cells, "items", tuple(changed))
    elif (
        isinstance(index, slice)
        and is_known(index)
        and (more := run.items(value)) is not None
        and len(more) + len(owner.items) <= LARGEST
    ):
        changed = list(owner.items)
        try:
            changed[index] = more
        except ValueError:
            raise Raised("ValueError", None, _LOOKUP[1:]) from None
        run.heap.write(owner.cells, "items", tuple(changed))
    elif isinstance(index, int):
        raise Raised("IndexError", None, _LOOKUP)
    else:
        check_index(run, index)
        guards.may_raise(run, guards.LOOKUP)
        given = run.items(value) if isinstance(index, slice) else (value,)
        rest = (run.unknown("an item that was put into a list"),) if given is None else given
        run.heap.write(owner.cells, "item", branches.common_item((*owner.items, *rest)))
        run.heap.write(owner.cells, "items", None)


def extend(run: Interpreter, owner: List, more: Value) -> None:
    """``owner.extend(more)``."""
    more = iteration.gathered(run, more)
    found, more = run.items(more), run.resolve(more)
    if found is not None and owner.items is not None and len(owner.items) + len(found) <= LARGEST:
        run.heap.write(owner.cells, "items", owner.items + found)
        return
    kept = owner.items if owner.items is not None else () if owner.item is None else (owner.item,)
    added = found if found is not None else (iteration.item(run, more),)
    own = offsets.size_of(run, more) if isinstance(more, List) else None if found is None else (None, 0, len(found))
    size = offsets.total(offsets.size_of(run, owner), own)
    whole = offsets.filled(run, branches.common_item((*kept, *added), "which item of a list it is"), size)
    for key in ("item", "items", SIZE):
        run.heap.write(owner.cells, key, whole.cells.get(key, MISSING))


def remove(run: Interpreter, owner: Value, index: Value) -> None:
    """``del owner[index]``."""
    owner, index = run.resolve(owner), run.resolve(index)
    if run.promises:
        events.CHANGE(run, owner)
    if isinstance(owner, Dict):
        check_key(run, index)
    if isinstance(owner, Dict) and can_be_key(index):
        if index not in owner.cells and owner.rest is MISSING and owner.kind != "Counter":
            raise Raised("KeyError", None, _LOOKUP)
        run.heap.write(owner.cells, index, MISSING)
    elif isinstance(owner, Dict):
        guards.may_raise(run, guards.LOOKUP)
        for key in list(owner.cells):
            run.heap.write(owner.cells, key, run.unknown("whether an item was deleted"))
        run.heap.write(owner.state, "open", run.unknown("an item of a dict"))
    elif isinstance(owner, List) and owner.items is not None and not is_tuple(owner) and not isinstance(owner, View):
        check_index(run, index)
        kept = list(owner.items)
        try:
            del kept[index]
        except (IndexError, TypeError, ValueError) as error:
            if is_known(index):
                raise kinds.error(type(error).__name__) from None
            run.heap.write(owner.cells, "item", branches.common_item(owner.items))
            run.heap.write(owner.cells, "items", None)
        else:
            run.heap.write(owner.cells, "items", tuple(kept))
    elif isinstance(owner, List) and not is_tuple(owner) and not isinstance(owner, View):
        offsets.resized(run, owner, owner.cells.get(SIZE), -1 if is_int(index) else None)
    elif isinstance(owner, Instance) and owner.cls.find("__delitem__") is not None:
        run.call(run.attribute(owner, "__delitem__"), (index,))
    elif behind(owner) is not owner:
        remove(run, behind(owner), index)
    else:
        _need(run, owner, index, "__delitem__")
        unmodelled.changes(run, owner)


def as_dict(run: Interpreter, value: Value) -> Value:
    """The dict that ``dict(value)`` and ``**value`` take; a mapping of the program's is asked for its keys."""
    held = behind(value)
    if isinstance(held, Dict) and isinstance(value, Instance) and value.cls.find("__iter__") is not None:
        guards.may_raise(run, guards.ANY)  # then Python asks for its keys, and for each of them
        return run.unknown("a mapping that goes over its keys in its own way")
    if isinstance(value, Instance) and isinstance(held, List) and value.cls.find("__getattr__") is not None:
        guards.may_raise(run, guards.ANY)  # Python asks it for a method `keys`
        return run.unknown("a mapping whose keys aren't known")
    if not isinstance(held, Instance) or not _has_keys(held):
        goes_over_others = isinstance(value, Instance) and value.cls.find("__iter__") is not None
        return value if goes_over_others else held
    made = Dict()
    return made if _take_over(run, made, held) else run.unknown("a mapping whose keys aren't known")


def _take_over(run: Interpreter, owner: Dict, more: Instance) -> bool:
    """Ask a mapping of the program's for its keys and for what each has; whether its keys are known."""
    keys = run.items(run.call(run.attribute(more, "keys"), ()))
    kinds.need(run, more, "__getitem__")
    if keys is None or not all(map(can_be_key, keys)):
        return False
    for key in keys:
        run.heap.write(owner.cells, key, run.call(run.attribute(more, "__getitem__"), (key,)))
    return True


def _has_keys(value: Instance) -> bool:
    """Whether a method ``keys`` of the program's makes an object a mapping."""
    own = value.cls.find("keys")
    return "keys" in value.cells if own is None else isinstance(own[0], Function | Property | StaticMethod)


def update(run: Interpreter, owner: Dict, more: Value) -> None:
    """``owner.update(more)``."""
    more = run.resolve(more)
    if isinstance(more, Instance) and behind(more) is more and _has_keys(more):
        if not _take_over(run, owner, more):
            _forget(run, owner)
        return
    more = as_dict(run, more)
    if isinstance(more, Dict):
        for key, value in more.cells.items():
            run.heap.write(owner.cells, key, or_else(value, owner.cells.get(key, MISSING)))
        if more.rest is not MISSING:
            _forget(run, owner)
        return
    if not isinstance(more, Unknown | Choice):
        iteration.check(run, more)
    pairs = None if isinstance(more, Unknown | Choice) else run.items(more)
    if pairs is None and isinstance(more, List | Iterator):  # nobody knows how many pairs
        one = run.items(iteration.item(run, more))
        if one is not None and len(one) == 2:
            put(run, owner, run.unknown("a key"), one[1])
            return
    rows = []
    for pair in pairs or ():
        rows.append(run.items(iteration.check(run, pair)))
        if rows[-1] is not None and len(rows[-1]) != 2:
            raise kinds.error("ValueError")
    if pairs is None or not all(r is not None and len(r) == 2 for r in rows):
        _forget(run, owner)
        return
    for row in rows:
        if row is not None:
            put(run, owner, row[0], row[1])


def _forget(run: Interpreter, owner: Dict) -> None:
    """Any key may have been set to anything."""
    guards.may_raise(run, guards.ANY)
    for key in list(owner.cells):
        run.heap.write(owner.cells, key, run.unknown("whether an item of a dict was changed"))
    run.heap.write(owner.state, "open", run.unknown("an item of a dict"))
