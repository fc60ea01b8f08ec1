"""Keys of values: two values with one key pass or fail the same annotation.

A key holds everything that an annotation can depend on. For a tensor that is its class, shape, dtype (and device), for
a container its items, for a value under ``Literal`` or ``Dim`` the value, for anything else its class. An annotation
that can depend on more (a protocol, a validator) has no key, and neither has a value whose insides it might look into;
those are checked in full every time.
"""

from __future__ import annotations

import enum
import types
from abc import ABCMeta
from collections.abc import Callable, Collection, Hashable
from typing import Annotated, Any, Final, Literal, NewType, TypeVar, Union, get_args, get_origin

import torch

from simpletorch._annotation import Phantom
from simpletorch.checks._hints import is_ignorable, is_tensor_hint
from simpletorch.checks._records import fields, values
from simpletorch.device import Device
from simpletorch.dims import DimType

__all__ = ["Unkeyed", "decides_by_class", "expression"]


class Unkeyed(Exception):
    """Raised for a value that has no sound key."""


_SCALARS: Final = (type(None), bool, int, float, complex, str, bytes)
_CONTAINERS: Final = frozenset((list, tuple, dict))
# a key is as long as its container, and a border keeps a thousand: what is larger is checked in full every time
_MOST_LEAVES: Final = 256
# any other metaclass's ``__instancecheck__`` may look into the value
_CLASS_CHECKS: Final = (type.__instancecheck__, ABCMeta.__instancecheck__)


def expression(hint: Any, value: str, scope: dict[str, Any]) -> str | None:
    """Python code for the key of the variable ``value``, as items of a tuple; None if the hint has no sound key.

    ``scope`` receives the functions that the code calls.
    """
    if is_ignorable(hint):
        return ""
    if not _is_sound(hint):
        return None
    if is_tensor_hint(hint):
        return _tensor_code(hint, value)
    if _is_only_class(hint):
        return f"{value}.__class__, "
    if get_origin(hint) is Literal or isinstance(hint, DimType):
        # the class too, because 1, 1.0 and True are equal keys, but not equal under ``Literal[1]`` or ``Dim``
        return f"{value}.__class__, {value}, "
    if get_origin(hint) in (Union, types.UnionType):
        tensors = [h for h in get_args(hint) if h is not type(None)]
        if len(tensors) == 1 and is_tensor_hint(tensors[0]):
            return f"None if {value} is None else ({_tensor_code(tensors[0], value)}), "
    name = f"_st_key{len(scope)}"
    scope[name] = _function(by_value=_depends_on_value(hint))
    return f"{name}({value}), "


def _is_only_class(hint: Any) -> bool:
    """Whether a value passes by its class alone."""
    if get_origin(hint) in (Union, types.UnionType):
        return all(map(_is_only_class, get_args(hint)))
    return isinstance(hint, type) and decides_by_class(hint) and hint not in _CONTAINERS and not fields(hint)


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
        # "{self.n}" depends on what no key holds, and "?n" on the place in a pytree
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
        known = isinstance(hint, type) and (decides_by_class(hint) or bool(fields(hint)))
        return known and all(_is_sound(f.hint) for f in fields(hint))
    args = get_args(hint)
    if origin is Literal:
        return True
    if origin is Annotated:
        validators = any(type(m).__module__.partition(".")[0] == "beartype" for m in hint.__metadata__)
        return not validators and _is_sound(args[0])
    if origin in (Union, types.UnionType):
        return all(_is_sound(a) for a in args)
    if origin is type:
        return all(isinstance(a, type) and decides_by_class(a) for a in args)
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
    if hint is Device:
        return True  # every torch.device is one
    faced = getattr(hint, "torch_class", None)  # simpletorch.nn.Linear asks torch's class
    check = type(faced if isinstance(faced, type) else hint).__instancecheck__
    return any(check is known for known in _CLASS_CHECKS)


def _depends_on_value(hint: Any) -> bool:
    if isinstance(hint, DimType) or get_origin(hint) is Literal:
        return True
    if isinstance(hint, NewType):
        return _depends_on_value(hint.__supertype__)
    if isinstance(hint, TypeVar):
        return any(_depends_on_value(h) for h in (*hint.__constraints__, hint.__bound__) if h is not None)
    if any(_depends_on_value(f.hint) for f in fields(hint)):
        return True
    return any(_depends_on_value(a) for a in get_args(hint))


def _function(by_value: bool) -> Callable[[Any], Hashable]:
    def key(value: Any) -> Hashable:
        budget = _MOST_LEAVES

        def of(v: Any) -> Hashable:
            nonlocal budget
            budget -= 1
            if budget < 0:
                raise Unkeyed
            # `_is_param` is what makes a tensor of a subclass a Parameter for isinstance (torch/nn/parameter.py)
            if isinstance(v, torch.Tensor):
                return v.__class__, v.shape, v.dtype, v.device, getattr(v, "_is_param", False)
            cls: type = v.__class__
            if isinstance(v, enum.Enum) or cls in _SCALARS:
                return (cls, v) if by_value else cls
            if isinstance(v, list | tuple):
                return (cls, *map(of, v))
            if cls is dict:
                return (cls, *((of_key(k), of(x)) for k, x in v.items()))
            if isinstance(v, type):
                return type, v
            if fields(cls):
                return (cls, *map(of, values(v)))
            # a set, a deque, a class of the user's own: what isn't taken apart here could hold anything
            if isinstance(v, Collection) or by_value:
                raise Unkeyed
            return cls

        def of_key(k: Any) -> Hashable:
            return (k.__class__, k) if by_value or k.__class__ is str else of(k)

        found: Hashable = of(value)
        return found

    return key
