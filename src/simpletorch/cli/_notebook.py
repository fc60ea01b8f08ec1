"""Notebooks on the command line: they are followed, cell after cell; mypy isn't asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from simpletorch.cli._run import Report
from simpletorch.follow.sources import texts
from simpletorch.follow.sources.notebooks import is_notebook, read

__all__ = ["left_out", "only_followed", "sources", "split", "why_no_notebook"]


def why_no_notebook(file: str) -> str:
    """Why a notebook can't be followed, as a sentence; "" when it can."""
    try:
        read(file)
    except FileNotFoundError:
        return f"no such file: {file}"
    except (OSError, ValueError) as error:
        return str(error)
    return ""


def sources(file: str) -> Iterator[tuple[str, str]]:
    """The text of a program, of a notebook that of each cell, with the names that reports have for them."""
    if is_notebook(file):
        document = read(file)
        yield from ((document.name(number), text) for number, text in enumerate(document.written, 1))
    else:
        yield file, texts.read(Path(file))


def left_out(files: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The cells of notebooks that are no Python, with the reason."""
    for file in filter(is_notebook, files):
        document = read(file)
        yield from ((f"{document.name(number)}:{line}", reason) for number, line, reason in document.left_out)


def split(paths: Sequence[str]) -> tuple[list[str], list[str]]:
    """The files that mypy checks, and the notebooks."""
    return [p for p in paths if not is_notebook(p)], [p for p in paths if is_notebook(p)]


def only_followed(notebooks: Sequence[str]) -> Report:
    """The report of mypy, which has had nothing to check."""
    count = f"{len(notebooks)} notebook{'' if len(notebooks) == 1 else 's'}"
    return Report(0, (), (), f"Success: no issues found (checked {count})", 0.0)
