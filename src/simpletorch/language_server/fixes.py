"""The hint of a finding as an edit, where it is a mechanical one; nothing where it would be a guess."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, TypeVar

from simpletorch.follow import Finding
from simpletorch.follow.marks.seen import Place

__all__ = ["Edit", "fix"]

N = TypeVar("N", bound=ast.expr)

_LAYER: Final = re.compile(r"(?P<name>\w+)\((?P<given>[\d, ]+)\) would fit")
_CAST: Final = re.compile(r"(?P<name>input|target)(?P<call>\.(?:float|long|int|double|cpu)\(\))")
_TURNED: Final = re.compile(r"(?P<name>input|other)\.mT would fit")
_SIMPLE: Final = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)


class Edit(NamedTuple):
    """A replacement of the text at a place, in bytes of UTF-8."""

    place: Place
    text: str
    title: str


def fix(found: Finding, tree: ast.Module, is_tensor: Callable[[Place], bool]) -> list[Edit]:
    """The edits that together do what a finding's hint says; none where it takes a person.

    Args:
        found: a finding in this file.
        tree: the file's syntax.
        is_tensor: whether an expression gives a tensor: ``x.exp()`` has its operand in front, ``F.exp(x)`` behind.
    """
    hint = found.hint or ""
    if found.code == "tensor-layout" and hint.startswith(".reshape(...)"):
        return [e for call in _at(found, tree, ast.Call) for e in _reshaped(call)]
    if (wanted := _LAYER.fullmatch(hint)) and (given := re.match(r"(\w+)\(([\d, ]+)\): ", found.message)):
        if given[1] != wanted["name"]:
            return []
        return [e for call in _at(found, tree, ast.Call) for e in _resized(call, tree, given[2], wanted["given"])]
    if cast := _CAST.fullmatch(hint):
        operation = found.message.partition(":")[0].partition("(")[0]
        return [
            e
            for call in _at(found, tree, ast.Call)
            for e in _cast(call, operation, cast["name"], cast["call"], is_tensor)
        ]
    if (turned := _TURNED.fullmatch(hint)) and found.message.startswith("@:"):
        return _turned(found, tree, turned["name"])
    return []


def _at(found: Finding, tree: ast.Module, kind: type[N]) -> Iterator[N]:
    """The expression that a finding is about."""
    place = (found.line, found.column - 1, found.end_line, found.end_column)
    for node in ast.walk(tree):
        if isinstance(node, kind) and (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset) == place:
            yield node


def _reshaped(call: ast.Call) -> list[Edit]:
    match call.func:
        case ast.Attribute(attr="view", end_lineno=int(line), end_col_offset=int(end)):
            place = Place(line, end - len("view"), line, end)
            return [Edit(place, "reshape", "Replace view by reshape, which copies where it must")]
    return []


def _resized(call: ast.Call, tree: ast.Module, given: str, wanted: str) -> list[Edit]:
    """The numbers of a layer's constructor, if the file has one that makes the layer of this name, with numbers."""
    match call.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            pass
        case _:
            return []
    made = [node for node in ast.walk(tree) if isinstance(node, ast.Assign) and _name_of(node.targets) == name]
    if len(made) != 1 or not isinstance(made[0].value, ast.Call):
        return []
    numbers = [a for a in made[0].value.args if isinstance(a, ast.Constant) and type(a.value) is int]
    old, new = given.split(", "), wanted.split(", ")
    if [str(a.value) for a in numbers[: len(old)]] != old or len(old) != len(new):
        return []
    changed = [(a, text) for a, text in zip(numbers, new, strict=False) if str(a.value) != text]
    return [Edit(_place(a), text, f"Replace {a.value!r} by {text} where the layer is made") for a, text in changed]


def _name_of(targets: list[ast.expr]) -> str | None:
    match targets:
        case [ast.Attribute(attr=name) | ast.Name(id=name)]:
            return name
    return None


def _cast(call: ast.Call, operation: str, name: str, cast: str, is_tensor: Callable[[Place], bool]) -> list[Edit]:
    """``.float()`` behind an operand of a layer's call or a function's."""
    is_method = isinstance(call.func, ast.Attribute) and is_tensor(_place(call.func.value))
    if is_method or any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return []
    named = [k.value for k in call.keywords if k.arg == name]
    position = 0 if name == "input" else 1
    operand = named[0] if named else call.args[position] if len(call.args) > position else None
    if operand is None or not is_tensor(_place(operand)):
        return []
    return _behind(operand, cast)


def _turned(found: Finding, tree: ast.Module, name: str) -> list[Edit]:
    lines = range(found.line, (found.end_line or found.line) + 1)
    products = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult) and node.lineno in lines
    ]
    if len(products) != 1:
        return []
    return _behind(products[0].left if name == "input" else products[0].right, ".mT")


def _behind(operand: ast.expr, text: str) -> list[Edit]:
    place, title = _place(operand), f"Add {text}"
    end = Place(place.end_line, place.end_column, place.end_line, place.end_column)
    if isinstance(operand, _SIMPLE):
        return [Edit(end, text, title)]
    start = Place(place.line, place.column, place.line, place.column)
    return [Edit(start, "(", title), Edit(end, f"){text}", title)]


def _place(node: ast.expr) -> Place:
    return Place(node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
