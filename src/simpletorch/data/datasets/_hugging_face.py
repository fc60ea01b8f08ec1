"""A bridge to Hugging Face's `datasets`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar, cast, overload

import numpy as np
import torch

from simpletorch._distribution import installing
from simpletorch.data._dataset import Dataset
from simpletorch.data._stream import IterableDataset
from simpletorch.errors import DataError

T = TypeVar("T", covariant=True)


class HuggingFaceDataset(Dataset[T], Generic[T]):
    """A dataset of Hugging Face's as one of tensors; see `from_hugging_face`.

    Args:
        dataset: a ``datasets.Dataset``.
        fields, transform: as for `from_hugging_face`.

    Examples:
        >>> import datasets
        >>> from simpletorch import data
        >>> rows = datasets.Dataset.from_dict({"x": [[1.0, 2.0], [3.0, 4.0]], "label": [0, 1]})
        >>> len(data.from_hugging_face(rows, ["x", "label"]))
        2
    """

    def __init__(self, dataset: Any, fields: Sequence[str] | None, transform: Callable[[Any], T] | None) -> None:
        self.fields = None if fields is None else tuple(fields)
        self.dataset, self.transform = _formatted(dataset, self.fields), transform

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: int) -> T:
        return cast("T", _sample(self.dataset[index], self.fields, self.transform))

    def __getitems__(self, indices: Sequence[int]) -> list[T]:
        """The samples at ``indices``: one look-up for a whole batch."""
        columns = self.dataset[list(indices)]
        rows = range(len(indices))
        return [_sample({n: values[i] for n, values in columns.items()}, self.fields, self.transform) for i in rows]


class HuggingFaceStream(IterableDataset[T], Generic[T]):
    """A streamed dataset of Hugging Face's as one of tensors; workers share its files among them.

    Args:
        dataset: a ``datasets.IterableDataset``.
        fields, transform: as for `from_hugging_face`.

    Examples:
        >>> import datasets
        >>> from simpletorch import data
        >>> rows = datasets.Dataset.from_dict({"x": [[1.0, 2.0], [3.0, 4.0]], "label": [0, 1]})
        >>> next(iter(data.from_hugging_face(rows.to_iterable_dataset(), ["x", "label"])))
        (tensor([1., 2.]), tensor(0))
    """

    def __init__(self, dataset: Any, fields: Sequence[str] | None, transform: Callable[[Any], T] | None) -> None:
        self.fields = None if fields is None else tuple(fields)
        self.dataset, self.transform = _formatted(dataset, self.fields), transform

    def __iter__(self) -> Iterator[T]:
        for sample in self.dataset:
            yield _sample(sample, self.fields, self.transform)


@overload
def from_hugging_face(
    dataset: Any, fields: Sequence[str] | None = None, *, transform: Callable[[Any], T]
) -> HuggingFaceDataset[T] | HuggingFaceStream[T]: ...
@overload
def from_hugging_face(
    dataset: Any, fields: Sequence[str] | None = None, transform: None = None
) -> HuggingFaceDataset[Any] | HuggingFaceStream[Any]: ...
def from_hugging_face(
    dataset: Any, fields: Sequence[str] | None = None, transform: Callable[[Any], Any] | None = None
) -> HuggingFaceDataset[Any] | HuggingFaceStream[Any]:
    """A dataset of Hugging Face's ``datasets`` (one split of it) as a dataset of tensors, streamed or not.

    A sample is the tuple of ``fields``, or a dict of all fields if none are named. Numbers and arrays become tensors
    (floats Float32, integers Int64, ``[]`` or the array's shape), images UInt8 ``[C, H, W]``; text stays `str`::

        data = datasets.load_dataset("mnist", split="train")
        train = from_hugging_face(data, ("image", "label"))

    Args:
        dataset: a ``datasets.Dataset`` or ``datasets.IterableDataset``.
        fields: which columns, in which order.
        transform: from that tuple or dict to the sample.

    Returns:
        A dataset by position, or a stream if ``dataset`` is one.

    Raises:
        DataError: it is no such dataset, has no such column, or ``datasets`` is not installed.

    Examples:
        >>> import datasets
        >>> from simpletorch import data
        >>> rows = datasets.Dataset.from_dict({"x": [[1.0, 2.0], [3.0, 4.0]], "label": [0, 1]})
        >>> data.from_hugging_face(rows)[1]
        {'x': tensor([3., 4.]), 'label': tensor(1)}
    """
    try:
        import datasets
    except ImportError as error:
        raise DataError(
            f"this bridge is to Hugging Face's datasets, which is not installed: {installing('huggingface')}"
        ) from error
    if isinstance(dataset, (datasets.DatasetDict, datasets.IterableDatasetDict)):
        raise DataError(
            f"this is a dict of splits ({', '.join(dataset)}), not a dataset", hint="pass one of them: data['train']"
        )
    if isinstance(dataset, datasets.IterableDataset):
        return HuggingFaceStream(dataset, fields, transform)
    if not isinstance(dataset, datasets.Dataset):
        raise DataError(f"from_hugging_face takes a datasets.Dataset, but got a {type(dataset).__name__}")
    return HuggingFaceDataset(dataset, fields, transform)


def _formatted(dataset: Any, fields: tuple[str, ...] | None) -> Any:
    """The dataset, with only these columns."""
    known = dataset.column_names
    if fields is None or known is None:  # a stream may not know its columns before it starts
        return dataset
    if absent := [name for name in fields if name not in known]:
        raise DataError(
            f"the dataset has no column {', '.join(map(repr, absent))}: its columns are {', '.join(map(repr, known))}"
        )
    return dataset.select_columns(list(fields))


def _sample(row: Mapping[str, Any], fields: tuple[str, ...] | None, transform: Callable[[Any], Any] | None) -> Any:
    sample: Any
    if fields is None:
        sample = {name: _value(value) for name, value in row.items()}
    else:
        sample = tuple([_value(row[name]) for name in fields])
    return sample if transform is None else transform(sample)


def _value(value: Any) -> Any:
    """A column's value as a tensor, if it is made of numbers."""
    if isinstance(value, (str, bytes, torch.Tensor)) or value is None:
        return value
    if hasattr(value, "__array_interface__") and not isinstance(value, (np.ndarray, np.generic)):  # a Pillow image
        pixels = torch.from_numpy(np.array(value))
        return pixels.unsqueeze(0) if pixels.ndim == 2 else pixels.permute(2, 0, 1)
    if isinstance(value, Mapping):
        return {name: _value(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)) and _holds_text(value):
        return value
    try:
        array = np.asarray(value)
    except ValueError:  # lists of different lengths
        return [_value(item) for item in value]
    if array.dtype.kind in "iu" and array.dtype != np.uint8:
        return torch.from_numpy(array.astype(np.int64))
    if array.dtype.kind == "f":
        return torch.from_numpy(array.astype(np.float32))
    return torch.from_numpy(array.copy()) if array.dtype.kind in "bu" else value


def _holds_text(values: Sequence[Any]) -> bool:
    return any(isinstance(item, (str, bytes, Mapping)) or item is None for item in values)
