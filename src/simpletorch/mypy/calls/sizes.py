"""Arithmetic of `Dim`: ``2 * n`` with ``n: Dim[N]`` is a ``Dim["2*N"]``; Python's own functions of a tensor."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from mypy.plugin import FunctionContext, MethodContext
from mypy.types import Type

from simpletorch.mypy.convert.lower import Lowerer
from simpletorch.mypy.convert.place import PlaceLifter
from simpletorch.mypy.hooks import FunctionResultHook, MethodResultHook
from simpletorch.mypy.names import DIM
from simpletorch.mypy.types import TypeTable
from simpletorch.rules import Report, infer
from simpletorch.rules.common.arguments import is_dim
from simpletorch.rules.core.values import Sizes, TensorType
from simpletorch.shapes import UNKNOWN, Dim, Expr, maximum, minimum
from simpletorch.shapes.dim import floordiv, mod, power

__all__ = ["FUNCTION_RESULTS", "METHOD_RESULTS"]

_OPERATORS: Final[dict[str, Callable[[Dim, Dim], Dim]]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "floordiv": floordiv,
    "mod": mod,
    "pow": power,
}


def _arithmetic(combine: Callable[[Dim, Dim], Dim], context: MethodContext, types: TypeTable) -> Type:
    """The type of an operator on a `Dim`; what isn't arithmetic of sizes is left to mypy."""
    lifter = PlaceLifter(types, context.api, context.context.line)
    own = lifter.value(context.type)
    if not context.arg_types or not context.arg_types[0]:
        return context.default_return_type
    other = lifter.value(context.arg_types[0][0])
    if not is_dim(own) or not is_dim(other):
        return context.default_return_type
    found = combine(own, other)
    return context.default_return_type if found is UNKNOWN else Lowerer(lifter).size(found)


def _negative(context: MethodContext, types: TypeTable) -> Type:
    lifter = PlaceLifter(types, context.api, context.context.line)
    own = lifter.value(context.type)
    return Lowerer(lifter).size(-own) if is_dim(own) else context.default_return_type


def _reversed(combine: Callable[[Dim, Dim], Dim]) -> Callable[[Dim, Dim], Dim]:
    return lambda own, other: combine(other, own)


def _extremum(choose: Callable[..., Dim], context: FunctionContext, types: TypeTable) -> Type:
    """``max(n, 3)`` and ``min(n, m)`` of sizes."""
    lifter = PlaceLifter(types, context.api, context.context.line)
    given = [lifter.value(t) for formal in context.arg_types for t in formal]
    sizes = [v for v in given if is_dim(v)]
    if len(sizes) < 2 or len(sizes) < len(given) or not any(isinstance(v, Expr) for v in sizes):
        return context.default_return_type
    return Lowerer(lifter).size(choose(*sizes))


def _length(context: FunctionContext, types: TypeTable) -> Type:
    """``len(x)`` of a tensor is its first size, ``len(x.shape)`` how many it has."""
    if not context.arg_types or not context.arg_types[0]:
        return context.default_return_type
    lifter = PlaceLifter(types, context.api, context.context.line)
    value = lifter.value(context.arg_types[0][0])
    if isinstance(value, Sizes):
        return Lowerer(lifter).size(len(value))
    if not isinstance(value, TensorType) or value.shape.rank == 0:
        return context.default_return_type
    return Lowerer(lifter).size(value.shape.dim(0))


def _absolute(context: FunctionContext, types: TypeTable) -> Type:
    """``abs(x)`` of a tensor is ``x.__abs__()``, which mypy reads from its stub alone."""
    if not context.arg_types or not context.arg_types[0]:
        return context.default_return_type
    lifter = PlaceLifter(types, context.api, context.context.line)
    value = lifter.value(context.arg_types[0][0])
    found = infer("Tensor.__abs__", [value])
    if not isinstance(value, TensorType) or isinstance(found, Report):
        return context.default_return_type
    return Lowerer(lifter).value(found, context.default_return_type)


FUNCTION_RESULTS: Final[Mapping[str, FunctionResultHook]] = {
    "builtins.len": _length,
    "builtins.abs": _absolute,
    "builtins.max": partial(_extremum, maximum),
    "builtins.min": partial(_extremum, minimum),
}
METHOD_RESULTS: Final[Mapping[str, MethodResultHook]] = {
    f"{DIM}.__neg__": _negative,
    **{f"{DIM}.__{name}__": partial(_arithmetic, combine) for name, combine in _OPERATORS.items()},
    **{f"{DIM}.__r{name}__": partial(_arithmetic, _reversed(combine)) for name, combine in _OPERATORS.items()},
}
