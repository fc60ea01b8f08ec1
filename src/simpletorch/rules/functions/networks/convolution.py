"""Convolutions and transposed convolutions over 1, 2 and 3 spatial dims."""

from __future__ import annotations

from dataclasses import dataclass

from simpletorch.rules.common.arguments import as_dim, plain
from simpletorch.rules.common.conditions import need_at_least, need_divisible, need_one_of, need_rank
from simpletorch.rules.common.dtypes import same_dtype
from simpletorch.rules.common.spatial import need_channels, per_dim, split_spatial
from simpletorch.rules.core.cards import SOMETHING, Card
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import TensorType, Value
from simpletorch.rules.functions.networks.linear import need_bias
from simpletorch.shapes import Dim, Shape, at_least, maximum


@dataclass(frozen=True)
class Window:
    """How a kernel slides, per spatial dim. ``padding`` is the total of both sides; None keeps the size ("same")."""

    kernel: tuple[Dim, ...]
    stride: tuple[Dim, ...]
    padding: tuple[Dim, ...] | None
    dilation: tuple[Dim, ...]

    def output(self, sizes: tuple[Dim, ...]) -> tuple[Dim, ...]:
        """``(H + 2*padding - dilation*(kernel - 1) - 1) // stride + 1`` for every dim."""
        if self.padding is None:
            return sizes
        padded = tuple(size + p for size, p in zip(sizes, self.padding, strict=True))
        spans = tuple(d * (k - 1) + 1 for k, d in zip(self.kernel, self.dilation, strict=True))
        if any(at_least(size, span) is False for size, span in zip(padded, spans, strict=True)):
            raise Mismatch(
                f"the kernel spans {_row(spans)}, but the padded input is only {_row(padded)}",
                expected=spans,
                got=padded,
            )
        return tuple((size - span) // s + 1 for size, span, s in zip(padded, spans, self.stride, strict=True))


def _row(dims: tuple[Dim, ...]) -> str:
    return " x ".join(map(str, dims))


def window(
    count: int, kernel: tuple[Dim, ...], stride: Value, padding: Value, dilation: Value, *, strings: bool = True
) -> Window:
    """The arguments of a convolution, checked."""
    strides = per_dim("stride", stride, count)
    dilations = per_dim("dilation", dilation, count)
    need_at_least("stride", stride, 1)
    need_at_least("dilation", dilation, 1)
    need_at_least("the kernel's size", kernel, 1)
    if isinstance(padding, str):
        need_padding(padding, stride, strides, strings)
        return Window(kernel, strides, None if padding == "same" else (0,) * count, dilations)
    one_side = per_dim("padding", padding, count)
    need_at_least("padding", padding, 0)
    return Window(kernel, strides, tuple(2 * p for p in one_side), dilations)


def need_padding(padding: str, stride: Value, strides: tuple[Dim, ...], allowed: bool = True) -> None:
    """``padding="same"`` needs stride 1; other strings than that and ``"valid"`` are refused."""
    if not allowed:
        raise Mismatch(f"padding is {padding!r}, but a transposed convolution takes ints", got=padding)
    need_one_of("padding", padding, "same", "valid", also="ints")
    if padding == "same" and any(isinstance(s, int) and s != 1 for s in strides):
        raise Mismatch(f"padding='same' needs stride 1, but stride is {plain(stride)}", expected=1, got=stride)


def _operands(input: TensorType, weight: TensorType, bias: Value) -> list[tuple[str, TensorType]]:
    rest = [("bias", bias)] if isinstance(bias, TensorType) else []
    return [("input", input), ("weight", weight), *rest]


def slide(input: TensorType, wanted: Dim, whose: str, out: Dim, window: Window) -> Shape:
    """``(N, Cin, *spatial) -> (N, Cout, *window(spatial))``"""
    count = len(window.kernel)
    lead, channels, spatial = split_spatial(input, count)
    need_channels(input, channels, wanted, whose, count)
    return Shape((*lead, out, *window.output(spatial)))


def _is(tensor: TensorType, *categories: str) -> bool:
    return tensor.dtype is not None and tensor.dtype.category in categories


def _conv(
    count: int,
    input: TensorType,
    weight: TensorType,
    bias: Value,
    stride: Value,
    padding: Value,
    dilation: Value,
    groups: Value,
) -> TensorType:
    # torch doesn't look at the bias' dtype where padding has a name
    lenient = padding in ("same", "valid") and not _is(input, "complex")
    dtype = same_dtype(*_operands(input, weight, None if lenient else bias))
    need_rank("weight", weight, count + 2)
    out, per_group, *kernel = weight.shape.last(count + 2)
    group = as_dim(groups)
    need_at_least("groups", group, 1)
    need_divisible("the first dim of weight", out, "groups", group)
    need_bias(bias, out)
    slid = window(count, tuple(kernel), stride, padding, dilation)
    return TensorType(slide(input, per_group * group, "weight takes", out, slid), dtype)


@rule("torch.nn.functional.conv1d", "torch.conv1d", card=Card(saves=SOMETHING))
def conv1d(
    input: TensorType,
    weight: TensorType,
    bias: Value = None,
    stride: Value = 1,
    padding: Value = 0,
    dilation: Value = 1,
    groups: Value = 1,
) -> TensorType:
    """``(N, Cin, L), weight (Cout, Cin/groups, k) -> (N, Cout, (L + 2p - d(k - 1) - 1)//s + 1)``"""
    return _conv(1, input, weight, bias, stride, padding, dilation, groups)


@rule("torch.nn.functional.conv2d", "torch.conv2d", card=Card(saves=SOMETHING))
def conv2d(
    input: TensorType,
    weight: TensorType,
    bias: Value = None,
    stride: Value = 1,
    padding: Value = 0,
    dilation: Value = 1,
    groups: Value = 1,
) -> TensorType:
    """``(N, Cin, H, W), weight (Cout, Cin/groups, kh, kw) -> (N, Cout, (H + 2p - d(k - 1) - 1)//s + 1, …)``"""
    return _conv(2, input, weight, bias, stride, padding, dilation, groups)


@rule("torch.nn.functional.conv3d", "torch.conv3d", card=Card(saves=SOMETHING))
def conv3d(
    input: TensorType,
    weight: TensorType,
    bias: Value = None,
    stride: Value = 1,
    padding: Value = 0,
    dilation: Value = 1,
    groups: Value = 1,
) -> TensorType:
    """``(N, Cin, D, H, W), weight (Cout, Cin/groups, kd, kh, kw) -> (N, Cout, (D + 2p - d(k - 1) - 1)//s + 1, …)``"""
    return _conv(3, input, weight, bias, stride, padding, dilation, groups)


@rule("torch.convolution")
def convolution(
    input: TensorType,
    weight: TensorType,
    bias: Value,
    stride: Value,
    padding: Value,
    dilation: Value,
    transposed: Value,
    output_padding: Value,
    groups: Value,
) -> TensorType:
    """as ``conv1d``, ``conv2d``, ``conv3d``, or transposed, by the dims of weight"""
    rank = weight.shape.rank
    if rank not in (3, 4, 5) or not isinstance(transposed, bool):
        raise CannotTell
    if transposed:
        return _conv_transpose(rank - 2, input, weight, bias, stride, padding, output_padding, groups, dilation)
    return _conv(rank - 2, input, weight, bias, stride, padding, dilation, groups)


@rule("torch.nn.functional.conv_tbc", "torch.conv_tbc")
def conv_tbc(input: TensorType, weight: TensorType, bias: TensorType, pad: Value = 0) -> TensorType:
    """``(T, B, Cin), weight (k, Cin, Cout), bias (Cout) -> (T + 2*pad - k + 1, B, Cout)``"""
    dtype = same_dtype(("input", input), ("weight", weight))  # a bias of any dtype is taken
    need_rank("input", input, 3, meaning="(T, B, C)")
    need_rank("weight", weight, 3, meaning="(kernel, in_channels, out_channels)")
    time, batch, channels = input.shape.last(3)
    kernel, wanted, out = weight.shape.last(3)
    need_channels(input, channels, wanted, "weight takes", 0)
    need_bias(bias, out)
    length = Window((kernel,), (1,), (2 * as_dim(pad),), (1,)).output((time,))
    return TensorType(Shape.of(*length, batch, out), dtype)


def _transposed_size(size: Dim, k: Dim, s: Dim, p: Dim, d: Dim, extra: Dim) -> Dim:
    """``(H - 1)*stride - 2*padding + dilation*(kernel - 1) + output_padding + 1``"""
    if at_least(extra, maximum(s, d)) is True:
        raise Mismatch(
            f"output_padding is {extra}, but it must be smaller than stride ({s}) or dilation ({d})",
            expected=maximum(s, d),
            got=extra,
        )
    out = (size - 1) * s - p + d * (k - 1) + extra + 1
    if at_least(out, 1) is False:
        raise Mismatch(f"the output would have size {out}: padding takes away more than there is", got=out)
    return out


def spread(
    input: TensorType, wanted: Dim, whose: str, out: Dim, window: Window, output_padding: tuple[Dim, ...]
) -> Shape:
    """``(N, Cin, *spatial) -> (N, Cout, *larger)``"""
    count = len(window.kernel)
    lead, channels, spatial = split_spatial(input, count)
    need_channels(input, channels, wanted, whose, count)
    assert window.padding is not None
    rows = zip(spatial, window.kernel, window.stride, window.padding, window.dilation, output_padding, strict=True)
    return Shape((*lead, out, *(_transposed_size(*row) for row in rows)))


def _conv_transpose(
    count: int,
    input: TensorType,
    weight: TensorType,
    bias: Value,
    stride: Value,
    padding: Value,
    output_padding: Value,
    groups: Value,
    dilation: Value,
) -> TensorType:
    # with fewer than 3 spatial dims, a real bias of another dtype is taken, if it is no higher
    higher = _is(input, "int", "bool") and isinstance(bias, TensorType) and _is(bias, "float", "complex")
    strict = count == 3 or _is(input, "complex") or higher
    dtype = same_dtype(*_operands(input, weight, bias if strict else None))
    need_rank("weight", weight, count + 2)
    wanted, per_group, *kernel = weight.shape.last(count + 2)
    group = as_dim(groups)
    need_at_least("groups", group, 1)
    need_divisible("the first dim of weight", wanted, "groups", group)
    out = per_group * group
    need_bias(bias, out)
    slid = window(count, tuple(kernel), stride, padding, dilation, strings=False)
    extra = per_dim("output_padding", output_padding, count)
    need_at_least("output_padding", output_padding, 0)
    return TensorType(spread(input, wanted, "weight takes", out, slid, extra), dtype)


@rule("torch.nn.functional.conv_transpose1d", "torch.conv_transpose1d")
def conv_transpose1d(
    input: TensorType,
    weight: TensorType,
    bias: Value = None,
    stride: Value = 1,
    padding: Value = 0,
    output_padding: Value = 0,
    groups: Value = 1,
    dilation: Value = 1,
) -> TensorType:
    """``(N, Cin, L), weight (Cin, Cout/groups, k) -> (N, Cout, (L - 1)s - 2p + d(k - 1) + output_padding + 1)``"""
    return _conv_transpose(1, input, weight, bias, stride, padding, output_padding, groups, dilation)


@rule("torch.nn.functional.conv_transpose2d", "torch.conv_transpose2d")
def conv_transpose2d(
    input: TensorType,
    weight: TensorType,
    bias: Value = None,
    stride: Value = 1,
    padding: Value = 0,
    output_padding: Value = 0,
    groups: Value = 1,
    dilation: Value = 1,
) -> TensorType:
    """``(N, Cin, H, W), weight (Cin, Cout/g, …) -> (N, Cout, (H - 1)s - 2p + d(k - 1) + output_padding + 1, …)``"""
    return _conv_transpose(2, input, weight, bias, stride, padding, output_padding, groups, dilation)


@rule("torch.nn.functional.conv_transpose3d", "torch.conv_transpose3d")
def conv_transpose3d(
    input: TensorType,
    weight: TensorType,
    bias: Value = None,
    stride: Value = 1,
    padding: Value = 0,
    output_padding: Value = 0,
    groups: Value = 1,
    dilation: Value = 1,
) -> TensorType:
    """``(N, Cin, D, H, W), weight (Cin, Cout/g, …) -> (N, Cout, (D - 1)s - 2p + d(k - 1) + output_padding + 1, …)``"""
    return _conv_transpose(3, input, weight, bias, stride, padding, output_padding, groups, dilation)


__all__ = [
    "Window",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "convolution",
    "need_padding",
    "slide",
    "spread",
    "window",
]
