"""The tensors behind a dataset, when it is nothing but tensors in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import torch
import torch.utils.data

from simpletorch.data._tensors import TensorDataset
from simpletorch.data.loading import _shared


@dataclass(frozen=True)
class Columns:
    """Tensors of one length on one device; sample i is row ``index[i]`` (row i without an index).

    Args:
        change: makes samples of rows, a batch at a time; None: rows are samples.
    """

    tensors: tuple[torch.Tensor, ...]
    index: torch.Tensor | None = None
    change: Callable[..., tuple[torch.Tensor, ...]] | None = None

    @staticmethod
    def of(dataset: object) -> Columns | None:
        """The columns of ``dataset``, or None when only its ``__getitem__`` knows what a sample is."""
        if isinstance(dataset, torch.utils.data.Subset):
            whole = Columns.of(dataset.dataset)
            if whole is None or type(dataset).__getitem__ is not torch.utils.data.Subset.__getitem__:
                return None
            index = torch.as_tensor(dataset.indices, dtype=torch.int64, device=whole.device)
            index = index + (index < 0) * len(whole)  # -1 is the last sample
            return Columns(whole.tensors, index if whole.index is None else whole.index[index], whole.change)
        offered = getattr(dataset, "as_columns", None)  # a dataset that knows how: LabelledImages
        if offered is not None:
            return cast("Columns | None", offered())
        for kind in (TensorDataset, torch.utils.data.TensorDataset):
            if isinstance(dataset, kind) and type(dataset).__getitem__ is kind.__getitem__:
                tensors = dataset.tensors
                # one tensor of rows selects from all of them; sparse rows have no shared block
                alike = len({tensor.device for tensor in tensors}) == 1
                return Columns(tensors) if alike and all(tensor.layout is torch.strided for tensor in tensors) else None
        return None

    def __len__(self) -> int:
        return len(self.tensors[0] if self.index is None else self.index)

    @cached_property
    def _own(self) -> tuple[_shared.Rows, ...]:
        return tuple(map(_shared.Rows, self.tensors))

    @property
    def device(self) -> torch.device:
        """Where the tensors are, and rows have to be."""
        return self.tensors[0].device

    def batch(self, indices: Any) -> tuple[torch.Tensor, ...]:
        """The samples at ``indices``, with memory of their own so that writing to them is safe.

        Args:
            indices: a range, rows as Int64 ``[n]`` on `device` that are not negative, or a sequence of numbers.
        """
        rows = self._rows(indices)
        return rows if self.change is None else self.change(*rows)

    def _rows(self, indices: Any) -> tuple[torch.Tensor, ...]:
        if type(indices) is not torch.Tensor:
            if isinstance(indices, range):
                return self._span(indices.start, len(indices))
            indices = torch.as_tensor(indices, dtype=torch.int64, device=self.device)
            indices = indices + (indices < 0) * len(self)  # -1 is the last sample
        rows = indices if self.index is None else self.index.index_select(0, indices)
        return tuple([own.select(rows) for own in self._own])

    def _span(self, start: int, length: int) -> tuple[torch.Tensor, ...]:
        if self.index is not None:
            rows = self.index.narrow(0, start, length)
            return tuple([own.select(rows) for own in self._own])
        return tuple([own.span(start, length) for own in self._own])
