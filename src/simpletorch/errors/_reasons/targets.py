"""Targets of losses."""

from __future__ import annotations

import math
import re

from simpletorch.errors._failure import Failure
from simpletorch.errors._kinds import ShapeMismatch
from simpletorch.errors._reasons._table import Reason, message
from simpletorch.errors._reasons._words import called, listed, numbers


@message(r"(?:[Tt])arget size \(torch\.Size\((\[[\d, ]*\])\)\) .*?input size \(torch\.Size\((\[[\d, ]*\])\)\)")
def _target_size(f: Failure, m: re.Match[str]) -> Reason:
    target, shape = numbers(m[1]), numbers(m[2])
    x, y = f.tensor(0, "input"), f.tensor(1, "target")
    hint = None
    if shape == (*target, 1):
        hint = f"{called(y, 'the target')}.unsqueeze({len(target)}) has the input's shape"
    elif shape and target == (*shape, 1):
        hint = f"{called(y, 'the target')}.squeeze({len(shape)}) has the input's shape"
    sentence = f"{called(y, 'the target')} has shape {listed(target)}, but {called(x, 'the input')} has {listed(shape)}"
    return Reason(ShapeMismatch, sentence, shape, target, hint)


@message(r"Expected input batch_size \((\d+)\) to match target batch_size \((\d+)\)")
def _batch_size(f: Failure, m: re.Match[str]) -> Reason:
    x, y = f.tensor(0, "input"), f.tensor(1, "target")
    sentence = f"{called(x, 'the input')} has {m[1]} rows, but {called(y, 'the target')} has {m[2]}"
    hint = None
    if x and y and math.prod(x.shape[:-1]) == math.prod(y.shape):
        hint = f"{x.name}.flatten(0, -2) and {y.name}.flatten() go together"
    return Reason(ShapeMismatch, sentence, int(m[1]), int(m[2]), hint)


@message(r"0D or 1D target tensor expected, multi-target not supported")
def _multi_target(f: Failure, _m: re.Match[str]) -> Reason:
    x, y = f.tensor(0, "input"), f.tensor(1, "target")
    name = called(y, "the target")
    hint = None
    if y and y.shape[1:] == (1,):
        hint = f"{name}.squeeze(1) has one class index for each row"
    elif x and y and x.shape == y.shape:
        hint = f"{name} looks one-hot: {name}.argmax(1) gives class indices, {name}.float() class probabilities"
    sentence = (
        f"{name} has {len(y.shape) if y else 'several'} dims, but class indices have one for each row of the input"
    )
    return Reason(ShapeMismatch, sentence, x.shape[:1] if x else None, y.shape if y else None, hint)
