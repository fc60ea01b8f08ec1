"""The layers of `einops.layers.torch`."""

from __future__ import annotations

from simpletorch.rules.common.arguments import dim_or_unknown
from simpletorch.rules.core.mismatch import CannotTell
from simpletorch.rules.core.registry import ModuleRule, module, record
from simpletorch.rules.core.values import ANY_TENSOR, ANYTHING, TensorType, Value
from simpletorch.rules.functions.shaping.einops import need_pattern, transform
from simpletorch.shapes import Dim

__all__ = ["Rearrange", "Reduce"]


def _lengths(value: Value) -> dict[str, Dim] | None:
    """Sizes given as pairs of name and size; None if it isn't known which are given."""
    if not isinstance(value, tuple):
        return None
    out: dict[str, Dim] = {}
    for pair in value:
        if not isinstance(pair, tuple) or len(pair) != 2 or not isinstance(pair[0], str):
            return None
        out[pair[0]] = dim_or_unknown(pair[1])
    return out


@module("einops.layers.torch.Rearrange")
@record
class Rearrange(ModuleRule):
    """``"b (h w) c -> b h (w c)", (b, h·w, c) -> (b, h, w·c)``"""

    pattern: Value
    axes_lengths: Value = ANYTHING  # pairs of name and size

    def check(self) -> None:
        if isinstance(self.pattern, str):
            need_pattern("rearrange", self.pattern, _lengths(self.axes_lengths))

    def forward(self, input: TensorType) -> TensorType:
        if not isinstance(self.pattern, str):
            return ANY_TENSOR.with_dtype(input.dtype)
        return transform("rearrange", input, self.pattern, _lengths(self.axes_lengths))


@module("einops.layers.torch.Reduce")
@record
class Reduce(ModuleRule):
    """``"b (h s) -> b h", (b, h·s) -> (b, h)``"""

    pattern: Value
    reduction: Value
    axes_lengths: Value = ANYTHING  # pairs of name and size

    def check(self) -> None:
        if isinstance(self.pattern, str) and isinstance(self.reduction, str):
            need_pattern(self.reduction, self.pattern, _lengths(self.axes_lengths))

    def forward(self, input: TensorType) -> TensorType:
        if not isinstance(self.pattern, str) or not isinstance(self.reduction, str):
            raise CannotTell
        return transform(self.reduction, input, self.pattern, _lengths(self.axes_lengths))
