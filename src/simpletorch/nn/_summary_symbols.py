"""Sizes as expressions: a model is traced at several sizes, and a number that changes is explained by the symbols.

An explanation is accepted only if it holds at every traced size; there are more of these than it has coefficients.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from typing import Final, TypeAlias

from simpletorch.shapes import UNKNOWN, Dim, var

__all__ = ["Point", "explain", "points"]

Point: TypeAlias = Mapping[str, int]
_Powers: TypeAlias = tuple[int, ...]  # of each symbol, in the order of their names

# Neighbours around a power of two tell a division that rounds up from one that rounds down; small and large ones, what
# is the same for small sizes only.
_SIZES: Final = (7, 127, 8, 128, 9, 129, 13, 193, 5)
_LARGE: Final = (127, 128, 129, 130, 126, 131, 125, 132, 193)
_FEW: Final = 3  # more points than symbols, to begin with
_MOST_TERMS: Final = 3
_DIVISORS: Final = (2, 4, 8, 16, 32, 64)


def points(symbols: Sequence[str]) -> tuple[list[Point], list[Point], list[Point]]:
    """Sizes to trace a model at: a few, which are enough for most models; more for when they explain too little; and
    large ones for when the model refuses small ones.
    """
    if not symbols:
        return [{}], [], []
    count = 6 if len(symbols) == 1 else len(_SIZES)
    few = len(symbols) + _FEW
    found = _rotated(symbols, _SIZES[:count])
    return found[:few], found[few:], _rotated(symbols, _LARGE)


def _rotated(symbols: Sequence[str], sizes: Sequence[int]) -> list[Point]:
    """Each symbol takes each size once, and no two take the same at a time."""
    count = len(sizes)
    return [{name: sizes[(i + 2 * n) % count] for n, name in enumerate(symbols)} for i in range(count)]


def explain(values: Sequence[Dim], at: Sequence[Point]) -> Dim:
    """The expression that is ``values[i]`` at the sizes ``at[i]``; unknown if none of these forms is:

    a polynomial of degree 3 at most (of few terms, if there are many symbols), or ``(symbol + b) // c``, as strided
    convolutions make.
    """
    if any(not isinstance(value, int) for value in values):
        return UNKNOWN
    names = tuple(at[0])
    return _explain(tuple(v for v in values if isinstance(v, int)), names, tuple(tuple(p.values()) for p in at))


@cache
def _explain(values: tuple[int, ...], names: tuple[str, ...], at: tuple[tuple[int, ...], ...]) -> Dim:
    if len(set(values)) == 1:
        return values[0]
    columns = {powers: tuple(_at(powers, sizes) for sizes in at) for powers in _monomials(len(names))}
    for count in range(1, _MOST_TERMS + 1):
        if len(at) <= count:
            break
        for chosen in combinations(columns, count):
            found = _coefficients([columns[powers] for powers in chosen], values)
            if found is not None:
                return _polynomial(names, chosen, found)
    # all terms at once, where there is a point to spare: only then is a fit more than an interpolation
    if len(at) > len(columns):
        found = _coefficients(list(columns.values()), values)
        if found is not None:
            return _polynomial(names, list(columns), found)
    for i, name in enumerate(names):
        quotient = _quotient([sizes[i] for sizes in at], values)
        if quotient is not None:
            shift, divisor = quotient
            return (var(name) + shift) // divisor
    return UNKNOWN


def _monomials(symbols: int) -> list[_Powers]:
    """Products of symbols of degree 3 at most, none cubed, the simplest first; the constant is one of them."""
    found = [powers for powers in product(range(3), repeat=symbols) if sum(powers) <= 3]
    return sorted(found, key=lambda powers: (sum(powers) == 0, sum(powers), tuple(-p for p in powers)))


def _at(powers: _Powers, sizes: Sequence[int]) -> int:
    value = 1
    for size, power in zip(sizes, powers, strict=True):
        value *= size**power
    return value


def _coefficients(columns: Sequence[Sequence[int]], values: Sequence[int]) -> list[int] | None:
    """Integers by which the columns add up to the values; None if there are no such."""
    count = len(columns)
    rows = [[Fraction(column[i]) for column in columns] + [Fraction(values[i])] for i in range(count)]
    for i in range(count):  # Gauss and Jordan, on as many rows as there are unknowns
        pivot = next((r for r in range(i, count) if rows[r][i]), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [entry / rows[i][i] for entry in rows[i]]
        for r in range(count):
            if r != i and rows[r][i]:
                rows[r] = [a - rows[r][i] * b for a, b in zip(rows[r], rows[i], strict=True)]
    found = [row[-1] for row in rows]
    if any(f.denominator != 1 for f in found):
        return None
    holds = all(sum(f * c[i] for f, c in zip(found, columns, strict=True)) == v for i, v in enumerate(values))
    return [int(f) for f in found] if holds else None


def _polynomial(names: Sequence[str], terms: Sequence[_Powers], coefficients: Sequence[int]) -> Dim:
    total: Dim = 0
    for powers, coefficient in zip(terms, coefficients, strict=True):
        term: Dim = coefficient
        for name, power in zip(names, powers, strict=True):
            for _ in range(power):
                term = term * var(name)
        total = total + term
    return total


def _quotient(sizes: Sequence[int], values: Sequence[int]) -> tuple[int, int] | None:
    """The one ``(b, c)`` with ``(size + b) // c`` the value everywhere; None if there is none, or more than one."""
    for divisor in _DIVISORS:
        # ``(size + b) // c == v`` says that ``v*c - size <= b <= v*c - size + c - 1``, for each size
        least = max(value * divisor - size for size, value in zip(sizes, values, strict=True))
        most = min(value * divisor - size + divisor - 1 for size, value in zip(sizes, values, strict=True))
        if least == most:
            return least, divisor
    return None
