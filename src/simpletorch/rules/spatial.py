"""What convolution, pooling, padding and resampling share: a size per spatial dim, channels, windows that slide."""

from __future__ import annotations

from simpletorch.rules.mismatch import CannotTell, Mismatch
from simpletorch.rules.values import ANYTHING, TensorType, Value
from simpletorch.shapes import ANY_REST, UNKNOWN, Dim, Expr, Item, Shape, Unknown, at_least, equal

__all__ = [
    "as_dim",
    "check_at_least",
    "check_channels",
    "check_equal",
    "check_probability",
    "is_positive",
    "need_float",
    "need_ranks",
    "per_dim",
    "quantifier",
    "scaled",
    "split_spatial",
]


def as_dim(value: Value) -> Dim:
    """An argument that must be an int, as a dim: UNKNOWN where it isn't known.

    Raises:
        CannotTell: it is something else.
    """
    if value is ANYTHING:
        return UNKNOWN
    if isinstance(value, int | Expr | Unknown) and not isinstance(value, bool):
        return value
    raise CannotTell


def per_dim(name: str, value: Value, count: int, *, repeat: bool = True) -> tuple[Dim, ...]:
    """An argument that is one int for all of ``count`` dims, or one for each; ``(n,)`` is ``n`` if it may ``repeat``.

    Raises:
        Mismatch: there are more or fewer of them.
        CannotTell: it is something else.
    """
    if not isinstance(value, tuple):
        return (as_dim(value),) * count
    if len(value) == 1 and repeat:
        return (as_dim(value[0]),) * count
    if len(value) != count:
        raise Mismatch(
            f"{name} has {len(value)} entries, but it must be one int"
            + ("" if count == 1 else f" or a tuple of {count}"),
            expected=count,
            got=len(value),
        )
    return tuple(as_dim(v) for v in value)


def quantifier(a: Dim, b: Dim) -> str:
    """What a message about two dims that differ adds where they aren't numbers."""
    return "" if isinstance(a, int) and isinstance(b, int) else "; they are not equal for all sizes"


def check_equal(what: str, found: Dim, whose: str, wanted: Dim, *, hint: str | None = None) -> None:
    """Two dims that must be equal: ``what`` is ``found``, but ``whose`` is ``wanted``."""
    if equal(found, wanted) is False:
        raise Mismatch(
            f"{what} {found}, but {whose} {wanted}{quantifier(found, wanted)}", hint=hint, expected=wanted, got=found
        )


def check_at_least(name: str, dims: tuple[Dim, ...], least: int, value: Value = None) -> None:
    """Every one of the dims that the argument ``name`` gives must be ``least`` or more."""
    for dim in dims:
        if isinstance(dim, int) and dim < least:
            shown = f"({', '.join(map(str, dims))})" if isinstance(value, tuple) else str(dim)
            raise Mismatch(f"{name} is {shown}, but it must be at least {least}", expected=least, got=dim)


def is_positive(dim: Dim) -> bool | None:
    """Whether a dim is at least 1."""
    return at_least(dim, 1)


def need_float(input: TensorType, *, name: str = "input", of: str = "the weights are floats") -> None:
    """The input of a layer whose parameters are floats can't be ints or bools."""
    if input.dtype is not None and input.dtype.category in ("bool", "int"):
        raise Mismatch(
            f"{name} is {input.dtype}, but {of}",
            kind="dtype",
            hint=f"{name}.float()",
            got=input.dtype,
        )


def check_probability(name: str, value: Value) -> None:
    """A constructor's argument that must be in [0, 1]."""
    if isinstance(value, int | float) and not 0 <= value <= 1:
        raise Mismatch(f"{name} is {value}, but it must be a probability", got=value)


def need_ranks(name: str, shape: Shape, *ranks: int, meaning: str = "", hint: str | None = None) -> None:
    """The shape must have one of these numbers of dims.

    Raises:
        Mismatch: it has another number for sure.
    """
    found = shape.rank
    if (found is not None and found not in ranks) or shape.min_rank > max(ranks):
        wanted = ", ".join(map(str, ranks[:-1])) + (" or " if ranks[1:] else "") + str(ranks[-1])
        if meaning:
            wanted += f" dims {meaning}"
        else:
            wanted += " dim" if ranks == (1,) else " dims"
        raise Mismatch(f"{name} must have {wanted}, but it is {shape}", hint=hint, expected=ranks, got=found)


_LETTERS = ("", "L", "H, W", "D, H, W")


def split_spatial(
    input: TensorType, count: int, *, name: str = "input", unbatched: bool = True
) -> tuple[tuple[Item, ...], Dim, tuple[Dim, ...]]:
    """A shape ``(N, C, *spatial)`` or, unbatched, ``(C, *spatial)``: what stands before C, C, the spatial dims.

    Raises:
        Mismatch: the number of dims is another.
    """
    letters = _LETTERS[count]
    hint = None
    if unbatched:
        if input.shape.rank == count:
            hint = f"{name}.unsqueeze(0) adds the channel dim"
        meaning = f"(N, C, {letters}) or (C, {letters})"
        need_ranks(name, input.shape, count + 2, count + 1, meaning=meaning, hint=hint)
    else:
        if input.shape.rank == count + 1:
            hint = f"{name}.unsqueeze(0) adds the batch dim"
        need_ranks(name, input.shape, count + 2, meaning=f"(N, C, {letters})", hint=hint)
    channels, *spatial = input.shape.last(count + 1)
    lead = input.shape.drop_last(count + 1).items
    if not unbatched and lead == (ANY_REST,):
        lead = (UNKNOWN,)
    return lead, channels, tuple(spatial)


def _channels(count: Dim) -> str:
    return "1 channel" if count == 1 else f"{count} channels"


def check_channels(input: TensorType, channels: Dim, wanted: Dim, whose: str, count: int) -> None:
    """The channel dim must be what the layer takes; a channels-last input is recognised."""
    if equal(channels, wanted) is not False:
        return
    hint = f"a layer for {_channels(channels)} would fit" if whose == "the layer takes" else None
    rank = input.shape.rank
    if count > 0 and equal(input.shape.dim(-1), wanted) is True:
        order = {
            (4, 2): ".permute(0, 3, 1, 2)",
            (3, 2): ".permute(2, 0, 1)",
            (5, 3): ".permute(0, 4, 1, 2, 3)",
            (4, 3): ".permute(3, 0, 1, 2)",
        }.get((rank or 0, count), f".movedim(-1, {-count - 1})")
        hint = f"the last dim is {wanted}: channels come before {_LETTERS[count]}, as in input{order}"
    at = "" if rank is None else f" at dim {rank - count - 1}"
    raise Mismatch(
        f"input has {_channels(channels)}{at}, but {whose} {wanted}{quantifier(channels, wanted)}",
        hint=hint,
        expected=wanted,
        got=channels,
    )


def scaled(dim: Dim, factor: Value) -> Dim:
    """``int(dim * factor)``; of a symbolic dim where the float is a fraction like 1/2 or 3/4, so that it is exact."""
    if isinstance(factor, bool) or isinstance(dim, Unknown):
        return UNKNOWN
    if isinstance(factor, int | Expr):
        return dim * factor
    if not isinstance(factor, float) or not 0 < factor < 1e6:
        return UNKNOWN
    if isinstance(dim, int):
        return int(dim * factor)
    top, bottom = factor.as_integer_ratio()
    return dim * top // bottom if bottom <= 1024 else UNKNOWN
