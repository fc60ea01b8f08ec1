"""The output of a command in the formats that tools read: JSON, GitHub's annotations, SARIF, Markdown, a badge."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, final
from urllib.parse import quote

from simpletorch._distribution import version
from simpletorch.cli._run import Diagnostic
from simpletorch.follow.sources.notebooks import file_of
from simpletorch.rules.core.codes import CODES

__all__ = [
    *("OUTPUTS", "Outcome", "Output", "OutputError", "could_not", "did_you_mean", "grouped", "is_for_people"),
    *("said_by", "written"),
]


@final
@dataclass(frozen=True, slots=True)
class Outcome:
    """The findings of a command, or the reason why it could not look."""

    command: str
    exit_code: int
    diagnostics: Sequence[Diagnostic] = ()
    """Errors, warnings and notes; a note belongs to what stands before it."""
    problem: str | None = None
    """Why the command could not do its work: a sentence."""
    summary: str = ""
    document: Mapping[str, Any] = field(default_factory=dict)
    """What the command's JSON has, beside the exit code and the problem."""


def written(outcome: Outcome, output: str) -> str:
    """An outcome in one of the `OUTPUTS`."""
    return OUTPUTS[output](outcome)


class OutputError(Exception):
    """A file of ``--output`` can't be written; the text says which and why."""


class Output(NamedTuple):
    """The formats that a command line asks for."""

    shown: str = "text"
    """On standard output: "text", or one of the `OUTPUTS`."""
    files: tuple[tuple[str, str], ...] = ()
    """Further formats, each with its file."""

    def tell(self, outcome: Outcome) -> bool:
        """Write the files, and print the outcome unless it is to be text. Returns whether it was printed.

        Raises:
            OutputError: a file can't be written.
        """
        for output, file in self.files:
            text = written(outcome, output) + "\n"
            try:
                with open(file, "w", encoding="utf-8") as stream:
                    stream.write(text)
            except OSError as error:
                raise OutputError(f"{file} can't be written: {error.strerror}") from None
        if self.shown in OUTPUTS:
            print(written(outcome, self.shown))
        return self.shown in OUTPUTS


def is_for_people(stream: IO[str]) -> bool:
    """Whether people read what is written: a terminal, or a stream that FORCE_COLOR says to treat as one."""
    return stream.isatty() or bool(os.environ.get("FORCE_COLOR"))


def said_by(words: Sequence[str] | None) -> Output:
    """The formats that ``--output FORMAT`` and ``--output FORMAT=FILE`` ask for; the last one without a file counts."""
    pairs = [word.partition("=") for word in words or ()]
    shown = [name for name, _, file in pairs if not file]
    return Output(shown[-1] if shown else "text", tuple((name, file) for name, _, file in pairs if file))


def could_not(command: str, problem: str, output: Output | str = "text") -> int:
    """Say why a command can't do its work, to people or in the output that was asked for; returns its exit code, 2."""
    wanted = Output(output) if isinstance(output, str) else output
    try:
        is_said = wanted.tell(Outcome(command, 2, problem=problem))
    except OutputError as error:
        is_said = False
        problem += f"; {error}"
    if not is_said:
        print(f"simpletorch {command}: {problem}", file=sys.stderr)
    return 2


def did_you_mean(word: str, known: Iterable[str], prefix: str = "") -> str:
    """A question after an unknown command, option or code; "" if none is like it. ``prefix`` goes before the word."""
    from difflib import get_close_matches  # seldom needed

    close = get_close_matches(word, known, 1, cutoff=0.8)
    return f"did you mean {prefix}{close[0]}?" if close else ""


def grouped(diagnostics: Sequence[Diagnostic]) -> Iterator[tuple[Diagnostic, list[Diagnostic]]]:
    """Each finding with the notes on it; a note that stands alone (``reveal_type``) is a finding."""
    group: list[Diagnostic] = []
    for diagnostic in diagnostics:
        alone = diagnostic.severity != "note" or not group or group[0].severity == "note"
        if alone and group:
            yield group[0], group[1:]
            group = []
        group.append(diagnostic)
    if group:
        yield group[0], group[1:]


# -- JSON ------------------------------------------------------------------------------------------------------------


def _json(outcome: Outcome) -> str:
    document = {"exit_code": outcome.exit_code, "error": outcome.problem, "diagnostics": [], **outcome.document}
    return json.dumps(document, indent=2)


# -- GitHub's annotations: https://docs.github.com/actions/reference/workflow-commands-for-github-actions ------------

_LEVELS: Final = {"error": "error", "warning": "warning", "note": "notice"}


def _github(outcome: Outcome) -> str:
    lines = [_annotation(first, notes) for first, notes in grouped(outcome.diagnostics)]
    if outcome.problem:
        lines.append(f"::error title={_property(f'simpletorch {outcome.command}')}::{_data(outcome.problem)}")
    if outcome.summary:
        lines.append(_data(outcome.summary))  # what is no command is shown as it is
    return "\n".join(lines)


def _annotation(first: Diagnostic, notes: Sequence[Diagnostic]) -> str:
    properties: dict[str, object] = {"file": _in_workspace(first.file), "line": first.line}
    if first.end_line is not None:
        properties["endLine"] = first.end_line
    if first.column is not None:
        properties["col"] = first.column
        if first.end_line == first.line and first.end_column is not None:  # GitHub takes it within one line only
            properties["endColumn"] = first.end_column
    if first.code:
        properties["title"] = first.code
    text = "\n".join((first.message, *(_told(note, first) for note in notes)))
    said = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    return f"::{_LEVELS[first.severity]} {said}::{_data(text)}"


def _told(note: Diagnostic, first: Diagnostic) -> str:
    here = (note.file, note.line) == (first.file, first.line)
    return note.message if here else f"{note.file}:{note.line}: {note.message}"


def _in_workspace(file: str) -> str:
    """The file as GitHub looks for it: from the folder that the repository is in."""
    root = os.path.realpath(os.environ.get("GITHUB_WORKSPACE") or ".")
    path = Path(os.path.realpath(file))  # Path.resolve refuses a loop of links
    is_inside = bool(os.environ.get("GITHUB_WORKSPACE")) and path.is_relative_to(root)
    return path.relative_to(root).as_posix() if is_inside else file


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


# -- SARIF 2.1.0: https://docs.oasis-open.org/sarif/sarif/v2.1.0/ ------------------------------------------------------


def _sarif(outcome: Outcome) -> str:
    groups = list(grouped(outcome.diagnostics))
    codes = sorted({first.code for first, _ in groups if first.code})
    problems = [{"level": "error", "message": {"text": outcome.problem}}] if outcome.problem else []
    invocation = {
        "executionSuccessful": outcome.exit_code < 2,
        "exitCode": outcome.exit_code,
        "toolExecutionNotifications": problems,
    }
    driver = {"name": "simpletorch", "version": version(), "rules": [_rule(code) for code in codes]}
    run = {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "columnKind": "unicodeCodePoints",
        "results": [_result(first, notes, codes) for first, notes in groups],
    }
    return json.dumps(
        {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}, indent=2
    )


def _rule(code: str) -> dict[str, Any]:
    ours = CODES.get(code)
    about = ours.about if ours else f"mypy's {code}"
    return {"id": code, "shortDescription": {"text": about}}


def _result(first: Diagnostic, notes: Sequence[Diagnostic], codes: Sequence[str]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "level": first.severity,
        "message": {"text": "\n".join((first.message, *(note.message for note in notes)))},
        "locations": [_location(first)],
    }
    if first.code:
        result |= {"ruleId": first.code, "ruleIndex": codes.index(first.code)}
    elsewhere = [note for note in notes if (note.file, note.line) != (first.file, first.line)]
    if elsewhere:
        result["relatedLocations"] = [_location(note) | {"message": {"text": note.message}} for note in elsewhere]
    return result


def _location(diagnostic: Diagnostic) -> dict[str, Any]:
    path = Path(diagnostic.file)
    uri = path.as_uri() if path.is_absolute() else quote(path.as_posix())
    region = {"startLine": diagnostic.line}
    if diagnostic.column is not None:
        region["startColumn"] = diagnostic.column
    if diagnostic.end_line is not None and diagnostic.end_column is not None:
        region |= {"endLine": diagnostic.end_line, "endColumn": diagnostic.end_column + 1}  # SARIF's is the one behind
    return {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": region}}


# -- Markdown, for the summary of a job -------------------------------------------------------------------------------

_MOST_ROWS: Final = 50


def _markdown(outcome: Outcome) -> str:
    """A heading, the summary, and a table of findings."""
    state = {0: "no error", 1: "errors found"}.get(outcome.exit_code, "failed")
    lines = [f"### simpletorch {outcome.command}: {state}", ""]
    lines += [text for part in (outcome.problem, outcome.summary) if part for text in (part.replace("\n", "  \n"), "")]
    coverage = outcome.document.get("coverage")
    if coverage and coverage["lines"]:
        share = coverage["known"] / coverage["lines"]
        lines += [f"**Coverage**: {coverage['known']} of {coverage['lines']} tensor lines known ({share:.0%})", ""]
    rows = [first for first, _ in grouped(outcome.diagnostics) if first.severity != "note"]
    if rows:
        lines += ["| place | finding | code |", "| --- | --- | --- |"]
        lines += [f"| `{d.file}:{d.line}` | {_cell(d.message)} | {d.code or ''} |" for d in rows[:_MOST_ROWS]]
        if len(rows) > _MOST_ROWS:
            lines.append(f"| … | and {len(rows) - _MOST_ROWS} more | |")
    return "\n".join(lines).rstrip("\n")


def _cell(text: str) -> str:
    """A text in a table of Markdown; what it has of HTML and of Markdown is shown as it is."""
    for sign in "\\`*_[]<>|":
        text = text.replace(sign, f"\\{sign}")
    return text.replace("\n", "<br>")


# -- a badge, for the README of a project -----------------------------------------------------------------------------

_COLORS: Final = ((0.9, "#2c8c3c"), (0.6, "#8a7a00"), (0.0, "#b0413e"))
"""By the least share that is known; white text is readable on each."""
_LABEL: Final = "shapes known"
_LETTER: Final = 7  # pixels, with the font below


def _badge(outcome: Outcome) -> str:
    """How many of the tensor lines are known, as a picture."""
    coverage = outcome.document.get("coverage") or {"known": 0, "lines": 0}
    share = coverage["known"] / coverage["lines"] if coverage["lines"] else 0.0
    text = f"{share:.0%}" if coverage["lines"] else "no tensors"
    color = next(color for least, color in _COLORS if share >= least)
    left, right = (_LETTER * len(part) + 10 for part in (_LABEL, text))
    style = 'fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="{_LABEL}: {text}"><title>{_LABEL}: {text}</title>'
        f'<rect width="{left}" height="20" fill="#555"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{color}"/>'
        f'<g {style}><text x="{left / 2}" y="14">{_LABEL}</text>'
        f'<text x="{left + right / 2}" y="14">{text}</text></g></svg>'
    )


def _in_files(outcome: Outcome) -> Outcome:
    """Places in notebooks are told in the message: viewers show these files as they lie on disk, not by cells."""
    return replace(outcome, diagnostics=tuple(map(_in_file, outcome.diagnostics)))


def _in_file(diagnostic: Diagnostic) -> Diagnostic:
    file = file_of(diagnostic.file)
    if file == diagnostic.file:
        return diagnostic
    cell = diagnostic.file.removeprefix(f"{file}:")
    message = f"{cell}, line {diagnostic.line}: {diagnostic.message}"
    return Diagnostic(file, 1, None, None, None, diagnostic.severity, message, diagnostic.code)


OUTPUTS: Final[Mapping[str, Callable[[Outcome], str]]] = {
    "json": _json,
    "github": lambda outcome: _github(_in_files(outcome)),
    "sarif": lambda outcome: _sarif(_in_files(outcome)),
    "markdown": _markdown,
    "badge": _badge,
}
"""How tools read an outcome, by the name that ``--output`` takes; people read text."""
