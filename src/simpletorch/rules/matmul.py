"""Matrix products and the linear layer."""

from __future__ import annotations

from simpletorch.rules.arguments import broadcast_shapes, same_dtype
from simpletorch.rules.mismatch import Mismatch
from simpletorch.rules.registry import rule
from simpletorch.rules.values import TensorType, Value
from simpletorch.shapes import ANY_SHAPE, Dim, Shape, equal, same


def _check_inner(left: str, a: Dim, right: str, b: Dim, hint: str | None = None) -> None:
    """The dims that a product sums over must be equal."""
    if equal(a, b) is False:
        raise Mismatch(
            f"the inner dims differ: {left} has {a}, {right} has {b}"
            + ("" if isinstance(a, int) and isinstance(b, int) else "; they are not equal for all sizes"),
            hint=hint,
            expected=a,
            got=b,
        )


def _turned(left: str, a: Shape, right: str, b: Shape) -> str | None:
    """Which side would fit if its last two dims changed places."""
    if b.min_rank >= 2 and equal(a.dim(-1), b.dim(-1)):
        return f"{right}.mT would fit"
    if a.min_rank >= 2 and b.min_rank >= 2 and equal(a.dim(-2), b.dim(-2)):
        return f"{left}.mT would fit"
    return None


def _need_rank(name: str, tensor: TensorType, rank: int) -> None:
    found = tensor.shape.rank
    if (found is not None and found != rank) or tensor.shape.min_rank > rank:
        raise Mismatch(f"{name} must have {rank} dims, but it is {tensor.shape}", expected=rank, got=found)


@rule("torch.matmul", "torch.linalg.matmul", "Tensor.matmul", "Tensor.__matmul__")
def matmul(input: TensorType, other: TensorType) -> TensorType:
    """``(*b, n, k) @ (*b, k, m) -> (*b, n, m)``; a vector on either side loses its dim"""
    dtype = same_dtype(("input", input), ("other", other))
    a, b = input.shape, other.shape
    for name, shape in (("input", a), ("other", b)):
        if shape.rank == 0:
            raise Mismatch(f"{name} is 0-dim; a product needs at least 1 dim", hint="use * for a scalar")
    if b.rank == 1:
        _check_inner("input", a.dim(-1), "other", b.dim(0))
        return TensorType(a.drop_last(1), dtype)
    if a.rank == 1:
        if b.min_rank >= 2:
            _check_inner("input", a.dim(0), "other", b.dim(-2))
            return TensorType(Shape((*b.drop_last(2).items, b.dim(-1))), dtype)
        return TensorType(ANY_SHAPE, dtype)
    if a.min_rank < 2 or b.min_rank < 2:
        return TensorType(_matmul_of_unknown_rank(a, b), dtype)
    _check_inner("input", a.dim(-1), "other", b.dim(-2), _turned("input", a, "other", b))
    batch = broadcast_shapes(("the batch of input", a.drop_last(2)), ("the batch of other", b.drop_last(2)))
    return TensorType(Shape((*batch.items, a.dim(-2), b.dim(-1))), dtype)


@rule("Tensor.__rmatmul__")
def rmatmul(other: TensorType, input: TensorType) -> TensorType:
    """``(*b, n, k) @ (*b, k, m) -> (*b, n, m)``, asked of the right operand"""
    return matmul(input, other)


def _matmul_of_unknown_rank(a: Shape, b: Shape) -> Shape:
    if b.rank == 2:
        _check_inner("input", a.dim(-1), "other", b.dim(0))
        return Shape((*a.drop_last(1).items, b.dim(1)))
    return ANY_SHAPE


@rule("torch.mm", "Tensor.mm")
def mm(input: TensorType, mat2: TensorType) -> TensorType:
    """``(n, k) @ (k, m) -> (n, m)``"""
    _need_rank("input", input, 2)
    _need_rank("mat2", mat2, 2)
    hint = _turned("input", input.shape, "mat2", mat2.shape)
    _check_inner("input", input.shape.dim(-1), "mat2", mat2.shape.dim(-2), hint)
    dtype = same_dtype(("input", input), ("mat2", mat2))
    return TensorType(Shape.of(input.shape.dim(-2), mat2.shape.dim(-1)), dtype)


def check_size(name: str, value: Value, *, least: int = 1) -> None:
    """A constructor's size argument must not be below ``least``."""
    if isinstance(value, int) and value < least:
        raise Mismatch(f"{name} is {value}, but it must be at least {least}", expected=least, got=value)


@rule("torch.nn.functional.linear")
def linear(input: TensorType, weight: TensorType, bias: Value = None) -> TensorType:
    """``(*, in), weight (out, in) -> (*, out)``"""
    operands = [("input", input), ("weight", weight)]
    if isinstance(bias, TensorType):
        operands.append(("bias", bias))
    dtype = same_dtype(*operands)
    if input.shape.rank == 0:
        raise Mismatch("input is 0-dim; it needs at least 1 dim")
    if weight.shape.rank == 1:
        _check_inner("input", input.shape.dim(-1), "weight", weight.shape.dim(0))
        return TensorType(input.shape.drop_last(1), dtype)
    _need_rank("weight", weight, 2)
    turned = "weight.T would fit" if equal(input.shape.dim(-1), weight.shape.dim(-2)) else None
    _check_inner("input", input.shape.dim(-1), "weight", weight.shape.dim(-1), turned)
    out = weight.shape.dim(-2)
    if (
        isinstance(bias, TensorType)
        and bias.shape.rank == 1
        and equal(bias.shape.dim(0), out) is False
        and bias.shape.dim(0) != 1
    ):
        raise Mismatch(
            f"bias has {bias.shape.dim(0)} features, but weight gives {out}",
            expected=out,
            got=bias.shape.dim(0),
        )
    return TensorType(Shape((*input.shape.drop_last(1).items, out)), dtype)


def _need_bias(bias: Value, weight: TensorType, out: Dim) -> None:
    """The bias of a bilinear layer must have the dtype of the weight and the features that it gives."""
    if isinstance(bias, TensorType):
        same_dtype(("weight", weight), ("bias", bias))
        _need_rank("bias", bias, 1)
        if equal(bias.shape.dim(-1), out) is False:
            raise Mismatch(
                f"bias has {bias.shape.dim(-1)} features, but weight gives {out}",
                expected=out,
                got=bias.shape.dim(-1),
            )


@rule("torch.nn.functional.bilinear", "torch.bilinear")
def bilinear(input1: TensorType, input2: TensorType, weight: TensorType, bias: Value = None) -> TensorType:
    """``(*, in1), (*, in2), weight (out, in1, in2) -> (*, out)``"""
    dtype = same_dtype(("input1", input1), ("input2", input2), ("weight", weight))
    _need_rank("weight", weight, 3)
    out, in1, in2 = weight.shape.last(3)
    batch = _bilinear_batch(input1.shape, input2.shape)
    _check_inner("input1", input1.shape.dim(-1), "weight", in1)
    _check_inner("input2", input2.shape.dim(-1), "weight", in2)
    _need_bias(bias, weight, out)
    return TensorType(Shape((*batch.items, out)), dtype)


def _bilinear_batch(a: Shape, b: Shape) -> Shape:
    """All dims but the last, which both inputs must share exactly."""
    for name, shape in (("input1", a), ("input2", b)):
        if shape.rank == 0:
            raise Mismatch(f"{name} is 0-dim; it needs at least 1 dim")
    left, right = a.drop_last(1), b.drop_last(1)
    if same(left, right) is False:
        raise Mismatch(
            f"the dims before the last differ: {left} of input1, {right} of input2", expected=left, got=right
        )
    return right if not left.is_exact and right.is_exact else left


__all__ = ["bilinear", "check_size", "linear", "matmul", "mm", "rmatmul"]
