"""Unification: find values of a pattern's variables that make it the given shape."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from simpletorch.shapes.dim import UNKNOWN, Dim, Expr, Unknown, Var, equal, substitute, var, variables
from simpletorch.shapes.shape import ANY_REST, Item, Rest, Shape

__all__ = ["Bindings", "Clash", "is_compound", "unify"]


@dataclass(frozen=True, slots=True)
class Clash:
    """A reason why a pattern can't be a shape: two dims that differ, two numbers of dims, or two runs of dims.

    ``pattern`` is the dim of the pattern, and ``expected`` what it has to be; where no size of its open variables fits,
    ``expected`` still has them. ``rest`` is what stands for other dims than before.
    """

    expected: Dim | str
    got: Dim | str
    index: int | None = None
    pattern: Dim | None = None
    rest: tuple[Rest, Shape, Shape] | None = None

    def __str__(self) -> str:
        where = "" if self.index is None else f"dim {self.index}: "
        return f"{where}expected {self.expected}, got {self.got}"


@dataclass(slots=True)
class Bindings:
    """The known values of variables; grows with each `unify`."""

    flexible: AbstractSet[Var]
    dims: dict[Var, Dim] = field(default_factory=dict)
    rests: dict[Rest, tuple[Item, ...]] = field(default_factory=dict)

    def bind(self, pattern: Dim, actual: Dim, index: int) -> Clash | None:
        """Make ``pattern`` equal ``actual``; solves ``a*N + b = actual`` for one open variable."""
        if isinstance(actual, Unknown) or isinstance(pattern, Unknown):
            for v in variables(pattern) & self.flexible:
                # bound, to an unknown size: what is left open is inferred from elsewhere, as if nothing had met it
                self.dims.setdefault(v, UNKNOWN)
            return None
        known = substitute(pattern, {v: d for v, d in self.dims.items() if d is not UNKNOWN})
        unbound = variables(known) & self.flexible
        if not unbound:
            if equal(known, actual) is False:
                return Clash(known, actual, index, pattern)
            return None
        if len(unbound) > 1:
            return None
        (name,) = unbound
        return self._solve(pattern, known, name, actual, index)

    def _solve(self, pattern: Dim, known: Dim, name: Var, actual: Dim, index: int) -> Clash | None:
        assert isinstance(known, Expr)
        slope = [(m, c) for m, c in known.terms if any(a == name for a, _ in m)]
        # only ``c*N + rest`` with N nowhere else: of N*N or N//2 several sizes, or none, may be right
        linear = len(slope) == 1 and slope[0][0] == ((name, 1),)
        if not linear or any(name in variables(Expr(((m, c),))) for m, c in known.terms if (m, c) != slope[0]):
            return None
        factor = slope[0][1]
        left = actual - substitute(known, {name: 0})
        if isinstance(left, int) and left % factor:
            return Clash(known, actual, index, pattern)
        if isinstance(left, int) and left // factor < 0:
            return Clash(known, actual, index, pattern)
        self.dims[name] = left // factor
        return None


def unify(pattern: Shape, actual: Shape, bindings: Bindings) -> Clash | None:
    """Bind the flexible variables of ``pattern`` so that it is ``actual``; the first clash, or None if it can be."""
    if pattern.is_exact and actual.is_exact:
        if pattern.rank != actual.rank:
            return Clash(f"{pattern.rank} dims {pattern}", f"{actual.rank} dims {actual}")
        pairs = list(enumerate(zip(pattern.dims, actual.dims, strict=True)))
        for i, (p, a) in sorted(pairs, key=lambda pair: is_compound(pair[1][0])):  # names are bound before expressions
            if clash := bindings.bind(p, a, i):
                return clash
        return None
    if not pattern.is_exact:
        return _unify_variadic(pattern, actual, bindings)
    # a pattern of fixed rank against a shape of unknown rank
    if actual.min_rank > len(pattern.items):
        return Clash(f"{pattern.rank} dims {pattern}", f"at least {actual.min_rank} dims {actual}")
    for i, a in enumerate(actual.head):
        if clash := bindings.bind(pattern.dims[i], a, i):
            return clash
    for i in range(-len(actual.tail), 0):
        if clash := bindings.bind(pattern.dims[i], actual.dim(i), i):
            return clash
    return None


def is_compound(dim: Dim) -> bool:
    """Whether a dim is an expression, and no number or name."""
    return isinstance(dim, Expr) and all(dim != var(v.name, v.scope) for v in variables(dim))


def _unify_variadic(pattern: Shape, actual: Shape, bindings: Bindings) -> Clash | None:
    rest = pattern.rest
    assert rest is not None
    if actual.is_exact and len(actual.items) < pattern.min_rank:
        return Clash(f"at least {pattern.min_rank} dims {pattern}", f"{actual.rank} dims {actual}")
    for i, p in enumerate(pattern.head):
        if clash := bindings.bind(p, actual.dim(i) if actual.is_exact or i < len(actual.head) else UNKNOWN, i):
            return clash
    for i in range(-len(pattern.tail), 0):
        if clash := bindings.bind(pattern.dim(i), actual.dim(i), i):
            return clash
    if rest.name is None:
        return None
    if len(actual.head) >= len(pattern.head) and len(actual.tail) >= len(pattern.tail):
        middle = actual.items[len(pattern.head) : len(actual.items) - len(pattern.tail)]
    else:
        middle = (ANY_REST,)
    bound = bindings.rests.get(rest)
    if bound is None:
        bindings.rests[rest] = middle
    elif all(not isinstance(i, Rest) for i in (*bound, *middle)):
        if len(bound) != len(middle):
            return _other_rest(rest, bound, middle)
        for b, m in zip(bound, middle, strict=True):
            assert not isinstance(b, Rest)
            assert not isinstance(m, Rest)
            if equal(b, m) is False:
                return _other_rest(rest, bound, middle)
    return None


def _other_rest(rest: Rest, before: tuple[Item, ...], now: tuple[Item, ...]) -> Clash:
    return Clash(f"{rest} = {Shape(before)}", str(Shape(now)), rest=(rest, Shape(before), Shape(now)))
