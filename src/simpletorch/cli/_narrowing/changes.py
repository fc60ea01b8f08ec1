"""The lines that have changed since a revision, as git says."""

from __future__ import annotations

import ast
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final, final

from simpletorch.follow.sources.notebooks import Document, file_of, is_notebook, parsed, read

__all__ = ["Changes", "GitError"]

_HUNK: Final = re.compile(r"@@ -\S+ \+(?P<start>\d+)(?:,(?P<count>\d+))? @@")
_DIFF: Final = (
    "diff",
    "--unified=0",
    "--find-renames",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-relative",
)
_PREFIXES: Final = ("--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules")


class GitError(Exception):
    """git can't say what has changed; the text says why, and what would be right."""


@final
class Changes:
    """The lines below the current folder's repository that aren't as they were where this branch left ``base``.

    Changes that aren't committed count, and so do all lines of files that git doesn't track. Lines that were only
    moved to a renamed file haven't changed.

    Raises:
        GitError: there is no git, no repository, or no such revision.
    """

    def __init__(self, base: str) -> None:
        self._root = os.path.realpath(_git("rev-parse", "--show-toplevel").rstrip("\n"))
        if base.startswith("-") or not _succeeds("rev-parse", "--verify", "--quiet", f"{base}^{{commit}}"):
            raise GitError(
                f"git knows no revision {base!r}; a shallow clone has few: 'git fetch origin {base}', "
                "or fetch-depth: 0 of actions/checkout"
            )
        try:
            self._base = _git("merge-base", base, "HEAD").strip()
        except GitError:
            raise GitError(
                f"{base} and HEAD have no common ancestor here; a shallow clone lacks it: 'git fetch --unshallow', "
                "or fetch-depth: 0 of actions/checkout"
            ) from None
        self._lines: dict[str, list[range]] = {}
        self._before: dict[str, str] = {}
        self._cells: dict[str, tuple[Document, frozenset[int]] | None] = {}
        for before, path, lines in _changed(_git("-c", "core.quotePath=true", *_DIFF, *_PREFIXES, self._base)):
            self._lines.setdefault(path, []).extend(lines)
            self._before[path] = before
        untracked = _git("-C", self._root, "ls-files", "--others", "--exclude-standard", "-z").split("\0")
        self._new = frozenset(filter(None, untracked))

    def has(self, path: str, first: int, last: int | None = None) -> bool:
        """Whether one of these lines of a file or of a notebook's cell has changed."""
        file = file_of(path)
        name = os.path.relpath(os.path.realpath(file), self._root).replace(os.sep, "/")
        if name in self._new:
            return True
        if name not in self._lines:
            return False
        if is_notebook(file):
            return self._has_cell(file, name, path, first)
        wanted = range(first, (last or first) + 1)
        return any(max(r.start, wanted.start) < min(r.stop, wanted.stop) for r in self._lines[name])

    def _has_cell(self, file: str, name: str, path: str, line: int) -> bool:
        if file not in self._cells:
            self._cells[file] = self._compared(file, name)
        known = self._cells[file]
        if known is None:
            return True
        document, changed = known
        starts = {document.name(number): start for number, start in enumerate(document.starts, 1)}
        return path not in starts or starts[path] + line - 1 in changed

    def _compared(self, file: str, name: str) -> tuple[Document, frozenset[int]] | None:
        """A notebook, and the changed lines of its program; None where the old one can't be read."""
        try:
            now, old = read(file), parsed(file, _git("show", f"{self._base}:{self._before[name]}"))
        except (ValueError, OSError, GitError):
            return None
        lines = now.text.split("\n")
        blocks = SequenceMatcher(None, old.text.split("\n"), lines, autojunk=False).get_matching_blocks()
        same = {n for block in blocks for n in range(block.b + 1, block.b + block.size + 1)}
        return now, frozenset(set(range(1, len(lines) + 1)) - same)


def _changed(patch: str) -> Iterator[tuple[str, str, list[range]]]:
    """The files of a patch without context: the path before, the path now, and the lines that are new."""
    before = now = ""
    for line in patch.split("\n"):
        if line.startswith("--- "):
            before = _path(line)
        elif line.startswith("+++ "):
            now = _path(line)
        elif now and (hunk := _HUNK.match(line)):
            start, count = int(hunk["start"]), int(hunk["count"] or 1)
            # where lines are only gone, the two around them count
            yield before, now, [range(start, start + (count or 2))]
        elif line.startswith("diff --git "):
            before = now = ""


def _path(line: str) -> str:
    """The path in a patch's line; "" for the missing side of a new or removed file."""
    path = line[4:].removesuffix("\t")
    if path.startswith('"'):
        path = os.fsdecode(ast.literal_eval(f"b{path}"))  # git quotes as C does
    return "" if path == "/dev/null" else path[2:]


def _git(*arguments: str) -> str:
    done = _run(arguments)
    if done.returncode:
        why = done.stderr.decode(errors="replace").strip().splitlines()
        said = why[0].removeprefix("fatal: ") if why else f"git {arguments[0]} has failed"
        raise GitError(f"git can't say what has changed: {said}")
    return os.fsdecode(done.stdout)


def _succeeds(*arguments: str) -> bool:
    return _run(arguments).returncode == 0


def _run(arguments: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(["git", *arguments], capture_output=True, check=False)
    except OSError as error:
        raise GitError(f"git can't be run: {error.strerror}") from None
