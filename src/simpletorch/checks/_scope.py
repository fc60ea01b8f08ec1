"""The names that a function uses: those around its definition, which its string annotations may need, and its own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import FrameType, FunctionType
from typing import Any, ForwardRef

import jaxtyping

from simpletorch.checks._hints import is_tensor_hint
from simpletorch.dtypes import Shaped

__all__ = ["local_names", "measures_inside", "outer_names"]


def local_names(function: FunctionType, frame: FrameType) -> Mapping[str, Any]:
    """The names around the definition of a function that its annotations may use, if there are strings among them."""
    strings = any(isinstance(a, str | ForwardRef) for a in function.__annotations__.values())
    return outer_names(frame) if strings else {}


def outer_names(frame: FrameType) -> Mapping[str, Any]:
    """The local names of the functions and class bodies that run in ``frame`` and around it, in its module."""
    names: dict[str, Any] = {}
    # Python keeps no lexical scopes: while a ``def`` runs, its callers in the same module stand in for them
    outer: FrameType | None = frame
    while outer is not None and outer.f_globals is frame.f_globals and outer.f_code.co_name != "<module>":
        names = {**outer.f_locals, **names}
        outer = outer.f_back
    return names


def measures_inside(function: Callable[..., Any]) -> bool:
    """Whether a body asks ``isinstance(y, Float32[Tensor, "b 3"])``, which compares with the sizes of its call."""
    plain = inspect.unwrap(function)
    if not isinstance(plain, FunctionType) or "isinstance" not in plain.__code__.co_names:
        return False
    # a guess that may say yes too often: then the body runs in a scope, which is slower and changes no verdict
    used = inspect.getclosurevars(plain)
    return any(map(_says_sizes, (*used.globals.values(), *used.nonlocals.values())))


def _says_sizes(value: object) -> bool:
    """Whether a name stands for an annotation of tensors, or for what one is made of."""
    if value is jaxtyping or is_tensor_hint(value):
        return True
    return isinstance(value, type) and issubclass(value, jaxtyping.AbstractDtype | Shaped)
