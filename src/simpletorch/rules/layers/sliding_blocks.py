"""Unfold and Fold."""

from __future__ import annotations

from simpletorch.rules.core.registry import ModuleRule, module, record
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.rules.functions.networks.sliding_blocks import fold, unfold


@module("torch.nn.Unfold")
@record
class Unfold(ModuleRule):
    """``(N, C, H, W) -> (N, C*kh*kw, blocks)``"""

    kernel_size: Value
    dilation: Value = 1
    padding: Value = 0
    stride: Value = 1

    def forward(self, input: TensorType) -> TensorType:
        return unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)


@module("torch.nn.Fold")
@record
class Fold(ModuleRule):
    """``(N, C*kh*kw, blocks) -> (N, C, *output_size)``"""

    output_size: Value
    kernel_size: Value
    dilation: Value = 1
    padding: Value = 0
    stride: Value = 1

    def forward(self, input: TensorType) -> TensorType:
        return fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)


__all__ = ["Fold", "Unfold"]
