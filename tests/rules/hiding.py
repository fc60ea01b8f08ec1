"""One call seen with less knowledge: sizes as symbols, unknown dims, a variadic part, an unknown dtype.

What a rule says about the call then must hold for the real one, which torch runs. Sizes are primes from 7 on, so that
no dim number is taken for a size.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import torch

from simpletorch.rules import Many, Named, Report, TensorType, infer
from simpletorch.shapes import ANY_REST, UNKNOWN, Dim, Expr, Shape, Var, substitute, var, variables
from tests import oracle

PRIMES = (7, 11, 13, 17, 19, 23)
SYMBOLS = {p: var(name) for p, name in zip(PRIMES, "ABCDEF", strict=True)}
SIZES: dict[Var, Dim] = {v: p for p, symbol in SYMBOLS.items() for v in variables(symbol)}


def as_symbols(value: Any) -> Any:
    """A lifted value with every size, and every product of sizes, replaced by symbols."""
    match value:
        case bool():
            return value
        case int():
            return _factored(value)
        case TensorType():
            return value.with_shape(*map(_factored, value.shape.dims))
        case tuple():
            return tuple(map(as_symbols, value))
        case slice():
            return slice(*map(as_symbols, (value.start, value.stop, value.step)))
        case _:
            return value


def _factored(size: Any) -> Any:
    out: Any = 1
    rest = abs(size)
    if rest < PRIMES[0]:
        return size
    for p, symbol in SYMBOLS.items():
        while rest % p == 0:
            rest //= p
            out = out * symbol
    return out * rest * (1 if size > 0 else -1)


def evaluated(value: Any) -> Any:
    """The answer for symbols with the sizes put back in."""
    match value:
        case TensorType():
            return TensorType(value.shape.substitute(SIZES), value.dtype, value.device)
        case Expr():
            return substitute(value, SIZES)
        case tuple():
            return tuple(map(evaluated, value))
        case Many(item=each):
            return Many(evaluated(each))
        case Named():
            return Named(value.type_name, tuple((k, evaluated(v)) for k, v in value.fields))
        case _:
            return value


def hidden(value: Any, rng: random.Random) -> Any:
    """A lifted value with dims, ranks or dtypes of its tensors taken away at random."""
    match value:
        case TensorType():
            items: list[Any] = [UNKNOWN if rng.random() < 0.3 else d for d in value.shape.dims]
            if rng.random() < 0.5:
                left = rng.randint(0, len(items))
                items = [*items[:left], ANY_REST, *items[rng.randint(left, len(items)) :]]
            return TensorType(Shape(tuple(items)), None if rng.random() < 0.2 else value.dtype)
        case tuple():
            return tuple(hidden(v, rng) for v in value)
        case _:
            return value


def calls_with_less_known(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """What the rule says about the call with less known, and how it looks."""
    lifted, named = oracle.lift(args), {k: oracle.lift(v) for k, v in kwargs.items()}
    rng = random.Random(f"{name} {lifted}")
    variants: list[tuple[str, Callable[[Any], Any]]] = [("symbols", as_symbols)]
    variants += [(f"hidden {i}", lambda v: hidden(v, rng)) for i in range(12)]
    for label, change in variants:
        given = tuple(map(change, lifted))
        answer = infer(name, given, {k: change(v) for k, v in named.items()})
        yield f"{label}: {name}{tuple(map(str, given))}", evaluated(answer)


def check_less_known(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Assert that nothing false is said about a call that torch accepts, whatever is hidden."""
    truth = oracle.run_torch(name, args, kwargs)
    if isinstance(truth, Exception):
        return
    for shown, answer in calls_with_less_known(name, args, kwargs):
        assert not isinstance(answer, Report), f"{shown}: {answer.text}; torch: {truth}"
        assert oracle.compare(answer, truth) != "wrong", f"{shown}: {answer}; torch: {truth}"


def check_call(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Assert that torch and the rule agree exactly, or both refuse."""
    found = oracle.examine(name, args, kwargs)
    assert found.verdict in ("exact", "both_refuse"), f"{oracle.Call(name, args, kwargs)}: {found}"


def f(*sizes: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """A tensor of zeros."""
    return torch.zeros(sizes, dtype=dtype)
