"""How many samples a part of a batch has."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Final

import torch

from simpletorch._tensors import tensors_in
from simpletorch.errors import DataError

__all__ = ["LOADER", "length_of"]

LOADER: Final = "DataLoader(dataset, 64, shuffle=True) makes batches of a dataset's samples"


def length_of(item: Any) -> int:
    """The length of a batch's target, or of another part of it; of what is made of tensors, that of the first one.

    Raises:
        DataError: it has no length: it is part of a single sample.
    """
    if isinstance(item, torch.Tensor) and item.ndim:
        return item.size(0)  # quicker than its len()
    if isinstance(item, (Mapping, tuple)) or (dataclasses.is_dataclass(item) and not isinstance(item, type)):
        first = next(tensors_in(item), None)
        if first is not None:
            return length_of(first)
    if not isinstance(item, (torch.Tensor, str)) and hasattr(item, "__len__"):
        return len(item)
    what = "a tensor without dims" if isinstance(item, torch.Tensor) else f"{item!r}, a {type(item).__name__}"
    raise DataError(f"the target of a batch is {what}: it is that of a single sample, and {LOADER}")
