"""Activations as functions: relu and its kin, softmax, glu, prelu, and dropout."""

from __future__ import annotations

from typing import Final

from simpletorch.rules.arguments import axis, float_dtype, replace_dim, same_dtype
from simpletorch.rules.dtype import BOOL
from simpletorch.rules.mismatch import CannotTell, Mismatch
from simpletorch.rules.pointwise import ALL_BUT_FLOAT, INTEGRAL, check_dtypes, dtype_argument
from simpletorch.rules.registry import rule
from simpletorch.rules.values import TensorType, Value
from simpletorch.shapes import ANY_SHAPE, UNKNOWN, Dim, Shape, equal

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
    check_dtypes(REFUSED[name], input=input)
    return TensorType(input.shape, input.dtype)


def _register(name: str) -> None:
    @rule(*_spellings(name))
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
    check_dtypes(("bool",), input=input)
    return TensorType(input.shape, float_dtype(input))


def _check_axis(dim: Value, shape: Shape, name: str = "dim") -> int | None:
    """The dim, if it is known; None otherwise."""
    try:
        return None if dim is None else axis(dim, shape, name=name)
    except CannotTell:
        return None


def softmax(input: TensorType, dim: Value, dtype: Value) -> TensorType:
    """``(*b) -> (*b)``: along one dim, in floats only; ``dtype`` casts the input first."""
    _check_axis(dim, input.shape)
    result = TensorType(input.shape, dtype_argument(dtype, input.dtype))
    check_dtypes(ALL_BUT_FLOAT, input=result)
    return result


@rule(*(f"torch.nn.functional.{n}" for n in ("softmax", "log_softmax")))
def functional_softmax(input: TensorType, dim: Value = None, _stacklevel: Value = 3, dtype: Value = None) -> TensorType:
    """``(*b) -> (*b)``"""
    return softmax(input, dim, dtype)


@rule("torch.nn.functional.softmin")
def softmin(input: TensorType, dim: Value = None, _stacklevel: Value = 3, dtype: Value = None) -> TensorType:
    """``(*b) -> (*b)``"""
    check_dtypes(("bool",), input=input)  # it begins with -input
    return softmax(input, dim, dtype)


@rule(*(f"{place}.{n}" for place in ("torch", "Tensor", "torch.special") for n in ("softmax", "log_softmax")))
def torch_softmax(input: TensorType, dim: Value, dtype: Value = None) -> TensorType:
    """``(*b) -> (*b)``"""
    return softmax(input, dim, dtype)


@rule("torch.nn.functional.gumbel_softmax")
def gumbel_softmax(
    logits: TensorType, tau: Value = 1, hard: Value = False, eps: Value = 1e-10, dim: Value = -1
) -> TensorType:
    """``(*b) -> (*b)``"""
    _check_axis(dim, logits.shape)
    check_dtypes(ALL_BUT_FLOAT, logits=logits)
    return TensorType(logits.shape, logits.dtype)


@rule("torch.nn.functional.glu")
def glu(input: TensorType, dim: Value = -1) -> TensorType:
    """``(*a, 2*n, *b) -> (*a, n, *b)``"""
    check_dtypes(ALL_BUT_FLOAT, input=input)
    if input.shape.rank == 0:
        raise Mismatch("input is 0-dim; there is no dim to halve")
    try:
        at = axis(dim, input.shape)
    except CannotTell:
        return TensorType(_of_rank(input.shape), input.dtype)
    size = input.shape.dim(at)
    if equal(size % 2, 0) is False:
        raise Mismatch(f"dim {dim} of input is {size}, which can't be halved", got=size)
    return TensorType(replace_dim(input.shape, at, size // 2), input.dtype)


def _of_rank(shape: Shape) -> Shape:
    """A shape with as many dims, none of them known."""
    return ANY_SHAPE if shape.rank is None else Shape((UNKNOWN,) * shape.rank)


def _channels(shape: Shape) -> Dim | None:
    """The dim that prelu takes for channels: the second one; a vector has one channel."""
    if shape.rank == 1:
        return 1
    return shape.dim(1) if len(shape.head) >= 2 else None


@rule("torch.prelu", "Tensor.prelu", "torch.nn.functional.prelu")
def prelu(input: TensorType, weight: TensorType) -> TensorType:
    """``(b, c, *), weight (c) or (1) -> (b, c, *)``"""
    if weight.shape.min_rank > 1:
        raise Mismatch(f"weight must have 0 or 1 dims, but it is {weight.shape}", got=weight.shape)
    check_prelu(input, weight.shape.dim(0) if weight.shape.rank == 1 else 1, "weight")
    dtype = same_dtype(("input", input), ("weight", weight))
    check_dtypes(ALL_BUT_FLOAT, input=input)
    return TensorType(input.shape, dtype)


def check_prelu(input: TensorType, count: Dim, owner: str) -> None:
    """The weights must be one, or one for each channel.

    Raises:
        Mismatch: they are neither.
    """
    if equal(count, 1) is True:
        return
    if input.shape.rank == 0:
        raise Mismatch("input is 0-dim; it needs at least 1 dim")
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
        check_dtypes(INTEGRAL, input=input)
        if input.shape.rank is not None and input.shape.rank < least:
            raise Mismatch(f"input must have at least {least} dims, but it is {input.shape}", expected=least)
    return TensorType(input.shape, input.dtype)


@rule("torch.nn.functional.dropout")
def dropout(input: TensorType, p: Value = 0.5, training: Value = True, inplace: Value = False) -> TensorType:
    """``(*b) -> (*b)``"""
    return _dropped(input, p, training)


@rule("torch.dropout", "torch.dropout_", "torch.alpha_dropout", "torch.alpha_dropout_")
def torch_dropout(input: TensorType, p: Value, train: Value) -> TensorType:
    """``(*b) -> (*b)``"""
    return _dropped(input, p, train)


@rule("torch.feature_dropout", "torch.feature_dropout_", "torch.feature_alpha_dropout", "torch.feature_alpha_dropout_")
def torch_feature_dropout(input: TensorType, p: Value, train: Value) -> TensorType:
    """``(b, c, *s) -> (b, c, *s)``"""
    return _dropped(input, p, train, least=2)


@rule("torch.nn.functional.alpha_dropout")
def alpha_dropout(input: TensorType, p: Value = 0.5, training: Value = False, inplace: Value = False) -> TensorType:
    """``(*b) -> (*b)``"""
    return _dropped(input, p, training)


@rule("torch.nn.functional.feature_alpha_dropout")
def feature_alpha_dropout(
    input: TensorType, p: Value = 0.5, training: Value = False, inplace: Value = False
) -> TensorType:
    """``(b, c, *s) -> (b, c, *s)``"""
    return _dropped(input, p, training, least=2)


@rule("torch.nn.functional.dropout3d")
def dropout3d(input: TensorType, p: Value = 0.5, training: Value = True, inplace: Value = False) -> TensorType:
    """``(b, c, *s) -> (b, c, *s)``, or without b"""
    return _dropped(input, p, training, least=1)


@rule("torch.nn.functional.dropout2d")
def dropout2d(input: TensorType, p: Value = 0.5, training: Value = True, inplace: Value = False) -> TensorType:
    """``(b, c, *s) -> (b, c, *s)``"""
    return _dropped(input, p, training, least=2)


@rule("torch.nn.functional.dropout1d")
def dropout1d(input: TensorType, p: Value = 0.5, training: Value = True, inplace: Value = False) -> TensorType:
    """``(b, c, l) -> (b, c, l)``, or without b"""
    check_ranks(input, (2, 3))
    return _dropped(input, p, training)


def check_ranks(input: TensorType, ranks: tuple[int, int]) -> None:
    """The input must have one of two neighbouring numbers of dims.

    Raises:
        Mismatch: it has another.
    """
    found = input.shape.rank
    if (found is not None and found not in ranks) or input.shape.min_rank > ranks[1]:
        raise Mismatch(f"input must have {ranks[0]} or {ranks[1]} dims, but it is {input.shape}", expected=ranks)


@rule("torch.native_dropout")
def native_dropout(input: TensorType, p: Value, train: Value) -> tuple[TensorType, TensorType]:
    """``(*b) -> (*b), mask (*b)``"""
    if train is True and 0 not in input.shape.items:
        check_dtypes(INTEGRAL, input=input)
    return _dropped(input, p, train), TensorType(input.shape, BOOL)
