"""The second stage of a gradient of weights: partial sums (parts, programs, n) in float32 become (parts, n)."""

import triton
import triton.language as tl

from simpletorch.dtypes import Float, Float32
from simpletorch.kernels._signatures import Pointer, Size
from simpletorch.kernels._triton import triton as bind


@bind(
    grid=lambda given: (triton.cdiv(given["n"], given["BLOCK"]), given["parts"]),
    configs=[{"BLOCK_M": 64, "BLOCK": 32, "num_warps": 4}],
)
@triton.jit
def column_sums(
    partial: "Pointer[Float32]",
    out: "Pointer[Float]",
    parts: "Size",
    programs: "Size",
    n: "Size",
    BLOCK_M: tl.constexpr,
    BLOCK: tl.constexpr,
):
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    part = tl.program_id(1).to(tl.int64)
    total = tl.zeros((BLOCK_M, BLOCK), dtype=tl.float32)
    for start in range(0, programs, BLOCK_M):
        row = start + tl.arange(0, BLOCK_M)
        inside = (row < programs)[:, None] & (column < n)[None, :]
        at = (part * programs + row)[:, None] * n + column[None, :]
        total += tl.load(partial + at, mask=inside, other=0.0)
    tl.store(out + part * n + column, tl.sum(total, axis=0), mask=column < n)
