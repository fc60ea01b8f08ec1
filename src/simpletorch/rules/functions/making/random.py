"""Random numbers: distributions from parameters, sampling, and in-place fills."""

from __future__ import annotations

from typing import Final

from simpletorch.rules.common.arguments import dim_or_unknown, dtype_argument
from simpletorch.rules.common.broadcasting import common_shape
from simpletorch.rules.common.conditions import need_at_least, need_min_rank, need_number, need_rank
from simpletorch.rules.common.dtypes import same_dtype
from simpletorch.rules.common.factory import device_argument, made, size_argument
from simpletorch.rules.common.pointwise import (
    ALL_BUT_FLOAT,
    COMPLEX_ONLY,
    INTEGRAL,
    is_number,
    need_kernel,
    operand,
    updated,
)
from simpletorch.rules.common.positions import of
from simpletorch.rules.core.cards import DRAWS, PLAIN, Card
from simpletorch.rules.core.dtype import DEFAULT_FLOAT, INT64
from simpletorch.rules.core.mismatch import Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.rules.functions.making.creation import need_fillable
from simpletorch.shapes import at_least


@rule("torch.normal", card=Card(random=DRAWS))
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
        need_kernel(INTEGRAL, mean=m)
    if isinstance(s, TensorType):
        need_kernel(COMPLEX_ONLY if first is m else ALL_BUT_FLOAT, std=s)
    assert isinstance(first, TensorType)
    return TensorType(shape, first.dtype, first.device)


@rule("torch.bernoulli", "Tensor.bernoulli", card=Card(random=DRAWS))
def bernoulli(input: TensorType, p: Value = None, *, generator: Value = None) -> TensorType:
    """``(*b) -> (*b)``"""
    need_kernel(ALL_BUT_FLOAT if p is None else COMPLEX_ONLY, input=input)
    return TensorType(input.shape, input.dtype)


@rule("torch.poisson", card=Card(random=DRAWS))
def poisson(input: TensorType, generator: Value = None) -> TensorType:
    """``(*b) -> (*b)``"""
    need_kernel(ALL_BUT_FLOAT, input=input)
    return TensorType(input.shape, input.dtype)


@rule("torch.binomial", card=Card(random=DRAWS))
def binomial(count: TensorType, prob: TensorType, generator: Value = None) -> TensorType:
    """``(*a), (*b) -> (*broadcast(a, b))``"""
    need_kernel(ALL_BUT_FLOAT, count=count, prob=prob)
    return TensorType(common_shape(count=count, prob=prob), same_dtype(("count", count), ("prob", prob)))


@rule("torch.multinomial", "Tensor.multinomial", card=Card(random=DRAWS))
def multinomial(
    input: TensorType, num_samples: Value, replacement: Value = False, *, generator: Value = None
) -> TensorType:
    """``(*b, n) -> (*b, num_samples)``, of at most one b"""
    need_kernel(ALL_BUT_FLOAT, input=input)
    need_rank("input", input, 1, 2)
    size = dim_or_unknown(num_samples)
    there = input.shape.dim(-1)
    need_at_least("num_samples", size, 1)
    if replacement is False and at_least(there, size) is False:
        raise Mismatch(
            f"num_samples is {size}, but input has only {there} to draw from",
            hint="replacement=True allows it",
            expected=there,
            got=size,
        )
    return TensorType(of(input.shape.drop_last(1), size), INT64)


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


def _register_fill(names: tuple[str, ...], refused: tuple[str, ...], card: Card = PLAIN) -> None:
    @rule(*names, card=card)
    def fill_randomly(input: TensorType, *numbers: Value, **options: Value) -> TensorType:
        """``(*b) -> (*b)``, in place"""
        need_kernel(refused, input=input)
        return input


for _name, _refused in _FILLS.items():
    _register_fill((f"Tensor.{_name}",), _refused, Card(random=DRAWS))
_register_fill(("Tensor.zero_", "torch.zero_"), ())


@rule("Tensor.bernoulli_", card=Card(random=DRAWS))
def bernoulli_(input: TensorType, p: Value = 0.5, *, generator: Value = None) -> TensorType:
    """``(*a), p (*b) -> (*a)``, in place"""
    need_kernel(COMPLEX_ONLY, input=input)
    return updated(input, TensorType(common_shape(input=input, p=operand(p)), input.dtype))


@rule("torch.fill")
def fill(input: TensorType, value: Value) -> TensorType:
    """``(*b), () -> (*b)``"""
    need_number("value", value)
    need_fillable(value, input.dtype)
    return TensorType(input.shape, input.dtype)


@rule("Tensor.fill_", "torch.fill_")
def fill_(input: TensorType, value: Value) -> TensorType:
    """``(*b), () -> (*b)``, in place"""
    return fill(input, value)


# -- torch.nn.init ----------------------------------------------------------------------------------------------------


def _register_initializers(names: str, *ranks: int, least: int = 0, card: Card = PLAIN) -> None:
    """Register what fills a tensor of these ranks, or of ``least`` dims, with numbers."""

    @rule(*(f"torch.nn.init.{name}" for name in names.split()), card=card)
    def initialize(tensor: TensorType, *numbers: Value, **options: Value) -> TensorType:
        """``(*b) -> (*b)``, in place"""
        if ranks:
            need_rank("tensor", tensor, *ranks)
        need_min_rank("tensor", tensor, least)
        return tensor


_drawn = Card(random=DRAWS)
_register_initializers("constant_ ones_ zeros_")
_register_initializers("uniform_ normal_ trunc_normal_", card=_drawn)
_names = "xavier_uniform_ xavier_normal_ kaiming_uniform_ kaiming_normal_ orthogonal_"
_register_initializers(_names, least=2, card=_drawn)
_register_initializers("eye_", 2)
_register_initializers("sparse_", 2, card=_drawn)
_register_initializers("dirac_", 3, 4, 5)
