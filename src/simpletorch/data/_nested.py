"""The tensors inside a batch."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import torch


def map_tensors(item: Any, function: Callable[[torch.Tensor], torch.Tensor], method: str = "") -> Any:
    """``item`` with ``function(tensor)`` for each tensor in its tuples, lists, mappings and dataclasses.

    Args:
        method: what a class of the user's own may offer instead (``"pin_memory"``); other things stay as they are.
    """
    if isinstance(item, torch.Tensor):
        return function(item)
    if method and hasattr(item, method):
        return getattr(item, method)()
    if isinstance(item, tuple):
        items = [map_tensors(value, function, method) for value in item]
        return type(item)(*items) if hasattr(item, "_fields") else type(item)(items)
    if isinstance(item, list):
        return [map_tensors(value, function, method) for value in item]
    if isinstance(item, Mapping):
        mapped = {key: map_tensors(value, function, method) for key, value in item.items()}
        return mapped if type(item) is dict else type(item)(mapped)  # type: ignore[call-arg]  # a mapping like dict
    if dataclasses.is_dataclass(item) and not isinstance(item, type):
        new = copy.copy(item)
        for each in dataclasses.fields(item):
            object.__setattr__(new, each.name, map_tensors(getattr(item, each.name), function, method))
        return new
    return item
