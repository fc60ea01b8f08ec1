"""Sequences of different lengths: packed for recurrent layers, or padded to the longest."""

from __future__ import annotations

from simpletorch.rules.common.arguments import dim_or_unknown, some_tensors
from simpletorch.rules.common.conditions import need_min_rank, need_rank, need_size
from simpletorch.rules.core.dtype import INT64
from simpletorch.rules.core.mismatch import CannotTell, Mismatch
from simpletorch.rules.core.registry import rule
from simpletorch.rules.core.values import Packed, TensorType, Value
from simpletorch.shapes import ANY_REST, UNKNOWN, Dim, Item, Shape, maximum

__all__ = ["pack_padded_sequence", "pack_sequence", "pad_packed_sequence", "pad_sequence"]

_RNN = "torch.nn.utils.rnn."


def _in_order(first: Dim, second: Dim, batch_first: Value) -> tuple[Dim, Dim]:
    """Length and batch as the first two dims of a padded tensor; or these dims as length and batch."""
    if not isinstance(batch_first, bool):
        return UNKNOWN, UNKNOWN
    return (second, first) if batch_first else (first, second)


def _features(shape: Shape, leading: int) -> tuple[Item, ...]:
    """The dims after the leading ones."""
    return shape.items[leading:] if len(shape.head) >= leading else (ANY_REST,)


# "moves", because lengths are on the CPU wherever input is
@rule(f"{_RNN}pack_padded_sequence", moves=True)
def pack_padded_sequence(
    input: TensorType, lengths: Value, batch_first: Value = False, enforce_sorted: Value = True
) -> Packed:
    """``(T, B, *f), lengths (B,) -> PackedSequence of B sequences, data (sum, *f)``; B first if batch_first

    Without ``enforce_sorted`` lengths may be of fewer sequences: torch takes the first of the batch, without a word.
    """
    need_min_rank("input", input, 2, meaning="(T, B, ...) or (B, T, ...)")
    _, batch = _in_order(input.shape.dim(0), input.shape.dim(1), batch_first)
    total: Dim = UNKNOWN
    if isinstance(lengths, TensorType):
        need_rank("lengths", lengths, 1)
        if lengths.device is not None and lengths.device.type != "cpu":
            raise Mismatch(
                f"lengths is on {lengths.device}, but it must be on the CPU", kind="device", hint="lengths.cpu()"
            )
        count: Dim = lengths.shape.dim(0)
    elif isinstance(lengths, tuple):
        count, sizes = len(lengths), [dim_or_unknown(v) for v in lengths]
        total = sum(sizes, start=0)
        _need_decreasing(sizes, enforce_sorted)
    else:
        count = UNKNOWN
    takes_some = enforce_sorted is not True
    if not takes_some or (isinstance(count, int) and isinstance(batch, int) and count > batch):
        hint = None if batch_first is not False else "batch_first=True if the batch comes first"
        need_size("lengths has", count, "the batch is", batch, hint=hint)
    data = TensorType(Shape((total, *_features(input.shape, 2))), input.dtype)
    return Packed(data, count if batch is UNKNOWN or takes_some else batch)


def _need_decreasing(sizes: list[Dim], enforce_sorted: Value) -> None:
    known = [s for s in sizes if isinstance(s, int)]
    if any(s <= 0 for s in known):
        raise Mismatch(f"lengths has a {min(known)}, but every sequence must have at least 1 element", got=min(known))
    if enforce_sorted is True and known != sorted(known, reverse=True):
        raise Mismatch("lengths aren't in decreasing order", hint="enforce_sorted=False sorts them", got=tuple(sizes))


@rule(f"{_RNN}pad_packed_sequence")
def pad_packed_sequence(
    sequence: Value, batch_first: Value = False, padding_value: Value = 0.0, total_length: Value = None
) -> Value:
    """``PackedSequence of B sequences -> (T, B, *f), lengths (B,)``; T is total_length, else the longest"""
    if not isinstance(sequence, Packed):
        raise CannotTell
    length = UNKNOWN if total_length is None else dim_or_unknown(total_length)
    batch, data = sequence.batch, sequence.data
    first = _in_order(length, batch, batch_first)
    return TensorType(Shape((*first, *_features(data.shape, 1))), data.dtype), TensorType(Shape((batch,)), INT64)


@rule(f"{_RNN}pack_sequence")
def pack_sequence(sequences: Value, enforce_sorted: Value = True) -> Packed:
    """``[(L, *f), …] -> PackedSequence of that many sequences, data (sum, *f)``"""
    found = some_tensors("sequences", sequences)
    features = _same_features(found)
    if all(isinstance(t.shape.dim(0), int) for t in found):
        _need_decreasing([t.shape.dim(0) for t in found], enforce_sorted)
    total = sum((t.shape.dim(0) for t in found), start=0)
    return Packed(TensorType(Shape((total, *features)), found[0].dtype), len(found))


@rule(f"{_RNN}pad_sequence")
def pad_sequence(
    sequences: Value, batch_first: Value = False, padding_value: Value = 0.0, padding_side: Value = "right"
) -> TensorType:
    """``[(L, *f), …] -> (T, B, *f)`` with T the longest and B how many there are; B first if batch_first"""
    if isinstance(sequences, TensorType):
        raise CannotTell
    found = some_tensors("sequences", sequences)
    features = _same_features(found)
    first = _in_order(maximum(*(t.shape.dim(0) for t in found)), len(found), batch_first)
    return TensorType(Shape((*first, *features)), found[0].dtype)


def _same_features(found: tuple[TensorType, ...]) -> tuple[Item, ...]:
    """The dims after the first, which all sequences have in common."""
    first = found[0].shape
    for i, t in enumerate(found[1:], 1):
        if first.is_exact and t.shape.is_exact and first.rank == t.shape.rank:
            for d in range(1, len(first.items)):
                need_size(f"dim {d} of sequences[{i}] is", t.shape.dim(d), "that of sequences[0] is", first.dim(d))
    return _features(first, 1)
