"""einops: pack, unpack and einsum."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters

from simpletorch.rules.common.arguments import dim_or_unknown, some_tensors, tensor_list
from simpletorch.rules.common.conditions import need_equal, need_min_rank, need_rank, need_size
from simpletorch.rules.common.patterns import ELLIPSIS, Number, Side, need_name, parse_side
from simpletorch.rules.common.positions import of_rank, reveal
from simpletorch.rules.core.cards import MAYBE, Card
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import ANYTHING, TensorType, Value
from simpletorch.rules.functions.linear_algebra.einsum import einsum as einsum_of_letters
from simpletorch.rules.functions.shaping.joining import joined
from simpletorch.rules.functions.shaping.reshaping import fit
from simpletorch.shapes import Dim, Rest, Shape, Unknown

__all__ = ["einsum", "pack", "unpack"]


def _star(pattern: Value) -> tuple[int, int]:
    """How many axes a pattern names before and after its ``*``."""
    if not isinstance(pattern, str):
        raise CannotTell
    axes = pattern.split()
    for a in axes:
        if axes.count(a) > 1:
            raise Mismatch(f'{a} is named twice in "{pattern}"', got=pattern)
        if a != "*":
            need_name(a)
    if "*" not in axes:
        raise Mismatch(f'the pattern "{pattern}" has no *', got=pattern)
    return axes.index("*"), len(axes) - axes.index("*") - 1


@rule("einops.pack", "einops.packing.pack")
def pack(tensors: Value, pattern: Value) -> Value:
    """``"b * c", (b, *s, c), (b, *t, c) -> (b, ∏s + ∏t, c), [s, t]``"""
    before, after = _star(pattern)
    flat: list[TensorType] = []
    shapes: list[Value] = []
    for i, t in enumerate(some_tensors("tensors", tensors)):
        need_min_rank(f"tensors[{i}]", t, before + after)
        items = reveal(t.shape, before, after).items
        packed = items[before : len(items) - after]
        known = Shape(packed)
        flat.append(t.with_shape(*items[:before], known.numel(), *items[len(items) - after :]))
        shapes.append(known.dims if known.is_exact else ANYTHING)
    return joined(flat, before), tuple(shapes)


@rule("einops.unpack", "einops.packing.unpack", card=Card(MAYBE))
def unpack(tensor: TensorType, packed_shapes: Value, pattern: Value) -> Value:
    """``"b * c", (b, ∏s + ∏t, c), [s, t] -> (b, *s, c), (b, *t, c)``"""
    before, after = _star(pattern)
    need_rank("tensor", tensor, before + 1 + after)
    dims = of_rank(tensor.shape, before + 1 + after).dims
    if not isinstance(packed_shapes, tuple):
        raise CannotTell
    shapes = [_sizes(p) for p in packed_shapes]
    whole = dims[before]
    lengths = [Shape(s).numel() for s in shapes]
    open_at = [i for i, s in enumerate(shapes) if -1 in s]
    if len(open_at) > 1:
        raise Mismatch("only one of packed_shapes can have a -1", got=packed_shapes)
    if open_at:
        # the product of a shape with -1 in it is no length: what the others leave is
        lengths[open_at[0]] = 0
    total = sum(lengths, start=0)
    if open_at:
        lengths[open_at[0]] = whole - total
        shapes[open_at[0]] = fit(Shape.of(whole - total), shapes[open_at[0]], "unpacked to")
    elif 0 not in dims:
        need_size("the elements of packed_shapes are", total, f"dim {before} of tensor is", whole)
    return tuple(tensor.with_shape(*dims[:before], *s, *dims[before + 1 :]) for s in shapes)


def _sizes(packed: Value) -> tuple[Dim, ...]:
    if not isinstance(packed, tuple):
        raise CannotTell
    return tuple(dim_or_unknown(p) for p in packed)


@rule("einops.einsum", "einops.einops.einsum", card=Card(MAYBE))
def einsum(*tensors_and_pattern: Value) -> TensorType:
    """``(b, i), (i, o), "b i, i o -> b o" -> (b, o)``"""
    *tensors, pattern = tensors_and_pattern
    if not isinstance(pattern, str):
        raise CannotTell
    found = tensor_list(tuple(tensors))
    if pattern.count("->") != 1:
        raise Mismatch(f'a pattern needs one "->", but "{pattern}" has {pattern.count("->")}', got=pattern)
    inputs, output = pattern.split("->")
    sides = [parse_side(s, underscore=True, duplicates=True) for s in inputs.split(",")]
    right = parse_side(output, underscore=True)
    if len(sides) != len(found):
        raise Mismatch(f"the pattern names {len(sides)} tensors, but {len(found)} are given", got=len(found))
    _need_one_size_each(sides, found)
    letters: dict[object, str] = {}
    terms = [_letters(s, letters, new=True) for s in sides]
    equation = f"{','.join(terms)}->{_letters(right, letters, new=False)}"
    return einsum_of_letters(equation, *found)


def _need_one_size_each(sides: Sequence[Side], tensors: Sequence[TensorType]) -> None:
    """Every axis has one size, which may be 1 in some of the tensors."""
    seen: dict[object, tuple[Dim, int]] = {}
    for i, (side, t) in enumerate(zip(sides, tensors, strict=True)):
        at, count = side.ellipsis_at, len(side.groups)
        if at is None:
            need_rank(f"tensor {i} ({side})", t, count)
            items = of_rank(t.shape, count).items
            groups = side.groups
        else:
            need_min_rank(f"tensor {i} ({side})", t, count - 1)
            items = reveal(t.shape, at, count - 1 - at).items
            items = (*items[:at], *items[len(items) - (count - 1 - at) :])
            groups = (*side.groups[:at], *side.groups[at + 1 :])
        for group, size in zip(groups, items, strict=True):
            axis = group.axes[0] if group.axes else None
            if isinstance(size, Rest | Unknown) or size == 1:
                continue
            known, first = seen.setdefault(axis, (size, i))
            need_equal(f"tensor {first}", known, f"tensor {i}", size, what=f"the sizes of axis {axis}")


def _letters(side: Side, letters: dict[object, str], *, new: bool) -> str:
    """The side with a letter for each axis, as `torch.einsum` wants it."""
    out = ""
    for group in side.groups:
        if group.is_ellipsis:
            out += ELLIPSIS
            continue
        if group.is_composite or len(group.axes) != 1 or isinstance(group.axes[0], Number):
            raise Mismatch(f"einsum takes single named axes only, not {group}", got=str(group))
        axis = group.axes[0]
        if axis not in letters:
            if not new:
                raise Mismatch(f"axis {axis} is on the right side of the pattern, but in no tensor", got=axis)
            if len(letters) == len(ascii_letters):
                raise CannotTell
            letters[axis] = ascii_letters[len(letters)]
        out += letters[axis]
    return out
