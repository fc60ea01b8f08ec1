"""einops: rearrange, reduce, repeat, parse_shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from simpletorch.rules.common.arguments import dim_or_unknown, is_dim
from simpletorch.rules.common.conditions import unequal
from simpletorch.rules.common.patterns import ELLIPSIS, Axis, Group, Number, Side, need_name, parse, parse_side
from simpletorch.rules.common.positions import of_rank, one_rest, reveal
from simpletorch.rules.core.cards import MAYBE, MOVED, REPEATED, Card
from simpletorch.rules.core.dtype import BOOL, INT64, UINT8, DType
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import ANY_TENSOR, ANYTHING, TensorType, Value
from simpletorch.rules.functions.shaping.joining import stack
from simpletorch.shapes import ANY_SHAPE, UNKNOWN, Dim, Item, Rest, Shape, Unknown, equal

__all__ = ["need_pattern", "transform"]

REDUCTIONS: Final = ("min", "max", "sum", "mean", "prod", "any", "all")
CUSTOM: Final = "a function"  # a reduction of the user's own


def need_pattern(operation: str, pattern: str, lengths: Mapping[str, Dim] | None) -> tuple[Side, Side]:
    """The sides of a pattern, with what the operation demands of its axes checked.

    Args:
        operation: "rearrange", "repeat", a reduction or `CUSTOM`.
        pattern: the pattern.
        lengths: sizes of axes, None if it isn't known which are given.
    """
    left, right = parse(pattern)
    only_left, only_right = left.names - right.names, right.names - left.names
    if operation == "rearrange":
        if any(isinstance(a, Number) for a in left.axes + right.axes):
            raise Mismatch(f'rearrange takes no numbers in its pattern but 1: "{pattern}"', got=pattern)
        _need_none(only_left | only_right, "on one side of the pattern only", pattern)
    elif operation == "repeat":
        _need_none(only_left, "on the left side of the pattern, but not on the right", pattern)
        if lengths is not None:
            _need_none(only_right - set(lengths), "new, but its size isn't given", pattern)
    else:
        if operation not in (*REDUCTIONS, CUSTOM):
            raise Mismatch(f'"{operation}" is no reduction; there are {", ".join(REDUCTIONS)}', got=operation)
        _need_none(only_right, "on the right side of the pattern, but not on the left", pattern)
    for name in lengths or ():
        need_name(name)
        if name not in left.names | right.names:
            raise Mismatch(f"axis {name} is given a size, but the pattern doesn't name it", got=name)
    if lengths is not None:
        _need_findable(left, lengths)
    return left, right


def _need_findable(left: Side, lengths: Mapping[str, Dim]) -> None:
    """Of what makes up one dim, the size of one axis can be found; layers demand it when they are made."""
    for group in left.groups:
        open_axes = [a for a in group.axes if isinstance(a, str) and a not in lengths]
        if len(open_axes) > 1:
            named = " and ".join(open_axes)
            raise Mismatch(f"the sizes of {named} in {group} can't both be found; give one of them", got=str(group))


def _need_none(axes: frozenset[Axis], why: str, pattern: str) -> None:
    if axes:
        named = ", ".join(sorted(map(str, axes)))
        verb = "are" if len(axes) > 1 else "is"
        raise Mismatch(f"{'axes' if len(axes) > 1 else 'axis'} {named} {verb} {why}", got=pattern)


def transform(operation: str, tensor: TensorType, pattern: str, lengths: Mapping[str, Dim] | None) -> TensorType:
    """The tensor that an operation of einops gives."""
    left, right = need_pattern(operation, pattern, lengths)
    sizes: dict[Axis, Dim] = {a: a.value for a in left.axes + right.axes if isinstance(a, Number)}
    sizes.update(lengths or {})
    dims, hidden = _left_dims(tensor.shape, left)
    for at, (group, dim) in enumerate(zip([g for g in left.groups if not g.is_ellipsis], dims, strict=True)):
        _solve(group, dim, at, sizes, may_be_given=lengths is None)
    items: list[Item] = []
    for group in right.groups:
        if group.is_ellipsis:
            items.extend(hidden)
        else:
            items.append(_product(group, sizes, hidden))
    dtype = tensor.dtype
    dropped = [a for a in left.axes if a not in right.axes and not (a == ELLIPSIS and not hidden)]
    if dropped and operation not in ("rearrange", "repeat"):
        # "..." may stand for no dim at all: then nothing is reduced and the dtype stays
        sure = any(a != ELLIPSIS or not all(isinstance(h, Rest) for h in hidden) for a in dropped)
        dtype = _reduced_dtype(operation, dtype) if sure or _reduced_dtype(operation, dtype) == dtype else None
    return tensor.with_dtype(dtype).with_shape(*one_rest(items).items)


def _left_dims(shape: Shape, left: Side) -> tuple[tuple[Dim, ...], tuple[Item, ...]]:
    """The dims that the groups of the left side stand for, and those that ``...`` stands for."""
    at, count = left.ellipsis_at, len(left.groups)
    if at is None:
        if (shape.rank is not None and shape.rank != count) or shape.min_rank > count:
            raise Mismatch(
                f'the pattern names {count} dim{"" if count == 1 else "s"} "{left}", but the tensor is {shape}',
                expected=count,
                got=shape.rank,
            )
        return of_rank(shape, count).dims, ()
    if shape.rank is not None and shape.rank < count - 1:
        raise Mismatch(
            f'the pattern names at least {count - 1} dims "{left}", but the tensor is {shape}',
            expected=count - 1,
            got=shape.rank,
        )
    after = count - 1 - at
    items = reveal(shape, at, after).items
    end = len(items) - after
    return tuple(i for i in (*items[:at], *items[end:]) if not isinstance(i, Rest)), items[at:end]


def _solve(group: Group, dim: Dim, at: int, sizes: dict[Axis, Dim], *, may_be_given: bool) -> None:
    """Find the one axis of a group whose size isn't given, or check that the sizes multiply to the dim."""
    open_axes = [a for a in group.axes if a not in sizes]
    if len(open_axes) > 1:
        if not may_be_given:
            named = " and ".join(map(str, open_axes))
            raise Mismatch(f"the sizes of {named} in {group} can't both be found; give one of them", got=str(group))
        sizes.update(dict.fromkeys(open_axes, UNKNOWN))
        return
    # an axis whose size is given, but not as a number that is known here, is solved like an open one
    guessed = [a for a in group.axes if isinstance(sizes.get(a), Unknown)]
    known = Shape(tuple(sizes[a] for a in group.axes if a in sizes and a not in guessed)).numel()
    if open_axes and not guessed:
        sizes[open_axes[0]] = _quotient(group, dim, known, sizes)
    elif len(guessed) == 1 and not open_axes:
        sizes[guessed[0]] = _quotient(group, dim, known, sizes)
    elif open_axes:
        sizes[open_axes[0]] = UNKNOWN
    elif not guessed and equal(known, dim) is False:
        given = f", which is {known}" if len(group.axes) > 1 else f" is {known}" if str(known) != str(group) else ""
        raise Mismatch(
            f"{'axis' if len(group.axes) == 1 else 'the axes'} {_with_sizes(group, sizes)}{given}, "
            f"but dim {at} is {dim}{unequal(known, dim)}",
            expected=known,
            got=dim,
        )


def _quotient(group: Group, dim: Dim, known: Dim, sizes: Mapping[Axis, Dim]) -> Dim:
    """The part of a dim that is left for one axis. For symbols it is taken that the author knows that it divides."""
    if known == 1:
        return dim
    if known == 0:
        return UNKNOWN
    if isinstance(dim, int) and isinstance(known, int) and dim % known:
        raise Mismatch(f"{dim} can't be divided into {_with_sizes(group, sizes)}", expected=known, got=dim)
    return dim // known


def _with_sizes(group: Group, sizes: Mapping[Axis, Dim]) -> str:
    given = [f"{a}={sizes[a]}" for a in group.axes if a in sizes and isinstance(a, str) and sizes[a] is not UNKNOWN]
    return f"{group} with {', '.join(given)}" if given and group.is_composite else str(group)


def _product(group: Group, sizes: Mapping[Axis, Dim], hidden: Sequence[Item]) -> Dim:
    total: Dim = 1
    for axis in group.axes:
        total = total * (Shape(tuple(hidden)).numel() if axis == ELLIPSIS else sizes.get(axis, UNKNOWN))
    return total


def _reduced_dtype(operation: str, dtype: DType | None) -> DType | None:
    """The dtype of a reduction over at least one axis."""
    if operation == CUSTOM:
        return None
    if dtype is None or dtype.category is None:
        return BOOL if operation in ("any", "all") and dtype is not None and dtype != UINT8 else None
    if operation == "mean" and dtype.category != "float":
        raise Mismatch(f"the mean of {dtype} isn't defined", kind="dtype", hint="x.float()", got=dtype)
    if operation in ("min", "max") and dtype.category == "complex":
        raise Mismatch(f"the {operation} of {dtype} isn't defined", kind="dtype", got=dtype)
    if operation in ("sum", "prod"):
        return INT64 if dtype.category in ("bool", "int") else dtype
    if operation in ("any", "all"):
        return dtype if dtype == UINT8 else BOOL if dtype.is_concrete else None
    return dtype


def _one_tensor(tensor: Value) -> TensorType:
    """The tensor, or the stack of a list of tensors."""
    if isinstance(tensor, tuple):
        return stack(tensor)
    if tensor is ANYTHING:
        return ANY_TENSOR
    if not isinstance(tensor, TensorType):
        raise CannotTell
    return tensor


def _apply(operation: str, tensor: Value, pattern: Value, lengths: Mapping[str, Value]) -> TensorType:
    found = _one_tensor(tensor)
    if not isinstance(pattern, str):
        keeps = operation in ("rearrange", "repeat", "min", "max", "mean")
        return TensorType(ANY_SHAPE, found.dtype if keeps else None, found.device)
    given = {k: dim_or_unknown(v) for k, v in lengths.items()}
    return transform(operation, found, pattern, given)


@rule("einops.rearrange", "einops.einops.rearrange", card=Card(MAYBE, MOVED))
def rearrange(tensor: Value, pattern: Value, **axes_lengths: Value) -> TensorType:
    """``"b (h w) c -> b h (w c)", (b, h·w, c) -> (b, h, w·c)``"""
    return _apply("rearrange", tensor, pattern, axes_lengths)


@rule("einops.repeat", "einops.einops.repeat", card=Card(MAYBE, REPEATED))
def repeat(tensor: Value, pattern: Value, **axes_lengths: Value) -> TensorType:
    """``"h w -> h (w r)", (h, w) -> (h, w·r)``"""
    return _apply("repeat", tensor, pattern, axes_lengths)


@rule("einops.reduce", "einops.einops.reduce", card=Card(MAYBE))
def reduce(tensor: Value, pattern: Value, reduction: Value, **axes_lengths: Value) -> TensorType:
    """``"b (h s) -> b h", (b, h·s) -> (b, h)``"""
    return _apply(reduction if isinstance(reduction, str) else CUSTOM, tensor, pattern, axes_lengths)


@rule("einops.parse_shape", "einops.einops.parse_shape")
def parse_shape(x: TensorType, pattern: Value) -> Value:
    """``"b _ c", (b, n, c) -> {"b": b, "c": c}``"""
    if not isinstance(pattern, str):
        raise CannotTell
    side = parse_side(pattern, underscore=True)
    for group in side.groups:
        if len(group.axes) > 1:
            raise Mismatch(f"a shape can't be parsed with the composite axis {group}", got=pattern)
    dims, _ = _left_dims(x.shape, side)
    for group, dim in zip([g for g in side.groups if not g.is_ellipsis], dims, strict=True):
        axis = group.axes[0] if group.axes else None
        wanted = 1 if axis is None else axis.value if isinstance(axis, Number) else dim
        if is_dim(dim) and equal(wanted, dim) is False:
            raise Mismatch(f"the pattern has {wanted} where the tensor has {dim}", expected=wanted, got=dim)
    raise CannotTell  # a dict is no value of ours
