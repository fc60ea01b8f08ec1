"""A frame's place in its source: the evaluated expression, its statement, its file."""

from __future__ import annotations

import ast
import contextlib
import os
from types import TracebackType
from typing import Any

from simpletorch.errors._fields import Location
from simpletorch.errors._stack import Step

__all__ = ["expression", "location", "relative"]


def expression(step: Step) -> ast.AST | None:
    """The node of the source that the frame was evaluating; None if the source can't be had."""
    import executing  # only a failure needs it

    try:
        # a traceback made by hand: given a bare frame, executing would ask where it is now, which is in its ``except``
        found = executing.Source.executing(TracebackType(None, step.frame, step.instruction, step.line))
        node: ast.AST | None = found.node
        return node
    except Exception:  # no source, or bytecode that executing can't place: the report has one line less
        return None


def location(step: Step, node: ast.AST | None) -> Location:
    """Where a step is in the source."""
    file = step.frame.f_code.co_filename
    import executing

    code, line = "", step.line
    source = None
    with contextlib.suppress(Exception):  # the source may be gone or unreadable
        source = executing.Source.for_frame(step.frame)
    if source is not None and 0 < line <= len(source.lines):
        code = _statement(source.lines, line, node)
    return Location(
        relative(file),
        line,
        code,
        getattr(step.frame.f_code, "co_qualname", step.frame.f_code.co_name),
        getattr(node, "end_lineno", None),
        getattr(node, "col_offset", None),
        getattr(node, "end_col_offset", None),
        _segment(source.lines, node) if source is not None else "",
    )


def _segment(lines: list[str], node: Any) -> str:
    """The text of a node on one line. (`ast.get_source_segment` splits the whole file for that.)"""
    line: int | None = getattr(node, "lineno", None)
    if line is None or line != node.end_lineno or line > len(lines):
        return ""
    # columns count bytes of UTF-8, not characters
    start, end = int(node.col_offset), int(node.end_col_offset)
    return lines[line - 1].encode()[start:end].decode(errors="replace")


def _statement(lines: list[str], line: int, node: ast.AST | None) -> str:
    """The statement's text on one line, cut where it is long."""
    first = last = line
    statement: Any = node
    while statement is not None and not isinstance(statement, ast.stmt):
        statement = getattr(statement, "parent", None)  # set by executing
    # of a compound statement, such as a ``with``, the line alone: all of its body would follow
    if statement is not None and not hasattr(statement, "body"):
        first, last = statement.lineno, statement.end_lineno or statement.lineno
    text = " ".join(part.strip() for part in lines[first - 1 : last])
    text = text.partition("  #")[0].rstrip()
    return text if len(text) <= 100 else text[:99] + "…"


def relative(file: str) -> str:
    """A file's path from the working directory, if it lies below it."""
    try:
        relative = os.path.relpath(file)
    except (ValueError, OSError):  # another drive, or no working directory
        return file
    return file if relative.startswith("..") else relative
