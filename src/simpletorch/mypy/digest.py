"""A digest of the plugin's own code, a part of the key of mypy's cache: a change of the code voids old verdicts."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

__all__ = ["digest", "sources"]

_FOLDERS: Final = ("follow", "mypy", "rules", "shapes")


@cache
def digest(root: Path) -> str:
    """The digest of every file that mypy may load with the plugin; those of the framework don't count.

    Args:
        root: the folder of simpletorch.
    """
    whole = hashlib.sha256()
    for file, content in sources(root).items():
        whole.update(b"%s\n%d\n%s" % (file.encode(), len(content), content))
    return whole.hexdigest()


def sources(root: Path) -> dict[str, bytes]:
    """The modules beside the packages, and all in the packages that the plugin imports, with their contents."""
    top = (entry.name for entry in os.scandir(root) if entry.name.endswith(".py"))
    found = sorted([*top, *(file for folder in _FOLDERS for file in _modules(root, f"{folder}/"))])
    return {file: _content(f"{root}/{file}") for file in found}


def _modules(root: Path, folder: str) -> Iterator[str]:
    with os.scandir(f"{root}/{folder}") as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                yield folder + entry.name
            elif entry.name != "__pycache__" and entry.is_dir():
                yield from _modules(root, f"{folder}{entry.name}/")


def _content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
