"""The linear layers of ``torch.nn``."""

from __future__ import annotations

from collections.abc import Mapping

from simpletorch.rules.convolution_modules import flagged_bias
from simpletorch.rules.matmul import bilinear, check_size
from simpletorch.rules.mismatch import Mismatch
from simpletorch.rules.registry import ModuleRule, module, record
from simpletorch.rules.spatial import as_dim, check_at_least, need_float
from simpletorch.rules.values import TensorType, Value
from simpletorch.shapes import UNKNOWN, Shape, equal


@module("torch.nn.Linear")
@record
class Linear(ModuleRule):
    """``(*, in_features) -> (*, out_features)``"""

    takes_parameters_dtype = ("input",)

    in_features: Value
    out_features: Value
    bias: Value = True
    device: Value = None
    dtype: Value = None

    def check(self) -> None:
        check_size("in_features", self.in_features, least=0)
        check_size("out_features", self.out_features, least=0)

    def forward(self, input: TensorType) -> TensorType:
        if input.dtype is not None and input.dtype.category in ("bool", "int"):
            raise Mismatch(
                f"input is {input.dtype}, but the weights are floats",
                kind="dtype",
                hint="input.float()",
                got=input.dtype,
            )
        if input.shape.rank == 0:
            raise Mismatch("input is 0-dim; it needs at least 1 dim")
        last, wanted, out = input.shape.dim(-1), as_dim(self.in_features), as_dim(self.out_features)
        if equal(last, wanted) is False:
            raise Mismatch(
                f"the last dim of input is {last}, but the layer takes {wanted} features",
                hint=f"Linear({last}, {out}) would fit",
                expected=wanted,
                got=last,
            )
        return TensorType(Shape((*input.shape.drop_last(1).items, out)), input.dtype)

    def attributes(self) -> Mapping[str, Value]:
        out, features = as_dim(self.out_features), as_dim(self.in_features)
        return {
            "weight": TensorType(Shape.of(out, features), is_parameter=True),
            "bias": flagged_bias(self.bias, out),
        }


@module("torch.nn.LazyLinear")
@record
class LazyLinear(ModuleRule):
    """``(*, n) -> (*, out_features)``, whatever n is"""

    takes_parameters_dtype = ("input",)

    out_features: Value
    bias: Value = True
    device: Value = None
    dtype: Value = None

    def forward(self, input: TensorType) -> TensorType:
        check_at_least("out_features", (as_dim(self.out_features),), 0)
        return Linear(UNKNOWN, self.out_features).forward(input)

    def attributes(self) -> Mapping[str, Value]:
        out = as_dim(self.out_features)
        weight = TensorType(Shape.of(out, UNKNOWN), is_parameter=True)
        return {"weight": weight, "bias": flagged_bias(self.bias, out)}


@module("torch.nn.Bilinear")
@record
class Bilinear(ModuleRule):
    """``(*, in1_features), (*, in2_features) -> (*, out_features)``"""

    takes_parameters_dtype = ("input1", "input2")

    in1_features: Value
    in2_features: Value
    out_features: Value
    bias: Value = True
    device: Value = None
    dtype: Value = None

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


__all__ = ["Bilinear", "LazyLinear", "Linear"]
