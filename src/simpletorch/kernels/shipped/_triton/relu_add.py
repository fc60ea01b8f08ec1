"""relu(x + y): element-wise over what lies in memory in one piece."""

import triton
import triton.language as tl

from simpletorch.dtypes import Float
from simpletorch.kernels._signatures import Pointer, Size
from simpletorch.kernels._triton import triton as bind
from simpletorch.kernels.shipped._triton.grids import blocks_of

CONFIGS = [{"BLOCK": 1024, "num_warps": 8}]


def blocks(given):
    """A program for each ``BLOCK`` elements."""
    return (blocks_of(given["n"], given["BLOCK"]),)


@bind(grid=blocks, configs=CONFIGS)
@triton.jit
def relu_add_forward(x: "Pointer[Float]", y: "Pointer[Float]", out: "Pointer[Float]", n: "Size", BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    total = tl.load(x + at, mask=inside).to(tl.float32) + tl.load(y + at, mask=inside).to(tl.float32)
    # not maximum(total, 0), which would hide a NaN
    tl.store(out + at, tl.where(total <= 0, 0.0, total), mask=inside)


@bind(grid=blocks, configs=CONFIGS)
@triton.jit
def relu_add_backward(
    grad: "Pointer[Float]", result: "Pointer[Float]", out: "Pointer[Float]", n: "Size", BLOCK: tl.constexpr
):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    kept = tl.load(result + at, mask=inside) <= 0
    tl.store(out + at, tl.where(kept, 0.0, tl.load(grad + at, mask=inside).to(tl.float32)), mask=inside)
