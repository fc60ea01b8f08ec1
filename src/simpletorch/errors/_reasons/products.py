"""Matrix products and linear layers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from torch import nn

from simpletorch.errors._failure import Failure, Value
from simpletorch.errors._kinds import ShapeMismatch
from simpletorch.errors._reasons._table import Reason, message
from simpletorch.errors._reasons._words import called, numbers


@message(r"mat1 and mat2 shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)")
def _matmul(f: Failure, m: re.Match[str]) -> Reason:
    rows, got, expected, out = map(int, m.groups())
    if isinstance(f.layer, nn.Linear):
        return _linear_layer(f, f.layer, got)
    if f.operation == "linear":
        return _linear_function(f, got, expected)
    left, right = _matrices(f, (rows, got), (expected, out))
    a, b = called(left, "the left matrix"), called(right, "the right matrix")
    sentence = f"the last dim of {a} is {got}, but the first of {b} is {expected}"
    if right and len(right.shape) > 2:
        sentence = f"the last dim of {a} is {got}, but the second last of {b} is {expected}"
    return Reason(ShapeMismatch, sentence, expected, got)


def _matrices(f: Failure, left: Sequence[int], right: Sequence[int]) -> tuple[Value | None, Value | None]:
    """The two factors: by their roles, else by their sizes (addmm has a third tensor in front)."""
    a, b = f.role("mat1"), f.role("mat2")
    if a is None and f.operation not in ("addmm", "baddbmm", "addbmm"):
        a, b = f.tensor(0, "input"), f.tensor(1, "other", "weight")
    fits = a is not None and a.shape[-1:] == tuple(left[-1:]) and b is not None and right[0] in b.shape[-2:]
    return (a, b) if fits else (f.with_shape(left), f.with_shape(right))


def _linear_layer(f: Failure, layer: nn.Linear, got: int) -> Reason:
    x = f.tensor(0, "input")
    expected = layer.in_features
    shape = x.shape if x else ()
    return Reason(
        ShapeMismatch,
        f"the last dim of {called(x, 'the input')} is {shape[-1] if shape else got}, "
        f"but {f.layer_name} takes {expected} features",
        (*shape[:-1], expected),
        shape,
    )


def _linear_function(f: Failure, got: int, expected: int) -> Reason:
    x, w = f.tensor(0, "input"), f.tensor(1, "weight")
    weight = called(w, "the weight")
    return Reason(
        ShapeMismatch,
        f"the last dim of {called(x, 'the input')} is {got}, but {weight} takes {expected} features (its last dim)",
        expected,
        got,
    )


@message(r"Expected size for first two dimensions of batch2 tensor to be: (\[[\d, ]*\]) but got: (\[[\d, ]*\])")
def _bmm(f: Failure, m: re.Match[str]) -> Reason:
    expected, got = numbers(m[1]), numbers(m[2])
    left = f.tensor(0, "input", "query")
    right = f.tensor(1, "mat2", "other", "key")
    a, b = called(left, "the left batch"), called(right, "the right batch")
    if f.operation == "scaled_dot_product_attention" and left and right and left.shape[-1] != right.shape[-1]:
        sentence = f"the last dim of {a} is {left.shape[-1]}, but of {b} it is {right.shape[-1]}"
        return Reason(ShapeMismatch, sentence, left.shape[-1], right.shape[-1])
    if expected[0] != got[0]:
        sentence = f"{a} holds {expected[0]} matrices, but {b} holds {got[0]}"
    else:
        sentence = f"the last dim of {a} is {expected[1]}, but the second last of {b} is {got[1]}"
    hint = None
    if left and right and right.shape[-1] == left.shape[-1] and expected[0] == got[0]:
        hint = f"{b}.mT would fit"
    return Reason(ShapeMismatch, sentence, expected, got, hint)


@message(r"size mismatch, got input \((\d+)\), mat \((\d+)x(\d+)\), vec \((\d+)\)")
def _mv(f: Failure, m: re.Match[str]) -> Reason:
    expected, got = int(m[3]), int(m[4])
    mat, vec = f.tensor(0, "input"), f.tensor(1, "vec", "other")
    vector = f"{called(vec, 'the vector')} has {got} numbers"
    sentence = f"the last dim of {called(mat, 'the matrix')} is {expected}, but {vector}"
    return Reason(ShapeMismatch, sentence, expected, got)


@message(r"inconsistent tensor size, expected tensor \[(\d+)\] and src \[(\d+)\]")
def _dot(f: Failure, m: re.Match[str]) -> Reason:
    a, b = f.tensor(0, "input"), f.tensor(1, "other", "tensor")
    sentence = f"{called(a, 'the left vector')} has {m[1]} numbers, but {called(b, 'the right one')} has {m[2]}"
    return Reason(ShapeMismatch, sentence, int(m[1]), int(m[2]))


@message(r"(?:bilinear\(\): )?(input[12]) size does not match weight size: got (\d+) but expected (\d+)")
def _bilinear(f: Failure, m: re.Match[str]) -> Reason:
    x = f.role(m[1])
    sentence = f"the last dim of {called(x, m[1])} is {m[2]}, but {f.layer_name or 'the weight'} takes {m[3]} features"
    return Reason(ShapeMismatch, sentence, int(m[3]), int(m[2]))


@message(
    r"einsum\(\): subscript (\w) has size (\d+) for operand (\d+) "
    r"which does not broadcast with previously seen size (\d+)"
)
def _einsum(f: Failure, m: re.Match[str]) -> Reason:
    sentence = f"{m[1]} is {m[2]} in {called(f.tensor(int(m[3])), f'operand {m[3]}')}, but {m[4]} before it"
    return Reason(ShapeMismatch, sentence, int(m[4]), int(m[2]))


@message(
    r"einsum\(\): the number of subscripts in the equation \((\d+)\) does not match the number of dimensions "
    r"\((\d+)\) for operand (\d+)"
)
def _einsum_rank(f: Failure, m: re.Match[str]) -> Reason:
    sentence = f"{called(f.tensor(int(m[3])), f'operand {m[3]}')} has {m[2]} dims, but the equation names {m[1]} of it"
    return Reason(ShapeMismatch, sentence, int(m[1]), int(m[2]), "... in the equation stands for dims without a name")


@message(r"linalg\.(\w+): A must be batches of square matrices, but they are (\d+) by (\d+) matrices")
def _square(f: Failure, m: re.Match[str]) -> Reason:
    x = f.tensor(0, "input", "A")
    sentence = f"{called(x, 'the matrix')} is {m[2]} by {m[3]}, but {m[1]} needs a square matrix"
    return Reason(ShapeMismatch, sentence, None, (int(m[2]), int(m[3])))
