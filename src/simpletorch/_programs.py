"""How a file is followed that wasn't named: in mypy, and in a checked folder.

A program is followed as a whole. A file of a package that only defines functions and classes is a library's: what a
caller would give isn't known, and a package has hundreds of them. It is followed from what annotates its tensors.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal, TypeAlias

from simpletorch import _outside as outside

__all__ = ["Kind", "followed_as", "kind_of", "text_of"]

Kind: TypeAlias = Literal["program", "library"]

_DEFINES: Final = ("def ", "class ", "async def ", "import ", "from ", "try:")
_GOES_ON: Final = frozenset(" \t#@)]}'\"")  # what the lines begin with that are no statement's first at the margin
_QUOTES: Final = ('"""', "'''")
_WORKS: Final = re.compile(r"\b(?:torch|nn|F|optim)(?:\.\w+)+\(|\.(?:backward|step|train|eval|fit)\(")
_TEST: Final = re.compile(r"^[ \t]*(?:async )?def test", re.MULTILINE)
_ANNOTATES: Final = re.compile(r"^[ \t]*(?:from|import) (?:jaxtyping|simpletorch)\b", re.MULTILINE)


def followed_as(path: str) -> Kind | None:
    """How an unnamed file is followed; None if it isn't."""
    text = text_of(path) if path.endswith(".py") else None
    return None if text is None else kind_of(Path(path), text)


def text_of(path: str) -> str | None:
    """The text of a file, None if it can't be read."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def kind_of(path: Path, text: str) -> Kind | None:
    """The kind of a file; None for a library's that annotates no tensors. Parsing it would take twenty times as long.

    Args:
        path: the file. One that is in no package is a program.
        text: of the file.
    """
    if not outside.exists(path.parent / "__init__.py") or _is_run(path, text):
        return "program"
    may_annotate = "jaxtyping" in text or "simpletorch" in text
    return "library" if may_annotate and _ANNOTATES.search(text) and _has(text, _imports_annotations) else None


def _is_run(path: Path, text: str) -> bool:
    """Whether the file has a main program, tests, or statements that work with tensors as it is imported."""
    if path.name.startswith("test_") or path.stem.endswith("_test"):
        return _TEST.search(text) is not None and _has(text, _is_test)
    works = within = asked = False
    for line in text.split("\n"):
        quotes = sum(map(line.count, _QUOTES)) if _QUOTES[0] in line or _QUOTES[1] in line else 0
        if not within and line and line[0] not in _GOES_ON:
            if line.startswith("if __name__ =="):
                return True
            works = not line.startswith(_DEFINES)
        if works and not within and not asked and _WORKS.search(line):
            asked = True
            if _works(text):
                return True
        within ^= quotes % 2 == 1
    return False


# a comment or a text may look like code: a text that seems to have some is parsed


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _has(text: str, asked: Callable[[ast.AST], bool]) -> bool:
    """Whether a node of the text is such a one; a text that is no Python may have it."""
    tree = _parsed(text)
    return tree is None or any(map(asked, ast.walk(tree)))


def _works(text: str) -> bool:
    """Whether a statement that defines and imports nothing calls torch, or trains something."""
    tree = _parsed(text)
    if tree is None:
        return True
    return any(_is_work(n) for s in tree.body if not isinstance(s, _DEFINING) for n in ast.walk(s))


_DEFINING: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Try)
_TORCH: Final = ("torch", "nn", "F", "optim")
_TRAINING: Final = ("backward", "step", "train", "eval", "fit")


def _is_work(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    root = node.func.value
    while isinstance(root, ast.Attribute):
        root = root.value
    return node.func.attr in _TRAINING or (isinstance(root, ast.Name) and root.id in _TORCH)


def _is_test(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test")


def _imports_annotations(node: ast.AST) -> bool:
    names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
    names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
    return any(name.partition(".")[0] in ("jaxtyping", "simpletorch") for name in names)
