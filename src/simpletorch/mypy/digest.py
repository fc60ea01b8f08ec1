"""A digest of the plugin's own code, a part of the key of mypy's cache: a change of the code voids old verdicts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

__all__ = ["digest", "sources"]

# An import that runs with its module stands at the beginning of a line; one that only a checker reads, or that a
# function runs later, is indented. Parsing every file would take longer than all else that the plugin does at start.
_IMPORT: Final = re.compile(r"^(?:import|from) +(simpletorch[\w.]*)(?: +import +(\([^)]*\)|.*))?", re.MULTILINE)
_LOADS_ITS_FOLDER: Final = ("walk_packages(__path__", 'import_module(f"{__name__}.')
_READ_IN_PARTS: Final = ("simpletorch.rules",)  # a family when one of its names is asked for
_IS_A_PROGRAM: Final = 'if __name__ == "__main__":'
_ENTRIES: Final = (  # all but the first are imported when the first file is checked
    "simpletorch.mypy",
    "simpletorch.follow.followed",
    "simpletorch.follow.cache.kept",
    "simpletorch.follow.cache.shown",
)


@cache
def digest(root: Path) -> str:
    """The digest of every file that mypy loads with the plugin, and of nothing else that may be imported as well.

    Args:
        root: the folder of simpletorch.
    """
    whole = hashlib.sha256()
    for file, text in sorted(sources(root).items()):
        whole.update(f"{file}\n{text}\n".encode())
    return whole.hexdigest()


def sources(root: Path) -> dict[str, str]:
    """The files that ``import simpletorch.mypy`` runs, by their paths in this copy of simpletorch, with their texts."""
    files = {_module(file, root): file for file in root.rglob("*.py")}
    found: dict[str, str] = {}
    left = [*_ENTRIES]
    while left:
        module = left.pop()
        if module in found or module not in files:
            continue
        found[module] = text = files[module].read_text()
        left.extend(_imported(text))
        if module in _READ_IN_PARTS or any(words in text for words in _LOADS_ITS_FOLDER):
            inner = (name for name in files if name.startswith(f"{module}."))
            left.extend(name for name in inner if _IS_A_PROGRAM not in files[name].read_text())
    return {files[module].relative_to(root).as_posix(): text for module, text in found.items()}


def _imported(text: str) -> Iterator[str]:
    """The modules that a text imports, with the packages around them; a name may be that of a module too."""
    for module, names in _IMPORT.findall(text):
        parts = module.split(".")
        yield from (".".join(parts[:i]) for i in range(1, len(parts) + 1))
        yield from (f"{module}.{name}" for name in re.findall(r"\w+", names))


def _module(file: Path, root: Path) -> str:
    return ".".join((root.name, *file.relative_to(root).with_suffix("").parts)).removesuffix(".__init__")
