"""Values as an error shows them: by dtype, shape, device and class, never by their contents."""

from __future__ import annotations

import torch
from torch import nn

from simpletorch.dtypes import dtype_of
from simpletorch.errors._fields import Operand

__all__ = ["describe", "dtype_name", "layer_text", "short"]

_LONGEST_NAME = 48
_LONGEST_LAYER = 120


def describe(name: str, value: object) -> Operand:
    """An operand for a value: a tensor's dtype, shape and device; of anything else its class."""
    if isinstance(value, torch.Tensor):
        return Operand(name, dtype_name(value.dtype), _sizes(value), str(value.device))
    return Operand(name, text=type(value).__name__)


def _sizes(value: torch.Tensor) -> tuple[int, ...]:
    try:
        return tuple(_size(size) for size in value.shape)
    except RuntimeError:  # a nested tensor has no one shape
        return ()


def _size(size: int | torch.SymInt) -> int:
    """A size as a number; while a compiler traces, the one that it was called with."""
    if isinstance(size, int):
        return size
    hint = getattr(size.node, "hint", None)
    return hint if isinstance(hint, int) else -1


def dtype_name(dtype: torch.dtype) -> str:
    """The name of a dtype in annotations; torch's where we have none."""
    try:
        return dtype_of(dtype).__name__
    except TypeError:
        return str(dtype).removeprefix("torch.")


def layer_text(layer: nn.Module) -> str:
    """A layer on one line: ``Linear(in_features=100, out_features=10)``."""
    text = repr(layer).replace(", bias=True", "")
    return text if "\n" not in text and len(text) <= _LONGEST_LAYER else f"{type(layer).__name__}(…)"


def short(name: str) -> str:
    """An expression's text, cut where it is long."""
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
