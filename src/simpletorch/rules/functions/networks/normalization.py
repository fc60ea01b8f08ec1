"""Normalisation over batches, layers, groups, instances and vectors."""

from __future__ import annotations

from math import prod

from simpletorch.rules.common.arguments import as_dim
from simpletorch.rules.common.conditions import (
    need_at_least,
    need_divisible,
    need_float_or_complex,
    need_floating,
    need_min_rank,
    need_shape,
    need_size,
    unequal,
)
from simpletorch.rules.common.dtypes import float_dtype
from simpletorch.rules.common.positions import need_axes
from simpletorch.rules.core.cards import OPERAND, SOME, SOMETHING, Card
from simpletorch.rules.core.dtype import FLOAT32, DType
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import ANYTHING, TensorType, Value
from simpletorch.shapes import UNKNOWN, Dim, Item, Shape, equal


def _need_statistics_dtype(input: TensorType, name: str, other: TensorType) -> None:
    """Parameters and statistics have the input's dtype; beside halves they may be Float32."""
    a, b = input.dtype, other.dtype
    if a is None or b is None or not (a.is_concrete and b.is_concrete) or a == b or a.category in ("bool", "int"):
        return
    if a.bits == 16 and b == FLOAT32:
        return
    raise Mismatch(
        f"input is {a}, but {name} is {b}; both must have one dtype", kind="dtype", hint=f"input.to({name}.dtype)",
        expected=b, got=a,
    )  # fmt: skip


def need_vectors(input: TensorType, channels: Dim, **vectors: Value) -> None:
    """Every parameter or statistic that is given has one number for each channel."""
    for name, value in vectors.items():
        if isinstance(value, TensorType):
            if value.shape.rank == 1:
                need_size(f"{name} has", value.shape.dim(0), "the channels of input are", channels)
            _need_statistics_dtype(input, name, value)


def _need_several(sizes: tuple[Item, ...], what: str, input: TensorType) -> None:
    """In training there must be more than one value to take a variance of."""
    # `_verify_batch_size` and `_verify_spatial_size` of torch/nn/functional.py
    if all(isinstance(s, int) for s in sizes) and prod(s for s in sizes if isinstance(s, int)) == 1:
        raise Mismatch(f"there is only one {what} to take the variance of in an input of shape {input.shape}")


def _channels(input: TensorType) -> Dim:
    """The dim after the first; there must be one."""
    need_min_rank("input", input, 2, meaning="(N, C, ...)")
    return input.shape.dim(1)


@rule("torch.nn.functional.batch_norm")
def batch_norm(
    input: TensorType,
    running_mean: Value,
    running_var: Value,
    weight: Value = None,
    bias: Value = None,
    training: Value = False,
    momentum: Value = 0.1,
    eps: Value = 1e-05,
) -> TensorType:
    """``(N, C, *) -> (N, C, *)``, statistics and parameters (C)"""
    need_float_or_complex("input", input)
    if input.shape.items == (0,):
        return TensorType(input.shape, input.dtype)
    channels = _channels(input)
    need_vectors(input, channels, running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    if training is True and input.shape.is_exact:
        _need_several((input.shape.dims[0], *input.shape.dims[2:]), "value for each channel", input)
    if training is False and (running_mean is None or running_var is None):
        raise Mismatch("without training, running_mean and running_var must be given")
    return TensorType(input.shape, input.dtype)


@rule("torch.batch_norm")
def batch_norm_of_torch(
    input: TensorType,
    weight: Value,
    bias: Value,
    running_mean: Value,
    running_var: Value,
    training: Value,
    momentum: Value,
    eps: Value,
    cudnn_enabled: Value,
) -> TensorType:
    """``(N, C, *) -> (N, C, *)``, statistics and parameters (C)"""
    return batch_norm(input, running_mean, running_var, weight, bias, training if training is False else ANYTHING)


@rule("torch.native_batch_norm", card=Card(gradient=SOME))
def native_batch_norm(
    input: TensorType,
    weight: Value,
    bias: Value,
    running_mean: Value,
    running_var: Value,
    training: Value,
    momentum: Value,
    eps: Value,
) -> Value:
    """``(N, C, *) -> (N, C, *), mean (C), inverse deviation (C)``"""
    need_float_or_complex("input", input)
    vectors = {"weight": weight, "bias": bias, "running_mean": running_mean, "running_var": running_var}
    for name, value in vectors.items():  # their sizes aren't checked by the native function
        if isinstance(value, TensorType):
            _need_statistics_dtype(input, name, value)
    out = TensorType(input.shape, input.dtype)
    # without training there are no statistics to save, and torch gives empty tensors
    size = UNKNOWN if not isinstance(training, bool) else _channels(input) if training else 0
    saved = TensorType(Shape.of(size), _accumulated(input.dtype))
    return (out, saved, saved)


def _accumulated(dtype: DType | None) -> DType | None:
    return dtype if dtype is not None and dtype.is_concrete and dtype.bits > 16 else None


@rule("torch.nn.functional.instance_norm")
def instance_norm(
    input: TensorType,
    running_mean: Value = None,
    running_var: Value = None,
    weight: Value = None,
    bias: Value = None,
    use_input_stats: Value = True,
    momentum: Value = 0.1,
    eps: Value = 1e-05,
) -> TensorType:
    """``(N, C, *) -> (N, C, *)``, statistics and parameters (C)"""
    need_floating("input", input)
    channels = _channels(input)
    need_vectors(input, channels, weight=weight, bias=bias)
    need_vectors(input, channels, running_var=running_var)
    need_vectors(TensorType(input.shape), channels, running_mean=running_mean)  # of any dtype
    if use_input_stats is True and input.shape.is_exact:
        _need_several(input.shape.dims[2:], "spatial element", input)
    if use_input_stats is False and (running_mean is None or running_var is None):
        raise Mismatch("without use_input_stats, running_mean and running_var must be given")
    return TensorType(input.shape, input.dtype)


@rule("torch.instance_norm")
def instance_norm_of_torch(
    input: TensorType,
    weight: Value,
    bias: Value,
    running_mean: Value,
    running_var: Value,
    use_input_stats: Value,
    momentum: Value,
    eps: Value,
    cudnn_enabled: Value,
) -> TensorType:
    """``(N, C, *) -> (N, C, *)``, statistics and parameters (C)"""
    stats = use_input_stats if use_input_stats is False else ANYTHING
    return instance_norm(input, running_mean, running_var, weight, bias, stats)


def normalized_dims(normalized_shape: Value) -> tuple[Dim, ...]:
    """The trailing dims that `torch.nn.LayerNorm` takes: an int or several.

    Raises:
        CannotTell: it isn't known how many.
    """
    if isinstance(normalized_shape, tuple):
        return tuple(as_dim(v) for v in normalized_shape)
    if normalized_shape is ANYTHING:
        raise CannotTell
    return (as_dim(normalized_shape),)


def over_trailing(input: TensorType, normalized_shape: Value, **parameters: Value) -> TensorType:
    """``(*, *normalized_shape) -> (*, *normalized_shape)``"""
    try:
        dims = normalized_dims(normalized_shape)
    except CannotTell:
        return TensorType(input.shape, input.dtype)
    if not dims:
        raise Mismatch("normalized_shape is empty; it must have at least one dim")
    wanted = Shape(dims)
    _need_trailing(input.shape, dims)
    for name, value in parameters.items():
        if isinstance(value, TensorType) and value.shape.is_exact:
            need_shape(name, value.shape, wanted, whose="normalized_shape is")
    known = (d if own is UNKNOWN else own for own, d in zip(input.shape.last(len(dims)), dims, strict=True))
    return TensorType(Shape((*input.shape.drop_last(len(dims)).items, *known)), input.dtype)


def _need_trailing(shape: Shape, dims: tuple[Dim, ...]) -> None:
    if shape.rank is not None and shape.rank < len(dims):
        raise Mismatch(
            f"input has {shape.rank} dims {shape}, but normalized_shape has {len(dims)}",
            expected=len(dims),
            got=shape.rank,
        )
    for i in range(-len(dims), 0):
        found = shape.dim(i)
        if equal(found, dims[i]) is False:
            where = "the last dim of input is" if len(dims) == 1 else f"dim {i} of input is"
            raise Mismatch(
                f"{where} {found}, but normalized_shape is {Shape(dims) if len(dims) > 1 else dims[0]}"
                + unequal(found, dims[i]),
                expected=dims[i],
                got=found,
            )


@rule("torch.nn.functional.layer_norm", "torch.layer_norm", card=Card(saves=OPERAND))
def layer_norm(
    input: TensorType,
    normalized_shape: Value,
    weight: Value = None,
    bias: Value = None,
    eps: Value = 1e-05,
    cudnn_enable: Value = True,
) -> TensorType:
    """``(*, *normalized_shape) -> (*, *normalized_shape)``"""
    need_floating("input", input)
    for name, value in (("weight", weight), ("bias", bias)):
        if isinstance(value, TensorType):
            _need_statistics_dtype(input, name, value)
    return over_trailing(input, normalized_shape, weight=weight, bias=bias)


@rule("torch.native_layer_norm", card=Card(gradient=SOME))
def native_layer_norm(input: TensorType, normalized_shape: Value, weight: Value, bias: Value, eps: Value) -> Value:
    """``(*b, *normalized_shape) -> (*b, *normalized_shape), mean (*b, 1…), inverse deviation (*b, 1…)``"""
    out = layer_norm(input, normalized_shape, weight, bias, eps)
    count = len(normalized_dims(normalized_shape))
    saved = TensorType(Shape((*out.shape.drop_last(count).items, *(1,) * count)), _accumulated(input.dtype))
    return (out, saved, saved)


@rule("torch.nn.functional.rms_norm", "torch.rms_norm", card=Card(saves=SOMETHING))
def rms_norm(input: TensorType, normalized_shape: Value, weight: Value = None, eps: Value = None) -> TensorType:
    """``(*, *normalized_shape) -> (*, *normalized_shape)``"""
    need_float_or_complex("input", input)
    return over_trailing(input, normalized_shape, weight=weight)


@rule("torch.nn.functional.group_norm", "torch.group_norm", card=Card(saves=OPERAND))
def group_norm(
    input: TensorType,
    num_groups: Value,
    weight: Value = None,
    bias: Value = None,
    eps: Value = 1e-05,
    cudnn_enabled: Value = True,
) -> TensorType:
    """``(N, C, *) -> (N, C, *)``, C in groups of equal size"""
    need_floating("input", input)
    channels, groups = _channels(input), as_dim(num_groups)
    need_at_least("num_groups", groups, 1)
    need_divisible("the number of channels", channels, "num_groups", groups)
    need_vectors(input, channels, weight=weight, bias=bias)
    return TensorType(input.shape, input.dtype)


@rule("torch.native_group_norm", card=Card(gradient=SOME))
def native_group_norm(
    input: TensorType, weight: Value, bias: Value, N: Value, C: Value, HxW: Value, group: Value, eps: Value
) -> Value:
    """``(N, C, *) -> (N, C, *), mean (N, group), inverse deviation (N, group)``"""
    out = group_norm(input, group, weight, bias, eps)
    need_size(
        "the number of elements of input is",
        input.shape.numel(),
        "N * C * HxW is",
        Shape.of(*map(as_dim, (N, C, HxW))).numel(),
    )
    saved = TensorType(Shape.of(as_dim(N), as_dim(group)), _accumulated(input.dtype))
    return (out, saved, saved)


@rule("torch.nn.functional.local_response_norm")
def local_response_norm(
    input: TensorType, size: Value, alpha: Value = 0.0001, beta: Value = 0.75, k: Value = 1.0
) -> TensorType:
    """``(N, C, *) -> (N, C, *)``"""
    need_min_rank("input", input, 3, meaning="(N, C, *)")
    need_at_least("size", as_dim(size), 1)
    empty = 0 in input.shape.items  # comes back as it is
    return TensorType(input.shape, input.dtype if empty else float_dtype(input))


@rule("torch.nn.functional.normalize")
def normalize(input: TensorType, p: Value = 2.0, dim: Value = 1, eps: Value = 1e-12) -> TensorType:
    """``(*,) -> (*,)``"""
    need_float_or_complex("input", input)
    need_axes(dim, input.shape)
    return TensorType(input.shape, input.dtype)


__all__ = [
    "batch_norm",
    "batch_norm_of_torch",
    "group_norm",
    "instance_norm",
    "instance_norm_of_torch",
    "layer_norm",
    "local_response_norm",
    "native_batch_norm",
    "native_group_norm",
    "native_layer_norm",
    "need_vectors",
    "normalize",
    "normalized_dims",
    "over_trailing",
    "rms_norm",
]
