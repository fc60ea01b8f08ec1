"""The docstrings of the reference: they are written in reST's manner, and the site reads Markdown.

griffe, which mkdocstrings collects names with, calls this (https://mkdocstrings.github.io/griffe/extensions/).
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_ALONE = re.compile(r"^[ \t]*::[ \t]*\n", re.MULTILINE)  # a code block with nothing before it
_AFTER = re.compile(r"(?<=\S)::[ \t]*$", re.MULTILINE)
# ``lr, betas: as for `AdamW`.`` with the lines that go on with it
_TOGETHER = re.compile(r"^([ \t]+)(\w+(?:, \w+)+)(: .*(?:\n\1[ \t]+\S.*)*)$", re.MULTILINE)


def markdown(docstring: str) -> str:
    """A docstring with code blocks as Markdown has them, by indent alone, and a row for each parameter."""
    return _TOGETHER.sub(_apart, _AFTER.sub(":", _ALONE.sub("", docstring)))


def _apart(together: re.Match[str]) -> str:
    """Parameters that share a description, each with its own: griffe then finds their types and defaults."""
    indent, names, text = together.groups()
    return "\n".join(f"{indent}{name}{text}" for name in names.split(", "))


class Docstrings(griffe.Extension):
    """Rewrites each docstring as it is collected."""

    def on_instance(self, *, obj: griffe.Object, **_kwargs: Any) -> None:
        """An object has its docstring."""
        if obj.docstring is not None:
            obj.docstring.value = markdown(obj.docstring.value)
