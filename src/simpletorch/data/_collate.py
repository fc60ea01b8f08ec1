"""Samples to a batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.utils.data import default_collate

from simpletorch.errors import DataError


def collate(samples: Sequence[Any]) -> Any:
    """Put samples together field by field, with the batch in front: n tensors ``[*S]`` become one ``[n, *S]``.

    torch's `default_collate`, with two differences: a tuple stays a tuple (torch makes it a list, which no type can
    describe field by field), and samples that don't fit together are reported with their positions, field and shapes.

    Raises:
        DataError: two samples have tensors of different shapes, or different numbers of fields.
    """
    return _collate(samples, "sample")


def _collate(samples: Sequence[Any], field: str) -> Any:
    first = samples[0]
    if isinstance(first, torch.Tensor):
        for position, other in enumerate(samples):
            if other.shape != first.shape:
                raise DataError(
                    f"{field} {position} of the batch has shape {list(other.shape)} but {field} 0 has "
                    f"{list(first.shape)}: pad or crop them to one shape, or pass a collate_fn"
                )
    elif isinstance(first, tuple):
        for position, other in enumerate(samples):
            if len(other) != len(first):
                raise DataError(
                    f"{field} {position} of the batch has {len(other)} fields but {field} 0 has {len(first)}: "
                    "every sample needs the same fields"
                )
        names = getattr(first, "_fields", range(len(first)))
        columns = [
            _collate(column, f"field {name!r} of {field}")
            for name, column in zip(names, zip(*samples, strict=True), strict=True)
        ]
        return type(first)(*columns) if hasattr(first, "_fields") else tuple(columns)
    elif isinstance(first, Mapping):
        return {key: _collate([sample[key] for sample in samples], f"field {key!r} of {field}") for key in first}
    return default_collate(list(samples))
