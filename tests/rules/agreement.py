"""Asking a rule with symbols, and torch with distinct primes in their place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import oracle
import torch

from simpletorch.rules import Named, Report, TensorType, infer
from simpletorch.shapes import Dim, Expr, Var, evaluate, var

SIZES: Final[dict[Var, int]] = {
    Var(name): prime for name, prime in zip("BTNMKHDC", (2, 3, 5, 7, 11, 13, 17, 19), strict=True)
}
B, T, N, M, K, H, D, C = (var(v.name) for v in SIZES)


def numbers(value: Any) -> Any:
    """The value with primes for symbols, and a real tensor for every tensor type."""
    match value:
        case TensorType():
            assert value.dtype is not None
            shape = [evaluate(d, SIZES) for d in value.shape.dims]
            return torch.ones(shape, dtype=getattr(torch, value.dtype.torch_name or ""))
        case Expr():
            return evaluate(value, SIZES)
        case tuple():
            return tuple(numbers(v) for v in value)
        case _:
            return value


def substituted(value: Any) -> Any:
    """A rule's answer with primes for symbols."""
    sizes: dict[Var, Dim] = dict(SIZES)
    match value:
        case TensorType():
            return TensorType(value.shape.substitute(sizes), value.dtype)
        case Named():
            return Named(value.type_name, tuple((k, substituted(v)) for k, v in value.fields))
        case tuple():
            return tuple(substituted(v) for v in value)
        case _:
            return value


def verdict(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    """How the rule's symbolic answer compares with torch's after substitution; "both_refuse" if neither takes it."""
    answer = infer(name, args, kwargs)
    truth = oracle.run_torch(name, numbers(args), {k: numbers(v) for k, v in kwargs.items()})
    if isinstance(truth, Exception):
        return "both_refuse" if isinstance(answer, Report) else f"torch refuses: {truth}"
    return answer.text if isinstance(answer, Report) else oracle.compare(substituted(answer), truth)
