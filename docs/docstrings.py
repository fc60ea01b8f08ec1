"""The docstrings of the reference: they are written in reST's manner, and the site reads Markdown.

griffe, which mkdocstrings collects names with, calls this (https://mkdocstrings.github.io/griffe/extensions/).
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_ALONE = re.compile(r"^[ \t]*::[ \t]*\n", re.MULTILINE)  # a code block with nothing before it
_AFTER = re.compile(r"(?<=\S)::[ \t]*$", re.MULTILINE)


def markdown(docstring: str) -> str:
    """A docstring whose code blocks are announced as Markdown does it: by their indent alone."""
    return _AFTER.sub(":", _ALONE.sub("", docstring))


class Docstrings(griffe.Extension):
    """Rewrites each docstring as it is collected."""

    def on_instance(self, *, obj: griffe.Object, **_kwargs: Any) -> None:
        """An object has its docstring."""
        if obj.docstring is not None:
            obj.docstring.value = markdown(obj.docstring.value)
