"""The findings of following a file (`simpletorch.follow`), reported by mypy.

mypy asks no plugin as it begins to check a file, so the first hook of a file does it; one without hooks has no tensors.
The findings are errors of the module's top level. The daemon may check that again and drop them without a new tree, so
each later hook looks whether they are still there.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mypy.errors import ErrorInfo, Errors
from mypy.nodes import MypyFile, Statement

from simpletorch._programs import Kind, followed_as
from simpletorch.mypy.diagnose import silenced
from simpletorch.mypy.diagnose.report import BY_CODE, CODES, ask_first
from simpletorch.mypy.program.imports import Reading
from simpletorch.rules.core.codes import Severity

if TYPE_CHECKING:
    from simpletorch.follow import Finding

__all__ = ["Follower", "is_the_users"]

_STEPS: Final = 50_000  # of one file
_SECONDS: Final = 1.0
_OF_VALUES: Final = frozenset(CODES[kind].code for kind in ("shape", "dtype", "device", "broadcast"))
_SOURCES: Final = Path(__file__).parents[3]
_NOT_THE_USERS: Final = (
    *("site-packages", "dist-packages", "typeshed"),
    *(f"{_SOURCES / package}{os.sep}" for package in ("simpletorch", "_simpletorch")),  # installed with pip -e
)


@dataclass(frozen=True, slots=True)
class _Said:
    """A finding that was reported: what mypy has recorded of it, and what mypy would have said itself."""

    finding: Finding
    infos: Sequence[ErrorInfo]
    replaced: list[ErrorInfo] = field(default_factory=list)

    def is_at(self, file: str, info: ErrorInfo) -> bool:
        """Whether mypy's own report is of the same mistake at the same place."""
        f = self.finding
        same = f.path == file and f.line <= info.line <= (f.end_line or f.line)
        return same and info.code is not None and info.code.code == f.code

    def is_silenced(self, file: str) -> bool:
        """Whether a comment takes what mypy itself says there."""
        return self.finding.path == file and silenced.is_silenced(file, _span(self.finding))


@dataclass(frozen=True)
class _Known:
    """The findings in a file, the state of each file that was read for it, and a digest of its imports."""

    found: Sequence[Finding]
    files: Mapping[str, tuple[int, int]]
    imported: str | None


class Follower:
    """Follows each file once for each time that mypy reads it."""

    def __init__(
        self, severities: Mapping[str, Severity], reading: Reading, *, is_daemon: bool = False, uses_cache: bool = True
    ) -> None:
        self._severities, self._reading = severities, reading
        self._is_daemon, self._uses_cache = is_daemon, uses_cache
        self._known: dict[str, _Known] = {}
        self._followed: dict[str, list[Statement]] = {}
        self._said: dict[str, list[_Said]] = {}
        self._ignored: dict[str, list[tuple[int, str]]] = {}
        self._errors: Errors | None = None
        ask_first(self._is_said)

    def see(self, api: Any) -> None:
        """A hook was asked, by the checker of some file."""
        errors: Errors = api.msg.errors
        path, tree = errors.file, api.tree
        if self._followed.get(path) is tree.defs:  # the daemon keeps the tree of a file that was edited
            if path in self._said:
                self._said[path] = [s for s in self._said[path] if not s.is_silenced(path)]
                _keep(errors, path, self._said[path], self._ignored[path])
            return
        self._followed[path] = tree.defs
        self._said.pop(path, None)
        self._errors = errors
        kind = self._kind(path) if _is_the_users(tree, errors, path) else None
        if kind is not None:
            first = [f for f in self._found(path, kind) if not _has_cause(errors, f)]
            found = [_Said(f, _say(f, errors, path)) for f in first]
            self._said[path] = [s for s in found if s.infos]
            self._ignored[path] = [use for s in found if not s.infos for use in _uses(errors, path, s.finding)]

    def _kind(self, path: str) -> Kind | None:
        """The daemon outlives what is known of a file; in any other run it stays what it is."""
        return followed_as(path) if self._is_daemon else self._reading.kind(path)

    def _found(self, path: str, kind: Kind) -> Sequence[Finding]:
        """The findings in a file. The daemon reads each file with errors again for each edit of any other."""
        if not self._is_daemon:
            return self._follow(path, kind)[0]
        imported, known = Reading().by(path), self._known.get(path)
        if known is None or known.imported != imported or any(_state(f) != state for f, state in known.files.items()):
            found, files = self._follow(path, kind)
            known = self._known[path] = _Known(found, {f: _state(f) for f in files}, imported)
        return known.found

    def _follow(self, path: str, kind: Kind) -> tuple[list[Finding], Sequence[str]]:
        """The findings, also those that a comment ignores (mypy counts those), and the files that were read."""
        from simpletorch.follow.cache.kept import Question  # a run without changes must not pay for it

        limits: dict[str, Any] = {"steps": _STEPS, "seconds": _SECONDS, "keeps_cut": True}
        options: dict[str, Any] = {"kind": kind, "severities": self._severities, "data": False}
        found = Question(path, uses_cache=self._uses_cache, **limits, **options).told()
        ignored = (f for f in found.ignored if f.path == path and f.severity == "error")
        return [*found.errors, *ignored], found.files

    def _is_said(self, file: str, info: ErrorInfo) -> bool:
        """Whether mypy need not say this. If it must, what was found behind that line may follow from it, and goes."""
        same = next((said for said in self._said.get(file, ()) if said.is_at(file, info)), None)
        if self._errors is not None and _may_be_a_cause(info) and not _is_ignored(self._errors, file, info):
            for path, all_said in self._said.items():
                for said in [s for s in all_said if s is not same and s.finding.has_passed(file, info.line)]:
                    # what is found behind a mistake that following has found too doesn't depend on that
                    if same is None or same.finding.entry != said.finding.entry:
                        all_said.remove(said)
                        _take_back(self._errors, path, said)
        if same is not None:
            same.replaced.append(info)
        return same is not None


def _may_be_a_cause(info: ErrorInfo) -> bool:
    return info.severity == "error" and info.code is not None and info.code.code in _OF_VALUES


def _has_cause(errors: Errors, found: Finding) -> bool:
    """Whether mypy has found a mistake in what the program passes before: in this file, or in one that it imports."""
    files = {path for path, _, _ in found.passed}
    return any(
        _may_be_a_cause(info) and found.has_passed(file, info.line)
        for file in files
        for info in errors.error_info_map.get(file, ())
    )


def _is_ignored(errors: Errors, file: str, info: ErrorInfo) -> bool:
    ignored = errors.ignored_lines.get(file, {})
    return any(errors.is_ignored_error(line, info, ignored) for line in info.origin_span)


def _take_back(errors: Errors, path: str, said: _Said) -> None:
    """Remove our findings, and restore the errors of mypy's that they had replaced."""
    recorded = errors.error_info_map.setdefault(path, [])
    recorded[:] = [info for info in recorded if not any(info is other for other in said.infos)] + said.replaced
    if not recorded:
        del errors.error_info_map[path]


def _is_the_users(tree: MypyFile, errors: Errors, path: str) -> bool:
    return path not in errors.ignored_files and not tree.is_stub and is_the_users(path)


def is_the_users(path: str) -> bool:
    """Whether a file isn't a library's."""
    return not any(part in path for part in _NOT_THE_USERS)


def _state(path: str) -> tuple[int, int]:
    try:
        about = os.stat(path)
    except OSError:
        return 0, 0
    return about.st_mtime_ns, about.st_size


def _say(found: Finding, errors: Errors, path: str) -> list[ErrorInfo]:
    """Report a finding at its line; one in another file at the call that leads there. Gives what was recorded."""
    if silenced.is_silenced(found.path, _span(found)):
        return []
    line, column, end, end_column = found.line, found.column - 1, found.end_line, found.end_column
    notes = [f"hint: {found.hint}"] if found.hint else []
    if found.path != path:
        call = next((c for c in found.trace if c.path == path), None)
        if call is None or _is_said(errors, found):
            return []
        line, column, end, end_column = call.line, 0, None, None
        notes.append(f"in {found.path}:{found.line}")
    notes += [str(call) for call in found.trace]
    code = BY_CODE[found.code]
    watchers, scope = errors._watchers[:], errors.scope
    errors._watchers.clear()  # mypy may be trying a call at this moment
    errors.scope = None
    try:
        span = range(line, (end or line) + 1)
        said = [errors.report(line, column, found.message, code, end_line=end, end_column=end_column, origin_span=span)]
        said += [errors.report(line, column, n, code, severity="note", origin_span=span) for n in notes]
    finally:
        errors._watchers.extend(watchers)
        errors.scope = scope
    recorded = errors.error_info_map.get(path, ())
    silenced.takes(errors, path, said[0])
    return [info for info in said if any(info is other for other in recorded)]


def _span(found: Finding) -> silenced.Span:
    end = found.line if found.end_line is None else found.end_line
    return found.line, found.column - 1, end, found.column - 1 if found.end_column is None else found.end_column


def _is_said(errors: Errors, found: Finding) -> bool:
    """Whether mypy has the same mistake in the file where it is."""
    infos = errors.error_info_map.get(found.path, ())
    return any(i.line == found.line and i.code is not None and i.code.code == found.code for i in infos)


def _uses(errors: Errors, path: str, found: Finding) -> Iterator[tuple[int, str]]:
    """The comments that silence a finding: their lines, with its code."""
    used = errors.used_ignored_lines[path]
    lines = range(found.line, (found.end_line or found.line) + 1) if found.path == path else ()
    return ((line, found.code) for line in lines if found.code in used.get(line, ()))


def _keep(errors: Errors, path: str, all_said: Sequence[_Said], ignored: Iterable[tuple[int, str]]) -> None:
    """Put back what mypy has cleared since."""
    for said in all_said:
        recorded = errors.error_info_map.setdefault(path, [])
        if not any(info is said.infos[0] for info in recorded):
            recorded.extend(said.infos)
    for line, code in ignored:
        used = errors.used_ignored_lines[path][line]
        if code not in used:
            used.append(code)
