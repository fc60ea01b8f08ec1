"""The tensors in what a function takes or gives: looked at, changed, moved to another device.

Tensors get the method ``to_dlpack`` here, because whoever makes one through simpletorch has imported this file.
"""

from __future__ import annotations

import copy
import dataclasses
from collections import UserDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch.utils import dlpack

__all__ = ["map_tensors", "moved", "tensors_in"]


def tensors_in(item: Any) -> Iterator[torch.Tensor]:
    """The tensors in tuples, lists, mappings and dataclasses, in order."""
    if isinstance(item, torch.Tensor):
        yield item
    elif isinstance(item, Mapping):
        for value in item.values():
            yield from tensors_in(value)
    elif isinstance(item, (tuple, list)):
        for value in item:
            yield from tensors_in(value)
    elif dataclasses.is_dataclass(item) and not isinstance(item, type):
        for each in dataclasses.fields(item):
            yield from tensors_in(getattr(item, each.name))


def moved(item: Any, device: torch.device) -> Any:
    """``item`` with its tensors on ``device``, copied asynchronously where they are in pinned memory.

    Tensors are looked for as `map_tensors` does; an object with a method ``to(device)`` is asked to move itself.
    """
    return map_tensors(item, lambda tensor: _on(tensor, device), "to", device)


def _on(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    return tensor if tensor.device == device else tensor.to(device, non_blocking=True)


def map_tensors(
    item: Any, function: Callable[[torch.Tensor], torch.Tensor], method: str = "", /, *arguments: Any
) -> Any:
    """``item`` with ``function(tensor)`` for each tensor in its tuples, lists, mappings and dataclasses.

    Containers of tensors are made anew, of the same class if possible; ``item`` stays as it was. Everything else
    stays the same object.

    Args:
        method: that a user's class may define instead (``"pin_memory"``), called with ``arguments``; it is
            preferred to looking inside, because only the class knows what may be changed.
    """
    if isinstance(item, torch.Tensor):
        return function(item)
    # asked of the class: a mapping whose keys can be read as attributes would take a key for the method
    if method and hasattr(type(item), method):
        return getattr(item, method)(*arguments)
    if isinstance(item, tuple):
        items = [map_tensors(value, function, method, *arguments) for value in item]
        return type(item)(*items) if hasattr(item, "_fields") else type(item)(items)
    if isinstance(item, list):
        return _list_like(item, [map_tensors(value, function, method, *arguments) for value in item])
    if isinstance(item, Mapping):
        values = {key: map_tensors(value, function, method, *arguments) for key, value in item.items()}
        return _mapping_like(item, values)
    if dataclasses.is_dataclass(item) and not isinstance(item, type):
        new = copy.copy(item)  # not the constructor: __post_init__ checks and changes what was given by hand
        for each in dataclasses.fields(item):
            value = map_tensors(getattr(item, each.name), function, method, *arguments)
            object.__setattr__(new, each.name, value)  # a frozen one refuses an ordinary assignment
        return new
    return item


def _list_like(model: list[Any], items: list[Any]) -> list[Any]:
    if type(model) is list:
        return items
    new = copy.copy(model)  # its attributes stay
    new[:] = items
    return new


def _mapping_like(model: Mapping[Any, Any], values: dict[Any, Any]) -> Mapping[Any, Any]:
    if type(model) is dict:
        return values
    if isinstance(model, (dict, UserDict)):
        # Their copies share no items with them, which another class's might; attributes and default factories stay.
        new = copy.copy(model)
        new.update(values)
        return new
    try:
        return type(model)(values)  # type: ignore[call-arg]  # most mappings can be made of a dict
    except TypeError:
        return values


def _to_dlpack(self: torch.Tensor) -> object:
    """The tensor's memory as a DLPack capsule, which ``from_dlpack`` of any library takes once.

    Source: https://docs.pytorch.org/docs/stable/dlpack.html
    """
    return dlpack.to_dlpack(self)  # type: ignore[attr-defined]


if not hasattr(torch.Tensor, "to_dlpack"):
    torch.Tensor.to_dlpack = _to_dlpack  # type: ignore[method-assign]
