"""Checksums of what was unpacked, in a ``SHA256SUMS`` file (``sha256sum -c`` reads it too)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from simpletorch.data.datasets._download import sha256_of
from simpletorch.errors import DataError

_NAME: Final = "SHA256SUMS"


def record(folder: Path, names: Iterable[str]) -> None:
    """Write down the checksums of these files of ``folder``."""
    lines = [f"{sha256_of(folder / name)}  {name}\n" for name in sorted(names)]
    fresh = folder / f".{_NAME}"
    fresh.write_text("".join(lines), encoding="utf-8")
    os.replace(fresh, folder / _NAME)


def check(folder: Path, names: Iterable[str]) -> None:
    """See that these files of ``folder`` have the checksums that were written down, if any were.

    Raises:
        DataError: a file has other bytes than when it was unpacked.
    """
    if not (folder / _NAME).is_file():
        return
    lines = (folder / _NAME).read_text(encoding="utf-8").splitlines()
    sums = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    for name in names:
        if name in sums and sha256_of(folder / name) != sums[name]:
            raise DataError(
                f"{folder / name} is damaged: its bytes have changed since it was unpacked ({_NAME} is wrong for it)",
                hint=f"delete {folder} and pass download=True",
            )
