"""A baseline: findings that a project knows of already, in a file that is kept with it.

A finding is known by its file, code, message and the text of its line. The line's number doesn't count, so that it is
still known after other lines have moved it. Two findings that are alike need two entries.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, final

from simpletorch.rules.core.codes import CODES

__all__ = ["Baseline", "BaselineError", "Entry"]

_FORM: Final = 1
_NUMBER_OF_LINE: Final = re.compile(r"(\bline |\.py:)\d+")
"""Messages name other lines, which move as well."""


class BaselineError(Exception):
    """A baseline that can't be read or written; the text says why, and what would be right."""


class Entry(NamedTuple):
    """The identity of a finding: two with the same one are alike."""

    file: str  # from the baseline's folder, with / between its parts
    code: str
    message: str
    line: str


@final
class Baseline:
    """The known findings of a project.

    Args:
        file: the file of the baseline.
        entries: how often each finding is known.
    """

    def __init__(self, file: Path, entries: Mapping[Entry, int] | None = None) -> None:
        self.file = file
        self._entries = Counter(entries or {})
        self._left = Counter(self._entries)
        self._met: Counter[Entry] = Counter()

    @classmethod
    def read(cls, file: Path) -> Baseline:
        """Read a baseline.

        Raises:
            BaselineError: there is none, or it is no baseline.
        """
        try:
            document = json.loads(file.read_text(encoding="utf-8"))
            if document["version"] != _FORM:
                raise BaselineError(f"{file} is a baseline of another version: write it again with --write-baseline")
            entries: Counter[Entry] = Counter()
            for name, found in document["findings"].items():
                for one in found:
                    entries[Entry(name, one["code"], one["message"], one["line"])] += int(one.get("count", 1))
        except FileNotFoundError:
            raise BaselineError(f"there is no baseline {file}: --write-baseline writes one") from None
        except OSError as error:
            raise BaselineError(f"{file} can't be read: {error.strerror}") from None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BaselineError(f"{file} is no baseline of simpletorch's: {type(error).__name__}: {error}") from None
        return cls(file, entries)

    def knows(self, path: str, code: str | None, message: str, line: str) -> bool:
        """Whether a finding is known. Each entry stands for one finding."""
        entry = Entry(self._name(path), code or "", _NUMBER_OF_LINE.sub(r"\1…", message), line.strip())
        self._met[entry] += 1
        if not self._left[entry]:
            return False
        self._left[entry] -= 1
        return True

    def stale(self, looked_at: Iterable[str], *, of_mypy: bool) -> int:
        """The number of entries without a finding, in the files that were looked at.

        Args:
            looked_at: the paths of these files.
            of_mypy: whether mypy has looked, too; if not, its entries may still be right.
        """
        names = {self._name(path) for path in looked_at}
        return sum(n for entry, n in self._left.items() if entry.file in names and (of_mypy or entry.code in CODES))

    def write(self, looked_at: Collection[str], *, of_mypy: bool) -> int:
        """Write the findings that were met; entries of other files stay. Returns the number of findings.

        Raises:
            BaselineError: the file can't be written.
        """
        names = {self._name(path) for path in looked_at}
        kept = Counter(
            {
                entry: n
                for entry, n in self._entries.items()
                if not (entry.file in names and (of_mypy or entry.code in CODES))
                and (self.file.parent / entry.file).is_file()
            }
        )
        entries = kept + self._met
        findings: dict[str, list[dict[str, Any]]] = {}
        for entry in sorted(entries):
            one: dict[str, Any] = {"code": entry.code, "message": entry.message, "line": entry.line}
            findings.setdefault(entry.file, []).append(one if entries[entry] == 1 else {**one, "count": entries[entry]})
        text = json.dumps({"version": _FORM, "findings": findings}, indent=1, ensure_ascii=False)
        try:
            self.file.write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            raise BaselineError(f"{self.file} can't be written: {error.strerror}") from None
        return entries.total()

    def _name(self, path: str) -> str:
        folder = os.path.realpath(self.file.parent)
        return Path(os.path.relpath(os.path.realpath(path), folder)).as_posix()
