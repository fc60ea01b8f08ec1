"""Arithmetic of `Dim`: ``2 * n`` with ``n: Dim[N]`` is a ``Dim["2*N"]``; Python's own functions of a tensor."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Final

from mypy.plugin import FunctionContext, MethodContext
from mypy.types import Type

from simpletorch.mypy.lift import lifter_at
from simpletorch.mypy.lower import Lowerer
from simpletorch.mypy.types import TypeTable
from simpletorch.rules import Report, infer
from simpletorch.rules.arguments import is_dim
from simpletorch.rules.values import TensorType
from simpletorch.shapes import Dim, Expr, maximum, minimum

__all__ = ["absolute", "arithmetic", "extremum", "length"]

_OPERATORS: Final[dict[str, Callable[[Dim, Dim], Dim]]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "pow": operator.pow,
}


def arithmetic(method: str, types: Callable[[], TypeTable], context: MethodContext) -> Type:
    """The type of an operator on a `Dim`; what isn't arithmetic of sizes is left to mypy."""
    lifter = lifter_at(types(), context.api, context.context)
    lowerer = Lowerer(lifter)
    own = lifter.value(context.type)
    name = method.strip("_")
    if name == "neg" and is_dim(own):
        return lowerer.size(-own)
    reverse = name not in _OPERATORS and name.startswith("r") and name[1:] in _OPERATORS
    apply = _OPERATORS.get(name[1:] if reverse else name)
    if apply is None or not context.arg_types or not context.arg_types[0]:
        return context.default_return_type
    other = lifter.value(context.arg_types[0][0])
    if not is_dim(own) or not is_dim(other) or (other == 0 and name in ("floordiv", "mod")):
        return context.default_return_type
    left, right = (other, own) if reverse else (own, other)
    return lowerer.size(apply(left, right))


def extremum(name: str, types: Callable[[], TypeTable], context: FunctionContext) -> Type:
    """``max(n, 3)`` and ``min(n, m)`` of sizes."""
    lifter = lifter_at(types(), context.api, context.context)
    given = [lifter.value(t) for formal in context.arg_types for t in formal]
    sizes = [v for v in given if is_dim(v)]
    if len(sizes) < 2 or len(sizes) < len(given) or not any(isinstance(v, Expr) for v in sizes):
        return context.default_return_type
    return Lowerer(lifter).size(maximum(*sizes) if name == "max" else minimum(*sizes))


def length(types: Callable[[], TypeTable], context: FunctionContext) -> Type:
    """``len(x)`` of a tensor is its first size."""
    if not context.arg_types or not context.arg_types[0]:
        return context.default_return_type
    lifter = lifter_at(types(), context.api, context.context)
    value = lifter.value(context.arg_types[0][0])
    if not isinstance(value, TensorType) or value.shape.rank == 0:
        return context.default_return_type
    return Lowerer(lifter).size(value.shape.dim(0))


def absolute(types: Callable[[], TypeTable], context: FunctionContext) -> Type:
    """``abs(x)`` of a tensor is ``x.__abs__()``, which mypy reads from its stub alone."""
    if not context.arg_types or not context.arg_types[0]:
        return context.default_return_type
    lifter = lifter_at(types(), context.api, context.context)
    value = lifter.value(context.arg_types[0][0])
    found = infer("Tensor.__abs__", [value])
    if not isinstance(value, TensorType) or isinstance(found, Report):
        return context.default_return_type
    return Lowerer(lifter).value(found, context.default_return_type)
