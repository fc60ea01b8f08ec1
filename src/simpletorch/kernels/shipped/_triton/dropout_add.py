"""residual + dropout(x): what is dropped is computed from a seed, so that nothing is kept for the backward.

A program takes 8192 elements, in 8 segments of 1024. Philox 4x32-7 with the counter (position in the segment, program,
0, 0) gives four 32-bit numbers, split into eight 16-bit numbers. The first segment takes the lower half of the first,
the second its upper half, and so on. `simpletorch.kernels.shipped._philox` says the same in torch.
"""

import triton
import triton.language as tl

from simpletorch.dtypes import Float, Int64
from simpletorch.kernels._signatures import Number, Pointer, Size
from simpletorch.kernels._triton import triton as bind
from simpletorch.kernels.shipped._triton.grids import blocks_of

SEGMENT, SEGMENTS = 1024, 8


@triton.jit
def _segment(x, residual, out, n, at, number, dropped, scale):
    inside = at < n
    value = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
    result = tl.where(number.to(tl.int32) >= dropped, value * scale, 0.0)
    if residual is not None:
        result += tl.load(residual + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(out + at, result, mask=inside)


@bind(
    grid=lambda given: (blocks_of(given["n"], given["SEGMENT"] * 8),),
    configs=[{"SEGMENT": SEGMENT, "num_warps": 4}],
)
@triton.jit
def dropout_add(
    x: "Pointer[Float]",
    residual: "Pointer[Float] | None",
    out: "Pointer[Float]",
    seed: "Pointer[Int64]",
    n: "Size",
    dropped: "Size",
    scale: "Number",
    SEGMENT: tl.constexpr,
):
    scale = tl.cast(scale, tl.float32)
    program = tl.program_id(0)
    position = tl.arange(0, SEGMENT)
    a, b, c, d = tl.philox(tl.load(seed), position, position * 0 + program, position * 0, position * 0, 7)
    at = program.to(tl.int64) * (SEGMENT * 8) + position
    _segment(x, residual, out, n, at, a & 0xFFFF, dropped, scale)
    _segment(x, residual, out, n, at + SEGMENT, a >> 16, dropped, scale)
    _segment(x, residual, out, n, at + SEGMENT * 2, b & 0xFFFF, dropped, scale)
    _segment(x, residual, out, n, at + SEGMENT * 3, b >> 16, dropped, scale)
    _segment(x, residual, out, n, at + SEGMENT * 4, c & 0xFFFF, dropped, scale)
    _segment(x, residual, out, n, at + SEGMENT * 5, c >> 16, dropped, scale)
    _segment(x, residual, out, n, at + SEGMENT * 6, d & 0xFFFF, dropped, scale)
    _segment(x, residual, out, n, at + SEGMENT * 7, d >> 16, dropped, scale)
