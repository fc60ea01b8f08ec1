"""Samples to a batch."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch.utils.data import default_collate

from simpletorch.data.loading import _shared
from simpletorch.errors import DataError


class Misfit(DataError):
    """Two samples of one batch don't fit together; the caller adds where they come from."""

    def __init__(self, first: int, second: int, field: str, one: str, other: str, advice: str = "") -> None:
        self.first = first
        self.second = second
        self.problem = f"{f'in {field} ' if field else ''}the one {one} and the other {other}{advice}"
        super().__init__(f"samples {first} and {second} of the batch don't fit together: {self.problem}")


def collate(samples: Sequence[Any]) -> Any:
    """Put samples together field by field, with the batch in front: n tensors ``[*S]`` become one ``[n, *S]``.

    Like torch's `default_collate`, with three differences. A tuple stays a tuple; torch makes it a list, which no type
    can describe field by field. A dataclass stays that dataclass. Samples that don't fit together are reported with
    their positions, field and shapes. Numbers become a tensor ``[n]`` (int: Int64, float: Float64, bool: Bool), strings
    a list, NumPy arrays tensors.

    Args:
        samples: one or more samples with the same fields: tensors, arrays, numbers, strings, or tuples, lists,
            mappings, named tuples and dataclasses of these.

    Returns:
        A batch of the samples' structure.

    Raises:
        DataError: two samples have tensors of different shapes, different kinds, or different fields; or there is a
            field that has no batch.

    Examples:
        >>> import torch
        >>> from simpletorch import data
        >>> images, labels = data.collate([(torch.zeros(1, 8, 8), 3), (torch.zeros(1, 8, 8), 5)])
        >>> images.shape, labels
        (torch.Size([2, 1, 8, 8]), tensor([3, 5]))

    Source: https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.default_collate
    """
    if not samples:
        raise DataError("there is nothing to collate: the list of samples is empty")
    return _collate(samples, "")


def _collate(samples: Sequence[Any], field: str) -> Any:
    first = samples[0]
    found = _BY_CLASS.get(type(first))
    if found is not None:
        return found(samples, field)
    if isinstance(first, torch.Tensor):
        return _tensors(samples, field)
    if dataclasses.is_dataclass(first) and not isinstance(first, type):
        return _dataclass(samples, field)
    if isinstance(first, tuple):
        return _tuple(samples, field)
    if isinstance(first, Mapping):
        return _mapping(samples, field)
    if isinstance(first, list):
        return _list(samples, field)
    return _other(samples, field)


def _tensors(samples: Sequence[Any], field: str) -> torch.Tensor:
    try:
        # torch checks; what exactly differs is looked for only once it has refused
        return _shared.stack(samples)
    except (RuntimeError, TypeError):
        first = samples[0]
        for position, other in enumerate(samples):
            if not isinstance(other, torch.Tensor):
                raise Misfit(0, position, field, "is a tensor", _kind(other)) from None
            if other.shape != first.shape:
                raise Misfit(
                    0,
                    position,
                    field,
                    f"has shape {list(first.shape)}",
                    str(list(other.shape)),
                    ": pad, crop or resize them to one shape, or pass a collate_fn such as simpletorch.data.Padded()",
                ) from None
        raise


def _numbers(dtype: torch.dtype) -> Callable[[Sequence[Any], str], torch.Tensor]:
    def tensor(samples: Sequence[Any], field: str) -> torch.Tensor:
        try:
            return torch.tensor(samples, dtype=dtype)
        except (RuntimeError, TypeError, ValueError):
            _same_kind(samples, field)
            raise

    return tensor


def _integers(samples: Sequence[Any], field: str) -> torch.Tensor:
    # without a dtype: an int among floats must not be cut off, and 3.5 among ints is torch's float
    try:
        return torch.tensor(samples)
    except (RuntimeError, TypeError, ValueError):
        _same_kind(samples, field)
        raise


def _arrays(samples: Sequence[Any], field: str) -> torch.Tensor:
    return _tensors([torch.as_tensor(sample) for sample in samples], field)


def _scalars(samples: Sequence[Any], field: str) -> torch.Tensor:
    return torch.as_tensor(np.asarray(samples))


def _as_they_are(samples: Sequence[Any], field: str) -> list[Any]:
    return list(samples)


def _same_kind(samples: Sequence[Any], field: str) -> None:
    first = samples[0]
    for position, other in enumerate(samples):
        if type(other) is not type(first):
            raise Misfit(0, position, field, f"is {_kind(first)}", _kind(other)) from None


def _same_length(samples: Sequence[Any], field: str, what: str) -> None:
    first = samples[0]
    for position, other in enumerate(samples):
        if type(other) is not type(first):
            _same_kind(samples, field)
        if len(other) != len(first):
            raise Misfit(0, position, field, f"has {len(first)} {what}", str(len(other)))


def _tuple(samples: Sequence[Any], field: str) -> Any:
    first = samples[0]
    _same_length(samples, field, "fields")
    names = getattr(first, "_fields", range(len(first)))
    columns = [_collate(c, _inside(field, n)) for n, c in zip(names, zip(*samples, strict=True), strict=True)]
    return type(first)(*columns) if hasattr(first, "_fields") else tuple(columns)


def _list(samples: Sequence[Any], field: str) -> list[Any]:
    _same_length(samples, field, "items")
    return [_collate(c, _inside(field, i)) for i, c in enumerate(zip(*samples, strict=True))]


def _mapping(samples: Sequence[Any], field: str) -> Any:
    first = samples[0]
    for position, other in enumerate(samples):
        if not isinstance(other, Mapping):
            _same_kind(samples, field)
        if other.keys() != first.keys():
            raise Misfit(0, position, field, f"has the keys {_listed(first)}", _listed(other))
    columns = {key: _collate([sample[key] for sample in samples], _inside(field, key)) for key in first}
    if type(first) is dict:
        return columns
    try:
        return type(first)(columns)  # as torch does: most mappings can be made of a dict
    except TypeError:
        return columns


def _dataclass(samples: Sequence[Any], field: str) -> Any:
    _same_kind(samples, field)
    batch = copy.copy(samples[0])  # not the constructor: __post_init__ checks and changes samples, not batches
    for each in dataclasses.fields(batch):
        column = [getattr(sample, each.name) for sample in samples]
        object.__setattr__(batch, each.name, _collate(column, _inside(field, each.name)))
    return batch


def _other(samples: Sequence[Any], field: str) -> Any:
    try:
        return default_collate(list(samples))
    except TypeError as error:
        raise DataError(
            f"{field or 'a sample'} is {_kind(samples[0])}, which can't be batched: return tensors, numbers, "
            "strings, and tuples, lists, dicts or dataclasses of them, or pass a collate_fn"
        ) from error


def _inside(field: str, name: object) -> str:
    return f"{field}[{name!r}]" if field else f"field {name!r}"


def _listed(keys: Mapping[Any, Any]) -> str:
    return ", ".join(map(repr, keys)) or "none"


def _kind(value: object) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


# Functions by exact class; subclasses are tried one by one.
_BY_CLASS: dict[type, Callable[[Sequence[Any], str], Any]] = {
    torch.Tensor: _tensors,
    int: _integers,
    bool: _integers,
    # as `default_collate` does; without a dtype torch would take its default one, float32
    float: _numbers(torch.float64),
    str: _as_they_are,
    bytes: _as_they_are,
    tuple: _tuple,
    list: _list,
    dict: _mapping,
    np.ndarray: _arrays,
    np.float64: _scalars,
    np.float32: _scalars,
    np.int64: _scalars,
    np.int32: _scalars,
    np.bool_: _scalars,
}
