"""Keys of values: two values with one key pass or fail the same annotation.

A key holds what an annotation can depend on: of a tensor class, shape, dtype (and device), of a container its items, of
a value under ``Literal`` or ``Dim`` the value, of anything else its class. An annotation that can depend on more (a
protocol, a validator) has no key, and neither has a value whose insides it might look into; those are checked in full
every time.
"""

from __future__ import annotations

import enum
import types
from abc import ABCMeta
from collections.abc import Callable, Collection, Hashable
from typing import Annotated, Any, Final, Literal, NewType, TypeVar, Union, get_args, get_origin

import torch
from jaxtyping import AbstractArray

from simpletorch._annotation import Phantom
from simpletorch.dims import DimType

__all__ = ["Unkeyed", "decides_by_class", "expression", "is_ignorable", "is_tensor_hint", "tensor_hints"]


class Unkeyed(Exception):
    """Raised for a value that has no sound key."""


def is_tensor_hint(hint: object) -> bool:
    """Whether a hint is a jaxtyping annotation, such as ``Tensor[Float32, B]``."""
    return isinstance(hint, type) and issubclass(hint, AbstractArray)


def tensor_hints(hint: object) -> list[Any]:
    """All jaxtyping annotations inside a hint."""
    if is_tensor_hint(hint):
        return [hint]
    return [found for part in get_args(hint) for found in tensor_hints(part)]


def is_ignorable(hint: object) -> bool:
    """Whether every value passes."""
    return (
        hint is Any
        or hint is object
        or (isinstance(hint, TypeVar) and hint.__bound__ is None and not hint.__constraints__)
    )


_SCALARS: Final = (type(None), bool, int, float, complex, str, bytes)
_CONTAINERS: Final = frozenset((list, tuple, dict))
_MOST_LEAVES: Final = 256
_CLASS_CHECKS: Final = (type.__instancecheck__, ABCMeta.__instancecheck__)


def expression(hint: Any, value: str, scope: dict[str, Any]) -> str | None:
    """Python code for the key of the variable ``value``, as items of a tuple; None if the hint has no sound key.

    ``scope`` receives the functions that the code calls.
    """
    if is_ignorable(hint):
        return ""
    if is_tensor_hint(hint) and _is_sound(hint):
        return _tensor_code(hint, value)
    if isinstance(hint, type) and hint not in _CONTAINERS and _is_sound(hint) and not _tensor_like(hint):
        return f"{value}.__class__, "
    if get_origin(hint) in (Union, types.UnionType):
        tensors = [h for h in get_args(hint) if h is not type(None)]
        if len(tensors) == 1 and is_tensor_hint(tensors[0]) and _is_sound(tensors[0]):
            return f"None if {value} is None else ({_tensor_code(tensors[0], value)}), "
    if not _is_sound(hint):
        return None
    name = f"_st_key{len(scope)}"
    scope[name] = _function(by_value=_depends_on_value(hint))
    return f"{name}({value}), "


def _tensor_code(hint: Any, value: str) -> str:
    code = f"{value}.__class__, {value}.shape, {value}.dtype, "
    if isinstance(hint.array_type, Phantom):
        code += f"{value}.device, "
    return code


def _is_sound(hint: Any) -> bool:
    """Whether a value's key decides whether it passes this hint."""
    if is_ignorable(hint) or hint is None:
        return True
    if is_tensor_hint(hint):
        array = hint.array_type
        return "{" not in hint.dim_str and "?" not in hint.dim_str and (array is Any or _is_sound(array))
    if isinstance(hint, DimType):
        return True
    if isinstance(hint, Phantom) or hint in (torch.Tensor, torch.nn.Parameter):
        return True
    if isinstance(hint, NewType):
        return _is_sound(hint.__supertype__)
    if isinstance(hint, TypeVar):
        return all(_is_sound(h) for h in (hint.__constraints__ or (hint.__bound__,)))
    origin = get_origin(hint)
    if origin is None:
        return isinstance(hint, type) and decides_by_class(hint)
    args = get_args(hint)
    if origin is Literal:
        return True
    if origin is Annotated:
        validators = any(type(m).__module__.partition(".")[0] == "beartype" for m in hint.__metadata__)
        return not validators and _is_sound(args[0])
    if origin in (Union, types.UnionType):
        return all(_is_sound(a) for a in args)
    if origin is Callable or (isinstance(origin, type) and issubclass(origin, torch.nn.Module)):
        return True  # decided by the class; the parameters are for a type checker
    if (
        isinstance(origin, type)
        and issubclass(origin, Collection)
        and origin.__module__ in ("builtins", "collections.abc")
    ):
        return all(a is Ellipsis or a == () or _is_sound(a) for a in args)
    return False


def decides_by_class(hint: type) -> bool:
    """Whether isinstance looks at nothing but the value's class."""
    faced = getattr(hint, "torch_class", None)  # simpletorch.nn.Linear asks torch's class
    check = type(faced if isinstance(faced, type) else hint).__instancecheck__
    return any(check is known for known in _CLASS_CHECKS)


def _tensor_like(hint: type) -> bool:
    """Whether isinstance looks at a tensor's device or at its being a parameter."""
    return isinstance(hint, Phantom | DimType) or hint is torch.nn.Parameter


def _depends_on_value(hint: Any) -> bool:
    if isinstance(hint, DimType) or get_origin(hint) is Literal:
        return True
    if isinstance(hint, NewType):
        return _depends_on_value(hint.__supertype__)
    if isinstance(hint, TypeVar):
        return any(_depends_on_value(h) for h in (*hint.__constraints__, hint.__bound__) if h is not None)
    return any(_depends_on_value(a) for a in get_args(hint))


def _function(by_value: bool) -> Callable[[Any], Hashable]:
    def key(value: Any) -> Hashable:
        budget = _MOST_LEAVES

        def of(v: Any) -> Hashable:
            nonlocal budget
            budget -= 1
            if budget < 0:
                raise Unkeyed
            if isinstance(v, torch.Tensor):
                return v.__class__, v.shape, v.dtype, v.device, getattr(v, "_is_param", False)
            cls: type = v.__class__
            if isinstance(v, enum.Enum) or cls in _SCALARS:
                return (cls, v) if by_value else cls
            if isinstance(v, list | tuple):
                return (cls, *map(of, v))
            if cls is dict:
                return (cls, *((of_key(k), of(x)) for k, x in v.items()))
            if isinstance(v, Collection) or by_value:
                raise Unkeyed
            return cls

        def of_key(k: Any) -> Hashable:
            return (k.__class__, k) if by_value else of(k)

        found: Hashable = of(value)
        return found

    return key
