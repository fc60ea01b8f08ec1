"""Operations without a rule: torch itself is asked, on its ``meta`` device, which computes shapes and no data.

A size variable has no number, so the operation runs several times with distinct primes for the variables, small ones
and large ones. A size of the result is known if one polynomial in the variables explains every run. If torch refuses
the operation in any run, the result is unknown: without a rule there is no sentence that would tell a user why.

Only ATen operations that change none of their arguments are run, so that a checked program can't make the checker write
a file or change a setting. The first such call imports torch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from importlib import import_module
from itertools import combinations_with_replacement
from math import prod
from typing import Any, Final

from simpletorch.rules.core.dtype import BY_TORCH_NAME, DType
from simpletorch.rules.core.values import ANYTHING, TensorType, Value
from simpletorch.shapes import UNKNOWN, Dim, Expr, Rest, Shape, Unknown, Var, evaluate, var, variables

__all__ = ["ask_torch", "may_ask"]

_PRIVATE_HOMES: Final = (
    "torch._C._VariableFunctions.",
    "torch._C._nn.",
    "torch._tensor.Tensor.",
    "torch._C.TensorBase.",
)
# fmt: off
_PRIMES: Final = (
    2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109,
)
# fmt: on
_MOST_VARIABLES: Final = 4
_CHECKS: Final = 3
"""Runs beyond those that determine a polynomial; each must agree with it."""

Sizes = Mapping[Var, int]


def may_ask(fullname: str) -> bool:
    """Whether mypy's name may be that of an ATen operation. torch isn't asked yet."""
    home, _, name = fullname.rpartition(".")
    return home + "." in _PRIVATE_HOMES and not name.startswith("_")


def ask_torch(name: str, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
    """The result of the operation with this public name; `ANYTHING` unless every argument is known."""
    given: list[Value] = [*args, *kwargs.values()]
    if not any(_has_tensor(v) for v in given) or not all(_is_known(v) for v in given):
        return ANYTHING
    names = sorted({v for value in given for v in _variables(value)}, key=lambda v: v.sort_key)
    operation = _operation(name) if len(names) <= _MOST_VARIABLES else None
    if operation is None:
        return ANYTHING
    runs = list(_probes(names))
    try:
        results = [
            operation(*_at(tuple(args), sizes), **{k: _at(v, sizes) for k, v in kwargs.items()}) for sizes in runs
        ]
    except Exception:  # torch refuses, or can't tell without data: any class of error says so
        return ANYTHING
    return _explain(results, runs)


def _has_tensor(value: Value) -> bool:
    return isinstance(value, TensorType) or (isinstance(value, tuple) and any(_has_tensor(v) for v in value))


def _is_known(value: Value) -> bool:
    if isinstance(value, TensorType):
        dims = value.shape.items
        return (
            value.dtype is not None and value.dtype.is_concrete and not any(isinstance(d, Rest | Unknown) for d in dims)
        )
    if isinstance(value, tuple):
        return all(_is_known(v) for v in value)
    return isinstance(value, int | float | complex | str | Expr | DType | None)


def _variables(value: Value) -> Iterator[Var]:
    if isinstance(value, TensorType):
        for item in value.shape.items:
            yield from () if isinstance(item, Rest) else variables(item)
    elif isinstance(value, tuple):
        for v in value:
            yield from _variables(v)
    elif isinstance(value, Expr):
        yield from variables(value)


@cache
def _operation(name: str) -> Callable[..., Any] | None:
    """torch's function, if all that it may run in ATen is free of side effects."""
    try:
        torch = import_module("torch")
    except (ImportError, OSError):  # it isn't here, or a library of its own isn't: only its files can be read
        return None
    home, _, short = name.rpartition(".")
    packet = getattr(torch.ops.aten, short, None)
    places = {"Tensor": torch.Tensor, "torch": torch, "torch.nn.functional": torch._C._nn}
    if packet is None or home not in places:
        return None
    schemas = [getattr(packet, overload)._schema for overload in packet.overloads() if not overload.endswith("out")]
    if any(a.alias_info is not None and a.alias_info.is_write for s in schemas for a in s.arguments):
        return None
    return getattr(places[home], short, None)


def _basis(names: Sequence[Var]) -> list[tuple[Var, ...]]:
    """The monomials that an explanation may use: a constant, the variables, products of two."""
    return [(), *((v,) for v in names), *combinations_with_replacement(names, 2)]


def _probes(names: Sequence[Var]) -> list[dict[Var, int]]:
    """Sizes for each run: enough to determine a polynomial over the basis, and some more to refute it."""
    if not names:
        return [{}]
    runs = len(_basis(names)) + _CHECKS
    # their number is prime as well, so that no two variables meet in a run
    return [{v: _PRIMES[(run * (i + 1) + i) % len(_PRIMES)] for i, v in enumerate(names)} for run in range(runs)]


def _at(value: Any, sizes: Sizes) -> Any:
    """The value with numbers for its variables; a tensor on ``meta``."""
    if isinstance(value, TensorType):
        torch = import_module("torch")
        assert value.dtype is not None
        assert value.dtype.torch_name is not None
        return torch.empty(
            [evaluate(d, sizes) for d in value.shape.dims], dtype=getattr(torch, value.dtype.torch_name), device="meta"
        )
    if isinstance(value, tuple):
        return tuple(_at(v, sizes) for v in value)
    if isinstance(value, DType):
        return getattr(import_module("torch"), value.torch_name or "")
    return evaluate(value, sizes) if isinstance(value, Expr) else value


def _explain(results: Sequence[Any], runs: Sequence[Sizes]) -> Value:
    first = results[0]
    if isinstance(first, tuple | list):
        if any(len(r) != len(first) for r in results):
            return ANYTHING
        return tuple(_explain([r[i] for r in results], runs) for i in range(len(first)))
    if not hasattr(first, "shape") or any(r.dim() != first.dim() or r.dtype != first.dtype for r in results):
        return ANYTHING
    dims = [_polynomial([r.shape[i] for r in results], runs) for i in range(first.dim())]
    return TensorType(Shape(tuple(dims)), BY_TORCH_NAME.get(str(first.dtype).removeprefix("torch.")))


def _polynomial(seen: Sequence[int], runs: Sequence[Sizes]) -> Dim:
    """The polynomial with integer coefficients that gives what was seen in every run; unknown if there is none."""
    basis = _basis(list(runs[0]))
    rows = [[Fraction(prod(sizes[v] for v in monomial)) for monomial in basis] for sizes in runs]
    found = _solve([[*row, Fraction(size)] for row, size in zip(rows, seen, strict=True)], len(basis))
    if found is None or any(c.denominator != 1 for c in found):
        return UNKNOWN
    total: Dim = 0
    for c, monomial in zip(found, basis, strict=True):
        term: Dim = int(c)
        for v in monomial:
            term = term * var(v.name, v.scope)
        total = total + term
    return total


def _solve(rows: list[list[Fraction]], unknowns: int) -> list[Fraction] | None:
    """The one solution of an overdetermined linear system, by elimination; None if there is none or several."""
    for column in range(unknowns):
        pivot = next((r for r in range(column, len(rows)) if rows[r][column]), None)
        if pivot is None:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        scale = rows[column][column]
        rows[column] = [x / scale for x in rows[column]]
        for r, row in enumerate(rows):
            if r != column and row[column]:
                rows[r] = [x - row[column] * y for x, y in zip(row, rows[column], strict=True)]
    return None if any(row[-1] for row in rows[unknowns:]) else [row[-1] for row in rows[:unknowns]]
