"""Conditions that aren't known: both ways are followed, each from the same state, and joined where they meet again.

What differs afterwards is a `Choice` that remembers the condition: a second ``if self.pool:`` knows what the first did.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import guards
from simpletorch.follow.heap import OF_GRAPHS, Change, born, now
from simpletorch.follow.marks import carried, sparsity
from simpletorch.follow.model import caught
from simpletorch.follow.numbers import first_rounds, indexes, offsets
from simpletorch.follow.outcomes import Done, Outcome, Raise, Raised, Return, Split
from simpletorch.follow.values import (
    MISSING,
    NEXT,
    SIZE,
    BoundNative,
    Cause,
    Choice,
    Class,
    Dict,
    Function,
    Here,
    Instance,
    Iterator,
    List,
    Method,
    Namespace,
    Native,
    Object,
    Saved,
    Set,
    Tensor,
    Unknown,
    Value,
    as_tuple,
    behind,
    is_known,
    is_plain,
    is_tuple,
)
from simpletorch.rules import TensorType
from simpletorch.shapes import ANY_REST, UNKNOWN, Dim, Expr, Rest, Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = [
    "alike",
    "cause_of",
    "choose",
    "common_tensor",
    "common_type",
    "distribute",
    "finish",
    "follow_on",
    "generalise",
    "go_on",
    "join",
    "join_two",
    "length_said",
    "may_be_missing",
    "merge",
    "one_of",
    "resolve",
    "truth",
]

_MOST_ALTERNATIVES: Final = 6
_MOST_FUNCTIONS: Final = 8
_AS_LONG: Final = 4  # changes that take as long to join as an expression to evaluate


# -- values ---------------------------------------------------------------------------------------------------------


def resolve(run: Interpreter, value: Value) -> Value:
    """A choice whose condition is decided here is one alternative; what one branch leaves undefined is the other's."""
    while isinstance(value, Choice):
        decided = decision(run, value.condition)
        if decided is not None:
            value = value.when_true if decided else value.when_false
        elif value.when_true is MISSING:
            value = value.when_false
        elif value.when_false is MISSING:
            value = value.when_true
        else:
            break
    return value


def may_be_missing(run: Interpreter, value: Value) -> bool:
    """Whether a variable or item may not be there."""
    if not isinstance(value, Choice):
        return value is MISSING
    decided = decision(run, value.condition)
    return (decided is not False and may_be_missing(run, value.when_true)) or (
        decided is not True and may_be_missing(run, value.when_false)
    )


def decision(run: Interpreter, condition: Unknown) -> bool | None:
    """What is assumed of a condition here."""
    found: bool | None = run.assumed.get(condition)
    return first_rounds.decided(run, condition) if found is None and (run.firsts or run.later) else found


def truth(run: Interpreter, value: Value) -> bool | tuple[Unknown, bool]:
    """True, False, or the unknown condition with the way it counts (False: negated)."""
    value = resolve(run, value)
    if isinstance(value, Choice):
        left, right = truth(run, value.when_true), truth(run, value.when_false)
        if isinstance(left, bool) and isinstance(right, bool):
            return left if left is right else (value.condition, left)
        return _decided(run, Unknown("it depends on a condition that isn't known", "bool", value.condition.cause), True)
    if isinstance(value, Unknown):
        return _decided(run, value, True)
    if isinstance(value, Tensor):
        found = run.ask("Tensor.__bool__", (value,))
        if value.is_written_out and isinstance(found, Unknown):
            found = run.unknown("what a tensor holds that the program fills", "bool")
        return truth(run, found)
    if isinstance(value, Expr):
        return _decided(run, run.derived("bool", value, None), True)
    if isinstance(value, List):
        if value.items is not None:
            return bool(value.items)
        return Unknown("how long a list is", "bool", cause_of(value)), True
    if isinstance(value, Dict):
        if value.cells and all(may_be_missing(run, v) for v in value.cells.values()):
            return Unknown("what a dict holds", "bool"), True
        return bool(value.cells) or (False if value.rest is MISSING else (Unknown("what a dict holds", "bool"), True))
    if isinstance(value, Set):
        return bool(value.cells) or ((Unknown("what a set holds", "bool"), True) if value.open else False)
    if isinstance(value, Instance):
        return _truth_of_instance(run, value)
    if isinstance(value, tuple) or is_known(value):
        return bool(value)
    if isinstance(value, Class) and "metaclass" in value.metadata:
        for name in ("__bool__", "__len__"):
            if (own := run.special(value, name)) is not None:
                return truth(run, run.call(own, ()))
    return True


def cause_of(value: List) -> Cause:
    """Why nobody knows how long a list is: who fills one with what is known does it for as long as there is data."""
    return value.item.cause if isinstance(value.item, Unknown) else "data"


def _truth_of_instance(run: Interpreter, value: Instance) -> bool | tuple[Unknown, bool]:
    for name in ("__bool__", "__len__"):
        if (own := run.special(value, name)) is not None:
            if name == "__len__":
                return truth(run, length_said(run, run.call(own, ())))
            answer = resolve(run, run.call(own, ()))
            if not isinstance(answer, bool | Unknown | Choice):
                raise Raised("TypeError", None, ("Exception", "BaseException"))
            return truth(run, answer)
    held = behind(value)
    return True if held is value else truth(run, held)


def length_said(run: Interpreter, answer: Value) -> Value:
    """A length that an object's own ``__len__`` gives.

    Raises:
        Raised: it is no length.
    """
    answer = resolve(run, answer)
    if isinstance(answer, Instance) and (own := run.special(answer, "__index__")) is not None:
        answer = resolve(run, run.call(own, ()))
    if not isinstance(answer, int | Expr | Unknown | Choice | Tensor | Instance):
        raise Raised("TypeError", None, ("Exception", "BaseException"))
    if isinstance(answer, int) and answer < 0:
        raise Raised("ValueError", None, ("Exception", "BaseException"))
    if isinstance(answer, int) and answer > sys.maxsize:
        raise Raised("OverflowError", None, ("ArithmeticError", "Exception", "BaseException"))
    return answer


def _decided(run: Interpreter, condition: Unknown, way: bool) -> bool | tuple[Unknown, bool]:
    while condition.negates is not None:
        condition, way = condition.negates, not way
    decided = decision(run, condition)
    return (condition, way) if decided is None else decided is way


def alike(a: Value, b: Value) -> bool:
    """Whether two values are the same as far as anything is known of them: one object, or equal constants and types."""
    if a is b:
        return True
    if isinstance(a, Unknown) and isinstance(b, Unknown):
        return a.type == b.type and a.size is False and _measure_alike(a, b)
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return a.type == b.type and a.array == b.array and carried.same(a, b)
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, List):
        if a.items is None or b.items is None:
            return a.items is b.items and alike(a.item, b.item)
        return alike(a.items, b.items)
    if isinstance(a, Choice):
        return alike(a.when_true, b.when_true) and alike(a.when_false, b.when_false)
    if isinstance(a, Iterator):
        unknown = a.cells["items"] is None and b.cells["items"] is None
        return unknown and alike(a.cells["item"], b.cells["item"])
    if isinstance(a, Instance):
        return a.cls is b.cls and a.native == b.native and _hold_alike(a, b)
    if isinstance(a, Dict):
        return _hold_alike(a, b)
    if isinstance(a, Function):
        return a.node is b.node and a.scope is b.scope
    if isinstance(a, Class | Namespace | Set):
        return False
    if isinstance(a, Expr | TensorType) or is_known(a):
        return bool(a == b)
    return False


_compared: Final[set[tuple[int, int]]] = set()


def _hold_alike(a: Instance | Dict, b: Instance | Dict) -> bool:
    """Whether two objects hold the same; what they hold may hold themselves."""
    pair = id(a), id(b)
    if pair in _compared:
        return True
    _compared.add(pair)
    try:
        return a.cells.keys() == b.cells.keys() and all(alike(v, b.cells[k]) for k, v in a.cells.items())
    finally:
        _compared.discard(pair)


def common_tensor(a: Tensor, b: Tensor) -> Tensor:
    """One that stands for both: which of them it is isn't known, nor what is behind it."""
    return carried.common(a, b, a.type if a.type == b.type else common_type(a.type, b.type))


def common_type(a: TensorType, b: TensorType) -> TensorType:
    """What two tensors have in common."""
    return TensorType(
        _common_shape(a.shape, b.shape),
        a.dtype if a.dtype == b.dtype else None,
        a.device if a.device == b.device else None,
        a.is_parameter and b.is_parameter,
    )


def _common_shape(a: Shape, b: Shape) -> Shape:
    if a == b:
        return a
    if a.is_exact and b.is_exact and a.rank == b.rank:
        return Shape(tuple(x if x == y else UNKNOWN for x, y in zip(a.dims, b.dims, strict=True)))
    head: list[Any] = []
    for x, y in zip(a.items, b.items, strict=False):
        if isinstance(x, Rest) or isinstance(y, Rest) or x != y:
            break
        head.append(x)
    tail: list[Any] = []
    for x, y in zip(reversed(a.items[len(head) :]), reversed(b.items[len(head) :]), strict=False):
        if isinstance(x, Rest) or isinstance(y, Rest) or x != y:
            break
        tail.insert(0, x)
    return Shape((*head, ANY_REST, *tail))


def _measure_alike(a: Unknown, b: Unknown) -> bool:
    """Whether all that is known of the length of one, or between which numbers it lies, is true of the other one."""
    measured = (a.length is None or a.length == b.length) and (a.numbers is None or indexes.same(a, b))
    told = (a.parts is None or a.parts == b.parts) and (a.matrix is None or a.matrix == b.matrix)
    told = told and (b.scalar or not a.scalar)
    return measured and told and (a.written is None or _written_alike(a, b))


def _written_alike(a: Unknown, b: Unknown) -> bool:
    """Whether two texts were made of the same, as far as anything is known of that."""
    return a.written == b.written or (b.written is not None and alike(a.written, b.written))


def generalise(a: Value, b: Value, reason: str, cause: Any = "code") -> Value:
    """One value that stands for both, without remembering which: what a loop leaves behind."""
    if alike(a, b):
        return a
    if _may_be_none(a) or _may_be_none(b):
        return _optional(a, b, reason, cause)
    if isinstance(a, Choice) or isinstance(b, Choice):
        return _common_of_ways((*_leaves(a), *_leaves(b)), reason, cause)
    if isinstance(a, Tensor) and isinstance(b, Tensor) and a.array == b.array:
        return common_tensor(a, b)
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        both = [generalise(x, y, reason, cause) for x, y in zip(a, b, strict=True)]
        return Saved(*both) if type(a) is type(b) is Saved else tuple(both)
    if isinstance(a, Instance) and isinstance(b, Instance) and a.cls is b.cls and a.cls.metadata.get("tuple"):
        made = Instance(a.cls)
        made.cells.update({k: generalise(v, b.cells.get(k), reason, cause) for k, v in a.cells.items()})
        return made
    if isinstance(a, Instance) and isinstance(b, Instance) and a.cls is b.cls and is_plain(a) and is_plain(b):
        return _common_object(a, b, reason, cause)
    if isinstance(a, Dict) and isinstance(b, Dict) and a.kind == b.kind:
        return _common_dict(a, b, reason, cause)
    if isinstance(a, List) and isinstance(b, List) and is_tuple(a) is is_tuple(b):
        if a.items is not None and b.items is not None and len(a.items) == len(b.items):
            return List(tuple(generalise(x, y, reason, cause) for x, y in zip(a.items, b.items, strict=True)))
        made = List(None, common_item((*_members(a), *_members(b)), reason))
        size = _length(a)
        if size is not None and size == _length(b):
            made.cells[SIZE] = None, 0, size
        return as_tuple(made) if is_tuple(a) else made
    return _common_unknown(a, b, reason, cause)


def _length(value: List) -> Dim | None:
    """How many items a list has, if that is known."""
    if value.items is not None:
        return len(value.items)
    origin, _, size = value.cells.get(SIZE, (MISSING, 0, 0))
    return size if origin is None else None


def has_no_tensor(value: Value) -> bool:
    """Whether a value is no tensor, nor an array, and holds none."""
    if isinstance(value, Unknown):
        return value.without_tensors or (value.type is not None and value.type not in _HOLDING)
    if isinstance(value, Choice):
        return has_no_tensor(value.when_true) and has_no_tensor(value.when_false)
    return value is None or isinstance(value, int | float | complex | str | bytes | Expr)


def may_lack_sizes(value: Value) -> bool:
    """Whether a value may be a tensor whose sizes aren't all known, or a tuple with one."""
    if isinstance(value, Unknown):
        return not (value.is_object or value.scalar or has_no_tensor(value))
    if isinstance(value, Choice):
        return may_lack_sizes(value.when_true) or may_lack_sizes(value.when_false)
    if isinstance(value, Tensor):
        return not value.type.shape.is_exact or UNKNOWN in value.type.shape.items
    return isinstance(value, tuple) and any(map(may_lack_sizes, value))


def _may_be_tensor(value: Value) -> bool:
    """Whether a value may be a tensor, or a tuple with one."""
    if isinstance(value, tuple):
        return any(map(_may_be_tensor, value))
    return isinstance(value, Tensor) or (isinstance(value, Unknown | Choice) and may_lack_sizes(value))


def is_scalar(value: Value) -> bool:
    """Whether a value is a number, or a tensor without dims: ``total`` in ``total += loss``."""
    if isinstance(value, Tensor):
        return value.type.shape.rank == 0
    return type_name(value) in ("int", "float") or (isinstance(value, Unknown) and value.scalar)


_HOLDING: Final = ("list", "tuple", "dict", "set")


def _common_unknown(a: Value, b: Value, reason: str, cause: Any) -> Unknown:
    made = Unknown(reason, _common_name(a, b), cause)
    made.matrix = sparsity.common(a, b)
    unknown = [v for v in (a, b) if isinstance(v, Unknown)]
    made.without_tensors = has_no_tensor(a) and has_no_tensor(b)
    made.scalar = is_scalar(a) and is_scalar(b)
    made.is_object = not (_may_be_tensor(a) or _may_be_tensor(b))
    if unknown:
        made.origin = unknown[0].origin
    return made


def _may_be_none(value: Value) -> bool:
    return value is None or (isinstance(value, Choice) and None in (value.when_true, value.when_false))


def _optional(a: Value, b: Value, reason: str, cause: Any) -> Value:
    """A tensor or None, where it is always one of these."""
    sides = [v for x in (a, b) for v in ((x.when_true, x.when_false) if isinstance(x, Choice) else (x,))]
    tensors = [v for v in sides if isinstance(v, Tensor)]
    if not tensors or not all(v is None or isinstance(v, Tensor) for v in sides):
        return Unknown(reason, _common_name(a, b), cause)
    whole = tensors[0]
    for v in tensors[1:]:
        whole = generalise(whole, v, reason, cause)
    return Choice(Unknown("whether it is None", "bool"), whole, None)


def _leaves(value: Value) -> tuple[Value, ...]:
    """What a value may be."""
    return (*_leaves(value.when_true), *_leaves(value.when_false)) if isinstance(value, Choice) else (value,)


def _common_of_ways(values: tuple[Value, ...], reason: str, cause: Any) -> Value:
    there = [v for v in values if v is not MISSING]
    one: Value = there[0] if there else MISSING
    for value in there[1:]:
        one = generalise(one, value, reason, cause)
    return one if len(there) == len(values) else Choice(Unknown(reason, "bool", cause), one, MISSING)


def _common_object(a: Instance, b: Instance, reason: str, cause: Any) -> Instance:
    """An object of their class, with the attributes that both have."""
    made = Instance(a.cls)
    made.state["open"] = True
    for name, value in a.cells.items():
        other = b.cells.get(name, MISSING)
        deep = any(isinstance(v, Object) and not isinstance(v, Tensor) for v in (value, other))
        if other is not MISSING:
            made.cells[name] = Unknown(reason, None, cause) if deep else generalise(value, other, reason, cause)
    return made


def _common_dict(a: Dict, b: Dict, reason: str, cause: Any) -> Dict:
    """The items that both have; where one has others, there may be some."""
    same = {k: generalise(v, b.cells[k], reason, cause) for k, v in a.cells.items() if k in b.cells}
    closed = a.rest is MISSING and b.rest is MISSING and len(same) == len(a.cells) == len(b.cells)
    made = Dict(same, MISSING if closed else Unknown(reason, cause=cause))
    made.kind, made.default = a.kind, a.default if a.default is b.default else None
    return made


def _members(a: List) -> tuple[Value, ...]:
    return a.items if a.items is not None else (a.item,)


_CONSTANTS: Final[dict[type, str]] = {int: "int", Expr: "int", float: "float", str: "str"}


def common_item(items: Iterable[Value], reason: str = "which item it is") -> Value:
    """One value for every item of a collection."""
    out: Value = MISSING
    joined: str | None = None  # the class of constants that differ: no other one of it changes what is known
    for item in items:
        name = _CONSTANTS.get(type(item))
        if name is not None and name == joined:
            continue
        out = item if out is MISSING else generalise(out, item, reason)
        joined = out.type if name is not None and isinstance(out, Unknown) else None
    return Unknown(reason) if out is MISSING else out


def one_of(items: Sequence[Value], reason: str = "which item it is") -> Value:
    """One of several values, nobody knows which: of functions and classes each remains, as they have nothing in common
    but that each can be followed; of anything else it is what they have in common.
    """
    if not 2 <= len(items) <= _MOST_FUNCTIONS or not all(map(_is_called, items)):
        return common_item(items, reason)
    out = items[-1]
    for item in reversed(items[:-1]):
        out = item if item is out else Choice(Unknown(reason, "bool"), item, out)
    return out


def _is_called(value: Value) -> bool:
    """Whether it is there to be called, or a row of a table that holds what is."""
    if type(value) is tuple:
        return any(map(_is_called, value))
    partial = isinstance(value, Instance) and value.cls.is_a("functools.partial")
    return partial or isinstance(value, Function | Class | Method | Native | BoundNative)


def type_name(value: Value) -> str | None:
    """The name of the Python class of a number or string."""
    if isinstance(value, Unknown):
        return value.type
    if isinstance(value, Expr):
        return "int"
    if isinstance(value, Choice):
        if value.when_true is MISSING or value.when_false is MISSING:
            return type_name(value.when_false if value.when_true is MISSING else value.when_true)
        return _common_name(value.when_true, value.when_false)
    if isinstance(value, str):
        return "str"
    if isinstance(value, Here):
        return "int"
    return type(value).__name__ if isinstance(value, bool | int | float) else None


def _common_name(a: Value, b: Value) -> str | None:
    left, right = type_name(a), type_name(b)
    return left if left == right else None


def _holds(value: Value, cells: Collection[int], depth: int = 4) -> bool:
    """Whether a value leads to one of these cells."""
    if isinstance(value, Tensor | Set | Iterator):
        return id(value.cells) in cells
    if type(value) is Saved:  # nobody else has what it holds
        return False
    if depth == 0 and isinstance(value, Choice):
        return not all(type(v) is Saved or v is MISSING for v in _leaves(value))
    if depth == 0 or not isinstance(value, tuple | List | Dict | Instance | Choice):
        return isinstance(value, tuple | List | Dict | Instance | Choice)
    if isinstance(value, Choice):
        return _holds(value.when_true, cells, depth - 1) or _holds(value.when_false, cells, depth - 1)
    if isinstance(value, tuple):
        return any(_holds(v, cells, depth - 1) for v in value)
    if id(value.cells) in cells or (not isinstance(value, List) and id(value.state) in cells):
        return True
    if isinstance(value, List):
        return _holds(value.items if value.items is not None else value.item, cells, depth - 1)
    return isinstance(value, Dict) and any(_holds(v, cells, depth - 1) for v in value.cells.values())


def _alternatives(value: Value) -> int:
    if isinstance(value, Choice):
        return _alternatives(value.when_true) + _alternatives(value.when_false)
    return 1


def merge(condition: Unknown, a: Value, b: Value, moved: Collection[int] = ()) -> Value:
    """``a`` if the condition holds, else ``b``.

    Args:
        condition: what tells them apart.
        a: one value.
        b: the other.
        moved: the identities of cells that one of the two ways has changed: what they hold here is not what they held
            there, so it isn't looked at.
    """
    if moved and type(a) is tuple and type(b) is tuple and len(a) == len(b):
        return tuple(merge(condition, x, y, moved) for x, y in zip(a, b, strict=True))
    if a is not b and moved and (_holds(a, moved) or _holds(b, moved)):
        if _alternatives(a) + _alternatives(b) > _MOST_ALTERNATIVES:
            return Unknown("it depends on several conditions that aren't known", None, condition.cause)
        return Choice(condition, a, b)
    if a is b or (alike(a, b) and not isinstance(a, Tensor | List | Dict | Instance | Iterator)):
        return a
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        source = a if isinstance(a, Unknown) else b
        return _common_unknown(a, b, source.reason, source.cause)
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b) and type(a) is not Saved:
        return tuple(merge(condition, x, y, moved) for x, y in zip(a, b, strict=True))
    if isinstance(a, Tensor) and isinstance(b, Tensor) and a.type == b.type and a.array == b.array:
        # which of the two it is matters to nobody but who changes its shape in place
        return common_tensor(a, b)
    if _alternatives(a) + _alternatives(b) > _MOST_ALTERNATIVES:
        return generalise(a, b, "it depends on several conditions that aren't known", condition.cause)
    return Choice(condition, a, b)


# -- ways ---------------------------------------------------------------------------------------------------------


def choose(run: Interpreter, value: Value, when_true: Callable[[], Done], when_false: Callable[[], Done]) -> Done:
    """Go the way that a condition says, or both."""
    found = truth(run, value)
    if isinstance(found, bool):
        return when_true() if found else when_false()
    condition, way = found
    ways = (when_true, when_false) if way else (when_false, when_true)
    return join(
        run, [o for holds, go in zip((True, False), ways, strict=True) for o in _aside(run, condition, holds, go)]
    )


def _aside(run: Interpreter, condition: Unknown, holds: bool, go: Callable[[], Done]) -> list[Outcome]:
    """One way, with its changes set aside; what it finds is kept beside it."""
    began = now()
    run.heap.begin()
    outer, run.findings = run.findings, []
    run.conditions.append(condition)
    try:
        try:
            run.assume(condition, holds)
            done = go()
        except Raised as error:
            done = Raise(error)
    finally:
        found, run.findings = run.findings, outer
        run.conditions.pop()
        change = run.heap.end()
    here = (condition, holds)
    if isinstance(done, Split):
        return [
            Outcome(o.done, {**change, **o.change}, [*found, *o.findings], (here, *o.conditions), began)
            for o in done.outcomes
        ]
    return [Outcome(done, change, found, (here,), began)]


def join(run: Interpreter, outcomes: list[Outcome]) -> Done:
    """Join the ways that end in the same manner. If all do, their changes are made, and that is how it ends."""
    caught.tell_of(run, outcomes)
    _report(run, outcomes)
    alive = [o for o in outcomes if not isinstance(o.done, Raise) or guards.is_caught(run, o.done.error)]
    exits = [o for o in outcomes if isinstance(o.done, Raise) and o.done.error.name == "SystemExit"]
    outcomes = alive or exits[:1] or outcomes[:1]  # what nobody catches ends the program: who gets on did not raise it
    groups: dict[tuple[str, str], Outcome] = {}
    for o in outcomes:
        kind = o.kind, o.done.error.name if isinstance(o.done, Raise) else ""  # by class: it decides who catches it
        groups[kind] = join_two(run, groups[kind], o) if kind in groups else o
    if len(groups) > 1:
        return Split(list(groups.values()))
    (only,) = groups.values()
    run.heap.apply(only.change)
    return only.done


def _report(run: Interpreter, outcomes: Sequence[Outcome]) -> None:
    """Mistakes count if the program fails on every way, or where the condition can't have to do with them.

    An operation whose operands are known fails whenever this way is taken. It is taken in some run if the condition
    asks for nothing that the program makes.
    """
    going = [o for o in outcomes if o.kind != "raise"] or outcomes
    everywhere = all(o.findings for o in going)
    is_run = not run.entry and not run.hypothetical
    for o in outcomes:
        apart = [c for c, holds in o.conditions if c.cause != "data" and c.usual is not holds]
        is_elsewhere = is_run and all(map(_is_elsewhere, apart))
        for f in o.findings:
            if everywhere or not apart or (is_elsewhere and f.operation):
                run.keep(f)
        o.findings = []


_OF_LIBRARIES: Final = (" isn't followed", " isn't known to the follower")
"""How the origins end of what a library gives that isn't known at all (`sources.imports`, `sources.program`)."""


def _is_elsewhere(condition: Unknown) -> bool:
    """Whether a condition asks an unknown library alone, as for the steps that an environment has made."""
    while condition.negates is not None:
        condition = condition.negates
    _, *asked = condition.fact or ("", condition)
    unknown = [v for v in asked if not is_known(v)]
    return bool(unknown) and all(isinstance(v, Unknown) and v.origin.endswith(_OF_LIBRARIES) for v in unknown)


def join_two(run: Interpreter, a: Outcome, b: Outcome) -> Outcome:
    """Two ways that end in the same manner as one."""
    condition, swapped = _what_tells_apart(a, b)
    if swapped:
        a, b = b, a
    change: Change = {}
    run.budget.spend((len(a.change) + len(b.change)) // _AS_LONG)
    moved = {cells for cells, _ in (*a.change, *b.change)}
    for place in {**a.change, **b.change}:
        if (place in a.change) is not (place in b.change):
            entry = a.change.get(place) or b.change[place]
            if born(entry[0]) > min(a.began, b.began):  # made on one way only: nobody has it on the other
                change[place] = entry
                continue
        cells, key, _ = a.change.get(place) or b.change.get(place)  # type: ignore[misc]
        if key in ("items", "item") and "item" in cells and "items" in cells:
            _merge_items(change, cells, condition, a.change, b.change, moved)
            continue
        before = cells.get(key, MISSING)
        left = a.change[place][2] if place in a.change else before
        right = b.change[place][2] if place in b.change else before
        _merge_cell(run, change, cells, key, condition, left, right, moved)
    done = a.done
    if isinstance(a.done, Return) and isinstance(b.done, Return):
        done = Return(merge(condition, a.done.value, b.done.value, moved))
    elif isinstance(a.done, Raise) and isinstance(b.done, Raise) and a.done.error is not b.done.error:
        one, other = a.done.error, b.done.error
        done = Raise(Raised(one.name, merge(condition, one.value, other.value, moved), one.bases))
    common = tuple(c for c in a.conditions if c in b.conditions)
    return Outcome(done, change, [], common, min(a.began, b.began))


def _merge_cell(
    run: Interpreter,
    change: Change,
    cells: dict[Any, Any],
    key: Any,
    condition: Unknown,
    left: Value,
    right: Value,
    moved: Collection[int],
) -> None:
    place = id(cells), key
    if cells is run.assumed:
        change[place] = cells, key, left if left == right else MISSING
    elif cells is run.equalities:  # what is known on both ways
        change[place] = cells, key, {v: d for v, d in left.items() if right.get(v) == d}
    elif isinstance(left, TensorType) and isinstance(right, TensorType):
        change[place] = cells, key, common_type(left, right)
    elif key in OF_GRAPHS or (key == SIZE and "items" in cells):  # how long a list is, see `offsets`
        change[place] = cells, key, left if left == right else MISSING
    elif key == NEXT and left != right:
        change[place] = cells, key, max(left, right)
        held = cells.get("items")
        held = held.items if isinstance(held, List) else held
        if isinstance(held, tuple) and (id(cells), "items") not in change:  # which of them is next isn't known
            change[id(cells), "items"] = cells, "items", None
            change[id(cells), "item"] = cells, "item", common_item(held[min(left, right) :], "which item comes next")
    else:
        change[place] = cells, key, merge(condition, left, right, moved)


def _merge_items(
    change: Change, cells: dict[Any, Any], condition: Unknown, a: Change, b: Change, moved: Collection[int]
) -> None:
    """What a list or an iterator holds, that on one way may be longer than on the other."""
    rows, others = [], []
    for way in (a, b):
        rows.append(way[id(cells), "items"][2] if (id(cells), "items") in way else cells["items"])
        others.append(way[id(cells), "item"][2] if (id(cells), "item") in way else cells["item"])
    if rows[0] is rows[1] and isinstance(rows[0], List):
        change[id(cells), "items"] = cells, "items", rows[0]
        return
    for index, row in enumerate(rows):
        if isinstance(row, List):  # it is alive: what comes next is one of its items
            others[index] = common_item(row.items) if row.items is not None else row.item
        rows[index] = row if isinstance(row, tuple) else None
    left, right = rows
    if left is not None and right is not None and len(left) == len(right):
        change[id(cells), "items"] = cells, "items", merge(condition, left, right, moved)
        return
    known = [v for row, other in zip(rows, others, strict=True) for v in ((other,) if row is None else row)]
    reason = "which item of a list it is"
    if known[0] is known[-1] and len(known) == 2:
        one = known[0]
    else:
        one = Unknown(reason) if any(_holds(v, moved) for v in known) else common_item(known, reason)
    change[id(cells), "items"] = cells, "items", None
    change[id(cells), "item"] = cells, "item", one


def _what_tells_apart(a: Outcome, b: Outcome) -> tuple[Unknown, bool]:
    """The condition that holds on one way and not on the other, and whether it is the second one."""
    other = dict(b.conditions)
    for condition, holds in a.conditions:
        if other.get(condition, holds) is not holds:
            return condition, not holds
    cause = "data" if all(c.cause == "data" for c, _ in (*a.conditions, *b.conditions)) else "code"
    return Unknown("it depends on several conditions", "bool", cause), False  # type: ignore[arg-type]


def follow_on(
    run: Interpreter,
    split: Split,
    rest: Callable[[], Done],
    kinds: tuple[str, ...] = ("normal",),
    *,
    keep: bool = False,
) -> Done:
    """After ways that ended differently: those of these kinds go on with ``rest``, and all are joined again.

    With ``keep`` a way ends as it did, unless ``rest`` ends otherwise than normally (``finally``).
    """

    def following(way: Outcome) -> Done:
        done = rest()
        return way.done if keep and done is None else done

    return go_on(run, split.outcomes, following, kinds)


def go_on(run: Interpreter, ways: Sequence[Outcome], rest: Callable[[Outcome], Done], kinds: Sequence[str]) -> Done:
    """Each way that ended in one of these manners goes on with ``rest(way)``, and all are joined."""
    if len(ways) == 1 and ways[0].kind in kinds and not ways[0].conditions:
        run.heap.apply(ways[0].change)
        for found in ways[0].findings:
            run.keep(found)
        return rest(ways[0])
    out = [o for o in ways if o.kind not in kinds]
    for o in ways:
        if o.kind not in kinds:
            continue
        run.heap.begin()
        outer, run.findings = run.findings, []
        known = len(run.conditions)
        run.conditions.extend(c for c, _ in o.conditions)
        if len(run.conditions) == known:  # the ways don't differ in a single condition
            run.conditions.append(Unknown("it depends on several conditions", "bool"))
        try:
            run.heap.apply(o.change)
            try:
                done = rest(o)
            except Raised as error:
                done = Raise(error)
        finally:
            found, run.findings = [*o.findings, *run.findings], outer
            del run.conditions[known:]
            change = run.heap.end()
        if isinstance(done, Split):
            out += [
                Outcome(i.done, {**change, **i.change}, [*found, *i.findings], (*o.conditions, *i.conditions), o.began)
                for i in done.outcomes
            ]
        else:
            out.append(Outcome(done, change, found, o.conditions, o.began))
    return join(run, out)


def finish(run: Interpreter, done: Done) -> Value:
    """What a call gives whose body ended so.

    Raises:
        Raised: it ends with an exception for sure.
    """
    if isinstance(done, Split):
        raising = [o for o in done.outcomes if o.kind == "raise"]
        for o in raising:
            _remember(run, o)
        caught.tell_of(run, raising)
        _report(run, done.outcomes)
        going = [
            Outcome(o.done if o.kind == "return" else Return(None), o.change, o.findings, o.conditions, o.began)
            for o in done.outcomes
            if o.kind != "raise"
        ]
        done = join(run, going or raising)
    if isinstance(done, Raise):
        raise done.error
    return done.value if isinstance(done, Return) else None


def _remember(run: Interpreter, way: Outcome) -> None:
    """A way of a call that ends with an exception: it goes on where that is caught."""
    if isinstance(way.done, Raise) and run.guards:
        run.heap.begin()
        run.heap.apply(way.change)
        guards.may_raise(run, (way.done.error,))
        run.heap.end()


def settle(run: Interpreter, done: Done) -> None:
    """At the end of a file: however it ended, what was changed on any way is in force."""
    if isinstance(done, Split):
        for o in done.outcomes:
            o.done = None
        join(run, done.outcomes)


def distribute(run: Interpreter, choice: Choice, compute: Callable[[Value], Value]) -> Value:
    """A computation with each of the values that there may be; a way on which it surely fails isn't gone."""

    def way(value: Value) -> Callable[[], Done]:
        return lambda: Return(compute(resolve(run, value)))

    outcomes = [
        o
        for holds, value in ((True, choice.when_true), (False, choice.when_false))
        if value is not MISSING
        for o in _aside(run, choice.condition, holds, way(value))
    ]
    fine = [
        o for o in outcomes if not o.findings and (not isinstance(o.done, Raise) or guards.is_caught(run, o.done.error))
    ]
    if fine and len(fine) < len(outcomes):
        # a value that fails here can't be the one: where it would, the program doesn't get here
        if offsets.is_toss(run, choice.condition):  # each of the two is the one now and then
            for found in (f for o in outcomes for f in o.findings):
                run.keep(found)
        for o in fine:
            o.change = {p: c for p, c in o.change.items() if c[0] is not run.assumed}
        outcomes = fine
    return finish(run, join(run, outcomes))
