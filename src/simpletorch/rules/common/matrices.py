"""Tensors as batches of matrices."""

from __future__ import annotations

from simpletorch.rules.common.conditions import need_float_or_complex, need_min_rank, need_square
from simpletorch.rules.core.dtype import BFLOAT16, FLOAT16
from simpletorch.rules.core.mismatch import Mismatch
from simpletorch.rules.core.values import TensorType
from simpletorch.shapes import Dim, Shape

__all__ = ["matrices", "need_full_precision", "square_matrices"]


def need_full_precision(name: str, tensor: TensorType) -> None:
    """Float16 and BFloat16 are refused, and what is no float."""
    need_float_or_complex(name, tensor)
    if tensor.dtype in (FLOAT16, BFLOAT16):
        raise Mismatch(
            f"{name} is {tensor.dtype}, but it must be at least Float32",
            kind="dtype",
            hint=f"{name}.float()",
            got=tensor.dtype,
        )


def matrices(name: str, tensor: TensorType) -> tuple[Shape, Dim, Dim]:
    """The batch dims, rows and columns of a tensor of matrices."""
    need_min_rank(name, tensor, 2)
    return (tensor.shape.drop_last(2), *tensor.shape.last(2))  # type: ignore[return-value]


def square_matrices(name: str, tensor: TensorType) -> tuple[Shape, Dim]:
    """The batch dims and the size of a tensor of square matrices."""
    need_min_rank(name, tensor, 2)
    return tensor.shape.drop_last(2), need_square(name, tensor.shape)
