"""Losses of class scores against class indices, and losses that compare embeddings."""

from __future__ import annotations

from itertools import combinations

from simpletorch.rules.common.broadcasting import broadcast_shapes
from simpletorch.rules.common.conditions import (
    better_known,
    need_categories,
    need_dtype,
    need_equal,
    need_floating,
    need_min_rank,
    need_not_bool,
    need_rank,
    need_same_rank,
    need_same_shape,
    need_shape,
    unequal,
)
from simpletorch.rules.common.dtypes import float_dtype, real_dtype, same_dtype
from simpletorch.rules.common.reduced import reduced
from simpletorch.rules.core.cards import SOMETHING, Card
from simpletorch.rules.core.dtype import INT64, UINT8, promote, promote_all
from simpletorch.rules.core.mismatch import Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.rules.functions.networks.losses import need_equal_shapes, reduced_loss, reduction_of, squeeze_hint
from simpletorch.shapes import ANY_SHAPE, UNKNOWN, Dim, Shape, equal, same

# -- cross entropy ---------------------------------------------------------------------------------------------------


def _without_classes(input: Shape) -> Shape:
    """The dims of the input that the target has: all but the classes, which are dim 1, or the only one."""
    if input.rank == 1:
        return Shape(())
    if len(input.head) >= 2:
        return Shape((input.items[0], *input.items[2:]))
    return ANY_SHAPE


def _classes(input: Shape) -> Dim:
    return input.dim(0) if input.rank == 1 else input.dim(1) if input.min_rank >= 2 and input.is_exact else UNKNOWN


def _target_hint(input: Shape, target: Shape, expected: Shape) -> str | None:
    """Classes in the last dim, or a dim of size 1 too many."""
    if input.rank is not None and input.rank > 2 and same(Shape(input.items[:-1]), target):
        move = "input.transpose(1, 2)" if input.rank == 3 else "input.movedim(-1, 1)"
        return f"the classes must be dim 1 of input: {move}"
    rows, samples = input.items[0], target.items[0] if target.rank else 0
    if isinstance(rows, int) and isinstance(samples, int) and 0 < samples < rows and rows % samples == 0:
        times = rows // samples
        why = f"an earlier view(-1, ...) may have split each sample into {times}"
        return f"input has {times} rows for each target: {why}"
    if target.rank == 0 and expected.items == (1,):
        return "target.unsqueeze(0)"
    return squeeze_hint("", expected, "target", target) if target.rank else None


def _need_index_shape(input: Shape, target: Shape) -> None:
    """A target of class indices has the dims of the input without the classes."""
    if not input.is_exact or not target.is_exact:
        return
    if input.rank == 1 and target.rank == 1 and equal(target.dim(0), 1) is not False:
        return  # torch takes one index for one row of scores
    expected = _without_classes(input)
    hint = _target_hint(input, target, expected)
    need_shape("target", target, expected, whose=f"for input {input} it must be", hint=hint)


def _need_class_weight(input: TensorType, weight: Value) -> tuple[TensorType, ...]:
    """One weight for every class."""
    if not isinstance(weight, TensorType):
        return ()
    need_rank("weight", weight, 1)
    need_equal("input", _classes(input.shape), "weight", weight.shape.dim(-1), what="the numbers of classes")
    return (weight,)


def _loss_shape(input: Shape, target: Shape) -> Shape:
    """One loss for every index."""
    expected = _without_classes(input)
    if expected.is_exact and target.is_exact and expected.rank == target.rank:
        return Shape(tuple(better_known(a, b) for a, b in zip(expected.dims, target.dims, strict=True)))
    return expected


def _index_loss(input: TensorType, target: TensorType, weight: Value, how: str | None) -> TensorType:
    _need_index_shape(input.shape, target.shape)
    need_dtype("target", target, INT64, UINT8, what="class indices")
    need_floating("input", input)
    weights = _need_class_weight(input, weight)
    dtype = same_dtype(("input", input), *(("weight", w) for w in weights))
    shape = _loss_shape(input.shape, target.shape)
    if shape == ANY_SHAPE and target.shape.is_exact and target.dtype is not None and target.dtype.category == "int":
        # indices tell the losses' shape, but a vector of one index goes with a single row of scores too, and gives ()
        shape = target.shape if target.shape.rank != 1 else ANY_SHAPE
    return reduced_loss(shape, dtype, how)


def _probability_loss(input: TensorType, target: TensorType, weight: Value, how: str | None) -> TensorType:
    if target.dtype is not None and target.dtype.category not in ("float", None):
        raise Mismatch(
            f"target has the shape of input, so it must be floating (probabilities), but it is {target.dtype}",
            kind="dtype",
            hint="target.float(), or class indices as target.argmax(1)",
            expected="float",
            got=target.dtype,
        )
    need_floating("input", input)
    weights = _need_class_weight(input, weight)
    dtype = promote_all((input.dtype, target.dtype, *(w.dtype for w in weights)))
    return reduced_loss(_without_classes(input.shape), dtype, how)


def _are_probabilities(input: TensorType, target: TensorType) -> bool | None:
    """Torch takes a target of the input's shape for probabilities, every other one for indices."""
    verdict = same(input.shape, target.shape)
    if verdict is None and target.dtype is not None and target.dtype.category is not None:
        return target.dtype.category == "float"  # nothing else would be accepted
    return verdict


def _has_class_dim(input: Shape, target: Shape) -> bool:
    return target.rank is not None and target.rank == input.rank and target.rank > 1 and target.dim(1) != 1


@rule("torch.nn.functional.cross_entropy", card=Card(saves=SOMETHING))
def cross_entropy(
    input: TensorType,
    target: TensorType,
    weight: Value = None,
    size_average: Value = None,
    ignore_index: Value = -100,
    reduce: Value = None,
    reduction: Value = "mean",
    label_smoothing: Value = 0.0,
) -> TensorType:
    """``(N, C, *d), target (N, *d) of Int64 or (N, C, *d) of floats -> ()``; reduction "none" keeps ``(N, *d)``"""
    how = reduction_of(reduction, size_average, reduce)
    need_min_rank("input", input, 1)
    probabilities = _are_probabilities(input, target)
    if probabilities is None:
        return reduced_loss(_without_classes(input.shape), None, how)
    if probabilities:
        return _probability_loss(input, target, weight, how)
    if target.dtype is not None and target.dtype.is_floating and _has_class_dim(input.shape, target.shape):
        need_same_shape("input", input.shape, "target", target.shape)  # torch would take other shapes for indices
    return _index_loss(input, target, weight, how)


@rule("torch.nn.functional.nll_loss", card=Card(saves=SOMETHING))
def nll_loss(
    input: TensorType,
    target: TensorType,
    weight: Value = None,
    size_average: Value = None,
    ignore_index: Value = -100,
    reduce: Value = None,
    reduction: Value = "mean",
) -> TensorType:
    """``(N, C, *d), target (N, *d) of Int64 -> ()``; reduction "none" keeps ``(N, *d)``"""
    how = reduction_of(reduction, size_average, reduce)
    need_min_rank("input", input, 1)
    return _index_loss(input, target, weight, how)


@rule("torch.nn.functional.linear_cross_entropy")
def linear_cross_entropy(
    input: TensorType,
    linear_weight: TensorType,
    target: TensorType,
    *,
    linear_bias: Value = None,
    weight: Value = None,
    reduction: Value = "mean",
    ignore_index: Value = None,
    label_smoothing: Value = 0.0,
    options: Value = None,
) -> TensorType:
    """``(N, in), linear_weight (C, *d, in), target (N, *d) -> ()``; reduction "none" keeps ``(N, *d)``"""
    how = reduction_of(reduction)
    dtype = same_dtype(("input", input), ("linear_weight", linear_weight))
    need_min_rank("linear_weight", linear_weight, 2)
    if linear_weight.shape.min_rank > 2:
        need_rank("input", input, 2)
    need_rank("input", input, 1, 2)
    features = linear_weight.shape.dim(-1)
    if input.shape.min_rank > 0:
        need_equal("input", input.shape.dim(-1), "linear_weight", features, what="the numbers of features")
    if input.shape.rank not in (1, 2) or not linear_weight.shape.is_exact:
        return reduced_loss(ANY_SHAPE, dtype, how)
    logits = Shape((*input.shape.items[:-1], *linear_weight.shape.items[:-1]))
    return cross_entropy(TensorType(logits, dtype), target, weight, reduction=reduction)


# -- margins ---------------------------------------------------------------------------------------------------------


@rule("torch.nn.functional.multi_margin_loss")
def multi_margin_loss(
    input: TensorType,
    target: TensorType,
    p: Value = 1,
    margin: Value = 1.0,
    weight: Value = None,
    size_average: Value = None,
    reduce: Value = None,
    reduction: Value = "mean",
) -> TensorType:
    """``(N, C), target (N,) of Int64 -> ()``; reduction "none" keeps ``(N,)``"""
    how = reduction_of(reduction, size_average, reduce)
    need_rank("input", input, 0, 1, 2)
    need_floating("input", input)
    weights = _need_class_weight(input, weight)
    same_dtype(("input", input), *(("weight", w) for w in weights))
    if input.shape.rank is not None:
        count, given = (input.shape.dim(0) if input.shape.rank == 2 else 1), target.shape
        if equal(count, given.numel()) is False or given.min_rank > 1:
            raise Mismatch(
                f"target is {given}, but for input {input.shape} it must be {Shape.of(count)}"
                + unequal(count, given.numel()),
                hint=squeeze_hint("input", Shape.of(count), "target", given),
                expected=count,
                got=given,
            )
    need_dtype("target", target, INT64, what="class indices")
    return reduced_loss(target.shape, input.dtype, how)


@rule("torch.nn.functional.multilabel_margin_loss")
def multilabel_margin_loss(
    input: TensorType,
    target: TensorType,
    size_average: Value = None,
    reduce: Value = None,
    reduction: Value = "mean",
) -> TensorType:
    """``(N, C), target (N, C) of Int64 -> ()``; reduction "none" keeps ``(N,)``"""
    how = reduction_of(reduction, size_average, reduce)
    need_rank("input", input, 0, 1, 2)
    need_floating("input", input)
    need_equal_shapes(input, target)
    need_dtype("target", target, INT64, what="class indices")
    shape = input.shape.drop_last(1) if input.shape.rank != 0 else input.shape
    return reduced_loss(shape if input.shape.is_exact else ANY_SHAPE, input.dtype, how)


# -- embeddings ------------------------------------------------------------------------------------------------------


def _need_equal_ranks(*operands: tuple[str, TensorType]) -> None:
    (first, tensor), *others = [(n, t) for n, t in operands if t.shape.is_exact] or [operands[0]]
    for name, other in others:
        hint = squeeze_hint(first, tensor.shape, name, other.shape)
        need_same_rank(first, tensor.shape, name, other.shape, hint=hint)


@rule("torch.nn.functional.margin_ranking_loss")
def margin_ranking_loss(
    input1: TensorType,
    input2: TensorType,
    target: TensorType,
    margin: Value = 0,
    size_average: Value = None,
    reduce: Value = None,
    reduction: Value = "mean",
) -> TensorType:
    """``(*b), (*b), target (*b) of -1 and 1 -> ()``; reduction "none" keeps ``(*b)``"""
    how = reduction_of(reduction, size_average, reduce)
    operands = ("input1", input1), ("input2", input2), ("target", target)
    _need_equal_ranks(*operands)
    shape = broadcast_shapes(*((n, t.shape) for n, t in operands))
    for name, tensor in operands:
        need_not_bool(name, tensor)
    return reduced_loss(shape, float_dtype(input1, input2, target), how)


@rule("torch.nn.functional.cosine_embedding_loss")
def cosine_embedding_loss(
    input1: TensorType,
    input2: TensorType,
    target: TensorType,
    margin: Value = 0,
    size_average: Value = None,
    reduce: Value = None,
    reduction: Value = "mean",
) -> TensorType:
    """``(N, D), (N, D), target (N,) of -1 and 1 -> ()``; reduction "none" keeps ``(N,)``"""
    how = reduction_of(reduction, size_average, reduce)
    need_rank("target", target, 0, 1)
    if target.shape.rank is not None:
        for name, tensor in (("input1", input1), ("input2", input2)):
            need_rank(name, tensor, target.shape.rank + 1)
    pair = broadcast_shapes(("input1", input1.shape), ("input2", input2.shape))
    rows = pair.drop_last(1) if pair.min_rank else ANY_SHAPE
    shape = broadcast_shapes(("the embeddings", rows), ("target", target.shape))
    return reduced_loss(shape, promote(float_dtype(input1), float_dtype(input2)), how)


def _triplet(
    anchor: TensorType, positive: TensorType, negative: TensorType, swap: Value, how: str | None
) -> TensorType:
    operands = ("anchor", anchor), ("positive", positive), ("negative", negative)
    _need_equal_ranks(*operands)
    shape = broadcast_shapes(*((n, t.shape) for n, t in operands))
    for name, tensor in operands:
        need_not_bool(name, tensor)
    # the three distances are computed one by one, each in the dtype of its own two operands
    near, far, between = (real_dtype(float_dtype(*p)) for p in combinations((anchor, positive, negative), 2))
    dtype = promote(near, far)
    if swap is not False:
        swapped = promote(dtype, between)
        dtype = swapped if swap is True or swapped == dtype else None
    return reduced_loss(reduced(shape, -1), dtype, how)


@rule("torch.nn.functional.triplet_margin_loss")
def triplet_margin_loss(
    anchor: TensorType,
    positive: TensorType,
    negative: TensorType,
    margin: Value = 1.0,
    p: Value = 2,
    eps: Value = 1e-6,
    swap: Value = False,
    size_average: Value = None,
    reduce: Value = None,
    reduction: Value = "mean",
) -> TensorType:
    """``(*b, D), (*b, D), (*b, D) -> ()``; reduction "none" keeps ``(*b)``"""
    return _triplet(anchor, positive, negative, swap, reduction_of(reduction, size_average, reduce))


@rule("torch.nn.functional.triplet_margin_with_distance_loss")
def triplet_margin_with_distance_loss(
    anchor: TensorType,
    positive: TensorType,
    negative: TensorType,
    *,
    distance_function: Value = None,
    margin: Value = 1.0,
    swap: Value = False,
    reduction: Value = "mean",
) -> TensorType:
    """``(*b, D), (*b, D), (*b, D) -> ()``; reduction "none" keeps ``(*b)``"""
    how = reduction_of(reduction)
    if distance_function is None:
        return _triplet(anchor, positive, negative, swap, how)
    _need_equal_ranks(("anchor", anchor), ("positive", positive), ("negative", negative))
    return TensorType(Shape(()) if how in ("mean", "sum") else ANY_SHAPE)


# -- sequences -------------------------------------------------------------------------------------------------------


def _need_lengths(name: str, lengths: Value, count: Dim) -> None:
    """One length for every sequence of the batch."""
    if isinstance(lengths, TensorType):
        need_categories(name, lengths.dtype, "int")
        need_equal("log_probs", count, name, lengths.shape.numel(), what="the batch sizes")
    elif isinstance(lengths, tuple):
        need_equal("log_probs", count, name, len(lengths), what="the batch sizes")


@rule("torch.nn.functional.ctc_loss", "torch.ctc_loss")
def ctc_loss(
    log_probs: TensorType,
    targets: TensorType,
    input_lengths: Value,
    target_lengths: Value,
    blank: Value = 0,
    reduction: Value = "mean",
    zero_infinity: Value = False,
) -> TensorType:
    """``(T, N, C), targets (N, S) -> ()``; reduction "none" keeps ``(N,)``; without a batch ``(T, C), (S,)``"""
    how = reduction_of(reduction)
    need_rank("log_probs", log_probs, 2, 3)
    need_rank("targets", targets, 1, 2)
    need_floating("log_probs", log_probs)
    if log_probs.shape.rank is None:
        return reduced_loss(ANY_SHAPE, log_probs.dtype, how)
    batch = Shape(()) if log_probs.shape.rank == 2 else Shape.of(log_probs.shape.dim(1))
    count = batch.numel()
    if targets.shape.rank == 2:
        need_equal("log_probs", count, "targets", targets.shape.dim(0), what="the batch sizes")
    _need_lengths("input_lengths", input_lengths, count)
    _need_lengths("target_lengths", target_lengths, count)
    return reduced_loss(batch, log_probs.dtype, how)


__all__ = [
    "cosine_embedding_loss",
    "cross_entropy",
    "ctc_loss",
    "linear_cross_entropy",
    "margin_ranking_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "nll_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]
