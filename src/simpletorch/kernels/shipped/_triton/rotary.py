"""Rotary position embedding: each pair of a head's features is turned by the angle of its position.

A program turns the heads of one token, for which it reads the angles once. ``SIGN=-1`` turns back: the backward.
"""

import triton
import triton.language as tl

from simpletorch.dtypes import Float
from simpletorch.kernels._signatures import Pointer, Size, Stride
from simpletorch.kernels._triton import triton as bind
from simpletorch.kernels.shipped._triton.grids import blocks_of

CONFIGS = [
    {"SIGN": sign, "PAIRED": paired, "BLOCK_H": 16, "BLOCK": 64, "num_warps": 4}
    for sign, paired in ((1, False), (-1, False), (1, True), (-1, True))
]


@bind(
    grid=lambda given: (given["batch"] * given["tokens"], blocks_of(given["heads"], given["BLOCK_H"])),
    configs=CONFIGS,
)
@triton.jit
def rotary(
    x: "Pointer[Float]",
    cos: "Pointer[Float]",
    sin: "Pointer[Float]",
    out: "Pointer[Float]",
    batch: "Size",
    tokens: "Size",
    heads: "Size",
    half: "Size",
    batch_stride: "Stride",
    token_stride: "Stride",
    head_stride: "Stride",
    SIGN: tl.constexpr,
    PAIRED: tl.constexpr,
    BLOCK_H: tl.constexpr,
    BLOCK: tl.constexpr,
):
    item = (tl.program_id(0) // tokens).to(tl.int64)
    token = (tl.program_id(0) % tokens).to(tl.int64)
    pair = tl.arange(0, BLOCK)
    head = (tl.program_id(1) * BLOCK_H + tl.arange(0, BLOCK_H))[:, None]
    c = tl.load(cos + token * half + pair, mask=pair < half, other=0.0).to(tl.float32)[None, :]
    s = tl.load(sin + token * half + pair, mask=pair < half, other=0.0).to(tl.float32)[None, :] * SIGN
    source = x + item * batch_stride + token * token_stride + head * head_stride
    target = out + ((item * tokens + token) * heads + head) * (2 * half)
    if PAIRED:
        # the pairs lie side by side: both at once, so that the memory is read in one piece
        feature = tl.arange(0, 2 * BLOCK)[None, :]
        inside = (head < heads) & (feature < 2 * half)
        both = tl.load(source + feature, mask=inside, other=0.0).to(tl.float32)
        first, second = tl.split(tl.reshape(both, (BLOCK_H, BLOCK, 2)))
        turned = tl.join(first * c - second * s, second * c + first * s)
        tl.store(target + feature, tl.reshape(turned, (BLOCK_H, 2 * BLOCK)), mask=inside)
    else:
        inside = (head < heads) & (pair < half)[None, :]
        at = pair[None, :]
        first = tl.load(source + at, mask=inside, other=0.0).to(tl.float32)
        second = tl.load(source + half + at, mask=inside, other=0.0).to(tl.float32)
        tl.store(target + at, first * c - second * s, mask=inside)
        tl.store(target + half + at, second * c + first * s, mask=inside)
