"""The generators of random numbers that a loader has for itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch


def generators(loader: Iterable[Any]) -> Iterator[torch.Generator]:
    """The generators that a loader and its sampler draw from, each once; none if they use torch's global one."""
    sampler = getattr(loader, "sampler", None)
    found = {id(g): g for g in (getattr(loader, "generator", None), getattr(sampler, "generator", None))}
    return (g for g in found.values() if isinstance(g, torch.Generator))
