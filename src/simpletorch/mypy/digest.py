"""A digest of the plugin's own code, a part of the key of mypy's cache: a change of the code voids old verdicts."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from pathlib import Path
from typing import Final

from simpletorch import _outside as outside

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
    with os.scandir(root) as entries:
        found = {entry.name: entry.path for entry in entries if entry.name.endswith(".py")}
    for folder in _FOLDERS:
        found |= {file: entry.path for file, entry in outside.below(f"{root}/{folder}", (".py",), f"{folder}/")}
    return {file: outside.content(path) for file, path in sorted(found.items())}
