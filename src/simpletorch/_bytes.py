"""Bytes for people."""

from __future__ import annotations

__all__ = ["size_text"]


def size_text(count: int | None) -> str:
    """A number of bytes as people say it: ``2.00 GiB``."""
    if count is None:
        return "an unknown amount"
    value = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{count} bytes" if unit == "bytes" else f"{value:.2f} {unit}"
        value /= 1024
    return f"{value:.2f} TiB"
