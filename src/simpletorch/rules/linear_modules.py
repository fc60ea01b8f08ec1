"""The linear layers of ``torch.nn`` beside `Linear`: lazy, bilinear."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from simpletorch.rules.convolution_modules import flagged_bias
from simpletorch.rules.matmul import Linear, bilinear
from simpletorch.rules.registry import ModuleRule, module
from simpletorch.rules.spatial import as_dim, check_at_least, need_float
from simpletorch.rules.values import TensorType, Value
from simpletorch.shapes import UNKNOWN, Shape


@module("torch.nn.LazyLinear")
@dataclass(frozen=True)
class LazyLinear(ModuleRule):
    """``(*, n) -> (*, out_features)``, whatever n is"""

    out_features: Value
    bias: Value = True

    def forward(self, input: TensorType) -> TensorType:
        check_at_least("out_features", (as_dim(self.out_features),), 0)
        return Linear(UNKNOWN, self.out_features).forward(input)

    def attributes(self) -> Mapping[str, Value]:
        out = as_dim(self.out_features)
        weight = TensorType(Shape.of(out, UNKNOWN), is_parameter=True)
        return {"weight": weight, "bias": flagged_bias(self.bias, out)}


@module("torch.nn.Bilinear")
@dataclass(frozen=True)
class Bilinear(ModuleRule):
    """``(*, in1_features), (*, in2_features) -> (*, out_features)``"""

    in1_features: Value
    in2_features: Value
    out_features: Value
    bias: Value = True

    def check(self) -> None:
        check_at_least("in1_features", (as_dim(self.in1_features),), 1)
        check_at_least("in2_features", (as_dim(self.in2_features),), 0)
        check_at_least("out_features", (as_dim(self.out_features),), 0)

    def _weight(self) -> TensorType:
        sizes = (self.out_features, self.in1_features, self.in2_features)
        return TensorType(Shape(tuple(as_dim(v) for v in sizes)), is_parameter=True)

    def forward(self, input1: TensorType, input2: TensorType) -> TensorType:  # type: ignore[override]  # its own operands
        need_float(input1, name="input1")
        need_float(input2, name="input2")
        return bilinear(input1, input2, self._weight())

    def attributes(self) -> Mapping[str, Value]:
        return {"weight": self._weight(), "bias": flagged_bias(self.bias, as_dim(self.out_features))}


__all__ = ["Bilinear", "LazyLinear"]
