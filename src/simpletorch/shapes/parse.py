"""Reading dims and shapes that people write as text: ``"2*N + 1"``, and jaxtyping's ``"*batch c h w"``."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from simpletorch.shapes.dim import UNKNOWN, Dim, floordiv, maximum, minimum, mod, power, var
from simpletorch.shapes.shape import ANY_REST, Item, Rest, Shape

__all__ = ["Axis", "DimSyntaxError", "parse_axes", "parse_dim", "parse_shape", "rest_in"]

Resolve: TypeAlias = Callable[[str], Dim]


class DimSyntaxError(ValueError):
    """Text that is no dim. The message says what is wrong and what would be right."""


def parse_dim(text: str, resolve: Resolve = var) -> Dim:
    """Read one dim expression: integers, names, ``+ - * // % **``, ``min``, ``max`` and parentheses.

    Args:
        text: of the user, such as ``"(H - 1)//2 + 1"``.
        resolve: gives the dim for a name; it raises `DimSyntaxError` for a name that it doesn't know.

    Raises:
        DimSyntaxError: ``text`` is anything else.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError) as e:
        raise DimSyntaxError(
            f'"{text}" is not a dim expression; write integers, names and + - * // % ** min max'
        ) from e
    return _read(tree, text, resolve)


_OPERATORS: Final[dict[type[ast.operator], Callable[[Dim, Dim], Dim]]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: floordiv,
    ast.Mod: mod,
    ast.Pow: power,
}
_FUNCTIONS: Final[dict[str, Callable[..., Dim]]] = {"min": minimum, "max": maximum}


def _read(node: ast.expr, text: str, resolve: Resolve) -> Dim:
    match node:
        case ast.Constant(value=bool()):  # True is an int to `match`, and no size
            pass
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=name):
            return resolve(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_read(operand, text, resolve)
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATORS:
            a, b = _read(left, text, resolve), _read(right, text, resolve)
            if isinstance(operator, ast.FloorDiv | ast.Mod) and b == 0:
                raise DimSyntaxError(f'"{text}" divides by zero')
            if isinstance(operator, ast.Pow) and isinstance(b, int) and b > 64:
                raise DimSyntaxError(f'"{text}" raises to the power of {b}; no size is that large')
            return _OPERATORS[type(operator)](a, b)
        case ast.BinOp(op=ast.Div()):
            raise DimSyntaxError(f'"{text}" divides with "/", which gives a float; sizes divide with "//"')
        case ast.Call(func=ast.Name(id=("min" | "max") as name), args=args, keywords=[]) if args:
            return _FUNCTIONS[name](*(_read(a, text, resolve) for a in args))
        case _:
            pass
    raise DimSyntaxError(
        f'"{ast.unparse(node)}" in "{text}" is not part of a dim; write integers, names and + - * // % ** min max'
    )


Kind: TypeAlias = Literal["dim", "any", "rest", "any_rest"]


@dataclass(frozen=True, slots=True)
class Axis:
    """One item of a jaxtyping shape string.

    ``kind`` is "dim" (``expression`` says which), "any" (``_``), "rest" (``*name``) or "any_rest" (``...``);
    ``broadcastable`` is jaxtyping's ``#``: the size may also be 1.
    """

    kind: Kind
    expression: str = ""
    broadcastable: bool = False


def rest_in(text: str) -> str | None:
    """The name in ``"*Batch"``, which stands for any number of dims; None for any other text."""
    star, name = text.strip()[:1], text.strip()[1:]
    return name if star == "*" and name.isidentifier() else None


def parse_axes(text: str) -> tuple[Axis, ...]:
    """Read a jaxtyping shape string, with jaxtyping's own meaning.

    Names, integers, expressions without spaces, ``*name``, ``...``, ``_``, ``*_``, ``#name``, ``name=4``.

    Raises:
        DimSyntaxError: an item is malformed, or there are two variadic parts.
    """
    axes = tuple(_axis(word, text) for word in text.split())
    if sum(a.kind in ("rest", "any_rest") for a in axes) > 1:
        raise DimSyntaxError(f'"{text}" has two variadic parts; a shape can have only one "*name" or "..."')
    return axes


def _axis(word: str, text: str) -> Axis:
    if word == "...":
        return Axis("any_rest")
    broadcastable = variadic = anonymous = False
    body = word
    while body and body[0] in "#*_?":
        if body[0] == "#":
            broadcastable = True
        elif body[0] == "*":
            variadic = True
        elif body[0] == "_":
            anonymous = True
        body = body[1:]
    if "?" in word[: len(word) - len(body)]:
        raise DimSyntaxError(f'"{word}" in "{text}": "?" is for dims of the leaves of a PyTree, and this is one tensor')
    name, equals, value = body.partition("=")
    if equals:
        if not name.isidentifier() or not value:
            raise DimSyntaxError(f'"{word}" in "{text}" is neither a dim nor name=size')
        body = value
    if anonymous:
        return Axis("any_rest" if variadic else "any")
    if not body:
        raise DimSyntaxError(f'"{word}" in "{text}" names no dim')
    if variadic:
        if not body.isidentifier():
            raise DimSyntaxError(f'"{word}" in "{text}": a variadic part is "*name", so "{body}" must be one name')
        return Axis("rest", body, broadcastable)
    if body[0] == "-" and body[1:].isdigit():
        raise DimSyntaxError(f'"{word}" in "{text}" is negative; a size is 0 or more')
    if any(c in body for c in ",;"):
        raise DimSyntaxError(
            f'"{word}" in "{text}": dims are separated by spaces, not by "{"," if "," in body else ";"}"'
        )
    parse_dim(re.sub(r"\{[^{}]*\}", "x", body))  # in braces stands any Python expression, which run time evaluates
    return Axis("dim", body, broadcastable)


def parse_shape(text: str, resolve: Resolve = var, rest: Callable[[str], Item] = Rest) -> Shape:
    """The shape that a jaxtyping string describes; a broadcastable or f-string dim is unknown.

    Raises:
        DimSyntaxError: as `parse_axes` and `parse_dim`.
    """
    items: list[Item] = []
    for axis in parse_axes(text):
        if axis.kind == "any_rest" or (axis.kind == "rest" and axis.broadcastable):
            items.append(ANY_REST)
        elif axis.kind == "rest":
            items.append(rest(axis.expression))
        elif axis.kind == "any" or axis.broadcastable or "{" in axis.expression:
            items.append(UNKNOWN)
        else:
            items.append(parse_dim(axis.expression, resolve))
    return Shape(tuple(items))
