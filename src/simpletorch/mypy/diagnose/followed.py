"""What following a file finds (`simpletorch.follow`), said by mypy.

mypy asks no plugin as it begins to check a file, so the first hook of a file does it; one without hooks has no tensors.
The findings are errors of the module's top level. The daemon may check that again and drop them without a new tree, so
each later hook looks whether they are still there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from mypy.errors import ErrorInfo, Errors
from mypy.nodes import MypyFile, Statement

from simpletorch.mypy.diagnose.report import BY_CODE, take_over

if TYPE_CHECKING:
    from simpletorch.follow import Finding

__all__ = ["Follower"]

_STEPS: Final = 50_000  # of one file
_SECONDS: Final = 1.0
_NOT_THE_USERS: Final = ("site-packages", "dist-packages", "typeshed")


class Follower:
    """Follows each file once for each time that mypy reads it."""

    def __init__(self) -> None:
        self._followed: dict[str, list[Statement]] = {}
        self._said: dict[str, list[ErrorInfo]] = {}
        self._ignored: dict[str, list[tuple[int, str]]] = {}

    def see(self, api: Any) -> None:
        """A hook was asked, by the checker of some file."""
        errors: Errors = api.msg.errors
        path, tree = errors.file, api.tree
        if self._followed.get(path) is tree.defs:  # the daemon keeps the tree of a file that was edited
            _keep(errors, path, self._said.get(path), self._ignored.get(path, ()))
            return
        self._followed[path] = tree.defs
        self._said.pop(path, None)
        take_over(path, ())
        if _is_the_users(tree, errors, path):
            found = _follow(path)
            said = {f: _say(f, errors, path) for f in found}
            self._said[path] = [info for infos in said.values() for info in infos]
            self._ignored[path] = [use for f, infos in said.items() if not infos for use in _uses(errors, path, f)]
            take_over(path, [(f.line, f.end_line or f.line, f.code) for f in said if said[f] and f.path == path])


def _is_the_users(tree: MypyFile, errors: Errors, path: str) -> bool:
    return path not in errors.ignored_files and not tree.is_stub and not any(part in path for part in _NOT_THE_USERS)


def _follow(path: str) -> list[Finding]:
    """What is found, also what a comment ignores: mypy counts those comments itself."""
    follow = import_module("simpletorch.follow").follow  # takes 0.1 s, which a run without changes must not pay
    found = follow(path, steps=_STEPS, seconds=_SECONDS)
    return [*found.errors, *(f for f in found.ignored if f.path == path and f.severity == "error")]


def _say(found: Finding, errors: Errors, path: str) -> list[ErrorInfo]:
    """Report a finding at its line; one in another file at the call that leads there. Gives what was recorded."""
    line, column, end = found.line, found.column - 1, found.end_line
    notes = [f"hint: {found.hint}"] if found.hint else []
    if found.path != path:
        call = next((c for c in found.trace if c.path == path), None)
        if call is None or _is_said(errors, found):
            return []
        line, column, end = call.line, 0, None
        notes.append(f"in {found.path}:{found.line}")
    notes += [str(call) for call in found.trace]
    code = BY_CODE[found.code]
    watchers, scope = errors._watchers[:], errors.scope
    errors._watchers.clear()  # mypy may be trying a call at this moment
    errors.scope = None
    try:
        span = range(line, (end or line) + 1)
        said = [errors.report(line, column, found.message, code, end_line=end, origin_span=span)]
        said += [errors.report(line, column, n, code, severity="note", origin_span=span) for n in notes]
    finally:
        errors._watchers.extend(watchers)
        errors.scope = scope
    recorded = errors.error_info_map.get(path, ())
    return [info for info in said if any(info is other for other in recorded)]


def _is_said(errors: Errors, found: Finding) -> bool:
    """Whether mypy has the same mistake in the file where it is."""
    infos = errors.error_info_map.get(found.path, ())
    return any(i.line == found.line and i.code is not None and i.code.code == found.code for i in infos)


def _uses(errors: Errors, path: str, found: Finding) -> Iterator[tuple[int, str]]:
    """The comments that silence a finding: their lines, with its code."""
    used = errors.used_ignored_lines[path]
    lines = range(found.line, (found.end_line or found.line) + 1) if found.path == path else ()
    return ((line, found.code) for line in lines if found.code in used.get(line, ()))


def _keep(errors: Errors, path: str, said: list[ErrorInfo] | None, ignored: Iterable[tuple[int, str]]) -> None:
    """Put back what mypy has cleared since."""
    if said:
        recorded = errors.error_info_map.setdefault(path, [])
        if not any(info is said[0] for info in recorded):
            recorded.extend(said)
    for line, code in ignored:
        used = errors.used_ignored_lines[path][line]
        if code not in used:
            used.append(code)
