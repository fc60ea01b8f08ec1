"""``simpletorch follow``: a program run on shapes, and what is found or known of it."""

from __future__ import annotations

import html
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from simpletorch._settings import SettingError, settings
from simpletorch.cli._diagram import STYLE, diagram
from simpletorch.cli._followed import diagnostics
from simpletorch.cli._notebook import sources, why_no_notebook
from simpletorch.cli._output import OUTPUTS, Outcome, could_not, written
from simpletorch.cli._run import Diagnostic
from simpletorch.follow import Finding, Followed
from simpletorch.follow import follow as follow_program
from simpletorch.follow.sources import texts
from simpletorch.follow.sources.piped import is_piped, named, text_of
from simpletorch.follow.sources.python import why_no_python
from simpletorch.notebook.document import follow_document, is_notebook, with_cell
from simpletorch.rules import TensorType

__all__ = ["follow"]

_OPTIONS: Final = ("--shapes", "--html", "--json", "--output", "--why", "--sizes", "--no-data")
_WIDEST: Final = 76  # columns of source before the shapes beside it
_MOST_SHOWN: Final = 3  # shapes of one name on one line, when a loop changes it


def follow(
    file: str,
    arguments: Sequence[str] = (),
    *,
    output: str = "text",
    **options: Any,
) -> int:
    """Follow ``file``, or what standard input or a pipe holds, and print what was found.

    Args:
        file: the file; "-" is standard input.
        arguments: those of its command line.
        output: "text", or one of `OUTPUTS`.
        options: ``shapes``, ``as_html``, ``why``, ``sizes`` and ``data``, as `_tell` takes them.

    Returns 0 if nothing was found, 1 if there are errors, 2 if there is no such program.
    """
    opened: dict[str, str] = {}
    if is_piped(file):
        try:
            opened[named(file)] = text_of(file)
        except (OSError, UnicodeDecodeError) as error:
            return could_not("follow", f"{named(file)} can't be read: {error}", output)
    with texts.instead(opened):
        return _tell(named(file), arguments, opened, output=output, **options)


def _tell(
    file: str,
    arguments: Sequence[str],
    opened: Mapping[str, str],
    *,
    output: str,
    shapes: bool = False,
    as_html: bool = False,
    why: int | None = None,
    sizes: bool = False,
    data: bool = True,
) -> int:
    """Print what was found, with ``sizes`` also which ones must be equal that a caller gives; returns the exit code."""
    programs_only = is_notebook(file) and (as_html or why is not None)
    if reason := "--html and --why take a program, no notebook" if programs_only else why_not(file):
        return could_not("follow", reason, output)
    try:
        said = settings()
    except SettingError as error:
        return could_not("follow", str(error), output)
    severities = dict(said.severities)
    if sizes:
        severities["tensor-size"] = "warning"
    if note := _misplaced(file, arguments):
        print(f"simpletorch follow: {note}", file=sys.stderr)
    start = time.perf_counter()
    read = data and said.data
    if is_notebook(file):
        found = follow_document(file, arguments, severities=severities, data=read)
    else:
        found = follow_program(file, arguments, severities=severities, data=read, watched=as_html, opened=opened)
    seconds = time.perf_counter() - start
    if output in OUTPUTS:
        print(written(_outcome(found, seconds), output))
    elif as_html:
        print(page(file, found))
    elif why is not None:
        print("\n".join(_reasons(file, why, found)))
    else:
        if shapes:
            print("\n".join(beside(file, found)))
        for line in _lines(found, seconds):
            print(line)
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


def _lines(found: Followed, seconds: float) -> Iterator[str]:
    for finding in (*found.errors, *found.warnings, *found.remarks):
        yield from finding.lines()
    yield from map(str, found.notes)
    if found.errors or found.warnings:
        for path, contents in found.data:
            yield f"{path}: note: was read as {contents}"
    yield from map(_fault, found.faults)
    yield _summary(found, seconds)


_MOST_NAMED: Final = 3  # of what wasn't followed


def _summary(found: Followed, seconds: float) -> str:
    count = len(found.errors)
    took = f"followed in {seconds * 1e3:.0f} ms"
    if not found.complete and not found.faults:
        took += ", up to the limit of steps; the rest isn't known"
    said = f"Found {count} error{'' if count == 1 else 's'}" if count else f"No error found{_proved(found)}"
    ended = f"followed to {found.ended}\n" if found.ended else ""
    return f"{ended}{said} ({took})"


def _proved(found: Followed) -> str:
    """What is behind a silence: how much is known, and what wasn't followed."""
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


def _outcome(found: Followed, seconds: float) -> Outcome:
    findings = (*found.errors, *found.warnings, *found.remarks)
    notes = tuple(Diagnostic(n.path, n.line, None, None, None, "note", n.message, None) for n in found.notes)
    return Outcome(
        "follow",
        1 if found.errors else 0,
        (*notes, *(d for finding in findings for d in diagnostics(finding))),
        summary=_summary(found, seconds),
        document=_document(found, seconds),
    )


def _document(found: Followed, seconds: float) -> dict[str, Any]:
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


# -- shapes beside the source ----------------------------------------------------------------------------------------


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_text, value))})"
    return "…" if value is None else str(value)


def _of_line(found: Followed, file: str, line: int) -> str:
    """What a line gives to its names: ``x: Float32[64, 128]``, or how it changes in a loop."""
    parts = []
    for name, values in found.shapes_at(file, line).items():
        shown = [_text(v) for v in values if isinstance(v, TensorType | tuple)]
        shown = [text for text, _ in groupby(shown)]  # sizes that aren't known differ, and look the same
        if shown:
            more = " → …" if len(shown) > _MOST_SHOWN else ""
            parts.append(f"{name}: {' → '.join(shown[:_MOST_SHOWN])}{more}")
    return ", ".join(parts)


def beside(file: str, found: Followed) -> Iterator[str]:
    """The source with the shapes that each line gives at its end."""
    for name, text in sources(file):
        if name != file:
            yield f"# {name.rpartition(':')[2]}"
        yield from _beside(name, text, found)


def _beside(file: str, text: str, found: Followed) -> Iterator[str]:
    source = texts.lines(text)
    width = min(max(map(len, source), default=0), _WIDEST)
    for number, line in enumerate(source, 1):
        shown = _of_line(found, file, number)
        yield f"{line:<{width}}  # {shown}" if shown else line


def page(file: str, found: Followed) -> str:
    """The same as a page of HTML, with the errors under their lines, and above it the model if that was watched."""
    source = texts.lines(texts.read(Path(file)))
    errors: dict[int, list[Finding]] = {}
    for error in found.errors:
        if error.path == file:
            errors.setdefault(error.line, []).append(error)
    rows = []
    width = min(max(map(len, source), default=0), _WIDEST)
    for number, line in enumerate(source, 1):
        shown = html.escape(_of_line(found, file, number))
        bad = ' class="bad"' if number in errors else ""
        code = f"<code>{html.escape(line)}</code>"
        if shown:  # blanks, not a column: one long line would push the shapes of all others out of the window
            code = f"<code>{html.escape(f'{line:<{width}}')}  </code><i>{shown}</i>"
        rows.append(f"<tr{bad}><td>{number}</td><td>{code}</td></tr>")
        for error in errors.get(number, ()):
            hint = f"hint: {error.hint}" if error.hint else ""
            text = "\n".join(filter(None, (error.message, hint, *map(str, error.trace))))
            rows.append(f'<tr class="error"><td></td><td><pre>{html.escape(text)}</pre></td></tr>')
    model = diagram(found.seen.visits) if found.seen is not None else ""
    return _PAGE.format(title=html.escape(file), rows="\n".join(rows), model=model, style=STYLE)


_PAGE: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width"><style>
:root {{ color-scheme: light dark; --dim: #777; --bad: #c0392b22; --mark: #c0392b; --shape: #2471a3; --line: #ccc;
  --hover: #0001; }}
@media (prefers-color-scheme: dark) {{ :root {{ --dim: #999; --bad: #e74c3c33; --mark: #ff7b6b; --shape: #7fb8e6;
  --line: #555; --hover: #fff1; }} }}
body {{ font: 14px/1.45 system-ui, sans-serif; margin: 1.5rem; }}
table {{ border-collapse: collapse; }}
td {{ padding: 0 .9rem 0 0; vertical-align: top; }}
td:first-child {{ color: var(--dim); text-align: right; user-select: none; }}
td:nth-child(2) {{ white-space: nowrap; }}
td i {{ color: var(--shape); font: 12px/1.75 ui-monospace, monospace; white-space: nowrap; }}
code, pre {{ font: 13px/1.5 ui-monospace, monospace; white-space: pre; margin: 0; }}
.bad {{ background: var(--bad); }}
.error pre {{ color: var(--mark); white-space: pre-wrap; padding: .2rem 0 .5rem; max-width: calc(100vw - 7rem); }}
{style}</style></head><body><h1>{title}</h1>
{model}
<table>
{rows}
</table></body></html>"""


def _reasons(file: str, line: int, found: Followed) -> Iterator[str]:
    """Why something on a line isn't known."""
    known = _of_line(found, file, line)
    if known:
        yield f"{file}:{line}: {known}"
    reasons = found.reasons.get((file, line), ())
    for reason in reasons:
        yield f"{file}:{line}: not known: {reason}"
    if not reasons and not known:
        yield f"{file}:{line}: nothing was computed on this line, or the program does not get there"
