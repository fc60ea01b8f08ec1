"""The same elements several times: expand, broadcast_to, repeat, tile, repeat_interleave."""

from __future__ import annotations

from simpletorch.rules.common.arguments import dim_or_unknown, given_sizes, given_tensors, sizes
from simpletorch.rules.common.broadcasting import broadcast_shapes
from simpletorch.rules.common.conditions import need_at_least, need_dtype, need_max_rank, need_rank
from simpletorch.rules.common.positions import item_at, leave_unknown, position, replaced, shaped
from simpletorch.rules.core.cards import FIRST, MAYBE, PICKED, REPEATED, VIEW, Card
from simpletorch.rules.core.dtype import INT32, INT64
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import ANYTHING, TensorType, Value
from simpletorch.shapes import ANY_REST, ANY_SHAPE, UNKNOWN, Dim, Shape, Unknown, at_least, equal, same

__all__ = ["expanded"]


def expanded(shape: Shape, wanted: tuple[Dim, ...]) -> Shape:
    """``shape`` broadcast to ``wanted``, in which -1 keeps a dim."""
    if shape.min_rank > len(wanted):
        raise Mismatch(
            f"input {shape} can't be expanded to {Shape(wanted)}, which has fewer dims", expected=wanted, got=shape
        )
    own: list[Dim | None] = [None] * len(wanted)
    known = shape.dims if shape.is_exact else shape.tail
    for i, d in enumerate(reversed(known)):
        own[-1 - i] = d
    if not shape.is_exact:
        own = [UNKNOWN if d is None else d for d in own]
    return Shape(
        tuple(
            _expand_dim(d, w, i - len(wanted), shape, wanted) for i, (d, w) in enumerate(zip(own, wanted, strict=True))
        )
    )


def _expand_dim(own: Dim | None, wanted: Dim, at: int, shape: Shape, target: tuple[Dim, ...]) -> Dim:
    if isinstance(wanted, int) and wanted < -1:
        raise Mismatch(f"a size can't be negative (only -1 is special), but got {Shape(target)}", got=target)
    if wanted == -1:
        if own is None:
            raise Mismatch(f"-1 keeps a dim, but input {shape} has none at dim {at} of {Shape(target)}", got=target)
        return own
    if own is None or own == 1:
        return wanted
    if isinstance(own, Unknown):
        return wanted
    if isinstance(wanted, Unknown):
        return own
    if equal(own, wanted) is False and equal(own, 1) is not True:
        literal = isinstance(own, int) and isinstance(wanted, int)
        raise Mismatch(
            f"input {shape} can't be expanded to {Shape(target)}: dim {at} is {own}, "
            + (f"not {'' if wanted == 1 else '1 or '}{wanted}" if literal else f"not {wanted} for all sizes"),
            expected=wanted,
            got=own,
        )
    return wanted


@rule("Tensor.expand", "torch.expand_copy", card=Card(VIEW, REPEATED))
@leave_unknown(None)
def expand(input: TensorType, *sizes: Value, size: Value = ANYTHING, implicit: Value = False) -> TensorType:
    """``(*s) -> (*size)``; a dim of 1 becomes any size, -1 keeps a dim"""
    return shaped(input, expanded(input.shape, given_sizes(sizes, size)))


@rule("torch.broadcast_to", "Tensor.broadcast_to", card=Card(VIEW, REPEATED))
@leave_unknown(None)
def broadcast_to(input: TensorType, size: Value) -> TensorType:
    """``(*s) -> (*size)``; a dim of 1 becomes any size"""
    return shaped(input, expanded(input.shape, given_sizes((), size)))


@rule("Tensor.expand_as", moves=True, card=Card(VIEW, REPEATED, FIRST))
def expand_as(input: TensorType, other: TensorType) -> TensorType:
    """``(*s), (*t) -> (*t)``; a dim of 1 becomes any size"""
    if other.shape.is_exact:
        return shaped(input, expanded(input.shape, other.shape.dims))
    return shaped(input, other.shape)


@rule("torch.broadcast_tensors", "torch.functional.broadcast_tensors", moves=True, card=Card(MAYBE, REPEATED))
def broadcast_tensors(*tensors: Value) -> Value:
    """``(*s), (*t), … -> (*b), (*b), …``"""
    given = given_tensors(tensors)
    shape = broadcast_shapes(*((f"tensors[{i}]", t.shape) for i, t in enumerate(given))) if given else ANY_SHAPE
    return tuple(shaped(t, shape) for t in given)


@rule("Tensor.repeat", card=Card(numbers=REPEATED))
@leave_unknown(None)
def repeat(input: TensorType, *sizes: Value, repeats: Value = ANYTHING) -> TensorType:
    """``(*s) -> (repeats[0]·s[0], …)``; s is filled up with ones on the left"""
    times = given_sizes(sizes, repeats)
    if input.shape.min_rank > len(times):
        raise Mismatch(
            f"repeats has {len(times)} numbers, but input has {input.shape.rank or 'more'} dims",
            hint="give a number for every dim",
            expected=input.shape.rank,
            got=len(times),
        )
    return shaped(input, _repeated(input.shape, times))


@rule("torch.tile", "Tensor.tile", card=Card(numbers=REPEATED))
@leave_unknown(None)
def tile(input: TensorType, *repeats: Value, dims: Value = ANYTHING) -> TensorType:
    """``(*s) -> (dims[0]·s[0], …)``; the shorter of s and dims is filled up with ones on the left"""
    times = given_sizes(repeats, dims)
    rank = input.shape.rank
    if rank is None:
        tail = tuple(t * d for t, d in zip(times[::-1], input.shape.tail[::-1], strict=False))[::-1]
        return input.with_shape(ANY_REST, *[UNKNOWN] * (len(times) - len(tail)), *tail)
    return shaped(input, _repeated(input.shape, (1,) * (rank - len(times)) + times))


def _repeated(shape: Shape, times: tuple[Dim, ...]) -> Shape:
    need_at_least("repeats", times, 0)
    known = shape.dims if shape.is_exact else shape.tail
    missing = len(times) - len(known)
    left: list[Dim] = [1 if shape.is_exact else UNKNOWN] * missing
    return Shape(tuple(t * d for t, d in zip(times, (*left, *known), strict=True)))


@rule("torch.repeat_interleave")
@rule("Tensor.repeat_interleave", card=Card(numbers=PICKED))
def repeat_interleave(
    input: TensorType, repeats: Value = None, dim: Value = None, *, output_size: Value = None
) -> TensorType:
    """``(*a, n, *b) -> (*a, n·repeats, *b)``; without dim ``(*s) -> (n·repeats,)``"""
    if repeats is None:
        _need_repeats(input, None, "repeats")
        return input.with_shape(UNKNOWN if output_size is None else dim_or_unknown(output_size)).with_dtype(INT64)
    try:
        shape, at = (Shape.of(input.shape.numel()), 0) if dim is None else position(dim, input.shape)
    except CannotTell:
        return shaped(input, ANY_SHAPE)
    if shape.rank == 0:
        shape = Shape.of(1)
    whole = item_at(shape, at)
    if isinstance(repeats, TensorType):
        _need_repeats(repeats, whole, f"dim {dim}" if dim is not None else "input")
        size: Dim = UNKNOWN if output_size is None else dim_or_unknown(output_size)
    else:
        need_at_least("repeats", repeats, 0)
        size = whole * dim_or_unknown(repeats)
    return shaped(input, replaced(shape, at, size))


def _need_repeats(repeats: TensorType, whole: Dim | None, name: str) -> None:
    need_max_rank("repeats", repeats, 1)
    if whole is None:
        need_rank("repeats", repeats, 1)
    need_dtype("repeats", repeats, INT64, INT32)
    if whole is None or repeats.shape.rank != 1:
        return
    count = repeats.shape.dim(0)
    if count != 1 and equal(count, whole) is False:
        raise Mismatch(f"repeats has {count} numbers, but {name} has {whole}", expected=whole, got=count)


@rule("Tensor.sum_to_size", card=Card(MAYBE))
@leave_unknown(None)
def sum_to_size(input: TensorType, *sizes: Value, size: Value = ANYTHING) -> TensorType:
    """``(*s) -> (*size)``, which must broadcast to ``(*s)``"""
    wanted = given_sizes(sizes, size)
    shape = input.shape
    too_many = shape.rank is not None and len(wanted) > shape.rank
    own = shape.dims if shape.is_exact else shape.tail
    if too_many or any(w != 1 and equal(w, d) is False for w, d in zip(wanted[::-1], own[::-1], strict=False)):
        why = "it has fewer dims" if too_many else "each dim must stay or become 1"
        raise Mismatch(f"input {shape} can't be summed to {Shape(wanted)}: {why}", expected=shape, got=wanted)
    out = shaped(input, Shape(wanted))
    if input.dtype is None or input.dtype.category not in ("bool", "int", None):
        return out
    if wanted and same(shape, Shape(wanted)) is True:
        return out
    reduces = (
        not wanted
        or shape.min_rank > len(wanted)
        or any(w == 1 and at_least(d, 2) is True for w, d in zip(wanted[::-1], own[::-1], strict=False))
    )
    return out.with_dtype(INT64 if reduces and input.dtype.category else None)


@rule("torch.broadcast_shapes", "torch.functional.broadcast_shapes")
def common_shape(*shapes: Value) -> Value:
    """``(*s), (*t), … -> (*b)``"""
    given = [sizes(s if isinstance(s, tuple) else (s,)) for s in shapes if s is not ANYTHING]
    if len(given) != len(shapes):
        raise CannotTell
    return broadcast_shapes(*((f"shapes[{i}]", Shape(s)) for i, s in enumerate(given))).dims if given else ()
