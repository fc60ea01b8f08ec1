"""The syntax of live functions: of cells as IPython keeps their text, of files as long as they are as they were."""

from __future__ import annotations

import ast
import linecache
import os
import sysconfig
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import Final, TypeAlias

__all__ = ["definition", "is_own", "is_own_module", "text_of"]

Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

_HOME: Final = str(Path(__file__).parents[2]) + os.sep
_FOREIGN: Final = tuple(
    sorted({str(Path(p)) + os.sep for key, p in sysconfig.get_paths().items() if key.endswith(("lib", "stdlib"))})
)
_BETWEEN: Final = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


@lru_cache(maxsize=4096)
def is_own(file: str) -> bool:
    """Whether a file, or a cell by the name that IPython gives it, is the user's: no library's."""
    if file.startswith(_HOME) or any(part in file for part in _BETWEEN):
        return False
    return not file.startswith(_FOREIGN) and (not file.startswith("<") or file in linecache.cache)


def is_own_module(module: ModuleType) -> bool:
    """Whether a module is the user's, read from a file."""
    file = module.__dict__.get("__file__")
    return isinstance(file, str) and file.endswith(".py") and is_own(file)


def text_of(file: str) -> str:
    """The text of a cell or file; "" where there is none."""
    return "".join(linecache.getlines(file))


def definition(code: CodeType) -> Definition | None:
    """The syntax that a function was made from, None where that isn't known for sure."""
    text = text_of(code.co_filename)
    if not text:
        return None
    found = _index(code.co_filename, text).get((code.co_name, code.co_firstlineno), ())
    if len(found) != 1:
        return None
    if os.path.isfile(code.co_filename) and code not in _codes(code.co_filename, text):
        return None  # the file was edited since it was imported
    return found[0]


@lru_cache(maxsize=256)
def _index(file: str, text: str) -> dict[tuple[str, int], list[Definition]]:
    """The functions of a text by name and first line, as their code has them."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    out: dict[tuple[str, int], list[Definition]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda):
            out.setdefault(("<lambda>", node.lineno), []).append(node)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min((node.lineno, *(d.lineno for d in node.decorator_list)))
            out.setdefault((node.name, first), []).append(node)
    return out


@lru_cache(maxsize=256)
def _codes(file: str, text: str) -> frozenset[CodeType]:
    """The code of each function of a file as it is now."""
    try:
        return frozenset(_inside(compile(text, file, "exec", dont_inherit=True)))
    except (SyntaxError, ValueError, RecursionError):
        return frozenset()


def _inside(code: CodeType) -> Iterator[CodeType]:
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield one
            yield from _inside(one)
