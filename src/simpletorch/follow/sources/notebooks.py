"""A notebook's file as one program: its cells of code one after the other, and from its lines back to them."""

from __future__ import annotations

import ast
import json
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

from simpletorch.follow import Call, Finding, Note
from simpletorch.follow.sources.cells import read as read_cell
from simpletorch.follow.sources.cells import unknown
from simpletorch.follow.sources.python import why_refused
from simpletorch.rules.core.codes import Severity

if TYPE_CHECKING:
    from simpletorch.follow import Followed

__all__ = ["Document", "file_of", "follow_document", "is_notebook", "parsed", "read", "with_cell"]

_SUFFIX: Final = ".ipynb"
_FIRST_LINE: Final = "from IPython.display import display"  # what IPython itself defines
_PLACE: Final = re.compile(rf"(?P<file>.*\{_SUFFIX}):cell (?P<cell>\d+)")
_AWAITS: Final = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


def is_notebook(path: str | Path) -> bool:
    """Whether a path is a notebook's, by its name."""
    return Path(path).suffix == _SUFFIX


@final
@dataclass(frozen=True)
class Document:
    """A notebook.

    Args:
        path: its file, as the user wrote it.
        cells: the texts of its cells of code, without the magics.
        starts: in which line of the program each begins, from 1.
        written: the texts of these cells as the user has written them, with as many lines.
        left_out: the numbers of cells that are no Python, with the line and the reason.
    """

    path: str
    cells: Sequence[str]
    starts: Sequence[int]
    written: Sequence[str]
    left_out: Sequence[tuple[int, int, str]] = ()

    @property
    def notes(self) -> tuple[Note, ...]:
        """The notes about cells that aren't Python."""
        return tuple(Note(self.name(n), line, f"the cell is left out: {why}") for n, line, why in self.left_out)

    @property
    def text(self) -> str:
        """The program."""
        return "\n".join((_FIRST_LINE, *self.cells)) + "\n"

    def name(self, number: int) -> str:
        """The name of a code cell in reports; they count from 1."""
        return f"{self.path}:cell {number}"

    def place(self, line: int) -> tuple[str, int]:
        """The cell of a line of the program, by its name, and the line in it."""
        number = max(bisect_right(self.starts, line), 1)
        return self.name(number), line - self.starts[number - 1] + 1

    def relocated(self, found: Followed) -> Followed:
        """The result for the program, with places told by cells."""

        def at(path: str, line: int) -> tuple[str, int]:
            return self.place(line) if path == self.path else (path, line)

        def finding(f: Finding) -> Finding:
            path, line = at(f.path, f.line)
            end = None if f.end_line is None else at(f.path, f.end_line)[1]
            return replace(f, path=path, line=line, end_line=end, trace=tuple(map(call, f.trace)))

        def call(c: Call) -> Call:
            path, line = at(c.path, c.line)
            return replace(c, path=path, line=line)

        def note(n: Note) -> Note:
            path, line = at(n.path, n.line)
            return replace(n, path=path, line=line)

        def sentence(text: str) -> str:
            place = re.match(rf"{re.escape(self.path)}:(\d+)(?=[,:])", text)
            return text if place is None else ":".join(map(str, at(self.path, int(place[1])))) + text[place.end() :]

        return replace(
            found,
            ended=sentence(found.ended),
            faults=tuple(map(sentence, found.faults)),
            not_followed=tuple((*at(path, line), name) for path, line, name in found.not_followed),
            causes=tuple((*at(path, line), why, partly) for path, line, why, partly in found.causes),
            errors=tuple(map(finding, found.errors)),
            warnings=tuple(map(finding, found.warnings)),
            remarks=tuple(map(finding, found.remarks)),
            ignored=tuple(map(finding, found.ignored)),
            notes=tuple(map(note, found.notes)),
            claims={at(*place): given for place, given in found.claims.items()},
            reasons={at(*place): given for place, given in found.reasons.items()},
        )


def read(path: str | Path) -> Document:
    """Read a notebook.

    Raises:
        ValueError: it is none, or no cell is Python; the message says where.
        OSError: it can't be read.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is no notebook: {error}") from None
    return parsed(path, text)


def parsed(path: str | Path, text: str) -> Document:
    """The notebook that a text holds.

    Raises:
        ValueError: it is none, or no cell is Python; the message says where.
    """
    try:
        content = json.loads(text)
        written = [_source(cell) for cell in _cells_of(content) if cell.get("cell_type") == "code"]
    except (json.JSONDecodeError, AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is no notebook: {error}") from None
    cells = [read_cell(source).text for source in written]
    refused = [(number, why_refused(cell, _AWAITS)) for number, cell in enumerate(cells, 1)]
    left_out = [(number, why.line or 1, why.reason) for number, why in refused if why is not None]
    if left_out and len(left_out) == sum(bool(cell.strip()) for cell in cells):
        number, line, reason = left_out[0]
        raise ValueError(f"{path}:cell {number}:{line}: {reason}")
    for number, *_ in left_out:
        cells[number - 1] = unknown(cells[number - 1])
    starts = list(accumulate((cell.count("\n") + 1 for cell in cells[:-1]), initial=2))
    return Document(str(path), tuple(cells), tuple(starts), tuple(written), tuple(left_out))


def _cells_of(content: Any) -> Sequence[Mapping[str, Any]]:
    if "worksheets" in content:  # the format of 2014 and before
        return [{**cell, "source": cell.get("input", "")} for sheet in content["worksheets"] for cell in sheet["cells"]]
    found: Sequence[Mapping[str, Any]] = content["cells"]
    return found


def _source(cell: Mapping[str, Any]) -> str:
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)


def follow_document(
    path: str | Path, arguments: Sequence[str] = (), *, severities: Mapping[str, Severity] | None = None, **limits: Any
) -> Followed:
    """Follow a notebook from its first cell to its last, told by cells.

    Args:
        path: its file.
        arguments: of a command line.
        severities: of codes, as `follow` takes them.
        limits: ``steps`` and ``seconds``, as `follow` takes them.

    Raises:
        ValueError: it is no notebook, or no cell is Python.
        OSError: it can't be read.
    """
    from simpletorch.follow import follow  # it takes 0.1 s to import

    document = read(path)
    opened = {str(path): document.text}
    found = document.relocated(follow(path, arguments, severities=severities, opened=opened, **limits))
    return replace(found, notes=(*document.notes, *found.notes))


def file_of(place: str) -> str:
    """The file of what a finding calls its path: for a cell that of its notebook."""
    found = _PLACE.fullmatch(place)
    return place if found is None else found["file"]


def with_cell(diagnostic: dict[str, Any]) -> dict[str, Any]:
    """A diagnostic for other programs: one in a notebook has the number of its cell beside the file."""
    found = _PLACE.fullmatch(diagnostic["file"])
    return diagnostic if found is None else {**diagnostic, "file": found["file"], "cell": int(found["cell"])}
