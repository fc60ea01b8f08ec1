"""Covariance and correlation."""

from __future__ import annotations

from simpletorch.rules.common.conditions import need_categories, need_equal, need_max_rank
from simpletorch.rules.common.dtypes import float_dtype
from simpletorch.rules.core.dtype import Category, promote_all
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.shapes import ANY_SHAPE, UNKNOWN, Shape, Unknown


def _need_weights(name: str, weights: Value, input: TensorType, *categories: Category) -> None:
    """One weight for every observation."""
    if isinstance(weights, TensorType):
        need_max_rank(name, weights, 1)
        need_categories(name, weights.dtype, *categories)
        count = input.shape.dim(-1) if input.shape.min_rank > 0 else UNKNOWN
        need_equal("input", count, name, weights.shape.numel(), what="the numbers of observations")


def _covariance_shape(input: TensorType) -> Shape:
    """A square matrix of the variables; a single one gives a 0-dim tensor."""
    need_max_rank("input", input, 2)
    need_categories("input", input.dtype, "int", "float", "complex", hint="input.float()")
    if input.shape.rank is not None and input.shape.rank < 2:
        return Shape(())
    n = input.shape.dim(-2)
    if n == 1:
        return Shape(())
    return ANY_SHAPE if input.shape.min_rank < 2 or isinstance(n, Unknown) else Shape.of(n, n)


@rule("torch.cov", "Tensor.cov")
def cov(input: TensorType, *, correction: Value = 1, fweights: Value = None, aweights: Value = None) -> TensorType:
    """``(n, m) -> (n, n)``: n variables, m observations; one variable gives ``()``"""
    shape = _covariance_shape(input)
    _need_weights("fweights", fweights, input, "int")
    _need_weights("aweights", aweights, input, "float")
    dtype = float_dtype(input)
    if aweights is not None:
        dtype = promote_all((dtype, aweights.dtype)) if isinstance(aweights, TensorType) else None
    return TensorType(shape, dtype)


@rule("torch.corrcoef", "Tensor.corrcoef")
def corrcoef(input: TensorType) -> TensorType:
    """``(n, m) -> (n, n)``: n variables, m observations; one variable gives ``()``"""
    return TensorType(_covariance_shape(input), float_dtype(input))


__all__ = ["corrcoef", "cov"]
