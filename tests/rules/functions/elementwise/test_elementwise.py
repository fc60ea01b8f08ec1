"""Element-wise operations against torch: every name, dtype pairs, shapes that broadcast and shapes that don't."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch

from simpletorch.rules import ANYTHING, RULES, Device, Mismatch, Named, Report, Scalar, TensorType, infer, tensor
from simpletorch.rules.common.pointwise import updated
from simpletorch.rules.core.dtype import BOOL, BY_NAME, COMPLEX64, COMPLEX128, FLOAT16, FLOAT32, FLOAT64, INT64
from simpletorch.shapes import ANY_REST, ANY_SHAPE, UNKNOWN, Rest, Shape, var
from tests import oracle
from tests.rules.symbolic import GOOD

B, N, M = map(var, "BNM")
FAMILIES = {"elementwise", "arithmetic", "comparison", "ternary"}
DTYPES = (torch.bool, torch.uint8, torch.int64, torch.float16, torch.float32, torch.float64, torch.complex64)
UNARY = {"elementwise"}
BINARY = {"arithmetic", "comparison"}
NUMBERS = (True, 2, -1, 2.5, 2j)


def names(families: set[str]) -> list[str]:
    return [n for n, r in RULES.items() if r.function.__module__.rpartition(".")[2] in families]


def one_name_a_rule(families: set[str]) -> list[str]:
    return list({id(RULES[n]): n for n in reversed(names(families))}.values())


def ones(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.ones(shape).to(dtype)


def bad(name: str, *args: Any, allowed: tuple[str, ...] = GOOD) -> list[str]:
    found = oracle.examine(name, args)
    return [] if found.verdict in allowed else [f"{oracle.Call(name, args)}: {found}"]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_one_operand_has_torchs_dtype(dtype: torch.dtype) -> None:
    wrong: list[str] = []
    for name in names(UNARY) if dtype in (torch.float32, torch.int64) else one_name_a_rule(UNARY):
        args = (2, ones(2, 3, dtype=dtype)) if name.endswith("polygamma") and "Tensor" not in name else None
        extra = (2,) if "polygamma" in name or "multigammaln" in name or "mvlgamma" in name else ()
        wrong += bad(name, *(args or (ones(2, 3, dtype=dtype), *extra)))
    assert wrong == []


@pytest.mark.parametrize("left", [d for d in DTYPES if d not in (torch.uint8, torch.float64)], ids=str)
def test_two_operands_promote_as_in_torch(left: torch.dtype) -> None:
    wrong: list[str] = []
    allowed = (*GOOD, "partial") if left in (torch.float16, torch.bool) else GOOD  # Complex32 is no dtype of ours
    shapes = ((2, 3), (3,)), ((2, 3), ()), ((), (3,))
    for i, (name, right) in enumerate(itertools.product(one_name_a_rule(BINARY), DTYPES)):
        a, b = shapes[i % 3]
        either = (*allowed, "partial") if torch.float16 in (left, right) or right == torch.bool else allowed
        wrong += bad(name, ones(*a, dtype=left), ones(*b, dtype=right), allowed=(*either, "missed"))
    assert wrong == []


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_python_numbers_promote_as_in_torch(dtype: torch.dtype) -> None:
    wrong: list[str] = []
    for name, number in itertools.product(one_name_a_rule(BINARY), NUMBERS):
        wrong += bad(name, ones(2, 3, dtype=dtype), number, allowed=(*GOOD, "partial", "missed", "unknown"))
    assert wrong == []


@pytest.mark.parametrize(
    ("left", "right"), [((5, 7), (7,)), ((5, 1), (7,)), ((5, 7), (5, 11)), ((7,), (5, 7)), ((3,), ())]
)
def test_shapes_broadcast_or_refuse_as_in_torch(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    wrong: list[str] = []
    for name in names(BINARY):
        dtype = (
            torch.int64 if any(w in name for w in ("bitwise", "shift", "gcd", "lcm", "and", "or__")) else torch.float32
        )
        wrong += bad(name, ones(*left, dtype=dtype), ones(*right, dtype=dtype), allowed=(*GOOD, "missed"))
    assert [w for w in wrong if "missed" in w] == [], "torch refuses, we don't"
    assert wrong == []


@pytest.mark.parametrize("name", ["torch.where", "torch.lerp", "Tensor.lerp_", "torch.addcmul", "Tensor.addcdiv_"])
def test_three_operands(name: str) -> None:
    wrong: list[str] = []
    kinds = (torch.bool, torch.int64, torch.float16, torch.float32, torch.float64)
    for a, b, c in itertools.product(kinds, kinds, kinds):
        for s in (((2, 3), (3,), (2, 1)), ((2, 3), (), (3,)), ((3,), (2, 3), ()), ((2, 3), (5,), (3,))):
            args = [ones(*shape, dtype=d) for shape, d in zip(s, (a, b, c), strict=True)]
            wrong += bad(name, *args)
    assert wrong == []


@pytest.mark.parametrize("name", ["torch.add", "Tensor.__mul__", "torch.maximum", "torch.eq", "Tensor.__truediv__"])
def test_symbols_agree_with_torch_after_substitution(name: str) -> None:
    sizes = {v: p for d, p in ((B, 5), (N, 7), (M, 11)) for v in [next(iter(d.terms[0][0]))[0]]}
    for left, right in (((B, N), (N,)), ((B, 1, M), (N, 1)), ((B, N * M), (N * M,)), ((2 * B,), ())):
        answer = infer(name, (TensorType(Shape(left), FLOAT32), TensorType(Shape(right), FLOAT32)))
        assert isinstance(answer, TensorType)
        filled = [torch.zeros(Shape(s).substitute(sizes).dims) for s in (left, right)]
        assert answer.shape.substitute(sizes).dims == tuple(oracle.resolve(name)(*filled).shape)


def test_symbols_that_differ_are_refused() -> None:
    assert isinstance(infer("torch.add", (tensor(B, N), tensor(B, M))), Report)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (Shape.of(ANY_REST, 128), Shape.of(128), Shape.of(ANY_REST, 128)),
        (Shape.of(ANY_REST, 128), Shape.of(UNKNOWN), Shape.of(ANY_REST, 128)),
        (Shape.of(UNKNOWN, 3), Shape.of(5, 1), Shape.of(5, 3)),
        (Shape.of(Rest("Batch"), N), Shape.of(Rest("Batch"), 1), Shape.of(Rest("Batch"), N)),
        (ANY_SHAPE, Shape.of(5, 7), Shape.of(ANY_REST, 5, 7)),
    ],
)
def test_what_is_known_of_a_shape_stays(left: Shape, right: Shape, expected: Shape) -> None:
    assert infer("torch.add", (TensorType(left, FLOAT32), TensorType(right, FLOAT32))) == TensorType(expected, FLOAT32)


def test_an_unknown_operand_leaves_the_dims_of_the_other() -> None:
    assert infer("Tensor.__add__", (tensor(5, 7, dtype=FLOAT32), ANYTHING)) == tensor(ANY_REST, 5, 7)
    assert infer("Tensor.add_", (tensor(5, 7, dtype=FLOAT32), ANYTHING)) == tensor(5, 7, dtype=FLOAT32)


def test_dtypes_known_in_part() -> None:
    floats, ints = BY_NAME["Float"], BY_NAME["Int"]
    assert infer("torch.exp", (tensor(3, dtype=floats),)) == tensor(3, dtype=floats)
    assert infer("torch.exp", (tensor(3, dtype=ints),)) == tensor(3, dtype=FLOAT32)
    assert infer("torch.exp", (tensor(3),)) == tensor(3)
    assert infer("torch.eq", (tensor(3), 2)) == tensor(3, dtype=BOOL)
    assert infer("torch.add", (tensor(3, dtype=floats), 2.5)) == tensor(3, dtype=floats)
    assert isinstance(infer("torch.bitwise_and", (tensor(3, dtype=floats), tensor(3))), Report)
    assert isinstance(infer("torch.hypot", (tensor(3), tensor(3, dtype=INT64))), TensorType)


def test_symbolic_and_unknown_numbers_are_numbers() -> None:
    x = tensor(3, dtype=FLOAT16)
    for number in (N, UNKNOWN, Scalar("float"), Scalar("bool")):
        assert infer("Tensor.__mul__", (x, number)) == x
    assert infer("Tensor.__truediv__", (tensor(3, dtype=INT64), N)) == tensor(3, dtype=FLOAT32)


def test_frexp_is_named() -> None:
    answer = infer("torch.frexp", (tensor(3, dtype=FLOAT64),))
    assert isinstance(answer, Named)
    assert [name for name, _ in answer.fields] == ["mantissa", "exponent"]


def test_complex_parts() -> None:
    assert infer("torch.abs", (tensor(3, dtype=COMPLEX64),)) == tensor(3, dtype=FLOAT32)
    assert infer("torch.real", (tensor(3, dtype=COMPLEX128),)) == tensor(3, dtype=FLOAT64)
    assert isinstance(infer("torch.imag", (tensor(3, dtype=FLOAT32),)), Report)


def test_devices_must_agree() -> None:
    left, right = tensor(3, device=Device("cuda", 0)), tensor(3, device=Device("cpu"))
    found = infer("torch.add", (left, right))
    assert isinstance(found, Report)
    assert found.kind == "device"


def test_in_place_narrows_what_was_not_known() -> None:
    assert updated(tensor(UNKNOWN, 3), tensor(5, 3)) == tensor(5, 3)
    with pytest.raises(Mismatch):
        updated(tensor(3), tensor(5, 3))


MESSAGES = [
    (
        "torch.add",
        (tensor(5, 7, dtype=FLOAT32), tensor(5, 11, dtype=FLOAT32)),
        "add: input (5, 7) and other (5, 11) can't be broadcast: 7 and 11 differ and neither is 1 at dim -1"
        " [input: Float32[5, 7], other: Float32[5, 11]]",
    ),
    (
        "Tensor.__mul__",
        (tensor(B, N), tensor(B, M)),
        "*: input (B, N) and other (B, M) can't be broadcast: N and M are not equal for all sizes at dim -1"
        " [input: Tensor[B, N], other: Tensor[B, M]]",
    ),
    (
        "Tensor.add_",
        (tensor(7, dtype=FLOAT32), tensor(5, 7, dtype=FLOAT32)),
        "add_: input is (7,), but the result would be (5, 7); an in-place operation can't add dims"
        " [input: Float32[7], other: Float32[5, 7]]",
    ),
    (
        "Tensor.__iadd__",
        (tensor(3, dtype=INT64), 1.5),
        "+=: the result is Float32, which can't be cast to the Int64 of input [input: Int64[3]]",
    ),
    (
        "Tensor.__and__",
        (tensor(3, dtype=BOOL), tensor(3, dtype=FLOAT32)),
        "&: other is Float32, but it must be Bool or integer [input: Bool[3], other: Float32[3]]",
    ),
    (
        "Tensor.__rsub__",
        (tensor(3, dtype=BOOL), 1),
        "-: other is Bool, which can't be subtracted [other: Bool[3]]",
    ),
    (
        "Tensor.__pow__",
        (tensor(3, dtype=INT64), -1),
        "**: input is Int64 and exponent is -1; integers have no negative powers [input: Int64[3]]",
    ),
    (
        "torch.where",
        (tensor(3, dtype=INT64), tensor(3), tensor(3)),
        "where: condition is Int64, but it must be Bool or UInt8 "
        "[condition: Int64[3], input: Tensor[3], other: Tensor[3]]",
    ),
]


@pytest.mark.parametrize(("name", "args", "text"), MESSAGES, ids=[m[0] for m in MESSAGES])
def test_message(name: str, args: tuple[Any, ...], text: str) -> None:
    found = infer(name, args)
    assert isinstance(found, Report)
    assert found.text == text
