"""Kernels for the tests of the binding: right ones, and some with a mistake that Triton alone would let pass."""

import triton
import triton.language as tl

from simpletorch.dtypes import Float, Float32, Int64
from simpletorch.kernels import Number, Pointer, Size, Stride
from simpletorch.kernels import triton as bind


def blocks(given):
    return (triton.cdiv(given["n"], given["BLOCK"]),)


@triton.jit
def scaled_body(x: "Pointer[Float]", y: "Pointer[Float] | None", n: "Size", factor: "Number", BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) * factor, mask=at < n)


scaled = bind(grid=blocks, configs=[{"BLOCK": 128}, {"BLOCK": 512, "num_warps": 8}])(scaled_body)


@triton.jit
def no_annotation(x, n: "Size"):
    pass


@triton.jit
def other_annotation(x: "Pointer[Float]", n: "str"):
    pass


@bind(grid=blocks, configs=[{"BLOCK": 8192, "num_warps": 8}])
@triton.jit
def too_much_shared(x: "Pointer[Float32]", n: "Size", BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    # what is loaded ahead lies in shared memory: 7 blocks of 32 KiB
    for start in tl.range(0, n, BLOCK, num_stages=8):
        total += tl.load(x + start + at)
    tl.store(x + at, total)


@bind(grid=blocks, configs=[{"BLOCK": 256, "num_warps": 32}])
@triton.jit
def too_many_threads_for_amd(x: "Pointer[Float32]", n: "Size", BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, 1.0, mask=at < n)


@bind(grid=blocks, configs=[{"BLOCK": 128}])
@triton.jit
def a_size_for_a_pointer(x: "Pointer[Float32]", y: "Size", n: "Size", BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(y + at, mask=at < n), mask=at < n)


@bind(grid=blocks)
@triton.jit
def no_configs(x: "Pointer[Int64]", n: "Size", step: "Stride", BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at * step, at, mask=at < n)
