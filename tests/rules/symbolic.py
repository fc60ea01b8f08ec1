"""Symbolic answers checked by substitution: infer with symbols, put sizes in, compare with torch.

`differs` and `module_differs` answer "" where the rules and torch agree, else both answers as text.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import pytest
import torch

from simpletorch.rules import ModuleRule, Named, Report, TensorType, infer, infer_module, new_module, tensor
from simpletorch.rules.core.dtype import FLOAT32, DType
from simpletorch.shapes import Dim, Expr, Item, Var, evaluate, substitute, var
from tests import oracle

_PRIMES: Mapping[str, int] = dict(zip("BCDHKLMNSTW", (2, 3, 11, 13, 5, 17, 31, 7, 19, 23, 29), strict=True))
B, C, D, H, K, L, M, N, S, T, W = map(var, _PRIMES)
SIZES: Mapping[Var, int] = {Var(letter): size for letter, size in _PRIMES.items()}
GOOD = ("exact", "both_refuse")
"""The verdicts of a rule that says all that torch says."""


def case(name: str, *args: Any, **kwargs: Any) -> Any:
    """A call for a test with the parameters ``name``, ``args`` and ``kwargs``, which pytest shows as it is written."""
    return pytest.param(name, args, kwargs, id=str(oracle.Call(name, args, kwargs)))


def f32(*items: Item) -> TensorType:
    """A Float32 tensor type."""
    return tensor(*items, dtype=FLOAT32)


def ones(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """A tensor of ones."""
    return torch.ones(shape).to(dtype)


def fill(value: Any, sizes: Mapping[Var, int]) -> Any:
    """The value with numbers for symbols, and real tensors for tensor types."""
    match value:
        case TensorType(dtype=DType() as dtype):
            assert dtype.torch_name is not None
            shape = [evaluate(d, sizes) for d in value.shape.dims]
            return torch.ones(shape, dtype=getattr(torch, dtype.torch_name))  # type: ignore[arg-type]
        case Expr():
            return evaluate(value, sizes)
        case tuple():
            return tuple(fill(v, sizes) for v in value)
        case dict():
            return {k: fill(v, sizes) for k, v in value.items()}
        case _:
            return value


def settle(answer: Any, sizes: Mapping[Var, int]) -> Any:
    """The answer with numbers for symbols."""
    bound: Mapping[Var, Dim] = dict(sizes)
    match answer:
        case TensorType():
            return TensorType(answer.shape.substitute(bound), answer.dtype)
        case Expr():
            return substitute(answer, bound)
        case tuple():
            return tuple(settle(v, sizes) for v in answer)
        case Named():
            return Named(answer.type_name, tuple((k, settle(v, sizes)) for k, v in answer.fields))
        case _:
            return answer


def _compare(answer: Any, truth: object, sizes: Mapping[Var, int]) -> str:
    if isinstance(answer, Report):
        return "" if isinstance(truth, Exception) else f"rules: {answer.text}\ntorch: {truth}"
    verdict = "missed" if isinstance(truth, Exception) else oracle.compare(settle(answer, sizes), truth)
    return "" if verdict == "exact" else f"{verdict}\nrules: {answer}\ntorch: {truth}"


def differs(name: str, *args: Any, sizes: Mapping[Var, int] = SIZES, **kwargs: Any) -> str:
    """What torch and the rules say differently about ``name(*args, **kwargs)``."""
    truth = oracle.run_torch(name, fill(args, sizes), fill(kwargs, sizes))
    return _compare(infer(name, args, kwargs), truth, sizes)


def module_differs(
    name: str, arguments: Mapping[str, Any], *inputs: Any, sizes: Mapping[Var, int] = SIZES, **kwargs: Any
) -> str:
    """What torch and the rules say differently about ``torch.nn.name(**arguments)(*inputs, **kwargs)``."""
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        try:
            module = getattr(torch.nn, name)(**fill(dict(arguments), sizes))
            truth: object = oracle.lift(module(*fill(inputs, sizes), **fill(kwargs, sizes)))
        except Exception as e:
            truth = e
    built = new_module(f"torch.nn.{name}", arguments)
    answer = infer_module(built, inputs, kwargs) if isinstance(built, ModuleRule) else built
    return _compare(answer, truth, sizes)


def report(name: str, *args: Any, **kwargs: Any) -> Report:
    """The report that a refused call gives."""
    found = infer(name, args, kwargs)
    assert isinstance(found, Report), found
    return found


def module_report(name: str, arguments: Mapping[str, Any], *inputs: Any, **kwargs: Any) -> Report:
    """The report that a refused module or call of it gives."""
    built = new_module(f"torch.nn.{name}", arguments)
    found = infer_module(built, inputs, kwargs) if isinstance(built, ModuleRule) else built
    assert isinstance(found, Report), found
    return found
