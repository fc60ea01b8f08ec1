"""Images as columns of sliding blocks (im2col), and back: unfold and fold."""

from __future__ import annotations

from simpletorch.rules.mismatch import Mismatch
from simpletorch.rules.registry import ModuleRule, module, record, rule
from simpletorch.rules.spatial import as_dim, check_at_least, check_equal, need_ranks, per_dim, split_spatial
from simpletorch.rules.values import TensorType, Value
from simpletorch.shapes import Dim, Shape, at_least

_Pair = tuple[Dim, ...]


def _pair(name: str, value: Value, least: int) -> _Pair:
    found = per_dim(name, value, 2, repeat=False)
    check_at_least(name, found, least, value)
    return found


def _positions(sizes: _Pair, kernel_size: Value, dilation: Value, padding: Value, stride: Value) -> Dim:
    """How many blocks there are: the product of ``(H + 2p - d(k - 1) - 1)//s + 1``."""
    kernel = _pair("kernel_size", kernel_size, 1)
    total: Dim = 1
    rows = zip(
        sizes,
        kernel,
        _pair("dilation", dilation, 1),
        _pair("padding", padding, 0),
        _pair("stride", stride, 1),
        strict=True,
    )
    for size, k, d, p, s in rows:
        found = (size + 2 * p - d * (k - 1) - 1) // s + 1
        if at_least(found, 1) is False:
            raise Mismatch(
                f"a block spans {d * (k - 1) + 1}, but the padded image is only {size + 2 * p}",
                expected=d * (k - 1) + 1,
                got=size + 2 * p,
            )
        total = total * found
    return total


@rule("torch.nn.functional.unfold")
def unfold(
    input: TensorType, kernel_size: Value, dilation: Value = 1, padding: Value = 0, stride: Value = 1
) -> TensorType:
    """``(N, C, H, W) -> (N, C*kh*kw, blocks)``"""
    lead, channels, spatial = split_spatial(input, 2)
    kh, kw = _pair("kernel_size", kernel_size, 1)
    blocks = _positions(spatial, kernel_size, dilation, padding, stride)
    return TensorType(Shape((*lead, channels * kh * kw, blocks)), input.dtype)


@rule("torch.nn.functional.fold")
def fold(
    input: TensorType,
    output_size: Value,
    kernel_size: Value,
    dilation: Value = 1,
    padding: Value = 0,
    stride: Value = 1,
) -> TensorType:
    """``(N, C*kh*kw, blocks) -> (N, C, *output_size)``"""
    need_ranks("input", input.shape, 2, 3, meaning="(N, C*kh*kw, L) or (C*kh*kw, L)")
    sizes = tuple(as_dim(v) for v in output_size) if isinstance(output_size, tuple) else (as_dim(output_size),) * 2
    if len(sizes) != 2:
        raise Mismatch(f"output_size has {len(sizes)} entries, but it must have 2", expected=2, got=len(sizes))
    kh, kw = _pair("kernel_size", kernel_size, 1)
    columns, found = input.shape.last(2)
    if (
        all(isinstance(v, int) for v in (columns, kh, kw))
        and isinstance(columns % (kh * kw), int)
        and columns % (kh * kw)
    ):
        raise Mismatch(
            f"dim -2 of input is {columns}, not divisible by the {kh * kw} entries of a {kh} x {kw} block",
            expected=kh * kw,
            got=columns,
        )
    blocks = _positions(sizes, kernel_size, dilation, padding, stride)
    check_equal("the last dim of input is", found, "the number of blocks is", blocks)
    return TensorType(Shape((*input.shape.drop_last(2).items, columns // (kh * kw), *sizes)), input.dtype)


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


__all__ = ["Fold", "Unfold", "fold", "unfold"]
