"""Sums over rows in two stages, for gradients of weights: in float32, and in the same order each time.

`partial_sums` is the first stage where no other kernel does it along the way; `column_sums` is the second: partial sums
(parts, programs, n) become (parts, n).
"""

import triton
import triton.language as tl

from simpletorch.dtypes import Float, Float32
from simpletorch.kernels._signatures import Pointer, Size, Stride
from simpletorch.kernels._triton import triton as bind
from simpletorch.kernels.shipped._triton.grids import blocks_of


@bind(
    grid=lambda given: (blocks_of(given["n"], given["BLOCK"]), given["parts"]),
    configs=[{"BLOCK_M": 128, "BLOCK": 32, "num_warps": 8}],
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


@bind(
    grid=lambda given: (blocks_of(given["n"], given["BLOCK"]), given["programs"]),
    configs=[{"BLOCK_M": 16, "BLOCK": 256, "num_warps": 4}],
)
@triton.jit
def partial_sums(
    x: "Pointer[Float]",
    partial: "Pointer[Float32]",
    rows: "Size",
    n: "Size",
    stride: "Stride",
    programs: "Size",
    BLOCK_M: tl.constexpr,
    BLOCK: tl.constexpr,
):
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    program = tl.program_id(1)
    total = tl.zeros((BLOCK_M, BLOCK), dtype=tl.float32)
    for tile in range(program, tl.cdiv(rows, BLOCK_M), programs):
        row = tl.arange(0, BLOCK_M)[:, None].to(tl.int64) + tile * BLOCK_M
        inside = (row < rows) & (column < n)[None, :]
        total += tl.load(x + row * stride + column[None, :], mask=inside, other=0.0).to(tl.float32)
    tl.store(partial + program.to(tl.int64) * n + column, tl.sum(total, axis=0), mask=column < n)
