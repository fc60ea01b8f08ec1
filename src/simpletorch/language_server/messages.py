"""Messages between the server and the following process: plain values, pickled, each with its length."""

from __future__ import annotations

import pickle
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple, TypeAlias, final

from simpletorch.follow import Finding, Note
from simpletorch.follow.marks.seen import Place, Visit
from simpletorch.rules.core.codes import Severity

__all__ = ["HEAD", "Answer", "Ask", "Cancel", "Found", "Hint", "Known", "Message", "Mistake", "pack", "read", "size_of"]

HEAD: Final = struct.Struct(">Q")


@final
@dataclass(frozen=True, slots=True)
class Ask:
    """Follow a program, with the texts that have changed since the last time: None where the file counts again."""

    number: int
    path: str
    texts: Mapping[str, str | None]
    arguments: tuple[str, ...] = ()
    severities: Mapping[str, Severity] = field(default_factory=dict)
    steps: int = 50_000
    seconds: float = 2.0
    page: bool = False
    """Whether the page of HTML is wanted, too."""
    data: bool | tuple[Path, ...] = True


@final
@dataclass(frozen=True, slots=True)
class Cancel:
    """The answer isn't needed any more."""

    number: int


@final
@dataclass(frozen=True, slots=True)
class Mistake:
    """Why a text is no Python; the line counts from 1, the column from 0, in characters."""

    line: int
    column: int
    message: str


class Hint(NamedTuple):
    """An inlay hint: shown after a place, in bytes of UTF-8 as Python's ``ast`` counts."""

    line: int
    column: int
    text: str
    kind: str  # "assigned", "parameter" or "layer"


@final
@dataclass(frozen=True, slots=True)
class Known:
    """The known type of a tensor, in words."""

    type: str
    place: str | None = None
    layout: str | None = None
    origins: tuple[str, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Found:
    """The findings in a program, sent before its `Answer`."""

    number: int
    path: str
    findings: tuple[Finding, ...]


@final
@dataclass(frozen=True, slots=True)
class Answer:
    """The result of following a program. The looks of each file are places with indexes into ``known``."""

    number: int
    path: str
    mistake: Mistake | None = None
    is_cancelled: bool = False
    is_complete: bool = True
    seconds: float = 0.0
    findings: tuple[Finding, ...] = ()
    notes: tuple[Note, ...] = ()
    files: tuple[str, ...] = ()
    hints: Mapping[str, Sequence[Hint]] = field(default_factory=dict)
    looks: Mapping[str, Sequence[tuple[Place, tuple[int, ...]]]] = field(default_factory=dict)
    known: tuple[Known, ...] = ()
    reasons: Mapping[str, Mapping[int, Sequence[str]]] = field(default_factory=dict)
    visits: tuple[Visit, ...] = ()
    page: str | None = None


Message: TypeAlias = Ask | Cancel | Found | Answer


def pack(message: Message) -> bytes:
    """A message as it is sent."""
    body = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return HEAD.pack(len(body)) + body


def size_of(head: bytes) -> int:
    """How long the message behind a head is."""
    (size,) = HEAD.unpack(head)
    return int(size)


def read(stream: BinaryIO) -> Any:
    """The next message; None where there is none any more."""
    head = stream.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    return pickle.loads(stream.read(size_of(head)))
