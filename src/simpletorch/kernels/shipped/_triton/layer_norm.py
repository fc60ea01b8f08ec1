"""Layer normalization: the row stays in registers, so mean and variance cost no second read.

The backward recomputes them, which is cheaper than keeping them, and its programs walk over the rows: each adds up the
gradients of weight and bias in registers, and `column_sums` adds up the programs. All sums over a row are taken at
once. Rows for which there are no registers left leave the gradient of the bias to `partial_sums`.
"""

import triton
import triton.language as tl

from simpletorch.dtypes import Float, Float32
from simpletorch.kernels._signatures import Number, Pointer, Size, Stride
from simpletorch.kernels._triton import triton as bind
from simpletorch.kernels.shipped._triton.grids import blocks_of
from simpletorch.kernels.shipped._triton.sums import four_sums

FORWARD_CONFIGS = [
    {"BLOCK_M": 8, "BLOCK": 128, "num_warps": 4},
    {"BLOCK_M": 1, "BLOCK": 16384, "num_warps": 16},
]
BACKWARD_CONFIGS = [
    {"BIAS": True, "BLOCK_M": 16, "BLOCK": 128, "STAGES": 3, "num_warps": 4},
    {"BIAS": True, "BLOCK_M": 1, "BLOCK": 4096, "STAGES": 2, "num_warps": 8},
    {"BIAS": False, "BLOCK_M": 1, "BLOCK": 16384, "STAGES": 1, "num_warps": 16},
]


@bind(grid=lambda given: (blocks_of(given["rows"], given["BLOCK_M"]),), configs=FORWARD_CONFIGS)
@triton.jit
def layer_norm_forward(
    x: "Pointer[Float]",
    weight: "Pointer[Float]",
    bias: "Pointer[Float] | None",
    y: "Pointer[Float]",
    rows: "Size",
    n: "Size",
    x_stride: "Stride",
    y_stride: "Stride",
    eps: "Number",
    BLOCK_M: tl.constexpr,
    BLOCK: tl.constexpr,
):
    eps = tl.cast(eps, tl.float32)
    row = tl.program_id(0).to(tl.int64) * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]
    column = tl.arange(0, BLOCK)[None, :]
    inside = (row < rows) & (column < n)
    value = tl.load(x + row * x_stride + column, mask=inside, other=0.0).to(tl.float32)
    scale = tl.load(weight + column, mask=column < n, other=0.0).to(tl.float32)
    mean = tl.sum(value, axis=1, keep_dims=True) / n
    centred = tl.where(column < n, value - mean, 0.0)
    variance = tl.sum(centred * centred, axis=1, keep_dims=True) / n
    result = centred * tl.rsqrt(variance + eps) * scale
    if bias is not None:
        result += tl.load(bias + column, mask=column < n, other=0.0).to(tl.float32)
    tl.store(y + row * y_stride + column, result, mask=inside)


@bind(grid=lambda given: (given["programs"],), configs=BACKWARD_CONFIGS)
@triton.jit
def layer_norm_backward(
    grad: "Pointer[Float]",
    x: "Pointer[Float]",
    weight: "Pointer[Float]",
    out: "Pointer[Float]",
    partial: "Pointer[Float32]",
    rows: "Size",
    n: "Size",
    grad_stride: "Stride",
    x_stride: "Stride",
    out_stride: "Stride",
    programs: "Size",
    eps: "Number",
    BIAS: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK: tl.constexpr,
    STAGES: tl.constexpr,
):
    eps = tl.cast(eps, tl.float32)
    program = tl.program_id(0)
    column = tl.arange(0, BLOCK)[None, :]
    scale = tl.load(weight + column, mask=column < n, other=0.0).to(tl.float32)
    weights = tl.zeros((BLOCK_M, BLOCK), dtype=tl.float32)
    biases = tl.zeros((BLOCK_M, BLOCK) if BIAS else (1, 1), dtype=tl.float32)
    for tile in tl.range(program, tl.cdiv(rows, BLOCK_M), programs, num_stages=STAGES):
        row = tl.arange(0, BLOCK_M)[:, None].to(tl.int64) + tile * BLOCK_M
        inside = (row < rows) & (column < n)
        value = tl.load(x + row * x_stride + column, mask=inside, other=0.0).to(tl.float32)
        slope = tl.load(grad + row * grad_stride + column, mask=inside, other=0.0).to(tl.float32)
        # how far values are from the first of the row: squares of these don't cancel, however far the mean is from 0
        pivot = tl.load(x + row * x_stride, mask=row < rows, other=0.0).to(tl.float32)
        shifted = tl.where(column < n, value - pivot, 0.0)
        scaled = slope * scale
        total, squares, level, product = four_sums(shifted, shifted * shifted, scaled, scaled * shifted)
        mean = total / n
        level = level / n
        inverse = tl.rsqrt(tl.maximum(squares / n - mean * mean, 0.0) + eps)
        # beside the row this isn't 0, but slope is
        normal = (shifted - mean) * inverse
        along = (product / n - mean * level) * inverse
        tl.store(out + row * out_stride + column, inverse * (scaled - level - normal * along), mask=inside)
        weights += slope * normal
        if BIAS:
            biases += slope
    at = tl.arange(0, BLOCK)
    tl.store(partial + program.to(tl.int64) * n + at, tl.sum(weights, axis=0), mask=at < n)
    if BIAS:
        tl.store(partial + (programs + program).to(tl.int64) * n + at, tl.sum(biases, axis=0), mask=at < n)
