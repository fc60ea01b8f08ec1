"""Root mean square normalization, with the addition of a residual before it.

As `layer_norm`: one read of each row, and two stages for the gradient of the weight.
"""

import triton
import triton.language as tl

from simpletorch.dtypes import Float, Float32
from simpletorch.kernels._signatures import Number, Pointer, Size, Stride
from simpletorch.kernels._triton import triton as bind
from simpletorch.kernels.shipped._triton.grids import blocks_of
from simpletorch.kernels.shipped._triton.sums import two_sums

FORWARD_CONFIGS = [
    {"BLOCK_M": 8, "BLOCK": 128, "num_warps": 4},
    {"BLOCK_M": 1, "BLOCK": 16384, "num_warps": 16},
]
BACKWARD_CONFIGS = [
    {"BLOCK_M": 32, "BLOCK": 128, "STAGES": 3, "num_warps": 8},
    {"BLOCK_M": 1, "BLOCK": 4096, "STAGES": 2, "num_warps": 8},
    {"BLOCK_M": 1, "BLOCK": 16384, "STAGES": 1, "num_warps": 16},
]


@bind(grid=lambda given: (blocks_of(given["rows"], given["BLOCK_M"]),), configs=FORWARD_CONFIGS)
@triton.jit
def rms_norm_forward(
    x: "Pointer[Float]",
    residual: "Pointer[Float] | None",
    weight: "Pointer[Float]",
    y: "Pointer[Float]",
    total: "Pointer[Float] | None",
    rows: "Size",
    n: "Size",
    x_stride: "Stride",
    residual_stride: "Stride",
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
    if residual is not None:
        value += tl.load(residual + row * residual_stride + column, mask=inside, other=0.0).to(tl.float32)
        # what is handed on is what is normalized: rounded once
        value = value.to(total.dtype.element_ty)
        tl.store(total + row * y_stride + column, value, mask=inside)
        value = value.to(tl.float32)
    scale = tl.load(weight + column, mask=column < n, other=0.0).to(tl.float32)
    inverse = tl.rsqrt(tl.sum(value * value, axis=1, keep_dims=True) / n + eps)
    tl.store(y + row * y_stride + column, value * inverse * scale, mask=inside)


@bind(grid=lambda given: (given["programs"],), configs=BACKWARD_CONFIGS)
@triton.jit
def rms_norm_backward(
    grad: "Pointer[Float]",
    total_grad: "Pointer[Float] | None",
    x: "Pointer[Float]",
    weight: "Pointer[Float]",
    out: "Pointer[Float]",
    partial: "Pointer[Float32]",
    rows: "Size",
    n: "Size",
    grad_stride: "Stride",
    total_grad_stride: "Stride",
    x_stride: "Stride",
    out_stride: "Stride",
    programs: "Size",
    eps: "Number",
    BLOCK_M: tl.constexpr,
    BLOCK: tl.constexpr,
    STAGES: tl.constexpr,
):
    eps = tl.cast(eps, tl.float32)
    program = tl.program_id(0)
    column = tl.arange(0, BLOCK)[None, :]
    scale = tl.load(weight + column, mask=column < n, other=0.0).to(tl.float32)
    weights = tl.zeros((BLOCK_M, BLOCK), dtype=tl.float32)
    for tile in tl.range(program, tl.cdiv(rows, BLOCK_M), programs, num_stages=STAGES):
        row = tl.arange(0, BLOCK_M)[:, None].to(tl.int64) + tile * BLOCK_M
        inside = (row < rows) & (column < n)
        value = tl.load(x + row * x_stride + column, mask=inside, other=0.0).to(tl.float32)
        slope = tl.load(grad + row * grad_stride + column, mask=inside, other=0.0).to(tl.float32)
        scaled = slope * scale
        squares, product = two_sums(value * value, scaled * value)
        inverse = tl.rsqrt(squares / n + eps)
        normal = value * inverse
        result = inverse * (scaled - normal * (product * inverse / n))
        if total_grad is not None:
            at = total_grad + row * total_grad_stride + column
            result += tl.load(at, mask=inside, other=0.0).to(tl.float32)
        tl.store(out + row * out_stride + column, result, mask=inside)
        weights += slope * normal
    at = tl.arange(0, BLOCK)
    tl.store(partial + program.to(tl.int64) * n + at, tl.sum(weights, axis=0), mask=at < n)
