"""The docstrings of the reference: they are written in reST's manner, and the site reads Markdown.

griffe, which mkdocstrings collects names with, calls this (https://mkdocstrings.github.io/griffe/extensions/).
"""

from __future__ import annotations

import ast
import re
import textwrap
from typing import Any

import griffe

# a block of code as reST has it: two colons, then lines that are indented further
_BLOCK = re.compile(r"^([ \t]*)(.*?)::[ \t]*\n\n?((?:\1[ \t]+\S.*(?:\n|\Z)|[ \t]*\n)+)", re.MULTILINE)
# ``lr, betas: as for `AdamW`.`` with the lines that go on with it
_TOGETHER = re.compile(r"^([ \t]+)(\w+(?:, \w+)+)(: .*(?:\n\1[ \t]+\S.*)*)$", re.MULTILINE)


def markdown(docstring: str) -> str:
    """A docstring with code blocks as Markdown has them, and a row for each parameter."""
    return _TOGETHER.sub(_apart, _BLOCK.sub(_fenced, docstring))


def _fenced(block: re.Match[str]) -> str:
    """A block of code between fences, with colours if it is Python."""
    indent, before, lines = block.groups()
    code = textwrap.dedent(lines).strip("\n")
    try:
        ast.parse(code)
        language = "python"
    except SyntaxError:
        language = "text"
    fenced = textwrap.indent(f"```{language}\n{code}\n```\n", indent)
    return (f"{indent}{before}:\n\n" if before else "") + fenced + "\n"


def _apart(together: re.Match[str]) -> str:
    """Parameters that share a description, each with its own: griffe then finds their types and defaults."""
    indent, names, text = together.groups()
    return "\n".join(f"{indent}{name}{text}" for name in names.split(", "))


def _is_plain(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and (statement.module or "").rpartition(".")[2] == "_plain"


class Docstrings(griffe.Extension):
    """Rewrites each docstring as it is collected."""

    def on_node(self, *, node: ast.AST, **_kwargs: Any) -> None:
        """A module before it is read: its second imports, from ``_plain``, are for other type checkers."""
        if isinstance(node, ast.Module):
            for block in (node, *(each for each in node.body if isinstance(each, ast.If))):
                block.body = [each for each in block.body if not _is_plain(each)]

    def on_instance(self, *, obj: griffe.Object, **_kwargs: Any) -> None:
        """An object has its docstring."""
        if obj.docstring is not None:
            obj.docstring.value = markdown(obj.docstring.value)
