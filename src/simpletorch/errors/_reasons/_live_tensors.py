"""What holds a device's memory: the largest live tensors, by the names that the program has for them."""

from __future__ import annotations

import contextlib
import gc
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

import torch
from torch import nn

from simpletorch.errors._description import describe
from simpletorch.errors._text import size_text

__all__ = ["Holding", "free_memory", "largest_tensors"]


@dataclass(frozen=True, slots=True)
class Holding:
    """A live tensor: its name (None if no frame or model knows it), its type as text, and its bytes."""

    name: str | None
    type_text: str
    bytes: int

    def __str__(self) -> str:
        return f"{size_text(self.bytes):>10}  {self.type_text}  {self.name or '(no name)'}"


def largest_tensors(
    device: torch.device, frames: Iterable[FrameType], modules: Sequence[tuple[str, nn.Module]], count: int = 5
) -> list[Holding]:
    """The largest storages on a device that are alive, one tensor for each.

    Args:
        device: its type counts, and its index if it has one.
        frames: where names are looked for.
        modules: models by name, whose parameters are named first.
        count: how many.
    """
    found: dict[int, torch.Tensor] = {}
    for thing in gc.get_objects():
        # not isinstance: it may run a proxy's own code
        if not issubclass(type(thing), torch.Tensor) or thing.device.type != device.type:
            continue
        if device.index is not None and thing.device.index != device.index:
            continue
        with contextlib.suppress(Exception):  # tensors without storage: fake, functional, sparse
            key = _address(thing)
            if key and (key not in found or thing.numel() > found[key].numel()):
                found[key] = thing
    largest = sorted(found.values(), key=lambda t: t.untyped_storage().nbytes(), reverse=True)[:count]
    # what is a thousand times smaller than the largest doesn't explain why memory is full
    least = largest[0].untyped_storage().nbytes() // 1000 if largest else 0
    largest = [t for t in largest if t.untyped_storage().nbytes() >= least]
    names = _names(frames, modules)
    return [Holding(names.get(_address(t)), describe("", t).type_text, t.untyped_storage().nbytes()) for t in largest]


def _address(tensor: Any) -> int:
    """Where the tensor's memory is; 0 where there is none, as of a fake one, which says that it is on its device."""
    storage = tensor.untyped_storage()
    return 0 if storage.device.type == "meta" else int(storage.data_ptr())


def _names(frames: Iterable[FrameType], modules: Sequence[tuple[str, nn.Module]]) -> dict[int, str]:
    found: dict[int, str] = {}

    def add(name: str, value: object) -> None:
        if issubclass(type(value), torch.Tensor):
            with contextlib.suppress(Exception):
                found.setdefault(_address(value), name)

    for path, module in modules:
        for name, parameter in (*module.named_parameters(), *module.named_buffers()):
            add(f"{path}.{name}", parameter)
    for frame in frames:
        for name, value in list(frame.f_locals.items()):
            add(name, value)
            if type(value) in (list, tuple) and len(value) <= 1000:
                for i, item in enumerate(value):
                    add(f"{name}[{i}]", item)
    return found


def free_memory(device: torch.device) -> int | None:
    """The bytes that are free on a device, None if that can't be told."""
    if device.type == "cuda":
        with contextlib.suppress(Exception):
            return int(torch.cuda.mem_get_info(device)[0])
    if device.type == "cpu" and hasattr(os, "sysconf"):
        with contextlib.suppress(ValueError, OSError):
            return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None
