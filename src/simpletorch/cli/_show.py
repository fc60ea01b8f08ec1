"""A report of mypy for people: one block per finding, with the line it is about."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from simpletorch._distribution import page_of
from simpletorch.cli._config import Config
from simpletorch.cli._notebook import sources
from simpletorch.cli._run import Diagnostic, Report
from simpletorch.follow.sources import texts
from simpletorch.follow.sources.notebooks import file_of

_COLOURS = {"error": "bold red", "warning": "bold yellow", "note": "cyan"}


def show(report: Report, config: Config) -> None:
    """Print ``report`` to the terminal."""
    console = Console(highlight=False, soft_wrap=True)
    for line in report.other:
        console.print(Text(line, "yellow"))
    for number, diagnostic in enumerate(report.diagnostics):
        if number and diagnostic.severity != "note":
            console.print()
        console.print(block(diagnostic, console.width), end="")
    if report.diagnostics:
        console.print()
    for path, reason in report.left_out:
        console.print(Text(f"{path} is left out: {reason}", "yellow"))
    if remark := config.remark:
        console.print(Text(remark, "dim"))
    if report.summary:
        good = report.exit_code == 0
        console.print(Text("✔ " if good else "✘ ", "bold green" if good else "bold red") + Text(report.summary))
    if report.hint:
        console.print(Text(report.hint, "dim"))


def show_one(said: Sequence[Diagnostic]) -> None:
    """Print one finding with its notes."""
    console = Console(highlight=False, soft_wrap=True)
    for diagnostic in said:
        console.print(block(diagnostic, console.width), end="")
    console.print()


def block(diagnostic: Diagnostic, width: int, folder: Path | None = None) -> Text:
    """One finding: where, what, and for what isn't a note the source line with the place marked.

    Args:
        folder: what the file's name is relative to; the current one by default.
    """
    where = f"{diagnostic.file}:{diagnostic.line}"
    if diagnostic.column is not None:
        where += f":{diagnostic.column}"
    out = Text()
    if diagnostic.severity != "note":
        page = page_of(diagnostic.code or "")
        link = f" link {page.as_uri()}" if page else ""
        out.append(diagnostic.code or "error", _COLOURS[diagnostic.severity] + link)
        out.append(" ")
        out.append(where + "\n", "underline")
    for line in textwrap.wrap(diagnostic.message, max(width - 4, 40)) or [""]:
        out.append(f"  {line}\n", "" if diagnostic.severity != "note" else _COLOURS["note"])
    if diagnostic.severity != "note":
        out.append_text(_excerpt(diagnostic, (folder or Path()) / diagnostic.file))
    return out


def _excerpt(diagnostic: Diagnostic, file: Path) -> Text:
    """The source line of a finding, and marks under the part that mypy points at."""
    try:
        written = dict(sources(file_of(str(file))))[str(file)]
        raw = texts.lines(written)[diagnostic.line - 1]
    except (OSError, ValueError, KeyError, IndexError):  # changed or gone since it was read
        return Text()
    gutter = f"  {diagnostic.line} │ "
    out = Text(gutter, "dim").append(raw.expandtabs(4) + "\n", "not dim")
    if diagnostic.column is not None:
        start = len(raw[: diagnostic.column - 1].expandtabs(4))
        one_line = diagnostic.end_line == diagnostic.line and diagnostic.end_column is not None
        end = len(raw[: diagnostic.end_column].expandtabs(4)) if one_line else len(raw.expandtabs(4))
        out.append(" " * (len(gutter) - 2) + "│ ", "dim")
        out.append(" " * start + "^" * max(end - start, 1) + "\n", _COLOURS[diagnostic.severity])
    return out
