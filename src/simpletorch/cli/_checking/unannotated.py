"""mypy's errors in files without annotations: most are no mistakes, because it guesses types that weren't stated.

Errors that surely raise are shown all the same: a missing module, an undefined name, a misspelt name of a module, a
call whose arguments a function of the file or a layer doesn't take.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from simpletorch.cli._output import grouped
from simpletorch.cli._run import Diagnostic, Report, recounted
from simpletorch.rules.core.codes import CODES

__all__ = ["is_annotated", "without_guesses"]

_FIELDS: Final = frozenset({"NamedTuple", "TypedDict", "BaseModel"})
"""Bases of classes whose attributes Python reads from annotations, which so say nothing of their author's style."""
_NAME: Final = re.compile(r'Name "(?P<name>\w+)" is (?:not defined|used before definition)')
_MISSPELT: Final = re.compile(r'Module (?:"[\w.]+" )?has no attribute "\w+"; maybe ')
_FILLED_IN: Final = frozenset({"display", "get_ipython", "profile"})
"""Names that IPython and kernprof define."""


def without_guesses(report: Report) -> Report:
    """The report without mypy's own errors in files without annotations, except what surely raises."""
    if report.exit_code > 1:
        return report
    kept: list[Diagnostic] = []
    hidden, tree_of = 0, cache(_tree)
    for first, notes in grouped(report.diagnostics):
        if first.severity != "error" or first.code in CODES or _is_to_show(first, tree_of(first.file)):
            kept += [first, *notes]
        else:
            hidden += 1
            kept += [note for note in notes if note.message.startswith("Revealed type")]  # of a line behind it
    return replace(recounted(report, tuple(kept)), hidden=hidden) if hidden else report


def _is_to_show(error: Diagnostic, tree: ast.Module | None) -> bool:
    return tree is None or is_annotated(tree) or error.code == "syntax" or _surely_raises(error, tree)


def _tree(file: str) -> ast.Module | None:
    try:
        return ast.parse(Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return None


def is_annotated(tree: ast.Module) -> bool:
    """Whether a function has an annotation, or a variable; fields of a dataclass and its like don't count."""
    fields = {
        id(s) for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and _has_fields(node) for s in node.body
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) and id(node) not in fields:
            return True
        if isinstance(node, ast.arg) and node.annotation is not None:
            return True
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.returns is not None:
            return True
    return False


def _has_fields(node: ast.ClassDef) -> bool:
    return any("dataclass" in ast.unparse(d) for d in node.decorator_list) or any(
        ast.unparse(base).rpartition(".")[2] in _FIELDS for base in node.bases
    )


def _surely_raises(error: Diagnostic, tree: ast.Module) -> bool:
    if any(_is_within(error.line, attempt.body) for attempt in ast.walk(tree) if isinstance(attempt, ast.Try)):
        return False
    if error.code in ("name-defined", "used-before-def"):
        name = _NAME.search(error.message)
        return name is not None and name["name"] not in _FILLED_IN and not _may_define_others(tree)
    if error.code == "import-not-found":
        return any(s.lineno <= error.line <= (s.end_lineno or s.lineno) for s in _imports(tree))
    if error.code == "attr-defined":
        return _MISSPELT.match(error.message) is not None
    return error.code == "call-arg" and any(_is_known(call.func, tree) for call in _calls(error.line, tree))


def _imports(tree: ast.Module) -> Iterator[ast.stmt]:
    """The imports that every run of the file comes to; none where it says itself where to look for modules."""
    paths = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "path")
    if not any(ast.unparse(path) == "sys.path" for path in paths):
        yield from (s for s in tree.body if isinstance(s, ast.Import | ast.ImportFrom))


def _is_within(line: int, body: Sequence[ast.stmt]) -> bool:
    return body[0].lineno <= line <= (body[-1].end_lineno or line)


def _may_define_others(tree: ast.Module) -> bool:
    """Whether names may be defined that the text doesn't show."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            return True
        if isinstance(node, ast.Name) and node.id in ("exec", "globals"):
            return True
    return False


def _calls(line: int, tree: ast.Module) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.lineno == line)


def _is_known(function: ast.expr, tree: ast.Module) -> bool:
    """Whether mypy knows what is called as it is: a function or class of this file without decorators, a layer."""
    if isinstance(function, ast.Attribute):
        return ast.unparse(function.value) in ("nn", "torch.nn") and function.attr[:1].isupper()
    if not isinstance(function, ast.Name):
        return False
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    made = [node for node in ast.walk(tree) if isinstance(node, kinds) and node.name == function.id]
    bound = any(
        isinstance(n, ast.Name) and n.id == function.id and isinstance(n.ctx, ast.Store) for n in ast.walk(tree)
    )
    return len(made) == 1 and not made[0].decorator_list and not bound
