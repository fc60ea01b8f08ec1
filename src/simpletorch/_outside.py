"""Look-ups of files, folders and variables, the only ones that following makes; `recording` notes each with its answer.

A follow is a function of its arguments and of these answers: it need not be repeated while each look-up answers the
same, also that a file isn't there (`follow.cache`).
"""

from __future__ import annotations

import io
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from typing import IO, Any, Final, TypeAlias, final

__all__ = [
    "Answer",
    "Looks",
    "State",
    "below",
    "content",
    "digest",
    "exists",
    "has_python",
    "is_dir",
    "is_file",
    "is_settled",
    "names",
    "note",
    "opened",
    "real",
    "real_of_existing",
    "recording",
    "size",
    "size_in",
    "state",
    "state_of",
    "still",
    "variable",
]

StrPath: TypeAlias = str | os.PathLike[str]
Answer: TypeAlias = Any
"""What JSON has: None, a bool, a number, a text, or a list of them."""
State: TypeAlias = tuple[int, int, int, int]
"""Times of the last changes, size and number of a file: another content has another one, but for `is_settled`."""

_SETTLED: Final = 2_000_000_000  # ns: the coarsest clock of a file system, FAT's


@final
class Looks:
    """Look-ups with their answers, by the question's name and what it is asked of."""

    def __init__(self) -> None:
        self.answers: dict[str, dict[str, Answer]] = {}
        self.is_stable = True
        """No look-up was answered in two ways: nothing has changed meanwhile."""

    def add(self, question: str, of: str, answer: Answer) -> None:
        """Note a look-up."""
        if self.answers.setdefault(question, {}).setdefault(of, answer) != answer:
            self.is_stable = False


_looks: Looks | None = None


@contextmanager
def recording() -> Iterator[Looks]:
    """Note the look-ups in here. There is one follow at a time in a process."""
    global _looks
    before, _looks = _looks, Looks()
    try:
        yield _looks
    finally:
        _looks = before


def note(question: str, of: StrPath, answer: Answer) -> None:
    """Note a look-up, if a recording is under way."""
    if _looks is not None:
        _looks.add(question, os.fspath(of), answer)


# -- the questions -----------------------------------------------------------------------------------------------------


def exists(path: StrPath) -> bool:
    """Whether something has this path."""
    found = os.path.exists(path)
    note("exists", path, found)
    return found


def is_file(path: StrPath) -> bool:
    """Whether there is such a file."""
    found = os.path.isfile(path)
    note("is_file", path, found)
    return found


def is_dir(path: StrPath) -> bool:
    """Whether there is such a folder."""
    found = os.path.isdir(path)
    note("is_dir", path, found)
    return found


def real(path: StrPath) -> str:
    """A path without links, as far as it exists."""
    found = os.path.realpath(path)
    note("real", path, found)
    return found


def real_of_existing(path: StrPath) -> str | None:
    """The path without links of what is there; None if nothing is."""
    try:
        found = os.path.realpath(path, strict=True)
    except (OSError, ValueError):
        found = None
    note("real_of_existing", path, found)
    return found


def size(path: StrPath) -> int:
    """The size of a file.

    Raises:
        OSError: it isn't there.
    """
    try:
        found = os.stat(path).st_size
    except OSError:
        note("size", path, None)
        raise
    note("size", path, found)
    return found


def has_python(folder: StrPath) -> bool:
    """Whether a folder has a file of Python in it."""
    try:
        with os.scandir(folder) as entries:
            found = any(entry.name.endswith(".py") for entry in entries)
    except OSError:
        found = False
    note("has_python", folder, found)
    return found


_MOST_NAMES: Final = 20_000


def names(folder: StrPath) -> list[tuple[str, bool | None]] | None:
    """The entries of a folder, sorted, each with whether it is a folder (None: a link to one).

    None if it is unreadable, or there are too many.
    """
    found = _names(folder)
    if _looks is not None:
        note("names", folder, _digest_of_names(found))
    return found


def _names(folder: StrPath) -> list[tuple[str, bool | None]] | None:
    found: list[tuple[str, bool | None]] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                found.append((entry.name, None if entry.is_symlink() and entry.is_dir() else entry.is_dir()))
                if len(found) > _MOST_NAMES:
                    return None
    except OSError:
        return None
    return sorted(found, key=lambda entry: entry[0])


def _digest_of_names(found: list[tuple[str, bool | None]] | None) -> str | None:
    return None if found is None else digest(repr(found).encode(errors="surrogateescape"))


def variable(name: str) -> str:
    """A variable of the environment; an empty text if there is none."""
    found = os.environ.get(name, "")
    note("variable", name, found)
    return found


# -- contents ----------------------------------------------------------------------------------------------------------


def digest(data: bytes) -> str:
    """A digest of bytes."""
    return blake2b(data, digest_size=16).hexdigest()


def state(path: StrPath) -> State:
    """The state of a file; not noted, because who uses it notes the content that it stands for.

    Raises:
        OSError: it isn't there.
    """
    return state_of(os.stat(path))


def state_of(about: os.stat_result) -> State:
    """The state of a file by what the system says about it."""
    return about.st_mtime_ns, about.st_ctime_ns, about.st_size, about.st_ino


def size_in(of: State) -> int:
    """The size of a file in this state."""
    return of[2]


def is_settled(of: State) -> bool:
    """Whether a file that is written to from now on gets another state: clocks of file systems are coarse."""
    return time.time_ns() - max(of[0], of[1]) > _SETTLED


def below(folder: str, endings: tuple[str, ...], name: str = "") -> Iterator[tuple[str, os.DirEntry[str]]]:
    """The files below a folder of our own, by their paths from it. No answer depends on them, so none is noted.

    Args:
        folder: where they are.
        endings: of their names.
        name: put before each path.
    """
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(endings):
                yield name + entry.name, entry
            elif entry.name != "__pycache__" and entry.is_dir():
                yield from below(entry.path, endings, f"{name}{entry.name}/")


def content(path: StrPath) -> bytes:
    """The bytes of a file.

    Raises:
        OSError: it can't be read.
    """
    try:
        with open(path, "rb") as file:
            found = file.read()
    except OSError:
        note("content", path, None)
        raise
    if _looks is not None:
        note("content", path, digest(found))
    return found


_digests: Final[dict[str, tuple[State, str]]] = {}  # by path, of files that were settled as they were read


def _content_digest(path: str) -> str | None:
    try:
        now = state(path)
        before = _digests.get(path)
        if before is not None and before[0] == now:
            return before[1]
        if not os.path.isfile(path):  # to read a pipe or a device might not end
            return None
        with open(path, "rb") as file:
            found = digest(file.read())
    except OSError:
        return None
    if is_settled(now):
        _digests[path] = now, found
    return found


def opened(path: str) -> IO[bytes] | None:
    """A regular file, for reading in parts; None if it isn't one. No link is followed."""
    number = _number_of(path)
    if number is None:
        note("parts", path, None)
        return None
    if _looks is None:
        return os.fdopen(number, "rb")
    known = _looks.answers.setdefault("parts", {}).setdefault(path, [os.fstat(number).st_size])
    if not known or known[0] != os.fstat(number).st_size:
        _looks.is_stable = False
        known = [0]
    return io.BufferedReader(_Noted(number, known))


def _number_of(path: str) -> int | None:
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        number = os.open(path, flags | getattr(os, "O_BINARY", 0))
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        return None
    return number


class _Noted(io.FileIO):
    """A file whose reads are noted, each as where it begins, how many bytes it asks for, and a digest of those."""

    def __init__(self, number: int, noted: list[Any]) -> None:
        super().__init__(number, "rb")
        self._noted_reads = noted

    def readinto(self, buffer: Any, /) -> int:
        start = self.tell()
        count = super().readinto(buffer) or 0
        self._note(start, len(buffer), bytes(memoryview(buffer)[:count]))
        return count

    def readall(self) -> bytes:
        start = self.tell()
        found = super().readall() or b""
        self._note(start, -1, found)
        return found

    def _note(self, start: int, asked: int, found: bytes) -> None:
        part = [start, asked, digest(found)]
        if part not in self._noted_reads:
            self._noted_reads.append(part)


def _parts(path: str, noted: list[Any] | None) -> list[Any] | None:
    """The same parts of a file as those that were noted, as they are now."""
    number = _number_of(path)
    if number is None:
        return None
    with os.fdopen(number, "rb", buffering=0) as file:
        now: list[Any] = [os.fstat(number).st_size]
        for start, asked, _ in noted[1:] if noted and noted[0] == now[0] else ():
            file.seek(start)
            now.append([start, asked, digest((file.readall() if asked < 0 else file.read(asked)) or b"")])
    return now


# -- asking again ------------------------------------------------------------------------------------------------------

_AGAIN: Final[dict[str, Callable[[str], Answer]]] = {
    "exists": os.path.exists,
    "is_file": os.path.isfile,
    "is_dir": os.path.isdir,
    "real": os.path.realpath,
    "real_of_existing": real_of_existing,
    "size": lambda path: size(path) if os.path.exists(path) else None,
    "has_python": has_python,
    "names": lambda folder: _digest_of_names(_names(folder)),
    "content": _content_digest,
    "variable": lambda name: os.environ.get(name, ""),
}


def still(answers: Mapping[str, Mapping[str, Answer]], more: Mapping[str, Callable[[str], Answer]]) -> bool:
    """Whether all look-ups are answered now as they were; ``more`` asks again what others have noted."""
    asks = {**_AGAIN, **more}
    for question, known in answers.items():
        if question == "parts":
            if any(_parts(path, noted) != noted for path, noted in known.items()):
                return False
            continue
        ask = asks.get(question)
        if ask is None or any(ask(of) != answer for of, answer in known.items()):
            return False
    return True
