"""Indices out of range."""

from __future__ import annotations

import re

import torch
from torch import nn

from simpletorch.errors._failure import Failure, Value
from simpletorch.errors._kinds import ShapeMismatch
from simpletorch.errors._reasons._table import Reason, message
from simpletorch.errors._reasons._words import called


@message(r"index (-?\d+) is out of bounds for dimension (\d+) with size (\d+)")
def _index_range(f: Failure, m: re.Match[str]) -> Reason:
    x = f.tensor(0, "input")
    size = int(m[3])
    sentence = (
        f"index {m[1]} is outside dim {m[2]} of {called(x, 'the tensor')}, which has size {size} (0 to {size - 1})"
    )
    return Reason(ShapeMismatch, sentence, size, int(m[1]))


@message(r"too many indices for tensor of dimension (\d+)")
def _too_many(f: Failure, m: re.Match[str]) -> Reason:
    x = f.tensor(0, "input")
    return Reason(ShapeMismatch, f"{called(x, 'the tensor')} has {m[1]} dims, fewer than the indices", int(m[1]))


@message(r"Target (-?\d+) is out of bounds")
def _target_range(f: Failure, m: re.Match[str]) -> Reason | None:
    return _no_class(f, int(m[1])) if f.operation in ("cross_entropy", "nll_loss") else None


@message(r"^target out of range", r"'target' is out of range")
def _margin_range(f: Failure, _m: re.Match[str]) -> Reason:
    x = f.tensor(0, "input")
    return _no_class(f, _extreme(f.tensor(1, "target"), x.shape[-1]) if x and x.shape else None)


def _no_class(f: Failure, number: int | None) -> Reason:
    """A target of a loss that is no class of its input."""
    x, y = f.tensor(0, "input"), f.tensor(1, "target")
    classes = x.shape[:2][-1] if x and x.shape else None
    rows = f": {called(x, 'the input')} has {classes} classes (0 to {classes - 1})" if classes else ""
    what = "a class" if number is None else f"class {number}"
    return Reason(ShapeMismatch, f"{what} in {called(y, 'the target')} is out of range{rows}", classes, number)


@message(r"^index out of range in self", r"Target -?\d+ is out of bounds")
def _lookup_range(f: Failure, _m: re.Match[str]) -> Reason:
    ids, table = f.tensor(0, "input"), f.role("weight")
    if isinstance(f.layer, nn.Embedding | nn.EmbeddingBag):
        return _embedding_range(ids, f.layer_name, f.layer.num_embeddings)
    if f.operation in ("embedding", "embedding_bag") and table is not None and table.shape:
        return _embedding_range(ids, table.name, table.shape[0])
    return Reason(ShapeMismatch, "an index is out of range")


def _embedding_range(ids: Value | None, table: str, count: int) -> Reason:
    extreme = _extreme(ids, count)
    what = f"index {extreme}" if extreme is not None else "an index"
    return Reason(
        ShapeMismatch,
        f"{what} in {called(ids, 'the input')} is out of range: {table} has {count} rows (0 to {count - 1})",
        count,
        extreme,
        "num_embeddings must be larger than the largest index",
    )


@message(r"start \((-?\d+)\) \+ length \((\d+)\) exceeds dimension size \((\d+)\)")
def _narrow(f: Failure, m: re.Match[str]) -> Reason:
    start, length, size = map(int, m.groups())
    sentence = f"{length} from {start} on reach beyond {called(f.tensor(0, 'input'), 'the dim')}, which has size {size}"
    return Reason(ShapeMismatch, sentence, size, start + length)


@message(r"Class values must be (smaller than num_classes|non-negative)")
def _class_range(f: Failure, m: re.Match[str]) -> Reason:
    ids = f.tensor(0, "input")
    count = next((v.value for v in f.values if type(v.value) is int), None)
    extreme = None if count is None and "smaller" in m[1] else _extreme(ids, count if count is not None else 2**62)
    what = f"class {extreme}" if extreme is not None else "a class"
    allowed = f": there are {count} classes (0 to {count - 1})" if count is not None and count > 0 else ""
    return Reason(
        ShapeMismatch,
        f"{what} in {called(ids, 'the input')} is out of range{allowed}",
        count,
        extreme,
        "num_classes must be larger than the largest class, and no class negative (255 or -100 often mean ignore)",
    )


def _extreme(ids: Value | None, count: int) -> int | None:
    """The index furthest outside; read on the CPU only, where it costs no synchronisation."""
    value = None if ids is None else ids.value
    if (
        not isinstance(value, torch.Tensor)
        or value.device.type != "cpu"
        or value.is_floating_point()
        or not value.numel()
    ):
        return None
    low, high = int(value.min()), int(value.max())
    return high if high >= count else low if low < 0 else None
