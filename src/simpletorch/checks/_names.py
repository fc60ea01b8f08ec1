"""The names around a definition, which its string annotations may use and Python doesn't keep."""

from __future__ import annotations

from collections.abc import Mapping
from types import FrameType, FunctionType
from typing import Any, ForwardRef

__all__ = ["local_names", "outer_names"]


def local_names(function: FunctionType, frame: FrameType) -> Mapping[str, Any]:
    """The names around the definition of a function that its annotations may use, if there are strings among them."""
    strings = any(isinstance(a, str | ForwardRef) for a in function.__annotations__.values())
    return outer_names(frame) if strings else {}


def outer_names(frame: FrameType) -> Mapping[str, Any]:
    """The local names of the functions and class bodies that run in ``frame`` and around it, in its module."""
    names: dict[str, Any] = {}
    outer: FrameType | None = frame
    while outer is not None and outer.f_globals is frame.f_globals and outer.f_code.co_name != "<module>":
        names = {**outer.f_locals, **names}
        outer = outer.f_back
    return names
