"""One program of a command line, and the answer on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple, final

from simpletorch._programs import Kind, followed_as
from simpletorch.cli._notebook import why_no_notebook
from simpletorch.follow.cache.kept import Question
from simpletorch.follow.cache.told import Told
from simpletorch.follow.sources import texts
from simpletorch.follow.sources.notebooks import follow_document, is_notebook
from simpletorch.follow.sources.python import why_no_python

__all__ = ["Answer", "Asked", "Program", "answer", "slim", "why_not"]


class Program(NamedTuple):
    """A file to follow. One that was found in a folder is followed only if it is a program, or annotates tensors."""

    file: str
    is_named: bool = True


@final
@dataclass(frozen=True, slots=True)
class Asked:
    """Arguments and options that all programs of a command line share.

    Args:
        arguments: those of each program's command line.
        uses_cache: whether answers are kept on the disk.
        keeps_cut: whether that of a follow that ran out of time is, too.
        options: ``severities``, ``data`` and limits, as `follow` takes them.
        opened: texts that count instead of the disk's.
    """

    arguments: Sequence[str] = ()
    uses_cache: bool = True
    keeps_cut: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    opened: Mapping[str, str] = field(default_factory=dict)


class Answer(NamedTuple):
    """The result of following a program, or the reason why there is none."""

    told: Told | None = None
    """None if the file isn't followed."""
    problem: str = ""
    """Why it can't be followed."""
    is_kept: bool = False
    """The answer comes from the cache."""


_NOTHING: Final = Answer()


def answer(program: Program, asked: Asked) -> Answer:
    """Follow a program, or give the answer that is kept."""
    file = program.file
    if is_notebook(file):
        if reason := why_no_notebook(file):
            return Answer(problem=reason)
        return Answer(Told.of(follow_document(file, asked.arguments, **asked.options)))
    kind: Kind | None = "program" if program.is_named else followed_as(file)
    if kind is None:
        return _NOTHING
    question = Question(
        file,
        asked.arguments,
        kind=kind,
        uses_cache=asked.uses_cache,
        keeps_cut=asked.keeps_cut,
        opened=asked.opened,
        **asked.options,
    )
    if kept := question.kept():
        return Answer(kept, is_kept=True)
    if reason := why_not(file):
        return Answer(problem=reason)
    return Answer(question.followed())


def why_not(file: str) -> str:
    """Why a file can't be followed, as a sentence; "" when it can."""
    path = Path(file)
    if is_notebook(file):
        return why_no_notebook(file)
    if not texts.is_file(path) and not path.exists():
        return f"no such file: {file}"
    if path.is_dir():
        return f"{file} is a folder; name the file that would be run"
    try:
        why = why_no_python(file)
    except OSError as error:
        return f"{file} can't be read: {error.strerror}"
    if why is None:
        return ""
    return f"{file}:{why.line}: {why.reason}" if why.line else f"{file} is no Python: {why.reason}"


def slim(told: Told, *, keeps_passed: bool = False) -> Told:
    """An answer without shapes and reasons; ten thousand fit into memory.

    Args:
        keeps_passed: with the statements before each finding, which only mypy's errors are compared with.
    """
    found: dict[str, Any] = {"reasons": {}, "shown": {}, "ignored": ()}
    if not keeps_passed:
        for name in ("errors", "warnings", "remarks"):
            found[name] = tuple(replace(finding, passed=frozenset()) for finding in getattr(told, name))
    return replace(told, **found)
