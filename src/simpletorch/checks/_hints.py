"""The annotations of a function as types: strings evaluated, one by one, as far as they can be."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

import jaxtyping

from simpletorch.checks._keys import is_tensor_hint
from simpletorch.dims import DimType

__all__ = ["UNRESOLVED", "Resolver", "as_any_float", "mapped"]

UNRESOLVED: Final = object()


@dataclass(slots=True)
class Resolver:
    """Evaluates annotations in the scopes of the function they belong to.

    ``local`` are the names around the definition, which a string annotation may use and Python doesn't keep.
    """

    function: Callable[..., Any]
    local: Mapping[str, Any]

    def __call__(self, annotation: Any) -> Any:
        """The type; `UNRESOLVED` if a name in it isn't known (yet), Any for no annotation."""
        if annotation is inspect.Signature.empty:
            return Any
        holder = types.SimpleNamespace(__annotations__={"it": annotation})
        plain = inspect.unwrap(self.function)
        cells = zip(plain.__code__.co_freevars, plain.__closure__ or (), strict=False)
        scope = {**self.local, **{name: cell.cell_contents for name, cell in cells if _is_full(cell)}}
        try:
            return typing.get_type_hints(holder, plain.__globals__, scope, include_extras=True)["it"]
        except (NameError, SyntaxError):  # a string that is prose, not a type, never resolves
            return UNRESOLVED


def _is_full(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def mapped(hint: Any, change: Callable[[Any], Any]) -> Any:
    """The hint with every annotation of a tensor and of a size in it changed."""
    if is_tensor_hint(hint) or isinstance(hint, DimType):
        return change(hint)
    origin, args = get_origin(hint), get_args(hint)
    if origin is None or origin is Literal or not args:
        return hint
    if origin is Annotated:
        args = args[:1]
    changed = tuple(mapped(a, change) for a in args)
    if changed == args:
        return hint
    if origin in (Union, types.UnionType):
        return Union[changed]  # noqa: UP007 - built at run time
    if origin is Annotated:
        return Annotated[(changed[0], *hint.__metadata__)]
    return origin[changed]


def as_any_float(hint: Any) -> Any:
    """The hint as it holds under autocast, which turns one float dtype into another: each one means "a float"."""

    def change(tensor: Any) -> Any:
        if not isinstance(tensor, DimType) and issubclass(tensor.dtype, jaxtyping.AbstractDtype):
            return jaxtyping.Float[tensor.array_type, tensor.dim_str] if _is_float(tensor.dtype) else tensor
        return tensor

    return mapped(hint, change)


_FLOATS: Final = frozenset(getattr(jaxtyping.Float, "dtypes"))  # noqa: B009 - for a checker Float is a special form


def _is_float(dtype: type[jaxtyping.AbstractDtype]) -> bool:
    names = dtype.dtypes
    return isinstance(names, tuple) and bool(names) and all(name in _FLOATS for name in names)
