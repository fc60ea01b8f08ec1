"""``simpletorch follow``: a program run on shapes, and what is found or known of it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from simpletorch._settings import SettingError, settings
from simpletorch.cli._explain import linked
from simpletorch.cli._followed import diagnostics
from simpletorch.cli._notebook import why_no_notebook
from simpletorch.cli._output import OUTPUTS, Outcome, could_not, written
from simpletorch.cli._run import Diagnostic
from simpletorch.cli._shapes.beside import beside, of_line
from simpletorch.follow import Finding
from simpletorch.follow.cache.kept import Question
from simpletorch.follow.cache.told import Told
from simpletorch.follow.sources import texts
from simpletorch.follow.sources.piped import is_piped, named, text_of
from simpletorch.follow.sources.python import why_no_python
from simpletorch.notebook.document import follow_document, is_notebook, with_cell

__all__ = ["file_of_module", "files_and_arguments", "follow"]

_OPTIONS: Final = ("--shapes", "--html", "--json", "--output", "--why", "--sizes", "--no-data", "--no-cache")


def follow(
    file: str,
    arguments: Sequence[str] = (),
    *,
    more: Sequence[str] = (),
    output: str = "text",
    **options: Any,
) -> int:
    """Follow ``file``, or what standard input or a pipe holds, and print what was found.

    Args:
        file: the file; "-" is standard input.
        arguments: those of its command line.
        more: other files, each a program of its own with the same arguments.
        output: "text", or one of `OUTPUTS`.
        options: ``shapes``, ``as_html``, ``why``, ``sizes``, ``data`` and ``cache``, as `_tell` takes them.

    Returns 0 if nothing was found, 1 if there are errors, 2 if there is no such program.
    """
    opened: dict[str, str] = {}
    if is_piped(file):
        try:
            opened[named(file)] = text_of(file)
        except (OSError, UnicodeDecodeError) as error:
            return could_not("follow", f"{named(file)} can't be read: {error}", output)
    with texts.instead(opened):
        return _tell([named(file), *more], arguments, opened, output=output, **options)


def files_and_arguments(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """More programs that the command line names, and the programs' own arguments, which begin with the first option.

    A script that is another one's argument stands behind ``--``: ``train.py -- config.py``.
    """
    count = 0
    while count < len(words) and words[count].endswith((".py", ".ipynb")) and Path(words[count]).is_file():
        count += 1
    return words[:count], words[count:]


def file_of_module(name: str) -> str:
    """The file that ``python -m name`` runs here; the first that might be, where there is none."""
    inner = Path(*name.split("."))
    files = (inner / "__main__.py", inner.with_suffix(".py"))
    return str(next((f for f in (*files, *(Path("src") / f for f in files)) if f.is_file()), files[1]))


def _tell(
    files: Sequence[str],
    arguments: Sequence[str],
    opened: Mapping[str, str],
    *,
    output: str,
    shapes: bool = False,
    as_html: bool = False,
    why: int | None = None,
    sizes: bool = False,
    data: bool = True,
    cache: bool = True,
) -> int:
    """Print what was found, with ``sizes`` also which ones must be equal that a caller gives; returns the exit code."""
    file = files[0]
    if len(files) > 1 and (shapes or as_html or why is not None):
        return could_not("follow", "--shapes, --html and --why take one file; a program's own stand behind --", output)
    if is_notebook(file) and (as_html or why is not None):
        return could_not("follow", "--html and --why take a program, no notebook", output)
    try:
        said = settings()
    except SettingError as error:
        return could_not("follow", why_not(file) or str(error), output)
    severities = dict(said.severities)
    if sizes:
        severities["tensor-size"] = "warning"
    options: dict[str, Any] = {"severities": severities, "data": data and said.data}
    start = time.perf_counter()
    uses_cache = cache and said.cache and not as_html
    questions = [
        Question(name, arguments, uses_cache=uses_cache and not is_notebook(name), opened=opened, **options)
        for name in files
    ]
    kept = [question.kept() for question in questions]
    for name, answer in zip(files, kept, strict=True):
        if answer is None and (reason := why_not(name)):
            return could_not("follow", reason, output)
    is_kept = None not in kept
    if not is_kept:
        start = time.perf_counter()
    if note := _misplaced(file, arguments):
        print(f"simpletorch follow: {note}", file=sys.stderr)
    if as_html:
        return _print_page(file, arguments, opened, options)
    found = Told.together(
        [
            answer or _followed(name, arguments, question, options)
            for name, answer, question in zip(files, kept, questions, strict=True)
        ]
    )
    seconds = time.perf_counter() - start
    took = _took(seconds, is_kept=is_kept)
    if output in OUTPUTS:
        print(written(_outcome(found, seconds, took, len(files)), output))
    elif why is not None:
        print("\n".join(_reasons(file, why, found)))
    else:
        if shapes:
            print("\n".join(beside(file, found)))
        for line in _lines(found, took, len(files)):
            print(linked(line))
    return 1 if found.errors else 0


def _followed(file: str, arguments: Sequence[str], question: Question, options: Mapping[str, Any]) -> Told:
    return Told.of(follow_document(file, arguments, **options)) if is_notebook(file) else question.followed()


def _print_page(file: str, arguments: Sequence[str], opened: Mapping[str, str], options: Mapping[str, Any]) -> int:
    from simpletorch.cli._shapes.page import page  # it needs what the interpreter has seen
    from simpletorch.follow.followed import follow as follow_program

    found = follow_program(file, arguments, watched=True, opened=opened, **options)
    print(page(file, found))
    return 1 if found.errors else 0


def _misplaced(file: str, arguments: Sequence[str]) -> str:
    """A sentence where an option of ours stands behind the file, which doesn't take it; "" where none does."""
    ours = [a.partition("=")[0] for a in arguments if a.partition("=")[0] in _OPTIONS]
    text = texts.read(Path(file)) if ours else ""
    lost = next((option for option in ours if option not in text), None)
    return f"{lost} stands behind {file}, so it is that program's argument; ours stand before it" if lost else ""


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


def _lines(found: Told, took: str, files: int) -> Iterator[str]:
    for finding in (*found.errors, *found.warnings, *found.remarks):
        yield from finding.lines()
    yield from map(str, found.notes)
    if found.errors or found.warnings:
        for path, contents in found.data:
            yield f"{path}: note: was read as {contents}"
    yield from map(_fault, found.faults)
    yield _summary(found, took, files)


_MOST_NAMED: Final = 3  # of what wasn't followed


def _took(seconds: float, *, is_kept: bool) -> str:
    return f"{'from the cache' if is_kept else 'followed'} in {seconds * 1e3:.0f} ms"


def _summary(found: Told, took: str, files: int) -> str:
    count = len(found.errors)
    if not found.complete and not found.faults:
        took += ", up to the limit of steps; the rest isn't known"
    where = f" in {files} files" if files > 1 else ""
    said = (
        f"Found {count} error{'' if count == 1 else 's'}{where}" if count else f"No error found{where}{_proved(found)}"
    )
    ended = f"followed to {found.ended}\n" if found.ended else ""
    return f"{ended}{said} ({took})"


def _proved(found: Told) -> str:
    """The evidence behind a run without findings: how much is known, and which code wasn't followed."""
    known, lines = found.coverage
    parts = [f"{known} of {lines} tensor lines known"] if lines else []
    if found.not_followed:
        named = [f"{name} (line {line})" for _, line, name in found.not_followed[:_MOST_NAMED]]
        more = len(found.not_followed) - _MOST_NAMED
        parts.append(f"not followed: {', '.join(named)}{f' and {more} more' if more > 0 else ''}")
    return f": {'; '.join(parts)}" if parts else ""


def _fault(fault: str) -> str:
    place, _, what = fault.partition(": ")
    return f"{place}: note: simpletorch couldn't follow this line, by a mistake of its own; please report it: {what}"


def _outcome(found: Told, seconds: float, took: str, files: int) -> Outcome:
    findings = (*found.errors, *found.warnings, *found.remarks)
    notes = tuple(Diagnostic(n.path, n.line, None, None, None, "note", n.message, None) for n in found.notes)
    return Outcome(
        "follow",
        1 if found.errors else 0,
        (*notes, *(d for finding in findings for d in diagnostics(finding))),
        summary=_summary(found, took, files),
        document=_document(found, seconds),
    )


def _document(found: Told, seconds: float) -> dict[str, Any]:
    return {
        "diagnostics": [diagnostic(error) for error in (*found.errors, *found.warnings, *found.remarks)],
        "notes": [{"file": n.path, "line": n.line, "message": n.message} for n in found.notes],
        "complete": found.complete and not found.ended and not found.faults,
        "ended": found.ended or None,
        "faults": list(found.faults),
        "coverage": {"known": found.coverage[0], "lines": found.coverage[1]},
        "not_followed": [{"file": path, "line": line, "name": name} for path, line, name in found.not_followed],
        "data": [{"file": path, "contents": contents} for path, contents in found.data],
        "seconds": round(seconds, 3),
    }


def diagnostic(error: Finding) -> dict[str, Any]:
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


def _reasons(file: str, line: int, found: Told) -> Iterator[str]:
    """Why something on a line isn't known."""
    known = of_line(found, file, line)
    if known:
        yield f"{file}:{line}: {known}"
    reasons = found.reasons.get((file, line), ())
    for reason in reasons:
        yield f"{file}:{line}: not known: {reason}"
    if not reasons and not known:
        yield f"{file}:{line}: nothing was computed on this line, or the program does not get there"
