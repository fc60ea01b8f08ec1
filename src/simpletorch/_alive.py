"""The contents of a device's memory: its live tensors, by their names in the program."""

from __future__ import annotations

import contextlib
import gc
import os
from collections.abc import Iterable, Sequence
from types import FrameType
from typing import Any

import torch
from torch import nn

__all__ = ["address", "free_memory", "names_of", "tensors_on"]


def tensors_on(device: torch.device) -> list[torch.Tensor]:
    """One tensor for each storage that is alive on a device, the largest storages first.

    Args:
        device: its type counts, and its index if it has one.
    """
    found: dict[int, torch.Tensor] = {}
    for thing in gc.get_objects():
        # not isinstance: it may run a proxy's own code
        if not issubclass(type(thing), torch.Tensor) or thing.device.type != device.type:
            continue
        if device.index is not None and thing.device.index != device.index:
            continue
        with contextlib.suppress(Exception):  # tensors without storage: fake, functional, sparse
            key = address(thing)
            if key and (key not in found or thing.numel() > found[key].numel()):
                found[key] = thing
    return sorted(found.values(), key=lambda t: t.untyped_storage().nbytes(), reverse=True)


def address(tensor: Any) -> int:
    """Where the tensor's memory is; 0 where there is none, as of a fake one, which says that it is on its device."""
    storage = tensor.untyped_storage()
    return 0 if storage.device.type == "meta" else int(storage.data_ptr())


def names_of(frames: Iterable[FrameType], modules: Sequence[tuple[str, nn.Module]]) -> dict[int, str]:
    """The names of tensors by `address`: parameters and buffers of ``modules`` first, then variables of ``frames``."""
    found: dict[int, str] = {}

    def add(name: str, value: object) -> None:
        if issubclass(type(value), torch.Tensor):
            with contextlib.suppress(Exception):
                found.setdefault(address(value), name)

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
