"""The report of ``simpletorch follow``: lines, a summary, and a document."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, final

from simpletorch.cli._followed import diagnostics
from simpletorch.cli._following.coverage import Coverage
from simpletorch.cli._narrowing.narrowing import Narrowing
from simpletorch.cli._output import Outcome, is_for_people
from simpletorch.cli._run import Diagnostic
from simpletorch.follow import Finding
from simpletorch.follow.cache.told import Told
from simpletorch.follow.sources.notebooks import file_of, with_cell

__all__ = ["Listing", "Result", "outcome", "print_findings", "remarks"]

_MOST_NAMED: Final = 3  # of what wasn't followed


@final
@dataclass(frozen=True, slots=True)
class Result:
    """The answers on all programs of a command line.

    Args:
        told: all of them as one.
        files: how many programs were followed.
        left_out: files of folders that can't be followed, with the reason.
        narrowing: what isn't shown.
        seconds: how long it took.
        is_kept: all answers come from the cache.
    """

    told: Told
    files: int
    left_out: Sequence[tuple[str, str]]
    narrowing: Narrowing
    seconds: float
    is_kept: bool

    @property
    def exit_code(self) -> int:
        """1 if there are errors."""
        return 1 if self.told.errors else 0


@final
class Listing:
    """Decides which findings of one program after the other are shown: each once, and none that is left out."""

    def __init__(self, narrowing: Narrowing) -> None:
        self._narrowing = narrowing
        self._met: set[tuple[str, int, str, str]] = set()
        self.files: set[str] = set()
        """All files that the programs have read."""

    def shown(self, told: Told) -> Told:
        """The answer without findings that were shown before, or aren't to be."""
        self.files.update(told.files)
        lists = {name: tuple(filter(self._is_shown, getattr(told, name))) for name in ("errors", "warnings", "remarks")}
        return replace(told, **lists)  # type: ignore[arg-type]

    def _is_shown(self, finding: Finding) -> bool:
        key = finding.path, finding.line, finding.code, finding.message
        if key in self._met:
            return False
        self._met.add(key)
        return self._narrowing.shows(finding)


def print_findings(told: Told) -> None:
    """Print what was found, to people with the lines of the source."""
    found = (*told.errors, *told.warnings, *told.remarks)
    if found and is_for_people(sys.stdout):
        from simpletorch.cli._show import show_one  # rich takes 0.1 s to import

        for finding in found:
            show_one(diagnostics(finding))
    else:
        for finding in found:
            print("\n".join(finding.lines()))
    for note in told.notes:
        print(note)


def remarks(result: Result) -> Iterator[str]:
    """The lines after the findings: what was read, what couldn't be followed, and the summary."""
    told = result.told
    if told.errors or told.warnings:
        for path, contents in told.data:
            yield f"{path}: note: was read as {contents}"
    yield from (f"{path}: note: left out: {reason}" for path, reason in result.left_out)
    yield from map(_fault, told.faults)
    yield _summary(result)


def _summary(result: Result) -> str:
    told, files = result.told, result.files
    count = len(told.errors)
    took = f"{'from the cache' if result.is_kept else 'followed'} in {_duration(result.seconds)}"
    if not told.complete and not told.faults:
        took += ", up to a limit; the rest isn't known"
    where = f" in {files} files" if files != 1 else ""
    new = "new " if result.narrowing and not result.narrowing.writes else ""
    said = (
        f"Found {count} {new}error{'' if count == 1 else 's'}{where}"
        if count
        else f"No {new}error found{where}{_proved(told)}"
    )
    narrowed = f"; {result.narrowing.said}" if result.narrowing.said else ""
    ended = f"followed to {told.ended}\n" if told.ended else ""
    return f"{ended}{said}{narrowed} ({took})"


def _duration(seconds: float) -> str:
    return f"{seconds * 1e3:.0f} ms" if seconds < 10 else f"{seconds:.0f} s"


def _proved(found: Told) -> str:
    """The evidence behind a run without findings: how much is known, and which code wasn't followed."""
    known, lines = found.coverage
    parts = [f"{known} of {lines} tensor lines known"] if lines else []
    if found.not_followed:
        named = [f"{name} ({_line(path, line)})" for path, line, name in found.not_followed[:_MOST_NAMED]]
        more = len(found.not_followed) - _MOST_NAMED
        parts.append(f"not followed: {', '.join(named)}{f' and {more} more' if more > 0 else ''}")
    return f": {'; '.join(parts)}" if parts else ""


def _line(path: str, line: int) -> str:
    """The line, in a notebook behind its cell."""
    cell = path[len(file_of(path)) + 1 :]
    return f"{cell}, line {line}" if cell else f"line {line}"


def _fault(fault: str) -> str:
    place, _, what = fault.partition(": ")
    return f"{place}: note: simpletorch couldn't follow this line, by a mistake of its own; please report it: {what}"


def outcome(result: Result) -> Outcome:
    """The result for tools."""
    told = result.told
    left_out = [Diagnostic(path, 1, *_NOWHERE, "note", f"left out: {why}", None) for path, why in result.left_out]
    notes = [Diagnostic(n.path, n.line, *_NOWHERE, "note", n.message, None) for n in told.notes]
    found = (d for finding in _findings(told) for d in diagnostics(finding))
    return Outcome(
        "follow",
        result.exit_code,
        (*left_out, *notes, *found),
        summary=_summary(result),
        document=_document(result),
    )


_NOWHERE: Final = (None, None, None)


def _findings(told: Told) -> Iterable[Finding]:
    return (*told.errors, *told.warnings, *told.remarks)


def _document(result: Result) -> dict[str, Any]:
    found = result.told
    return {
        "diagnostics": [_diagnostic(error) for error in _findings(found)],
        "notes": [{"file": n.path, "line": n.line, "message": n.message} for n in found.notes],
        "complete": found.complete and not found.ended and not found.faults,
        "ended": found.ended or None,
        "faults": list(found.faults),
        "coverage": Coverage.of(found).document,
        "not_followed": [{"file": path, "line": line, "name": name} for path, line, name in found.not_followed],
        "data": [{"file": path, "contents": contents} for path, contents in found.data],
        "left_out": [{"file": path, "reason": reason} for path, reason in result.left_out],
        "files": result.files,
        "not_shown": result.narrowing.document,
        "seconds": round(result.seconds, 3),
    }


def _diagnostic(error: Finding) -> dict[str, Any]:
    """A finding as ``simpletorch check --json`` has its diagnostics, with the hint and the way there."""
    found = {
        "file": error.path,
        "line": error.line,
        "column": error.column,
        "end_line": error.end_line,
        "end_column": error.end_column,
        "severity": error.severity,
        "message": error.message,
        "code": error.code,
        "hint": error.hint,
        "trace": [
            with_cell({"file": c.path, "line": c.line, "function": c.function, "tensors": dict(c.tensors)})
            for c in error.trace
        ],
    }
    return with_cell(found)
