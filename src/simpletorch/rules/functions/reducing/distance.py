"""Distances and similarities of vectors."""

from __future__ import annotations

from simpletorch.rules.common.broadcasting import broadcast_shapes
from simpletorch.rules.common.conditions import need_categories, need_floating, need_not_bool, need_rank
from simpletorch.rules.common.dtypes import float_dtype, real_dtype, result_dtype
from simpletorch.rules.common.reduced import reduced
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.shapes import ANY_SHAPE, Shape


@rule("torch.nn.functional.cosine_similarity", "torch.cosine_similarity")
def cosine_similarity(x1: TensorType, x2: TensorType, dim: Value = 1, eps: Value = 1e-08) -> TensorType:
    """``(*a, n, *b), (*a, n, *b) -> (*a, *b)``, broadcast"""
    dtype = result_dtype(x1, x2)
    need_categories("the common dtype of x1 and x2", dtype, "float")
    shape = broadcast_shapes(("x1", x1.shape), ("x2", x2.shape))
    return TensorType(reduced(shape, dim), dtype)


@rule("torch.nn.functional.pairwise_distance", "torch.pairwise_distance")
def pairwise_distance(
    x1: TensorType, x2: TensorType, p: Value = 2.0, eps: Value = 1e-06, keepdim: Value = False
) -> TensorType:
    """``(*b, n), (*b, n) -> (*b)``, broadcast"""
    need_not_bool("x1", x1)
    need_not_bool("x2", x2)
    shape = broadcast_shapes(("x1", x1.shape), ("x2", x2.shape))
    dtype = real_dtype(float_dtype(x1, x2))
    if not isinstance(keepdim, bool):
        return TensorType(ANY_SHAPE, dtype)
    if shape.items == ():
        return TensorType(shape, dtype)
    return TensorType(Shape((*shape.drop_last(1).items, *((1,) if keepdim else ()))), dtype)


@rule("torch.nn.functional.pdist", "torch.pdist")
def pdist(input: TensorType, p: Value = 2.0) -> TensorType:
    """``(n, d) -> (n*(n - 1)//2,)``"""
    need_rank("input", input, 2)
    need_floating("input", input)
    n = input.shape.dim(-2)
    return TensorType(Shape.of(n * (n - 1) // 2), input.dtype)


__all__ = ["cosine_similarity", "pairwise_distance", "pdist"]
