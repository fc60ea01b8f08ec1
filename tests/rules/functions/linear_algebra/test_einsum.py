"""`torch.einsum` against torch: implicit and explicit outputs, ellipses, repeated letters, sublists."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from simpletorch.rules import ANYTHING, Report, TensorType, infer, tensor
from simpletorch.rules.core.dtype import INT32, INT64
from simpletorch.shapes import ANY_REST, ANY_SHAPE, UNKNOWN, Rest, Shape
from tests import oracle
from tests.rules.symbolic import GOOD, B, D, H, K, M, N, T, differs
from tests.rules.symbolic import f32 as f


def case(*args: Any) -> Any:
    return pytest.param(args, id=", ".join(a if isinstance(a, str) else oracle.show(a) for a in args))


def t(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.ones(shape, dtype=dtype)


i32, i64, f64 = torch.int32, torch.int64, torch.float64


@pytest.mark.parametrize(
    "args",
    [
        case("ij,jk", t(3, 5), t(5, 7)),
        case("ij,jk->ik", [t(3, 5), t(5, 7)]),
        case(" i j , j k -> i k ", t(3, 5), t(5, 7)),
        case("ba", t(3, 5)),
        case("iJ", t(3, 5)),
        case("ii", t(3, 3)),
        case("ii->i", t(3, 3)),
        case("ii->i", t(1, 3)),
        case("ij->", t(3, 5)),
        case("...ij,...jk", t(2, 3, 5), t(5, 7)),
        case("...ij,...jk->...ik", t(2, 1, 3, 5), t(11, 5, 7)),
        case("...i->i", t(2, 3, 5)),
        case("i...j->j...i", t(2, 3, 5)),
        case("ij...->j", t(3, 5)),
        case("ij->...ij", t(3, 5)),
        case("i,i->i", t(1), t(5)),
        case("ij,ij->ij", t(1, 5), t(3, 1)),
        case(",i->i", t(), t(5, dtype=f64)),
        case(t(3, 5), [0, 1], t(5, 7), [1, 2], [0, 2]),
        case(t(3, 5), [0, ...], [..., 0]),
        case("ij->i", t(3, 5, dtype=i32)),
        case("ij->ji", t(3, 5, dtype=i32)),
        case("ij,jk", t(3, 5, dtype=i64), t(5, 7, dtype=i64)),
        case("i,j->ij", t(3), t(5, dtype=f64)),
        case("ij,jk->ik", t(3, 5), t(5, 7, dtype=f64)),
        case("ij,jk->ik", t(3, 1), t(1, 7, dtype=f64)),
        case("ij,jk->ik", t(3, 1), t(5, 7, dtype=f64)),
        case("ij,jk->ik", t(3, 5), t(1, 7, dtype=f64)),
        case("ijk,jkl->il", t(3, 1, 5), t(2, 5, 7, dtype=f64)),
        case("ijk,jkl->il", t(3, 1, 5), t(2, 1, 7, dtype=f64)),
        case("ij,jk", t(3, 5), t(7, 5)),
        case("ij", t(3, 5, 7)),
        case("ijk->i", t(3, 5)),
        case("...ijk->i", t(3, 5)),
        case("ij,jk", t(3, 5)),
        case("ij->ik", t(3, 5)),
        case("ij->ii", t(3, 5)),
        case("i1,1j->ij", t(3, 3), t(3, 3)),
        case("ij->i->j", t(3, 3)),
        case("...i,...i->...", t(2, 3, 5), t(7, 5)),
    ],
)
def test_agrees_with_torch(args: tuple[Any, ...]) -> None:
    judgement = oracle.examine("torch.einsum", args)
    assert judgement.verdict in GOOD, judgement


@pytest.mark.parametrize(
    "args",
    [
        ("bthd,bshd->bhts", f(B, T, H, D), f(B, N, H, D)),
        ("bhts,bshd->bthd", f(B, H, T, N), f(B, N, H, D)),
        ("...d,hd->...h", f(B, T, D), f(2 * H, D)),
        ("ii->i", f(N * M, N * M)),
        ("ij,jk", f(N, K), f(M, K)),
        ("ii->i", f(N, M)),
    ],
)
def test_symbols_agree_with_torch(args: tuple[Any, ...]) -> None:
    assert differs("torch.einsum", *args) == ""


def shape_of(*args: Any) -> Shape:
    found = infer("torch.einsum", args)
    assert isinstance(found, TensorType), found
    return found.shape


def test_a_letter_is_known_from_any_operand() -> None:
    assert shape_of("ij,jk->ijk", ANYTHING, f(5, 7)) == Shape.of(UNKNOWN, 5, 7)
    assert shape_of("ij,jk->ik", f(3, UNKNOWN), f(5, UNKNOWN)) == Shape.of(3, UNKNOWN)


def test_an_ellipsis_holds_a_variadic_part() -> None:
    batch = Rest("Batch")
    assert shape_of("...i,ji->...j", f(batch, 5), f(7, 5)) == Shape.of(batch, 7)
    assert shape_of("i...->...i", f(3, ANY_REST, 5)) == Shape.of(ANY_REST, 5, 3)
    assert shape_of("...ij->...ji", f(3, ANY_REST)) == Shape.of(ANY_REST, UNKNOWN, UNKNOWN)
    assert shape_of("...ij->...ji", f(ANY_REST)) == Shape.of(ANY_REST, UNKNOWN, UNKNOWN)
    assert shape_of("...,...->...", f(ANY_REST), f(ANY_REST)) == ANY_SHAPE


def test_an_unknown_equation_is_not_judged() -> None:
    assert infer("torch.einsum", (ANYTHING, f(3, 5))) is ANYTHING


def test_the_order_of_contractions_decides_the_dtype_of_small_ints() -> None:
    found = infer("torch.einsum", ("ij,ik->i", tensor(3, 5, dtype=INT32), tensor(3, 7, dtype=INT32)))
    assert found == tensor(3)
    found = infer("torch.einsum", ("ij,ik->i", tensor(3, 5, dtype=INT64), tensor(3, 7, dtype=INT64)))
    assert found == tensor(3, dtype=INT64)


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (
            ("ij,jk->ik", f(3, 5), f(7, 2)),
            "einsum: j is 5 in operands[0] (ij), but 7 in operands[1] (jk) "
            "[operands[0]: Float32[3, 5], operands[1]: Float32[7, 2]]",
        ),
        (
            ("ij,jk->ik", f(B, N), f(M, K)),
            "einsum: j is N in operands[0] (ij), but M in operands[1] (jk); they are not equal for all sizes "
            "[operands[0]: Float32[B, N], operands[1]: Float32[M, K]]",
        ),
        (("ijk->i", f(3, 5)), "einsum: ijk names 3 dims, but operands[0] is (3, 5) [operands[0]: Float32[3, 5]]"),
        (("ii->i", f(3, 5)), "einsum: i is both 3 and 5 in operands[0] (ii) [operands[0]: Float32[3, 5]]"),
        (("ij->ik", f(3, 5)), "einsum: k of the output ik is in no operand [operands[0]: Float32[3, 5]]"),
        (("ij,jk", f(3, 5)), "einsum: the equation names 2 operands, but 1 are given [operands[0]: Float32[3, 5]]"),
    ],
)
def test_message(args: tuple[Any, ...], text: str) -> None:
    report = infer("torch.einsum", args)
    assert isinstance(report, Report)
    assert report.text == text
