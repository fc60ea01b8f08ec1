"""The findings of followed programs in ``simpletorch check``: they come first, and each mistake is reported once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from simpletorch._programs import followed_as
from simpletorch.cli._checking.files import Listed
from simpletorch.cli._following.many import answers
from simpletorch.cli._following.programs import Asked, Program, slim
from simpletorch.cli._following.progress import Progress
from simpletorch.cli._narrowing.narrowing import Narrowing
from simpletorch.cli._run import Diagnostic, Report, count
from simpletorch.follow import Finding
from simpletorch.follow.cache.told import Told
from simpletorch.follow.sources.ignored import is_ignored_by_others
from simpletorch.follow.sources.notebooks import file_of
from simpletorch.rules.core.codes import Severity

__all__ = ["diagnostics", "find", "is_for_mypy", "merged", "note"]

_STEPS: Final = 50_000  # of one file; the same as in the plugin
_SECONDS: Final = 2.0
_HANDED: Final = re.compile(r"^Incompatible (return value type|types in assignment) ")
"""How mypy says that a tensor isn't what an annotation promises: torch raises behind that, not there."""
_OF_PYTHON: Final = {"call-arg": "tensor-class", "attr-defined": "tensor-class"}
"""mypy's codes of what following finds, too, with the code that it has there."""
_NEW: Final = re.compile(r"Found .* in \d+ files?")
_CHECKED: Final = re.compile(r"(?:checked|found in) (\d+ source files?)")


def find(
    files: Listed,
    severities: Mapping[str, Severity] | None = None,
    data: bool | Sequence[Path] = True,
    *,
    uses_cache: bool = True,
    jobs: int | None = None,
    quiet: bool = False,
) -> Iterator[Told]:
    """Follow each file for errors and warnings; a mistake in a module that several import is found once.

    A file that is named is followed as a program; of a folder's those that are one, and what libraries annotate.
    """
    seen: set[tuple[str, int, str]] = set()

    def is_new(found: Finding) -> bool:
        place = str(Path(found.path).resolve()), found.line, found.code
        is_first = place not in seen
        seen.add(place)
        return is_first

    options: dict[str, Any] = {"steps": _STEPS, "seconds": _SECONDS, "severities": severities, "data": data}
    asked = Asked(uses_cache=uses_cache, keeps_cut=True, options=options)
    programs = [Program(file, file in files.named) for file in files.followed]
    first = f"following {programs[0].file}" if programs else ""
    with (
        Progress(len(programs), name=first, quiet=quiet) as progress,
        closing(answers(programs, asked, jobs, keeps_passed=True)) as coming,
    ):
        for done, (program, answer) in enumerate(zip(programs, coming, strict=True), 1):
            progress.at(done, f"following {program.file}")
            told = answer.told
            if told is not None:
                progress.clear()
                errors, warnings = (tuple(filter(is_new, found)) for found in (told.errors, told.warnings))
                yield replace(slim(told, keeps_passed=True), errors=errors, warnings=warnings)


def diagnostics(error: Finding) -> tuple[Diagnostic, ...]:
    """A finding in the form of mypy's: the error or warning, then a note for the hint and for each call."""
    end = (error.end_line, error.end_column) if error.end_line is not None else (error.line, error.column)
    first = Diagnostic(error.path, error.line, error.column, *end, error.severity, error.message, error.code)
    hints = [f"hint: {error.hint}"] if error.hint else []
    notes = [note(error.path, error.line, hint) for hint in hints]
    return first, *notes, *(note(call.path, call.line, str(call)) for call in error.trace)


def note(path: str, line: int, message: str) -> Diagnostic:
    """A note in the form of mypy's."""
    return Diagnostic(path, line, None, None, None, "note", message, None)


def is_for_mypy(found: Finding) -> bool:
    """Whether mypy is to say it, whose plugin follows the same file: a comment in its line is for a code of mypy's."""
    return found.severity == "error" and is_ignored_by_others(found) and followed_as(found.path) is not None


def merged(report: Report, found: Sequence[Finding], narrowing: Narrowing | None = None) -> Report:
    """mypy's report without the errors that are found already, and with the warnings that it doesn't make errors of.

    Its last line and the exit code count both.

    Args:
        report: mypy's.
        found: all findings.
        narrowing: which of mypy's errors are shown; of ``found`` it says so in `Narrowing.showed`.
    """
    errors = [f for f in found if f.severity == "error"]
    rest = tuple(_others(report.diagnostics, errors))
    said = [d for d in rest if d.severity == "error"]
    warnings = [f for f in found if f.severity == "warning" and not any(_is_same(d, f) for d in said)]
    if narrowing:
        errors, warnings = ([f for f in part if narrowing.showed(f)] for part in (errors, warnings))
        rest = tuple(narrowing.of(rest))
        said = [d for d in rest if d.severity == "error"]
        if report.exit_code == 1:
            report = replace(report, exit_code=0, summary=_NEW.sub("Success: no new issues found", report.summary))
    report = replace(report, diagnostics=rest + tuple(d for f in warnings for d in diagnostics(f)))
    places = [d.file for d in said] + [f.path for f in errors]
    if not (places or warnings) or report.exit_code > 1:
        return report
    counts = [count(len(places), "error"), count(len(warnings), "warning")]
    files = len({Path(file_of(place)).resolve() for place in [*places, *(f.path for f in warnings)]})
    summary = f"Found {' and '.join(c for c in counts if not c.startswith('0 '))} in {count(files, 'file')}"
    if checked := _CHECKED.search(report.summary):
        summary += f" (checked {checked[1]})"
    return replace(report, summary=summary, exit_code=1 if places else report.exit_code)


def _others(theirs: Iterable[Diagnostic], found: Sequence[Finding]) -> Iterator[Diagnostic]:
    """Errors that aren't among the findings, each with the notes after it."""
    known = False
    for diagnostic in theirs:
        if diagnostic.severity == "error":
            known = any(_is_same(diagnostic, error) for error in found)
        if not known:
            yield diagnostic


def _is_same(diagnostic: Diagnostic, error: Finding) -> bool:
    """Whether mypy says the same: there, at a call that leads there, or where what is wrong is made or handed over."""
    if diagnostic.code not in (error.code, *(theirs for theirs, ours in _OF_PYTHON.items() if ours == error.code)):
        return False
    path = Path(diagnostic.file).resolve()
    is_of_parts = error.message.partition(" [")[0] in diagnostic.message  # of a Sequential, where it is made
    if (is_of_parts or _HANDED.search(diagnostic.message)) and _has_passed(error, path, diagnostic.line):
        return True
    if path == Path(error.path).resolve():
        return error.line <= diagnostic.line <= (error.end_line or error.line)
    calls = ((Path(call.path).resolve(), call.line) for call in error.trace)
    return diagnostic.message == error.message and (path, diagnostic.line) in calls


def _has_passed(error: Finding, path: Path, line: int) -> bool:
    files = {name for name, _, _ in error.passed}  # a program passes many statements of few files
    return any(error.has_passed(name, line) for name in files if Path(name).resolve() == path)
