"""Views and other shapes of the same numbers."""

from __future__ import annotations

import math
import re

from simpletorch.errors._failure import Failure
from simpletorch.errors._kinds import ShapeMismatch
from simpletorch.errors._reasons._table import Reason, message
from simpletorch.errors._reasons._words import called, listed, numbers


@message(r"shape '(\[[-\d, ]*\])' is invalid for input of size (\d+)")
def _view(f: Failure, m: re.Match[str]) -> Reason:
    wanted, count = numbers(m[1]), int(m[2])
    x = f.tensor(0, "input")
    name = called(x, "the tensor")
    known = math.prod(s for s in wanted if s >= 0)
    hint = None
    if -1 in wanted:
        sentence = (
            f"{name} has {count} numbers, which {listed(wanted)} can't divide up: {count} is no multiple of {known}"
        )
    else:
        sentence = f"{name} has {count} numbers, but {listed(wanted)} has {known}"
        rest = math.prod(wanted[1:])
        if rest and count % rest == 0 and len(wanted) > 1:
            hint = f"{listed((-1, *wanted[1:]))} would fit, and makes the first dim {count // rest}"
    return Reason(ShapeMismatch, sentence, wanted, x.shape if x else None, hint)


@message(r"view size is not compatible with input tensor's size and stride")
def _view_stride(f: Failure, _m: re.Match[str]) -> Reason:
    x = f.tensor(0, "input")
    name = called(x, "the tensor")
    return Reason(
        ShapeMismatch,
        f"{name} is not contiguous (it was transposed, permuted or expanded), so view can't merge its dims",
        hint=f"{name}.reshape(...) copies where it has to; {name}.contiguous().view(...) says so",
    )


@message(r"unflatten: Provided sizes (\[[-\d, ]*\]) don't multiply up to the size of dim (\d+) \((\d+)\)")
def _unflatten(f: Failure, m: re.Match[str]) -> Reason:
    x = f.tensor(0, "input")
    sizes = numbers(m[1])
    sentence = f"dim {m[2]} of {called(x, 'the tensor')} is {m[3]}, but {listed(sizes)} multiply to {math.prod(sizes)}"
    return Reason(ShapeMismatch, sentence, int(m[3]), math.prod(sizes))


@message(r"input\.dim\(\) = (\d+) is not equal to len\(dims\) = (\d+)")
def _permute(f: Failure, m: re.Match[str]) -> Reason:
    x = f.tensor(0, "input")
    sentence = f"{called(x, 'the tensor')} has {m[1]} dims, but an order of {m[2]} is given"
    return Reason(ShapeMismatch, sentence, int(m[1]), int(m[2]))


@message(r"Dimension out of range \(expected to be in range of \[(-?\d+), (-?\d+)\], but got (-?\d+)\)")
def _dim_range(f: Failure, m: re.Match[str]) -> Reason:
    x = f.tensor(0, "input")
    rank = int(m[2]) + 1
    sentence = f"there is no dim {m[3]}: {called(x, 'the tensor')} has {rank} dims ({m[1]} to {m[2]})"
    return Reason(ShapeMismatch, sentence, (int(m[1]), int(m[2])), int(m[3]))


@message(r"Dimension size must be non-negative|Trying to create tensor with negative dimension (-?\d+)")
def _negative(_f: Failure, _m: re.Match[str]) -> Reason:

    return Reason(ShapeMismatch, "a size is negative; sizes are 0 or more")
