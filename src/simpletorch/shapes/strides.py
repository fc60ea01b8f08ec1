"""Memory layout of tensors: torch's treatment of strides, computed without torch.

The strides of a tensor are how many elements it is from one index of a dim to the next; in units of elements, outermost
dim first, as torch has them. Sizes and strides may be unknown, or known in terms of symbols: where an answer depends on
what isn't known, `Undecided` is raised. Sizes are taken to be at least 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from simpletorch.shapes.dim import UNKNOWN, Dim

__all__ = ["Strides", "Undecided", "contiguous", "element_wise", "is_contiguous", "overlaps", "viewed"]

Strides: TypeAlias = tuple[Dim, ...]


class Undecided(Exception):
    """The answer depends on sizes that aren't known."""


def _same(a: Dim, b: Dim) -> bool:
    """Whether two are equal: for sure, or for sure not."""
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    if a is UNKNOWN or b is UNKNOWN or a != b:
        raise Undecided
    return True


def _is_one(size: Dim) -> bool:
    return _same(size, 1)


def contiguous(sizes: Sequence[Dim]) -> Strides:
    """Those of a new tensor: the last dim is the innermost."""
    out: list[Dim] = []
    step: Dim = 1
    for size in reversed(sizes):
        out.append(step)
        step = step * (size or 1 if isinstance(size, int) else size)
    return tuple(reversed(out))


def is_contiguous(sizes: Sequence[Dim], strides: Strides) -> bool:
    """``Tensor.is_contiguous()``: a dim of size 1 may have any stride."""
    step: Dim = 1
    for size, stride in zip(reversed(sizes), reversed(strides), strict=True):
        if size == 1:
            continue
        if not _same(stride, step):
            if not isinstance(size, int):
                raise Undecided
            return False
        step = step * size
    return True


def overlaps(sizes: Sequence[Dim], strides: Strides) -> bool:
    """Whether several indexes surely lead to one element, as in what ``expand`` gives: nothing may be written to it."""
    repeated = [size for size, stride in zip(sizes, strides, strict=True) if stride == 0 and isinstance(size, int)]
    return 0 not in sizes and any(size > 1 for size in repeated)


def viewed(sizes: Sequence[Dim], strides: Strides, wanted: Sequence[Dim]) -> Strides | None:
    """The strides of ``view(*wanted)``; None where torch refuses it, because the elements lie otherwise.

    Neighbouring dims that lie in memory as one are a chunk; each wanted dim must be a part of one chunk. Both shapes
    have the same number of elements.
    """
    if not sizes:
        return (1,) * len(wanted)
    out: list[Dim] = []
    todo = list(wanted)
    step = strides[-1]
    count: Dim = 1
    for dim in range(len(sizes) - 1, -1, -1):
        count = count * sizes[dim]
        if dim and not _ends_chunk(sizes[dim - 1], strides[dim - 1], count * step):
            continue
        if dim == 0:
            _take_rest(todo, step, out)
        elif not _take(todo, count, step, out):
            return None
        else:
            step, count = strides[dim - 1], 1
    return tuple(reversed(out))


def _ends_chunk(size: Dim, stride: Dim, inner: Dim) -> bool:
    """Whether the next dim outside lies apart from those inside it."""
    if size == 1:
        return False
    try:
        same = _same(stride, inner)
    except Undecided:
        same = False
        certain = False
    else:
        certain = isinstance(size, int)
    if same:
        return False
    if not certain:
        raise Undecided
    return True


def _take(todo: list[Dim], count: Dim, step: Dim, out: list[Dim]) -> bool:
    """The innermost wanted dims that are in a chunk of so many elements; whether they make it up."""
    taken: Dim = 1
    while todo and (todo[-1] == 1 or not _is_filled(taken, count)):
        out.append(taken * step)
        taken = taken * todo.pop()
    return _same(taken, count)


def _is_filled(taken: Dim, count: Dim) -> bool:
    if isinstance(taken, int) and isinstance(count, int):
        return taken >= count
    return _same(taken, count)


def _take_rest(todo: list[Dim], step: Dim, out: list[Dim]) -> None:
    """The outermost chunk has all that is left: both shapes have as many elements."""
    taken: Dim = 1
    while todo:
        out.append(taken * step)
        taken = taken * todo.pop()


def element_wise(shape: Sequence[Dim], operands: Sequence[tuple[Sequence[Dim], Strides]]) -> Strides:
    """Those of the new tensor that an element-wise operation gives: dims lie in the order that its operands have.

    Args:
        shape: of the result.
        operands: the sizes and strides of each tensor, which are broadcast to it.
    """
    alike = all(sizes == operands[0][0] and UNKNOWN not in sizes for sizes, _ in operands) or len(operands) == 1
    if alike and all(is_contiguous(*operand) for operand in operands):
        return contiguous(shape)
    rows = [_broadcast(shape, sizes, strides, len(operands) == 1) for sizes, strides in operands]
    order = list(range(len(shape) - 1, -1, -1))  # innermost first
    for i in range(1, len(order)):
        here = i
        for other in range(i - 1, -1, -1):
            compared = _compare(shape, rows, order[other], order[here])
            if compared > 0:
                order[other], order[here] = order[here], order[other]
                here = other
            elif compared < 0:
                break
    out: dict[int, Dim] = {}
    step: Dim = 1
    for dim in order:
        out[dim] = step
        step = step * shape[dim]
    return tuple(out[dim] for dim in range(len(shape)))


def _broadcast(shape: Sequence[Dim], sizes: Sequence[Dim], strides: Strides, alone: bool) -> Strides:
    """The strides of an operand in the result's dims: 0 where it is repeated."""
    new = len(shape) - len(sizes)
    out: list[Dim] = [0] * new
    for size, stride, whole in zip(sizes, strides, shape[new:], strict=True):
        out.append(stride if alone or size == whole == 1 or not _is_repeated(size, whole) else 0)
    return tuple(out)


def _is_repeated(size: Dim, whole: Dim) -> bool:
    if isinstance(size, int) and size != 1:
        return False
    if size is not UNKNOWN and size == whole:
        return False
    return not (_is_one(size) and _is_one(whole))


def _compare(shape: Sequence[Dim], rows: Sequence[Strides], inner: int, outer: int) -> int:
    """1 if the two dims must change places, -1 if they lie as they should, 0 if no operand says."""
    for row in rows:
        a, b = row[inner], row[outer]
        if a is UNKNOWN or b is UNKNOWN:
            raise Undecided
        if a == 0 or b == 0:
            continue
        if a != b:
            if not (isinstance(a, int) and isinstance(b, int)):
                raise Undecided
            return -1 if a < b else 1
        larger = shape[inner], shape[outer]
        if not (isinstance(larger[0], int) and isinstance(larger[1], int)):
            raise Undecided
        if larger[0] > larger[1]:
            return 1
    return 0
