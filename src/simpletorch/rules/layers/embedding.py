"""Rows of a table as layers: Embedding and EmbeddingBag."""

from __future__ import annotations

from collections.abc import Mapping

from simpletorch.rules.common.arguments import as_dim
from simpletorch.rules.common.conditions import need_at_least, need_dtype
from simpletorch.rules.common.parameters import parameter
from simpletorch.rules.core.dtype import INT32, INT64
from simpletorch.rules.core.registry import ModuleRule, module, record
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.rules.functions.networks.embedding import embedding_bag, need_padding_idx
from simpletorch.shapes import Shape


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
        need_at_least("num_embeddings", as_dim(self.num_embeddings), 0)
        need_at_least("embedding_dim", as_dim(self.embedding_dim), 0)
        need_padding_idx(self.padding_idx, as_dim(self.num_embeddings))

    def forward(self, input: TensorType) -> TensorType:
        need_dtype("input", input, INT64, INT32, what="indices")
        return TensorType(Shape((*input.shape.items, as_dim(self.embedding_dim))), self.parameters_dtype)

    def attributes(self) -> Mapping[str, Value]:
        return {"weight": parameter(as_dim(self.num_embeddings), as_dim(self.embedding_dim))}


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
        need_at_least("num_embeddings", as_dim(self.num_embeddings), 0)
        need_at_least("embedding_dim", as_dim(self.embedding_dim), 0)
        need_padding_idx(self.padding_idx, as_dim(self.num_embeddings))

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
        return {"weight": parameter(as_dim(self.num_embeddings), as_dim(self.embedding_dim))}


__all__ = ["Embedding", "EmbeddingBag"]
