"""Reductions, running sums, norms, differences against torch."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch

from simpletorch.rules import ANYTHING, Named, Report, TensorType, infer, tensor
from simpletorch.rules.core.dtype import BOOL, BY_NAME, COMPLEX64, FLOAT32, FLOAT64, INT32, INT64
from simpletorch.shapes import ANY_REST, ANY_SHAPE, UNKNOWN, Shape
from tests import oracle
from tests.rules.symbolic import GOOD, B, N, T, case, differs

FLOAT = BY_NAME["Float"]
x = torch.ones(3, 5, 7)
i = torch.ones(3, 5, 7, dtype=torch.int64)
b = torch.ones(3, 5, 7, dtype=torch.bool)
c = torch.ones(3, 5, 7, dtype=torch.complex64)
s = torch.tensor(2.5)


MANY = ("sum", "mean", "amax", "std", "any", "nansum", "nanmean", "logsumexp")
ONE = ("prod", "max", "min", "argmax", "median", "nanmedian", "mode")
RUNNING = ("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp")
REDUCTIONS = [
    *(case(f"torch.{n}", x, dim=d) for n in MANY for d in (1, -1, (0, 2), [1, -1], 3, -4, (1, -2))),
    *(case(f"Tensor.{n}", x, 1, keepdim=True) for n in (*MANY, *ONE) if n not in ("std",)),
    *(case(f"torch.{n}", t) for n in ("sum", "prod", "mean", "max", "argmax", "any", "median") for t in (x, i, b)),
    *(case(f"torch.{n}", x, d) for n in (*ONE, *RUNNING) for d in (0, -3, 3)),
    *(case(f"torch.{n}", t, 1) for n in RUNNING for t in (i, s)),
    *(case(f"torch.{n}", s, -1) for n in ("sum", "max", "argmax", "all")),
    *(case(f"torch.{n}", s, 1) for n in ("sum", "max", "argmax", "all")),
    *(case(f"torch.{n}", torch.ones(3, 0), 1) for n in ("sum", "max", "amax", "argmax", "mode", "median")),
    *(case(f"torch.{n}", torch.ones(3, 0)) for n in ("sum", "max", "amax", "argmax", "aminmax")),
    case("torch.sum", x, ()),
    case("torch.any", x, ()),
    case("torch.amax", x, ()),
    case("torch.sum", x, None, True),
    case("torch.sum", i, 1, dtype=torch.float64),
    case("torch.mean", i, dtype=torch.float64),
    case("torch.mean", x, dtype=torch.int32),
    case("torch.max", x, i),
    case("torch.max", x, torch.ones(7, dtype=torch.float64)),
    case("torch.max", x, torch.ones(5)),
    case("torch.max", x, other=s),
    case("torch.aminmax", x, dim=1, keepdim=True),
    case("torch.std", x, True),
    case("torch.std", x, 1, False, True),
    case("torch.var", c, correction=0, keepdim=True),
    case("torch.var_mean", c, 1),
    case("torch.std_mean", i),
    case("torch.all", x.to(torch.uint8), 1),
    case("torch.count_nonzero", x, (0, 1)),
    case("torch.quantile", x, torch.rand(2), 1, True),
    case("torch.quantile", x, 0.5),
    case("torch.quantile", x, torch.rand(2, 2)),
    case("torch.quantile", x, torch.rand(2, dtype=torch.float64)),
    case("torch.quantile", i, 0.5),
    case("torch.argmax", c),
    case("torch.max", c),
    case("Tensor.cumsum_", i.to(torch.int32), 0),
]
NORMS = [
    *(case("torch.norm", t) for t in (x, i, c)),
    case("torch.norm", x, 1, (0, 1), True),
    case("torch.norm", x, "nuc", dim=(0, 1)),
    case("torch.norm", x, "nuc"),
    case("torch.norm", x, dtype=torch.float64),
    case("torch.norm", x.double(), dtype=torch.float32),
    case("torch.linalg.norm", x, 2),
    case("torch.linalg.norm", x, 2, (1, 2)),
    case("torch.linalg.norm", x, None, (0, 1, 2)),
    case("torch.linalg.vector_norm", c, dim=(1, 2)),
    case("torch.linalg.matrix_norm", x, keepdim=True),
    case("torch.linalg.matrix_norm", x[0, 0]),
    case("torch.linalg.matrix_norm", x, dim=(1,)),
    case("torch.linalg.cond", x[:, :, :5], 1),
    case("torch.linalg.cond", x, 1),
    case("torch.cdist", x, x[:, :2]),
    case("torch.cdist", x, x[:, :, :2]),
    case("torch.cdist", i, i),
    case("torch.dist", x, x[0]),
    case("torch.renorm", x, 2, 0, 1.0),
]
DIFFERENCES = [
    case("torch.diff", x, n=2, dim=1),
    case("torch.diff", x, n=9),
    case("torch.diff", x, prepend=x[:, :, :2], append=x[:, :, :1]),
    case("torch.diff", x, prepend=x[:1]),
    case("torch.trapezoid", i, dx=0.5),
    case("torch.trapezoid", x, torch.ones(7)),
    case("torch.trapezoid", x, torch.ones(5)),
    case("torch.cumulative_trapezoid", x, dim=0),
    case("torch.gradient", x, dim=(0, 1)),
    case("torch.gradient", x[:1]),
]


@pytest.mark.parametrize(("name", "args", "kwargs"), [*REDUCTIONS, *NORMS, *DIFFERENCES])
def test_agrees_with_torch(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    judgement = oracle.examine(name, args, kwargs)
    assert judgement.verdict in GOOD, judgement


SYMBOLIC = tensor(B, T, N, dtype=FLOAT32)


@pytest.mark.parametrize(
    ("name", "args", "kwargs"),
    [
        case("torch.sum", SYMBOLIC, -1),
        case("torch.sum", SYMBOLIC, (0, 2), True),
        case("torch.max", SYMBOLIC, 1),
        case("torch.max", SYMBOLIC, tensor(T, 1, dtype=INT64)),
        case("torch.cumsum", tensor(B, T, dtype=INT32), 0),
        case("torch.quantile", SYMBOLIC, tensor(N, dtype=FLOAT32), 0),
        case("torch.linalg.norm", SYMBOLIC, 2, (0, 1)),
        case("torch.cdist", SYMBOLIC, tensor(B, 2 * N, N, dtype=FLOAT32)),
        case("torch.diff", SYMBOLIC, 2),
        case("torch.cumulative_trapezoid", SYMBOLIC, dim=1),
        case("torch.sum", SYMBOLIC, 3),
    ],
)
def test_symbols_agree_with_torch(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    assert differs(name, *args, **kwargs) == ""


def shape_of(name: str, *args: Any, **kwargs: Any) -> Shape:
    found = infer(name, args, kwargs)
    assert isinstance(found, TensorType), found
    return found.shape


def test_the_last_dim_of_unknown_rank_can_be_reduced() -> None:
    rest = tensor(ANY_REST, T, N, dtype=FLOAT32)
    assert shape_of("torch.sum", rest, -1) == Shape.of(ANY_REST, T)
    assert shape_of("torch.sum", rest, -2, True) == Shape.of(ANY_REST, 1, N)
    assert shape_of("torch.mean", rest, (-1, -2)) == ANY_SHAPE
    assert shape_of("torch.sum", rest, -3) == Shape.of(ANY_REST, T, N)
    assert shape_of("torch.sum", rest, 0) == Shape.of(ANY_REST, N)
    assert shape_of("torch.sum", rest) == Shape(())


def test_a_tensor_that_may_be_0_dim_keeps_that_possibility() -> None:
    assert shape_of("torch.sum", tensor(ANY_REST), -1, True) == ANY_SHAPE
    assert shape_of("torch.sum", tensor(ANY_REST), (-1, -2), True) == Shape.of(ANY_REST, 1, 1)


def test_an_unknown_dim_leaves_the_number_of_dims() -> None:
    assert shape_of("torch.sum", tensor(3, 5, 7), UNKNOWN) == Shape.of(UNKNOWN, UNKNOWN)
    assert shape_of("torch.sum", tensor(3, 3, 3), UNKNOWN) == Shape.of(3, 3)
    assert shape_of("torch.sum", tensor(3, 1, 7), UNKNOWN, True) == Shape.of(UNKNOWN, 1, UNKNOWN)
    assert shape_of("torch.sum", tensor(3, 5), ANYTHING) == ANY_SHAPE
    assert shape_of("torch.sum", tensor(3, 5), 1, ANYTHING) == ANY_SHAPE


def test_what_is_known_of_a_dtype_is_kept() -> None:
    assert infer("torch.sum", (tensor(3),)) == TensorType(Shape(()), None)
    assert infer("torch.mean", (tensor(3, dtype=FLOAT),)) == TensorType(Shape(()), FLOAT)
    assert infer("torch.any", (tensor(3, dtype=FLOAT64),)) == TensorType(Shape(()), BOOL)
    assert infer("torch.var", (tensor(3, dtype=COMPLEX64),)) == TensorType(Shape(()), FLOAT32)


def test_the_second_argument_of_max_may_be_a_dim_or_a_tensor() -> None:
    assert isinstance(infer("torch.max", (tensor(3, 5), 1)), Named)
    assert isinstance(infer("torch.max", (tensor(3, 5), tensor(5))), TensorType)
    assert infer("torch.max", (tensor(3, 5), ANYTHING)) is ANYTHING


@pytest.mark.parametrize(
    ("name", "args", "text"),
    [
        (
            "torch.sum",
            (tensor(B, N, dtype=FLOAT32), 2),
            "sum: dim=2 is out of range for 2 dims (B, N); it must be in [-2, 1] [input: Float32[B, N]]",
        ),
        (
            "torch.mean",
            (tensor(3, dtype=INT64),),
            "mean: input is Int64, but it must be floating or complex [input: Int64[3]]",
        ),
        (
            "torch.amax",
            (tensor(3, 0, dtype=FLOAT32), 1),
            "amax: dim 1 of input (3, 0) is empty; there is no element to choose [input: Float32[3, 0]]",
        ),
        (
            "Tensor.argmax",
            (tensor(3, dtype=COMPLEX64),),
            "argmax: input is Complex64, but complex numbers have no order [input: Complex64[3]]",
        ),
        (
            "torch.cdist",
            (tensor(3, 5, dtype=FLOAT32), tensor(3, 7, dtype=FLOAT32)),
            "cdist: the last dims differ: x1 has 5, x2 has 7 [x1: Float32[3, 5], x2: Float32[3, 7]]",
        ),
    ],
)
def test_message(name: str, args: tuple[Any, ...], text: str) -> None:
    report = infer(name, args)
    assert isinstance(report, Report)
    assert report.text == text


@pytest.mark.parametrize("edge_order", [1, 2])
def test_gradients_of_every_dtype_by_places_of_every_dtype(edge_order: int) -> None:
    dtypes = (torch.int64, torch.uint8, torch.float16, torch.bfloat16, torch.float64, torch.complex64, torch.bool)
    for first, second in itertools.product(dtypes, dtypes[:-1]):
        x, places = torch.ones(5, 7).to(first), torch.arange(7).to(second)
        for spacing in ((torch.arange(5), places), 2.0, 1j):
            found = oracle.examine("torch.gradient", (x,), {"spacing": spacing, "edge_order": edge_order})
            assert found.verdict in ("exact", "both_refuse"), (first, second, found)
