"""Softmax over the last dim: rows that fit are read once, longer ones twice."""

import triton
import triton.language as tl

from simpletorch.dtypes import Float
from simpletorch.kernels._signatures import Number, Pointer, Size, Stride
from simpletorch.kernels._triton import triton as bind
from simpletorch.kernels.shipped._triton.grids import blocks_of

CONFIGS = [
    {"BLOCK_M": 8, "BLOCK": 128, "num_warps": 4},
    {"BLOCK_M": 1, "BLOCK": 16384, "num_warps": 16},
]
LONG_CONFIGS = [{"BLOCK": 8192, "num_warps": 8}]


def tiles(given):
    """A program for each ``BLOCK_M`` rows."""
    return (blocks_of(given["rows"], given["BLOCK_M"]),)


def one_each(given):
    """A program for each row."""
    return (given["rows"],)


@bind(grid=tiles, configs=CONFIGS)
@triton.jit
def softmax_forward(
    x: "Pointer[Float]",
    y: "Pointer[Float]",
    rows: "Size",
    n: "Size",
    x_stride: "Stride",
    y_stride: "Stride",
    scale: "Number",
    BLOCK_M: tl.constexpr,
    BLOCK: tl.constexpr,
):
    scale = tl.cast(scale, tl.float32)
    row = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    column = tl.arange(0, BLOCK)[None, :]
    inside = (row < rows) & (column < n)
    value = tl.load(x + row * x_stride + column, mask=inside, other=0.0).to(tl.float32) * scale
    value = tl.where(inside, value, -float("inf"))
    power = tl.exp(value - tl.max(value, axis=1, keep_dims=True))
    tl.store(y + row * y_stride + column, power / tl.sum(power, axis=1, keep_dims=True), mask=inside)


@bind(grid=one_each, configs=LONG_CONFIGS)
@triton.jit
def softmax_forward_long(
    x: "Pointer[Float]",
    y: "Pointer[Float]",
    rows: "Size",
    n: "Size",
    x_stride: "Stride",
    y_stride: "Stride",
    scale: "Number",
    BLOCK: tl.constexpr,
):
    scale = tl.cast(scale, tl.float32)
    row = tl.program_id(0).to(tl.int64)
    x += row * x_stride
    y += row * y_stride
    column = tl.arange(0, BLOCK)
    largest = -float("inf")
    total = 0.0
    for start in range(0, n, BLOCK):
        inside = start + column < n
        value = tl.load(x + start + column, mask=inside, other=0.0).to(tl.float32) * scale
        value = tl.where(inside, value, -float("inf"))
        larger = tl.maximum(largest, tl.max(value, axis=0))
        # all -inf until now: their difference would be NaN, and the sum is 0
        base = tl.where(larger == -float("inf"), 0.0, larger)
        total = total * tl.exp(largest - base) + tl.sum(tl.exp(value - base), axis=0)
        largest = larger
    for start in range(0, n, BLOCK):
        inside = start + column < n
        value = tl.load(x + start + column, mask=inside, other=0.0).to(tl.float32) * scale
        tl.store(y + start + column, tl.exp(value - largest) / total, mask=inside)


@bind(grid=tiles, configs=CONFIGS)
@triton.jit
def softmax_backward(
    grad: "Pointer[Float]",
    y: "Pointer[Float]",
    out: "Pointer[Float]",
    rows: "Size",
    n: "Size",
    grad_stride: "Stride",
    y_stride: "Stride",
    out_stride: "Stride",
    scale: "Number",
    BLOCK_M: tl.constexpr,
    BLOCK: tl.constexpr,
):
    scale = tl.cast(scale, tl.float32)
    row = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    column = tl.arange(0, BLOCK)[None, :]
    inside = (row < rows) & (column < n)
    value = tl.load(y + row * y_stride + column, mask=inside, other=0.0).to(tl.float32)
    slope = tl.load(grad + row * grad_stride + column, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(value * slope, axis=1, keep_dims=True)
    tl.store(out + row * out_stride + column, scale * value * (slope - mean), mask=inside)


@bind(grid=one_each, configs=LONG_CONFIGS)
@triton.jit
def softmax_backward_long(
    grad: "Pointer[Float]",
    y: "Pointer[Float]",
    out: "Pointer[Float]",
    rows: "Size",
    n: "Size",
    grad_stride: "Stride",
    y_stride: "Stride",
    out_stride: "Stride",
    scale: "Number",
    BLOCK: tl.constexpr,
):
    scale = tl.cast(scale, tl.float32)
    row = tl.program_id(0).to(tl.int64)
    grad += row * grad_stride
    y += row * y_stride
    out += row * out_stride
    column = tl.arange(0, BLOCK)
    mean = 0.0
    for start in range(0, n, BLOCK):
        inside = start + column < n
        value = tl.load(y + start + column, mask=inside, other=0.0).to(tl.float32)
        mean += tl.sum(value * tl.load(grad + start + column, mask=inside, other=0.0).to(tl.float32), axis=0)
    for start in range(0, n, BLOCK):
        inside = start + column < n
        value = tl.load(y + start + column, mask=inside, other=0.0).to(tl.float32)
        slope = tl.load(grad + start + column, mask=inside, other=0.0).to(tl.float32)
        tl.store(out + start + column, scale * value * (slope - mean), mask=inside)
