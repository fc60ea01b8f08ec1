"""The generators of random numbers that a loader has for itself."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import torch

from simpletorch.reproducibility import rng_state, set_rng_state


def generators(loader: Iterable[Any]) -> Iterator[torch.Generator]:
    """The generators that a loader and its sampler draw from, each once; none if they use torch's global one."""
    sampler = getattr(loader, "sampler", None)
    found = {id(g): g for g in (getattr(loader, "generator", None), getattr(sampler, "generator", None))}
    return (g for g in found.values() if isinstance(g, torch.Generator))


@contextmanager
def undrawn(loader: Any = None) -> Iterator[None]:
    """Restore afterwards the state of the global generators, and of those in attributes of the loader's dataset."""
    state, own = rng_state(), list(_returns(getattr(loader, "dataset", None)))
    try:
        yield
    finally:
        for put_back in own:
            put_back()
        set_rng_state(state)


def _returns(dataset: Any) -> Iterator[Callable[[], object]]:
    """A function that restores the present state of a dataset's generators, and of a dataset inside it (`Subset`)."""
    while dataset is not None:
        for item in getattr(dataset, "__dict__", {}).values():
            match item:
                case torch.Generator():
                    yield partial(item.set_state, item.get_state())
                case random.Random():
                    yield partial(item.setstate, item.getstate())
                case np.random.Generator():
                    yield partial(setattr, item.bit_generator, "state", item.bit_generator.state)
                case np.random.RandomState():
                    yield partial(item.set_state, item.get_state())
        dataset = getattr(dataset, "dataset", None)
