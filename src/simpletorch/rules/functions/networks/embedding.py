"""Look-ups: embeddings, bags of them, one-hot vectors."""

from __future__ import annotations

from typing import Final

from simpletorch.rules.common.arguments import as_dim
from simpletorch.rules.common.conditions import need_dtype, need_floating, need_one_of, need_rank, need_same_shape
from simpletorch.rules.common.dtypes import same_dtype
from simpletorch.rules.common.positions import of
from simpletorch.rules.core.cards import SOMETHING, Card
from simpletorch.rules.core.dtype import INT32, INT64, promote
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import ANY_TENSOR, ANYTHING, TensorType, Value
from simpletorch.shapes import UNKNOWN, Dim, Shape

_MODES: Final = ("sum", "mean", "max")


def need_padding_idx(padding_idx: Value, count: Dim) -> None:
    """It must be the number of a row, counted from either end."""
    if (
        isinstance(padding_idx, int)
        and not isinstance(padding_idx, bool)
        and isinstance(count, int)
        # as `torch.nn.functional.embedding`, which looks at positive and negative ones only
        and padding_idx != 0
        and not -count <= padding_idx < count
    ):
        raise Mismatch(
            f"padding_idx is {padding_idx}, but there are {count} embeddings",
            expected=range(-count, count),
            got=padding_idx,
        )


@rule("torch.nn.functional.embedding", card=Card(saves=SOMETHING))
def embedding(
    input: TensorType,
    weight: TensorType,
    padding_idx: Value = None,
    max_norm: Value = None,
    norm_type: Value = 2.0,
    scale_grad_by_freq: Value = False,
    sparse: Value = False,
) -> TensorType:
    """``(*,), weight (V, D) -> (*, D)``"""
    need_dtype("input", input, INT64, INT32, what="indices")
    need_rank("weight", weight, 2, meaning="(num_embeddings, embedding_dim)")
    need_padding_idx(padding_idx, weight.shape.dim(-2))
    return TensorType(Shape((*input.shape.items, weight.shape.dim(-1))), weight.dtype)


@rule("torch.embedding", card=Card(saves=SOMETHING))
def embedding_of_torch(
    weight: TensorType,
    indices: TensorType,
    padding_idx: Value = -1,
    scale_grad_by_freq: Value = False,
    sparse: Value = False,
) -> TensorType:
    """``weight (V, D), indices (*,) -> (*, D)``"""
    need_dtype("indices", indices, INT64, INT32, what="indices")
    need_rank("weight", weight, 2, meaning="(num_embeddings, embedding_dim)")
    return TensorType(Shape((*indices.shape.items, weight.shape.dim(-1))), weight.dtype)


def _need_bag_indices(name: str, indices: TensorType, offsets: Value) -> None:
    """Of indices and offsets the wider dtype counts."""
    if offsets is None:
        need_dtype(name, indices, INT64, INT32, what="indices")
    elif isinstance(offsets, TensorType):
        common = promote(indices.dtype, offsets.dtype)
        wider = name if indices.dtype == common else "offsets"
        need_dtype(wider, indices.with_dtype(common), INT64, INT32, what="indices")


def _bags(input: TensorType, offsets: Value, include_last_offset: Value, name: str = "input") -> Dim:
    """How many bags there are: rows of a 2-dim input, or as many as offsets says."""
    need_rank(name, input, 1, 2, meaning="(bags, per bag) or (indices,)")
    rank = input.shape.rank
    if rank == 2 and isinstance(offsets, TensorType):
        raise Mismatch(f"{name} is 2-dim, so every row is a bag and offsets must be left out")
    if rank == 1 and offsets is None:
        raise Mismatch(f"{name} is 1-dim, so offsets must say where each bag starts")
    if isinstance(offsets, TensorType):
        need_rank("offsets", offsets, 1)
        if not isinstance(include_last_offset, bool):
            return UNKNOWN
        return offsets.shape.dim(-1) - (1 if include_last_offset else 0)
    return input.shape.dim(0) if offsets is None or rank == 2 else UNKNOWN


def _need_bag_weights(
    input: TensorType, weight: TensorType, mode: Value, per_sample_weights: Value, name: str = "input"
) -> None:
    need_floating("weight", weight)
    need_one_of("mode", mode, *_MODES)
    if not isinstance(per_sample_weights, TensorType):
        return
    same_dtype(("weight", weight), ("per_sample_weights", per_sample_weights))
    need_same_shape(name, input.shape, "per_sample_weights", per_sample_weights.shape)
    if mode in ("mean", "max"):
        raise Mismatch(f"per_sample_weights need mode='sum', but mode is {mode!r}", expected="sum", got=mode)


@rule("torch.nn.functional.embedding_bag")
def embedding_bag(
    input: TensorType,
    weight: TensorType,
    offsets: Value = None,
    max_norm: Value = None,
    norm_type: Value = 2,
    scale_grad_by_freq: Value = False,
    mode: Value = "mean",
    sparse: Value = False,
    per_sample_weights: Value = None,
    include_last_offset: Value = False,
    padding_idx: Value = None,
) -> TensorType:
    """``(B, n), weight (V, D) -> (B, D)``; ``(n,), offsets (B,) -> (B, D)``"""
    if weight.dtype == INT64 and input.dtype is not None and input.dtype.category == "float":
        input, weight = weight, input  # the old order, still taken
    _need_bag_indices("input", input, offsets)
    need_rank("weight", weight, 2, meaning="(num_embeddings, embedding_dim)")
    _need_bag_weights(input, weight, mode, per_sample_weights)
    bags = _bags(input, offsets, include_last_offset)
    if mode == "max" and True in (scale_grad_by_freq, sparse):
        raise Mismatch("mode='max' takes neither scale_grad_by_freq nor sparse", got=mode)
    return TensorType(Shape.of(bags, weight.shape.dim(-1)), weight.dtype)


@rule("torch.embedding_bag")
def embedding_bag_of_torch(
    weight: TensorType,
    indices: TensorType,
    offsets: TensorType,
    scale_grad_by_freq: Value = False,
    mode: Value = 0,
    sparse: Value = False,
    per_sample_weights: Value = None,
    include_last_offset: Value = False,
    padding_idx: Value = None,
) -> Value:
    """``weight (V, D), indices (n,), offsets (B,) -> (B, D)`` and three tensors for its gradient"""
    how = _MODES[mode] if isinstance(mode, int) and 0 <= mode < len(_MODES) else ANYTHING
    _need_bag_indices("indices", indices, offsets)
    need_rank("weight", weight, 2, meaning="(num_embeddings, embedding_dim)")
    _need_bag_weights(indices, weight, how, per_sample_weights, "indices")
    if indices.shape.rank != 1:
        raise CannotTell
    bags = _bags(indices, offsets, include_last_offset, "indices")
    found = TensorType(Shape.of(bags, weight.shape.dim(-1)), weight.dtype)
    return found, ANY_TENSOR, ANY_TENSOR, ANY_TENSOR


@rule("torch.nn.functional.one_hot")
def one_hot(tensor: TensorType, num_classes: Value = -1) -> TensorType:
    """``(*,) -> (*, num_classes)``"""
    need_dtype("tensor", tensor, INT64, what="indices")
    classes = as_dim(num_classes)
    if isinstance(classes, int) and classes < 0:
        if classes < -1:
            raise Mismatch(f"num_classes is {classes}, but it must be -1 or the number of classes", got=classes)
        classes = UNKNOWN
    return TensorType(of(tensor.shape, classes), INT64)


__all__ = [
    "embedding",
    "embedding_bag",
    "embedding_bag_of_torch",
    "embedding_of_torch",
    "need_padding_idx",
    "one_hot",
]
