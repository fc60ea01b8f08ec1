"""Random numbers: distributions from parameters, sampling, and in-place fills."""

from __future__ import annotations

from typing import Final

from simpletorch.rules.arguments import replace_dim, same_dtype
from simpletorch.rules.creation import check_fill
from simpletorch.rules.dtype import DEFAULT_FLOAT, INT64
from simpletorch.rules.factory import device_argument, made, size_argument
from simpletorch.rules.mismatch import Mismatch
from simpletorch.rules.pointwise import (
    ALL_BUT_FLOAT,
    COMPLEX_ONLY,
    INTEGRAL,
    check_dtypes,
    common_shape,
    dtype_argument,
    is_number,
    operand,
    updated,
)
from simpletorch.rules.registry import rule
from simpletorch.rules.values import TensorType, Value
from simpletorch.shapes import UNKNOWN, Dim, Expr, Unknown, at_least


@rule("torch.normal", moves=True)
def normal(
    mean: Value,
    std: Value = 1.0,
    size: Value = None,
    *,
    generator: Value = None,
    dtype: Value = None,
    device: Value = None,
    requires_grad: Value = False,
    **options: Value,
) -> TensorType:
    """``mean (*a), std (*b) -> (*broadcast(a, b))``; ``mean, std, size -> (*size)`` of numbers"""
    if size is not None or (is_number(mean) and is_number(std)):
        found = dtype_argument(dtype, DEFAULT_FLOAT)
        return made(size_argument((size,)), found, device_argument(device), requires_grad)
    m, s = operand(mean), operand(std)
    shape = common_shape(mean=m, std=s)
    first = m if isinstance(m, TensorType) else s
    if isinstance(m, TensorType):
        check_dtypes(INTEGRAL, mean=m)
    if isinstance(s, TensorType):
        check_dtypes(COMPLEX_ONLY if first is m else ALL_BUT_FLOAT, std=s)
    assert isinstance(first, TensorType)
    return TensorType(shape, first.dtype, first.device)


@rule("torch.bernoulli", "Tensor.bernoulli")
def bernoulli(input: TensorType, p: Value = None, *, generator: Value = None) -> TensorType:
    """``(*b) -> (*b)``"""
    check_dtypes(ALL_BUT_FLOAT if p is None else COMPLEX_ONLY, input=input)
    return TensorType(input.shape, input.dtype)


@rule("torch.poisson")
def poisson(input: TensorType, generator: Value = None) -> TensorType:
    """``(*b) -> (*b)``"""
    check_dtypes(ALL_BUT_FLOAT, input=input)
    return TensorType(input.shape, input.dtype)


@rule("torch.binomial")
def binomial(count: TensorType, prob: TensorType, generator: Value = None) -> TensorType:
    """``(*a), (*b) -> (*broadcast(a, b))``"""
    check_dtypes(ALL_BUT_FLOAT, count=count, prob=prob)
    return TensorType(common_shape(count=count, prob=prob), same_dtype(("count", count), ("prob", prob)))


@rule("torch.multinomial", "Tensor.multinomial")
def multinomial(
    input: TensorType, num_samples: Value, replacement: Value = False, *, generator: Value = None
) -> TensorType:
    """``(*b, n) -> (*b, num_samples)``, of at most one b"""
    check_dtypes(ALL_BUT_FLOAT, input=input)
    if input.shape.rank == 0 or input.shape.min_rank > 2:
        raise Mismatch(f"input must have 1 or 2 dims, but it is {input.shape}", expected=(1, 2), got=input.shape)
    size: Dim = num_samples if isinstance(num_samples, int | Expr | Unknown) else UNKNOWN
    there = input.shape.dim(-1)
    if at_least(size, 1) is False:
        raise Mismatch(f"num_samples is {size}, but it must be at least 1", expected=1, got=size)
    if replacement is False and at_least(there, size) is False:
        raise Mismatch(
            f"num_samples is {size}, but input has only {there} to draw from",
            hint="replacement=True allows it",
            expected=there,
            got=size,
        )
    return TensorType(replace_dim(input.shape, -1, size), INT64)


# -- in place ---------------------------------------------------------------------------------------------------------
_FILLS: Final = {
    "uniform_": INTEGRAL,
    "normal_": INTEGRAL,
    "exponential_": ALL_BUT_FLOAT,
    "cauchy_": ALL_BUT_FLOAT,
    "log_normal_": ALL_BUT_FLOAT,
    "geometric_": ("bool", "complex"),
    "random_": COMPLEX_ONLY,
}


def _register_fill(names: tuple[str, ...], refused: tuple[str, ...]) -> None:
    @rule(*names)
    def fill_randomly(input: TensorType, *numbers: Value, **options: Value) -> TensorType:
        """``(*b) -> (*b)``, in place"""
        check_dtypes(refused, input=input)
        return input


for _name, _refused in _FILLS.items():
    _register_fill((f"Tensor.{_name}",), _refused)
_register_fill(("Tensor.zero_", "torch.zero_"), ())


@rule("Tensor.bernoulli_")
def bernoulli_(input: TensorType, p: Value = 0.5, *, generator: Value = None) -> TensorType:
    """``(*a), p (*b) -> (*a)``, in place"""
    check_dtypes(COMPLEX_ONLY, input=input)
    return updated(input, TensorType(common_shape(input=input, p=operand(p)), input.dtype))


def _check_value(value: Value) -> None:
    if isinstance(value, TensorType) and value.shape.min_rank > 0:
        raise Mismatch(f"value must be a number or 0-dim, but it is {value.shape}", got=value.shape)


@rule("torch.fill")
def fill(input: TensorType, value: Value) -> TensorType:
    """``(*b), () -> (*b)``"""
    _check_value(value)
    check_fill(value, input.dtype)
    return TensorType(input.shape, input.dtype)


@rule("Tensor.fill_", "torch.fill_")
def fill_(input: TensorType, value: Value) -> TensorType:
    """``(*b), () -> (*b)``, in place"""
    return fill(input, value)


# -- torch.nn.init ----------------------------------------------------------------------------------------------------
_INITIALIZERS: Final = {
    "uniform_ normal_ trunc_normal_ constant_ ones_ zeros_": (0, None),
    "xavier_uniform_ xavier_normal_ kaiming_uniform_ kaiming_normal_ orthogonal_": (2, None),
    "eye_ sparse_": (2, 2),
    "dirac_": (3, 5),
}


def _register_initializer(name: str, least: int, most: int | None) -> None:
    @rule(f"torch.nn.init.{name}")
    def initialize(tensor: TensorType, *numbers: Value, **options: Value) -> TensorType:
        """``(*b) -> (*b)``, in place"""
        rank = tensor.shape.rank
        if (rank is not None and rank < least) or (most is not None and tensor.shape.min_rank > most):
            wanted = f"{least}" if most == least else f"at least {least}" if most is None else f"{least} to {most}"
            raise Mismatch(f"tensor must have {wanted} dims, but it is {tensor.shape}", got=tensor.shape)
        return tensor


for _names, (_least, _most) in _INITIALIZERS.items():
    for _name in _names.split():
        _register_initializer(_name, _least, _most)
