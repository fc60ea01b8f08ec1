"""How many samples a dataset has."""

from __future__ import annotations

from collections.abc import Sized

from simpletorch.errors import DataError


def length_of(dataset: object) -> int:
    """``len(dataset)``, or a `DataError` that says what a map-style dataset needs."""
    if not isinstance(dataset, Sized):
        raise DataError(
            f"{type(dataset).__name__} has no __len__: a dataset needs __getitem__ and __len__, "
            "or should be an IterableDataset"
        )
    return len(dataset)
