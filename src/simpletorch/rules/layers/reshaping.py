"""Layers that only move elements: Flatten, Unflatten."""

from __future__ import annotations

from simpletorch.rules.core.registry import ModuleRule, module, record
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.rules.functions.shaping.reshaping import flatten, unflatten

__all__ = ["Flatten", "Unflatten"]


@module("torch.nn.Flatten")
@record
class Flatten(ModuleRule):
    """``(*a, *m, *b) -> (*a, n, *b)`` with n the product of the dims from start_dim to end_dim"""

    start_dim: Value = 1
    end_dim: Value = -1

    def forward(self, input: TensorType) -> TensorType:
        return flatten(input, self.start_dim, self.end_dim)


@module("torch.nn.Unflatten")
@record
class Unflatten(ModuleRule):
    """``(*a, n, *b) -> (*a, *unflattened_size, *b)`` with the product of unflattened_size n"""

    dim: Value
    unflattened_size: Value

    def forward(self, input: TensorType) -> TensorType:
        return unflatten(input, self.dim, self.unflattened_size)
