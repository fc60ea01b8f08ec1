"""Operators: of tensors by rule, of known values as Python computes them, of the program's objects by their methods."""

from __future__ import annotations

import ast
import operator
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import branches, guards, items, iteration, texts
from simpletorch.follow.budget import LARGEST, formats_too_much, weight
from simpletorch.follow.libraries import METHODS as LIBRARY_METHODS
from simpletorch.follow.marks import sparsity
from simpletorch.follow.memory import stand_ins
from simpletorch.follow.mistakes import events
from simpletorch.follow.model import abstract, counters, descriptors, iterators, kinds, metaclasses, unmodelled
from simpletorch.follow.numbers import between, first_rounds, indexes, offsets
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.values import (
    MISSING,
    OF_NUMPY,
    SIZE,
    BoundNative,
    Choice,
    Class,
    Dict,
    Fields,
    Function,
    Here,
    Instance,
    Iterator,
    List,
    Method,
    Namespace,
    Native,
    Set,
    Sizes,
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
from simpletorch.rules import RULES, Device, TensorType
from simpletorch.rules.core.dtype import DType
from simpletorch.shapes import Expr

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = [
    "METHODS",
    "as_bool",
    "binary",
    "compare",
    "contains",
    "identical",
    "in_place",
    "is_instance",
    "is_subclass",
    "negate",
    "unary",
]

METHODS: Final[dict[type[ast.AST], str]] = {
    ast.Add: "__add__",
    ast.Sub: "__sub__",
    ast.Mult: "__mul__",
    ast.Div: "__truediv__",
    ast.FloorDiv: "__floordiv__",
    ast.Mod: "__mod__",
    ast.Pow: "__pow__",
    ast.MatMult: "__matmul__",
    ast.BitAnd: "__and__",
    ast.BitOr: "__or__",
    ast.BitXor: "__xor__",
    ast.LShift: "__lshift__",
    ast.RShift: "__rshift__",
    ast.USub: "__neg__",
    ast.UAdd: "__pos__",
    ast.Invert: "__invert__",
    ast.Eq: "__eq__",
    ast.NotEq: "__ne__",
    ast.Lt: "__lt__",
    ast.LtE: "__le__",
    ast.Gt: "__gt__",
    ast.GtE: "__ge__",
}
_PYTHON: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "__add__": operator.add,
    "__sub__": operator.sub,
    "__mul__": operator.mul,
    "__truediv__": operator.truediv,
    "__floordiv__": operator.floordiv,
    "__mod__": operator.mod,
    "__pow__": operator.pow,
    "__matmul__": operator.matmul,
    "__and__": operator.and_,
    "__or__": operator.or_,
    "__xor__": operator.xor,
    "__lshift__": operator.lshift,
    "__rshift__": operator.rshift,
    "__eq__": operator.eq,
    "__ne__": operator.ne,
    "__lt__": operator.lt,
    "__le__": operator.le,
    "__gt__": operator.gt,
    "__ge__": operator.ge,
}
_UNARY: Final[dict[str, Callable[[Any], Any]]] = {
    "__neg__": operator.neg,
    "__pos__": operator.pos,
    "__invert__": operator.invert,
}
_COMPARISONS: Final = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")
_MIRRORED: Final = {
    "__lt__": "__gt__",
    "__le__": "__ge__",
    "__gt__": "__lt__",
    "__ge__": "__le__",
    "__eq__": "__eq__",
    "__ne__": "__ne__",
}
_OF_NUMBERS: Final = frozenset((a, b) for a in (int, float) for b in (int, float))
_SEVERAL: Final = frozenset({tuple, Fields, Sizes, List, Dict, type(None)})
_ERRORS: Final = (ValueError, TypeError, ZeroDivisionError, OverflowError, MemoryError)


def binary(run: Interpreter, name: str, left: Value, right: Value) -> Value:
    """``left <operator> right``."""
    both = type(left), type(right)
    if both in _OF_NUMBERS:  # most
        return _of_constants(run, name, left, right)
    if Here in both and name not in _COMPARISONS:
        return run.unknown("what another machine answers", "int")
    if Choice in both:
        left, right = run.resolve(left), run.resolve(right)
    if isinstance(left, Choice):
        return branches.distribute(run, left, lambda v: binary(run, name, v, right))
    if isinstance(right, Choice):
        return branches.distribute(run, right, lambda v: binary(run, name, left, v))
    if name == "__mod__" and isinstance(left, str) and (not is_known(right) or texts.is_of_torch(right)):
        texts.check_percent(run, left, right)
        guards.may_raise(run, guards.ANY)
        return run.unknown("a formatted string", "str")
    if (found := sparsity.operate(run, name, left, right)) is not None:
        return found
    if isinstance(left, Tensor) or isinstance(right, Tensor):
        return _of_tensors(run, name, left, right)
    if name == "__or__" and (union := _union(run, left, right)) is not None:
        return union
    if isinstance(left, Instance) or isinstance(right, Instance):
        return _of_objects(run, name, left, right)
    if any(isinstance(v, Class) and descriptors.META in v.metadata for v in (left, right)):
        return _of_classes(run, name, left, right)
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        if run.takers:
            _may_refuse(run, name, left, right)
        return _of_unknown(run, name, left, right)
    if (both[0] in _SEVERAL or both[1] in _SEVERAL) and (
        refused := events.OPERATOR(run, name, left, right)
    ) is not None:
        return refused
    if isinstance(left, List | Set | Dict) or isinstance(right, List | Set | Dict):
        return _of_collections(run, name, left, right)
    if isinstance(left, Expr) or isinstance(right, Expr):
        return _of_sizes(run, name, left, right)
    if both == (slice, slice) and left is not right:
        return _of_constants(run, name, *((v.start, v.stop, v.step) for v in (left, right)))
    return _of_constants(run, name, left, right)


def _mirrored(name: str) -> str:
    """The method of the right operand that Python asks where the left one's passes."""
    return _MIRRORED.get(name) or f"__r{name[2:]}"


_LEAST: Final = -(2**63)
_MOST: Final = 2**64 - 1


def _of_tensors(run: Interpreter, name: str, left: Value, right: Value) -> Value:
    if name in ("__eq__", "__ne__") and (_is_refused(run, left) or _is_refused(run, right)):
        if not any(isinstance(v, Tensor) and v.array for v in (left, right)):
            return _of_objects(run, name, left, right)
        if not any(isinstance(v, List | tuple) for v in (left, right)):  # NumPy asks each element
            return run.unknown("how an array compares")
    if type(right) is Instance and right.cls.find(_mirrored(name)) is not None and _is_refused(run, right):
        return _of_objects(run, name, left, right)
    for one, other in ((left, right), (right, left)):
        if type(other) is int and not _LEAST <= other <= _MOST and isinstance(one, Tensor) and not one.array:
            shown, hint = (other, f"use a float: {float(other):g}") if abs(other) < 10**40 else ("the int", None)
            message = f"{shown} is too big for a tensor: torch takes integers from -2**63 to 2**64 - 1"
            return guards.refuse(run, message, hint, "OverflowError", "tensor-dtype")
    if isinstance(left, View) or isinstance(right, View):  # a set of the tensor's rows is made
        return unmodelled.operator(run, name)
    if isinstance(left, Unknown) and left.derived is not None and left.derived.find(name) is not None:
        return unmodelled.operator(run, name)
    if isinstance(left, Tensor):
        if type(right) is not Tensor and (refused := events.OPERATOR(run, name, left, right)) is not None:
            return refused
        return offsets.moved(name, left, right, run.ask(f"Tensor.{name}", (left, right)))
    mirrored = _mirrored(name)
    if isinstance(left, Instance) and left.cls.find(name) is not None:
        answer = run.resolve(run.call(run.attribute(left, name), (right,)))
        if answer is not NotImplemented:
            return answer
    if (refused := events.OPERATOR(run, mirrored, right, left)) is not None:
        return refused
    if f"Tensor.{mirrored}" not in RULES:
        return unmodelled.operator(run, name)
    return offsets.moved(name, left, right, run.ask(f"Tensor.{mirrored}", (right, left)))


_NEITHER: Final = (str, type(None), List, Dict, Set, tuple, Function, slice)


def _is_refused(run: Interpreter, value: Value) -> bool:
    """Whether torch compares no tensor with it: then Python compares the two objects."""
    if type(value) is not Instance:
        return isinstance(value, _NEITHER)
    collection = kinds.collection_of(value.cls)
    is_own = (collection is None or isinstance(collection, _NEITHER)) and "members" not in value.cls.metadata
    return is_own and kinds.is_plain(run, value.cls) and value.cls.find("__torch_function__") is None


def _of_objects(run: Interpreter, name: str, left: Value, right: Value) -> Value:
    """An operator of the program's objects: each side is asked in Python's order, and may pass."""
    mirrored = _mirrored(name)
    order = [(left, right, name), (right, left, mirrored)]
    same = isinstance(left, Instance) and isinstance(right, Instance) and left.cls is right.cls
    if same and name not in _COMPARISONS:
        order.pop()
    elif isinstance(left, Instance) and isinstance(right, Instance) and left.cls in right.cls.mro[1:]:
        own, other = right.cls.find(mirrored), left.cls.find(mirrored)
        if own is not None and (other is None or own[0] is not other[0] or name in _COMPARISONS):
            order.reverse()
    for one, other, method in order:
        if not isinstance(one, Instance):
            continue
        found, negated = one.cls.find(method), False
        if found is None and method == "__ne__" and not _compares(one):
            found, negated = one.cls.find("__eq__"), True
        if found is not None:
            answer = run.resolve(run.call(run.special(one, "__eq__" if negated else method), (other,)))
            if isinstance(answer, Choice) and _may_pass(answer):
                return unmodelled.operator(run, name)
            if answer is not NotImplemented:
                return negate(run, answer) if negated else answer
        elif one.cls.unknown_base is not None:
            return run.unknown(f"what {name} of {one!r} gives")
    return _of_plain_objects(run, name, left, right)


def _of_classes(run: Interpreter, name: str, left: Value, right: Value) -> Value:
    """An operator of classes, which their metaclasses answer."""
    for one, other, method in ((left, right, name), (right, left, _mirrored(name))):
        own = metaclasses.special(one, method) if isinstance(one, Class) else None
        if own is not None:
            answer = run.resolve(run.call(own, (other,)))
            if isinstance(answer, Choice) and _may_pass(answer):
                return unmodelled.operator(run, name)
            if answer is not NotImplemented:
                return answer
    if name in ("__eq__", "__ne__") and not isinstance(left, Unknown) and not isinstance(right, Unknown):
        asked = [metaclasses.special(v, "__eq__") for v in (left, right) if isinstance(v, Class)]
        return (left is right) is (name == "__eq__") if not any(asked) else unmodelled.operator(run, name)
    return unmodelled.operator(run, name)


def _may_pass(answer: Value) -> bool:
    """Whether a method may have answered `NotImplemented`."""
    if isinstance(answer, Choice):
        return _may_pass(answer.when_true) or _may_pass(answer.when_false)
    return answer is NotImplemented


def _compares(value: Value) -> bool:
    """Whether Python's own class of an object says when two are equal."""
    reals = map(kinds.real, value.cls.mro) if isinstance(value, Instance) else ()
    return any("__eq__" in vars(real) for real in reals if real not in (None, object))


_SEQUENCES: Final = (str, bytes, tuple, List)


def _of_plain_objects(run: Interpreter, name: str, left: Value, right: Value) -> Value:
    """An operator that no class of the program's answers."""
    if name in ("__eq__", "__ne__"):
        if isinstance(left, Unknown) or isinstance(right, Unknown):
            return run.derived("==" if name == "__eq__" else "!=", left, right)
        if left is not right and isinstance(left, Instance) and _has_fields(left):
            return _of_fields(run, name, left, right)
        if left is not right and isinstance(right, Instance) and right.cls.metadata.get("tuple"):
            return _of_fields(run, name, right, left)
        if stand_ins.may_be_one(left, right):
            return run.derived("==" if name == "__eq__" else "!=", left, right)
        if left is not right and (behind(left) is not left or behind(right) is not right):
            return binary(run, name, behind(left), behind(right))
        if left is not right and (_compares(left) or _compares(right)):
            return run.derived("==" if name == "__eq__" else "!=", left, right)
        return (left is right) is (name == "__eq__")
    one, other = _held(left), _held(right)
    if name == "__or__" and isinstance(other, Dict):
        other = items.as_dict(run, right)
    if name == "__mul__" and any(isinstance(v, _SEQUENCES) for v in (one, other)):
        sides = ((left, one), (right, other))
        one, other = (v if isinstance(v, _SEQUENCES) else items.as_index(run, side) for side, v in sides)
    if (one is not left or other is not right) and not isinstance(one, Instance) and not isinstance(other, Instance):
        return binary(run, name, one, other)
    if all(_has_no_operators(run, v) for v in (left, right)):
        raise Raised("TypeError", None, ("Exception", "BaseException"))
    return unmodelled.operator(run, name)


def _held(value: Value) -> Value:
    """The contents of an object of a subclass of Python's collections, or of a named tuple."""
    if isinstance(value, Instance) and value.cls.metadata.get("tuple") and value.cls.fields is not None:
        return tuple(value.cells.get(name) for name, _ in value.cls.fields)
    return behind(value)


def _has_no_operators(run: Interpreter, value: Value) -> bool:
    """Whether an object's classes are the program's alone, or a value is one of Python's."""
    if isinstance(value, Instance):
        known = all(c.module == run.program.main or c.qualified == "builtins.object" for c in value.cls.mro)
        return known and value.cls.unknown_base is None and "dataclass" not in value.cls.metadata
    return _witness(value) is not _NONE_KNOWN


_NONE_KNOWN: Final = object()
_WITNESSES: Final[dict[type, Any]] = {
    List: [], Dict: {}, Set: set(), tuple: (), Sizes: (), str: "a", bytes: b"a", int: 1, bool: True, float: 1.0,
    complex: 1j, Expr: 1, type(None): None, range: range(0),
}  # fmt: skip


def _witness(value: Value) -> Any:
    """A value of the same class of Python's."""
    if isinstance(value, Dict) and value.kind != "dict":
        return _NONE_KNOWN
    if is_tuple(value):
        return ()
    return _WITNESSES.get(type(value), _NONE_KNOWN)


def _check_kinds(name: str, left: Value, right: Value) -> None:
    """Python asks the classes of two values whether they go together.

    Raises:
        Raised: they don't.
    """
    one, other = _witness(left), _witness(right)
    if one is _NONE_KNOWN or other is _NONE_KNOWN or (name == "__mod__" and isinstance(one, str | bytes)):
        return
    try:
        _PYTHON[name](one, other)
    except TypeError:
        raise Raised("TypeError", None, ("Exception", "BaseException")) from None
    except (ValueError, ArithmeticError):
        return


def _has_fields(value: Instance) -> bool:
    return value.cls.fields is not None or any("dataclass" in c.metadata for c in value.cls.mro)


def _of_fields(run: Interpreter, name: str, left: Instance, right: Value) -> Value:
    """``==`` of dataclasses and named tuples."""
    kind = left.cls
    made = [c.metadata for c in kind.mro if "dataclass" in c.metadata]
    compares = [m["dataclass"] for m in made if m.get("eq") is not False]
    fields = next(iter(compares), None)
    names = [n for n, _ in kind.fields or ()] if fields is None else [f.name for f in fields if f.compared]
    rows = [tuple(v.cells.get(n) for n in names) for v in (left, right) if isinstance(v, Instance)]
    if kind.metadata.get("tuple") and isinstance(right, tuple):
        return binary(run, name, rows[0], right)
    if kind.metadata.get("tuple") and len(rows) == 2 and right.cls.metadata.get("tuple"):
        return _of_tuples(run, name, *rows)
    if len(rows) < 2 or right.cls is not kind or (made and not compares):
        return name == "__ne__"
    return _of_tuples(run, name, *rows)


def _may_refuse(run: Interpreter, name: str, left: Value, right: Value) -> None:
    """An operator may raise where an operand isn't known; one of numbers only where it divides."""
    if not all(branches.type_name(v) in ("int", "float", "bool") for v in (left, right)):
        if name not in ("__eq__", "__ne__"):
            guards.may_raise(run, guards.ANY)
    elif name in ("__truediv__", "__floordiv__", "__mod__") and not (is_known(right) and right):
        guards.may_raise(run, (kinds.error("ZeroDivisionError"),))


def _of_unknown(run: Interpreter, name: str, left: Value, right: Value) -> Value:
    if name in _COMPARISONS:
        return _negated_twin(run, name, left, right)
    for one, times in ((left, right), (right, left)):
        if isinstance(one, List) and name == "__mul__" and branches.type_name(times) in ("int", "bool"):
            return offsets.times(run, one, times, branches.common_item(one.items) if one.items else one.item)
    types = {branches.type_name(left), branches.type_name(right)}
    found: str | None = None
    if types <= {"int", "bool"} and None not in types:
        found = "float" if name == "__truediv__" else "int"
    elif types <= {"int", "bool", "float"} and None not in types:
        found = "float"
    elif (
        types == {"str"}
        or (name == "__mul__" and types == {"str", "int"})
        or (name == "__mod__" and isinstance(left, str))
    ):
        found = "str"
    elif name == "__add__" and "date" in types:
        found = "date"  # and a timedelta
    source = left if isinstance(left, Unknown) else right
    if name == "__add__" and types == {"str"}:
        return texts.made_of(run, between.joined(run, source, (left, right)), (left, right))
    made = run.unknown(source.reason, found, source.cause)
    made.origin = source.origin
    made.without_tensors = branches.has_no_tensor(left) and branches.has_no_tensor(right)
    made.scalar = branches.is_scalar(left) and branches.is_scalar(right)
    if run.firsts:
        first_rounds.compute(run, name, left, right, made)
    return offsets.moved(name, left, right, made)


def _negated_twin(run: Interpreter, name: str, left: Value, right: Value) -> Value:
    """``a != b`` is ``not a == b``: the two must be one condition."""
    positive, sign = {
        "__ne__": ("==", False),
        "__eq__": ("==", True),
        "__lt__": ("<", True),
        "__ge__": ("<", False),
        "__gt__": (">", True),
        "__le__": (">", False),
    }[name]
    if isinstance(left, Unknown) and left.fact is not None and left.fact[0] == "ndim" and positive == "==":
        answer = run.derived("rank", left.fact[1], right)
    else:
        answer = run.derived(positive, left, right, None if _compares_items(left, right) else "bool")
    if sign:
        return answer
    if answer.type == "bool" or branches.decision(run, answer) is not None:
        return negate(run, answer)
    twin = run.derived(name, left, right, None)
    twin.negates, twin.fact = answer, None
    return twin


def _compares_items(left: Value, right: Value) -> bool:
    """Whether a comparison may be one of tensors or arrays, that gives another one."""
    values = (left, right)
    return any(isinstance(v, Unknown) and v.type is None for v in values) and not any(
        isinstance(v, str) or v is None for v in values
    )


def _as_set(run: Interpreter, value: Value) -> Value:
    """The set that the keys or items of a dict are; any other collection's items as one."""
    if isinstance(value, View) and value.kind == "values":
        return value
    found = iteration.members(run, value)
    if isinstance(value, Set):
        return value
    return Set(found) if found is not None and all(map(is_known, found)) else Set((), open=True)


def _listed(run: Interpreter, value: Value) -> Value:
    """The items of an iterator, which gives them once, as a list; any other value itself."""
    if not isinstance(value, Iterator):
        return value
    found = iteration.items(run, value)
    return List(None, iteration.item(run, value)) if found is None else List(found)


def _of_views(run: Interpreter, name: str, left: Value, right: Value) -> Value:
    """Operators of what ``keys()`` and its like give."""
    if name in _COMPARISONS and not all(isinstance(v, View | Set | frozenset) for v in (left, right)):
        if name in ("__eq__", "__ne__"):
            return (left is right) is (name == "__eq__")
        if all(kinds.is_of_python(v) for v in (left, right)):
            raise kinds.error("TypeError")
        return unmodelled.operator(run, name)
    if name not in _COMPARISONS:
        left, right = (_listed(run, iteration.check(run, side)) for side in (left, right))
    for side in (left, right) if name not in _COMPARISONS else ():
        for item in iteration.members(run, side) or ():
            if items.is_unhashable(run, item):  # which of the sides is hashed first isn't followed
                return unmodelled.operator(run, name)
    one, other = _as_set(run, left), _as_set(run, right)
    if isinstance(one, View) or isinstance(other, View):
        if name in ("__eq__", "__ne__"):
            return (left is right) is (name == "__eq__")
        raise Raised("TypeError", None, ("Exception", "BaseException"))
    if one.open or other.open:
        guards.may_raise(run, guards.ANY)
        if name in ("__eq__", "__ne__"):
            return run.derived(name, left, right)
    return _of_collections(run, name, one, other)


def _of_collections(run: Interpreter, name: str, left: Value, right: Value) -> Value:
    if isinstance(left, View) or isinstance(right, View):
        return _of_views(run, name, left, right)
    if (counted := counters.operate(name, left, right)) is not MISSING:
        return counted
    if any(isinstance(v, Dict) and v.kind == counters.KIND for v in (left, right)):
        return unmodelled.operator(run, name)
    if name in ("__eq__", "__ne__"):
        if is_tuple(left) and is_tuple(right):
            return run.derived(name, left, right)
        if isinstance(left, Set | frozenset) and isinstance(right, Set | frozenset):
            left, right = _as_set(run, left), _as_set(run, right)
        if is_known(right) or is_known(left) or type(left) is not type(right):
            return name == "__ne__"
        return _equal_collections(run, name, left, right)
    _check_kinds(name, left, right)
    if is_tuple(left) or is_tuple(right):
        if name == "__mul__":
            kinds.need(run, right if is_tuple(left) else left, "__index__", "__rmul__")
        if name == "__mul__" or (name in (*_COMPARISONS, "__add__") and is_tuple(left) and is_tuple(right)):
            return _of_rows(run, name, left, right)
        return unmodelled.operator(run, name)
    if isinstance(left, List) and isinstance(right, List) and name in _COMPARISONS:
        if left.items is not None and right.items is not None:
            return _of_tuples(run, name, left.items, right.items)
        guards.may_raise(run, guards.LOOKUP)
    if isinstance(left, List) and isinstance(right, List) and name == "__add__":
        if left.items is None or right.items is None:
            parts = [v for x in (left, right) for v in (x.items if x.items is not None else (x.item,))]
            size = offsets.total(offsets.size_of(run, left), offsets.size_of(run, right))
            return offsets.filled(run, branches.common_item(parts), size)
        if len(left.items) + len(right.items) > LARGEST:
            return List(None, branches.common_item(left.items))
        return List(left.items + right.items)
    _check_times(name, left, right)
    for one, times in ((left, right), (right, left)):
        if isinstance(one, List) and name == "__mul__":
            kinds.need(run, times, "__index__", "__rmul__")
            if isinstance(times, int) and one.items is not None and len(one.items) * times <= 10_000:
                return List(one.items * times)
            if one.items and isinstance(times, int) and len(one.items) * times > LARGEST:
                guards.may_raise(run, guards.ANY)
            item = branches.common_item(one.items) if one.items else one.item
            return offsets.times(run, one, times, item) if is_int(times) else List(None, item)
    if isinstance(left, Set) and isinstance(right, Set) and name in _PYTHON:
        if left.open or right.open:
            return Set((), open=True)
        found = _PYTHON[name](left.cells.keys(), right.cells.keys())
        return Set(tuple(found)) if not isinstance(found, bool) else found
    if isinstance(left, Dict) and isinstance(right, Dict) and name == "__or__":
        made = Dict({**left.cells, **right.cells}, left.rest if right.rest is MISSING else right.rest)
        made.kind, made.default = next(((d.kind, d.default) for d in (left, right) if d.kind in _OWN), ("dict", None))
        return made
    return unmodelled.operator(run, name)


_OWN: Final = ("OrderedDict", "defaultdict")
"""The kinds of dicts whose ``|`` gives one of the same kind."""


def _of_rows(run: Interpreter, name: str, left: Value, right: Value) -> Value:
    """Operators of two tuples, one with an unknown length."""
    if name not in ("__add__", "__mul__"):
        return run.derived(name, left, right)
    parts = [List(v) if isinstance(v, tuple) else v for v in (left, right)]
    known = [v for x in parts if isinstance(x, List) for v in (x.items if x.items is not None else (x.item,))]
    size = offsets.total(*(offsets.size_of(run, x) for x in parts)) if name == "__add__" else None
    return as_tuple(offsets.filled(run, branches.common_item(known), size))


def _equal_collections(run: Interpreter, name: str, left: List | Set | Dict, right: Any) -> Value:
    """``==`` of two lists, sets or dicts; what is asked again later may have another answer."""
    if left is right:
        return name == "__eq__"
    if isinstance(left, List) and left.items is not None and right.items is not None:
        before = left.items, right.items
        found = _of_tuples(run, name, *before)
        same = left.items is before[0] and right.items is before[1]
        return found if same else unmodelled.operator(run, name)
    if isinstance(left, Set) and not left.open and not right.open:
        return (left.cells.keys() == right.cells.keys()) is (name == "__eq__")
    if isinstance(left, Dict) and left.rest is MISSING and right.rest is MISSING:
        certain = not any(branches.may_be_missing(run, v) for v in (*left.cells.values(), *right.cells.values()))
        if certain and left.kind == right.kind == "OrderedDict" and list(left.cells) != list(right.cells):
            return name == "__ne__"
        if certain and left.cells.keys() != right.cells.keys():
            return name == "__ne__"
        if certain:
            return _of_tuples(run, name, tuple(left.cells.values()), tuple(right.cells[k] for k in left.cells))
    return run.unknown("whether two collections are equal", "bool")


def _of_sizes(run: Interpreter, name: str, left: Value, right: Value) -> Value:
    """Sizes in terms of symbols."""
    if name in ("__eq__", "__ne__") and isinstance(left, int | Expr) and isinstance(right, int | Expr):
        verdict = run.same_size(left, right)
        if verdict is not None:
            return verdict is (name == "__eq__")
        return _negated_twin(run, name, left, right)
    if name in _COMPARISONS:
        decided = between.ordered(name, left, right)
        return _negated_twin(run, name, left, right) if decided is None else decided
    if isinstance(left, int | Expr) and isinstance(right, int | Expr):
        if name in ("__add__", "__sub__", "__mul__", "__floordiv__", "__mod__", "__pow__") and not (
            name in ("__floordiv__", "__mod__") and right == 0
        ):
            return _dim(run, _PYTHON[name](left, right))
        if name == "__truediv__":
            return run.unknown("a quotient of sizes", "float")
        return run.unknown("what an operator gives", "int")
    if isinstance(left, float) or isinstance(right, float):
        return run.unknown("a size times a float", "float")
    for one, times in ((left, right), (right, left)):
        if isinstance(one, tuple) and isinstance(times, Expr):
            return run.unknown("how often a tuple is repeated")
    return unmodelled.operator(run, name)


def _dim(run: Interpreter, value: Value) -> Value:
    return value if isinstance(value, int | Expr) else run.unknown("a size", "int")


def _of_constants(run: Interpreter, name: str, left: Value, right: Value) -> Value:
    if isinstance(left, tuple) and isinstance(right, tuple):
        return _of_tuples(run, name, left, right)
    _check_times(name, left, right)
    if isinstance(left, tuple) and name == "__mul__":
        kinds.need(run, right, "__index__", "__rmul__")
    if isinstance(left, tuple) and name == "__mul__" and isinstance(right, int):
        return tuple(left) * right if len(left) * right < LARGEST else unmodelled.operator(run, name)
    if isinstance(left, DType) is not isinstance(right, DType):
        return run.unknown("how a dtype compares", "bool")  # NumPy's are equal to their names
    if not (is_known(left) and is_known(right)):
        if name in ("__eq__", "__ne__") and type(left) is type(right) and isinstance(left, Method | BoundNative):
            return _are_one_method(left, right) is (name == "__eq__")
        if name in ("__eq__", "__ne__") and type(left) is type(right) is Native and left.name == right.name:
            return name == "__eq__" if left is right else unmodelled.operator(run, name)
        if name in ("__eq__", "__ne__"):
            return (left is right) is (name == "__eq__")
        _check_kinds(name, left, right)
        return unmodelled.operator(run, name)
    if _is_too_large(name, left, right):
        _check_times(name, left, right)
        guards.may_raise(run, guards.ANY)
        return run.unknown("a large value", branches.type_name(left))
    try:
        return _PYTHON[name](left, right)
    except _ERRORS as error:
        raise _as_raised(error) from None


def _are_one_method(left: Method | BoundNative, right: Any) -> bool:
    """Whether two methods are one function's, of one object."""
    if isinstance(left, Method):
        return left.receiver is right.receiver and left.function is right.function
    return left.receiver is right.receiver and left.name == right.name


def _check_times(name: str, left: Value, right: Value) -> None:
    """A sequence is repeated as often as an index can say.

    Raises:
        Raised: it isn't.
    """
    several = any(isinstance(v, str | bytes | tuple | List) for v in (left, right))
    if name == "__mul__" and several and any(isinstance(v, int) and v > sys.maxsize for v in (left, right)):
        raise kinds.error("OverflowError")


def _as_raised(error: Exception) -> Raised:
    """An exception that Python itself raised, as the program's."""
    return Raised(type(error).__name__, None, tuple(c.__name__ for c in type(error).__mro__[1:-1]))


def _is_too_large(name: str, left: Value, right: Value) -> bool:
    if name == "__pow__" and isinstance(left, int) and isinstance(right, int):
        return abs(right) * max(left.bit_length(), 1) > LARGEST
    if name == "__lshift__" and isinstance(right, int):
        return right > LARGEST
    if name == "__mul__":
        for text, times in ((left, right), (right, left)):
            if isinstance(text, str | bytes) and isinstance(times, int):
                return len(text) * times > LARGEST
        if isinstance(left, int) and isinstance(right, int):
            return left.bit_length() + right.bit_length() > LARGEST
    if name == "__add__" and isinstance(left, str | bytes) and isinstance(right, str | bytes):
        return len(left) + len(right) > LARGEST
    if name == "__mod__" and isinstance(left, str | bytes):
        shown = left if isinstance(left, str) else left.decode("latin-1")
        return formats_too_much(shown) or weight((left, right)) > LARGEST
    return False


def _of_tuples(run: Interpreter, name: str, left: tuple[Any, ...], right: tuple[Any, ...]) -> Value:
    if name == "__add__":
        if len(left) + len(right) > LARGEST:
            return run.unknown("a long tuple")
        kind = Sizes if isinstance(left, Sizes) or isinstance(right, Sizes) else tuple
        return kind((*left, *right))
    if name in ("__eq__", "__ne__"):
        if len(left) != len(right):
            return name == "__ne__"
        run.budget.spend(len(left))
        answers = [_equal_items(run, a, b) for a, b in zip(left, right, strict=True)]
        if any(a is False for a in answers):
            return name == "__ne__"
        if all(a is True for a in answers):
            return name == "__eq__"
        open_ = [a for a in answers if a is not True]
        same = open_[0] if len(open_) == 1 else run.derived("==", left, right)
        return same if name == "__eq__" else negate(run, same)
    _check_kinds(name, left, right)
    if is_known(left) and is_known(right):
        try:
            return _PYTHON[name](tuple(left), tuple(right))
        except _ERRORS as error:
            raise _as_raised(error) from None
    guards.may_raise(run, guards.LOOKUP)
    return run.unknown("how two tuples compare", "bool")


def _equal_items(run: Interpreter, left: Value, right: Value) -> Value:
    """Whether two items are equal: one is equal to itself, whatever its class says."""
    left, right = run.resolve(left), run.resolve(right)
    if left is right and (isinstance(left, float) or (isinstance(left, Instance) and not stand_ins.is_one(left))):
        return True
    found = branches.truth(run, binary(run, "__eq__", left, right)) if isinstance(left, Instance) else None
    return found if isinstance(found, bool) else run.resolve(binary(run, "__eq__", left, right))


def unary(run: Interpreter, name: str, value: Value) -> Value:
    """``-value`` and its like."""
    value = run.resolve(value)
    if isinstance(value, Choice):
        return branches.distribute(run, value, lambda v: unary(run, name, v))
    if isinstance(value, Tensor):
        return run.ask(f"Tensor.{name}", (value,))
    if isinstance(value, Expr) and name == "__neg__":
        return -value
    if isinstance(value, Instance) and value.cls.find(name) is not None:
        return run.call(run.attribute(value, name), ())
    if isinstance(value, bool | int | float | complex) and hasattr(type(value), name):
        return _UNARY[name](value)
    if isinstance(value, Unknown) and value.matrix is not None:
        return sparsity.operate(run, name, value, None) or run.unknown(f"what {name} gives")
    if isinstance(value, Dict) and (counted := counters.operate(name, value)) is not MISSING:
        return counted
    if isinstance(value, Unknown):
        made = run.unknown(value.reason, value.type, value.cause)
        made.origin, made.without_tensors = value.origin, value.without_tensors
        return made
    kinds.need(run, value, name)
    return unmodelled.operator(run, name)


def negate(run: Interpreter, value: Value) -> Value:
    """``not value``."""
    found = branches.truth(run, value)
    if isinstance(found, bool):
        return not found
    condition, way = found
    if not way:
        return condition
    made = run.derived("not", condition, None)
    made.negates, made.fact = condition, None
    return made


def in_place(run: Interpreter, name: str, old: Value, value: Value) -> Value:
    """``old += value``: what the name then stands for."""
    old = run.resolve(old)
    own = f"__i{name[2:]}"
    if isinstance(old, Choice):
        return branches.distribute(run, old, lambda v: in_place(run, name, v, value))
    if isinstance(old, Tensor) and old.array:
        found = run.operate(name, old, value)
        if not old.type.shape.min_rank and isinstance(found, Tensor):  # of a number it is another one
            return found if found.type.shape.min_rank else branches.common_tensor(old, found)
        indexes.spoil(run, old)
        return old  # what is written into an array has its shape and dtype
    if isinstance(old, Tensor) and isinstance(run.resolve(value), View):
        return run.operate(name, old, value)
    if isinstance(old, Tensor):
        other = run.resolve(value)
        if type(other) is not Tensor and (refused := events.OPERATOR(run, own, old, other)) is not None:
            return refused
        found = run.ask(f"Tensor.{own}", (old, value)) if f"Tensor.{own}" in RULES else run.operate(name, old, value)
        if isinstance(found, Tensor) and f"Tensor.{own}" in RULES:
            run.heap.write(old.cells, "type", found.type)
            old.offset = (object(), 1, 0)  # what was drawn before is another number
            return old
        return found
    if isinstance(old, Unknown) and old.matrix is not None:
        found = run.operate(name, old, value)
        known = sparsity.matrix_of(found)
        if known is not None and known.type.dtype != old.matrix.type.dtype:  # it may be the same object, or a new one
            found.matrix = known.of_type(TensorType(known.type.shape))
        return found
    if isinstance(old, Instance) and (method := run.special(old, own)) is not None:
        answer = run.resolve(run.call(method, (value,)))
        if answer is not NotImplemented:
            return answer
    held, other = behind(old), run.resolve(value)
    if isinstance(other, Instance) and isinstance(held, List | Set) and other.cls.find(f"__r{name[2:]}") is not None:
        return run.operate(name, old, other)
    plain = held is old or (isinstance(old, Instance) and old.cls.find(name) is None)
    plain = plain and not isinstance(held, View) and not is_tuple(held)
    if isinstance(held, List) and name == "__add__" and plain:
        if isinstance(run.resolve(value), int | float | type(None)):
            raise Raised("TypeError", None, ("Exception", "BaseException"))
        items.extend(run, held, value)
        return old
    if isinstance(held, List) and name == "__mul__" and plain:
        made = run.operate(name, held, value)
        if isinstance(made, List):
            for key in ("item", "items", SIZE):
                run.heap.write(held.cells, key, made.cells.get(key, MISSING))
            return old
    if isinstance(held, Dict) and plain and held.kind == counters.KIND and own in LIBRARY_METHODS[Dict]:
        return LIBRARY_METHODS[Dict][own](run, (held, value), {})
    if isinstance(held, Dict) and name == "__or__" and plain:
        items.update(run, held, value)
        return old
    if isinstance(held, Set) and name in ("__or__", "__and__", "__sub__", "__xor__") and plain:
        found = run.operate(name, held, behind(run.resolve(value)))
        if isinstance(found, Set):
            for key in [k for k in held.cells if k not in found.cells]:
                run.heap.write(held.cells, key, MISSING)
            for key, there in found.cells.items():
                run.heap.write(held.cells, key, there)
            run.heap.write(held.state, "open", found.state["open"])
        else:
            run.heap.write(held.state, "open", True)
        return old
    return run.operate(name, old, value)


# -- comparisons -----------------------------------------------------------------------------------------------------


def compare(run: Interpreter, kind: type[ast.cmpop], left: Value, right: Value) -> Value:
    """``left <comparison> right``."""
    if kind is ast.Is:
        return identical(run, left, right)
    if kind is ast.IsNot:
        return negate(run, identical(run, left, right))
    if kind is ast.In:
        return contains(run, right, left)
    if kind is ast.NotIn:
        return negate(run, contains(run, right, left))
    return binary(run, METHODS[kind], left, right)


def identical(run: Interpreter, left: Value, right: Value) -> Value:
    """``left is right``."""
    left, right = run.resolve(left), run.resolve(right)
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Choice):
            return branches.distribute(run, one, lambda v, other=other: identical(run, v, other))  # type: ignore[misc]
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        one, other = (left, right) if isinstance(left, Unknown) else (right, left)
        if other is None and (one.type is not None or one.matrix is not None):
            return False
        return run.derived("is", left, right)
    if left is None or right is None or isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if is_known(left) and is_known(right):
        same = left is right or (type(left) is type(right) and bool(left == right))
        is_made_anew = same and left is not right and isinstance(left, _OF_TEXT_AND_NUMBERS) and not _is_kept_once(left)
        return run.derived("is", left, right) if is_made_anew else same
    if isinstance(left, Class) and isinstance(right, Class):
        return left is right or left.qualified == right.qualified
    if isinstance(left, Tensor) and isinstance(right, Tensor) and left.apart is not None and left.cells is right.cells:
        return run.derived("is", left, right)
    if stand_ins.may_be_one(left, right):
        return run.derived("is", left, right)
    return left is right


_OF_TEXT_AND_NUMBERS: Final = (int, float, complex, str, bytes, tuple, range, slice, frozenset)


def _is_kept_once(value: Value) -> bool:
    """Whether Python has one object only of this value."""
    if isinstance(value, int):
        return -5 <= value <= 256
    return isinstance(value, str | bytes | tuple) and len(value) <= (0 if isinstance(value, tuple) else 1)


def contains(run: Interpreter, collection: Value, value: Value) -> Value:
    """``value in collection``."""
    collection, value = run.resolve(collection), run.resolve(value)
    for choice, other in ((collection, value), (value, collection)):
        if isinstance(choice, Choice):
            if choice is collection:
                return branches.distribute(run, choice, lambda v: contains(run, v, value))
            return branches.distribute(run, choice, lambda v, other=other: contains(run, other, v))  # type: ignore[misc]
    own = None
    if isinstance(collection, Instance):
        own = run.special(collection, "__contains__")
    elif isinstance(collection, Class):
        own = metaclasses.special(collection, "__contains__")
    if own is not None:
        return as_bool(run, run.call(own, (value,)))
    collection = behind(collection)
    is_text = isinstance(collection, str | bytes) and (kinds.is_of_python(value) or isinstance(value, _NO_TEXTS))
    if isinstance(collection, str | bytes) and isinstance(value, Instance) and "members" not in value.cls.metadata:
        kinds.need(run, value, "__index__" if isinstance(collection, bytes) else "a text's")
    if is_text and not isinstance(value, str if isinstance(collection, str) else bytes | int):
        raise kinds.error("TypeError")
    if isinstance(collection, bytes) and isinstance(value, int) and not 0 <= value < 256:
        raise kinds.error("ValueError")
    if isinstance(collection, str | bytes) and isinstance(value, Namespace | Class):
        return unmodelled.operator(run, "in")
    if isinstance(collection, Class):
        iteration.check(run, collection)
        if "members" in collection.metadata:
            return _among_members(run, collection, value)
    elif not isinstance(collection, Iterator | Tensor | Unknown):
        kinds.need(run, collection, "__contains__", "__iter__", "__getitem__")
    is_set = isinstance(collection, Set | frozenset)
    is_hashed = is_set or isinstance(collection, Dict) or (isinstance(collection, View) and collection.kind == "keys")
    if is_hashed and not (is_set and isinstance(value, Set)):  # it is looked up as a frozen one
        items.check_key(run, value)
    if isinstance(collection, Tensor):
        if not isinstance(value, Tensor | Expr | int | float):
            guards.may_raise(run, guards.ANY)
        return run.ask("Tensor.__contains__", (collection, value))
    if isinstance(collection, str) and isinstance(value, str):
        return value in collection
    if isinstance(collection, Dict):
        known = items.can_be_key(value)
        held = collection.cells.get(value, MISSING) if known else MISSING
        if "registers" in collection.state and isinstance(held, Instance | Tensor):
            return run.unknown("whether a module has registered it", "bool")
        there = not branches.may_be_missing(run, held)
        closed = collection.rest is MISSING
        if isinstance(held, Choice) and not there and closed and MISSING in (held.when_true, held.when_false):
            return held.condition if held.when_false is MISSING else negate(run, held.condition)
        return (
            True
            if there
            else (
                False
                if known and closed and value not in collection.cells
                else run.unknown("whether a dict has a key", "bool")
            )
        )
    collection = iteration.asked(run, collection)
    if isinstance(collection, Iterator):
        return _in_iterator(run, collection, value)
    found = None if isinstance(collection, Unknown) else iteration.members(run, collection)
    if found is None:
        return run.derived("in", collection, value)
    if isinstance(value, Tensor):
        return _tensor_among(run, value, found)
    open_ = []
    for one in found:
        if (answer := _equal_items(run, one, value)) is True:
            return True
        if answer is not False:
            open_.append(answer)
    if not open_:
        return False
    return open_[0] if len(open_) == 1 else run.derived("in", value, collection)


def _among_members(run: Interpreter, cls: Class, value: Value) -> Value:
    """Whether an enumeration has a member. Python's versions answer differently for other values."""
    if isinstance(value, Instance) and "members" in value.cls.metadata:
        if any(value is m for m in cls.metadata.get("named", {}).values()):
            return True
        if value.cls is not cls and not any(kinds.real(c) not in (None, object) for c in value.cls.mro):
            return False
    return unmodelled.operator(run, "in")


def _tensor_among(run: Interpreter, value: Tensor, found: tuple[Value, ...]) -> Value:
    """Whether a tensor is among items: each that may be compared with it gives a tensor, whose truth is asked."""
    for one in map(run.resolve, found):
        if one is value:
            return True
        # an item of an array may be a text
        if value.array or isinstance(one, Tensor | Unknown | Choice | Expr | int | float | Instance):
            guards.may_raise(run, guards.OF_TENSORS)
            return run.unknown("whether a tensor is among items", "bool")
    return False


_NO_TEXTS: Final = (Function, Native, Method, Iterator, Tensor)


def _in_iterator(run: Interpreter, source: Iterator, value: Value) -> Value:
    """Whether one of the items to come is equal; those before it are gone."""
    while iterators.can_pull(source):
        one = iterators.pull(run, source)
        if one is iterators.END:
            return False
        if one is iterators.UNSURE:
            break
        is_tensor = isinstance(value, Tensor)
        answer = _tensor_among(run, value, (one,)) if is_tensor else _equal_items(run, one, value)
        if answer is True:
            return True
        if answer is not False:
            break
    run.escape((source,))
    return run.unknown("whether an iterator gives it", "bool")


def as_bool(run: Interpreter, value: Value) -> Value:
    """``bool(value)``."""
    found = branches.truth(run, value)
    if isinstance(found, bool):
        return found
    condition, way = found
    return condition if way else negate(run, condition)


# -- isinstance ------------------------------------------------------------------------------------------------------

_OF_TENSORS: Final = ("torch.Tensor", "simpletorch.Tensor")
_OF_PYTHON: Final[dict[str, tuple[type, ...]]] = {
    "int": (int, Expr),
    "float": (float,),
    "bool": (bool,),
    "complex": (complex,),
    "str": (str,),
    "bytes": (bytes,),
    "list": (List,),
    "tuple": (tuple,),
    "dict": (Dict,),
    "set": (Set,),
    "frozenset": (frozenset,),
    "range": (range,),
    "slice": (slice,),
    "NoneType": (type(None),),
    "type": (Class,),
    "ModuleType": (Namespace,),
    "FunctionType": (Function,),
}


def is_instance(run: Interpreter, value: Value, cls: Value) -> Value:
    """``isinstance(value, cls)``."""
    value, cls = run.resolve(value), run.resolve(cls)
    if isinstance(value, Choice):
        return branches.distribute(run, value, lambda v: is_instance(run, v, cls))
    options = run.items(cls) if isinstance(cls, tuple) else (cls,)
    if any(kinds.is_of_python(o) and not isinstance(o, tuple) for o in map(run.resolve, options or ())):
        raise kinds.error("TypeError")
    options = tuple(c for o in options or () for c in _classes_of(run, run.resolve(o)))
    if any(isinstance(c, Class) and c.qualified == "builtins.object" for c in options):
        return True
    if isinstance(cls, Class) and (own := metaclasses.special(cls, "__instancecheck__")) is not None:
        return as_bool(run, run.call(own, (value,)))
    if isinstance(value, Unknown) and value.type == sparsity.TENSOR:
        there = any(isinstance(c, Class) and c.qualified in _OF_TENSORS for c in options)
        return True if there else run.derived("isinstance", value, cls)
    if isinstance(value, Unknown):
        if value.type is not None and value.reason != OF_NUMPY and all(_is_no_number(run, c) for c in options):
            return any(c.name == value.type or (c.name == "int" and value.type == "bool") for c in options)
        return run.derived("isinstance", value, cls)
    answers = [_is_one(run, value, c) for c in options]
    if any(a is True for a in answers):
        return True
    if isinstance(value, Instance) and value.cls.find("__getattribute__") is not None:
        return run.unknown("the class that an object says it is of", "bool")
    return False if all(a is False for a in answers) and options else run.unknown("the class of a value", "bool")


_UNION: Final = "types.UnionType"


def _union(run: Interpreter, left: Value, right: Value) -> Value:
    """``int | None``; None where an operand is no plain class."""
    parts = [_classes_of(run, v) if v is not None else (run.program.library_class(_NONE),) for v in (left, right)]
    classes = [c for part in parts for c in part]
    if left is right is None or not all(isinstance(c, Class) and not metaclasses.special(c, "__or__") for c in classes):
        return None
    made = Instance(run.program.library_class(_UNION))
    made.cells["__args__"] = tuple(dict.fromkeys(classes))
    return made


_NONE: Final = "builtins.NoneType"


def _classes_of(run: Interpreter, value: Value) -> tuple[Value, ...]:
    """The classes of a union; any other value itself."""
    if isinstance(value, Instance) and value.cls.qualified == _UNION:
        return tuple(value.cells["__args__"])
    return (value,)


def is_subclass(cls: Class, other: Class) -> bool:
    """Whether a class is another one, or derives from it. Named tuples are tuples."""
    if other.qualified == "builtins.tuple" and any(c.metadata.get("tuple") for c in cls.mro):
        return True
    return cls.is_a(other.qualified) or other in cls.mro


def _is_no_number(run: Interpreter, cls: Value) -> bool:
    """Whether numbers and strings are of this class only if it is their own."""
    if not isinstance(cls, Class):
        return False
    return cls.qualified == "numpy.ndarray" or cls.module.partition(".")[0] in ("builtins", "torch", run.program.main)


def _is_one(run: Interpreter, value: Value, cls: Value) -> bool | None:
    if not isinstance(cls, Class):
        return None
    if isinstance(value, Instance) and ("__class__" in value.cells or value.cls.find("__class__") is not None):
        return True if is_subclass(value.cls, cls) and "__class__" not in value.cells else None
    if isinstance(value, Instance) and is_subclass(value.cls, cls):
        return True
    if isinstance(value, Class) and descriptors.META in value.metadata:
        return True if is_subclass(value.metadata[descriptors.META], cls) else False if value is not cls else None
    if metaclasses.may_claim(cls):
        return None
    if cls.is_a("typing.Protocol"):
        return abstract.has_members(run, value, cls)
    if (asked := abstract.asked_class(cls)) is not None:
        return abstract.is_of(run, value, asked)
    if isinstance(value, Instance):
        if metaclasses.may_claim(cls):
            return None
        return None if value.cls.unknown_base is not None else False
    if isinstance(value, View):
        return False
    if isinstance(value, Tensor):
        if value.array and value.type.shape.rank in (0, None):  # it may be a number
            return None
        if value.array:
            return cls.qualified == "numpy.ndarray"
        if cls.qualified in ("torch.nn.Parameter", "torch.nn.parameter.Parameter"):
            return value.type.is_parameter
        if cls.qualified != "torch.Tensor" and cls.is_a("torch.Tensor"):
            return None  # ``torch.cuda.FloatTensor``: it depends on dtype and device
        return cls.qualified in ("torch.Tensor", "simpletorch.Tensor")
    if isinstance(value, Fields) and cls.qualified.startswith("torch.return_types"):
        return True
    if is_tuple(value) and not isinstance(value, tuple):
        value = ()
    if cls.module == "builtins" or cls.name == "NoneType":
        own = _OF_PYTHON.get(cls.name)
        if isinstance(value, Native) and cls.name in ("type", "FunctionType"):
            return None
        if own is None and not kinds.is_of_python(value):
            return False if isinstance(value, Tensor | Function | Class | Namespace) else None
        return own is not None and isinstance(value, own)
    if cls.qualified == "torch.dtype":
        return type(value).__name__ == "DType"
    if cls.qualified in ("torch.device", "torch.Device"):
        return isinstance(value, Device)
    if cls.qualified == "torch.Size":
        return isinstance(value, Sizes)
    if isinstance(value, Dict) and cls.name in ("OrderedDict", "defaultdict", "Counter"):
        return value.kind == cls.name
    return False
