"""A dataset of tensors in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, TypeVarTuple, cast, overload

import torch

from simpletorch.data._dataset import Dataset
from simpletorch.errors import DataError

if TYPE_CHECKING:
    from simpletorch import Tensor  # not of .tensor: so that checkers without the plugin see a plain tensor

Ts = TypeVarTuple("Ts")

# Dtypes, and shapes of one sample, of a first, second and third tensor.
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
P = TypeVarTuple("P")
Q = TypeVarTuple("Q")
R = TypeVarTuple("R")


class TensorDataset(Dataset[tuple[*Ts]], Generic[*Ts]):
    """Sample ``i`` is ``(a[i], b[i], …)`` of the tensors given; `DataLoader` takes whole batches of it at once.

    ``TensorDataset(images, labels)`` with images ``[N, 1, 28, 28]`` and labels ``[N]`` has N samples of
    ``([1, 28, 28], [])``. The tensors are kept, not copied.

    Args:
        tensors: one or more tensors ``[N, *S]`` with the same N.

    Raises:
        DataError: no tensor, another type, a 0-d tensor, or tensors of different lengths.

    Examples:
        >>> import torch
        >>> from simpletorch.data import TensorDataset
        >>> data = TensorDataset(torch.zeros(101, 13), torch.arange(101))
        >>> len(data), data[7][1]
        (101, tensor(7))

    Source: https://docs.pytorch.org/docs/stable/data.html#torch.utils.data.TensorDataset
    """

    tensors: tuple[torch.Tensor, ...]

    @overload
    def __init__(self: TensorDataset[Tensor[A, *P]], a: Tensor[A, Any, *P], /) -> None: ...
    @overload
    def __init__(
        self: TensorDataset[Tensor[A, *P], Tensor[B, *Q]], a: Tensor[A, Any, *P], b: Tensor[B, Any, *Q], /
    ) -> None: ...
    @overload
    def __init__(
        self: TensorDataset[Tensor[A, *P], Tensor[B, *Q], Tensor[C, *R]],
        a: Tensor[A, Any, *P],
        b: Tensor[B, Any, *Q],
        c: Tensor[C, Any, *R],
        /,
    ) -> None: ...
    @overload
    def __init__(self: TensorDataset[*tuple[torch.Tensor, ...]], *tensors: torch.Tensor) -> None: ...
    def __init__(self, *tensors: torch.Tensor) -> None:
        if reason := _why_not(tensors):
            raise DataError(reason)
        self.tensors = tensors

    def __getitem__(self, index: int) -> tuple[*Ts]:
        return cast("tuple[*Ts]", tuple(tensor[index] for tensor in self.tensors))

    def __getitems__(self, indices: Sequence[int]) -> list[tuple[*Ts]]:
        rows = torch.tensor(indices, dtype=torch.int64, device=self.tensors[0].device)
        rows += (rows < 0) * len(self)  # -1 is the last sample
        columns = [tensor.index_select(0, rows.to(tensor.device)).unbind() for tensor in self.tensors]
        return cast("list[tuple[*Ts]]", list(zip(*columns, strict=True)))

    def __len__(self) -> int:
        return len(self.tensors[0])


def _why_not(tensors: tuple[Any, ...]) -> str:
    """Why these can't be the columns of one dataset; "" when they can."""
    if not tensors:
        return "TensorDataset needs at least one tensor, such as TensorDataset(images, labels)"
    for position, tensor in enumerate(tensors):
        if not isinstance(tensor, torch.Tensor):
            kind = type(tensor).__name__
            return f"argument {position} of TensorDataset is a {kind}, not a tensor: pass torch.as_tensor(…) of it"
        if tensor.ndim == 0:
            return f"argument {position} of TensorDataset has no dimension: its first one must count the samples"
    lengths = [len(tensor) for tensor in tensors]
    if len(set(lengths)) > 1:
        return (
            f"the tensors of a TensorDataset must have one length, but theirs are {', '.join(map(str, lengths))}: "
            "sample i is made of the i-th row of each"
        )
    return ""
