"""Look-ups: embeddings, bags of them, one-hot vectors."""

from __future__ import annotations

from collections.abc import Mapping

from simpletorch.rules.arguments import same_dtype
from simpletorch.rules.dtype import INT32, INT64, DType, promote
from simpletorch.rules.mismatch import CannotTell, Mismatch
from simpletorch.rules.registry import ModuleRule, module, record, rule
from simpletorch.rules.spatial import as_dim, check_at_least, need_ranks
from simpletorch.rules.values import ANY_TENSOR, ANYTHING, TensorType, Value
from simpletorch.shapes import UNKNOWN, Dim, Shape, same


def _need_indices(name: str, tensor: TensorType, *allowed: DType) -> None:
    """Indices are Int64, mostly also Int32."""
    dtype = tensor.dtype
    if dtype is None or dtype in allowed or (not dtype.is_concrete and dtype.category in (None, "int")):
        return
    names = " or ".join(d.name for d in allowed)
    raise Mismatch(
        f"{name} is {dtype}, but indices must be {names}",
        kind="dtype",
        hint=f"{name}.long()",
        expected=allowed[0],
        got=dtype,
    )


def _check_padding_idx(padding_idx: Value, count: Dim) -> None:
    if (
        isinstance(padding_idx, int)
        and not isinstance(padding_idx, bool)
        and isinstance(count, int)
        and padding_idx != 0
        and not -count <= padding_idx < count
    ):
        raise Mismatch(
            f"padding_idx is {padding_idx}, but there are {count} embeddings",
            expected=range(-count, count),
            got=padding_idx,
        )


@rule("torch.nn.functional.embedding")
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
    _need_indices("input", input, INT64, INT32)
    need_ranks("weight", weight.shape, 2, meaning="(num_embeddings, embedding_dim)")
    _check_padding_idx(padding_idx, weight.shape.dim(-2))
    return TensorType(Shape((*input.shape.items, weight.shape.dim(-1))), weight.dtype)


@rule("torch.embedding")
def embedding_of_torch(
    weight: TensorType,
    indices: TensorType,
    padding_idx: Value = -1,
    scale_grad_by_freq: Value = False,
    sparse: Value = False,
) -> TensorType:
    """``weight (V, D), indices (*,) -> (*, D)``"""
    _need_indices("indices", indices, INT64, INT32)
    need_ranks("weight", weight.shape, 2, meaning="(num_embeddings, embedding_dim)")
    return TensorType(Shape((*indices.shape.items, weight.shape.dim(-1))), weight.dtype)


def _need_bag_indices(name: str, indices: TensorType, offsets: Value) -> None:
    """Of indices and offsets the wider dtype counts."""
    if offsets is None:
        _need_indices(name, indices, INT64, INT32)
    elif isinstance(offsets, TensorType):
        common = promote(indices.dtype, offsets.dtype)
        _need_indices(name if indices.dtype == common else "offsets", TensorType(dtype=common), INT64, INT32)


def _bags(input: TensorType, offsets: Value, include_last_offset: Value, name: str = "input") -> Dim:
    """How many bags there are: rows of a 2-dim input, or as many as offsets says."""
    need_ranks(name, input.shape, 1, 2, meaning="(bags, per bag) or (indices,)")
    rank = input.shape.rank
    if rank == 2 and isinstance(offsets, TensorType):
        raise Mismatch(f"{name} is 2-dim, so every row is a bag and offsets must be left out")
    if rank == 1 and offsets is None:
        raise Mismatch(f"{name} is 1-dim, so offsets must say where each bag starts")
    if isinstance(offsets, TensorType):
        need_ranks("offsets", offsets.shape, 1)
        if not isinstance(include_last_offset, bool):
            return UNKNOWN
        return offsets.shape.dim(-1) - (1 if include_last_offset else 0)
    return input.shape.dim(0) if offsets is None or rank == 2 else UNKNOWN


def _check_bag_weights(
    input: TensorType, weight: TensorType, mode: Value, per_sample_weights: Value, name: str = "input"
) -> None:
    if weight.dtype is not None and weight.dtype.category in ("bool", "int", "complex"):
        raise Mismatch(f"weight is {weight.dtype}, but it must be a float", kind="dtype", got=weight.dtype)
    if isinstance(mode, str) and mode not in ("sum", "mean", "max"):
        raise Mismatch(f"mode is {mode!r}, but it must be 'sum', 'mean' or 'max'", got=mode)
    if not isinstance(per_sample_weights, TensorType):
        return
    same_dtype(("weight", weight), ("per_sample_weights", per_sample_weights))
    if same(input.shape, per_sample_weights.shape) is False:
        raise Mismatch(
            f"per_sample_weights has shape {per_sample_weights.shape}, but {name} has {input.shape}",
            expected=input.shape,
            got=per_sample_weights.shape,
        )
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
    need_ranks("weight", weight.shape, 2, meaning="(num_embeddings, embedding_dim)")
    _check_bag_weights(input, weight, mode, per_sample_weights)
    bags = _bags(input, offsets, include_last_offset)
    if mode == "max" and True in (scale_grad_by_freq, sparse):
        raise Mismatch("mode='max' takes neither scale_grad_by_freq nor sparse", got=mode)
    return TensorType(Shape.of(bags, weight.shape.dim(-1)), weight.dtype)


_MODES = ("sum", "mean", "max")


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
    need_ranks("weight", weight.shape, 2, meaning="(num_embeddings, embedding_dim)")
    _check_bag_weights(indices, weight, how, per_sample_weights, "indices")
    if indices.shape.rank != 1:
        raise CannotTell
    bags = _bags(indices, offsets, include_last_offset, "indices")
    found = TensorType(Shape.of(bags, weight.shape.dim(-1)), weight.dtype)
    return found, ANY_TENSOR, ANY_TENSOR, ANY_TENSOR


@rule("torch.nn.functional.one_hot")
def one_hot(tensor: TensorType, num_classes: Value = -1) -> TensorType:
    """``(*,) -> (*, num_classes)``"""
    _need_indices("tensor", tensor, INT64)
    classes = as_dim(num_classes)
    if isinstance(classes, int) and classes < 0:
        if classes < -1:
            raise Mismatch(f"num_classes is {classes}, but it must be -1 or the number of classes", got=classes)
        classes = UNKNOWN
    return TensorType(Shape((*tensor.shape.items, classes)), INT64)


@module("torch.nn.Embedding")
@record
class Embedding(ModuleRule):
    """``(*,) -> (*, embedding_dim)``"""

    num_embeddings: Value
    embedding_dim: Value
    padding_idx: Value = None
    device: Value = None
    dtype: Value = None

    def check(self) -> None:
        check_at_least("num_embeddings", (as_dim(self.num_embeddings),), 0)
        check_at_least("embedding_dim", (as_dim(self.embedding_dim),), 0)
        _check_padding_idx(self.padding_idx, as_dim(self.num_embeddings))

    def forward(self, input: TensorType) -> TensorType:
        _need_indices("input", input, INT64, INT32)
        return TensorType(Shape((*input.shape.items, as_dim(self.embedding_dim))), self.parameters_dtype)

    def attributes(self) -> Mapping[str, Value]:
        shape = Shape.of(as_dim(self.num_embeddings), as_dim(self.embedding_dim))
        return {"weight": TensorType(shape, is_parameter=True)}


@module("torch.nn.EmbeddingBag")
@record
class EmbeddingBag(ModuleRule):
    """``(B, n) -> (B, embedding_dim)``; ``(n,), offsets (B,) -> (B, embedding_dim)``"""

    num_embeddings: Value
    embedding_dim: Value
    mode: Value = "mean"
    include_last_offset: Value = False
    padding_idx: Value = None
    device: Value = None
    dtype: Value = None

    def check(self) -> None:
        check_at_least("num_embeddings", (as_dim(self.num_embeddings),), 0)
        check_at_least("embedding_dim", (as_dim(self.embedding_dim),), 0)
        _check_padding_idx(self.padding_idx, as_dim(self.num_embeddings))

    def forward(self, input: TensorType, offsets: Value = None, per_sample_weights: Value = None) -> TensorType:
        sizes = Shape.of(as_dim(self.num_embeddings), as_dim(self.embedding_dim))
        weight = TensorType(sizes, self.parameters_dtype)
        return embedding_bag(
            input,
            weight,
            offsets,
            mode=self.mode,
            per_sample_weights=per_sample_weights,
            include_last_offset=self.include_last_offset,
        )

    def attributes(self) -> Mapping[str, Value]:
        shape = Shape.of(as_dim(self.num_embeddings), as_dim(self.embedding_dim))
        return {"weight": TensorType(shape, is_parameter=True)}


__all__ = [
    "Embedding",
    "EmbeddingBag",
    "embedding",
    "embedding_bag",
    "embedding_bag_of_torch",
    "embedding_of_torch",
    "one_hot",
]
