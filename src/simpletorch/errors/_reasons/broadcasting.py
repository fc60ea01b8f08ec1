"""Shapes that are broadcast, expanded or assigned."""

from __future__ import annotations

import ast
import re

from simpletorch.errors._failure import Failure, Value
from simpletorch.errors._kinds import ShapeMismatch
from simpletorch.errors._reasons._table import Reason, message
from simpletorch.errors._reasons._words import called, listed, numbers


@message(
    r"The size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton dimension (\d+)",
)
def _broadcast(f: Failure, m: re.Match[str]) -> Reason:
    a, b, at = map(int, m.groups())
    pair = _meeting(f, a, b, at)
    if pair is None:
        return Reason(ShapeMismatch, f"sizes {a} and {b} meet in dim {at}, and neither is 1", a, b)
    left, right, index = pair
    reverse = len(left.shape) > 1 and len(right.shape) > 1 and left.shape[::-1] == right.shape
    hint = None
    if f.operation in ("matmul", "bmm", "__matmul__"):
        hint = "all dims but the last two are batch dims, which must agree"
    elif reverse:
        hint = f"{right.name}.T has the shape of {left.name}"
    else:
        hint = _unsqueeze_hint(left, right) or _unsqueeze_hint(right, left)
    return Reason(
        ShapeMismatch,
        f"dim {index} of {left.name} is {a}, but of {right.name} it is {b}, and neither is 1",
        left.shape,
        right.shape,
        hint,
    )


def _meeting(f: Failure, a: int, b: int, at: int) -> tuple[Value, Value, int] | None:
    """The two tensors whose sizes ``a`` and ``b`` meet, and the dim counted from the right."""
    tensors = [v for v in f.tensors if v.shape]
    rank = max((len(v.shape) for v in tensors), default=0)
    for i, left in enumerate(tensors):
        for right in tensors[i + 1 :]:
            # torch counts from the left of the common shape, which is that of these two or of all operands
            for index in (at - max(len(left.shape), len(right.shape)), at - rank):
                within = index < 0 and -index <= min(len(left.shape), len(right.shape))
                if within and left.shape[index] == a and right.shape[index] == b:
                    return left, right, index
    return None


def _unsqueeze_hint(small: Value, large: Value) -> str | None:
    """A vector that fits the first dim of a matrix needs a dim behind it."""
    if len(small.shape) == 1 and len(large.shape) == 2 and small.shape[0] == large.shape[0]:
        return f"{small.name}.unsqueeze(1) has shape ({small.shape[0]}, 1), one number for each row of {large.name}"
    return None


@message(r"output with shape (\[[\d, ]*\]) doesn't match the broadcast shape (\[[\d, ]*\])")
def _inplace_broadcast(f: Failure, m: re.Match[str]) -> Reason:
    own, wide = numbers(m[1]), numbers(m[2])
    target = f.tensor(0, "input", "self")
    return Reason(
        ShapeMismatch,
        f"{called(target, 'the tensor')} has shape {listed(own)}, which can't hold the result of shape {listed(wide)}",
        own,
        wide,
        "an in-place operation can't grow its tensor; assign the result of the ordinary one instead",
    )


@message(
    r"The expanded size of the tensor \((-?\d+)\) must match the existing size \((\d+)\) at non-singleton dimension "
    r"(\d+)\.\s+Target sizes: (\[[-\d, ]*\])\.\s+Tensor sizes: (\[[-\d, ]*\])"
)
def _expand(f: Failure, m: re.Match[str]) -> Reason:
    target, own = numbers(m[4]), numbers(m[5])
    x = f.with_shape(own)
    if _is_assignment(f):
        place = f"the place it is assigned to has {listed(target)}"
        sentence = f"{called(x, 'the value')} has shape {listed(own)}, but {place}"
    else:
        sentence = (
            f"dim {int(m[3]) - len(target)} of {called(x, 'the tensor')} is {m[2]}, so it can't be expanded to {m[1]} "
            "(only a dim of size 1 can)"
        )
    return Reason(ShapeMismatch, sentence, target, own)


def _is_assignment(f: Failure) -> bool:
    return f.operation == "index" and isinstance(getattr(f.node, "ctx", None), ast.Store)


@message(
    r"The shape of the mask (\[[\d, ]*\]) at index (\d+) does not match the shape of the indexed tensor (\[[\d, ]*\])"
)
def _mask(f: Failure, m: re.Match[str]) -> Reason:
    mask, shape, at = numbers(m[1]), numbers(m[3]), int(m[2])
    x, chosen = f.with_shape(shape), f.with_shape(mask)
    sentence = (
        f"the mask {called(chosen, '')}".rstrip() + f" has shape {listed(mask)}, but "
        f"{called(x, 'the tensor')} has {listed(shape)}: they differ in dim {at}"
    )
    return Reason(ShapeMismatch, sentence, shape, mask)


@message(r"Boolean value of Tensor with more than one value is ambiguous")
def _truth(_f: Failure, _m: re.Match[str]) -> Reason:
    return Reason(ShapeMismatch, "a tensor of several values is neither true nor false", hint="say .any() or .all()")


@message(r"a Tensor with (\d+) elements cannot be converted to Scalar")
def _item(f: Failure, m: re.Match[str]) -> Reason:
    x = f.tensor(0, "input")
    sentence = f"{called(x, 'the tensor')} has {m[1]} values, but only one value can become a number"
    return Reason(ShapeMismatch, sentence, 1, int(m[1]), "reduce it first (.mean(), .sum()), or use .tolist()")
