"""Sizes and modes of images, from their headers: PNG, JPEG, GIF, WebP, BMP and TIFF."""

from __future__ import annotations

import struct
from typing import IO, Final

from simpletorch.follow.disk.described import Image, Unreadable

__all__ = ["image", "is_image"]

_MOST_SEGMENTS: Final = 1_000
_MOST_TAGS: Final = 1_000
_LARGEST: Final = 1 << 20
_PNG_MODES: Final = {0: "L", 2: "RGB", 3: "P", 4: "LA", 6: "RGBA"}
_JPEG_MODES: Final = {1: "L", 3: "RGB", 4: "CMYK"}
_STARTS: Final = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"II*\0", b"MM\0*")
_BMP_HEADERS: Final = (12, 40, 52, 56, 64, 108, 124)


def is_image(start: bytes) -> bool:
    """Whether a file that begins with these (at least 18) bytes is an image of a known format."""
    if start.startswith(b"BM"):
        return int.from_bytes(start[14:18], "little") in _BMP_HEADERS
    return start.startswith(_STARTS) or (start[:4] == b"RIFF" and start[8:12] == b"WEBP")


def image(file: IO[bytes]) -> Image:
    """The image in a file.

    Raises:
        Unreadable: the header is damaged, or of another format.
    """
    start = file.read(32)
    try:
        if start.startswith(b"\x89PNG"):
            found = _png(start)
        elif start.startswith(b"\xff\xd8"):
            file.seek(2)
            found = _jpeg(file)
        elif start.startswith(b"GIF8"):
            width, height = struct.unpack("<HH", start[6:10])
            found = Image(height, width)  # a grey palette gives "L"
        elif start.startswith(b"BM"):
            found = _bmp(start)
        elif start.startswith((b"II*\0", b"MM\0*")):
            found = _tiff(file, "<" if start.startswith(b"II") else ">")
        elif start[:4] == b"RIFF" and start[8:12] == b"WEBP":
            found = _webp(start)
        else:
            raise Unreadable("no image of a known format")
    except (struct.error, IndexError) as error:
        raise Unreadable("a header that ends early") from error
    if not (0 < found.height < _LARGEST and 0 < found.width < _LARGEST):
        raise Unreadable("an image of that size")
    return found


def _png(start: bytes) -> Image:
    if start[12:16] != b"IHDR":
        raise Unreadable("no header")
    width, height, depth, kind = struct.unpack(">IIBB", start[16:26])
    mode = _PNG_MODES.get(kind, "")
    if depth == 16:
        mode = {"L": "I;16", "RGB": "RGB", "RGBA": "RGBA"}.get(mode, "")
    elif depth == 1 and mode == "L":
        mode = "1"
    return Image(height, width, mode)


def _jpeg(file: IO[bytes]) -> Image:
    for _ in range(_MOST_SEGMENTS):
        marker = file.read(1)
        while marker and marker != b"\xff":
            raise Unreadable("a segment that isn't one")
        while marker == b"\xff":
            marker = file.read(1)
        if not marker:
            break
        code = marker[0]
        if code == 0x01 or 0xD0 <= code <= 0xD7:
            continue
        (length,) = struct.unpack(">H", file.read(2))
        if 0xC0 <= code <= 0xCF and code not in (0xC4, 0xC8, 0xCC):
            _, height, width, components = struct.unpack(">BHHB", file.read(6))
            return Image(height, width, _JPEG_MODES.get(components, ""))
        if code in (0xD9, 0xDA) or length < 2:
            break
        file.seek(length - 2, 1)
    raise Unreadable("no frame")


def _bmp(start: bytes) -> Image:
    (size,) = struct.unpack("<I", start[14:18])
    if size == 12:
        width, height, _, bits = struct.unpack("<HHHH", start[18:26])
    else:
        width, height, _, bits = struct.unpack("<iiHH", start[18:30])
    return Image(abs(height), width, {1: "1", 8: "", 24: "RGB"}.get(bits, ""))


def _webp(start: bytes) -> Image:
    kind = start[12:16]
    if kind == b"VP8X":
        width = 1 + int.from_bytes(start[24:27], "little")
        height = 1 + int.from_bytes(start[27:30], "little")
        return Image(height, width, "RGBA" if start[20] & 0x10 else "RGB")
    if kind == b"VP8L":
        bits = int.from_bytes(start[21:25], "little")
        return Image(1 + (bits >> 14 & 0x3FFF), 1 + (bits & 0x3FFF), "RGBA" if bits >> 28 & 1 else "RGB")
    if kind == b"VP8 ":
        width, height = struct.unpack("<HH", start[26:30])
        return Image(height & 0x3FFF, width & 0x3FFF, "RGB")
    raise Unreadable("no known kind of WebP")


def _tiff(file: IO[bytes], order: str) -> Image:
    file.seek(4)
    (at,) = struct.unpack(f"{order}I", file.read(4))
    file.seek(at)
    (count,) = struct.unpack(f"{order}H", file.read(2))
    found: dict[int, int] = {}
    for _ in range(min(count, _MOST_TAGS)):
        tag, kind, many = struct.unpack(f"{order}HHI", file.read(8))
        value = file.read(4)
        if kind in (3, 4) and many == 1:
            (found[tag],) = struct.unpack(f"{order}{'H' if kind == 3 else 'I'}", value[: 2 if kind == 3 else 4])
    if not {256, 257} <= found.keys():
        raise Unreadable("no size")
    return Image(found[257], found[256])
