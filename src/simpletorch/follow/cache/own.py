"""A digest of simpletorch itself: a kept answer counts for the version that gave it, down to the last edit."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Final

from simpletorch._outside import below, digest, is_settled, state_of
from simpletorch.follow.cache.store import Store

__all__ = ["digest_of_simpletorch"]

_PACKAGE: Final = os.fspath(Path(__file__).parents[2])
_SUFFIXES: Final = (".py", ".pyi", ".txt", ".json")


@cache
def digest_of_simpletorch(store: Store) -> str:
    """A digest of where our files lie and of their contents, which the store keeps by their states: reading is slow.

    Raises:
        OSError: one of them can't be read.
    """
    files = sorted((path, state_of(entry.stat())) for path, entry in below(_PACKAGE, _SUFFIXES))
    states = digest(repr([_PACKAGE, files]).encode())
    known = store.get(f"own-{states}")
    if isinstance(known, str):
        return known
    found = digest(_PACKAGE.encode() + "".join(f"{path}\0{digest(_content(path))}\n" for path, _ in files).encode())
    if all(is_settled(state) for _, state in files):
        store.put(f"own-{states}", found)
    return found


def _content(path: str) -> bytes:
    with open(os.path.join(_PACKAGE, path), "rb") as file:
        return file.read()
