"""AdamW over any number of parameters in one launch.

``table`` has a row for each block of at most ``BLOCK`` elements: its start in the parameter, the gradient and the two
averages, and its number of elements. Starts are counted in elements from the tensors that are passed.
"""

import triton
import triton.language as tl

from simpletorch.dtypes import Float, Int64
from simpletorch.kernels._signatures import Number, Pointer, Size
from simpletorch.kernels._triton import triton as bind


@triton.jit
def _rounded(value, seed, BLOCK: tl.constexpr):
    """To bfloat16, up or down with the chance that keeps the mean: the lower 16 bits are added noise, then cut off."""
    program = tl.program_id(0)
    counter = tl.arange(0, BLOCK // 4)
    a, b, c, d = tl.philox(tl.load(seed), counter, counter * 0 + program, counter * 0, counter * 0, 7)
    noise = tl.interleave(tl.interleave(a, c), tl.interleave(b, d)) & 0xFFFF
    bits = value.to(tl.uint32, bitcast=True)
    # infinities and NaN have no room for noise
    noisy = tl.where((bits & 0x7F800000) == 0x7F800000, bits, bits + noise)
    return (noisy & 0xFFFF0000).to(tl.float32, bitcast=True)


@bind(
    grid=lambda given: (given["blocks"],),
    configs=[{"ALIGNED": aligned, "BLOCK": 2048, "num_warps": 4} for aligned in (True, False)],
)
@triton.jit
def adamw_step(
    parameter: "Pointer[Float]",
    grad: "Pointer[Float]",
    average: "Pointer[Float]",
    square: "Pointer[Float]",
    table: "Pointer[Int64]",
    seed: "Pointer[Int64] | None",
    blocks: "Size",
    rate: "Number",
    decay: "Number",
    keep_average: "Number",
    add_average: "Number",
    keep_square: "Number",
    add_square: "Number",
    eps: "Number",
    average_correction: "Number",
    square_correction: "Number",
    ALIGNED: tl.constexpr,
    BLOCK: tl.constexpr,
):
    rate = tl.cast(rate, tl.float32)
    decay = tl.cast(decay, tl.float32)
    keep_average = tl.cast(keep_average, tl.float32)
    add_average = tl.cast(add_average, tl.float32)
    keep_square = tl.cast(keep_square, tl.float32)
    add_square = tl.cast(add_square, tl.float32)
    eps = tl.cast(eps, tl.float32)
    average_correction = tl.cast(average_correction, tl.float32)
    square_correction = tl.cast(square_correction, tl.float32)
    row = table + tl.program_id(0).to(tl.int64) * 5
    parameter_at = tl.load(row)
    grad_at = tl.load(row + 1)
    average_at = tl.load(row + 2)
    square_at = tl.load(row + 3)
    count = tl.load(row + 4).to(tl.int32)
    if ALIGNED:
        parameter_at = tl.multiple_of(parameter_at, 8)
        grad_at = tl.multiple_of(grad_at, 8)
        average_at = tl.multiple_of(average_at, 8)
        square_at = tl.multiple_of(square_at, 8)
        count = tl.multiple_of(count, 8)
    at = tl.arange(0, BLOCK)
    inside = at < count
    value = tl.load(parameter + parameter_at + at, mask=inside, other=0.0).to(tl.float32)
    slope = tl.load(grad + grad_at + at, mask=inside, other=0.0).to(tl.float32)
    mean = tl.load(average + average_at + at, mask=inside, other=0.0).to(tl.float32)
    spread = tl.load(square + square_at + at, mask=inside, other=0.0).to(tl.float32)
    mean = keep_average * mean + add_average * slope
    spread = keep_square * spread + add_square * slope * slope
    step = (mean * average_correction) / (tl.sqrt(spread * square_correction) + eps)
    value = value * decay - rate * step
    if seed is not None:
        value = _rounded(value, seed, BLOCK)
    tl.store(parameter + parameter_at + at, value, mask=inside)
    tl.store(average + average_at + at, mean, mask=inside)
    tl.store(square + square_at + at, spread, mask=inside)
