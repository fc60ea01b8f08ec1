"""The linear layers of ``torch.nn``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from simpletorch.rules.common.arguments import as_dim
from simpletorch.rules.common.conditions import need_at_least, need_float_or_complex, need_min_rank
from simpletorch.rules.common.parameters import flagged, parameter
from simpletorch.rules.core.mismatch import Mismatch
from simpletorch.rules.core.registry import ModuleRule, module, record
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.rules.functions.networks.linear import bilinear
from simpletorch.shapes import UNKNOWN, Dim, Shape, equal


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
        need_at_least("in_features", self.in_features, 0)
        need_at_least("out_features", self.out_features, 0)

    def forward(self, input: TensorType) -> TensorType:
        need_float_or_complex("input", input, why="the weights are floats")
        need_min_rank("input", input, 1)
        last, wanted, out = input.shape.dim(-1), as_dim(self.in_features), as_dim(self.out_features)
        if equal(last, wanted) is False:
            raise Mismatch(
                f"the last dim of input is {last}, but the layer takes {wanted} features",
                hint=_hints(input.shape, wanted, out),
                expected=wanted,
                got=last,
            )
        return TensorType(Shape((*input.shape.drop_last(1).items, out)), input.dtype)

    def attributes(self) -> Mapping[str, Value]:
        out, features = as_dim(self.out_features), as_dim(self.in_features)
        return {
            "weight": parameter(out, features),
            "bias": flagged(self.bias, parameter(out)),
        }


def _hints(input: Shape, wanted: Dim, out: Dim) -> Iterator[str | None]:
    """Dims that a flatten should have joined, or kept; features that are another dim; the layer's own size."""
    fits = f"Linear({input.dim(-1)}, {out}) would fit"
    if input.rank == 1:
        yield f"input.unsqueeze(1) adds the feature dim: {input.dim(0)} samples of one number" if wanted == 1 else None
        yield _of_samples(input.dim(0), wanted)
    elif input.rank == 2 and equal(input.dim(0), wanted) is True:
        yield f"{fits}; or are batch and features swapped? input.T has {wanted} features"
    elif input.rank is not None:
        for first in range(1, input.rank - 1):
            is_all = equal(Shape(input.items[first:]).numel(), wanted) is True
            yield f"input.flatten({first}) has {wanted} features" if is_all else None
        if input.rank > 2 and equal(input.dim(-2), wanted) is True:
            yield f"input.mT has {wanted} features in its last dim"
    yield fits


def _of_samples(size: Dim, wanted: Dim) -> str | None:
    """A batch that was flattened with the features of its samples, if it was."""
    if not (isinstance(size, int) and isinstance(wanted, int)) or wanted < 2 or size % wanted:
        return None
    return f"if these are {size // wanted} samples of {wanted}, flatten(1) would have kept the batch dim"


def flattened(rule: Linear, input: Shape, before: Shape) -> str | None:
    """The hint where ``input`` is all of a tensor of this shape in one dim."""
    features, size, out = (as_dim(v) for v in (rule.in_features, input.dim(0), rule.out_features))
    if not before.is_exact or before.rank is None or before.rank < 2 or equal(before.numel(), size) is not True:
        return None
    own = Shape(before.items[1:]).numel()
    if equal(own, features) is True:
        return f"flatten(1) keeps the batch dim, which flatten() doesn't: {size} is {before.dim(0)} samples of {own}"
    if equal(own, features) is not False or _of_samples(size, features) is None:
        return None
    if before.rank == 2:
        return f"Linear({size}, {out}) would fit"
    return f"flatten(1) keeps the batch dim, which flatten() doesn't, and Linear({own}, {out}) would fit then"


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
        need_at_least("out_features", as_dim(self.out_features), 0)
        return Linear(UNKNOWN, self.out_features).forward(input)

    def attributes(self) -> Mapping[str, Value]:
        out = as_dim(self.out_features)
        return {"weight": parameter(out, UNKNOWN), "bias": flagged(self.bias, parameter(out))}


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
        need_at_least("in1_features", as_dim(self.in1_features), 1)
        need_at_least("in2_features", as_dim(self.in2_features), 0)
        need_at_least("out_features", as_dim(self.out_features), 0)

    def _weight(self) -> TensorType:
        sizes = (self.out_features, self.in1_features, self.in2_features)
        return parameter(*(as_dim(v) for v in sizes))

    def forward(self, input1: TensorType, input2: TensorType) -> TensorType:  # type: ignore[override]  # its own operands
        need_float_or_complex("input1", input1, why="the weights are floats")
        need_float_or_complex("input2", input2, why="the weights are floats")
        return bilinear(input1, input2, self._weight())

    def attributes(self) -> Mapping[str, Value]:
        return {"weight": self._weight(), "bias": flagged(self.bias, parameter(as_dim(self.out_features)))}


__all__ = ["Bilinear", "LazyLinear", "Linear", "flattened"]
