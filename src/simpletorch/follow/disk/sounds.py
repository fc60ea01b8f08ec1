"""Lengths of sound files, from their headers: WAV and FLAC."""

from __future__ import annotations

import struct
from typing import IO, Final

from simpletorch.follow.disk.described import Sound, Unreadable

__all__ = ["is_sound", "sound"]

_MOST_CHUNKS: Final = 1_000


def is_sound(start: bytes) -> bool:
    """Whether a file that begins with these (at least 12) bytes is a sound of a known format."""
    return start.startswith(b"fLaC") or (start[:4] == b"RIFF" and start[8:12] == b"WAVE")


def sound(file: IO[bytes], length: int) -> Sound:
    """The sound in a file of ``length`` bytes.

    Raises:
        Unreadable: the header is damaged, or of another format.
    """
    start = file.read(12)
    try:
        if start.startswith(b"fLaC"):
            file.seek(8)
            return _flac(file.read(34))
        if start[:4] == b"RIFF" and start[8:12] == b"WAVE":
            return _wav(file, length)
    except struct.error as error:
        raise Unreadable("a header that ends early") from error
    raise Unreadable("no sound of a known format")


def _flac(info: bytes) -> Sound:
    (bits,) = struct.unpack(">Q", info[10:18])
    rate, channels, frames = bits >> 44, (bits >> 41 & 7) + 1, bits & (1 << 36) - 1
    if not rate or not frames:
        raise Unreadable("no length")
    return Sound(frames, channels, rate)


def _wav(file: IO[bytes], length: int) -> Sound:
    layout: tuple[int, int, int] | None = None
    for _ in range(_MOST_CHUNKS):
        name, size = struct.unpack("<4sI", file.read(8))
        if name == b"fmt ":
            _, channels, rate, _, align = struct.unpack("<HHIIH", file.read(14))
            layout = channels, rate, align
            size -= 14
        elif name == b"data":
            if layout is None or not all(layout) or size > length - file.tell():
                break
            channels, rate, align = layout
            return Sound(size // align, channels, rate)
        if size < 0:
            break
        file.seek(size + size % 2, 1)
    raise Unreadable("no samples")
