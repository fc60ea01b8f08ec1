"""Arithmetic of two operands, tensors or Python numbers: functions, methods, in-place forms and operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from simpletorch.rules.common.broadcasting import common_shape
from simpletorch.rules.common.conditions import called
from simpletorch.rules.common.dtypes import float_dtype, number_dtype, result_dtype, same_dtype
from simpletorch.rules.common.pointwise import (
    ALL_BUT_FLOAT,
    ALL_BUT_INT,
    COMPLEX_ONLY,
    INTEGRAL,
    as_number,
    functions_and_methods,
    need_kernel,
    operand,
    updated,
)
from simpletorch.rules.core.cards import ELEMENTWISE, NEVER, OTHERS, SOMETHING, Card
from simpletorch.rules.core.dtype import BOOL, COMPLEX128, FLOAT64, DType
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import ANYTHING, Scalar, TensorType, Value

BinaryDType = Callable[[Value, Value], "DType | None"]
Binary = Callable[[Value, Value], TensorType]
Numbers = Literal["either", "other", "none"]

_NUMBERS_ONLY: Final = ("bool", "complex")  # what is refused: Bools and complex numbers


def _double(input: Value, other: Value) -> DType | None:
    found = result_dtype(input, other)
    if found is None or found.order is None:
        return None
    return COMPLEX128 if found.category == "complex" else FLOAT64


def binary(dtype: BinaryDType, refused: tuple[str, ...] = (), *, numbers: Numbers = "either") -> Binary:
    """The function of two operands whose result has the broadcast shape and this dtype.

    Args:
        dtype: of the two operands.
        refused: categories of dtypes that torch has no kernel for.
        numbers: which operand may be a Python number instead of a tensor.
    """

    def compute(input: Value, other: Value) -> TensorType:
        a, b = operand(input), operand(other)
        _need_tensors(numbers, a, b)
        shape = common_shape(input=a, other=b)
        need_kernel(refused, input=a, other=b)
        return TensorType(shape, dtype(a, b))

    return compute


def _need_tensors(allowed: Numbers, a: Value, b: Value) -> None:
    if a is ANYTHING or b is ANYTHING or (type(a) is TensorType and type(b) is TensorType):
        return
    tensors = isinstance(a, TensorType), isinstance(b, TensorType)
    if allowed == "either" and tensors == (False, False):
        raise Mismatch(
            "neither input nor other is a tensor", kind="dtype", hint="torch.tensor(...) makes one of a number"
        )
    for name, is_tensor, free in (("input", tensors[0], allowed == "either"), ("other", tensors[1], allowed != "none")):
        if not is_tensor and not free:
            raise Mismatch(
                f"{name} is a Python number, but it must be a tensor",
                kind="dtype",
                hint="torch.tensor(...) makes one of a number",
            )


def _need_low_alpha(alpha: Value, result: TensorType) -> None:
    """``alpha`` must not be of a higher category than the result."""
    if type(alpha) is int:  # as the default is
        return
    mine, theirs = number_dtype(alpha), result.dtype
    if mine is None or theirs is None or mine.order is None or theirs.order is None:
        return
    # `alpha_check` of ATen/native/BinaryOps.h: a Bool only for Bools, a float only for floats, but an int for Bools too
    too_high = mine.order > max(theirs.order, 1) or (mine == BOOL and theirs != BOOL)
    if too_high:
        raise Mismatch(
            f"alpha is a Python {mine.category}, but the result is {theirs}", kind="dtype", expected=theirs, got=mine
        )


def register(
    compute: Binary,
    names: tuple[str, ...],
    *,
    reflected: tuple[str, ...] = (),
    in_place: tuple[str, ...] = (),
    card: Card = ELEMENTWISE,
) -> None:
    """Register a function of two operands, its ``__radd__`` forms and its in-place forms."""

    @rule(*names, card=card)
    def forward(input: Value, other: Value, *, alpha: Value = 1, **options: Value) -> TensorType:
        """``(*a), (*b) -> (*broadcast(a, b))``"""
        result = compute(input, other)
        _need_low_alpha(alpha, result)
        return result

    if reflected:

        @rule(*reflected, card=card)
        def backward(other: Value, input: Value, **options: Value) -> TensorType:
            """``(*b), (*a) -> (*broadcast(a, b))``, the operands exchanged"""
            return compute(input, other)

    if in_place:

        @rule(*in_place, card=card)
        def forward_(input: TensorType, other: Value, *, alpha: Value = 1, **options: Value) -> TensorType:
            """``(*a), (*b) -> (*a)``, in place: b must broadcast to a"""
            return updated(input, forward(input, other, alpha=alpha))


def operators(*names: str) -> tuple[str, ...]:
    """``"add"`` as ``Tensor.__add__``."""
    return tuple(f"Tensor.__{n}__" for n in names)


def _register_table() -> None:
    for compute, names, operator in (
        (binary(result_dtype), "add", "add"),
        (binary(result_dtype, _NUMBERS_ONLY), "remainder", "mod"),
        (binary(result_dtype, _NUMBERS_ONLY, numbers="other"), "fmod", ""),
        (binary(result_dtype, _NUMBERS_ONLY), "floor_divide", "floordiv"),
        (binary(float_dtype, COMPLEX_ONLY), "xlogy", ""),
        (binary(float_dtype, COMPLEX_ONLY, numbers="other"), "copysign", ""),
        (binary(float_dtype, COMPLEX_ONLY, numbers="none"), "atan2 arctan2", ""),
        (binary(result_dtype, ALL_BUT_FLOAT, numbers="none"), "hypot nextafter", ""),
        (binary(result_dtype, ALL_BUT_INT, numbers="none"), "gcd lcm", ""),
        (binary(float_dtype, ALL_BUT_FLOAT, numbers="none"), "igamma igammac", ""),
        (binary(float_dtype, numbers="none"), "ldexp", ""),
        (subtract, "sub subtract", "sub"),
    ):
        register(
            compute,
            (*functions_and_methods(names), *(operators(operator) if operator else ())),
            reflected=operators(f"r{operator}") if operator else (),
            in_place=(
                *functions_and_methods(names, in_place=True),
                *(f"torch.{n}_" for n in names.split() if n in ("xlogy", "ldexp", "gcd", "lcm")),
                *(operators(f"i{operator}") if operator else ()),
            ),
        )
    for compute, names in (
        (binary(result_dtype, COMPLEX_ONLY, numbers="none"), "maximum minimum fmax fmin"),
        (binary(result_dtype, INTEGRAL, numbers="none"), "logaddexp"),
        (binary(result_dtype, ALL_BUT_FLOAT, numbers="none"), "logaddexp2"),
    ):
        register(compute, functions_and_methods(names))
    register(
        binary(result_dtype),
        (*functions_and_methods("mul multiply"), *operators("mul")),
        reflected=operators("rmul"),
        in_place=(*functions_and_methods("mul multiply", in_place=True), *operators("imul")),
        card=Card(saves=OTHERS, by_element=True),
    )
    register(binary(float_dtype, COMPLEX_ONLY), _special("xlogy xlog1py zeta"))
    register(binary(float_dtype, COMPLEX_ONLY), _special(_POLYNOMIALS), card=Card(gradient=NEVER, by_element=True))
    register(binary(float_dtype, ALL_BUT_FLOAT, numbers="none"), _special("gammainc gammaincc"))
    register(_reflected_subtract, ("torch.rsub",))


def subtract(input: Value, other: Value) -> TensorType:
    """Subtraction, which torch refuses for Bools, Python's included."""
    a, b = operand(input), operand(other)
    shape = common_shape(input=a, other=b)
    for name, value in (("input", a), ("other", b)):
        if number_dtype(value) == BOOL:
            raise Mismatch(
                f"{name} is Bool, which can't be subtracted",
                kind="dtype",
                hint="~mask negates and a ^ b compares; otherwise cast with .int() or .float()",
                got=BOOL,
            )
    return TensorType(shape, result_dtype(a, b))


def _reflected_subtract(input: Value, other: Value) -> TensorType:
    _need_tensors("other", input, other)
    return subtract(other, input)


def power(input: Value, exponent: Value) -> TensorType:
    """Powers: ints have none that are negative."""
    a, b = operand(input), operand(exponent)
    _need_tensors("either", a, b)
    shape = common_shape(input=a, exponent=b)
    dtype = result_dtype(a, b)
    if isinstance(a, TensorType) and isinstance(b, int) and b < 0 and dtype is not None and dtype.category == "int":
        raise Mismatch(
            f"input is {dtype} and exponent is {b}; integers have no negative powers",
            kind="dtype",
            hint="input.float()",
            got=dtype,
        )
    # two Bools have no dtype that the CPU, CUDA and meta agree on
    return TensorType(shape, None if dtype == BOOL else dtype)


@rule(*functions_and_methods("pow"), "Tensor.__pow__", card=Card(saves=SOMETHING, by_element=True))
def pow(input: Value, exponent: Value) -> TensorType:
    """``(*a), (*b) -> (*broadcast(a, b))``"""
    return power(input, exponent)


@rule("Tensor.__rpow__", card=ELEMENTWISE)
def rpow(exponent: Value, input: Value) -> TensorType:
    """``(*b), (*a) -> (*broadcast(a, b))``, the operands exchanged"""
    return power(input, exponent)


@rule("Tensor.pow_", "Tensor.__ipow__", card=ELEMENTWISE)
def pow_(input: TensorType, exponent: Value) -> TensorType:
    """``(*a), (*b) -> (*a)``, in place: b must broadcast to a"""
    return updated(input, power(input, exponent))


@rule(*functions_and_methods("float_power"), card=ELEMENTWISE)
def float_power(input: Value, exponent: Value) -> TensorType:
    """``(*a), (*b) -> (*broadcast(a, b))`` in Float64 or Complex128"""
    with called(other="exponent"):
        return binary(_double)(input, exponent)


def _special(names: str) -> tuple[str, ...]:
    return tuple(f"torch.special.{n}" for n in names.split())


_POLYNOMIALS: Final = " ".join(
    f"{kind}"
    for kind in (
        *(f"{shift}chebyshev_polynomial_{letter}" for shift in ("", "shifted_") for letter in "tuvw"),
        "hermite_polynomial_h",
        "hermite_polynomial_he",
        "laguerre_polynomial_l",
        "legendre_polynomial_p",
    )
)
_register_table()


def _divide(input: Value, other: Value, rounding_mode: Value) -> TensorType:
    a, b = operand(input), operand(other)
    shape = common_shape(input=a, other=b)
    if rounding_mode is None:
        return TensorType(shape, float_dtype(a, b))
    if isinstance(rounding_mode, str):
        need_kernel(_NUMBERS_ONLY, input=a, other=b)
        return TensorType(shape, result_dtype(a, b))
    exact, rounded = float_dtype(a, b), result_dtype(a, b)
    return TensorType(shape, exact if exact == rounded else None)


@rule(*functions_and_methods("div divide true_divide"), "Tensor.__truediv__", "Tensor.__div__", card=ELEMENTWISE)
def div(input: Value, other: Value, *, rounding_mode: Value = None) -> TensorType:
    """``(*a), (*b) -> (*broadcast(a, b))``; ints give floats unless they are rounded"""
    return _divide(input, other, rounding_mode)


@rule("Tensor.__rtruediv__", "Tensor.__rdiv__", card=ELEMENTWISE)
def rdiv(other: TensorType, input: Value) -> TensorType:
    """``(*b), (*a) -> (*broadcast(a, b))``, the operands exchanged"""
    reciprocal = other.with_dtype(float_dtype(other))  # torch computes 1 / other first
    return _divide(input, reciprocal, None)


@rule(
    *functions_and_methods("div divide true_divide", in_place=True),
    "Tensor.__itruediv__",
    "Tensor.__idiv__",
    card=ELEMENTWISE,
)
def div_(input: TensorType, other: Value, *, rounding_mode: Value = None) -> TensorType:
    """``(*a), (*b) -> (*a)``, in place: b must broadcast to a"""
    return updated(input, _divide(input, other, rounding_mode))


@rule("Tensor.float_power_", card=ELEMENTWISE)
def float_power_(input: TensorType, exponent: Value) -> TensorType:
    """``(*a), (*b) -> (*a)``, in place: b must broadcast to a, which must be Float64 or Complex128"""
    result = float_power(input, exponent)
    found, wanted = input.dtype, result.dtype
    if found is not None and found.is_concrete and wanted is not None and found != wanted:
        raise Mismatch(
            f"input is {found}, but the result is {wanted}",
            kind="dtype",
            hint="input.double()",
            expected=wanted,
            got=found,
        )
    return updated(input, result)


@rule("torch.heaviside", "Tensor.heaviside", card=ELEMENTWISE)
def heaviside(input: TensorType, values: TensorType) -> TensorType:
    """``(*a), (*b) -> (*broadcast(a, b))``"""
    dtype = same_dtype(("input", input), ("values", values))
    need_kernel(COMPLEX_ONLY, input=input, values=values)
    return TensorType(common_shape(input=input, values=values), dtype)


@rule("Tensor.heaviside_", card=ELEMENTWISE)
def heaviside_(input: TensorType, values: TensorType) -> TensorType:
    """``(*a), (*b) -> (*a)``, in place"""
    return updated(input, heaviside(input, values))


def _clamped(input: Value, **bounds: Value) -> TensorType:
    input = operand(input)
    if not isinstance(input, TensorType):
        raise Mismatch("input is a Python number, but it must be a tensor", kind="dtype")
    given = {name: operand(v) for name, v in bounds.items() if v is not None}
    if len({isinstance(v, TensorType) for v in given.values()}) == 2:
        return _clamped_by_numbers(input, given)
    need_kernel(COMPLEX_ONLY, input=input, **given)
    return TensorType(common_shape(input=input, **given), result_dtype(input, *given.values()))


def _clamped_by_numbers(input: TensorType, bounds: dict[str, Value]) -> TensorType:
    """With one bound a number, torch takes the other for a number as well, which a 0-dim tensor is."""
    numbers: list[Value] = []
    for name, bound in bounds.items():
        if isinstance(bound, TensorType) and bound.shape.min_rank > 0:
            raise Mismatch(
                f"{name} is a tensor {bound.shape}, but the other bound is a Python number; both must be of one kind",
                got=bound.shape,
            )
        numbers.append(as_number(bound) if isinstance(bound, TensorType) else bound)
    need_kernel(COMPLEX_ONLY, input=input)
    if Scalar("complex") in numbers:
        raise CannotTell  # torch asks for the number's value
    return TensorType(input.shape, result_dtype(input, *numbers))


@rule(*functions_and_methods("clamp clip"), card=ELEMENTWISE)
def clamp(input: TensorType, min: Value = None, max: Value = None) -> TensorType:
    """``(*a), min (*b), max (*c) -> (*broadcast(a, b, c))``"""
    return _clamped(input, min=min, max=max)


@rule(*functions_and_methods("clamp clip", in_place=True), "torch.clamp_", "torch.clip_", card=ELEMENTWISE)
def clamp_(input: TensorType, min: Value = None, max: Value = None) -> TensorType:
    """``(*a), min (*b), max (*c) -> (*a)``, in place"""
    return updated(input, _clamped(input, min=min, max=max))


@rule(*functions_and_methods("clamp_min"), card=ELEMENTWISE)
def clamp_min(input: Value, min: Value) -> TensorType:
    """``(*a), (*b) -> (*broadcast(a, b))``"""
    return _clamped(input, min=min)


@rule(*functions_and_methods("clamp_max"), card=ELEMENTWISE)
def clamp_max(input: Value, max: Value) -> TensorType:
    """``(*a), (*b) -> (*broadcast(a, b))``"""
    return _clamped(input, max=max)


@rule("Tensor.clamp_min_", "torch.clamp_min_", card=ELEMENTWISE)
def clamp_min_(input: TensorType, min: Value) -> TensorType:
    """``(*a), (*b) -> (*a)``, in place"""
    return updated(input, _clamped(input, min=min))


@rule("Tensor.clamp_max_", "torch.clamp_max_", card=ELEMENTWISE)
def clamp_max_(input: TensorType, max: Value) -> TensorType:
    """``(*a), (*b) -> (*a)``, in place"""
    return updated(input, _clamped(input, max=max))
