"""The sizes of one call: the names in an operator's annotations, as numbers or as torch's symbols.

torch.compile and torch.export call with symbols (`torch.SymInt`) for sizes. They know Python's operators, so what the
text of an annotation computes is computed with them as with numbers.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import torch

from simpletorch.errors import ShapeMismatch
from simpletorch.shapes import Axis, Dim, Expr, Unknown, Var, parse_dim, variables
from simpletorch.shapes.sentences import dim_differs, dim_impossible, rank_differs, rest_differs, size_source

__all__ = ["Size", "Sizes", "Undetermined"]

Size: TypeAlias = int | torch.SymInt


class Undetermined(Exception):
    """Raised for a size that the annotations of the arguments don't settle."""


@dataclass
class Sizes:
    """The values of the size names in one call of ``operation``."""

    operation: str
    names: dict[str, Size] = field(default_factory=dict)
    rests: dict[str, tuple[Size, ...]] = field(default_factory=dict)
    _sources: dict[str, str] = field(default_factory=dict)
    _broadcast: dict[str, list[Size]] = field(default_factory=dict)
    _broadcast_rests: dict[str, list[tuple[Size, ...]]] = field(default_factory=dict)
    _computed: list[tuple[str, Size, str]] = field(default_factory=list)
    _arguments: Mapping[str, Any] = field(default_factory=dict)

    def bind_size(self, axis: Axis, size: Size, name: str) -> None:
        """Bind what a ``Dim`` parameter says.

        Raises:
            ShapeMismatch: it is another size than the same name has elsewhere.
        """
        self._bind(axis, size, name, size_source(name))

    def bind_shape(self, axes: Sequence[Axis], shape: Sequence[Size], name: str) -> None:
        """Bind the names in the shape of a tensor.

        Raises:
            ShapeMismatch: it has another number of dims, or another size than the same name has elsewhere.
        """
        at = _rest_at(axes)
        least = len(axes) - (at is not None)
        if len(shape) < least or (at is None and len(shape) > least):
            reason = rank_differs(name, len(shape), least, or_more=at is not None)
            raise ShapeMismatch(least, len(shape), reason, operation=self.operation)
        for i, axis in enumerate(axes):
            if at is None or i < at:
                self._bind(axis, shape[i], f"dim {i} of {name}", size_source(name, i))
            elif i > at:
                index = i - len(axes) + len(shape)
                self._bind(axis, shape[index], f"dim {index} of {name}", size_source(name, index))
        if at is not None:
            self._bind_rest(axes[at], tuple(shape[at : len(shape) - (least - at)]), name)

    def settle(self, arguments: Mapping[str, Any]) -> None:
        """Compute the names that no argument has plainly: from broadcasting, and from expressions such as ``2*n``.

        Raises:
            ShapeMismatch: no size of a name makes an expression what it is.
        """
        self._arguments = arguments
        for name, sizes in self._broadcast.items():
            known = [self.names[name]] if name in self.names else []
            (self.names[name],) = torch.broadcast_shapes(*[(size,) for size in (*known, *sizes)])
        for name, shapes in self._broadcast_rests.items():
            known_rest = [self.rests[name]] if name in self.rests else []
            self.rests[name] = tuple(torch.broadcast_shapes(*known_rest, *shapes))
        progress = True
        while progress:
            progress = False
            for text, size, what in list(self._computed):
                if self._solve(text, size, what):
                    self._computed.remove((text, size, what))
                    progress = True

    def shape(self, axes: Sequence[Axis], missing: Callable[[str], Size]) -> list[Size]:
        """The sizes of a result; ``missing`` gives one for a name that nothing has settled.

        Raises:
            Undetermined: the axes say no definite number of dims, or ``missing`` does.
        """
        shape: list[Size] = []
        for axis in axes:
            if axis.kind == "any_rest" or axis.broadcastable:
                raise Undetermined
            if axis.kind == "rest":
                if axis.expression not in self.rests:
                    raise Undetermined
                shape += self.rests[axis.expression]
            elif axis.kind == "any":
                shape.append(missing("_"))
            else:
                shape.append(self._size(axis.expression, missing))
        return shape

    def _size(self, text: str, missing: Callable[[str], Size]) -> Size:
        if "{" in text:
            return self._argument(text)
        dim = parse_dim(text)
        for name in sorted(v.name for v in variables(dim)):
            if name not in self.names:
                self.names[name] = missing(name)
        value: Size | None = _value(dim, self.names)
        if value is None:
            raise Undetermined
        return value

    def _argument(self, text: str) -> Size:
        # jaxtyping evaluates any Python in braces; here it is the name of an argument, or not known
        value = self._arguments.get(text[1:-1]) if text[0] == "{" and text[-1] == "}" else None
        if not isinstance(value, int | torch.SymInt):
            raise Undetermined
        return value

    def _bind(self, axis: Axis, size: Size, what: str, source: str) -> None:
        text = axis.expression
        if axis.kind != "dim":
            return
        if axis.broadcastable:
            if text.isidentifier():
                self._broadcast.setdefault(text, []).append(size)
        elif text.isidentifier():
            if text in self.names:
                known = self.names[text]
                self._hold(size, known, dim_differs(what, size, text, known, self._sources.get(text, "")))
            else:
                self.names[text] = size
                self._sources[text] = source
        elif "{" not in text:
            self._computed.append((text, size, what))

    def _bind_rest(self, axis: Axis, sizes: tuple[Size, ...], name: str) -> None:
        if axis.kind != "rest":
            return
        if axis.broadcastable:
            self._broadcast_rests.setdefault(axis.expression, []).append(sizes)
            return
        known = self.rests.setdefault(axis.expression, sizes)
        reason = rest_differs(axis.expression, name, sizes, known)
        if len(known) != len(sizes):
            raise ShapeMismatch(known, sizes, reason, operation=self.operation)
        for a, b in zip(sizes, known, strict=True):
            self._hold(a, b, reason)

    def _solve(self, text: str, size: Size, what: str) -> bool:
        """Compare an expression with what it should be, or compute its one open name; False if several are open."""
        dim = parse_dim(text)
        unbound = [v for v in variables(dim) if v.name not in self.names]
        if not unbound:
            value = _value(dim, self.names)
            if value is not None:
                self._hold(size, value, dim_differs(what, size, text, value, ""))
            return True
        if len(unbound) > 1 or (factor := _slope(dim, unbound[0])) is None:
            return False
        name = unbound[0].name
        offset = _value(dim, {**self.names, name: 0})
        if offset is None:
            return False
        self.names[name] = found = (size - offset) // factor
        self._sources[name] = f"from {what}"
        self._hold(found * factor + offset, size, dim_impossible(what, size, text))
        return True

    def _hold(self, size: Size, expected: Size, reason: str) -> None:
        """Say that two sizes are equal."""
        if isinstance(size, int) and isinstance(expected, int):
            if size != expected:
                raise ShapeMismatch(expected, size, reason, operation=self.operation)
        else:
            torch._check(size == expected, lambda: f"{self.operation}: {reason}")


def _rest_at(axes: Sequence[Axis]) -> int | None:
    return next((i for i, a in enumerate(axes) if a.kind in ("rest", "any_rest")), None)


# -- computing with symbols --------------------------------------------------------------------------------------------

_OPERATORS: Final[dict[str, Callable[..., Any]]] = {
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "min": lambda *sizes: _extremum(torch.sym_min, sizes),
    "max": lambda *sizes: _extremum(torch.sym_max, sizes),
}


def _extremum(of_two: Callable[[Any, Any], Any], sizes: Sequence[Any]) -> Any:
    found = sizes[0]
    for size in sizes[1:]:
        found = of_two(found, size)
    return found


def _value(dim: Dim, sizes: Mapping[str, Size]) -> Any:
    """The size of a dim; None if a name in it has no size."""
    if not isinstance(dim, Expr):
        return None if isinstance(dim, Unknown) else dim
    total: Any = 0
    for monomial, coefficient in dim.terms:
        term: Any = coefficient
        for atom, power in monomial:
            if isinstance(atom, Var):
                value = sizes.get(atom.name)
            else:
                values = [_value(a, sizes) for a in atom.args]
                value = None if any(v is None for v in values) else _OPERATORS[atom.op](*values)
            if value is None:
                return None
            for _ in range(power):
                term = term * value
        total = total + term
    return total


def _slope(dim: Dim, name: Var) -> int | None:
    """The factor ``c`` if a dim is ``c*name`` and something without ``name``; else None."""
    if not isinstance(dim, Expr):
        return None
    factor = None
    for monomial, coefficient in dim.terms:
        if monomial == ((name, 1),):
            factor = coefficient
        elif name in variables(Expr(((monomial, coefficient),))):
            return None
    return factor
