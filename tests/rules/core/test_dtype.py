"""Promotion against torch, exhaustively: every pair of dtypes, with dims, without dims, and Python numbers."""

from itertools import product

import pytest
import torch

from simpletorch.rules import Mismatch, Scalar, TensorType, infer
from simpletorch.rules.common.dtypes import float_dtype, result_dtype, same_dtype
from simpletorch.rules.core.dtype import (
    ABSTRACT,
    BFLOAT16,
    BOOL,
    BY_NAME,
    BY_TORCH_NAME,
    COMPLEX64,
    COMPLEX128,
    DTYPES,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    DType,
    combine_categories,
    promote,
    promote_all,
    to_complex,
    to_real,
)
from simpletorch.shapes import ANY_SHAPE, UNKNOWN, Shape
from tests import oracle

FLOAT, INTEGER, COMPLEX, NUM = BY_NAME["Float"], BY_NAME["Integer"], BY_NAME["Complex"], BY_NAME["Num"]


def real(dtype):
    """The torch dtype."""
    return getattr(torch, dtype.torch_name)


def values(dtype):
    """A tensor with dims, one without, as torch and as the rules see them."""
    dims, zero = torch.empty(2, 3, dtype=real(dtype)), torch.empty((), dtype=real(dtype))
    return [(dims, oracle.lift(dims)), (zero, oracle.lift(zero))]


NUMBERS = [(True, True), (2, 2), (2.5, 2.5), (2j, 2j), (2, UNKNOWN), (True, Scalar("bool")), (2.5, Scalar("float")),
           (2j, Scalar("complex"))]  # fmt: skip
EVERY = [v for d in DTYPES for v in values(d)] + NUMBERS


def torch_result(*operands):
    """`torch.result_type` of two or more; None where torch refuses."""
    try:
        found = torch.result_type(*operands)
    except RuntimeError:
        return None
    return oracle.lift_dtype(found)


# -- the table ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_dtype_is_what_torch_says(dtype):
    theirs = real(dtype)
    assert theirs.itemsize * 8 == dtype.bits
    assert theirs.is_floating_point == dtype.is_floating
    assert theirs.is_complex == (dtype.category == "complex")
    if dtype.category == "int":
        assert theirs.is_signed != dtype.unsigned
    assert oracle.lift_dtype(theirs) == dtype
    assert (str(dtype), dtype.is_concrete) == (dtype.name, True)


@pytest.mark.parametrize("name", BY_TORCH_NAME)
def test_an_alias_is_torch_s(name):
    assert getattr(torch, name) == real(BY_TORCH_NAME[name])


def test_the_default_float():
    from simpletorch.rules.core.dtype import DEFAULT_FLOAT

    assert real(DEFAULT_FLOAT) == torch.get_default_dtype()


# -- promotion ---------------------------------------------------------------------------------------------------------


def test_promote_types():
    wrong = []
    for a, b in product(DTYPES, repeat=2):
        try:
            truth = oracle.lift_dtype(torch.promote_types(real(a), real(b)))
        except RuntimeError:
            truth = None
        if promote(a, b) != truth:
            wrong.append(f"{a}, {b}: {promote(a, b)}, but torch gives {truth}")
    assert not wrong, "\n".join(wrong)


def test_result_type():
    wrong = []
    for (x, a), (y, b) in product(EVERY, repeat=2):
        if not isinstance(x, torch.Tensor) and not isinstance(y, torch.Tensor):
            continue
        answer, truth = result_dtype(a, b), torch_result(x, y)
        if answer != truth:
            wrong.append(f"{a}, {b}: {answer}, but torch gives {truth}")
    assert not wrong, f"{len(wrong)}\n" + "\n".join(wrong[:30])


def test_addition_and_division_and_the_other_order():
    wrong = []
    for name, (x, a), (y, b) in product(("torch.add", "torch.true_divide"), EVERY, EVERY):
        if not isinstance(x, torch.Tensor) or isinstance(b, Scalar) or b is UNKNOWN:
            continue
        found = oracle.examine(name, (x, y))
        if found.verdict not in ("exact", "both_refuse", "missed", "unknown"):
            wrong.append(f"{name}({a}, {b}): {found}")
    assert not wrong, f"{len(wrong)}\n" + "\n".join(wrong[:20])


SOME = [v for d in (BOOL, UINT8, INT8, INT64, FLOAT16, BFLOAT16, FLOAT32, FLOAT64, COMPLEX64) for v in values(d)]


def test_three_operands_are_combined_by_kind_not_from_the_left():
    wrong = []
    for (x, a), (y, b), (z, c) in product(SOME, SOME, [*SOME, *NUMBERS[:4]]):
        if not isinstance(z, torch.Tensor):
            continue  # torch takes three tensors only where it takes a list
        truth = _stacked_type(x, y, z)
        if truth is not None and result_dtype(a, b, c) != truth:
            wrong.append(f"{a}, {b}, {c}: {result_dtype(a, b, c)}, but torch gives {truth}")
    assert not wrong, f"{len(wrong)}\n" + "\n".join(wrong[:20])


def _stacked_type(*tensors):
    """torch's type of several tensors: of those with dims, then of those without, as `torch.addcmul` has it."""
    try:
        out = torch.addcmul(*(t.to("meta") for t in tensors))
    except (RuntimeError, NotImplementedError):
        return None
    return oracle.lift_dtype(out.dtype)


def test_promote_all():
    assert promote_all([]) is None
    assert promote_all([INT64]) == INT64
    assert promote_all([BOOL, INT32, FLOAT16]) == FLOAT16
    assert promote_all([INT64, None]) is None


# -- what is not known -------------------------------------------------------------------------------------------------


def _members(dtype):
    """The concrete dtypes that a family stands for."""
    if dtype is None or dtype.category is None:
        return list(DTYPES)
    return [d for d in DTYPES if d.category == dtype.category and d.bits > 8 - 7 * (d.category != "float")]


def test_promotion_of_families_holds_for_every_member():
    wrong = []
    for a, b in product([*ABSTRACT, None, INT64, FLOAT32, COMPLEX64, BOOL], repeat=2):
        answer = promote(a, b)
        if answer is None:
            continue
        firsts = [a] if a is not None and a.is_concrete else _members(a)
        seconds = [b] if b is not None and b.is_concrete else _members(b)
        for x, y in product(firsts, seconds):
            try:
                truth = oracle.lift_dtype(torch.promote_types(real(x), real(y)))
            except RuntimeError:
                continue
            if truth is not None and oracle.compare_dtypes(answer, truth) == "wrong":
                wrong.append(f"{a}, {b}: {answer}, but {x} and {y} are {truth}")
    assert not wrong, "\n".join(wrong[:20])


def test_combination_of_families_holds_for_every_member():
    wrong = []
    for (a, b), zero in product(product([*ABSTRACT, None, INT64, FLOAT32, COMPLEX64, BOOL], repeat=2), (True, False)):
        left, right = TensorType(Shape.of(2), a), TensorType(Shape.of() if zero else Shape.of(2), b)
        answer = result_dtype(left, right)
        if answer is None:
            continue
        for x, y in product([a] if a and a.is_concrete else _members(a), [b] if b and b.is_concrete else _members(b)):
            truth = torch_result(torch.empty(2, dtype=real(x)), torch.empty(() if zero else 2, dtype=real(y)))
            if truth is not None and oracle.compare_dtypes(answer, truth) == "wrong":
                wrong.append(f"{left}, {right}: {answer}, but {x} and {y} are {truth}")
    assert not wrong, f"{len(wrong)}\n" + "\n".join(wrong[:20])


def test_a_tensor_of_unknown_rank_may_have_no_dims():
    wrong = []
    for (a, b), other_rank in product(product(DTYPES, repeat=2), (0, 1)):
        shape = Shape.of(2) if other_rank else Shape.of()
        answer = result_dtype(TensorType(ANY_SHAPE, a), TensorType(shape, b))
        other = torch.empty(2 if other_rank else (), dtype=real(b))
        for rank in (0, 1):
            truth = torch_result(torch.empty(2 if rank else (), dtype=real(a)), other)
            if answer is not None and truth is not None and answer != truth:
                wrong.append(f"{a} of rank {rank}, {b} of rank {other_rank}: {answer}, but torch gives {truth}")
    assert not wrong, "\n".join(wrong[:20])


@pytest.mark.parametrize(
    ("operands", "dtype"),
    [
        ((TensorType(ANY_SHAPE, FLOAT32), TensorType(ANY_SHAPE, FLOAT32)), FLOAT32),
        ((TensorType(ANY_SHAPE, FLOAT32), TensorType(Shape.of(2), FLOAT32)), FLOAT32),
        ((TensorType(ANY_SHAPE, FLOAT32), 2), FLOAT32),
        ((TensorType(ANY_SHAPE, FLOAT32), 2.0), FLOAT32),
        ((TensorType(ANY_SHAPE, FLOAT64), TensorType(Shape.of(2), FLOAT32)), None),
        ((TensorType(ANY_SHAPE, FLOAT32), TensorType(Shape.of(2), INT64)), FLOAT32),
        ((TensorType(ANY_SHAPE, FLOAT), 2), FLOAT),
        ((TensorType(Shape.of(2), None), 2), None),
        ((TensorType(Shape.of(2), COMPLEX64), TensorType(Shape.of(), None)), COMPLEX64),
        ((TensorType(Shape.of(2), NUM), 2.0), None),
    ],
)
def test_result_dtype_of_what_is_partly_known(operands, dtype):
    assert result_dtype(*operands) == dtype


def test_float_dtype():
    wrong = []
    for dtype in DTYPES:
        x = torch.empty(2, 3, dtype=real(dtype), device="meta")
        try:
            truth = oracle.lift_dtype(torch.sin(x).dtype)
        except (RuntimeError, NotImplementedError):
            continue
        if float_dtype(oracle.lift(x)) != truth:
            wrong.append(f"{dtype}: {float_dtype(oracle.lift(x))}, but torch gives {truth}")
    assert not wrong


# -- parts -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d.category in ("float", "complex") and d.bits > 8], ids=str)
def test_to_complex_and_to_real(dtype):
    if dtype.category == "float":
        try:
            truth = oracle.lift_dtype(real(dtype).to_complex())
        except RuntimeError:
            truth = None
        assert to_complex(dtype) == truth
    else:
        assert to_real(dtype) == oracle.lift_dtype(real(dtype).to_real())


def test_to_real_of_what_is_real():
    assert to_real(INT64) == INT64
    assert to_real(FLOAT) == FLOAT
    assert to_real(COMPLEX) is None


def test_combine_categories():
    assert combine_categories(FLOAT32, FLOAT64) == FLOAT32
    assert combine_categories(INT16, INT64) == INT16
    assert combine_categories(INT16, FLOAT64) == FLOAT64
    assert combine_categories(BOOL, UINT8) == UINT8
    assert combine_categories(FLOAT64, COMPLEX64) == COMPLEX128
    assert combine_categories(None, FLOAT32) is None
    assert combine_categories(COMPLEX64, None) == COMPLEX64
    assert combine_categories(FLOAT32, None) is None


@pytest.mark.parametrize(
    ("dtypes", "result"),
    [
        ((FLOAT32, FLOAT32), FLOAT32),
        ((FLOAT32, None), FLOAT32),
        ((None, None), None),
        ((FLOAT, FLOAT32), FLOAT32),
        ((FLOAT, FLOAT), FLOAT),
        ((NUM, FLOAT32), FLOAT32),
        ((NUM, None), NUM),
    ],
)
def test_same_dtype(dtypes, result):
    operands = [(name, TensorType(Shape.of(2), d)) for name, d in zip("ab", dtypes, strict=True)]
    assert same_dtype(*operands) == result


@pytest.mark.parametrize("dtypes", [(FLOAT32, FLOAT64), (FLOAT32, INT64), (FLOAT, INT64), (FLOAT, INTEGER)])
def test_same_dtype_refuses(dtypes):
    operands = [(name, TensorType(Shape.of(2), d)) for name, d in zip("ab", dtypes, strict=True)]
    with pytest.raises(Mismatch) as found:
        same_dtype(*operands)
    assert found.value.kind == "dtype"
    assert str(found.value) == f"a is {dtypes[0]}, but b is {dtypes[1]}; both must have one dtype"
    assert found.value.hint == "b.to(a.dtype)"


def test_members_of_a_family_may_differ_silently():
    operands = [("a", TensorType(Shape.of(2), BY_NAME["Float"])), ("b", TensorType(Shape.of(2), None))]
    assert same_dtype(*operands) == FLOAT
    assert not isinstance(DType("Float", None, "float").torch_name, str)


def test_int_division_gives_floats():
    three = TensorType(Shape.of(3), INT32)
    assert infer("torch.true_divide", (three, three)) == TensorType(Shape.of(3), FLOAT32)
