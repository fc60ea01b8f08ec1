"""Element-wise operations of three operands: where, lerp, addcmul, addcdiv."""

from __future__ import annotations

from simpletorch.rules.common.broadcasting import common_shape
from simpletorch.rules.common.conditions import need_dtype
from simpletorch.rules.common.dtypes import result_dtype, same_dtype
from simpletorch.rules.common.pointwise import INTEGRAL, need_kernel, operand, updated
from simpletorch.rules.core.cards import ELEMENTWISE
from simpletorch.rules.core.dtype import BOOL, INT64, UINT8
from simpletorch.rules.core.mismatch import CannotTell
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.shapes import UNKNOWN, Shape


@rule("torch.where", card=ELEMENTWISE)
def where(condition: TensorType, input: Value = None, other: Value = None) -> Value:
    """``(*a), (*b), (*c) -> (*broadcast(a, b, c))``; of a condition alone, one index ``(n,)`` per dim"""
    if input is None and other is None:
        rank = condition.shape.rank
        if rank is None:
            raise CannotTell
        return (TensorType(Shape.of(UNKNOWN), INT64),) * max(rank, 1)
    need_dtype("condition", condition, BOOL, UINT8, hint="condition.bool(), or a comparison such as condition > 0")
    a, b = operand(input), operand(other)
    return TensorType(common_shape(condition=condition, input=a, other=b), result_dtype(a, b))


@rule("Tensor.where", card=ELEMENTWISE)
def where_method(input: TensorType, condition: TensorType, other: Value) -> Value:
    """``(*b), condition (*a), (*c) -> (*broadcast(a, b, c))``"""
    return where(condition, input, operand(other))


@rule("torch.lerp", "Tensor.lerp", card=ELEMENTWISE)
def lerp(input: TensorType, end: TensorType, weight: Value) -> TensorType:
    """``(*a), end (*b), weight (*c) -> (*broadcast(a, b, c))``"""
    w = operand(weight)
    operands = [("input", input), ("end", end)]
    if isinstance(w, TensorType) and w.shape.min_rank:
        operands.append(("weight", w))  # a 0-dim weight may have any dtype
    dtype = same_dtype(*operands)
    if isinstance(w, TensorType) and len(operands) == 2:
        need_kernel(INTEGRAL, input=input, end=end, weight=w)
        dtype = result_dtype(input.with_dtype(dtype), end.with_dtype(dtype), w)
    else:
        need_kernel(INTEGRAL, input=input, end=end)
    return TensorType(common_shape(input=input, end=end, weight=w), dtype)


@rule("Tensor.lerp_", card=ELEMENTWISE)
def lerp_(input: TensorType, end: TensorType, weight: Value) -> TensorType:
    """``(*a), end (*b), weight (*c) -> (*a)``, in place"""
    return updated(input, lerp(input, end, weight))


@rule("torch.addcmul", "Tensor.addcmul", card=ELEMENTWISE)
def addcmul(input: TensorType, tensor1: TensorType, tensor2: TensorType, *, value: Value = 1) -> TensorType:
    """``(*a), (*b), (*c) -> (*broadcast(a, b, c))``"""
    need_kernel(("bool",), input=input, tensor1=tensor1, tensor2=tensor2)
    shape = common_shape(input=input, tensor1=tensor1, tensor2=tensor2)
    return TensorType(shape, result_dtype(input, tensor1, tensor2))


@rule("torch.addcdiv", "Tensor.addcdiv", card=ELEMENTWISE)
def addcdiv(input: TensorType, tensor1: TensorType, tensor2: TensorType, *, value: Value = 1) -> TensorType:
    """``(*a), (*b), (*c) -> (*broadcast(a, b, c))``"""
    need_kernel(INTEGRAL, tensor1=tensor1, tensor2=tensor2)
    shape = common_shape(input=input, tensor1=tensor1, tensor2=tensor2)
    return TensorType(shape, result_dtype(input, tensor1, tensor2))


@rule("Tensor.addcmul_", card=ELEMENTWISE)
def addcmul_(input: TensorType, tensor1: TensorType, tensor2: TensorType, *, value: Value = 1) -> TensorType:
    """``(*a), (*b), (*c) -> (*a)``, in place"""
    return updated(input, addcmul(input, tensor1, tensor2))


@rule("Tensor.addcdiv_", card=ELEMENTWISE)
def addcdiv_(input: TensorType, tensor1: TensorType, tensor2: TensorType, *, value: Value = 1) -> TensorType:
    """``(*a), (*b), (*c) -> (*a)``, in place"""
    return updated(input, addcdiv(input, tensor1, tensor2))
