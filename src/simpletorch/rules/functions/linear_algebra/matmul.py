"""Matrix products."""

from __future__ import annotations

from simpletorch.rules.common.broadcasting import broadcast_shapes
from simpletorch.rules.common.conditions import need_equal, need_min_rank, need_rank
from simpletorch.rules.common.dtypes import same_dtype
from simpletorch.rules.core.cards import OTHERS, PRODUCT, SOMETHING, Card
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import TensorType
from simpletorch.shapes import ANY_SHAPE, Shape, equal


def _turned(left: str, a: Shape, right: str, b: Shape) -> str | None:
    """Which side would fit if its last two dims changed places."""
    if b.min_rank >= 2 and equal(a.dim(-1), b.dim(-1)):
        return f"{right}.mT would fit"
    if a.min_rank >= 2 and b.min_rank >= 2 and equal(a.dim(-2), b.dim(-2)):
        return f"{left}.mT would fit"
    return None


@rule("torch.matmul", "torch.linalg.matmul", "Tensor.matmul", "Tensor.__matmul__", card=Card(saves=PRODUCT))
def matmul(input: TensorType, other: TensorType) -> TensorType:
    """``(*b, n, k) @ (*b, k, m) -> (*b, n, m)``; a vector on either side loses its dim"""
    dtype = same_dtype(("input", input), ("other", other))
    a, b = input.shape, other.shape
    for name, tensor in (("input", input), ("other", other)):
        need_min_rank(name, tensor, 1, hint="use * for a scalar")
    if b.rank == 1:
        need_equal("input", a.dim(-1), "other", b.dim(0), what="the inner dims")
        return TensorType(a.drop_last(1), dtype)
    if a.rank == 1:
        if b.min_rank >= 2:
            need_equal("input", a.dim(0), "other", b.dim(-2), what="the inner dims")
            return TensorType(Shape((*b.drop_last(2).items, b.dim(-1))), dtype)
        return TensorType(ANY_SHAPE, dtype)
    if a.min_rank < 2 or b.min_rank < 2:
        return TensorType(_matmul_of_unknown_rank(a, b), dtype)
    need_equal("input", a.dim(-1), "other", b.dim(-2), what="the inner dims", hint=_turned("input", a, "other", b))
    batch = broadcast_shapes(("the batch of input", a.drop_last(2)), ("the batch of other", b.drop_last(2)))
    return TensorType(Shape((*batch.items, a.dim(-2), b.dim(-1))), dtype)


@rule("Tensor.__rmatmul__", card=Card(saves=SOMETHING))
def rmatmul(other: TensorType, input: TensorType) -> TensorType:
    """``(*b, n, k) @ (*b, k, m) -> (*b, n, m)``, asked of the right operand"""
    return matmul(input, other)


def _matmul_of_unknown_rank(a: Shape, b: Shape) -> Shape:
    if b.rank == 2:
        need_equal("input", a.dim(-1), "other", b.dim(0), what="the inner dims")
        return Shape((*a.drop_last(1).items, b.dim(1)))
    return ANY_SHAPE


@rule("torch.mm", "Tensor.mm", card=Card(saves=OTHERS))
def mm(input: TensorType, mat2: TensorType) -> TensorType:
    """``(n, k) @ (k, m) -> (n, m)``"""
    need_rank("input", input, 2)
    need_rank("mat2", mat2, 2)
    hint = _turned("input", input.shape, "mat2", mat2.shape)
    need_equal("input", input.shape.dim(-1), "mat2", mat2.shape.dim(-2), what="the inner dims", hint=hint)
    dtype = same_dtype(("input", input), ("mat2", mat2))
    return TensorType(Shape.of(input.shape.dim(-2), mat2.shape.dim(-1)), dtype)


__all__ = ["matmul", "mm", "rmatmul"]
