"""Differences along a dim, and integrals from samples."""

from __future__ import annotations

from simpletorch.rules.common.arguments import dim_or_unknown
from simpletorch.rules.common.broadcasting import broadcast_shapes
from simpletorch.rules.common.conditions import (
    need_at_least,
    need_categories,
    need_equal,
    need_min_rank,
    need_same_rank,
    need_size,
)
from simpletorch.rules.common.dtypes import float_dtype
from simpletorch.rules.common.positions import (
    axis,
    item_at,
    locate,
    need_axes,
    position,
    replaced,
    size_at,
    unknown_dims,
)
from simpletorch.rules.common.reduced import reduced
from simpletorch.rules.core.dtype import BOOL, UINT8, DType, promote, promote_all
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import ANYTHING, Scalar, TensorType, Value
from simpletorch.shapes import ANY_SHAPE, UNKNOWN, Dim, Shape, at_least, equal, maximum


def _with_size(shape: Shape, dim: Value, size: Dim) -> Shape:
    """``shape`` with another size at ``dim``; only the number of dims where ``dim`` isn't known."""
    try:
        visible, at = position(dim, shape)
    except CannotTell:
        return unknown_dims(shape)
    return replaced(visible, at, size)


def _not_negative(size: Dim) -> Dim:
    return size if at_least(size, 0) else maximum(size, 0)


def _need_joinable(input: Shape, name: str, extra: Shape, dim: Value) -> None:
    """A tensor that is put before or after may differ in one dim only."""
    need_same_rank("input", input, name, extra)
    if input.rank is None or extra.rank is None or not isinstance(dim, int):
        return
    for i, (a, b) in enumerate(zip(input.dims, extra.dims, strict=True)):
        if i != axis(dim, input):
            need_size(f"dim {i} of {name} is", b, "that of input is", a)


@rule("torch.diff", "Tensor.diff")
def diff(input: TensorType, n: Value = 1, dim: Value = -1, prepend: Value = None, append: Value = None) -> TensorType:
    """``(*b, m) -> (*b, m - n)``; what is put before and after counts"""
    need_min_rank("input", input, 1)
    size = size_at(input.shape, dim)
    dtype = input.dtype
    for name, extra in (("prepend", prepend), ("append", append)):
        if isinstance(extra, TensorType):
            dtype = promote_all((dtype, extra.dtype))
            own = size_at(extra.shape, dim)
            _need_joinable(input.shape, name, extra.shape, dim)
            size = size + own
        elif extra is not None:
            size, dtype = UNKNOWN, None
    if n == 0:
        return input
    count = dim_or_unknown(n)
    need_at_least("n", n, 0)
    return TensorType(_with_size(input.shape, dim, _not_negative(size - count)), dtype)


# -- integrals ---------------------------------------------------------------------------------------------------------


def _need_samples(y: TensorType, x: Value, dx: Value, dim: Value) -> tuple[Shape, DType | None]:
    """The shape over which is integrated, and the dtype.

    Raises:
        Mismatch: the samples and their places don't fit.
    """
    need_categories("y", y.dtype, "int", "float", "complex", hint="y.float()")
    need_min_rank("y", y, 1)
    if not isinstance(x, TensorType):
        if x is not None and x is not ANYTHING:
            raise CannotTell
        step = Scalar("float") if dx is ANYTHING else dx
        return y.shape if x is None else ANY_SHAPE, float_dtype(y, step) if x is None else None
    need_categories("x", x.dtype, "int", "float", "complex", hint="x.float()")
    if x.shape.rank == 1:
        need_equal("y", size_at(y.shape, dim), "x", x.shape.dim(0), what="the numbers of samples")
        shape = y.shape
    else:
        shape = broadcast_shapes(("y", y.shape), ("x", x.shape)) if x.shape.is_exact else ANY_SHAPE
    return shape, float_dtype(y, x)


@rule("torch.trapezoid", "torch.trapz")
def trapezoid(y: TensorType, x: Value = None, *, dx: Value = 1, dim: Value = -1) -> TensorType:
    """``(*b, n) -> (*b)``; ints become floats"""
    shape, dtype = _need_samples(y, x, dx, dim)
    if x is None and size_at(y.shape, dim) == 0:
        dtype = y.dtype  # nothing is computed
    return TensorType(reduced(shape, dim), dtype)


@rule("torch.cumulative_trapezoid")
def cumulative_trapezoid(y: TensorType, x: Value = None, *, dx: Value = 1, dim: Value = -1) -> TensorType:
    """``(*b, n) -> (*b, n - 1)``; ints become floats"""
    shape, dtype = _need_samples(y, x, dx, dim)
    return TensorType(_with_size(shape, dim, _not_negative(size_at(shape, dim) - 1)), dtype)


def _gradient_along(input: TensorType, size: Dim, spacing: Value) -> TensorType:
    """The gradient along a dim of this size; ``spacing`` is a step, or a vector with the place of every sample."""
    if not isinstance(spacing, TensorType):
        step = 1 if spacing is None else spacing
        return TensorType(input.shape, None if step is ANYTHING else float_dtype(input, step))
    fits = equal(spacing.shape.numel(), size)  # torch doesn't check it, with odd results
    return TensorType(input.shape if fits else ANY_SHAPE, promote(input.dtype, float_dtype(spacing)))


@rule("torch.gradient")
def gradient(
    input: TensorType, *, spacing: Value = 1, dim: Value = None, edge_order: Value = 1
) -> tuple[TensorType, ...]:
    """``(*b) -> (*b), ...``: one for every dim"""
    steps = spacing if isinstance(spacing, tuple) else ()
    by_tensors = any(isinstance(s, TensorType) or s is ANYTHING for s in (*steps, spacing))
    if input.dtype == UINT8 or (input.dtype == BOOL and (edge_order == 1 or not by_tensors)):
        raise Mismatch(
            f"input is {input.dtype}, which can't be subtracted", kind="dtype", hint="input.float()", got=input.dtype
        )
    if input.shape.rank is None and dim is None:
        raise CannotTell
    need_axes(dim, input.shape)
    named = dim if isinstance(dim, tuple) else (dim,)
    shape, chosen = locate(input.shape, *(range(input.shape.rank or 0) if dim is None else named))
    if steps and len(steps) != len(chosen):
        raise Mismatch(
            f"spacing has {len(steps)} item{'s' * (len(steps) != 1)}, but there are {len(chosen)} dims",
            expected=len(chosen),
        )
    least = edge_order + 1 if isinstance(edge_order, int) else 2
    for d in chosen:
        size = item_at(shape, d)
        if isinstance(size, int) and size < least:
            raise Mismatch(f"dim {d} of input {input.shape} must have at least {least} elements", got=size)
    if spacing is ANYTHING:
        return tuple(TensorType(input.shape) for _ in chosen)
    return tuple(
        _gradient_along(input, item_at(shape, d), steps[i] if steps else spacing) for i, d in enumerate(chosen)
    )


__all__ = ["cumulative_trapezoid", "diff", "gradient", "trapezoid"]
