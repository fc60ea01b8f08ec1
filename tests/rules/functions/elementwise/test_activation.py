"""Activations, dropout and their modules against torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from simpletorch.rules import ANYTHING, MODULES, RULES, Report, TensorType, infer, infer_module, new_module, tensor
from simpletorch.rules.core.dtype import BY_NAME, FLOAT16, FLOAT32, FLOAT64, INT64
from simpletorch.shapes import ANY_REST, UNKNOWN, Shape, var
from tests import oracle
from tests.rules.symbolic import GOOD, ones

B, N = map(var, "BN")
NAMES = [n for n, r in RULES.items() if r.function.__module__.endswith(".activation")]
PLAIN = [
    n
    for n in NAMES
    if not any(w in n for w in ("dropout", "softm", "prelu", "threshold", "log_softmax")) or "gumbel" in n
]
CLASSES = [n for n, c in MODULES.items() if c.__module__.endswith(".layers.activation")]
SHAPES = ((5, 6), (7,), (2, 3, 4), ())
DTYPES = (torch.float32, torch.float64, torch.float16, torch.int64, torch.bool, torch.complex64)


def examine(name: str, *args: Any, **kwargs: Any) -> str:
    found = oracle.examine(name, args, kwargs)
    return "" if found.verdict in GOOD else f"{oracle.Call(name, args, kwargs)}: {found}"


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", PLAIN)
def test_activation(name: str, dtype: torch.dtype) -> None:
    assert [f for s in SHAPES if (f := examine(name, ones(*s, dtype=dtype)))] == []


@pytest.mark.parametrize("name", ["torch.nn.functional.threshold", "torch.threshold_"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_threshold(name: str, dtype: torch.dtype) -> None:
    assert examine(name, ones(5, 7, dtype=dtype), 1, 2) == ""


@pytest.mark.parametrize("name", [n for n in NAMES if "softmax" in n or "softmin" in n])
@pytest.mark.parametrize("dim", [0, 1, -1, 2, -3])
def test_softmax(name: str, dim: int) -> None:
    kwargs = {} if "gumbel" in name else {"dtype": torch.float64}
    assert examine(name, ones(5, 7), dim=dim) == ""
    assert examine(name, ones(5, 7, dtype=torch.int64), dim=dim) == ""
    assert examine(name, ones(5, 7, dtype=torch.int64), dim=dim, **kwargs) == ""


@pytest.mark.parametrize(
    ("shape", "dim"), [((5, 6), -1), ((5, 6), 0), ((4, 7, 3), 0), ((), -1), ((5, 6), 2), ((8,), 0)]
)
def test_glu(shape: tuple[int, ...], dim: int) -> None:
    assert examine("torch.nn.functional.glu", ones(*shape), dim) == ""


@pytest.mark.parametrize("shape", [(), (3,), (1,), (5, 3), (5, 3, 7), (5, 7)])
@pytest.mark.parametrize("count", [(), (1,), (3,), (3, 1)])
def test_prelu(shape: tuple[int, ...], count: tuple[int, ...]) -> None:
    assert examine("torch.prelu", ones(*shape), ones(*count)) == ""
    assert examine("torch.prelu", ones(*shape), ones(*count, dtype=torch.float64)) == ""


@pytest.mark.parametrize("name", [n for n in NAMES if "dropout" in n])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64], ids=str)
def test_dropout(name: str, training: bool, dtype: torch.dtype) -> None:
    for s in ((3,), (5, 3), (5, 3, 7), (5, 3, 2, 7), (2, 5, 3, 2, 7)):
        assert examine(name, ones(*s, dtype=dtype), 0.5, training) == ""
        assert examine(name, ones(*s, dtype=dtype), 0.0, training) == ""


@pytest.mark.filterwarnings(r"ignore:dropout\dd. Received a \d-?D input")  # sizes that torch is about to refuse
@pytest.mark.parametrize("name", CLASSES)
def test_module(name: str) -> None:
    args: dict[str, Any] = {"dim": -1} if "oftm" in name and "2d" not in name else {}
    given = (0.1, 20) if name.endswith("Threshold") else ()
    built = new_module(name, args)
    assert built is not None
    assert not isinstance(built, Report)
    for shape in ((2, 3, 4), (5, 3, 2, 4), (6,), ()):
        truth: object
        try:
            truth = oracle.lift(oracle.resolve(name)(*given, **args)(torch.ones(shape)))
        except Exception as e:
            truth = e
        answer = infer_module(built, (tensor(*shape, dtype=FLOAT32),))
        unsure = "Dropout" in name and isinstance(truth, Exception)  # it depends on training
        assert answer == truth or (isinstance(answer, Report) and isinstance(truth, Exception)) or unsure


def test_modules_are_named_in_messages() -> None:
    for name in ("torch.nn.GELU", "torch.nn.ReLU", "torch.nn.Dropout"):
        assert str(new_module(name, {})) == f"{name.rpartition('.')[2]}()"


def test_identity_gives_back_whatever_it_got() -> None:
    built = new_module("torch.nn.Identity", {})
    assert built is not None
    assert not isinstance(built, Report)
    assert infer_module(built, ((tensor(3), 4),)) == (tensor(3), 4)


def test_prelu_module_counts_channels() -> None:
    built = new_module("torch.nn.PReLU", {"num_parameters": 3})
    assert built is not None
    assert not isinstance(built, Report)
    assert infer_module(built, (tensor(B, 3, N),)) == tensor(B, 3, N)
    assert isinstance(infer_module(built, (tensor(B, 5),)), Report)
    assert isinstance(infer_module(built, (tensor(B, N),)), Report)
    assert built.attributes() == {"weight": TensorType(Shape.of(3), is_parameter=True)}


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("torch.relu", (tensor(B, N, dtype=FLOAT16),), tensor(B, N, dtype=FLOAT16)),
        ("torch.relu", (ANYTHING,), TensorType()),
        ("torch.softmax", (tensor(ANY_REST, N, dtype=FLOAT32), -1), tensor(ANY_REST, N, dtype=FLOAT32)),
        ("torch.softmax", (tensor(B, N, dtype=FLOAT32), ANYTHING), tensor(B, N, dtype=FLOAT32)),
        ("torch.softmax", (tensor(B, dtype=FLOAT32), 0, ANYTHING), tensor(B)),
        ("torch.nn.functional.gelu", (tensor(B, dtype=BY_NAME["Float"]),), tensor(B, dtype=BY_NAME["Float"])),
        ("torch.nn.functional.glu", (tensor(ANY_REST, 2 * N),), tensor(ANY_REST, N)),
        ("torch.nn.functional.glu", (tensor(B, N),), tensor(B, N // 2)),
        ("torch.nn.functional.glu", (tensor(B, UNKNOWN),), tensor(B, UNKNOWN)),
        ("torch.nn.functional.glu", (tensor(B, N), ANYTHING), tensor(UNKNOWN, UNKNOWN)),
        ("torch.nn.functional.glu", (tensor(ANY_REST, N), 0), tensor(UNKNOWN, ANY_REST)),
        ("torch.nn.functional.dropout", (tensor(B, dtype=INT64), ANYTHING), tensor(B, dtype=INT64)),
        ("torch.prelu", (tensor(B, N, dtype=FLOAT64), tensor(UNKNOWN)), tensor(B, N, dtype=FLOAT64)),
    ],
)
def test_what_is_known_stays(name: str, args: tuple[Any, ...], expected: TensorType) -> None:
    assert infer(name, args) == expected


MESSAGES = [
    (
        "torch.nn.functional.glu",
        (tensor(5, 7, dtype=FLOAT32),),
        "glu: dim -1 of input is 7, which can't be halved [input: Float32[5, 7]]",
    ),
    (
        "torch.softmax",
        (tensor(5, 7), 2),
        "softmax: dim=2 is out of range for 2 dims (5, 7); it must be in [-2, 1] [input: Tensor[5, 7]]",
    ),
    (
        "torch.softmax",
        (tensor(5, dtype=INT64), 0),
        "softmax: input is Int64, but it must be floating [input: Int64[5]]",
    ),
    (
        "torch.prelu",
        (tensor(5, 7), tensor(3)),
        "prelu: weight has 3 parameters, but input (5, 7) has 7 channels [input: Tensor[5, 7], weight: Tensor[3]]",
    ),
    (
        "torch.nn.functional.dropout1d",
        (tensor(5),),
        "dropout1d: input must have 2 or 3 dims, but it is (5,) [input: Tensor[5]]",
    ),
]


@pytest.mark.parametrize(("name", "args", "text"), MESSAGES, ids=[m[0] for m in MESSAGES])
def test_message(name: str, args: tuple[Any, ...], text: str) -> None:
    found = infer(name, args)
    assert isinstance(found, Report)
    assert found.text == text
