"""The server's state of each open file, and its answers in the editor's units."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, final

from lsprotocol import types

from simpletorch._distribution import page_of
from simpletorch.cli._followed import merged
from simpletorch.cli._run import Diagnostic, Report
from simpletorch.follow import Finding
from simpletorch.follow.marks.seen import Place
from simpletorch.language_server.documents import Document, Encoding, Lines, moved_lines
from simpletorch.language_server.fixes import fix
from simpletorch.language_server.messages import Answer, Found, Known
from simpletorch.rules.core.codes import CODES

__all__ = ["Program", "Session", "path_of", "uri_of"]

_SOURCE: Final = "simpletorch"
_SEVERITIES: Final = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "note": types.DiagnosticSeverity.Information,
}
_TAGS: Final = {
    "deprecated": [types.DiagnosticTag.Deprecated],
    "unreachable": [types.DiagnosticTag.Unnecessary],
    "unused-ignore": [types.DiagnosticTag.Unnecessary],
}


def path_of(uri: str) -> str:
    """The path of a file by its address; one of a file that was never saved is in the current folder."""
    from pygls.uris import to_fs_path

    path = to_fs_path(uri) if uri.startswith("file:") else None
    return os.path.abspath(path) if path else os.path.abspath(f"{uri.rpartition(':')[2].strip('/') or 'untitled'}")


def uri_of(path: str) -> str:
    """The address of a file."""
    return Path(path).absolute().as_uri()


@final
@dataclass(slots=True)
class Program:
    """An open file as a program: its arguments, and its last result."""

    document: Document
    arguments: tuple[str, ...] = ()
    answer: Answer | None = None
    """The last one of a text that was Python."""
    texts: Mapping[str, Lines] = field(default_factory=dict)
    """The texts of the open files that it is about."""
    findings: tuple[Finding, ...] = ()
    """What is wrong, as it was found last: a moment before the answer is there."""
    texts_of_findings: Mapping[str, Lines] = field(default_factory=dict)
    mistake: types.Diagnostic | None = None
    checked: tuple[Diagnostic, ...] = ()
    checked_text: Lines | None = None
    version: int | None = None
    """That of the text that was last followed: what is said is about it."""


@final
class Session:
    """All open files."""

    def __init__(self) -> None:
        self.programs: dict[str, Program] = {}  # by path
        self.encoding: Encoding = "utf-16"
        self._moved: tuple[Lines, Lines, Mapping[int, int]] | None = None  # the last answer of `_lines`

    def texts(self) -> dict[str, str]:
        """The open texts by path."""
        return {path: program.document.text for path, program in self.programs.items()}

    def dependents(self, path: str) -> Iterator[str]:
        """The open programs that a file is a part of, or may be: the file itself first."""
        if path in self.programs:
            yield path
        stem = Path(path).stem if Path(path).name != "__init__.py" else Path(path).parent.name
        for other, program in self.programs.items():
            part = program.answer is not None and path in program.answer.files
            if other != path and (part or stem in program.document.text):
                yield other

    def take_findings(self, found: Found, texts: Mapping[str, Lines]) -> set[str]:
        """Take the findings in a program; returns the paths with changed findings."""
        program = self.programs.get(found.path)
        if program is None:
            return set()
        before = {f.path for f in program.findings}
        program.mistake, program.findings, program.texts_of_findings = None, found.findings, texts
        return before | {f.path for f in found.findings} | {found.path}

    def take(self, answer: Answer, texts: Mapping[str, Lines]) -> set[str]:
        """Take the result of a program without its findings; returns the paths with changed answers."""
        program = self.programs.get(answer.path)
        if program is None or answer.is_cancelled:
            return set()
        text = texts.get(answer.path, program.document.lines)
        if answer.mistake is not None:
            line = answer.mistake.line - 1
            column = text.units(
                line, len(text[line][: answer.mistake.column].encode(errors="surrogatepass")), self.encoding
            )
            program.mistake = types.Diagnostic(
                types.Range(
                    types.Position(line, column), types.Position(line, max(text.end(line, self.encoding), column))
                ),
                answer.mistake.message,
                types.DiagnosticSeverity.Error,
                "syntax",
                source=_SOURCE,
            )
            return {f.path for f in program.findings} | {answer.path}
        program.answer, program.texts = answer, texts
        return set()

    # -- places --------------------------------------------------------------------------------------------------------

    def _lines(self, path: str, old: Lines) -> Mapping[int, int]:
        """Where the lines of a text, from 0, are in the one that is open now."""
        program = self.programs.get(path)
        if program is None or program.document.lines is old:
            return {i: i for i in range(len(old))}
        new = program.document.lines
        if self._moved is None or self._moved[0] is not old or self._moved[1] is not new:
            self._moved = old, new, moved_lines(old, new)
        return self._moved[2]

    def _text(self, program: Program, path: str) -> Lines:
        """The text that what was found in a program's file is about."""
        if path not in program.texts_of_findings:
            try:
                text = Path(path).read_text(encoding="utf-8", errors="replace")
            except OSError:
                text = ""
            return Lines(text)
        return program.texts_of_findings[path]

    def _range(self, text: Lines, place: tuple[int, int | None, int | None, int | None]) -> types.Range:
        """A place whose lines and columns count from 1, in bytes, the end behind it; without columns the line."""
        line, column, end_line, end_column = place
        row = text[line - 1]
        first = len(row) - len(row.lstrip()) if column is None else column - 1
        start = types.Position(line - 1, text.units(line - 1, first, self.encoding))
        if end_line is None or end_column is None:
            return types.Range(start, types.Position(line - 1, text.end(line - 1, self.encoding)))
        return types.Range(start, types.Position(end_line - 1, text.units(end_line - 1, end_column, self.encoding)))

    # -- diagnostics ---------------------------------------------------------------------------------------------------

    def diagnostics(self, path: str) -> list[types.Diagnostic]:
        """All that is to be said of a file, each mistake once."""
        own = self.programs.get(path)
        found: dict[tuple[int, str, str], types.Diagnostic] = {}
        programs = [*([own] if own else []), *(p for p in self.programs.values() if p is not own)]
        for program in programs:
            for finding in program.findings:
                made = self._diagnostic(program, finding) if finding.path == path else None
                if made is not None:
                    key = made.range.start.line, finding.code, finding.message if program is own else ""
                    if program is own or not any(k[:2] == key[:2] for k in found):
                        found[key] = made
        rows = [*([own.mistake] if own and own.mistake else []), *found.values()]
        return [*rows, *self._of_mypy(own)] if own else rows

    def _diagnostic(self, program: Program, finding: Finding) -> types.Diagnostic | None:
        text = self._text(program, finding.path)
        lines = self._lines(finding.path, text)
        last = finding.end_line or finding.line
        if finding.line - 1 not in lines or last - 1 not in lines:
            return None
        found = self._range(text, (finding.line, finding.column, finding.end_line, finding.end_column))
        found = types.Range(_moved(found.start, lines), _moved(found.end, lines))
        calls = [
            types.DiagnosticRelatedInformation(
                types.Location(uri_of(c.path), self._range(self._text(program, c.path), (c.line, None, None, None))),
                str(c),
            )
            for c in finding.trace
        ]
        message = f"{finding.message}\nhint: {finding.hint}" if finding.hint else finding.message
        return types.Diagnostic(
            found,
            message,
            _SEVERITIES[finding.severity],
            finding.code,
            _page(finding.code),
            _SOURCE,
            related_information=calls or None,
        )

    def _of_mypy(self, program: Program) -> Iterator[types.Diagnostic]:
        """mypy's additional errors, with their notes in the message."""
        if program.checked_text is None:
            return
        path = program.document.path
        text = program.texts_of_findings.get(path, program.document.lines)  # the one that the findings are about
        moved = moved_lines(program.checked_text, text)
        rows = tuple(_on(row, moved) for row in program.checked if row.file == path and row.line - 1 in moved)
        findings = [f for f in program.findings if f.severity == "error"]
        lines = self._lines(path, text)
        made: list[types.Diagnostic] = []
        for row in merged(Report(0, rows, (), "", 0.0), findings).diagnostics:
            if row.line - 1 not in lines:
                continue
            if row.severity == "note" and made and made[-1].range.start.line == lines[row.line - 1]:
                made[-1].message += f"\n{row.message}"
                continue
            found = self._range(text, (row.line, row.column, row.end_line, row.end_column))
            made.append(
                types.Diagnostic(
                    types.Range(_moved(found.start, lines), _moved(found.end, lines)),
                    row.message,
                    _SEVERITIES[row.severity],
                    row.code,
                    _page(row.code or ""),
                    "mypy" if row.code not in CODES else _SOURCE,
                    _TAGS.get(row.code or ""),
                )
            )
        yield from made

    # -- hints and hovers ----------------------------------------------------------------------------------------------

    def _about_file(self, path: str) -> Iterator[tuple[Program, Lines, Mapping[int, int]]]:
        """The programs that know something of a file: its own first."""
        own = self.programs.get(path)
        for program in (*([own] if own else []), *(p for p in self.programs.values() if p is not own)):
            if program.answer is not None and path in program.texts and path in program.answer.hints:
                text = program.texts[path]
                yield program, text, self._lines(path, text)

    def hints(self, path: str, first: int, last: int, kinds: Sequence[str]) -> list[types.InlayHint]:
        """The shapes between two lines, from the file's own program or another one."""
        made: dict[tuple[int, int], types.InlayHint] = {}
        for program, text, lines in self._about_file(path):
            assert program.answer is not None
            for hint in program.answer.hints[path]:
                line = lines.get(hint.line - 1, -1)
                if first <= line <= last and hint.kind in kinds:
                    column = text.units(hint.line - 1, hint.column, self.encoding)
                    at, kind = types.Position(line, column), types.InlayHintKind.Type
                    made.setdefault(
                        (line, column), types.InlayHint(at, hint.text.strip(), kind, padding_left=hint.text[0] == " ")
                    )
        return [made[place] for place in sorted(made)]

    def hover(self, path: str, position: types.Position) -> types.Hover | None:
        """The known type of the smallest expression at a place, or the reason why it is unknown."""
        for program, text, lines in self._about_file(path):
            assert program.answer is not None
            back = {new: old for old, new in lines.items()}
            if position.line not in back:
                continue
            line = back[position.line]
            column = text.bytes(line, position.character, self.encoding)
            here = (line + 1, column)
            looks = program.answer.looks.get(path, ())
            inside = [(p, k) for p, k in looks if (p.line, p.column) <= here <= (p.end_line, p.end_column)]
            hinted = [
                h for h in program.answer.hints[path] if h.line == line + 1 and _names(text, h.column, here, line)
            ]
            if inside:
                place, known = min(inside, key=lambda row: _size(row[0]))
                shown = _words([program.answer.known[k] for k in known])
                found = self._range(text, (place.line, place.column + 1, place.end_line, place.end_column))
                found = types.Range(_moved(found.start, lines), _moved(found.end, lines))
                return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, shown), found)
            if hinted:
                shown = f"```python\n{hinted[0].text.removeprefix(':').strip()}\n```"
                return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, shown))
            reasons = program.answer.reasons.get(path, {}).get(line + 1, ())
            if reasons:
                shown = "\n".join(f"- not known: {reason}" for reason in reasons)
                return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, shown))
        return None

    # -- fixes ---------------------------------------------------------------------------------------------------------

    def fixes(self, path: str, wanted: types.Range) -> Iterator[types.CodeAction]:
        """The hints of findings between two lines that are mechanical edits; none while the text is another one."""
        program = self.programs.get(path)
        if program is None or program.answer is None or program.texts.get(path) is None:
            return
        if program.texts is not program.texts_of_findings:
            return
        text = program.texts[path]
        if text.text != program.document.text:
            return
        tree = ast.parse(text.text)
        known = {place for place, _ in program.answer.looks.get(path, ())}
        for finding in program.findings:
            last = finding.end_line or finding.line
            if finding.path != path or last - 1 < wanted.start.line or finding.line - 1 > wanted.end.line:
                continue
            edits = fix(finding, tree, known.__contains__)
            if edits:
                rows = [types.TextEdit(self._range(text, _from_one(e.place)), e.text) for e in edits]
                made = self._diagnostic(program, finding)
                yield types.CodeAction(
                    edits[0].title,
                    types.CodeActionKind.QuickFix,
                    [made] if made else None,
                    is_preferred=True,
                    edit=types.WorkspaceEdit({program.document.uri: rows}),
                )


def _on(row: Diagnostic, lines: Mapping[int, int]) -> Diagnostic:
    """mypy's errors, at the present places of their lines."""
    last = lines.get((row.end_line or row.line) - 1)
    return replace(row, line=lines[row.line - 1] + 1, end_line=None if last is None else last + 1)


def _moved(position: types.Position, lines: Mapping[int, int]) -> types.Position:
    return types.Position(lines.get(position.line, position.line), position.character)


def _from_one(place: Place) -> tuple[int, int, int, int]:
    return place.line, place.column + 1, place.end_line, place.end_column


def _size(place: Place) -> tuple[int, int]:
    return place.end_line - place.line, place.end_column - place.column


def _names(text: Lines, end: int, here: tuple[int, int], line: int) -> bool:
    """Whether a place is on the name that ends at a column."""
    before = text[line].encode(errors="surrogatepass")[:end].decode(errors="replace")
    name = before[len(before.rstrip("_")) :] if before.endswith("_") else before
    start = end - len(name) + max((i + 1 for i, c in enumerate(name) if not (c.isalnum() or c in "_.")), default=0)
    return start <= here[1] <= end


def _page(code: str) -> types.CodeDescription | None:
    """Where a code of ours is explained."""
    page = page_of(code) if code in CODES else None
    return types.CodeDescription(page.as_uri()) if page else None


def _words(known: Sequence[Known]) -> str:
    """The known types of a tensor, the last in detail."""
    types_ = dict.fromkeys(k.type for k in known)
    rows = ["```python", *types_, "```"]
    last = known[-1]
    if last.place is not None:
        rows.append(f"- on `{last.place}` where there is CUDA")
    if last.layout is not None:
        rows.append(f"- in memory: {last.layout}")
    rows += [f"- dim {i}: {origin}" for i, origin in enumerate(last.origins) if origin]
    return "\n".join(rows)
