"""Losses of predictions against targets of the same kind; what they share is how they reduce."""

from __future__ import annotations

from typing import Final

from simpletorch.rules.common.broadcasting import broadcast_shapes, need_expandable
from simpletorch.rules.common.conditions import (
    need_categories,
    need_float_or_complex,
    need_floating,
    need_min_rank,
    need_not_bool,
    need_one_of,
    need_same_shape,
)
from simpletorch.rules.common.dtypes import float_dtype, real_dtype, result_dtype, same_dtype, summed_dtype
from simpletorch.rules.common.reduced import reduced
from simpletorch.rules.core.cards import OPERAND, SOMETHING, Card
from simpletorch.rules.core.dtype import BOOL, DType, promote_all
from simpletorch.rules.core.mismatch import Mismatch
from simpletorch.rules.core.registry import old_reduction, rule
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.shapes import ANY_SHAPE, UNKNOWN, Shape, broadcast, equal, same

REDUCTIONS: Final = ("none", "mean", "sum")


def reduction_of(reduction: Value, size_average: Value = None, reduce: Value = None, *more: str) -> str | None:
    """How the loss is reduced; None where it isn't known.

    Raises:
        Mismatch: ``reduction`` is none of torch's names.
    """
    reduction = old_reduction(size_average, reduce, reduction)
    if not isinstance(reduction, str):
        return None
    if reduction == "elementwise_mean":  # a name of long ago, which torch still takes
        return "mean"
    need_one_of("reduction", reduction, *REDUCTIONS, *more)
    return reduction


def reduced_loss(shape: Shape, dtype: DType | None, reduction: str | None) -> TensorType:
    """The loss of this shape, or its mean or sum."""
    if reduction == "none":
        return TensorType(shape, dtype)
    if reduction == "mean":
        need_categories("the loss", dtype, "float", "complex", hint="input.float()")
    if reduction is None:
        return TensorType(ANY_SHAPE, dtype)
    return TensorType(Shape(()), summed_dtype(dtype))


def squeeze_hint(left: str, a: Shape, right: str, b: Shape) -> str | None:
    """The usual cause: one side has a dim of size 1 more at its end, or lost it with its other dims of size 1."""
    if a.rank is None or b.rank is None:
        return None
    if a.rank == 0 and b.items == (1,):
        return "did squeeze() remove a batch of one? squeeze(-1) removes the last dim only"
    if a.rank == b.rank + 1 and a.dim(-1) == 1:
        return f"{left}.squeeze(-1)"
    if b.rank == a.rank + 1 and b.dim(-1) == 1:
        return f"{right}.squeeze(-1)"
    return None


def need_no_growth(left: str, a: Shape, right: str, b: Shape) -> None:
    """Two sides of a loss that broadcast to more elements than each has are a mistake, though torch only warns.

    Raises:
        Mismatch: of kind "broadcast", where that is sure.
    """
    shape = broadcast(a, b)
    size = shape.numel()
    if equal(size, a.numel()) is False and equal(size, b.numel()) is False and 0 not in shape.items:
        raise _broadcasts(left, a, right, b, f"are broadcast to {shape}, which is larger than both")


def need_equal_sizes(left: str, a: Shape, right: str, b: Shape) -> None:
    """Losses that torch warns about whenever the two sides differ, also where nothing grows.

    Raises:
        Mismatch: of kind "broadcast", where that is sure.
    """
    need_no_growth(left, a, right, b)
    if same(a, b) is False:
        raise _broadcasts(left, a, right, b, f"have different shapes and are broadcast to {broadcast(a, b)}")


def _broadcasts(left: str, a: Shape, right: str, b: Shape, what: str) -> Mismatch:
    hint = squeeze_hint(left, a, right, b) or f"give {right} the shape of {left}"
    return Mismatch(f"{left} {a} and {right} {b} {what}", kind="broadcast", hint=hint, expected=a, got=b)


def _pair(input: TensorType, target: TensorType) -> Shape:
    return broadcast_shapes(("input", input.shape), ("target", target.shape))


def need_equal_shapes(input: TensorType, target: TensorType) -> None:
    """The target must have the shape of the input."""
    hint = squeeze_hint("input", input.shape, "target", target.shape)
    need_same_shape("input", input.shape, "target", target.shape, hint=hint)


def better_shape(a: Shape, b: Shape) -> Shape:
    """Of two shapes that must be equal the one that is known better."""
    return b if (b.is_exact and not a.is_exact) or (b.is_literal and not a.is_literal) else a


# -- differences -------------------------------------------------------------------------------------------------------


def _need_weight(input: TensorType, weight: Value) -> tuple[TensorType, ...]:
    """The weights of a regression loss, one for every element of the input."""
    if not isinstance(weight, TensorType):
        return ()
    need_same_shape("input", input.shape, "weight", weight.shape)
    return (weight,)


@rule("torch.nn.functional.mse_loss", card=Card(saves=OPERAND))
def mse_loss(
    input: TensorType,
    target: TensorType,
    size_average: Value = None,
    reduce: Value = None,
    reduction: Value = "mean",
    weight: Value = None,
) -> TensorType:
    """``(*b), target (*b) -> ()``; reduction "none" keeps ``(*b)``"""
    how = reduction_of(reduction, size_average, reduce)
    shape = _pair(input, target)
    weights = _need_weight(input, weight)
    dtype = promote_all((input.dtype, target.dtype))
    need_categories("the difference of input and target", dtype, "float", hint="input.float()")
    need_equal_sizes("input", input.shape, "target", target.shape)
    return reduced_loss(shape, promote_all((dtype, *(w.dtype for w in weights))), how)


@rule("torch.nn.functional.l1_loss", card=Card(saves=SOMETHING))
def l1_loss(
    input: TensorType,
    target: TensorType,
    size_average: Value = None,
    reduce: Value = None,
    reduction: Value = "mean",
    weight: Value = None,
) -> TensorType:
    """``(*b), target (*b) -> ()``; reduction "none" keeps ``(*b)``"""
    how = reduction_of(reduction, size_average, reduce)
    shape = _pair(input, target)
    weights = _need_weight(input, weight)
    need_not_bool("input", input)
    need_not_bool("target", target)
    dtype = real_dtype(promote_all((input.dtype, target.dtype)))
    found = reduced_loss(shape, promote_all((dtype, *(w.dtype for w in weights))), how)
    need_equal_sizes("input", input.shape, "target", target.shape)
    return found


@rule("torch.nn.functional.smooth_l1_loss", card=Card(saves=OPERAND))
def smooth_l1_loss(
    input: TensorType,
    target: TensorType,
    size_average: Value = None,
    reduce: Value = None,
    reduction: Value = "mean",
    beta: Value = 1.0,
) -> TensorType:
    """``(*b), target (*b) -> ()``; reduction "none" keeps ``(*b)``"""
    if isinstance(beta, int | float) and beta == 0:
        return l1_loss(input, target, size_average, reduce, reduction)
    return mse_loss(input, target, size_average, reduce, reduction)


def _need_castable(input: TensorType, target: TensorType) -> None:
    """The loss is computed into the input's dtype."""
    common = promote_all((input.dtype, target.dtype))
    order = None if input.dtype is None else input.dtype.order
    if common is not None and common.order is not None and order is not None and common.order > order:
        raise Mismatch(
            f"target is {target.dtype}, but the loss has the dtype of input, {input.dtype}",
            kind="dtype",
            hint="input.float()",
            expected=input.dtype,
            got=target.dtype,
        )


@rule("torch.nn.functional.huber_loss", card=Card(saves=OPERAND))
def huber_loss(
    input: TensorType, target: TensorType, reduction: Value = "mean", delta: Value = 1.0, weight: Value = None
) -> TensorType:
    """``(*b), target (*b) -> ()``; reduction "none" keeps ``(*b)``"""
    how = reduction_of(reduction)
    shape = _pair(input, target)
    weights = _need_weight(input, weight)
    need_floating("input", input)
    _need_castable(input, target)
    need_equal_sizes("input", input.shape, "target", target.shape)
    return reduced_loss(shape, promote_all((input.dtype, *(w.dtype for w in weights))), how)


@rule("torch.nn.functional.soft_margin_loss")
def soft_margin_loss(
    input: TensorType,
    target: TensorType,
    size_average: Value = None,
    reduce: Value = None,
    reduction: Value = "mean",
) -> TensorType:
    """``(*b), target (*b) of -1 and 1 -> ()``; reduction "none" keeps ``(*b)``"""
    how = reduction_of(reduction, size_average, reduce)
    _pair(input, target)
    need_expandable("target", target.shape, input.shape, "input")
    need_float_or_complex("input", input)
    _need_castable(input, target)
    return reduced_loss(input.shape, input.dtype, how)


@rule("torch.nn.functional.hinge_embedding_loss")
def hinge_embedding_loss(
    input: TensorType,
    target: TensorType,
    margin: Value = 1.0,
    size_average: Value = None,
    reduce: Value = None,
    reduction: Value = "mean",
) -> TensorType:
    """``(*b), target (*b) of -1 and 1 -> ()``; reduction "none" keeps ``(*b)``"""
    how = reduction_of(reduction, size_average, reduce)
    need_not_bool("input", input)
    found = reduced_loss(_pair(input, target), input.dtype, how)
    need_no_growth("input", input.shape, "target", target.shape)
    return found


# -- distributions -----------------------------------------------------------------------------------------------------


@rule("torch.nn.functional.kl_div")
def kl_div(
    input: TensorType,
    target: TensorType,
    size_average: Value = None,
    reduce: Value = None,
    reduction: Value = "mean",
    log_target: Value = False,
) -> TensorType:
    """``(*b) of log-probabilities, target (*b) -> ()``; reduction "none" keeps ``(*b)``"""
    how = reduction_of(reduction, size_average, reduce, "batchmean")
    need_floating("input", input)
    need_floating("target", target)
    shape = _pair(input, target)
    need_no_growth("input", input.shape, "target", target.shape)
    return reduced_loss(shape, result_dtype(input, target), how)


@rule("torch.nn.functional.poisson_nll_loss")
def poisson_nll_loss(
    input: TensorType,
    target: TensorType,
    log_input: Value = True,
    full: Value = False,
    size_average: Value = None,
    eps: Value = 1e-8,
    reduce: Value = None,
    reduction: Value = "mean",
) -> TensorType:
    """``(*b), target (*b) -> ()``; reduction "none" keeps ``(*b)``"""
    how = reduction_of(reduction, size_average, reduce)
    shape = _pair(input, target)
    if log_input is False:
        need_not_bool("input", input)
    if full is True or input.dtype == BOOL:
        need_not_bool("target", target)
    need_no_growth("input", input.shape, "target", target.shape)
    return reduced_loss(shape, result_dtype(TensorType(input.shape, float_dtype(input)), target), how)


def _need_variance(input: Shape, var: Shape) -> None:
    """A variance for every element, for every row, or with size 1 in one dim."""
    if same(input, var) is not False or not input.is_exact or not var.is_exact:
        return
    if input.rank and same(Shape(input.items[:-1]), var) is not False:
        return
    if input.rank == var.rank:
        differing = [b for a, b in zip(input.dims, var.dims, strict=True) if equal(a, b) is not True]
        if sum(b == 1 for b in differing) == 1 and all(b == 1 or b is UNKNOWN for b in differing):
            return
    raise Mismatch(
        f"var {var} must be {input} like input, or have size 1 in one of its dims, or lack the last", got=var
    )


@rule("torch.nn.functional.gaussian_nll_loss")
def gaussian_nll_loss(
    input: TensorType,
    target: TensorType,
    var: Value,
    full: Value = False,
    eps: Value = 1e-6,
    reduction: Value = "mean",
) -> TensorType:
    """``(*b), target (*b), var (*b) -> ()``; reduction "none" keeps ``(*b)``"""
    how = reduction_of(reduction)
    need_not_bool("input", input)
    need_not_bool("target", target)
    if isinstance(var, TensorType):
        need_floating("var", var)
        _need_variance(input.shape, var.shape)
        dtype = float_dtype(input, target, TensorType(input.shape, var.dtype))  # var gets the dims that it lacks
    else:
        dtype = float_dtype(input, target)
    shape = _pair(input, target)
    need_no_growth("input", input.shape, "target", target.shape)
    return reduced_loss(shape, dtype, how)


# -- binary classes ----------------------------------------------------------------------------------------------------


@rule("torch.nn.functional.binary_cross_entropy", card=Card(saves=OPERAND))
def binary_cross_entropy(
    input: TensorType,
    target: TensorType,
    weight: Value = None,
    size_average: Value = None,
    reduce: Value = None,
    reduction: Value = "mean",
) -> TensorType:
    """``(*b) of probabilities, target (*b) -> ()``; reduction "none" keeps ``(*b)``"""
    how = reduction_of(reduction, size_average, reduce)
    need_equal_shapes(input, target)
    need_floating("input", input)
    dtype = same_dtype(("input", input), ("target", target))
    if isinstance(weight, TensorType):
        need_expandable("weight", weight.shape, input.shape, "input")
    return reduced_loss(better_shape(input.shape, target.shape), dtype, how)


@rule("torch.nn.functional.binary_cross_entropy_with_logits", card=Card(saves=OPERAND))
def binary_cross_entropy_with_logits(
    input: TensorType,
    target: TensorType,
    weight: Value = None,
    size_average: Value = None,
    reduce: Value = None,
    reduction: Value = "mean",
    pos_weight: Value = None,
) -> TensorType:
    """``(*b) of logits, target (*b) -> ()``; reduction "none" keeps ``(*b)``"""
    how = reduction_of(reduction, size_average, reduce)
    need_equal_shapes(input, target)
    need_float_or_complex("input", input)
    need_float_or_complex("target", target)
    for name, value in (("weight", weight), ("pos_weight", pos_weight)):
        if isinstance(value, TensorType):
            need_expandable(name, value.shape, input.shape, "input")
    return reduced_loss(better_shape(input.shape, target.shape), target.dtype, how)


@rule("torch.nn.functional.multilabel_soft_margin_loss")
def multilabel_soft_margin_loss(
    input: TensorType,
    target: TensorType,
    weight: Value = None,
    size_average: Value = None,
    reduce: Value = None,
    reduction: Value = "mean",
) -> TensorType:
    """``(*b, classes), target (*b, classes) -> ()``; reduction "none" keeps ``(*b)``"""
    how = reduction_of(reduction, size_average, reduce)
    need_not_bool("target", target)
    need_floating("input", input)
    shape = _pair(input, target)
    need_min_rank("input", input, 1, meaning="(*, classes)")
    need_no_growth("input", input.shape, "target", target.shape)
    operands: tuple[TensorType, ...] = (input, target)
    if isinstance(weight, TensorType):
        operands = (*operands, weight)
        shape = broadcast_shapes(("the loss", shape), ("weight", weight.shape))
    index = -1 if input.shape.rank is None else input.shape.rank - 1
    known = input.shape.rank is not None or target.shape.rank is None
    return reduced_loss(reduced(shape, index) if known else ANY_SHAPE, result_dtype(*operands), how)


__all__ = [
    "REDUCTIONS",
    "better_shape",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "gaussian_nll_loss",
    "hinge_embedding_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "mse_loss",
    "multilabel_soft_margin_loss",
    "need_equal_shapes",
    "need_equal_sizes",
    "need_no_growth",
    "poisson_nll_loss",
    "reduced_loss",
    "reduction_of",
    "smooth_l1_loss",
    "soft_margin_loss",
    "squeeze_hint",
]
