"""The texts of errors, written from their fields: plain, in a terminal's colours, and for notebooks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from importlib import import_module
from typing import Any, Final

from simpletorch._drawing import RED
from simpletorch.errors._fields import Fields, Operand

__all__ = ["headline", "markup", "page", "render"]


def headline(error: Fields) -> str:
    """The first line: operation and sentence."""
    return f"{error.operation}: {error.reason}" if error.operation else error.reason


def render(error: Fields) -> str:
    """The whole text of an error: sentence, operands, details, place, hint.

    Args:
        error: a `TorchError`.

    Returns:
        Several lines of text.

    Examples:
        >>> from simpletorch import errors
        >>> print(errors.render(errors.DataError("the file is empty", hint="write something into it")))
        the file is empty
          hint: write something into it
    """
    lines = [headline(error), *_operand_lines(error.operands)]
    lines += [f"  {detail}" for detail in error.details]
    place = _place(error)
    if place:
        lines.append(f"  {place}")
    if error.hint:
        lines.append(f"  hint: {error.hint}")
    return "\n".join(lines)


def _operand_lines(operands: Sequence[Operand]) -> Iterator[str]:
    names = max((len(_called(o)) for o in operands), default=0)
    types = max((len(o.type_text) for o in operands if o.shape is not None), default=0)
    for o in operands:
        line = f"  {_called(o):{names}}  {o.type_text:{types}}"
        if o.device:
            line += f"  ({o.device})"
        if o.should_be:
            line += f"  should be {o.should_be}"
        yield line.rstrip()


def _called(operand: Operand) -> str:
    """``input = x``: its name in the sentence, and in the program."""
    return operand.name if operand.role is None else f"{operand.role} = {operand.name}"


def _place(error: Fields) -> str:
    parts = [f"in {error.module_path}"] if error.module_path else []
    if error.location is not None:
        code = f": {error.location.code}" if error.location.code else ""
        parts.append(f"at {error.location.file}:{error.location.line}{code}")
    return ", ".join(parts)


def markup(error: Fields) -> Any:
    """A ``rich.text.Text`` for a terminal: the failing expression underlined, what should be and the hint in green."""
    Text = import_module("rich.text").Text  # imported like this, mypy needn't read rich in every user's program
    out = Text()
    out.append(error.kind, "bold red")
    out.append(f": {error.operation}: " if error.operation else ": ", "bold")
    out.append(error.reason)
    for operand, line in zip(error.operands, _operand_lines(error.operands), strict=True):
        text = Text("\n" + line)
        text.highlight_words([_called(operand)], "cyan")
        text.highlight_words([f"should be {operand.should_be}"], "green")
        out.append_text(text)
    for detail in error.details:
        out.append(f"\n  {detail}", "dim")
    if error.module_path:
        out.append("\n  in ")
        out.append(error.module_path, "bold")
    if error.location is not None:
        out.append(f"\n  at {error.location.file}:{error.location.line}", "blue")
        if error.location.code:
            code = Text(f"\n    {error.location.code}")
            if error.location.expression:
                code.highlight_words([error.location.expression], "underline")
            out.append_text(code)
    if error.hint:
        out.append("\n  hint: ", "bold green")
        out.append(error.hint, "green")
    return out


_TABLE: Final = "border-collapse:collapse;margin:.3em 0"
_CODE: Final = "background:none;color:inherit"  # notebooks give it a light ground
_CELL: Final = "padding:.1em .8em .1em 0;text-align:left;font-family:monospace"


def page(error: Fields) -> str:
    """The text for a notebook, as HTML; everything that comes from the program is escaped."""
    parts = [f"<div><b style='color:{RED}'>{escape(error.kind)}</b> {escape(headline(error))}"]
    if error.operands:
        rows = "".join(f"<tr>{''.join(_cells(o))}</tr>" for o in error.operands)
        parts.append(f"<table style='{_TABLE}'>{rows}</table>")
    if error.details:
        items = "".join(f"<li><code style='{_CODE}'>{escape(detail)}</code></li>" for detail in error.details)
        parts.append(f"<ul>{items}</ul>")
    if error.module_path:
        parts.append(f"<div>in <code style='{_CODE}'>{escape(error.module_path)}</code></div>")
    if error.location is not None:
        where = f"{error.location.file}:{error.location.line}"
        parts.append(f"<div>at <code style='{_CODE}'>{escape(where)}</code>{_code(error)}</div>")
    if error.hint:
        parts.append(f"<div style='opacity:0.8'>hint: {escape(error.hint)}</div>")
    return "".join((*parts, "</div>"))


def _cells(operand: Operand) -> Iterator[str]:
    shown = [_called(operand), operand.type_text, operand.device or ""]
    shown.append(f"should be {operand.should_be}" if operand.should_be else "")
    for text in shown:
        yield f"<td style='{_CELL}'>{escape(text)}</td>"


def _code(error: Fields) -> str:
    location = error.location
    if location is None or not location.code:
        return ""
    code, failing = escape(location.code), escape(location.expression)
    if failing:
        # both are escaped, so what is found is the expression and no tag
        code = code.replace(failing, f"<u>{failing}</u>", 1)
    return f": <code style='{_CODE}'>{code}</code>"
