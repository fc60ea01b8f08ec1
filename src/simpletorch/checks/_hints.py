"""The annotations of a function as types: strings evaluated, one by one, as far as they can be."""

from __future__ import annotations

import inspect
import sys
import types
import typing
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass
from typing import Annotated, Any, Final, ForwardRef, Generic, Literal, TypeVar, Union, get_args, get_origin

import jaxtyping
import torch
from jaxtyping import AbstractArray

from simpletorch.dims import DimType

__all__ = [
    "UNRESOLVED",
    "Resolver",
    "as_any_float",
    "dtype_variable",
    "evaluated",
    "is_ignorable",
    "is_tensor_hint",
    "mapped",
    "tensor_hints",
    "yielded",
]

UNRESOLVED: Final = object()
_GENERATORS: Final = frozenset((Generator, Iterator, Iterable, AsyncGenerator, AsyncIterator, AsyncIterable))
# the class of typing's aliases has no public name
_ALIASES: Final[tuple[Any, ...]] = (types.GenericAlias, types.UnionType, type(typing.List[int]))  # noqa: UP006


def is_tensor_hint(hint: object) -> bool:
    """Whether a hint is a jaxtyping annotation, such as ``Tensor[Float32, B]``."""
    return isinstance(hint, type) and issubclass(hint, AbstractArray)


def tensor_hints(hint: object) -> list[Any]:
    """All jaxtyping annotations inside a hint."""
    if is_tensor_hint(hint):
        return [hint]
    return [found for part in get_args(hint) for found in tensor_hints(part)]


def dtype_variable(hint: Any) -> Any:
    """The type variable that stands for the dtype in the annotation of a tensor, as in ``Tensor[DT, N]``; else None."""
    return getattr(hint.dtype, "variable", None)


def is_ignorable(hint: object) -> bool:
    """Whether every value passes."""
    return (
        hint is Any
        or hint is object
        or (isinstance(hint, TypeVar) and hint.__bound__ is None and not hint.__constraints__)
    )


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
        # a string may name what the function closes over, and only its cells know that once the frame is gone
        cells = zip(plain.__code__.co_freevars, plain.__closure__ or (), strict=False)
        scope = {**self.local, **{name: cell.cell_contents for name, cell in cells if _is_full(cell)}}

        def value(text: str) -> Any:
            return eval(text, plain.__globals__, scope)  # as `typing.get_type_hints` does

        try:
            return evaluated(annotation, value)
        except (NameError, SyntaxError):  # a string that is prose, not a type, never resolves
            return UNRESOLVED


def evaluated(hint: Any, evaluate: Callable[[str], Any]) -> Any:
    """The hint with its strings evaluated; a user's generic class loses its arguments.

    Those are sizes and expressions over them, which only a type checker reads.
    """
    if hint is None:
        return type(None)
    if isinstance(hint, ForwardRef):
        hint = hint.__forward_arg__
    if isinstance(hint, str):
        return evaluated(evaluate(hint), evaluate)
    if not isinstance(hint, _ALIASES) or get_origin(hint) is Literal:
        return hint
    origin: Any = get_origin(hint)
    # not get_args, which makes a list of Callable's parameters; `copy_with` wants them flat
    args: tuple[Any, ...] = hint.__args__
    # ``Linear["2*N", M]``: evaluating the string would look for a Python variable N
    if _is_users(origin, args):
        return origin
    changed = tuple(evaluated(a, evaluate) for a in args)
    if changed == args:
        return hint
    if isinstance(hint, types.GenericAlias):
        whole = types.GenericAlias(origin, changed)
        # iterating is the one way to make the starred form of an alias
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


def yielded(hint: Any) -> tuple[Any, Any]:
    """The types of the items and of the result of a generator that is annotated with ``hint``."""
    args = get_args(hint)
    if not args or get_origin(hint) not in _GENERATORS:
        return Any, Any
    return args[0], args[2] if get_origin(hint) is Generator and len(args) > 2 else Any


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
