"""One tensor into several: split, chunk, tensor_split and their relatives, unbind."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from simpletorch.rules.common.arguments import dim_or_unknown, is_dim, plain
from simpletorch.rules.common.conditions import (
    need_at_least,
    need_divisible,
    need_dtype,
    need_max_rank,
    need_min_rank,
    need_size,
)
from simpletorch.rules.common.positions import item_at, position, replaced, shaped
from simpletorch.rules.common.slicing import length
from simpletorch.rules.core.cards import PICKED, VIEW, Card
from simpletorch.rules.core.dtype import INT64
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import ANYTHING, Many, TensorType, Value
from simpletorch.shapes import UNKNOWN, Dim, Shape, Unknown, equal

__all__ = ["chunk", "split", "unbind"]

_MOST: Final = 4096  # pieces that are told apart one by one


def _at(input: TensorType, dim: Value) -> tuple[Shape, int, Dim]:
    """The shape, the place of ``dim`` in it, and its size."""
    need_min_rank("input", input, 1)
    shape, at = position(dim, input.shape)
    return shape, at, item_at(shape, at)


def _pieces(input: TensorType, shape: Shape, at: int, lengths: Sequence[Dim]) -> tuple[TensorType, ...]:
    return tuple(shaped(input, replaced(shape, at, n)) for n in lengths)


def _equal_pieces(size: Dim, each: Dim) -> Sequence[Dim]:
    """The sizes of pieces of ``each``, the last one smaller.

    Raises:
        CannotTell: it isn't known how many there are.
    """
    if isinstance(size, int) and isinstance(each, int):
        count = max(1, -(-size // each)) if each else 1
        if count > _MOST:
            raise CannotTell
        return [*[each] * (count - 1), size - each * (count - 1)]
    if isinstance(each, Unknown) or isinstance(size, Unknown) or each == 0:
        raise CannotTell
    # the quotient of symbols is rounded down: only where it multiplies back are all pieces of one size
    times = size // each
    if not isinstance(times, int) or times > _MOST or equal(times * each, size) is not True:
        raise CannotTell
    return [each] * times


@rule("torch.split", "Tensor.split", "torch.functional.split", card=Card(VIEW, PICKED))
def split(
    input: TensorType, split_size_or_sections: Value = ANYTHING, dim: Value = 0, *, split_size: Value = None
) -> Value:
    """``(*a, n, *b) -> (*a, split_size, *b), …``, the last one smaller; or sizes that sum up to n"""
    wanted = split_size_or_sections if split_size is None else split_size
    return _split_sections(input, wanted, dim) if isinstance(wanted, tuple) else _split_every(input, wanted, dim)


@rule("torch.unsafe_split", "Tensor.unsafe_split", "torch.split_copy", card=Card(VIEW, PICKED))
def unsafe_split(input: TensorType, split_size: Value, dim: Value = 0) -> Value:
    """``(*a, n, *b) -> (*a, split_size, *b), …``, the last one smaller"""
    return _split_every(input, split_size, dim)


def _split_every(input: TensorType, split_size: Value, dim: Value) -> Value:
    shape, at, size = _at(input, dim)
    if isinstance(split_size, int):
        need_at_least("split_size", split_size, 0)
        if split_size == 0 and isinstance(size, int) and size:
            raise Mismatch(f"split_size is 0, but dim {dim} is {size}", got=split_size)
    try:
        return _pieces(input, shape, at, _equal_pieces(size, dim_or_unknown(split_size)))
    except CannotTell:
        return Many(shaped(input, replaced(shape, at, UNKNOWN)))


@rule("torch.split_with_sizes", "Tensor.split_with_sizes", "torch.split_with_sizes_copy", card=Card(VIEW, PICKED))
@rule("torch.unsafe_split_with_sizes", "Tensor.unsafe_split_with_sizes", card=Card(VIEW, PICKED))
def split_with_sizes(input: TensorType, split_sizes: Value, dim: Value = 0) -> Value:
    """``(*a, n, *b) -> (*a, split_sizes[0], *b), …`` with the sum of split_sizes n"""
    return _split_sections(input, split_sizes, dim)


def _split_sections(input: TensorType, sections: Value, dim: Value) -> Value:
    if not isinstance(sections, tuple):
        raise CannotTell
    sizes = [dim_or_unknown(s) for s in sections]
    need_at_least("split_sizes", tuple(sizes), 0)
    shape, at, size = _at(input, dim)
    total = sum(sizes, start=0)
    need_size(f"the sum of split_sizes {Shape(tuple(sizes))} is", total, f"dim {plain(dim)} of input is", size)
    open_at = [i for i, s in enumerate(sizes) if isinstance(s, Unknown)]
    if len(open_at) == 1:
        sizes[open_at[0]] = size - sum((s for s in sizes if not isinstance(s, Unknown)), start=0)
    return _pieces(input, shape, at, sizes)


@rule("torch.chunk", "Tensor.chunk", "torch.unsafe_chunk", "Tensor.unsafe_chunk", card=Card(VIEW, PICKED))
def chunk(input: TensorType, chunks: Value, dim: Value = 0) -> Value:
    """``(*a, n, *b) -> chunks times (*a, n//chunks, *b)``; fewer and a smaller last one where n isn't divisible"""
    need_at_least("chunks", chunks, 1)
    shape, at, size = _at(input, dim)
    if not isinstance(chunks, int) or chunks > _MOST:
        raise CannotTell
    if isinstance(size, int):
        each = -(-size // chunks)
        # of an empty dim torch.chunk gives as many pieces as asked for, torch.split a single one
        return _pieces(input, shape, at, _equal_pieces(size, each) if each else [0] * chunks)
    return _pieces(input, shape, at, [_share(size, chunks)] * chunks)


def _share(size: Dim, count: int) -> Dim:
    """``size // count`` if that surely leaves nothing over."""
    return size // count if equal(size % count, 0) is True else UNKNOWN


@rule("torch.tensor_split", "Tensor.tensor_split", card=Card(VIEW, PICKED))
def tensor_split(
    input: TensorType,
    indices_or_sections: Value = ANYTHING,
    dim: Value = 0,
    *,
    sections: Value = None,
    indices: Value = None,
) -> Value:
    """``(*a, n, *b) -> (*a, n//sections, *b), …``, the first ones larger by one; or cut at indices"""
    given = next((v for v in (sections, indices) if v is not None), indices_or_sections)
    return _tensor_split(input, given, dim)


def _tensor_split(input: TensorType, given: Value, dim: Value) -> Value:
    shape, at, size = _at(input, dim)
    if isinstance(given, tuple):
        bounds = [0, *(g if g is not ANYTHING else UNKNOWN for g in given), None]
        return _pieces(input, shape, at, [length(size, a, b) for a, b in pairwise(bounds)])
    if isinstance(given, TensorType):
        return _pieces(input, shape, at, [UNKNOWN] * _cuts(given))
    if not isinstance(given, int) or given > _MOST:
        raise CannotTell
    need_at_least("sections", given, 1)
    if isinstance(size, int):
        more = size % given
        return _pieces(input, shape, at, [size // given + 1] * more + [size // given] * (given - more))
    return _pieces(input, shape, at, [_share(size, given)] * given)


def _cuts(indices: TensorType) -> int:
    """How many pieces an index tensor cuts."""
    need_max_rank("indices_or_sections", indices, 1)
    need_dtype("indices_or_sections", indices, INT64)
    if indices.shape.rank != 1 or not isinstance(count := indices.shape.dim(0), int):
        raise CannotTell
    return count + 1


def _split_along(input: TensorType, given: Value, dim: int) -> Value:
    """The pieces that `torch.hsplit` and its like make: an int must divide the dim."""
    shape, at, size = _at(input, dim)
    if is_dim(given) and isinstance(given, int):
        need_at_least("sections", given, 1)
        need_divisible(f"dim {dim} of input", size, "sections", given)
        return _pieces(input, shape, at, [size // given] * given)
    return _tensor_split(input, given, dim)


@rule("torch.hsplit", "Tensor.hsplit", card=Card(VIEW, PICKED))
def hsplit(
    input: TensorType, indices_or_sections: Value = ANYTHING, *, sections: Value = None, indices: Value = None
) -> Value:
    """``(n, m, *s) -> (n, m//sections, *s), …``; a vector is split at its only dim"""
    need_min_rank("input", input, 1)
    if input.shape.min_rank < 2 and input.shape.rank != 1:
        raise CannotTell
    given = next((v for v in (sections, indices) if v is not None), indices_or_sections)
    return _split_along(input, given, 0 if input.shape.rank == 1 else 1)


@rule("torch.vsplit", "Tensor.vsplit", card=Card(VIEW, PICKED))
def vsplit(
    input: TensorType, indices_or_sections: Value = ANYTHING, *, sections: Value = None, indices: Value = None
) -> Value:
    """``(n, *s) -> (n//sections, *s), …``"""
    need_min_rank("input", input, 2)
    return _split_along(input, next((v for v in (sections, indices) if v is not None), indices_or_sections), 0)


@rule("torch.dsplit", "Tensor.dsplit", card=Card(VIEW, PICKED))
def dsplit(
    input: TensorType, indices_or_sections: Value = ANYTHING, *, sections: Value = None, indices: Value = None
) -> Value:
    """``(n, m, k, *s) -> (n, m, k//sections, *s), …``"""
    need_min_rank("input", input, 3)
    return _split_along(input, next((v for v in (sections, indices) if v is not None), indices_or_sections), 2)


@rule("torch.unbind", "Tensor.unbind", "torch.unbind_copy", card=Card(VIEW, PICKED))
def unbind(input: TensorType, dim: Value = 0) -> Value:
    """``(*a, n, *b) -> n times (*a, *b)``"""
    shape, at, size = _at(input, dim)
    each = shaped(input, replaced(shape, at))
    return (each,) * size if isinstance(size, int) and size <= _MOST else Many(each)
