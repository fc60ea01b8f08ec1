"""einops: pack, unpack and einsum."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters

from simpletorch.rules.einsum import einsum as einsum_of_letters
from simpletorch.rules.joining import joined
from simpletorch.rules.mismatch import CannotTell, Mismatch
from simpletorch.rules.patterns import ELLIPSIS, Number, Side, check_name, parse_side
from simpletorch.rules.positions import as_dim, need_rank, of_rank, reveal, tensors_of
from simpletorch.rules.registry import rule
from simpletorch.rules.reshaping import fit
from simpletorch.rules.values import ANYTHING, TensorType, Value
from simpletorch.shapes import Dim, Rest, Shape, Unknown, equal

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
            check_name(a)
    if "*" not in axes:
        raise Mismatch(f'the pattern "{pattern}" has no *', got=pattern)
    return axes.index("*"), len(axes) - axes.index("*") - 1


@rule("einops.pack", "einops.packing.pack")
def pack(tensors: Value, pattern: Value) -> Value:
    """``"b * c", (b, *s, c), (b, *t, c) -> (b, ∏s + ∏t, c), [s, t]``"""
    before, after = _star(pattern)
    flat: list[TensorType] = []
    shapes: list[Value] = []
    for i, t in enumerate(tensors_of(tensors)):
        need_rank(t.shape, before + after, name=f"tensors[{i}]")
        items = reveal(t.shape, before, after).items
        packed = items[before : len(items) - after]
        flat.append(t.with_shape(*items[:before], Shape(packed).numel(), *items[len(items) - after :]))
        shapes.append(ANYTHING if any(isinstance(p, Rest) for p in packed) else tuple(as_dim(p) for p in packed))  # type: ignore[arg-type]
    if not flat:
        raise Mismatch("tensors is an empty list; it needs at least one tensor")
    return joined(flat, before), tuple(shapes)


@rule("einops.unpack", "einops.packing.unpack")
def unpack(tensor: TensorType, packed_shapes: Value, pattern: Value) -> Value:
    """``"b * c", (b, ∏s + ∏t, c), [s, t] -> (b, *s, c), (b, *t, c)``"""
    before, after = _star(pattern)
    need_rank(tensor.shape, before + 1 + after, before + 1 + after, name="tensor")
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
        lengths[open_at[0]] = 0
    total = sum(lengths, start=0)
    if open_at:
        lengths[open_at[0]] = whole - total
        shapes[open_at[0]] = fit(Shape.of(whole - total), shapes[open_at[0]], "unpacked to")
    elif equal(total, whole) is False and 0 not in dims:
        raise Mismatch(
            f"packed_shapes have {total} elements, but dim {before} is {whole}"
            + ("" if isinstance(total, int) and isinstance(whole, int) else "; they are not equal for all sizes"),
            expected=whole,
            got=total,
        )
    return tuple(tensor.with_shape(*dims[:before], *s, *dims[before + 1 :]) for s in shapes)


def _sizes(packed: Value) -> tuple[Dim, ...]:
    if not isinstance(packed, tuple):
        raise CannotTell
    return tuple(as_dim(p) for p in packed)


@rule("einops.einsum", "einops.einops.einsum")
def einsum(*tensors_and_pattern: Value) -> TensorType:
    """``(b, i), (i, o), "b i, i o -> b o" -> (b, o)``"""
    *tensors, pattern = tensors_and_pattern
    if not isinstance(pattern, str):
        raise CannotTell
    found = tensors_of(tuple(tensors))
    if pattern.count("->") != 1:
        raise Mismatch(f'a pattern needs one "->", but "{pattern}" has {pattern.count("->")}', got=pattern)
    inputs, output = pattern.split("->")
    sides = [parse_side(s, underscore=True, duplicates=True) for s in inputs.split(",")]
    right = parse_side(output, underscore=True)
    if len(sides) != len(found):
        raise Mismatch(f"the pattern names {len(sides)} tensors, but {len(found)} are given", got=len(found))
    _check_sizes(sides, found)
    letters: dict[object, str] = {}
    terms = [_letters(s, letters, new=True) for s in sides]
    equation = f"{','.join(terms)}->{_letters(right, letters, new=False)}"
    return einsum_of_letters(equation, *found)


def _check_sizes(sides: Sequence[Side], tensors: Sequence[TensorType]) -> None:
    """Every axis has one size, which may be 1 in some of the tensors."""
    seen: dict[object, tuple[Dim, int]] = {}
    for i, (side, t) in enumerate(zip(sides, tensors, strict=True)):
        at, count = side.ellipsis_at, len(side.groups)
        if at is None:
            need_rank(t.shape, count, count, name=f"tensor {i} ({side})")
            items = of_rank(t.shape, count).items
            groups = side.groups
        else:
            need_rank(t.shape, count - 1, name=f"tensor {i} ({side})")
            items = reveal(t.shape, at, count - 1 - at).items
            items = (*items[:at], *items[len(items) - (count - 1 - at) :])
            groups = (*side.groups[:at], *side.groups[at + 1 :])
        for group, size in zip(groups, items, strict=True):
            axis = group.axes[0] if group.axes else None
            if isinstance(size, Rest | Unknown) or size == 1:
                continue
            known, first = seen.setdefault(axis, (size, i))
            if equal(known, size) is False:
                both = isinstance(known, int) and isinstance(size, int)
                raise Mismatch(
                    f"axis {axis} is {known} in tensor {first}, but {size} in tensor {i}"
                    + ("" if both else "; they are not equal for all sizes"),
                    expected=known,
                    got=size,
                )


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
