"""Knowing less of the operands, a rule may say less, but nothing wrong: torch's own inputs with parts hidden."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
import torch

from simpletorch.rules import ANYTHING, Report, TensorType, infer
from simpletorch.shapes import ANY_REST, UNKNOWN, Shape
from tests import oracle

FAMILIES = {
    *("reduction", "cumulative", "norms", "differences", "sorting", "covariance", "losses", "class_losses"),
    *("products", "matmul", "linalg", "decompositions", "solve", "diagonals", "einsum", "fft", "short_time"),
}


def _some_dims_unknown(t: TensorType, rng: random.Random) -> TensorType:
    return TensorType(Shape(tuple(rng.choice((UNKNOWN, d)) for d in t.shape.dims)), t.dtype)


def _leading_dims_unknown(t: TensorType, rng: random.Random) -> TensorType:
    return TensorType(Shape((ANY_REST, *t.shape.dims[rng.randint(0, len(t.shape.dims)) :])), t.dtype)


def _middle_dims_unknown(t: TensorType, rng: random.Random) -> TensorType:
    start = rng.randint(0, len(t.shape.dims))
    stop = rng.randint(start, len(t.shape.dims))
    return TensorType(Shape((*t.shape.dims[:start], ANY_REST, *t.shape.dims[stop:])), t.dtype)


def _dtype_unknown(t: TensorType, rng: random.Random) -> TensorType:
    return TensorType(t.shape, rng.choice((None, t.dtype)))


def _tensor_unknown(t: TensorType, rng: random.Random) -> Any:
    return rng.choice((ANYTHING, t))


def _mapped(value: Any, hide: Callable[[TensorType, random.Random], Any], rng: random.Random) -> Any:
    if isinstance(value, TensorType):
        return hide(value, rng)
    return tuple(_mapped(v, hide, rng) for v in value) if isinstance(value, tuple) else value


@pytest.fixture(scope="module")
def accepted() -> list[tuple[oracle.Call, Any]]:
    """Calls that torch accepts, and what it answers."""
    calls = oracle.samples(
        lambda names: any(oracle.family(n) in FAMILIES for n in names),
        dtypes=(torch.float32, torch.int64),
        count=1,
        seed=3,
    )
    answered = [(c, oracle.run_torch(c.name, c.args, c.kwargs)) for c in calls if oracle.family(c.name) in FAMILIES]
    return [(c, truth) for c, truth in answered if not isinstance(truth, Exception)]


@pytest.mark.parametrize(
    "hide", [_some_dims_unknown, _leading_dims_unknown, _middle_dims_unknown, _dtype_unknown, _tensor_unknown]
)
def test_less_known_is_never_wrong(
    hide: Callable[[TensorType, random.Random], Any], accepted: list[tuple[oracle.Call, Any]]
) -> None:
    wrong: list[str] = []
    for call, truth in accepted:
        rng = random.Random(str(call))
        args = _mapped(oracle.lift(tuple(call.args)), hide, rng)
        kwargs = {k: _mapped(oracle.lift(v), hide, rng) for k, v in call.kwargs.items()}
        answer = infer(call.name, args, kwargs)
        if isinstance(answer, Report) or oracle.compare(answer, truth) == "wrong":
            wrong.append(f"{call} with {args} {kwargs}: {answer}, but torch gives {truth}")
    assert len(accepted) > 300
    assert not wrong, "\n".join(wrong[:10])
