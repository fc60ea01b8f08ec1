"""Several sums over the rows of a tile in one exchange between warps, where each sum of its own would wait for one."""

import triton
import triton.language as tl


@triton.jit
def two_sums(a, b):
    """The sums of two tiles over their rows, each (rows, 1)."""
    first, second = tl.split(tl.sum(tl.join(a, b), axis=1))
    return first[:, None], second[:, None]


@triton.jit
def four_sums(a, b, c, d):
    """The sums of four tiles over their rows, each (rows, 1)."""
    sums = tl.sum(tl.join(tl.join(a, b), tl.join(c, d)), axis=1)
    odd, even = tl.split(sums)
    first, second = tl.split(odd)
    third, fourth = tl.split(even)
    return first[:, None], second[:, None], third[:, None], fourth[:, None]
