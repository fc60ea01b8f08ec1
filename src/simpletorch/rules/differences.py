"""Differences along a dim, and integrals from samples."""

from __future__ import annotations

from simpletorch.rules.arguments import axes, axis, broadcast_shapes, float_dtype, is_dim
from simpletorch.rules.conditions import need_equal, need_min_rank, unequal
from simpletorch.rules.dtype import BOOL, UINT8, DType, promote, promote_all
from simpletorch.rules.mismatch import CannotTell, Mismatch
from simpletorch.rules.reduced import expose, positions, reduced
from simpletorch.rules.registry import rule
from simpletorch.rules.values import ANYTHING, Scalar, TensorType, Value
from simpletorch.shapes import ANY_SHAPE, UNKNOWN, Dim, Expr, Shape, Unknown, at_least, equal, maximum


def _with_size(shape: Shape, dim: Value, size: Dim) -> Shape:
    """``shape`` with another size at ``dim``; only the number of dims where ``dim`` isn't known."""
    visible = expose(shape, dim)
    try:
        (at,) = positions(visible, (axis(dim, visible),))
    except CannotTell:
        return ANY_SHAPE if shape.rank is None else Shape((UNKNOWN,) * shape.rank)
    return Shape((*visible.items[:at], size, *visible.items[at + 1 :]))


def _size_at(shape: Shape, dim: Value) -> Dim:
    try:
        return shape.dim(axis(dim, shape))
    except CannotTell:
        return UNKNOWN


def _not_negative(size: Dim) -> Dim:
    return size if at_least(size, 0) else maximum(size, 0)


def _check_joined(input: Shape, name: str, extra: Shape, dim: Value) -> None:
    """What is put before or after may differ in one dim only."""
    if input.rank is None or extra.rank is None or not isinstance(dim, int):
        return
    if input.rank != extra.rank:
        raise Mismatch(f"{name} {extra} and input {input} must have the same number of dims", got=extra.rank)
    for i, (a, b) in enumerate(zip(input.dims, extra.dims, strict=True)):
        if i != axis(dim, input) and equal(a, b) is False:
            raise Mismatch(
                f"{name} has {b} at dim {i}, but input has {a}; only dim {dim} may differ" + unequal(a, b),
                expected=a,
                got=b,
            )


@rule("torch.diff", "Tensor.diff")
def diff(input: TensorType, n: Value = 1, dim: Value = -1, prepend: Value = None, append: Value = None) -> TensorType:
    """``(*b, m) -> (*b, m - n)``; what is put before and after counts"""
    need_min_rank("input", input, 1)
    size = _size_at(input.shape, dim)
    dtype = input.dtype
    for name, extra in (("prepend", prepend), ("append", append)):
        if isinstance(extra, TensorType):
            dtype = promote_all((dtype, extra.dtype))
            own = _size_at(extra.shape, dim)
            _check_joined(input.shape, name, extra.shape, dim)
            size = size + own
        elif extra is not None:
            size, dtype = UNKNOWN, None
    if n == 0:
        return input
    count: Dim = n if is_dim(n) and isinstance(n, int | Expr | Unknown) else UNKNOWN
    if isinstance(n, int) and n < 0:
        raise Mismatch(f"n is {n}, but it can't be negative", got=n)
    return TensorType(_with_size(input.shape, dim, _not_negative(size - count)), dtype)


# -- integrals ---------------------------------------------------------------------------------------------------------


def _check_samples(y: TensorType, x: Value, dx: Value, dim: Value) -> tuple[Shape, DType | None]:
    """The shape over which is integrated, and the dtype.

    Raises:
        Mismatch: the samples and their places don't fit.
    """
    if y.dtype == BOOL:
        raise Mismatch(
            "y is Bool, but it must be integer, floating or complex", kind="dtype", hint="y.float()", got=BOOL
        )
    need_min_rank("y", y, 1)
    if not isinstance(x, TensorType):
        if x is not None and x is not ANYTHING:
            raise CannotTell
        step = Scalar("float") if dx is ANYTHING else dx
        return y.shape if x is None else ANY_SHAPE, float_dtype(y, step) if x is None else None
    if x.dtype == BOOL:
        raise Mismatch(
            "x is Bool, but it must be integer, floating or complex", kind="dtype", hint="x.float()", got=BOOL
        )
    if x.shape.rank == 1:
        need_equal("y", _size_at(y.shape, dim), "x", x.shape.dim(0), what="the numbers of samples")
        shape = y.shape
    else:
        shape = broadcast_shapes(("y", y.shape), ("x", x.shape)) if x.shape.is_exact else ANY_SHAPE
    return shape, float_dtype(y, x)


@rule("torch.trapezoid", "torch.trapz")
def trapezoid(y: TensorType, x: Value = None, *, dx: Value = 1, dim: Value = -1) -> TensorType:
    """``(*b, n) -> (*b)``; ints become floats"""
    shape, dtype = _check_samples(y, x, dx, dim)
    if x is None and _size_at(y.shape, dim) == 0:
        dtype = y.dtype  # nothing is computed
    return TensorType(reduced(shape, dim), dtype)


@rule("torch.cumulative_trapezoid")
def cumulative_trapezoid(y: TensorType, x: Value = None, *, dx: Value = 1, dim: Value = -1) -> TensorType:
    """``(*b, n) -> (*b, n - 1)``; ints become floats"""
    shape, dtype = _check_samples(y, x, dx, dim)
    return TensorType(_with_size(shape, dim, _not_negative(_size_at(shape, dim) - 1)), dtype)


def _gradient_along(input: TensorType, dim: int, spacing: Value) -> TensorType:
    """The gradient along one dim; ``spacing`` is a step, or a vector with the place of every sample."""
    if not isinstance(spacing, TensorType):
        return TensorType(input.shape, None if spacing is ANYTHING else float_dtype(input, spacing))
    fits = equal(spacing.shape.numel(), input.shape.dim(dim))  # torch doesn't check it, with odd results
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
    found = axes(dim, expose(input.shape, *(dim if isinstance(dim, tuple) else (dim,))))
    chosen = tuple(range(input.shape.rank or 0)) if found is None else found
    if steps and len(steps) != len(chosen):
        raise Mismatch(
            f"spacing has {len(steps)} item{'s' * (len(steps) != 1)}, but there are {len(chosen)} dims",
            expected=len(chosen),
        )
    least = edge_order + 1 if isinstance(edge_order, int) else 2
    for d in chosen:
        size = input.shape.dim(d) if input.shape.is_exact else UNKNOWN
        if isinstance(size, int) and size < least:
            raise Mismatch(f"dim {d} of input {input.shape} must have at least {least} elements", got=size)
    if spacing is ANYTHING:
        return tuple(TensorType(input.shape) for _ in chosen)
    return tuple(_gradient_along(input, d, steps[i] if steps else spacing) for i, d in enumerate(chosen))


__all__ = ["cumulative_trapezoid", "diff", "gradient", "trapezoid"]
