"""The tensors in what a function takes or gives."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import torch

__all__ = ["tensors_in"]


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
