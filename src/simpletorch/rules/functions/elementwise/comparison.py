"""Comparisons, logic and bits: what gives Bools, and what works on the bits of integers."""

from __future__ import annotations

from typing import Literal

from simpletorch.rules.common.broadcasting import common_shape
from simpletorch.rules.common.dtypes import result_dtype, same_dtype
from simpletorch.rules.common.pointwise import (
    ALL_BUT_INT,
    COMPLEX_ONLY,
    INEXACT,
    functions_and_methods,
    need_kernel,
    operand,
    updated,
)
from simpletorch.rules.core.cards import ELEMENTWISE
from simpletorch.rules.core.dtype import BOOL, DType
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import Scalar, TensorType, Value
from simpletorch.rules.functions.elementwise.arithmetic import binary, operators, register
from simpletorch.rules.functions.inspecting import have_equal_sizes
from simpletorch.shapes import Shape


def _boolean(input: Value, other: Value) -> DType | None:
    return BOOL


def _register_boolean(
    names: str, refused: tuple[str, ...], operator: str = "", numbers: Literal["other", "none"] = "other"
) -> None:
    """Register a comparison; its in-place form keeps the tensor's dtype."""
    compute = binary(_boolean, refused, numbers=numbers)
    register(compute, (*functions_and_methods(names), *(operators(operator) if operator else ())))

    @rule(*functions_and_methods(names, in_place=True), card=ELEMENTWISE)
    def compare_(input: TensorType, other: Value) -> TensorType:
        """``(*a), (*b) -> (*a)``, in place: b must broadcast to a"""
        return updated(input, compute(input, other).with_dtype(input.dtype))


for _names, _operator in (("eq", "eq"), ("ne not_equal", "ne")):
    _register_boolean(_names, (), _operator)
for _names, _operator in (
    ("lt less", "lt"),
    ("le less_equal", "le"),
    ("gt greater", "gt"),
    ("ge greater_equal", "ge"),
):
    _register_boolean(_names, COMPLEX_ONLY, _operator)
_register_boolean("logical_and logical_or logical_xor", (), numbers="none")

for _name, _operator in (("bitwise_and", "and"), ("bitwise_or", "or"), ("bitwise_xor", "xor")):
    register(
        binary(result_dtype, INEXACT),
        (*functions_and_methods(_name), *operators(_operator)),
        reflected=operators(f"r{_operator}"),
        in_place=(*functions_and_methods(_name, in_place=True), *operators(f"i{_operator}")),
    )
for _name, _operator in (("bitwise_left_shift", "lshift"), ("bitwise_right_shift", "rshift")):
    register(
        binary(result_dtype, ALL_BUT_INT),
        (*functions_and_methods(_name), *operators(_operator)),
        reflected=operators(f"r{_operator}"),
        in_place=(*functions_and_methods(_name, in_place=True), *operators(f"i{_operator}")),
    )


@rule("torch.isclose", "Tensor.isclose", card=ELEMENTWISE)
def isclose(
    input: TensorType, other: TensorType, rtol: Value = 1e-05, atol: Value = 1e-08, equal_nan: Value = False
) -> TensorType:
    """``(*a), (*b) -> (*broadcast(a, b))``"""
    same_dtype(("input", input), ("other", other))
    return TensorType(common_shape(input=input, other=other), BOOL)


@rule("torch.allclose", "Tensor.allclose")
def allclose(
    input: TensorType, other: TensorType, rtol: Value = 1e-05, atol: Value = 1e-08, equal_nan: Value = False
) -> Scalar:
    """``(*a), (*b) -> bool``"""
    isclose(input, other)
    return Scalar("bool")


@rule("torch.equal", "Tensor.equal")
def equal(input: TensorType, other: TensorType) -> Value:
    """``(*a), (*b) -> bool``; False for shapes that differ"""
    return False if have_equal_sizes(input, other) is False else Scalar("bool")


@rule("torch.isin")
def isin(elements: Value, test_elements: Value, *, assume_unique: Value = False, invert: Value = False) -> TensorType:
    """``(*a), (*b) -> (*a)``"""
    a, b = operand(elements), operand(test_elements)
    need_kernel(("bool", "complex"), elements=a)
    need_kernel(("bool", "complex"), test_elements=b)
    return TensorType(a.shape if isinstance(a, TensorType) else Shape(()), BOOL)
