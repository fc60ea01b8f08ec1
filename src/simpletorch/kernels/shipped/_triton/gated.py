"""activation(gate) * up, for SiLU and both GELUs.

Rows may lie apart, so the halves of a packed projection aren't copied.
"""

import triton
import triton.language as tl

from simpletorch.dtypes import Float
from simpletorch.kernels._signatures import Pointer, Size, Stride
from simpletorch.kernels._triton import triton as bind
from simpletorch.kernels.shipped._triton.grids import blocks_of

SILU, GELU, GELU_TANH = 0, 1, 2
CONFIGS = [{"ACTIVATION": kind, "BLOCK": 2048, "num_warps": 8} for kind in (SILU, GELU, GELU_TANH)]


def pieces(given):
    """A program for each ``BLOCK`` elements of a row."""
    return (given["rows"] * blocks_of(given["n"], given["BLOCK"]),)


@triton.jit
def _activated(gate, ACTIVATION: tl.constexpr):
    """The activation and its slope."""
    if ACTIVATION == 0:
        sigmoid = 1.0 / (1.0 + tl.exp(-gate))
        value = gate * sigmoid
        slope = sigmoid * (1.0 + gate * (1.0 - sigmoid))
    elif ACTIVATION == 1:
        below = 0.5 * (1.0 + tl.erf(gate * 0.7071067811865476))
        value = gate * below
        slope = below + gate * 0.3989422804014327 * tl.exp(-0.5 * gate * gate)
    else:
        inner = 0.7978845608028654 * gate * (1.0 + 0.044715 * gate * gate)
        # (1 + tanh(u)) / 2 = sigmoid(2 * u), which can't overflow to NaN
        below = 1.0 / (1.0 + tl.exp(-2.0 * inner))
        value = gate * below
        steep = 2.0 * 0.7978845608028654 * (1.0 + 3.0 * 0.044715 * gate * gate)
        slope = below + gate * below * (1.0 - below) * steep
    return value, slope


@bind(grid=pieces, configs=CONFIGS)
@triton.jit
def gated_forward(
    gate: "Pointer[Float]",
    up: "Pointer[Float]",
    out: "Pointer[Float]",
    rows: "Size",
    n: "Size",
    gate_stride: "Stride",
    up_stride: "Stride",
    ACTIVATION: tl.constexpr,
    BLOCK: tl.constexpr,
):
    pieces = tl.cdiv(n, BLOCK)
    row = (tl.program_id(0) // pieces).to(tl.int64)
    at = (tl.program_id(0) % pieces).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(gate + row * gate_stride + at, mask=inside, other=0.0).to(tl.float32)
    y = tl.load(up + row * up_stride + at, mask=inside, other=0.0).to(tl.float32)
    value, _ = _activated(x, ACTIVATION)
    tl.store(out + row * n + at, value * y, mask=inside)


@bind(grid=pieces, configs=CONFIGS)
@triton.jit
def gated_backward(
    grad: "Pointer[Float]",
    gate: "Pointer[Float]",
    up: "Pointer[Float]",
    gate_out: "Pointer[Float]",
    up_out: "Pointer[Float]",
    rows: "Size",
    n: "Size",
    grad_stride: "Stride",
    gate_stride: "Stride",
    up_stride: "Stride",
    out_stride: "Stride",
    ACTIVATION: tl.constexpr,
    BLOCK: tl.constexpr,
):
    pieces = tl.cdiv(n, BLOCK)
    row = (tl.program_id(0) // pieces).to(tl.int64)
    at = (tl.program_id(0) % pieces).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    down = tl.load(grad + row * grad_stride + at, mask=inside, other=0.0).to(tl.float32)
    x = tl.load(gate + row * gate_stride + at, mask=inside, other=0.0).to(tl.float32)
    y = tl.load(up + row * up_stride + at, mask=inside, other=0.0).to(tl.float32)
    value, slope = _activated(x, ACTIVATION)
    tl.store(gate_out + row * out_stride + at, down * y * slope, mask=inside)
    tl.store(up_out + row * out_stride + at, down * value, mask=inside)
