"""Sizes set regardless of what was there: as_strided, resize_."""

from __future__ import annotations

from collections.abc import Sequence

from simpletorch.rules.mismatch import Mismatch
from simpletorch.rules.positions import leave_unknown, shaped
from simpletorch.rules.registry import rule
from simpletorch.rules.reshaping import fit, given_sizes
from simpletorch.rules.values import ANYTHING, TensorType, Value
from simpletorch.shapes import Dim, Shape, same

__all__ = ["as_strided"]


def _not_negative(sizes: Sequence[Dim]) -> None:
    if any(isinstance(s, int) and s < 0 for s in sizes):
        raise Mismatch(f"a size can't be negative, but got {Shape(tuple(sizes))}", got=tuple(sizes))


def _strided(size: Value, stride: Value) -> Shape:
    dims = given_sizes((), size)
    _not_negative(dims)
    if isinstance(stride, tuple) and len(stride) != len(dims):
        raise Mismatch(
            f"size has {len(dims)} numbers, but stride has {len(stride)}", expected=len(dims), got=len(stride)
        )
    return Shape(dims)


@rule("torch.as_strided", "Tensor.as_strided", "torch.as_strided_copy")
@rule("torch.as_strided_", "Tensor.as_strided_")
@leave_unknown(None)
def as_strided(input: TensorType, size: Value, stride: Value, storage_offset: Value = None) -> TensorType:
    """``(*s) -> (*size)``"""
    return shaped(input, _strided(size, stride))


@rule("torch.as_strided_scatter", "Tensor.as_strided_scatter")
@leave_unknown()
def as_strided_scatter(
    input: TensorType, src: TensorType, size: Value, stride: Value, storage_offset: Value = None
) -> TensorType:
    """``(*s), src (*size) -> (*s)``"""
    part = _strided(size, stride)
    if same(part, src.shape) is False:
        raise Mismatch(f"src is {src.shape}, but the part it replaces is {part}", expected=part, got=src.shape)
    return input


@rule("Tensor.resize_")
@leave_unknown(None)
def resize_(input: TensorType, *sizes: Value, size: Value = ANYTHING, memory_format: Value = None) -> TensorType:
    """``(*s) -> (*size)``"""
    dims = given_sizes(sizes, size)
    _not_negative(dims)
    return shaped(input, Shape(dims))


@rule("torch.resize_as_", "Tensor.resize_as_")
def resize_as_(input: TensorType, the_template: TensorType, *, memory_format: Value = None) -> TensorType:
    """``(*s), (*t) -> (*t)``"""
    return shaped(input, the_template.shape)


@rule("Tensor.resize")
@leave_unknown(None)
def resize(input: TensorType, *sizes: Value) -> TensorType:
    """``(*s) -> (*sizes)`` with as many elements"""
    dims = given_sizes(sizes, ANYTHING)
    _not_negative(dims)
    return shaped(input, Shape(fit(input.shape, dims, "resized to")))


@rule("Tensor.resize_as")
@leave_unknown(None)
def resize_as(input: TensorType, tensor: TensorType) -> TensorType:
    """``(*s), (*t) -> (*t)`` with as many elements"""
    if not tensor.shape.is_exact:
        return shaped(input, tensor.shape)
    return shaped(input, Shape(fit(input.shape, tensor.shape.dims, "resized to")))
