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
_RESULT = re.compile(r"^(?:Returns|Yields):", re.MULTILINE)
_SECTION = re.compile(r"^(?:Raises|Examples):", re.MULTILINE)
_FIRST_SENTENCE = re.compile(r".*?[.](?=\s|\Z)|.*", re.DOTALL)
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


def with_result(docstring: str, annotation: str) -> str:
    """A docstring with the section ``Returns`` or ``Yields``: the first sentence, unless it has one of its own.

    ``tests/docs/test_reference.py`` demands one of its own where the first sentence doesn't describe the result.
    """
    if annotation in ("", "None", "NoReturn", "Never", "Iterator[None]") or _RESULT.search(docstring):
        return docstring
    kind = "Yields" if annotation.startswith(("Iterator[", "Generator[")) else "Returns"
    sentence = " ".join(_FIRST_SENTENCE.match(docstring)[0].split())  # type: ignore[index] - it matches anything
    section = f"{kind}:\n    : {sentence}\n\n"  # without a colon of its own, a word before one would be a name
    later = _SECTION.search(docstring)
    place = later.start() if later else len(docstring)
    return f"{docstring[:place].rstrip()}\n\n{section}{docstring[place:]}"


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
        if obj.docstring is None:
            return
        if isinstance(obj, griffe.Function):
            obj.docstring.value = with_result(obj.docstring.value, str(obj.returns or ""))
        obj.docstring.value = markdown(obj.docstring.value)
