"""Covariance and correlation."""

from __future__ import annotations

from simpletorch.rules.conditions import need_categories, need_equal
from simpletorch.rules.dtype import BOOL, DEFAULT_FLOAT, DType, promote_all
from simpletorch.rules.mismatch import Mismatch
from simpletorch.rules.registry import rule
from simpletorch.rules.values import TensorType, Value
from simpletorch.shapes import ANY_SHAPE, UNKNOWN, Shape, Unknown


def _check_weights(name: str, weights: Value, input: TensorType, *categories: str) -> None:
    """One weight for every observation."""
    if isinstance(weights, TensorType):
        if weights.shape.min_rank > 1:
            raise Mismatch(f"{name} must have at most 1 dim, but it is {weights.shape}", got=weights.shape.rank)
        need_categories(name, weights.dtype, *categories)  # type: ignore[arg-type]
        count = input.shape.dim(-1) if input.shape.min_rank > 0 else UNKNOWN
        need_equal("input", count, name, weights.shape.numel(), what="the numbers of observations")


def _covariance_shape(input: TensorType) -> Shape:
    """A square matrix of the variables; a single one gives a 0-dim tensor."""
    if input.shape.min_rank > 2:
        raise Mismatch(f"input must have at most 2 dims, but it is {input.shape}", expected=2, got=input.shape.rank)
    if input.dtype == BOOL:
        raise Mismatch(
            "input is Bool, but it must be integer, floating or complex", kind="dtype", hint="input.float()", got=BOOL
        )
    if input.shape.rank is not None and input.shape.rank < 2:
        return Shape(())
    n = input.shape.dim(-2)
    if n == 1:
        return Shape(())
    return ANY_SHAPE if input.shape.min_rank < 2 or isinstance(n, Unknown) else Shape.of(n, n)


def _float(dtype: DType | None) -> DType | None:
    return DEFAULT_FLOAT if dtype is not None and dtype.category == "int" else dtype


@rule("torch.cov", "Tensor.cov")
def cov(input: TensorType, *, correction: Value = 1, fweights: Value = None, aweights: Value = None) -> TensorType:
    """``(n, m) -> (n, n)``: n variables, m observations; one variable gives ``()``"""
    shape = _covariance_shape(input)
    _check_weights("fweights", fweights, input, "int")
    _check_weights("aweights", aweights, input, "float")
    dtype = _float(input.dtype)
    if aweights is not None:
        dtype = promote_all((dtype, aweights.dtype)) if isinstance(aweights, TensorType) else None
    return TensorType(shape, dtype)


@rule("torch.corrcoef", "Tensor.corrcoef")
def corrcoef(input: TensorType) -> TensorType:
    """``(n, m) -> (n, n)``: n variables, m observations; one variable gives ``()``"""
    return TensorType(_covariance_shape(input), _float(input.dtype))


__all__ = ["corrcoef", "cov"]
