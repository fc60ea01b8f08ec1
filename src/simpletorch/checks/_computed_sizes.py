"""Computed sizes, as in ``"2*H"``: checked once a call has bound their names, in whatever order it does.

jaxtyping evaluates an expression where it meets it and refuses a name that isn't bound there. Here the plain names of
all values bind first, ``2*H = 10`` then binds ``H``, and an expression that is still open admits every size.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, Union, get_args, get_origin

import jaxtyping

from simpletorch.checks._hints import is_tensor_hint, mapped, tensor_hints
from simpletorch.dims import Dim, DimType
from simpletorch.shapes import Axis, Bindings, DimSyntaxError, Expr, Var, parse_axes, parse_dim, substitute, variables

__all__ = ["Unsolvable", "aligned", "bind", "is_computed", "solution", "verdicts"]

Passes: TypeAlias = Callable[[Any, Any], bool]


class Unsolvable(Exception):
    """Raised for a size that an expression has for no value of its name, as 5 is for ``2*H``."""


def is_computed(hint: Any) -> bool:
    """Whether a hint has sizes that are computed from others."""
    return any(_expression(word) is not None for text in _texts(hint) for word in text.split())


def verdicts(items: Sequence[tuple[Any, Any]], passing: Passes) -> list[bool]:
    """Whether each (value, hint) passes, its hint having computed sizes; names bind in jaxtyping's open scope."""
    # computed sizes pass for "_" at first, so that the plain names around them bind; then these settle what they can
    good = [_is_choice(hint) or passing(value, mapped(hint, _loosened)) for value, hint in items]
    for i in _solve({i: item for i, item in enumerate(items) if good[i] and not _is_choice(item[1])}):
        good[i] = False
    return [fits and _passes_settled(*item, passing) for item, fits in zip(items, good, strict=True)]


def _passes_settled(value: Any, hint: Any, passing: Passes) -> bool:
    settled = mapped(hint, _settled)
    if settled is hint or settled == hint or not _is_choice(hint):
        return passing(value, settled)
    with jaxtyping.jaxtyped("context"):  # it isn't known which of them is meant, so none binds
        return passing(value, mapped(hint, _loosened))


# -- words of a jaxtyping string --------------------------------------------------------------------------------------


def _texts(hint: Any) -> Iterator[str]:
    for found in tensor_hints(hint):
        yield found.dim_str
    yield from _dim_texts(hint)


def _dim_texts(hint: Any) -> Iterator[str]:
    if isinstance(hint, DimType):
        if hint._axis is not None:
            yield hint._axis.dim_str
        return
    for part in get_args(hint):
        yield from _dim_texts(part)


def _expression(word: str) -> str | None:
    """The expression of a word; None if it is a name, a number or variadic."""
    text = word.lstrip("*#?").rpartition("=")[2]
    return None if text.isidentifier() or text.isdecimal() or text in ("", "...") else text


def _rewritten(hint: Any, is_open: Callable[[str], bool]) -> Any:
    """The hint with ``_`` for each computed size that is open."""
    axis = hint._axis if isinstance(hint, DimType) else hint
    # an expression with braces stays: only jaxtyping knows the arguments that it names
    words = [] if axis is None else axis.dim_str.split()
    new = ["_" if (e := _expression(w)) is not None and "{" not in e and is_open(e) else w for w in words]
    if new == words:
        return hint
    return Dim if isinstance(hint, DimType) else hint.dtype[hint.array_type, " ".join(new)]


def _loosened(hint: Any) -> Any:
    return _rewritten(hint, lambda _: True)


def _settled(hint: Any) -> Any:
    return _rewritten(hint, lambda expression: _value(expression) is None)


def _is_choice(hint: Any) -> bool:
    """Whether a hint has several shapes for one value, so that a value needn't bind the names in them."""
    args = get_args(hint)
    if get_origin(hint) in (Union, types.UnionType) and sum(any(_texts(a)) for a in args) > 1:
        return True
    return any(_is_choice(a) for a in args)


# -- the open scope of jaxtyping --------------------------------------------------------------------------------------


class _Sized:
    """A size as jaxtyping sees an array with that one dim."""

    dtype = "int"

    def __init__(self, size: object) -> None:
        self.shape = (size,)


class _Probe:
    """A size that is told what jaxtyping compares it with."""

    value: Any = None

    def __ne__(self, value: object) -> bool:
        self.value = value
        return False

    __hash__ = None  # type: ignore[assignment]


def _value(expression: str) -> Any:
    """The value of an expression in the open scope; None if a name in it isn't bound, or it can't be computed."""
    # ``value != probe``: an int knows no probe, so Python asks the probe, which thereby learns the value
    probe = _Probe()
    try:
        isinstance(_Sized(probe), _axis(expression))
    except Exception:
        return None
    return probe.value


def bind(name: str, size: int) -> bool:
    """Whether ``name`` is ``size`` in the open scope; it is from now on if it was nothing yet."""
    return isinstance(_Sized(size), _axis(name))


def _axis(text: str) -> Any:
    """jaxtyping's annotation of one size."""
    return jaxtyping.Shaped[Any, text]


# -- solving ----------------------------------------------------------------------------------------------------------


def solution(expression: str, size: int, known: Callable[[str], Any]) -> tuple[str, int] | None:
    """The one open name in an expression and what it must be, so that the expression is ``size``.

    Raises:
        Unsolvable: it is that for no value of the name.
    """
    try:
        dim = parse_dim(expression)
    except DimSyntaxError:
        return None
    sizes: dict[Var, Any] = {v: known(v.name) for v in variables(dim)}
    dim = substitute(dim, {v: value for v, value in sizes.items() if isinstance(value, int)})
    names = variables(dim)
    if len(names) != 1 or not isinstance(dim, Expr):
        return None
    bindings = Bindings(frozenset(names))
    if bindings.bind(dim, size, 0) is not None:
        raise Unsolvable
    (name,) = names
    found = bindings.dims.get(name)
    return (name.name, found) if isinstance(found, int) else None


def _solve(items: Mapping[int, tuple[Any, Any]]) -> set[int]:
    """Bind what the computed sizes of the values settle; which items have a size that no name can give."""
    impossible = set()
    progress = True
    while progress:
        progress = False
        for i, item in items.items():
            try:
                for expression, size in _computed_sizes(*item):
                    # "+0" makes an expression of a name: it is evaluated, and a bare name would be bound
                    found = solution(expression, size, lambda name: _value(f"{name}+0"))
                    progress = (found is not None and bind(*found)) or progress
            except Unsolvable:
                impossible.add(i)
    return impossible


def _computed_sizes(value: Any, hint: Any) -> Iterator[tuple[str, int]]:
    for text, shape in _shapes(value, hint):
        for _, axis, size in aligned(_axes(text), shape) or ():
            if not axis.expression.isidentifier() and not (axis.broadcastable and size == 1):
                yield axis.expression, size


def _axes(text: str) -> tuple[Axis, ...]:
    try:
        return parse_axes(text)
    except DimSyntaxError:
        return ()


def _shapes(value: Any, hint: Any) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The shapes in a value, each with the jaxtyping string for it."""
    if is_tensor_hint(hint):
        if hasattr(value, "shape"):
            yield hint.dim_str, tuple(value.shape)
    elif isinstance(hint, DimType):
        if hint._axis is not None and isinstance(value, int):
            yield hint._axis.dim_str, (value,)
    elif get_origin(hint) in (Union, types.UnionType):
        for member in get_args(hint):
            if member is not type(None):
                yield from _shapes(value, member)
    elif isinstance(value, Mapping) and len(get_args(hint)) == 2:
        for item in value.values():
            yield from _shapes(item, get_args(hint)[1])
    elif isinstance(value, tuple | list) and get_args(hint):
        args: Any = get_args(hint)
        several = get_origin(hint) is tuple and args[-1] is not Ellipsis
        for item, part in zip(value, args if several else [args[0]] * len(value), strict=False):
            yield from _shapes(item, part)


_VARIADIC: Final = ("rest", "any_rest")


def aligned(axes: Sequence[Axis], shape: tuple[int, ...]) -> list[tuple[int, Axis, int]] | None:
    """The axes that name one dim, with the dim's index and size; None if the number of dims is wrong."""
    rest = next((i for i, a in enumerate(axes) if a.kind in _VARIADIC), None)
    if len(shape) < len(axes) - (rest is not None) or (rest is None and len(shape) != len(axes)):
        return None
    pairs = []
    for i, axis in enumerate(axes):
        index = i if rest is None or i < rest else i - len(axes) + len(shape)
        if axis.kind == "dim":
            pairs.append((index, axis, shape[index]))
    return pairs
