"""Findings that ``--baseline`` and ``--diff`` leave."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import final

from simpletorch.cli._narrowing.baseline import Baseline, BaselineError
from simpletorch.cli._narrowing.changes import Changes, GitError
from simpletorch.cli._notebook import sources
from simpletorch.cli._output import grouped
from simpletorch.cli._run import Diagnostic, count
from simpletorch.follow import Finding
from simpletorch.follow.sources import texts
from simpletorch.follow.sources.notebooks import file_of

__all__ = ["Narrowing", "NarrowingError"]


class NarrowingError(Exception):
    """The options can't be obeyed; the text says why."""


@final
class Narrowing:
    """Decides for each finding whether it is shown, and counts those that aren't.

    Args:
        baseline: the file with known findings.
        writes: whether the findings become that file.
        diff: the revision since which a line must have changed.

    Raises:
        NarrowingError: one of them can't be used.
    """

    def __init__(self, baseline: str | None = None, *, writes: bool = False, diff: str | None = None) -> None:
        if writes and baseline is None:
            raise NarrowingError("--write-baseline needs --baseline FILE, the file to write")
        if writes and diff is not None:
            raise NarrowingError("--write-baseline takes all findings, --diff only some: leave one of them out")
        self.writes = writes
        try:
            self._baseline = None if baseline is None else _read(Path(baseline), may_be_missing=writes)
            self._changes = None if diff is None else Changes(diff)
        except (BaselineError, GitError) as error:
            raise NarrowingError(str(error)) from None
        self._diff = diff
        self._known = self._elsewhere = self._stale = 0
        self._lines: dict[str, list[str]] = {}
        self._hidden: set[int] = set()
        self._held: list[Finding] = []  # so that no other finding gets the identity of one of them

    def __bool__(self) -> bool:
        """Whether any finding may be left out."""
        return self._baseline is not None or self._changes is not None

    def shows(self, finding: Finding) -> bool:
        """Whether a finding of the follower is shown; it must be asked once for each."""
        f = finding
        calls = tuple((call.path, call.line) for call in f.trace)
        shows = self._shows(f.path, f.line, f.end_line, f.code, f.message, calls)
        if not shows:
            self._hidden.add(id(finding))
            self._held.append(finding)
        return shows

    def showed(self, finding: Finding) -> bool:
        """The answer that `shows` gave for a finding."""
        return id(finding) not in self._hidden

    def of(self, diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
        """The diagnostics of a report that are shown, each with its notes; notes alone always are."""
        for first, notes in grouped(tuple(diagnostics)):
            calls = tuple((n.file, n.line) for n in notes)
            d = first
            if d.severity == "note" or self._shows(d.file, d.line, d.end_line, d.code, d.message, calls):
                yield first
                yield from notes

    def _shows(
        self,
        path: str,
        line: int,
        last: int | None,
        code: str | None,
        message: str,
        calls: Collection[tuple[str, int]],
    ) -> bool:
        if self._baseline is not None:
            is_known = self._baseline.knows(file_of(path), code, message, self._text(path, line))
            if is_known or self.writes:
                self._known += 1
                return False
        changes = self._changes
        if changes is None or changes.has(path, line, last) or any(changes.has(*call) for call in calls):
            return True
        self._elsewhere += 1
        return False

    def _text(self, path: str, line: int) -> str:
        if path not in self._lines:
            try:
                for name, text in sources(file_of(path)):
                    self._lines[name] = texts.lines(text)
            except (OSError, ValueError):
                pass
            self._lines.setdefault(path, [])
        lines = self._lines[path]
        return lines[line - 1] if 0 < line <= len(lines) else ""

    def finish(self, looked_at: Collection[str], *, of_mypy: bool) -> None:
        """Write the baseline, or count its entries that no finding has met.

        Raises:
            NarrowingError: it can't be written.
        """
        if self._baseline is None:
            return
        if not self.writes:
            self._stale = self._baseline.stale(looked_at, of_mypy=of_mypy)
            return
        try:
            self._known = self._baseline.write(looked_at, of_mypy=of_mypy)
        except BaselineError as error:
            raise NarrowingError(str(error)) from None

    @property
    def said(self) -> str:
        """A clause on what isn't shown; "" where nothing was left out."""
        if self._baseline is not None and self.writes:
            return f"wrote {count(self._known, 'finding')} to {self._baseline.file}"
        parts = []
        if self._known and self._baseline is not None:
            parts.append(f"{count(self._known, 'finding')} known in {self._baseline.file}")
        if self._elsewhere:
            parts.append(f"{count(self._elsewhere, 'finding')} on lines unchanged since {self._diff}")
        if self._stale and self._baseline is not None:
            entries = "1 entry" if self._stale == 1 else f"{self._stale} entries"
            parts.append(f"{entries} of {self._baseline.file} without a finding: --write-baseline updates it")
        return "; ".join(parts)

    @property
    def document(self) -> dict[str, int]:
        """The same as numbers."""
        return {"known": self._known, "unchanged": self._elsewhere, "stale": self._stale}


def _read(file: Path, *, may_be_missing: bool) -> Baseline:
    return Baseline(file) if may_be_missing and not file.exists() else Baseline.read(file)
