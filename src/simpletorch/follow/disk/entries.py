"""A data file as an entry of the program's files: `files.found` gives it where the program has written none itself."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any, Final, TypeVar

from simpletorch.follow.disk import described
from simpletorch.follow.disk.arrays import npy, npz
from simpletorch.follow.disk.arrow import arrow, is_arrow
from simpletorch.follow.disk.hdf5 import hdf5, is_hdf5
from simpletorch.follow.disk.images import image, is_image
from simpletorch.follow.disk.matlab import is_matlab, matlab
from simpletorch.follow.disk.parquet import parquet
from simpletorch.follow.disk.pickles import pickled, torch_archive
from simpletorch.follow.disk.reach import length_of
from simpletorch.follow.disk.safetensors import safetensors
from simpletorch.follow.disk.sounds import is_sound, sound
from simpletorch.follow.disk.sqlite import is_sqlite, sqlite
from simpletorch.follow.disk.zips import members, refuse_large_index
from simpletorch.follow.values import MISSING, Dict, List, Saved, Tensor, Value, is_known
from simpletorch.rules import TensorType
from simpletorch.rules.core.dtype import BY_TORCH_NAME
from simpletorch.shapes import Shape

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = [
    "DISK",
    "IMAGE",
    "SOUND",
    "TEXT",
    "describe",
    "entry",
    "members_of",
    "read",
    "table_of",
    "text_of",
    "value",
    "words_of",
]

T = TypeVar("T")

TEXT, IMAGE, SOUND = "text", "image", "sound"
"""Kinds: an image is ``(mode, height, width)``, a sound ``(frames, channels, rate)``."""
DISK: Final = "disk"
"""The kind of an entry whose value is only the file's path: a reader of tables opens it."""
_LONGEST_TEXT: Final = 1_000_000
_LARGEST_PICKLE: Final = 1 << 26
_LARGEST_TABLE: Final = 1 << 24
_MOST_VALUES: Final = 100_000
_FIRST: Final = 32
_MOST_NAMED: Final = 3
_MOST_COLUMNS: Final = 8
_LEGACY_MAGIC: Final = 0x1950A86A20F9469CFC6C


def entry(run: Interpreter, text: str) -> Value:
    """The entry of a path, MISSING if there is no file that may be read."""
    reach = run.program.reach
    real = reach.find(text)
    if real is None:
        return MISSING
    known = run.program.entries
    if real not in known:
        file = reach.open(real)
        if file is None:
            known[real] = MISSING
        else:
            with file:
                known[real] = _entry(run, file, real)
    return known[real]


def _entry(run: Interpreter, file: IO[bytes], real: str) -> Value:
    length = length_of(file)
    start = file.read(_FIRST)
    file.seek(0)
    try:
        for fits, kind, read in _FORMATS:
            if fits(start, real):
                return Saved(kind, _Values(run).value(read(file, length)))
    except described.Unreadable:
        return Saved(DISK, real)
    if length > _LONGEST_TEXT or not run.program.reach.take(length):
        return Saved(DISK, real)
    text = _decoded(file.read())
    return Saved(DISK, real) if text is None else Saved(TEXT, text)


def value(run: Interpreter, found: described.Contents) -> Value:
    """Contents of a file as the program has them."""
    return _Values(run).value(found)


def describe(run: Interpreter, text: str, words: str) -> None:
    """Say what a file is whose text was read, for `read`."""
    for real, found in run.program.entries.items():
        if isinstance(found, Saved) and (found.value is text or run.program.long_texts.get(real) is text):
            run.program.described[real] = words


def read(run: Interpreter) -> tuple[tuple[str, str], ...]:
    """The data files that a follow has read, as the program would name them, each with its contents in words."""
    found = []
    for real, held in run.program.entries.items():
        words = run.program.described.get(real) or _words(held)
        if words:
            found.append((os.path.relpath(real) if real.startswith(os.getcwd() + os.sep) else real, words))
    return tuple(found)


def _words(found: Value) -> str:
    if not isinstance(found, Saved):
        return ""
    value = found.value
    if isinstance(value, Tensor):
        return str(value.type)
    if found.kind == IMAGE:
        return f"an image of {value[2]} × {value[1]} pixels"
    if found.kind == SOUND:
        return f"{value[0]} frames of {value[1]} channel{'' if value[1] == 1 else 's'}"
    if isinstance(value, Dict):
        held = value.cells.items()
        if found.kind == "sqlite":
            said = [f"{k}: {rows} rows, {len(columns)} columns" for k, (columns, rows, _) in held]
        else:
            said = [f"{k}: {v.type}" for k, v in held if isinstance(v, Tensor)]
        more = "" if len(said) <= _MOST_NAMED else f" and {len(said) - _MOST_NAMED} more"
        return ", ".join(said[:_MOST_NAMED]) + more
    return ""


def text_of(run: Interpreter, found: Value) -> str | None:
    """The text in an entry, also a longer one than programs get; None if it isn't known."""
    if not isinstance(found, Saved):
        return None
    if found.kind == TEXT and isinstance(found.value, str):
        return found.value
    if found.kind != DISK or not isinstance(found.value, str):
        return None
    if found.value in run.program.long_texts:
        return run.program.long_texts[found.value]
    file = run.program.reach.open(found.value)
    if file is None:
        return None
    with file:
        length = length_of(file)
        if length > _LARGEST_TABLE or not run.program.reach.take(length):
            return None
        text = _decoded(file.read())
    if text is not None:
        run.program.long_texts[found.value] = text
    return text


def table_of(run: Interpreter, found: Value) -> described.Table | None:
    """The table in the entry of a file of Parquet's or Arrow's; None if it isn't known."""
    table = _read_now(run, found, _table)
    if table is not None:
        run.program.described[found.value] = words_of(table)
    return table


def members_of(run: Interpreter, found: Value) -> list[str] | None:
    """The names in the entry of an archive; None if they aren't known."""
    names = _read_now(run, found, members)
    if names is not None:
        run.program.described[found.value] = f"an archive of {len(names)} members"
    return names


def _read_now(run: Interpreter, found: Value, read: Callable[[IO[bytes], int], T]) -> T | None:
    """The contents of a file whose entry is only its path; None if they aren't known."""
    if not isinstance(found, Saved) or found.kind != DISK or not isinstance(found.value, str):
        return None
    file = run.program.reach.open(found.value)
    if file is None:
        return None
    with file:
        try:
            return read(file, length_of(file))
        except described.Unreadable:
            return None


def _table(file: IO[bytes], length: int) -> described.Table:
    start = file.read(_FIRST)
    file.seek(0)
    return (arrow if is_arrow(start) else parquet)(file, length)


def words_of(table: described.Table) -> str:
    """A table in words: ``23 rows, 3 columns: a, b, y``."""
    more = ", …" if len(table.columns) > _MOST_COLUMNS else ""
    return f"{table.rows} rows, {len(table.columns)} columns: {', '.join(table.columns[:_MOST_COLUMNS])}{more}"


def _decoded(data: bytes) -> str | None:
    if b"\0" in data:
        return None
    try:
        return data.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return None


def _npz(file: IO[bytes], length: int) -> dict[str, described.Array]:
    refuse_large_index(file, length)
    return npz(file)


def _torch(file: IO[bytes], length: int) -> described.Contents:
    refuse_large_index(file, length)
    return torch_archive(file)


def _pickle(file: IO[bytes], length: int) -> described.Contents:
    if length > _LARGEST_PICKLE:
        raise described.Unreadable("a pickle of that length")
    found = pickled(io.BytesIO(file.read(_LARGEST_PICKLE)))
    if found == _LEGACY_MAGIC:
        raise described.Unreadable("an old file of torch's")
    return found


_FORMATS: Final[tuple[tuple[Callable[[bytes, str], bool], str, Callable[[IO[bytes], int], Any]], ...]] = (
    (lambda start, path: start.startswith(b"\x93NUMPY"), "npy", npy),
    (lambda start, path: start.startswith(b"PK\3\4") and path.endswith(".npz"), "npz", _npz),
    (lambda start, path: start.startswith(b"PK\3\4"), "torch", _torch),
    (lambda start, path: path.endswith(".safetensors"), "safetensors", safetensors),
    (lambda start, path: is_hdf5(start), "hdf5", hdf5),
    (lambda start, path: is_sqlite(start), "sqlite", sqlite),
    (lambda start, path: is_matlab(start), "matlab", matlab),
    (lambda start, path: is_image(start), IMAGE, lambda file, length: image(file)),
    (lambda start, path: is_sound(start), SOUND, sound),
    (lambda start, path: start.startswith(b"\x80") and start[1:2] <= b"\5", "pickle", _pickle),
)


class _Values:
    """Described contents as values of a program."""

    def __init__(self, run: Interpreter) -> None:
        self._run = run
        self._made: dict[int, Value] = {}
        self._left = _MOST_VALUES

    def value(self, found: described.Contents) -> Value:
        self._left -= 1
        if self._left < 0:
            return self._unknown()
        if isinstance(found, described.Array):
            return self._tensor(found.shape, found.dtype, array=True)
        if isinstance(found, described.Tensor):
            return self._tensor(found.shape, found.dtype, array=False)
        if isinstance(found, described.Image):
            return found.mode or self._unknown("str"), found.height, found.width
        if isinstance(found, described.Sound):
            return found.frames, found.channels, found.rate
        if isinstance(found, dict | list | tuple):
            if id(found) not in self._made:
                self._made[id(found)] = self._container(found)
            return self._made[id(found)]
        return found if is_known(found) and not isinstance(found, bytes) else self._unknown()

    def _container(self, found: dict[Any, Any] | list[Any] | tuple[Any, ...]) -> Value:
        if isinstance(found, dict):
            return Dict({k: self.value(v) for k, v in found.items()})
        items = tuple(map(self.value, found))
        return items if isinstance(found, tuple) else List(items)

    def _tensor(self, shape: tuple[int, ...], dtype: str, *, array: bool) -> Value:
        known = BY_TORCH_NAME.get(dtype)
        if array and known is None:  # texts, objects, dates, records
            return self._unknown()
        return Tensor(TensorType(Shape(shape), known), array=array)

    def _unknown(self, type: str | None = None) -> Value:
        return self._run.unknown("what is in a file", type, "data")
