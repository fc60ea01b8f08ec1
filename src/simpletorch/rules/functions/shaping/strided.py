"""Sizes set regardless of what was there: as_strided, resize_."""

from __future__ import annotations

from simpletorch.rules.common.arguments import given_sizes
from simpletorch.rules.common.conditions import need_at_least, need_entries, need_shape
from simpletorch.rules.common.positions import leave_unknown, shaped
from simpletorch.rules.core.cards import FIRST, MAYBE, PICKED, VIEW, Card
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import ANYTHING, TensorType, Value
from simpletorch.rules.functions.shaping.reshaping import fit
from simpletorch.shapes import Shape

__all__ = ["as_strided"]


def _strided(size: Value, stride: Value) -> Shape:
    dims = given_sizes((), size)
    need_at_least("size", dims, 0)
    if isinstance(stride, tuple):
        need_entries("stride", stride, len(dims))
    return Shape(dims)


@rule("torch.as_strided", "Tensor.as_strided", "torch.as_strided_copy", card=Card(VIEW, PICKED))
@rule("torch.as_strided_", "Tensor.as_strided_", card=Card(VIEW, PICKED))
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
    need_shape("src", src.shape, part, whose="the part it replaces is")
    return input


@rule("Tensor.resize_")
@leave_unknown(None)
def resize_(input: TensorType, *sizes: Value, size: Value = ANYTHING, memory_format: Value = None) -> TensorType:
    """``(*s) -> (*size)``"""
    dims = given_sizes(sizes, size)
    need_at_least("size", dims, 0)
    return shaped(input, Shape(dims))


@rule("torch.resize_as_", "Tensor.resize_as_", moves=True, card=Card(MAYBE, gradient=FIRST))
def resize_as_(input: TensorType, the_template: TensorType, *, memory_format: Value = None) -> TensorType:
    """``(*s), (*t) -> (*t)``"""
    return shaped(input, the_template.shape)


@rule("Tensor.resize")
@leave_unknown(None)
def resize(input: TensorType, *sizes: Value) -> TensorType:
    """``(*s) -> (*sizes)`` with as many elements"""
    dims = given_sizes(sizes, ANYTHING)
    need_at_least("size", dims, 0)
    return shaped(input, Shape(fit(input.shape, dims, "resized to")))


@rule("Tensor.resize_as", moves=True, card=Card(MAYBE, gradient=FIRST))
@leave_unknown(None)
def resize_as(input: TensorType, tensor: TensorType) -> TensorType:
    """``(*s), (*t) -> (*t)`` with as many elements"""
    if not tensor.shape.is_exact:
        return shaped(input, tensor.shape)
    return shaped(input, Shape(fit(input.shape, tensor.shape.dims, "resized to")))
