"""Joining and splitting."""

from __future__ import annotations

import re

from simpletorch.errors._failure import Failure
from simpletorch.errors._kinds import ShapeMismatch
from simpletorch.errors._reasons._table import Reason, message
from simpletorch.errors._reasons._words import called, listed, numbers


@message(
    r"Sizes of tensors must match except in dimension (\d+)\. "
    r"Expected size (\d+) but got size (\d+) for tensor number (\d+)"
)
def _cat(f: Failure, m: re.Match[str]) -> Reason:
    along, expected, got, number = map(int, m.groups())
    tensors = [v for v in f.values if v.role == "tensors"] or f.tensors
    first, other = (tensors[0], tensors[number]) if number < len(tensors) else (None, None)
    differ: list[int] = []
    if first and other:
        pairs = zip(first.shape, other.shape, strict=False)
        differ = [i for i, (p, q) in enumerate(pairs) if p != q and i != along]
    where = f"dim {differ[0]}" if differ else "a dim"
    sentence = (
        f"{where} of {called(other, f'tensor {number}')} is {got}, but of {called(first, 'the first one')} "
        f"it is {expected} (only dim {along} may differ)"
    )
    hint = None
    if len(differ) == 1 and first and other and first.shape[along] == other.shape[along]:
        hint = f"dim={differ[0]} would fit"
    return Reason(ShapeMismatch, sentence, expected, got, hint)


@message(r"Tensors must have same number of dimensions: got (\d+) and (\d+)")
def _cat_rank(f: Failure, m: re.Match[str]) -> Reason:
    a, b = int(m[1]), int(m[2])
    tensors = f.tensors
    first = tensors[0] if tensors else None
    other = next((t for t in tensors if first and len(t.shape) != len(first.shape)), None)
    sentence = f"{called(first, 'one tensor')} has {a} dims, but {called(other, 'another')} has {b}"
    hint = f"{other.name}.unsqueeze(0) adds a dim" if other and b == a - 1 else None
    return Reason(ShapeMismatch, sentence, a, b, hint)


@message(
    r"stack expects each tensor to be equal size, but got (\[[\d, ]*\]) at entry 0 and (\[[\d, ]*\]) at entry (\d+)"
)
def _stack(f: Failure, m: re.Match[str]) -> Reason:
    expected, got, number = numbers(m[1]), numbers(m[2]), int(m[3])
    tensors = [v for v in f.values if v.role == "tensors"] or f.tensors
    first = tensors[0] if tensors else None
    other = tensors[number] if number < len(tensors) else None
    sentence = (
        f"{called(other, f'tensor {number}')} has shape {listed(got)}, "
        f"but {called(first, 'the first one')} has {listed(expected)}"
    )
    return Reason(
        ShapeMismatch, sentence, expected, got, "torch.cat joins tensors that differ in one dim; stack needs them equal"
    )


@message(
    r"split_with_sizes expects split_sizes to sum exactly to (\d+) \(input "
    r"tensor's size at dimension (-?\d+)\), but got split_sizes=(\[[\d, ]*\])"
)
def _split(f: Failure, m: re.Match[str]) -> Reason:
    x = f.tensor(0, "input")
    sizes = numbers(m[3])
    sentence = (
        f"dim {m[2]} of {called(x, 'the tensor')} is {m[1]}, but the parts {listed(sizes)} add up to {sum(sizes)}"
    )
    return Reason(ShapeMismatch, sentence, int(m[1]), sum(sizes))
