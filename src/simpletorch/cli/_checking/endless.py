"""Constants that mypy computes, so large that it would never end, or end with an error of its own."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from simpletorch._programs import text_of
from simpletorch.cli._checking.modules import imported

__all__ = ["imports_of", "why_endless"]

_MOST_BITS: Final = 10_000_000
_MOST_IN_ALL: Final = 50 * _MOST_BITS
_SUSPECTS: Final = re.compile(
    r"""(\*\*|<<|\*)[\s(]*\d[\d_]{3}|(\*\*|<<).*(\*\*|<<)|["'][)\s]*\*[\s(]*\d|\bFinal\b(?=[\s\S]*(\*\*|<<|\*))"""
)
_INITS: Final = ("__init__.py", "__init__.pyi")


class _Text(NamedTuple):
    """A text that mypy makes; only its length counts."""

    length: int


_Value: TypeAlias = int | _Text


class _Endless(Exception):
    def __init__(self, node: ast.expr) -> None:
        super().__init__()
        self.node = node


def why_endless(file: str) -> str:
    """Why mypy would not end on a file, as a clause with the line; "" if it does."""
    try:
        text = Path(file).read_text(encoding="utf-8")
        if not _SUSPECTS.search(text):
            return ""
        _Folding().all_of(ast.parse(text))
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        return ""  # mypy says so itself
    except _Endless as error:
        shown = ast.unparse(error.node)
        return f"mypy would compute {shown} (line {error.node.lineno}), which takes too long: compute it at run time"
    return ""


def imports_of(files: Sequence[str]) -> Iterator[str]:
    """The files beside these that they import, directly or not, from the folders that their own names begin in."""
    roots = list(dict.fromkeys([*(_root(os.path.dirname(f)) for f in files), os.curdir]))
    seen = {os.path.realpath(f) for f in files}
    todo = list(files)
    while todo:
        file = todo.pop()
        for name in imported(text_of(file) or ""):
            for found in _modules(name, os.path.dirname(file), roots):
                real = os.path.realpath(found)
                if real not in seen:
                    seen.add(real)
                    todo.append(found)
                    yield found


def _root(folder: str) -> str:
    """The folder in which the names of the modules in a folder begin."""
    while any(os.path.isfile(os.path.join(folder, init)) for init in _INITS):
        above = os.path.normpath(os.path.join(folder, os.pardir))
        if os.path.realpath(above) == os.path.realpath(folder):
            break
        folder = above
    return folder or os.curdir


def _modules(name: str, folder: str, roots: Iterable[str]) -> Iterator[str]:
    """The files that a dotted name may lead through; one that begins with dots begins in a folder."""
    parts = name.lstrip(".").split(".")
    dots = len(name) - len(name.lstrip("."))
    for root in [os.path.join(folder, *[os.pardir] * (dots - 1))] if dots else roots:
        at = root
        for part in filter(None, parts):
            at = os.path.join(at, part)
            files = [f"{at}.py", f"{at}.pyi", *(os.path.join(at, init) for init in _INITS)]
            yield from (os.path.normpath(f) for f in files if os.path.isfile(f))
            if not os.path.isdir(at):
                break


class _Folding:
    """The constants of a file, each computed once."""

    def __init__(self) -> None:
        self.values: dict[int, _Value] = {}  # by expression
        self.names: dict[str, _Value] = {}  # of constants that are final
        self.made = 0

    def all_of(self, tree: ast.Module) -> None:
        """Compute what mypy folds.

        Raises:
            _Endless: something is too large.
        """
        nodes = list(ast.walk(tree))
        finals = [n for n in nodes if isinstance(n, ast.AnnAssign) and "Final" in ast.unparse(n.annotation)]
        for node in finals:
            self._fold_all(ast.walk(node.value) if node.value is not None else ())
            found = self.values.get(id(node.value))
            if isinstance(node.target, ast.Name) and found is not None:
                self.names[node.target.id] = found
        self._fold_all(nodes)

    def _fold_all(self, nodes: Iterable[ast.AST]) -> None:
        for node in reversed(list(nodes)):  # what is inside comes first
            if isinstance(node, ast.expr):
                self._fold(node)

    def _fold(self, node: ast.expr) -> None:
        found = self._folded(node)
        if found is None:
            return
        size = _bits(found)
        self.made += size
        if size > _MOST_BITS or self.made > _MOST_IN_ALL:
            raise _Endless(node)
        self.values[id(node)] = found

    def _folded(self, node: ast.expr) -> _Value | None:
        """The value of what mypy folds, None of all else."""
        values = self.values
        match node:
            case ast.Constant(value=str() as text):
                return _Text(len(text))
            case ast.Constant(value=int() as number) if not isinstance(number, bool):
                return number
            case ast.Name(id=name):
                return self.names.get(name)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Invert()):
                inner = values.pop(id(node.operand), None)
                return -inner if isinstance(inner, int) else None
            case ast.BinOp():
                left, right = values.pop(id(node.left), None), values.pop(id(node.right), None)
                if left is not None and right is not None:
                    return _of_two(node, left, right)
        return None


def _bits(value: _Value) -> int:
    return value.bit_length() if isinstance(value, int) else 8 * value.length


def _of_two(node: ast.BinOp, left: _Value, right: _Value) -> _Value | None:
    """The value of an operator.

    Raises:
        _Endless: it is too large.
    """
    if isinstance(left, int) and isinstance(right, int):
        return _number(node, left, right)
    if isinstance(left, _Text) and isinstance(right, _Text):
        return _Text(left.length + right.length) if isinstance(node.op, ast.Add) else None
    text, times = (left, right) if isinstance(left, _Text) else (right, left)
    if isinstance(node.op, ast.Mult) and isinstance(text, _Text) and isinstance(times, int):
        return _Text(text.length * max(times, 0))
    return None


def _number(node: ast.BinOp, left: int, right: int) -> int | None:
    bits = left.bit_length()
    match node.op:
        case ast.Pow() if right >= 0:
            size = bits * right if bits > 1 else 1
        case ast.LShift() if right >= 0:
            size = bits + right
        case ast.Mult():
            size = bits + right.bit_length()
        case ast.Add() | ast.Sub():
            size = max(bits, right.bit_length())
        case _:
            return None
    if size > _MOST_BITS:
        raise _Endless(node)
    match node.op:
        case ast.Pow():
            found: int = left**right
            return found
        case ast.LShift():
            return left << right
        case ast.Mult():
            return left * right
        case ast.Add():
            return left + right
        case _:
            return left - right
