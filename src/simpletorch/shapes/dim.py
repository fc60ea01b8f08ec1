"""Dims: sizes that are numbers, symbols, expressions over symbols, or unknown.

A dim is a plain ``int``, an `Expr`, or `UNKNOWN`; Python's own operators work on all three, so a rule
writes ``(h + 2 * p - k) // s + 1`` once. An `Expr` is a polynomial with integer coefficients over atoms (a variable,
``a // b``, ``a % b``, ``min``, ``max``, ``2**n``), kept in one canonical form: two equal polynomials are equal objects.

Sizes are taken to be at least 1: that is what makes ``(a*b)//b = a`` a law.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from typing import Final, TypeAlias, final

__all__ = [
    "UNKNOWN",
    "Dim",
    "Expr",
    "Unknown",
    "Var",
    "assuming",
    "at_least",
    "bounds",
    "equal",
    "evaluate",
    "exactly",
    "floordiv",
    "maximum",
    "minimum",
    "mod",
    "power",
    "some",
    "substitute",
    "var",
    "variables",
]


@final
class Unknown:
    """The unknown dim. There is one, `UNKNOWN`; arithmetic with it is unknown."""

    __slots__ = ()
    _instance: Unknown | None = None

    def __new__(cls) -> Unknown:
        """The one instance."""
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def __repr__(self) -> str:
        return "?"

    # dims are compared with ``is UNKNOWN``, also those that were pickled or copied
    def __reduce__(self) -> tuple[type[Unknown], tuple[()]]:
        return Unknown, ()

    def _absorb(self, _other: object) -> Unknown:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __floordiv__ = __rfloordiv__ = _absorb
    __mod__ = __rmod__ = __pow__ = __rpow__ = _absorb

    # no elements are no elements, however large the other dim
    def __mul__(self, other: Dim) -> Dim:
        return 0 if isinstance(other, int) and other == 0 else self

    __rmul__ = __mul__

    def __neg__(self) -> Unknown:
        return self


UNKNOWN: Final = Unknown()


@dataclass(frozen=True, slots=True)
class Var:
    """A size variable. ``scope`` tells apart two variables of one name (whose function, which class).

    It stands for any size, but for the name ``?`` (see `some`), which stands for one size that isn't known.
    """

    name: str
    scope: str = ""

    @property
    def is_some(self) -> bool:
        """Whether it stands for one size, and not for every size."""
        return self.name == "?"

    @property
    def range(self) -> tuple[int, int | None]:
        """The least and the greatest size that it may stand for; None where there is no greatest."""
        return 1, None

    def __str__(self) -> str:
        return self.name

    @property
    def sort_key(self) -> tuple[int, str, str]:
        """The place in the canonical order: variables by name, before functions."""
        return (0, self.name, self.scope)


@dataclass(frozen=True, slots=True)
class Bounded(Var):
    """An unknown size with known bounds."""

    bounds: tuple[int, int | None] = (1, None)

    @property
    def range(self) -> tuple[int, int | None]:
        """The least and the greatest size that it may stand for; None where there is no greatest."""
        return self.bounds

    def __str__(self) -> str:
        least, most = self.bounds
        return f"{least}..{'' if most is None else most}"


@dataclass(frozen=True, slots=True)
class Counted(Bounded):
    """Such a size that has a name to be shown: how many processes there are."""

    called: str = ""

    def __str__(self) -> str:
        return self.called


@dataclass(frozen=True, slots=True)
class Func:
    """An atom that is not a variable: ``//``, ``%``, ``min``, ``max`` or ``**`` of dims that don't reduce further."""

    op: str
    args: tuple[Dim, ...]

    def __str__(self) -> str:
        if self.op in ("min", "max"):
            shown = [str(a) for a in self.args]
            if len(set(shown)) == 1 and all(v.is_some for a in self.args for v in variables(a)):
                return shown[0]  # the longest of several unknown
            return f"{self.op}({', '.join(shown)})"
        left, right = (str(a) if _is_simple(a) else f"({a})" for a in self.args)
        return f"{left}{self.op}{right}"

    @property
    def sort_key(self) -> tuple[int, str, str, tuple[str, ...]]:
        """The place in the canonical order: after variables, by operator and text, and by whose variables they are."""
        return (1, self.op, str(self), tuple(_scopes(self)))


_MOST_BITS: Final = 1024
_MOST_TERMS: Final = 200  # of a power that is written out
_MOST_SUMMANDS: Final = 500  # what is longer than these takes too long to compute with, so it is unknown
_MOST_PRODUCTS: Final = 1_000
_HIGHEST: Final = 128  # degree
_LONGEST: Final = 2_000  # characters of what a function is of

Atom: TypeAlias = Var | Func
Monomial: TypeAlias = tuple[tuple[Atom, int], ...]  # atoms with positive powers, sorted; () is the constant


@final
class Expr:
    """A polynomial over atoms that is not a plain number. Build it with `var` and Python's operators."""

    # `__dict__` is what cached_property needs; the hash is kept, because dims are keys of caches everywhere
    __slots__ = ("__dict__", "_hash", "terms")

    def __init__(self, terms: tuple[tuple[Monomial, int], ...]) -> None:
        self.terms = terms
        self._hash = hash(terms)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expr) and self._hash == other._hash and self.terms == other.terms

    # built anew, because a hash of strings holds for one process only
    def __reduce__(self) -> tuple[type[Expr], tuple[tuple[tuple[Monomial, int], ...]]]:
        return Expr, (self.terms,)

    def __add__(self, other: Dim) -> Dim:
        if isinstance(other, Unknown) or len(self.terms) + len(_terms(other)) > _MOST_SUMMANDS:
            return UNKNOWN
        return _sum(self, other)

    __radd__ = __add__

    def __neg__(self) -> Dim:
        return Expr(tuple((m, -c) for m, c in self.terms))

    def __sub__(self, other: Dim) -> Dim:
        return self + -other

    def __rsub__(self, other: Dim) -> Dim:
        return -self + other

    def __mul__(self, other: Dim) -> Dim:
        if isinstance(other, Unknown):
            return UNKNOWN
        too_long = len(self.terms) * len(_terms(other)) > _MOST_PRODUCTS or _degree(self) + _degree(other) > _HIGHEST
        return UNKNOWN if too_long else _product(self, other)

    __rmul__ = __mul__

    def __floordiv__(self, other: Dim) -> Dim:
        return other if isinstance(other, Unknown) else floordiv(self, other)

    def __rfloordiv__(self, other: Dim) -> Dim:
        return other if isinstance(other, Unknown) else floordiv(other, self)

    def __mod__(self, other: Dim) -> Dim:
        return other if isinstance(other, Unknown) else mod(self, other)

    def __rmod__(self, other: Dim) -> Dim:
        return other if isinstance(other, Unknown) else mod(other, self)

    def __pow__(self, other: Dim) -> Dim:
        return other if isinstance(other, Unknown) else power(self, other)

    def __rpow__(self, other: Dim) -> Dim:
        return other if isinstance(other, Unknown) else power(other, self)

    @cached_property
    def _text(self) -> str:
        if all(type(v) is Bounded for v in variables(self)):  # between which numbers it lies is all that is known
            least, most = bounds(self)
            return f"{'' if least is None else least}..{'' if most is None else most}"
        out = ""
        for monomial, coefficient in sorted(self.terms, key=lambda t: (t[0] == (), t[1] < 0)):
            sign = "-" if coefficient < 0 else "+"
            body = _term_text(monomial, abs(coefficient))
            if not out and sign == "-" and coefficient == -1 and ("//" in body or "%" in body):
                body = f"({body})"  # -a//b would be (-a)//b
            out += f" {sign} {body}" if out else (f"-{body}" if coefficient < 0 else body)
        return out

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__


Dim: TypeAlias = int | Expr | Unknown


def counted(called: str, least: int) -> Expr:
    """A size that the machine decides, such as the number of processes: one and the same wherever it has this name."""
    return _atom(Counted("?", "?0", (least, None), called))


def var(name: str, scope: str = "") -> Expr:
    """The dim that is the size variable ``name``."""
    return Expr((((((Var(name, scope)), 1),), 1),))


def some(scope: str, least: int = 1, most: int | None = None) -> Expr:
    """A size that is unknown but always the same: equal to itself, and perhaps to anything else between its bounds."""
    known = (least, most) != (1, None)
    return _atom(Bounded("?", scope, (least, most))) if known else var("?", scope)


def _term_text(monomial: Monomial, coefficient: int) -> str:
    factors = [str(coefficient)] if coefficient != 1 or not monomial else []
    for atom, power in monomial:
        text = str(atom)
        written_apart = type(atom) is Bounded or (isinstance(atom, Func) and atom.op not in ("min", "max"))
        if written_apart and (len(monomial) > 1 or coefficient != 1 or power != 1):
            text = f"({text})"
        factors.append(text if power == 1 else f"{text}**{power}")
    return "*".join(factors)


def _scopes(atom: Atom) -> Iterator[str]:
    """Those of the variables in an atom, in the order of its text."""
    if isinstance(atom, Var):
        yield atom.scope
        return
    for arg in atom.args:
        for monomial, _ in arg.terms if isinstance(arg, Expr) else ():
            for inner, _ in monomial:
                yield from _scopes(inner)


def _is_simple(dim: Dim) -> bool:
    """Whether a dim reads unambiguously beside an operator without parentheses."""
    if not isinstance(dim, Expr):
        return not isinstance(dim, int) or dim >= 0
    if len(dim.terms) != 1:
        return False
    monomial, coefficient = dim.terms[0]
    return coefficient == 1 and len(monomial) == 1 and monomial[0][1] == 1 and isinstance(monomial[0][0], Var)


# -- canonical form ------------------------------------------------------------------------------------------------


def _terms(dim: int | Expr) -> tuple[tuple[Monomial, int], ...]:
    if isinstance(dim, Expr):
        return dim.terms
    return (((), int(dim)),) if dim else ()


def _degree(dim: int | Expr) -> int:
    """That of the first term is the highest."""
    return sum(p for _, p in dim.terms[0][0]) if isinstance(dim, Expr) else 0


def _monomial_key(monomial: Monomial) -> tuple[object, ...]:
    return (-sum(p for _, p in monomial), tuple((a.sort_key, p) for a, p in monomial))


def _build(coefficients: Mapping[Monomial, int]) -> int | Expr:
    terms = [(m, c) for m, c in coefficients.items() if c]
    if not terms:
        return 0
    if len(terms) == 1 and not terms[0][0]:
        return terms[0][1]
    if len(terms) > 1:
        terms.sort(key=lambda t: _monomial_key(t[0]))
    return Expr(tuple(terms))


def _atom(atom: Atom) -> Expr:
    return Expr(((((atom, 1),), 1),))


def _function(op: str, *args: Dim) -> Dim:
    """A function of dims that doesn't reduce further; unknown where one of them is too long to compute with."""
    if any(isinstance(a, Expr) and len(str(a)) > _LONGEST for a in args):
        return UNKNOWN
    made = Func(op, args)
    only = _only_value(made)
    return _atom(made) if only is None else only


def _only_value(atom: Func) -> int | None:
    """The number that a function is of whatever its arguments are: ``min(4, n)`` is 4 if ``n`` is at least that."""
    if any(isinstance(a, Unknown) or not at_least(a, 0) for a in atom.args):
        return None  # what may be negative is no size, for which alone the range is right
    least, most = _range_of_function(atom)
    return least if least == most else None


def _sum(a: int | Expr, b: Dim) -> int | Expr:
    assert not isinstance(b, Unknown)
    if isinstance(b, int) and b == 0:
        return a
    coefficients = dict(_terms(a))
    for monomial, c in _terms(b):
        coefficients[monomial] = coefficients.get(monomial, 0) + c
    return _build(coefficients)


def _times(a: Monomial, b: Monomial) -> tuple[Monomial, int | Expr]:
    """Product of two monomials; powers of one base (``2**a * 2**b``) merge, hence the second factor."""
    powers: dict[Atom, int] = dict(a)
    for atom, p in b:
        powers[atom] = powers.get(atom, 0) + p
    exponents: dict[Dim, list[tuple[Atom, int]]] = {}
    for atom, p in powers.items():
        if isinstance(atom, Func) and atom.op == "**":
            exponents.setdefault(atom.args[0], []).append((atom, p))
    extra: int | Expr = 1
    for base, found in exponents.items():
        if len(found) > 1 or found[0][1] > 1:
            total: int | Expr = 0
            for atom, p in found:
                assert isinstance(atom, Func)
                exponent = atom.args[1]
                assert not isinstance(exponent, Unknown)
                total = _sum(total, _product(exponent, p))
                del powers[atom]
            merged = power(base, total)
            if isinstance(merged, Unknown):  # too long to compute with: it stays as it is
                merged = _atom(Func("**", (base, total)))
            extra = merged if extra == 1 else _product(extra, merged)
    return tuple(sorted(powers.items(), key=lambda f: f[0].sort_key)), extra


def _product(a: int | Expr, b: Dim) -> int | Expr:
    assert not isinstance(b, Unknown)
    if isinstance(a, int):
        return _multiple(b, a)
    if isinstance(b, int):
        return _multiple(a, b)
    total: dict[Monomial, int] = {}
    carried: int | Expr = 0
    for (m1, c1), (m2, c2) in product(_terms(a), _terms(b)):
        monomial, extra = _times(m1, m2)
        if extra == 1:
            total[monomial] = total.get(monomial, 0) + c1 * c2
        else:
            carried = _sum(carried, _product(_build({monomial: c1 * c2}), extra))
    return _sum(_build(total), carried)


def _multiple(dim: int | Expr, times: int) -> int | Expr:
    """A number of times the dim, whose terms stay in their order."""
    if isinstance(dim, int):
        return dim * times
    return Expr(tuple((m, c * times) for m, c in dim.terms)) if times else 0


def _divide_monomial(a: Monomial, b: Monomial) -> Monomial | None:
    powers = dict(a)
    for atom, p in b:
        left = powers.get(atom, 0) - p
        if left < 0:
            return None
        powers[atom] = left
    return tuple((atom, p) for atom, p in powers.items() if p)


def _leading(dim: int | Expr) -> tuple[Monomial, int]:
    return _terms(dim)[0]


def _exact_quotient(a: int | Expr, b: int | Expr) -> int | Expr | None:
    """``a / b`` as polynomials when there is no remainder, else None (long division by the leading term)."""
    if b == 0:
        return None
    lead, lead_c = _leading(b)
    quotient: int | Expr = 0
    rest = a
    # each round takes one leading term away; a bound, for polynomials with very many
    for _ in range(64):
        if rest == 0:
            return quotient
        monomial, c = _leading(rest)
        share = _divide_monomial(monomial, lead)
        if share is None or c % lead_c:
            return None
        step = _build({share: c // lead_c})
        quotient = _sum(quotient, step)
        rest = _sum(rest, -_product(step, b))
    return None


def _content(dim: int | Expr) -> tuple[int, Monomial]:
    """The greatest integer and monomial that divide every term."""
    terms = _terms(dim)
    number = math.gcd(*(c for _, c in terms))
    common = dict(terms[0][0])
    for monomial, _ in terms[1:]:
        powers = dict(monomial)
        common = {a: min(p, powers[a]) for a, p in common.items() if a in powers}
    return number, tuple(common.items())


def floordiv(a: Dim, b: Dim) -> Dim:
    """``a // b``; by 0 it is unknown."""
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        return UNKNOWN
    if isinstance(b, int):
        if b == 0:
            return UNKNOWN
        if isinstance(a, int):
            return a // b
        if b < 0:
            return floordiv(-a, -b)
        if b == 1:
            return a
    if a == 0:
        return 0
    exact = _exact_quotient(a, b)
    if exact is not None:
        return exact
    # (g*a)//(g*b) = a//b
    (na, ma), (nb, mb) = _content(a), _content(b)
    shared = _shared(ma, mb)
    number = math.gcd(na, nb)
    if number > 1 or shared:
        common = _build({shared: number})
        small_a, small_b = _exact_quotient(a, common), _exact_quotient(b, common)
        assert small_a is not None
        assert small_b is not None
        return floordiv(small_a, small_b)
    # (q*b + r)//b = q + r//b, term by term: coefficients of what stays are in [0, b)
    whole, rest = _split_multiples(a, b)
    if whole != 0:
        return whole + floordiv(rest, b)
    # (x//c + r)//b = (x + c*r)//(c*b)
    inner = _single_quotient(a)
    if inner is not None:
        (x, c), r = inner
        return floordiv(x + c * r, c * b)
    return _function("//", a, b)


def _shared(a: Monomial, b: Monomial) -> Monomial:
    powers = dict(b)
    return tuple(sorted(((atom, min(p, powers[atom])) for atom, p in a if atom in powers), key=lambda f: f[0].sort_key))


def _split_multiples(a: int | Expr, b: int | Expr) -> tuple[int | Expr, int | Expr]:
    """Write ``a`` as ``whole * b + rest``, taking out of every term what ``b`` divides when ``b`` is one term."""
    if len(_terms(b)) != 1:
        return 0, a
    monomial_b, c_b = _terms(b)[0]
    whole: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    for monomial, c in _terms(a):
        share = _divide_monomial(monomial, monomial_b)
        q = c // c_b if share is not None else 0
        if share is not None and q:
            whole[share] = whole.get(share, 0) + q
        if c - q * c_b:
            rest[monomial] = c - q * c_b
    return _build(whole), _build(rest)


def _single_quotient(a: int | Expr) -> tuple[tuple[Dim, Dim], Dim] | None:
    """``x//c + r`` taken apart, if ``a`` has exactly one quotient, as a term of its own."""
    found: tuple[Dim, Dim] | None = None
    rest: dict[Monomial, int] = {}
    for monomial, c in _terms(a):
        quotients = [atom for atom, _ in monomial if isinstance(atom, Func) and atom.op == "//"]
        if not quotients:
            rest[monomial] = c
        elif found is None and c == 1 and len(monomial) == 1 and monomial[0][1] == 1:
            x, y = quotients[0].args
            found = (x, y)
        else:
            return None
    return None if found is None else (found, _build(rest))


def mod(a: Dim, b: Dim) -> Dim:
    """``a % b``; by 0 it is unknown."""
    if isinstance(a, Unknown) or isinstance(b, Unknown) or b == 0:
        return UNKNOWN
    if isinstance(a, int) and isinstance(b, int):
        return a % b
    if b == 1 or _exact_quotient(a, b) is not None:
        return 0
    _, rest = _split_multiples(a, b)
    if isinstance(rest, int) and isinstance(b, int):
        return rest % b
    return _function("%", rest, b)


def power(a: Dim, b: Dim) -> Dim:
    """``a ** b``; unknown for a negative exponent, and where the number would be larger than any size."""
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        return UNKNOWN
    if isinstance(b, int):
        if b < 0:
            return UNKNOWN
        if isinstance(a, int):
            if abs(a) > 1 and a.bit_length() * b > _MOST_BITS:
                return UNKNOWN  # no size is that large, and computing it could take for ever
            number: int = a**b
            return number
        if b <= 64 and b * _degree(a) <= _HIGHEST and math.comb(b + len(a.terms) - 1, b) <= _MOST_TERMS:
            out: int | Expr = 1
            for _ in range(b):
                out = _product(out, a)
            return out
        return _function("**", a, b)
    if a in (0, 1):
        return a if a == 1 else UNKNOWN
    # a**(n + 3) = a**3 * a**n, so that 2 * 2**n and 2**(n + 1) are one thing; not 2**(3 - n), where n may be 2
    constant = dict(b.terms).get((), 0)
    if isinstance(a, int) and constant > 0 and all(c > 0 for _, c in b.terms):
        return power(a, constant) * power(a, b - constant)
    return _function("**", a, b)


def _extremum(op: str, pick: Callable[[Iterable[int]], int], dims: tuple[Dim, ...]) -> Dim:
    if any(isinstance(d, Unknown) for d in dims):
        return UNKNOWN
    flat: list[int | Expr] = []
    for d in dims:
        flat.extend(_flatten(op, d))
    kept: list[int | Expr] = []
    for d in flat:
        for i, other in enumerate(kept):
            difference = d - other
            if isinstance(difference, int):
                kept[i] = _sum(other, pick((difference, 0)))
                break
        else:
            kept.append(d)
    if len(kept) == 1:
        return kept[0]
    # one order, so that min(a, b) and min(b, a) are one atom
    kept.sort(key=lambda d: (isinstance(d, int), str(d)))
    return _function(op, *kept)


def _flatten(op: str, dim: Dim) -> Iterator[int | Expr]:
    assert not isinstance(dim, Unknown)
    if isinstance(dim, Expr) and len(dim.terms) == 1:
        monomial, c = dim.terms[0]
        if c == 1 and len(monomial) == 1 and monomial[0][1] == 1:
            atom = monomial[0][0]
            if isinstance(atom, Func) and atom.op == op:
                for a in atom.args:
                    yield from _flatten(op, a)
                return
    yield dim


def minimum(*dims: Dim) -> Dim:
    """The smallest of the dims, folded where the order is known."""
    return _extremum("min", min, dims)


def maximum(*dims: Dim) -> Dim:
    """The largest of the dims, folded where the order is known."""
    return _extremum("max", max, dims)


# -- reading ---------------------------------------------------------------------------------------------------------


def variables(dim: Dim) -> frozenset[Var]:
    """Every size variable that occurs in ``dim``."""
    if not isinstance(dim, Expr):
        return frozenset()
    found: set[Var] = set()
    for monomial, _ in dim.terms:
        for atom, _power in monomial:
            if isinstance(atom, Var):
                found.add(atom)
            else:
                for a in atom.args:
                    found |= variables(a)
    return frozenset(found)


def substitute(dim: Dim, sizes: Mapping[Var, Dim]) -> Dim:
    """``dim`` with variables replaced, in canonical form again. Variables that ``sizes`` lacks stay."""
    if not isinstance(dim, Expr):
        return dim
    total: Dim = 0
    for monomial, c in dim.terms:
        term: Dim = c
        for atom, power in monomial:
            value: Dim
            if isinstance(atom, Var):
                value = sizes.get(atom, _atom(atom))
            else:
                value = _apply(atom.op, tuple(substitute(a, sizes) for a in atom.args))
            term = term * value**power
        total = total + term
    return total


def exactly(dim: Dim, divisible: Iterable[tuple[Dim, Dim]]) -> Dim:
    """``dim`` where the second of each pair divides the first: ``b*(a//b)`` is ``a``, and ``a % b`` is 0."""
    for a, b in divisible:
        quotient = floordiv(a, b)
        if not isinstance(dim, Expr) or not isinstance(quotient, Expr) or len(quotient.terms) != 1:
            continue
        monomial, c = quotient.terms[0]
        if c == 1 and len(monomial) == 1 and monomial[0][1] == 1 and isinstance(monomial[0][0], Func):
            dim = _divided(dim, monomial[0][0], *monomial[0][0].args)
    return dim


def _divided(dim: Expr, quotient: Func, a: Dim, b: Dim) -> Dim:
    remainder = Func("%", (a, b))
    total: Dim = 0
    for monomial, c in dim.terms:
        powers = dict(monomial)
        if remainder in powers:
            continue
        if quotient in powers and not isinstance(b, Unknown):
            others = {**powers, quotient: powers[quotient] - 1}
            rest = _build({tuple((atom, p) for atom, p in others.items() if p): c})
            whole = _exact_quotient(rest, b)
            if whole is not None:
                total = total + exactly(whole, ((a, b),)) * a
                continue
        total = total + _build({monomial: c})
    return total


def evaluate(dim: Dim, sizes: Mapping[Var, int]) -> int | None:
    """The number that ``dim`` is for the given sizes; None where one is missing or nothing is known."""
    if not isinstance(dim, Expr):
        return None if isinstance(dim, Unknown) else dim
    total = 0
    for monomial, c in dim.terms:
        for atom, power in monomial:
            value = sizes.get(atom) if isinstance(atom, Var) else _evaluate_function(atom, sizes)
            if value is None:
                return None
            c *= value**power
        total += c
    return total


def _evaluate_function(atom: Func, sizes: Mapping[Var, int]) -> int | None:
    numbers = [evaluate(a, sizes) for a in atom.args]
    if None in numbers:
        return None
    value = _apply(atom.op, tuple(numbers))  # type: ignore[arg-type]
    return value if isinstance(value, int) else None


def _apply(op: str, args: tuple[Dim, ...]) -> Dim:
    match op:
        case "//":
            return floordiv(*args)
        case "%":
            return mod(*args)
        case "**":
            return power(*args)
        case "min":
            return minimum(*args)
        case _:
            return maximum(*args)


# -- comparing: yes, no, can't tell ------------------------------------------------------------------------------------


# at module level, because rules call `equal` and know nothing of a program's facts
_assumed: list[Callable[[Dim], Dim]] = []


class assuming:
    """While it lasts, `equal` compares sizes after ``settle`` has put in what is known of their variables.

    The mypy plugin asks every question within one; a generator would take five times as long.
    """

    __slots__ = ("_settle",)

    def __init__(self, settle: Callable[[Dim], Dim]) -> None:
        self._settle = settle

    def __enter__(self) -> None:
        _assumed.append(self._settle)

    def __exit__(self, *_error: object) -> None:
        _assumed.pop()


def equal(a: Dim, b: Dim) -> bool | None:
    """Whether two dims are equal: True (for every size), False (not for every size), None (can't tell).

    Variables stand for any size, so ``N`` and ``M`` are False: some sizes tell them apart. Where ``//`` or ``%``
    occurs, the reader's charity applies: only sizes for which every division is exact count as a counter-example,
    because ``view(B, T, H, D // H)`` says that its author expects ``H`` to divide ``D``.
    """
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    if _assumed and not isinstance(a, Unknown) and not isinstance(b, Unknown):
        a, b = _assumed[-1](a), _assumed[-1](b)
    if a is b or (type(a) is type(b) and not isinstance(a, Unknown) and a == b):
        return not isinstance(a, Unknown) or None
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        return None
    difference = a - b
    if isinstance(difference, int):
        return difference == 0
    return _differs_somewhere(difference) if isinstance(difference, Expr) else None


# of the difference alone: what is assumed has been put in before, so an answer holds under any assumption
@lru_cache(maxsize=4096)
def _differs_somewhere(difference: Expr) -> bool | None:
    """False if some admissible sizes make ``difference`` non-zero, None if none was found."""
    if any(v.is_some for v in variables(difference)):  # one size, it isn't known which
        return False if at_least(difference, 1) or at_least(-difference, 1) or _has_remainder(difference) else None
    found = [atom for monomial, _ in difference.terms for atom, _p in monomial]
    # a polynomial that isn't 0 everywhere is non-zero for some sizes
    if all(isinstance(atom, Var) for atom in found):
        return False
    divisions = list(_divisions(difference))
    names = sorted(variables(difference), key=lambda v: v.sort_key)
    for sizes in _samples(names, divisions):
        if all(_is_exact(x, y, sizes) for x, y in divisions) and evaluate(difference, sizes) not in (0, None):
            return False
    return None


def _has_remainder(difference: Expr) -> bool:
    """Whether it is 0 for no sizes at all: ``12 * a - 64`` isn't, because 12 doesn't divide 64."""
    common = math.gcd(*(coefficient for monomial, coefficient in difference.terms if monomial))
    return dict(difference.terms).get((), 0) % common != 0


def _divisions(dim: Dim) -> Iterator[tuple[Dim, Dim]]:
    if isinstance(dim, Expr):
        for monomial, _ in dim.terms:
            for atom, _p in monomial:
                if isinstance(atom, Func):
                    if atom.op in ("//", "%"):
                        yield atom.args[0], atom.args[1]
                    for a in atom.args:
                        yield from _divisions(a)


def _is_exact(x: Dim, y: Dim, sizes: Mapping[Var, int]) -> bool:
    top, bottom = evaluate(x, sizes), evaluate(y, sizes)
    if top is None or not bottom or top <= 0:
        return False
    # (E + 1)//2 rounds E/2 up (arange with a step, a padded convolution): there an even E is what its author means
    constant = dict(x.terms).get((), 0) if isinstance(x, Expr) else 0
    return (top - constant if 0 < constant < bottom else top) % bottom == 0


def _samples(names: list[Var], divisions: list[tuple[Dim, Dim]]) -> Iterator[dict[Var, int]]:
    """Sizes to try: small pairwise different ones first, then multiples, so that exact divisions occur."""
    pools = (range(1, 14), (4, 6, 8, 9, 12, 16, 24, 36, 48, 60, 64, 96, 120, 144))
    for pool in pools:
        for count, values in enumerate(product(pool, repeat=len(names))):
            if count > 3000:
                break
            yield dict(zip(names, values, strict=True))


def at_least(a: Dim, b: Dim) -> bool | None:
    """Whether ``a >= b``: True for every size, False for none, None when it depends or can't be told."""
    if isinstance(a, Unknown) or isinstance(b, Unknown):
        return None
    difference = a - b
    if isinstance(difference, Unknown):
        return None
    low, high = bounds(difference)
    if low is not None and low >= 0:
        return True
    return False if high is not None and high < 0 else None


_Range: TypeAlias = tuple[int | None, int | None]


def bounds(dim: Dim) -> _Range:
    """Between which numbers a dim lies, with every atom between its own; None where there is no bound."""
    if isinstance(dim, int):
        return dim, dim
    assert isinstance(dim, Expr)
    low: int | None = 0
    high: int | None = 0
    for monomial, c in dim.terms:
        found = _range_of_product(monomial)
        least, most = found if c > 0 else found[::-1]
        low = None if low is None or least is None else low + c * least
        high = None if high is None or most is None else high + c * most
    return low, high


def _range_of_product(monomial: Monomial) -> _Range:
    least, most = 1, 1  # type: int, int | None
    for atom, power in monomial:
        bottom, top = atom.range if isinstance(atom, Var) else _range_of_function(atom)
        least *= bottom**power
        most = None if most is None or top is None else most * top**power
    return least, most


def _range_of_function(atom: Func) -> tuple[int, int | None]:
    """Atoms are sizes: at least 0."""
    found = [bounds(a) for a in atom.args]
    least = [0 if low is None else max(low, 0) for low, _ in found]
    most = [high for _, high in found if high is not None]
    if atom.op == "max":
        return max(least), max(most) if len(most) == len(found) else None
    if atom.op == "min":
        return min(least), min(most) if most else None
    if atom.op == "//" and isinstance(atom.args[1], int) and atom.args[1] > 0:
        return least[0] // atom.args[1], most[0] // atom.args[1] if found[0][1] is not None else None
    return 0, None
