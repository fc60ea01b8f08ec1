"""Small drawings as text: bars and curves in SVG, pictures in PNG. The standard library is enough for these."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Mapping, Sequence
from html import escape

__all__ = ["AMBER", "BLUE", "RED", "bars", "curves", "picture"]

RED, AMBER, BLUE = "#dc3545", "#a06c00", "#1f75e0"
"""As far from white as from a dark page's ground: readable on both (contrast over 4)."""

_STROKES = ("", "6 3", "2 2", "8 2 2 2")  # lines are told apart by dashes: the colour is the page's


def bars(heights: Sequence[float], width: int = 200, height: int = 40) -> str:
    """A histogram."""
    top = max(heights, default=0) or 1
    step = width / max(len(heights), 1)
    rects = "".join(
        f'<rect x="{i * step:.1f}" y="{height - height * h / top:.1f}" width="{step * 0.9:.1f}"'
        f' height="{height * h / top:.1f}"/>'
        for i, h in enumerate(heights)
        if h
    )
    return f'<svg width="{width}" height="{height}" fill="currentColor" opacity="0.7" role="img">{rects}</svg>'


def curves(rows: Mapping[str, Sequence[float]], width: int = 320, height: int = 120) -> str:
    """Lines over equal steps on one scale, with a legend; infinite values and NaN are left out. "" of single points."""
    found = [[v for v in row if _is_finite(v)] for row in rows.values()]
    if all(len(row) < 2 for row in found):
        return ""
    points = [v for row in found for v in row]
    low, high = min(points), max(points)
    span = (high - low) or 1.0
    lines = []
    for (name, row), dash in zip(rows.items(), _STROKES * (len(rows) // len(_STROKES) + 1), strict=False):
        at = " ".join(
            f"{4 + (width - 8) * i / max(len(row) - 1, 1):.1f},{4 + (height - 8) * (high - v) / span:.1f}"
            for i, v in enumerate(row)
            if _is_finite(v)
        )
        lines.append(
            f'<polyline points="{at}" fill="none" stroke="currentColor" stroke-width="1.5" stroke-dasharray="{dash}">'
            f"<title>{escape(name)}</title></polyline>"
        )
    legend = ", ".join(
        f'<svg width="24" height="8"><line x1="0" x2="24" y1="4" y2="4" stroke="currentColor" stroke-width="1.5"'
        f' stroke-dasharray="{dash}"/></svg> {escape(name)}'
        for name, dash in zip(rows, _STROKES * (len(rows) // len(_STROKES) + 1), strict=False)
    )
    scale = f"{low:.4g} to {high:.4g}"
    return (
        f'<div><svg width="{width}" height="{height}" role="img" style="border:1px solid currentColor">'
        f'{"".join(lines)}</svg><div style="opacity:0.8">{legend}; {scale}</div></div>'
    )


def _is_finite(value: float) -> bool:
    return value == value and abs(value) != float("inf")


def picture(rows: bytes, width: int, height: int, *, grey: bool, least: int = 64) -> str:
    """An image of bytes, row by row, as an element of HTML with a PNG inside, shown at least ``least`` pixels wide."""
    depth = 1 if grey else 3
    lines = b"".join(b"\0" + rows[y * width * depth : (y + 1) * width * depth] for y in range(height))
    head = struct.pack(">2I5B", width, height, 8, 0 if grey else 2, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", zlib.compress(lines)) + _chunk(b"IEND", b"")
    source = base64.b64encode(data).decode()
    size = f'width="{max(width, least)}"'
    return f'<img {size} style="image-rendering:pixelated;margin:2px" src="data:image/png;base64,{source}">'


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
