"""What an expression over sizes is for the type checker: ``2*N + 1`` is ``Sum[Product[Literal[2], N], Literal[1]]``.

Nobody writes these: the mypy plugin makes them, so that mypy's own substitution reaches the variables inside. They are
never instantiated, and this module imports nothing, because the plugin makes torch's own modules depend on it.
"""

from __future__ import annotations

from typing import Generic, TypeVar, TypeVarTuple

A_co = TypeVar("A_co", covariant=True)
B_co = TypeVar("B_co", covariant=True)
Terms = TypeVarTuple("Terms")


class Sum(Generic[*Terms]):
    """``a + b + …``"""


class Product(Generic[*Terms]):
    """``a * b * …``"""


class Quotient(Generic[A_co, B_co]):
    """``a // b``"""


class Remainder(Generic[A_co, B_co]):
    """``a % b``"""


class Power(Generic[A_co, B_co]):
    """``a ** b``"""


class Minimum(Generic[*Terms]):
    """``min(a, b, …)``"""


class Maximum(Generic[*Terms]):
    """``max(a, b, …)``"""
