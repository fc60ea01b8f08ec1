"""Element-wise operations of one tensor: the shape stays, the dtype follows one of a few patterns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from simpletorch.rules.common.dtypes import float_dtype, real_dtype
from simpletorch.rules.common.pointwise import (
    ALL_BUT_FLOAT,
    COMPLEX_ONLY,
    INEXACT,
    functions_and_methods,
    need_kernel,
    updated,
)
from simpletorch.rules.core.cards import ELEMENTWISE, KEPT, MAYBE, NEVER, OPERAND, PLAIN, RESULT, VIEW, Card
from simpletorch.rules.core.dtype import BOOL, INT32, INT64, DType
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import Named, TensorType, Value

DTypeRule = Callable[[TensorType], "DType | None"]


def _same(input: TensorType) -> DType | None:
    return input.dtype


def _floating(input: TensorType) -> DType | None:
    return float_dtype(input)


def _real(input: TensorType) -> DType | None:
    return real_dtype(input.dtype)


def _real_floating(input: TensorType) -> DType | None:
    return real_dtype(float_dtype(input))


def _boolean(input: TensorType) -> DType | None:
    return BOOL


def _counted(input: TensorType) -> DType | None:
    """A power of Bools counts: Int64."""
    return INT64 if input.dtype == BOOL else input.dtype


def _function(
    names: tuple[str, ...], dtype: DTypeRule, refused: tuple[str, ...] = (), card: Card = ELEMENTWISE
) -> None:
    """Register a function of one tensor whose other arguments are numbers."""

    @rule(*names, card=card)
    def unary(input: TensorType, *numbers: Value, **options: Value) -> TensorType:
        """``(*b) -> (*b)``"""
        need_kernel(refused, input=input)
        return TensorType(input.shape, dtype(input))


def _in_place(
    names: tuple[str, ...], dtype: DTypeRule, refused: tuple[str, ...] = (), card: Card = ELEMENTWISE
) -> None:
    """Register the in-place form: the result's dtype must fit the tensor."""

    @rule(*names, card=card)
    def unary_(input: TensorType, *numbers: Value, **options: Value) -> TensorType:
        """``(*b) -> (*b)``, in place"""
        need_kernel(refused, input=input)
        return updated(input, TensorType(input.shape, dtype(input)))


# Operations that make floats of ints, and take complex numbers too.
_TRANSCENDENTAL: Final = (
    "acos arccos acosh arccosh asin arcsin asinh arcsinh atan arctan atanh arctanh cos cosh "
    "log log10 log1p log2 sin sinc sinh"
)
_BY_THEIR_RESULT: Final = "exp exp2 expm1 reciprocal rsqrt sigmoid sqrt tan tanh"  # as their derivatives are computed
_REAL_TRANSCENDENTAL: Final = "digamma erf erfc erfinv lgamma logit i0"
_SPECIAL: Final = "entr erf erfc erfcx erfinv digamma psi gammaln i0 i0e i1 i1e ndtr ndtri log_ndtr logit"
_WITHOUT_GRADIENT: Final = (
    "airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 modified_bessel_i0 modified_bessel_i1 modified_bessel_k0 "
    "modified_bessel_k1 scaled_modified_bessel_k0 scaled_modified_bessel_k1 spherical_bessel_j0"
)
_ROUNDING: Final = "ceil floor trunc fix round"

# Every in-place method has its function form as well, but not every torch.exp has a torch.exp_.
_TORCH_IN_PLACE: Final = (
    "abs acos arccos acosh arccosh asin arcsin asinh arcsinh atan arctan atanh arctanh ceil conj_physical cos cosh "
    "deg2rad erf erfc exp exp2 expm1 fix floor frac i0 log log10 log1p log2 logit nan_to_num neg negative rad2deg "
    "reciprocal round rsqrt sigmoid sin sinc sinh sqrt square tan tanh trunc"
)


def _both(names: str, dtype: DTypeRule, refused: tuple[str, ...] = (), card: Card = ELEMENTWISE) -> None:
    """Register torch.x, Tensor.x, Tensor.x_ and, where torch has it, torch.x_."""
    _function(functions_and_methods(names), dtype, refused, card)
    functions = tuple(f"torch.{n}_" for n in names.split() if n in _TORCH_IN_PLACE.split())
    _in_place((*functions_and_methods(names, in_place=True), *functions), dtype, refused, card)


def _special(names: str) -> tuple[str, ...]:
    return tuple(f"torch.special.{n}" for n in names.split())


_both(_TRANSCENDENTAL, _floating, card=Card(saves=OPERAND, by_element=True))
_both(_BY_THEIR_RESULT, _floating, card=Card(saves=RESULT, by_element=True))
_both("deg2rad rad2deg", _floating, COMPLEX_ONLY)
_both(_REAL_TRANSCENDENTAL, _floating, COMPLEX_ONLY, Card(saves=OPERAND, by_element=True))
_function(
    ("torch.nn.functional.sigmoid", "torch.nn.functional.tanh"), _floating, card=Card(saves=RESULT, by_element=True)
)
_function(_special("exp2 expit expm1"), _floating, card=Card(saves=RESULT, by_element=True))
_function(_special("log1p sinc"), _floating, card=Card(saves=OPERAND, by_element=True))
_function(_special(_SPECIAL), _floating, COMPLEX_ONLY)
_function(_special(_WITHOUT_GRADIENT), _floating, COMPLEX_ONLY, Card(gradient=NEVER, by_element=True))
_function(functions_and_methods("angle"), _real_floating)
_function((*functions_and_methods("abs absolute"), "Tensor.__abs__"), _real, card=Card(saves=OPERAND, by_element=True))
# of complex numbers the result is real and has no room in the tensor: torch refuses them
_in_place(("Tensor.abs_", "Tensor.absolute_", "torch.abs_"), _same, COMPLEX_ONLY)
_both(_ROUNDING, _same, ("bool", "complex"))
_function(_special("round"), _same, ("bool", "complex"))
_both("frac", _same, ALL_BUT_FLOAT)
_both("neg negative", _same, ("bool",))
_function((*functions_and_methods("positive"), "Tensor.__pos__"), _same, ("bool",), Card(MAYBE, KEPT))
_function(("Tensor.__neg__",), _same, ("bool",))
_both("square", _counted, card=Card(saves=OPERAND, by_element=True))
_both("sgn", _same)
_both("sign", _same, COMPLEX_ONLY)
_both("nan_to_num", _same)
_both("conj_physical", _same, card=Card(MAYBE))
_function(functions_and_methods("conj"), _same, card=Card(MAYBE))
_function(functions_and_methods("resolve_conj resolve_neg"), _same, card=Card(MAYBE, KEPT))
_function((*functions_and_methods("bitwise_not"), "Tensor.__invert__"), _same, INEXACT)
_in_place(("Tensor.bitwise_not_",), _same, INEXACT)
_function(functions_and_methods("isfinite isinf isnan isreal logical_not"), _boolean)
_in_place(("Tensor.logical_not_",), _same)
_function(functions_and_methods("isneginf isposinf signbit"), _boolean, COMPLEX_ONLY)
_both("mvlgamma", _floating, ("bool", "complex"), PLAIN)
_function(_special("multigammaln"), _floating, ("bool", "complex"), PLAIN)
_in_place(("Tensor.polygamma_",), _floating, COMPLEX_ONLY)


@rule("torch.polygamma", "torch.special.polygamma")
def polygamma(n: Value, input: TensorType) -> TensorType:
    """``(*b) -> (*b)``"""
    need_kernel(COMPLEX_ONLY, input=input)
    return TensorType(input.shape, _floating(input))


@rule("Tensor.polygamma")
def polygamma_method(input: TensorType, n: Value) -> TensorType:
    """``(*b) -> (*b)``"""
    return polygamma(n, input)


@rule("torch.frexp", "Tensor.frexp")
def frexp(input: TensorType) -> Named:
    """``(*b) -> mantissa (*b), exponent (*b)``"""
    need_kernel(ALL_BUT_FLOAT, input=input)
    exponent = TensorType(input.shape, INT32)
    return Named("torch.return_types.frexp", (("mantissa", input), ("exponent", exponent)))


@rule("torch.real", "Tensor.real", card=Card(MAYBE))
def real(input: TensorType) -> TensorType:
    """``(*b) -> (*b)``"""
    return TensorType(input.shape, _real(input))


@rule("torch.imag", "Tensor.imag", card=Card(VIEW))
def imag(input: TensorType) -> TensorType:
    """``(*b) complex -> (*b)``"""
    need_kernel(("bool", "int", "float"), input=input)
    return TensorType(input.shape, _real(input))
