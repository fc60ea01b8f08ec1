"""The context of a call: autocast, and tracing, under which values have no sizes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import torch

from simpletorch.checks._records import values

__all__ = ["is_observable", "under_autocast"]


def under_autocast() -> bool:
    """Whether autocast is on for any device, so that one float dtype may stand for another."""
    return any(torch.is_autocast_enabled(kind) for kind in _device_types())


@lru_cache(maxsize=1)
def _device_types() -> tuple[str, ...]:
    accelerator = torch.accelerator.current_accelerator()  # of this build of torch, whether or not the machine has one
    return ("cpu",) if accelerator is None else ("cpu", accelerator.type)


def is_observable(call: Sequence[Any]) -> bool:
    """Whether the values have sizes at all: under tracing they are symbols, and looking at those would be recorded."""
    return not any(_is_symbolic(v) for v in call)


def _is_symbolic(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        # a SymInt; FakeTensors with plain sizes are looked at like any tensor
        return any(type(size) is not int for size in value.shape)
    if isinstance(value, torch.SymInt | torch.fx.Proxy):
        return True
    if isinstance(value, list | tuple):
        return any(map(_is_symbolic, value))
    if isinstance(value, dict):
        return any(map(_is_symbolic, value.values()))
    return any(map(_is_symbolic, values(value)))
