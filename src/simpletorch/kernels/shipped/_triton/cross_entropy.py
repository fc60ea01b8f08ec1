"""Cross entropy over the last dim: no probabilities are kept, only one number a row (the logarithm of the sum)."""

import triton
import triton.language as tl

from simpletorch.dtypes import Float, Float32, Int64
from simpletorch.kernels._signatures import Number, Pointer, Size, Stride
from simpletorch.kernels._triton import triton as bind
from simpletorch.kernels.shipped._triton.grids import blocks_of

FORWARD_CONFIGS = [{"SMOOTH": smooth, "BLOCK": 16384, "STAGES": 1, "num_warps": 8} for smooth in (False, True)]
IN_PLACE_CONFIGS = [{"SMOOTH": smooth, "BLOCK": 4096, "STAGES": 3, "num_warps": 4} for smooth in (False, True)]


@triton.jit
def _normalizer(logits, n, SMOOTH: tl.constexpr, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    """The logarithm of the sum of the powers of a row, and the sum of the row if it is asked for."""
    column = tl.arange(0, BLOCK)
    largest = -float("inf")
    power = 0.0
    total = 0.0
    for start in tl.range(0, n, BLOCK, num_stages=STAGES):
        inside = start + column < n
        value = tl.load(logits + start + column, mask=inside, other=-float("inf")).to(tl.float32)
        if SMOOTH:
            total += tl.sum(tl.where(inside, value, 0.0), axis=0)
        larger = tl.maximum(largest, tl.max(value, axis=0))
        base = tl.where(larger == -float("inf"), 0.0, larger)
        power = power * tl.exp(largest - base) + tl.sum(tl.exp(value - base), axis=0)
        largest = larger
    return largest + tl.log(power), total


@triton.jit
def _loss(logits, target, n, normalizer, total, smoothing):
    """The loss of a row. A target outside of the classes gives NaN: nothing beside the row is read."""
    known = (target >= 0) & (target < n)
    chosen = tl.load(logits + target, mask=known, other=float("nan")).to(tl.float32)
    return normalizer - (1.0 - smoothing) * chosen - smoothing * (total / n)  # the sum is 0 without smoothing


@bind(grid=lambda given: (given["rows"],), configs=FORWARD_CONFIGS)
@triton.jit
def cross_entropy_forward(
    logits: "Pointer[Float]",
    targets: "Pointer[Int64]",
    losses: "Pointer[Float32]",
    normalizers: "Pointer[Float32]",
    rows: "Size",
    n: "Size",
    stride: "Stride",
    ignored: "Size",
    smoothing: "Number",
    SMOOTH: tl.constexpr,
    BLOCK: tl.constexpr,
    STAGES: tl.constexpr,
):
    smoothing = tl.cast(smoothing, tl.float32)
    row = tl.program_id(0).to(tl.int64)
    logits += row * stride
    normalizer, total = _normalizer(logits, n, SMOOTH, BLOCK, STAGES)
    target = tl.load(targets + row)
    loss = _loss(logits, target, n, normalizer, total, smoothing)
    tl.store(losses + row, tl.where(target == ignored, 0.0, loss))
    tl.store(normalizers + row, normalizer)


@triton.jit
def _slope(value, column, target, normalizer, n, weight, more, smoothing):
    """The gradient of weight * loss + more * normalizer."""
    share = tl.exp(value - normalizer)
    hit = tl.where(column == target, 1.0 - smoothing, 0.0) + smoothing / n
    return weight * (share - hit) + more * share


@bind(
    grid=lambda given: (given["rows"] * blocks_of(given["n"], given["BLOCK"]),),
    configs=[{"BLOCK": 4096, "num_warps": 8}],
)
@triton.jit
def cross_entropy_backward(
    loss_grads: "Pointer[Float32]",
    normalizer_grads: "Pointer[Float32]",
    logits: "Pointer[Float]",
    targets: "Pointer[Int64]",
    normalizers: "Pointer[Float32]",
    out: "Pointer[Float]",
    rows: "Size",
    n: "Size",
    loss_stride: "Stride",
    normalizer_stride: "Stride",
    stride: "Stride",
    ignored: "Size",
    smoothing: "Number",
    BLOCK: tl.constexpr,
):
    smoothing = tl.cast(smoothing, tl.float32)
    pieces = tl.cdiv(n, BLOCK)
    row = (tl.program_id(0) // pieces).to(tl.int64)
    column = (tl.program_id(0) % pieces) * BLOCK + tl.arange(0, BLOCK)
    inside = column < n
    target = tl.load(targets + row)
    weight = tl.where(target == ignored, 0.0, tl.load(loss_grads + row * loss_stride))
    more = tl.load(normalizer_grads + row * normalizer_stride)
    value = tl.load(logits + row * stride + column, mask=inside, other=0.0).to(tl.float32)
    slope = _slope(value, column, target, tl.load(normalizers + row), n, weight, more, smoothing)
    tl.store(out + row * n + column, slope, mask=inside)


@bind(grid=lambda given: (given["rows"],), configs=IN_PLACE_CONFIGS)
@triton.jit
def cross_entropy_in_place(
    logits: "Pointer[Float]",
    targets: "Pointer[Int64]",
    losses: "Pointer[Float32]",
    rows: "Size",
    n: "Size",
    stride: "Stride",
    ignored: "Size",
    smoothing: "Number",
    SMOOTH: tl.constexpr,
    BLOCK: tl.constexpr,
    STAGES: tl.constexpr,
):
    """The losses of the rows, whose logits become their gradients: the second read is mostly of the cache."""
    smoothing = tl.cast(smoothing, tl.float32)
    row = tl.program_id(0).to(tl.int64)
    logits += row * stride
    normalizer, total = _normalizer(logits, n, SMOOTH, BLOCK, STAGES)
    target = tl.load(targets + row)
    loss = _loss(logits, target, n, normalizer, total, smoothing)
    weight = tl.where(target == ignored, 0.0, 1.0)
    tl.store(losses + row, tl.where(target == ignored, 0.0, loss))
    # the logit of the target was read by every thread above; none may overwrite it before
    tl.debug_barrier()
    for start in range(0, n, BLOCK):
        column = start + tl.arange(0, BLOCK)
        inside = column < n
        value = tl.load(logits + column, mask=inside, other=0.0).to(tl.float32)
        tl.store(logits + column, _slope(value, column, target, normalizer, n, weight, 0.0, smoothing), mask=inside)
