"""Constants that mypy computes, so large that it would never end, or end with an error of its own."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Final

__all__ = ["why_endless"]

_MOST_BITS: Final = 10_000_000
_SUSPECTS: Final = re.compile(r"""(\*\*|<<|\*)[\s(]*\d[\d_]{3}|(\*\*|<<).*(\*\*|<<)|["'][)\s]*\*[\s(]*\d""")


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
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.BinOp):
                _folded(node)
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        return ""  # mypy says so itself
    except _Endless as error:
        shown = ast.unparse(error.node)
        return f"mypy would compute {shown} (line {error.node.lineno}), which takes for ever: compute it at run time"
    return ""


def _folded(node: ast.expr) -> int | str | None:
    """The value of what mypy folds, None of all else.

    Raises:
        _Endless: it is too large.
    """
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) in (int, str) else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _folded(node.operand)
        return -inner if isinstance(inner, int) else None
    if not isinstance(node, ast.BinOp):
        return None
    left, right = _folded(node.left), _folded(node.right)
    if isinstance(left, int) and isinstance(right, int):
        return _number(node, left, right)
    for text, times in ((left, right), (right, left)):
        if isinstance(node.op, ast.Mult) and isinstance(text, str) and isinstance(times, int):
            if 8 * len(text) * times > _MOST_BITS:
                raise _Endless(node)
            return text * times
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
