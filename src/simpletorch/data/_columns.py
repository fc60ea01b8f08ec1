"""The tensors behind a dataset, when it is nothing but tensors in memory."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.utils.data
from torch.utils.data import Subset

from simpletorch.data._tensors import TensorDataset


@dataclass(frozen=True)
class Columns:
    """Tensors of one length on one device, of which sample i is row ``index[i]`` (row i when there is no index)."""

    tensors: tuple[torch.Tensor, ...]
    index: torch.Tensor | None = None

    @staticmethod
    def of(dataset: object) -> Columns | None:
        """The columns of ``dataset``, or None when only its ``__getitem__`` knows what a sample is."""
        if isinstance(dataset, Subset):
            whole = Columns.of(dataset.dataset)
            if whole is None or type(dataset).__getitem__ is not Subset.__getitem__:
                return None
            index = torch.as_tensor(dataset.indices, dtype=torch.int64, device=whole.device)
            return Columns(whole.tensors, index if whole.index is None else whole.index[index])
        for kind in (TensorDataset, torch.utils.data.TensorDataset):
            if isinstance(dataset, kind) and type(dataset).__getitem__ is kind.__getitem__:
                tensors = dataset.tensors
                alike = len({tensor.device for tensor in tensors}) == 1
                return Columns(tensors) if alike and all(tensor.layout is torch.strided for tensor in tensors) else None
        return None

    def __len__(self) -> int:
        return len(self.tensors[0] if self.index is None else self.index)

    @property
    def device(self) -> torch.device:
        """Where the tensors are, and positions have to be."""
        return self.tensors[0].device

    def rows(self, positions: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """The samples at ``positions`` (Int64 ``[n]``): tensors ``[n, *S]`` of their own memory."""
        rows = positions if self.index is None else self.index.index_select(0, positions)
        return tuple([tensor.index_select(0, rows) for tensor in self.tensors])

    def span(self, start: int, length: int) -> tuple[torch.Tensor, ...]:
        """``length`` samples from ``start`` on: tensors ``[length, *S]``, copied so that writing to them is safe."""
        if self.index is not None:
            rows = self.index.narrow(0, start, length)
            return tuple([tensor.index_select(0, rows) for tensor in self.tensors])
        return tuple([tensor.narrow(0, start, length).clone() for tensor in self.tensors])
