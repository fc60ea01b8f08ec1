"""The linear and the bilinear map."""

from __future__ import annotations

from simpletorch.rules.common.conditions import need_equal, need_min_rank, need_rank, need_same_shape, need_size
from simpletorch.rules.common.dtypes import same_dtype
from simpletorch.rules.common.positions import of
from simpletorch.rules.core.cards import OTHERS, Card
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.shapes import Dim, Shape


@rule("torch.nn.functional.linear", card=Card(saves=OTHERS))
def linear(input: TensorType, weight: TensorType, bias: Value = None) -> TensorType:
    """``(*, in), weight (out, in) -> (*, out)``"""
    operands = [("input", input), ("weight", weight)]
    if isinstance(bias, TensorType):
        operands.append(("bias", bias))
    dtype = same_dtype(*operands)
    need_min_rank("input", input, 1)
    if weight.shape.rank == 1:
        need_equal("input", input.shape.dim(-1), "weight", weight.shape.dim(0), what="the inner dims")
        return TensorType(input.shape.drop_last(1), dtype)
    need_rank("weight", weight, 2)
    turned = "weight.T would fit: the weight of linear is (out, in)"
    need_equal("input", input.shape.dim(-1), "weight", weight.shape.dim(-1), what="the inner dims", hint=turned)
    out = weight.shape.dim(-2)
    if isinstance(bias, TensorType) and bias.shape.rank == 1 and bias.shape.dim(0) != 1:
        need_size("bias has size", bias.shape.dim(0), "weight gives", out)
    return TensorType(of(input.shape.drop_last(1), out), dtype)


def need_bias(bias: Value, out: Dim) -> None:
    """A bias has one number for each of the features that the weight gives."""
    if isinstance(bias, TensorType):
        need_rank("bias", bias, 1)
        need_size("bias has size", bias.shape.dim(-1), "weight gives", out)


@rule("torch.nn.functional.bilinear", "torch.bilinear")
def bilinear(input1: TensorType, input2: TensorType, weight: TensorType, bias: Value = None) -> TensorType:
    """``(*, in1), (*, in2), weight (out, in1, in2) -> (*, out)``"""
    dtype = same_dtype(("input1", input1), ("input2", input2), ("weight", weight))
    need_rank("weight", weight, 3)
    out, in1, in2 = weight.shape.last(3)
    batch = _batch(input1, input2)
    need_equal("input1", input1.shape.dim(-1), "weight", in1, what="the inner dims")
    need_equal("input2", input2.shape.dim(-1), "weight", in2, what="the inner dims")
    if isinstance(bias, TensorType):
        same_dtype(("weight", weight), ("bias", bias))
        need_bias(bias, out)
    return TensorType(of(batch, out), dtype)


def _batch(input1: TensorType, input2: TensorType) -> Shape:
    """All dims but the last, which both inputs must share exactly."""
    need_min_rank("input1", input1, 1)
    need_min_rank("input2", input2, 1)
    left, right = input1.shape.drop_last(1), input2.shape.drop_last(1)
    need_same_shape("the batch of input1", left, "that of input2", right)
    return right if not left.is_exact and right.is_exact else left


__all__ = ["bilinear", "linear", "need_bias"]
