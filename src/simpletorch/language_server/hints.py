"""Places of hints: after names that get tensors, after parameters, and after calls of layers."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, TypeAlias

from simpletorch.follow.findings import CHANGES, OR, OneOf
from simpletorch.follow.marks.seen import Look, Place, Seen
from simpletorch.follow.sources.syntax import walk
from simpletorch.language_server.messages import Hint
from simpletorch.rules import TensorType

__all__ = ["hints", "shown"]

Claims: TypeAlias = Mapping[tuple[str, int], Mapping[str, Sequence[Any]]]

_MOST_SHOWN: Final = 3  # of a name that a loop changes


_MOST: Final = frozenset(
    {ast.Name, ast.Attribute, ast.Constant, ast.Load, ast.Store, ast.keyword, ast.Tuple, ast.BinOp}
)
"""The kinds of most nodes, which have no hints."""


def hints(path: str, tree: ast.Module, claims: Claims, seen: Seen) -> Iterator[Hint]:
    """The hints of a file, in the order of its nodes."""
    assigned: set[Place] = set()
    for node in walk(tree):
        if type(node) in _MOST:
            continue
        if isinstance(node, ast.stmt):
            assigned |= {_place(v) for v in _values(node)}
            yield from _targets(path, node, claims)
        elif isinstance(node, ast.NamedExpr):
            assigned.add(_place(node.value))
            yield from _named(
                path, node, [node.target], range(node.lineno, (node.end_lineno or node.lineno) + 1), claims
            )
        elif isinstance(node, ast.arg):
            yield from _parameter(path, node, seen)
        elif isinstance(node, ast.Call) and _place(node) not in assigned:
            yield from _layer(path, node, seen)


def shown(values: Sequence[Any]) -> str:
    """Tensors in the order in which they came: ``Float32[3] → Float32[5]``, or one of several; "" where none is one."""
    texts = [_text(v) for v in values if isinstance(v, TensorType) or _has_tensor(v)]
    texts = [text for text, _ in groupby(texts)]  # sizes that aren't known differ, and look the same
    between = OR if isinstance(values, OneOf) else CHANGES
    return between.join(texts[:_MOST_SHOWN]) + (f"{between}…" if len(texts) > _MOST_SHOWN else "")


def _has_tensor(value: Any) -> bool:
    return isinstance(value, tuple) and any(isinstance(v, TensorType) or _has_tensor(v) for v in value)


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_text, value))})"
    return "…" if value is None else str(value)


def _values(node: ast.stmt) -> Iterator[ast.expr]:
    """The value that a statement assigns to one name as it is: the hint behind the name describes it."""
    match node:
        case ast.Assign(targets=[ast.Name() | ast.Attribute()], value=value):
            yield value
        case ast.AnnAssign(target=ast.Name() | ast.Attribute(), value=ast.expr() as value):
            yield value


def _targets(path: str, node: ast.stmt, claims: Claims) -> Iterator[Hint]:
    """Behind the names that a statement gives something to."""
    match node:
        case ast.Assign(targets=targets):
            yield from _named(path, node, targets, _lines(node, node), claims)
        case ast.AugAssign(target=target):
            yield from _named(path, node, [target], _lines(node, node), claims)
        case ast.AnnAssign(target=target, annotation=annotation):
            for hint in _named(path, node, [target], _lines(node, node), claims):
                end = _place(annotation)
                yield hint._replace(line=end.end_line, column=end.end_column, text=f" → {hint.text[2:]}")
        case ast.For(target=target, iter=end) | ast.AsyncFor(target=target, iter=end):
            yield from _named(path, node, [target], _lines(node, end), claims)
        case ast.With(items=items) | ast.AsyncWith(items=items):
            found = [item.optional_vars for item in items if item.optional_vars is not None]
            yield from _named(path, node, found, _lines(node, items[-1].context_expr), claims)


def _lines(first: ast.stmt, last: ast.AST) -> range:
    return range(first.lineno, (getattr(last, "end_lineno", None) or first.lineno) + 1)


def _named(path: str, node: ast.AST, targets: Sequence[ast.expr], lines: range, claims: Claims) -> Iterator[Hint]:
    done: set[str] = set()
    for target in _flat(targets):
        name = ast.unparse(target)
        given = [claims.get((path, line), {}).get(name, ()) for line in lines]
        kind = OneOf if any(isinstance(values, OneOf) for values in given) else list
        text = shown(kind(v for values in given for v in values))
        if text and name not in done:
            done.add(name)
            place = _place(target)
            yield Hint(place.end_line, place.end_column, f": {text}", "assigned")


def _flat(targets: Sequence[ast.expr]) -> Iterator[ast.Name | ast.Attribute]:
    for target in targets:
        match target:
            case ast.Name() | ast.Attribute():
                yield target
            case ast.Tuple(elts=inner) | ast.List(elts=inner):
                yield from _flat(inner)
            case ast.Starred(value=inner):
                yield from _flat([inner])


def _parameter(path: str, node: ast.arg, seen: Seen) -> Iterator[Hint]:
    text = _looks(seen.looks.get((path, _place(node)), ()))
    if text:
        end = _place(node)
        yield Hint(end.end_line, end.end_column, f" → {text}" if node.annotation else f": {text}", "parameter")


def _layer(path: str, node: ast.Call, seen: Seen) -> Iterator[Hint]:
    """Behind the call of a module, what it gives."""
    text = _looks(seen.looks.get((path, _place(node)), ())) if (path, _place(node.func)) in seen.modules else ""
    if text:
        yield Hint(node.end_lineno or node.lineno, node.end_col_offset or 0, f" → {text}", "layer")


def _looks(looks: Mapping[Look, None] | Sequence[Look]) -> str:
    return shown([look.type for look in looks])


def _place(node: ast.expr | ast.arg) -> Place:
    return Place(node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
