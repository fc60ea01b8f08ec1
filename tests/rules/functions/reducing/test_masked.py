"""`torch.masked` against torch: masks that fit and masks that don't, dims, dtypes, symbols, less known."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from simpletorch.rules import infer, tensor
from simpletorch.rules.core.dtype import BOOL, FLOAT32, FLOAT64, INT64
from simpletorch.shapes import ANY_REST
from tests import oracle
from tests.rules.symbolic import GOOD, B, D, H, differs, f32, ones, report

REDUCTIONS = ("sum", "prod", "mean", "amax", "amin", "argmax", "argmin", "median", "logsumexp", "norm", "var", "std")
SAME_SHAPE = ("cumsum", "cumprod", "softmax", "log_softmax", "softmin", "normalize")
DTYPES = (torch.float32, torch.float64, torch.int64, torch.int32, torch.uint8, torch.complex64, torch.bool)


def mask(*shape: int) -> torch.Tensor:
    return ones(*shape, dtype=torch.bool)


def arguments(name: str, input: Any, dim: int) -> tuple[Any, ...]:
    return (input, 2.0, dim) if name in ("norm", "normalize") else (input, dim)


@pytest.mark.parametrize("name", REDUCTIONS + SAME_SHAPE)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [None, (3, 5, 7), (5, 1), (7,), (), (2, 3, 5, 7), (4, 5, 7), (5,)], ids=str)
def test_agrees_with_torch(name: str, dtype: torch.dtype, shape: tuple[int, ...] | None) -> None:
    options = {} if shape is None else {"mask": mask(*shape)}
    for dim in (0, -1, 3):
        found = oracle.examine(f"torch.masked.{name}", arguments(name, ones(3, 5, 7, dtype=dtype), dim), options)
        values_alone = isinstance(found.truth, Exception) and "masked out rows" in str(found.truth)
        assert found.verdict in GOOD or values_alone or _lacks_kernel(found), found


def _lacks_kernel(found: oracle.Judgement) -> bool:
    return found.verdict == "missed" and "not implemented for" in str(found.truth)


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("options", [{"keepdim": True}, {"dtype": torch.float64}, {"dtype": torch.int32}], ids=str)
def test_options(name: str, options: dict[str, Any]) -> None:
    for dtype in (torch.float32, torch.int64):
        found = oracle.examine(f"torch.masked.{name}", arguments(name, ones(3, 5, 7, dtype=dtype), 1), options)
        assert found.verdict in GOOD, found


@pytest.mark.parametrize("dim", [None, (), (0, 2), (-1,), (0, 0), (0, 3)], ids=str)
def test_several_dims(dim: tuple[int, ...] | None) -> None:
    for name in ("sum", "mean", "amax", "var"):
        assert oracle.judge(f"torch.masked.{name}", (ones(3, 5, 7), dim), {"mask": mask(7)}) in GOOD


def test_symbols() -> None:
    some = tensor(H, D, dtype=BOOL)
    assert not differs("torch.masked.mean", f32(B, H, D), -1, mask=some)
    assert not differs("torch.masked.amax", f32(B, H, D), (0, 1), keepdim=True, mask=some)
    assert not differs("torch.masked.softmax", f32(B, H, D), 1, mask=some)
    assert not differs("torch.masked.mean", f32(B, H, D), -1, mask=tensor(D, H, dtype=BOOL))


def test_less_known() -> None:
    rows = tensor(ANY_REST, 7, dtype=FLOAT32)
    assert infer("torch.masked.sum", (rows, -1)) == tensor(ANY_REST, dtype=FLOAT32)
    assert infer("torch.masked.softmax", (tensor(3, 7), -1)) == tensor(3, 7)
    assert infer("torch.masked.norm", (tensor(3, 7), 2.0, 0), {"dtype": FLOAT64}) == tensor(7, dtype=FLOAT64)


def test_messages() -> None:
    found = report("torch.masked.mean", f32(B, 5), 1, mask=tensor(7, dtype=BOOL))
    assert found.text == (
        "mean: mask (7,) can't be expanded to input (B, 5): 7 is not 5 at dim -1 [input: Float32[B, 5], mask: Bool[7]]"
    )
    found = report("torch.masked.mean", tensor(3, dtype=INT64), 0)
    assert found.text == "mean: input is Int64, but it must be floating or complex [input: Int64[3]]"
