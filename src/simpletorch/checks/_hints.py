"""The annotations of a function as types: strings evaluated, one by one, as far as they can be."""

from __future__ import annotations

import inspect
import sys
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, ForwardRef, Generic, Literal, Union, get_args, get_origin

import jaxtyping
import torch

from simpletorch.checks._keys import is_tensor_hint
from simpletorch.dims import DimType

__all__ = ["UNRESOLVED", "Resolver", "as_any_float", "mapped"]

UNRESOLVED: Final = object()
# the class of typing's aliases has no public name
_ALIASES: Final[tuple[Any, ...]] = (types.GenericAlias, types.UnionType, type(typing.List[int]))  # noqa: UP006


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
        plain = inspect.unwrap(self.function)
        cells = zip(plain.__code__.co_freevars, plain.__closure__ or (), strict=False)
        scope = {**self.local, **{name: cell.cell_contents for name, cell in cells if _is_full(cell)}}

        def evaluated(text: str) -> Any:
            return eval(text, plain.__globals__, scope)  # as `typing.get_type_hints` does

        try:
            return _evaluated(annotation, evaluated)
        except (NameError, SyntaxError):  # a string that is prose, not a type, never resolves
            return UNRESOLVED


def _evaluated(hint: Any, evaluate: Callable[[str], Any]) -> Any:
    """The hint with its strings evaluated, but a user's generic class stands without its arguments.

    Those are sizes and expressions over them, which only a type checker reads.
    """
    if hint is None:
        return type(None)
    if isinstance(hint, ForwardRef):
        hint = hint.__forward_arg__
    if isinstance(hint, str):
        return _evaluated(evaluate(hint), evaluate)
    if not isinstance(hint, _ALIASES) or get_origin(hint) is Literal:
        return hint
    origin: Any = get_origin(hint)
    args: tuple[Any, ...] = hint.__args__
    if _is_users(origin, args):
        return origin
    changed = tuple(_evaluated(a, evaluate) for a in args)
    if changed == args:
        return hint
    if isinstance(hint, types.GenericAlias):
        whole = types.GenericAlias(origin, changed)
        return next(iter(whole)) if hint.__unpacked__ else whole
    if isinstance(hint, types.UnionType):
        return Union[changed]  # noqa: UP007 - built at run time
    return hint.copy_with(changed)


def _is_users(origin: Any, args: Sequence[Any]) -> bool:
    """Whether an alias is of a user's generic class."""
    if not isinstance(origin, type):
        return False
    if issubclass(origin, Generic | torch.nn.Module):
        return True
    foreign = origin.__module__.partition(".")[0] not in sys.stdlib_module_names
    return foreign and any(isinstance(a, str | ForwardRef) for a in args)


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
