"""``functools`` and ``operator``."""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import branches, guards, items, operators
from simpletorch.follow.libraries import Work, gives, library_class, model, native
from simpletorch.follow.model import kinds, often
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.values import MISSING, Class, Dict, Function, Instance, Native, Property, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

_IDENTITY: Final = Native("a decorator", lambda run, args, kwargs: args[0])


# -- functions with some of their arguments --------------------------------------------------------------------------


def _make_partial(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    inner = run.resolve(args[0])
    if isinstance(inner, Instance) and inner.cls.is_a("functools.partial"):
        function, first, by_name = inner.native
        args, kwargs = (function, *first, *args[1:]), {**by_name, **kwargs}
    made = Instance(cls, (args[0], args[1:], kwargs))
    made.cells.update({"func": args[0], "args": args[1:], "keywords": Dict(kwargs)})
    return made


def _call_partial(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    owner, *more = args
    function, first, by_name = owner.native
    return run.call(function, (*first, *more), {**by_name, **kwargs})


library_class("functools.partial", make=_make_partial, methods={"__call__": _call_partial})


# -- decorators ------------------------------------------------------------------------------------------------------


@model("functools.cache")
def _cache(run: Interpreter, user_function: Value, /) -> Value:
    return _cached(user_function, None)


_ROOTS: Final[dict[str, dict[str, tuple[bool, str]]]] = {
    "__lt__": {"__gt__": (False, "and !="), "__le__": (True, "or =="), "__ge__": (False, "")},
    "__le__": {"__ge__": (False, "or =="), "__lt__": (True, "and !="), "__gt__": (False, "")},
    "__gt__": {"__lt__": (False, "and !="), "__ge__": (True, "or =="), "__le__": (False, "")},
    "__ge__": {"__le__": (False, "or =="), "__gt__": (True, "and !="), "__lt__": (False, "")},
}
"""By the comparison that a class defines, what another one is: whether it holds, or not, and what else."""


def _ordered(root: str, holds: bool, also: str) -> Work:
    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        left, right = args
        answer = run.resolve(run.call(run.special(left, root), (right,)))
        if answer is NotImplemented:
            return answer
        first = operators.as_bool(run, answer)
        first = first if holds else operators.negate(run, first)
        if also == "" or (first is True and also.startswith("or")) or (first is False and also.startswith("and")):
            return first
        second = operators.as_bool(run, run.operate("__ne__" if also == "and !=" else "__eq__", left, right))
        return second if isinstance(first, bool) else run.derived(also, first, second)

    return work


@model("functools.total_ordering")
def _total_ordering(run: Interpreter, cls: Value) -> Value:
    roots = [n for n in _ROOTS if isinstance(cls, Class) and cls.find(n)]
    if not roots:
        if (
            isinstance(cls, Class)
            and kinds.is_plain(run, cls)
            and all(kinds.real(c) in (None, object) for c in cls.mro)
        ):
            raise kinds.error("ValueError")
        guards.may_raise(run, guards.ANY)
        return cls
    for name, (holds, also) in _ROOTS[roots[0]].items():
        if name not in roots:
            run.heap.write(cls.cells, name, Native(name, _ordered(roots[0], holds, also)))
    return cls


@model("functools.lru_cache")
def _lru_cache(run: Interpreter, maxsize: Value = 128, typed: Value = False) -> Value:
    if isinstance(maxsize, Function | Native):
        return _cached(maxsize, 128)
    if maxsize is None or isinstance(maxsize, int):
        return Native("lru_cache", lambda run, args, kwargs: _cached(args[0], maxsize))
    return _IDENTITY


def _cached(function: Value, most: int | None) -> Value:
    return replace(function, answers=Dict(), most_answers=most) if isinstance(function, Function) else function


@model("functools.wraps")
def _wraps(run: Interpreter, wrapped: Value, assigned: Value = None, updated: Value = None) -> Value:
    more = () if assigned is updated is None else (assigned, updated)
    return Native("wraps", lambda run, given, kwargs: _update_wrapper(run, given[0], wrapped, *more))


@model("functools.update_wrapper")
def _update_wrapper(run: Interpreter, wrapper: Value, wrapped: Value, *more: Value, **rest: Value) -> Value:
    if more or rest:  # not the names that it copies by itself
        run.escape((wrapper,))
        return wrapper
    if isinstance(wrapper, Function):
        for name, value in (wrapped.attributes if isinstance(wrapped, Function) else {}).items():
            run.heap.write(wrapper.attributes, name, value)
        run.heap.write(wrapper.attributes, "__wrapped__", wrapped)
        if "__name__" not in getattr(wrapped, "attributes", ()):  # else it was copied, or set
            name = getattr(wrapped, "name", run.unknown("a name", "str"))
            name = name.rpartition(".")[2] if isinstance(name, str) else name
            run.heap.write(wrapper.attributes, "__name__", name)
        run.heap.write(wrapper.attributes, "__qualname__", run.unknown("a name", "str"))
    return wrapper


@model("functools.cached_property")
def _cached_property(run: Interpreter, func: Value) -> Value:
    return Property(func, cached=True)


gives("functools.singledispatch functools.singledispatchmethod functools.partialmethod functools.cmp_to_key")


@model("functools.reduce")
def _reduce(run: Interpreter, function: Value, iterable: Value, initial: Value = MISSING, /) -> Value:
    found = run.items(iterable)
    if found is None:
        often.may_call(run, function)
        return run.unknown("what reduce gives")
    rows = found if initial is MISSING else (initial, *found)
    if not rows:
        raise Raised("TypeError", None, ("Exception", "BaseException"))
    out = rows[0]
    for value in rows[1:]:
        out = run.call(function, (out, value))
    return out


# -- operator --------------------------------------------------------------------------------------------------------

_BINARY: Final = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor", "lshift", "rshift",
    "eq", "ne", "lt", "le", "gt", "ge",
)  # fmt: skip


def _binary(method: str) -> Work:
    return lambda run, args, kwargs: run.operate(method, *args)


def _unary(method: str) -> Work:
    return lambda run, args, kwargs: operators.unary(run, method, args[0])


def _in_place(method: str) -> Work:
    return lambda run, args, kwargs: operators.in_place(run, method, *args)


for _name in _BINARY:
    _method = f"__{_name.rstrip('_')}__"
    native(f"operator.{_name}", f"operator.{_method}")(_binary(_method))
for _name in ("neg", "pos", "invert"):
    native(f"operator.{_name}")(_unary(f"__{_name}__"))
for _name in ("add", "sub", "mul", "truediv"):
    native(f"operator.i{_name}")(_in_place(f"__{_name}__"))


@model("operator.getitem")
def _getitem(run: Interpreter, a: Value, b: Value, /) -> Value:
    return items.get(run, a, b)


@model("operator.setitem")
def _setitem(run: Interpreter, a: Value, b: Value, c: Value, /) -> Value:
    items.put(run, a, b, c)
    return None


@model("operator.contains")
def _contains(run: Interpreter, a: Value, b: Value, /) -> Value:
    return operators.contains(run, a, b)


@model("operator.not_")
def _not(run: Interpreter, a: Value, /) -> Value:
    return operators.negate(run, a)


@model("operator.truth")
def _truth(run: Interpreter, a: Value, /) -> Value:
    found = branches.truth(run, a)
    return found if isinstance(found, bool) else run.unknown("whether a value is true", "bool", found[0].cause)


def _one_or_all(rows: list[Value]) -> Value:
    return rows[0] if len(rows) == 1 else tuple(rows)


@native("operator.itemgetter")
def _itemgetter(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return Native("itemgetter", lambda run, given, kwargs: _one_or_all([items.get(run, given[0], k) for k in args]))


def _by_path(run: Interpreter, value: Value, path: Value) -> Value:
    if not isinstance(path, str):
        return run.unknown("an attribute by a name that isn't known")
    for name in path.split("."):
        value = run.attribute(value, name)
    return value


@native("operator.attrgetter")
def _attrgetter(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return Native("attrgetter", lambda run, given, kwargs: _one_or_all([_by_path(run, given[0], p) for p in args]))


@native("operator.methodcaller")
def _methodcaller(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    def work(run: Interpreter, given: tuple[Value, ...], _: dict[str, Any]) -> Value:
        return run.call(_by_path(run, given[0], args[0]), args[1:], kwargs)

    return Native("methodcaller", work)


@model("operator.index")
def _index(run: Interpreter, a: Value, /) -> Value:
    return operator.index(a) if isinstance(a, int) else run.unknown("an index", "int")
