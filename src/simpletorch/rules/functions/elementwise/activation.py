"""Activations as functions: relu and its kin, softmax, glu, prelu, and dropout."""

from __future__ import annotations

from typing import Final

from simpletorch.rules.common.arguments import dtype_argument
from simpletorch.rules.common.conditions import need_max_rank, need_min_rank, need_rank
from simpletorch.rules.common.dtypes import float_dtype, same_dtype
from simpletorch.rules.common.pointwise import ALL_BUT_FLOAT, INTEGRAL, need_kernel
from simpletorch.rules.common.positions import item_at, need_axes, position, replaced, unknown_dims
from simpletorch.rules.core.cards import DRAWS, DROPS, MAYBE, OPERAND, PLAIN, RESULT, Card
from simpletorch.rules.core.dtype import BOOL
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.shapes import Dim, Shape, equal

# Activations of each element by itself, by the categories of dtypes that torch has no kernel for.
_BY_REFUSED: Final = {
    ("bool", "complex"): "relu relu6 threshold hardtanh",
    ALL_BUT_FLOAT: (
        "elu selu celu leaky_relu rrelu gelu logsigmoid hardshrink softplus softshrink hardsigmoid mish hardswish"
    ),
    INTEGRAL: "silu",
}
REFUSED: Final = {name: refused for refused, names in _BY_REFUSED.items() for name in names.split()}

# Where else than in torch.nn.functional they are found, and which have an in-place form of their own.
_IN_TORCH: Final = "relu relu_ selu selu_ celu celu_ rrelu rrelu_ hardshrink threshold threshold_"
_IN_TENSOR: Final = "relu relu_ hardshrink"
_IN_PLACE: Final = "relu elu selu celu leaky_relu rrelu hardtanh threshold"


def _spellings(name: str) -> tuple[str, ...]:
    """Every public name of an activation, in-place forms included."""
    own = (name, f"{name}_") if name in _IN_PLACE.split() else (name,)
    found = [f"torch.nn.functional.{n}" for n in own]
    found += [f"torch.{n}" for n in own if n in _IN_TORCH.split()]
    found += [f"Tensor.{n}" for n in own if n in _IN_TENSOR.split()]
    return tuple(found)


def same_shape(name: str, input: TensorType) -> TensorType:
    """``(*b) -> (*b)``, for the activation of this name."""
    need_kernel(REFUSED[name], input=input)
    return TensorType(input.shape, input.dtype)


_BY_THEIR_OPERAND: Final = "elu gelu hardshrink hardswish hardtanh leaky_relu logsigmoid selu silu softplus softshrink"
_CARDS: Final = {
    "rrelu": Card(random=DROPS),
    "relu": Card(saves=RESULT),
    **dict.fromkeys(_BY_THEIR_OPERAND.split(), Card(saves=OPERAND)),
}


def _register(name: str) -> None:
    @rule(*_spellings(name), card=_CARDS.get(name, PLAIN))
    def activation(input: TensorType, *numbers: Value, **options: Value) -> TensorType:
        """``(*b) -> (*b)``"""
        return same_shape(name, input)


for _name in REFUSED:
    _register(_name)


@rule("torch.nn.functional.softsign")
def softsign(input: TensorType) -> TensorType:
    """``(*b) -> (*b)``"""
    return TensorType(input.shape, float_dtype(input))


@rule("torch.nn.functional.tanhshrink")
def tanhshrink(input: TensorType) -> TensorType:
    """``(*b) -> (*b)``"""
    need_kernel(("bool",), input=input)
    return TensorType(input.shape, float_dtype(input))


def softmax(input: TensorType, dim: Value, dtype: Value) -> TensorType:
    """``(*b) -> (*b)``: along one dim, in floats only; ``dtype`` casts the input first."""
    need_axes(dim, input.shape)
    result = TensorType(input.shape, dtype_argument(dtype, input.dtype))
    need_kernel(ALL_BUT_FLOAT, input=result)
    return result


@rule(*(f"torch.nn.functional.{n}" for n in ("softmax", "log_softmax")), card=Card(saves=RESULT))
def functional_softmax(input: TensorType, dim: Value = None, _stacklevel: Value = 3, dtype: Value = None) -> TensorType:
    """``(*b) -> (*b)``"""
    return softmax(input, dim, dtype)


@rule("torch.nn.functional.softmin")
def softmin(input: TensorType, dim: Value = None, _stacklevel: Value = 3, dtype: Value = None) -> TensorType:
    """``(*b) -> (*b)``"""
    need_kernel(("bool",), input=input)  # it begins with -input
    return softmax(input, dim, dtype)


@rule(
    *(f"{place}.{n}" for place in ("torch", "Tensor", "torch.special") for n in ("softmax", "log_softmax")),
    card=Card(saves=RESULT),
)
def torch_softmax(input: TensorType, dim: Value, dtype: Value = None) -> TensorType:
    """``(*b) -> (*b)``"""
    return softmax(input, dim, dtype)


@rule("torch.nn.functional.gumbel_softmax", card=Card(random=DRAWS))
def gumbel_softmax(
    logits: TensorType, tau: Value = 1, hard: Value = False, eps: Value = 1e-10, dim: Value = -1
) -> TensorType:
    """``(*b) -> (*b)``"""
    need_axes(dim, logits.shape)
    need_kernel(ALL_BUT_FLOAT, logits=logits)
    return TensorType(logits.shape, logits.dtype)


@rule("torch.nn.functional.glu")
def glu(input: TensorType, dim: Value = -1) -> TensorType:
    """``(*a, 2*n, *b) -> (*a, n, *b)``"""
    need_kernel(ALL_BUT_FLOAT, input=input)
    need_min_rank("input", input, 1)
    try:
        shape, at = position(dim, input.shape)
    except CannotTell:
        return TensorType(unknown_dims(input.shape), input.dtype)
    size = item_at(shape, at)
    if equal(size % 2, 0) is False:
        raise Mismatch(f"dim {dim} of input is {size}, which can't be halved", got=size)
    return TensorType(replaced(shape, at, size // 2), input.dtype)


def _channels(shape: Shape) -> Dim | None:
    """The dim that prelu takes for channels: the second one; a vector has one channel."""
    if shape.rank == 1:
        return 1
    return shape.dim(1) if len(shape.head) >= 2 else None


@rule("torch.prelu", "Tensor.prelu", "torch.nn.functional.prelu")
def prelu(input: TensorType, weight: TensorType) -> TensorType:
    """``(b, c, *), weight (c) or (1) -> (b, c, *)``"""
    need_max_rank("weight", weight, 1)
    need_parameters(input, weight.shape.dim(0) if weight.shape.rank == 1 else 1, "weight")
    dtype = same_dtype(("input", input), ("weight", weight))
    need_kernel(ALL_BUT_FLOAT, input=input)
    return TensorType(input.shape, dtype)


def need_parameters(input: TensorType, count: Dim, owner: str) -> None:
    """The weights must be one, or one for each channel.

    Raises:
        Mismatch: they are neither.
    """
    if equal(count, 1) is True:
        return
    need_min_rank("input", input, 1)
    channels = _channels(input.shape)
    if channels is not None and equal(count, channels) is False:
        raise Mismatch(
            f"{owner} has {count} parameters, but input {input.shape} has {channels} channels",
            hint=f"{channels} or 1 would fit",
            expected=channels,
            got=count,
        )


# -- dropout ----------------------------------------------------------------------------------------------------------
def _dropped(input: TensorType, p: Value, training: Value, *, least: int = 0) -> TensorType:
    active = training is True and isinstance(p, int | float) and 0 < p < 1  # 1 multiplies by 0, without noise
    if active and 0 not in input.shape.items:
        need_kernel(INTEGRAL, input=input)
        need_min_rank("input", input, least)
    return TensorType(input.shape, input.dtype)


@rule("torch.nn.functional.dropout", card=Card(MAYBE, random=DROPS))
def dropout(input: TensorType, p: Value = 0.5, training: Value = True, inplace: Value = False) -> TensorType:
    """``(*b) -> (*b)``"""
    return _dropped(input, p, training)


@rule("torch.dropout", "torch.dropout_", "torch.alpha_dropout", "torch.alpha_dropout_", card=Card(MAYBE, random=DROPS))
def torch_dropout(input: TensorType, p: Value, train: Value) -> TensorType:
    """``(*b) -> (*b)``"""
    return _dropped(input, p, train)


@rule(
    "torch.feature_dropout",
    "torch.feature_dropout_",
    "torch.feature_alpha_dropout",
    "torch.feature_alpha_dropout_",
    card=Card(MAYBE, random=DROPS),
)
def torch_feature_dropout(input: TensorType, p: Value, train: Value) -> TensorType:
    """``(b, c, *s) -> (b, c, *s)``"""
    return _dropped(input, p, train, least=2)


@rule("torch.nn.functional.alpha_dropout", card=Card(MAYBE, random=DROPS))
def alpha_dropout(input: TensorType, p: Value = 0.5, training: Value = False, inplace: Value = False) -> TensorType:
    """``(*b) -> (*b)``"""
    return _dropped(input, p, training)


@rule("torch.nn.functional.feature_alpha_dropout", card=Card(MAYBE, random=DROPS))
def feature_alpha_dropout(
    input: TensorType, p: Value = 0.5, training: Value = False, inplace: Value = False
) -> TensorType:
    """``(b, c, *s) -> (b, c, *s)``"""
    return _dropped(input, p, training, least=2)


@rule("torch.nn.functional.dropout3d", card=Card(MAYBE, random=DROPS))
def dropout3d(input: TensorType, p: Value = 0.5, training: Value = True, inplace: Value = False) -> TensorType:
    """``(b, c, *s) -> (b, c, *s)``, or without b"""
    return _dropped(input, p, training, least=1)


@rule("torch.nn.functional.dropout2d", card=Card(MAYBE, random=DROPS))
def dropout2d(input: TensorType, p: Value = 0.5, training: Value = True, inplace: Value = False) -> TensorType:
    """``(b, c, *s) -> (b, c, *s)``"""
    return _dropped(input, p, training, least=2)


@rule("torch.nn.functional.dropout1d", card=Card(MAYBE, random=DROPS))
def dropout1d(input: TensorType, p: Value = 0.5, training: Value = True, inplace: Value = False) -> TensorType:
    """``(b, c, l) -> (b, c, l)``, or without b"""
    need_rank("input", input, 2, 3)
    return _dropped(input, p, training)


@rule("torch.native_dropout", card=Card(random=DROPS))
def native_dropout(input: TensorType, p: Value, train: Value) -> tuple[TensorType, TensorType]:
    """``(*b) -> (*b), mask (*b)``"""
    if train is True and 0 not in input.shape.items:
        need_kernel(INTEGRAL, input=input)
    return _dropped(input, p, train), TensorType(input.shape, BOOL)
