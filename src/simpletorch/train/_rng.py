"""The states of all random number generators together."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import torch


def rng_state() -> dict[str, Any]:
    """The states of Python's, NumPy's (the global one) and torch's generators, as plain data and UInt8 tensors."""
    version, words, gauss = random.getstate()
    name, keys, *rest = np.random.get_state(legacy=True)
    return {
        "python": [version, list(words), gauss],
        "numpy": [name, [int(key) for key in keys], *rest],
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() and torch.cuda.is_initialized() else [],
    }


def set_rng_state(state: dict[str, Any]) -> None:
    """Go on from what `rng_state` gave."""
    version, words, gauss = state["python"]
    random.setstate((version, tuple(words), gauss))
    name, keys, *rest = state["numpy"]
    np.random.set_state((name, np.array(keys, dtype=np.uint32), *rest))
    torch.set_rng_state(state["torch"])
    if state["cuda"] and torch.cuda.is_available():
        torch.cuda.set_rng_state_all(state["cuda"])


def generators(loader: Iterable[Any]) -> Iterator[torch.Generator]:
    """The generators that a loader and its sampler draw from, each once; none if they use torch's global one."""
    sampler = getattr(loader, "sampler", None)
    found = {id(g): g for g in (getattr(loader, "generator", None), getattr(sampler, "generator", None))}
    return (g for g in found.values() if isinstance(g, torch.Generator))
