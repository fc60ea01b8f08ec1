"""The sample type that a dataset's class declares, and the check of batches against it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Final, Generic, get_args, get_origin, get_type_hints, is_typeddict

import torch
import torch.utils.data
from jaxtyping import AbstractArray

from simpletorch._tensors import tensors_in
from simpletorch.data._dataset import Dataset
from simpletorch.data._stream import IterableDataset
from simpletorch.dtypes import dtype_of
from simpletorch.errors import DataError

_BASES: Final = (Dataset, IterableDataset, torch.utils.data.Dataset, torch.utils.data.IterableDataset)
_MOST_REMEMBERED: Final = 1024


def sample_hint(cls: type) -> Any:
    """``tuple[Tensor[…], …]`` of a class that derives from ``Dataset[tuple[Tensor[…], …]]``; None if it doesn't say."""
    return _of_class(cls, ())


def _of_class(cls: type, arguments: tuple[Any, ...]) -> Any:
    for base in cls.__dict__.get("__orig_bases__", cls.__bases__):
        origin = get_origin(base) or base
        if origin is Generic or not isinstance(origin, type) or not issubclass(origin, torch.utils.data.Dataset):
            continue
        if getattr(base, "__parameters__", ()):
            if not arguments:
                return None  # Dataset[T] of a class that is used without arguments
            base = base[arguments]
        if origin in _BASES:
            return next(iter(get_args(base)), None)
        return _of_class(origin, get_args(base))
    return None


class Declared:
    """Checks batches against what the class of their dataset says; each combination of dtypes and shapes once.

    Args:
        size: of every batch, with ``drop_last=True``.
    """

    def __init__(self, dataset: object, hint: Any, size: int | None) -> None:
        self.name = type(dataset).__name__
        self.hint = hint
        self.size = size
        self.seen: set[Any] = set()

    def __call__(self, batch: Any) -> Any:
        """The batch itself.

        Raises:
            DataError: a tensor in it is not what the class says.
        """
        if type(batch) is tuple and len(batch) == 2 and type(batch[0]) is type(batch[1]) is torch.Tensor:
            key: Any = batch[0].dtype, batch[0].shape, batch[1].dtype, batch[1].shape  # the most common, twice as fast
        else:
            key = tuple([(tensor.dtype, tensor.shape) for tensor in tensors_in(batch)])
        if key not in self.seen:
            self._check(batch, self.hint, "")
            if len(self.seen) >= _MOST_REMEMBERED:
                self.seen.clear()
            self.seen.add(key)
        return batch

    def _check(self, batch: Any, hint: Any, field: str) -> None:
        origin = get_origin(hint) or hint
        if isinstance(hint, type) and issubclass(hint, AbstractArray):
            self._check_tensor(batch, hint, field)
        elif origin is tuple and isinstance(batch, tuple):
            hints = get_args(hint)
            if len(hints) == 2 and hints[1] is Ellipsis:
                hints = (hints[0],) * len(batch)
            if len(hints) != len(batch):
                self._fail(f"samples have {len(batch)} fields, but {self.name} declares {len(hints)}")
            for number, (item, item_hint) in enumerate(zip(batch, hints, strict=True)):
                self._check(item, item_hint, _inside(field, number))
        elif origin is dict and isinstance(batch, Mapping):
            for key, item in batch.items():
                self._check(item, get_args(hint)[1], _inside(field, key))
        elif isinstance(hint, type) and (dataclasses.is_dataclass(hint) or hasattr(hint, "_fields")):
            for name, item_hint in _hints_of(hint).items():
                self._check(getattr(batch, name, None), item_hint, _inside(field, name))
        elif is_typeddict(hint) and isinstance(batch, Mapping):
            for name, item_hint in _hints_of(hint).items():
                if name in batch:
                    self._check(batch[name], item_hint, _inside(field, name))

    def _check_tensor(self, batch: Any, hint: type[AbstractArray], field: str) -> None:
        if not isinstance(batch, torch.Tensor) or batch.ndim == 0 or len(batch) == 0:
            return  # a number, made into a tensor
        if not isinstance(batch[0], hint):
            what = f"{field} of a sample" if field else "a sample"
            is_ = f"{dtype_of(batch.dtype).__name__}[{', '.join(map(str, batch.shape[1:]))}]"
            should = f"{hint.__name__.partition('[')[0]}[{', '.join(hint.dim_str.split())}]"
            self._fail(f"{what} is {is_}, but {self.name} declares {should}")
        if self.size is not None and len(batch) != self.size:
            self._fail(f"a batch has {len(batch)} samples, but drop_last=True promises {self.size}")

    def _fail(self, reason: str) -> None:
        raise DataError(reason, hint=f"correct the base class of {self.name}, or its samples")


def _hints_of(cls: Any) -> dict[str, Any]:
    try:
        return get_type_hints(cls)
    except Exception:  # names that only exist for type checkers: whatever evaluating them raises, nothing is declared
        return {}


def _inside(field: str, name: object) -> str:
    return f"{field}[{name!r}]" if field else f"field {name!r}"
