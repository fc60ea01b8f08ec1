"""Images as columns of sliding blocks (im2col), and back: unfold and fold."""

from __future__ import annotations

from simpletorch.rules.common.conditions import need_at_least, need_divisible, need_rank, need_size
from simpletorch.rules.common.spatial import per_dim, split_spatial
from simpletorch.rules.core.mismatch import Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.shapes import Dim, Shape, at_least

_Pair = tuple[Dim, ...]


def _pair(name: str, value: Value, least: int) -> _Pair:
    found = per_dim(name, value, 2, repeat=False)
    need_at_least(name, value, least)
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
    need_rank("input", input, 2, 3, meaning="(N, C*kh*kw, L) or (C*kh*kw, L)")
    sizes = per_dim("output_size", output_size, 2, repeat=False)
    kh, kw = _pair("kernel_size", kernel_size, 1)
    columns, found = input.shape.last(2)
    need_divisible("dim -2 of input", columns, f"the block's {kh} x {kw}", kh * kw)
    blocks = _positions(sizes, kernel_size, dilation, padding, stride)
    need_size("the last dim of input is", found, "the number of blocks is", blocks)
    return TensorType(Shape((*input.shape.drop_last(2).items, columns // (kh * kw), *sizes)), input.dtype)


__all__ = ["fold", "unfold"]
