"""Distances and similarities of vectors, as layers."""

from __future__ import annotations

from simpletorch.rules.core.registry import ModuleRule, module, record
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.rules.functions.reducing.distance import cosine_similarity, pairwise_distance


@module("torch.nn.CosineSimilarity")
@record
class CosineSimilarity(ModuleRule):
    """``(*a, n, *b), (*a, n, *b) -> (*a, *b)``, broadcast"""

    dim: Value = 1

    def forward(self, x1: TensorType, x2: TensorType) -> TensorType:  # type: ignore[override]  # its own operands
        return cosine_similarity(x1, x2, self.dim)


@module("torch.nn.PairwiseDistance")
@record
class PairwiseDistance(ModuleRule):
    """``(*b, n), (*b, n) -> (*b)``, broadcast"""

    keepdim: Value = False

    def forward(self, x1: TensorType, x2: TensorType) -> TensorType:  # type: ignore[override]  # its own operands
        return pairwise_distance(x1, x2, keepdim=self.keepdim)


__all__ = ["CosineSimilarity", "PairwiseDistance"]
