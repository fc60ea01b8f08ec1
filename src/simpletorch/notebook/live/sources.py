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
from typing import Any, Final, TypeAlias

from simpletorch.notebook.live.reading import plain_dict, text

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
    file = text(plain_dict(module.__dict__).get("__file__"))
    return file.endswith(".py") and is_own(file)


def text_of(file: str) -> str:
    """The text of a cell or file; "" where there is none."""
    known = linecache.cache.get(file)
    if known is not None and len(known) == 1 and not os.path.isfile(file):
        return ""  # it would be asked of a loader, which may be the user's
    return "".join(linecache.getlines(file))


def definition(code: CodeType) -> Definition | None:
    """The syntax that a function was made from, None where that isn't known for sure."""
    file = text(code.co_filename)
    written = text_of(file)
    if not written:
        return None
    found = _index(file, written).get((text(code.co_name), code.co_firstlineno), ())
    if len(found) != 1:
        return None
    if os.path.isfile(file) and not (_is_plain(code) and code in _codes(file, written)):
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


def _is_plain(given: Any) -> bool:
    """Whether all that a code has is of Python's own classes: others' would be asked for a hash."""
    kind = type(given)
    if kind is CodeType:
        return all(map(_is_plain, (given.co_consts, given.co_names, given.co_varnames)))
    if kind is tuple or kind is frozenset:
        return all(map(_is_plain, given))
    return any(kind is each for each in (str, int, float, complex, bytes, bool, type(None), type(...)))


def _inside(code: CodeType) -> Iterator[CodeType]:
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield one
            yield from _inside(one)
