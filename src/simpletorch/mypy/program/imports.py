"""The own files that programs read when they are followed: mypy's report on a program depends on them.

mypy checks a file again when the interfaces of its imports change. The behaviour of a program depends on their bodies
too. A module that is no program is left to mypy's rule: else an edit would bring about a check of all that imports the
file.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from typing import Final, NamedTuple, final

from simpletorch._programs import Kind, followed_as, text_of

__all__ = ["Reading"]

_IMPORT: Final = re.compile(
    r"^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]+([^\n#]*)|import[ \t]+([\w., \t]+))", re.MULTILINE
)
_NAME: Final = re.compile(r"\w+")


class _File(NamedTuple):
    """The digest of a file and the modules that it names."""

    digest: str
    beside: list[str]
    """The modules that it names without dots, which lie beside the program, as paths."""
    relative: list[str]
    """The paths of those that it names with dots."""


@final
class Reading:
    """The files that programs read, each looked for once: in one run of mypy they stay what they are."""

    def __init__(self) -> None:
        self._files: dict[str, _File | None] = {}
        self._modules: dict[str, list[str]] = {}
        self._kinds: dict[str, Kind | None] = {}

    def kind(self, path: str) -> Kind | None:
        """How a file is followed; None if it isn't."""
        if path not in self._kinds:
            self._kinds[path] = followed_as(path)
        return self._kinds[path]

    def by(self, path: str) -> str | None:
        """A digest of the program's own modules that a file imports, these import, and so on; "" if it is no program.

        None for a file that isn't followed.
        """
        kind = self.kind(path)
        if kind != "program":
            return None if kind is None else ""
        folder = os.path.dirname(path)
        found: dict[str, str] = {}
        left = [path]
        while left:
            if (file := self._read(left.pop())) is None:
                continue
            for module in (*(os.path.join(folder, name) for name in file.beside), *file.relative):
                for inner in self._files_of(module):
                    if inner not in found and (read := self._read(inner)) is not None:
                        found[inner] = read.digest
                        left.append(inner)
        return hashlib.sha256("".join(sorted(found.values())).encode()).hexdigest() if found else ""

    def _files_of(self, module: str) -> list[str]:
        """The files that there are of a module or package, by its path without an ending."""
        if module not in self._modules:
            both = (f"{module}.py", os.path.join(module, "__init__.py"))
            self._modules[module] = [file for file in both if os.path.exists(file)]
        return self._modules[module]

    def _read(self, path: str) -> _File | None:
        if path not in self._files:
            text = text_of(path)
            self._files[path] = None if text is None else _read(path, text)
        return self._files[path]


def _read(path: str, text: str) -> _File:
    beside: list[str] = []
    relative: list[str] = []
    for name in _named(text):
        rest = name.lstrip(".")
        module = rest.replace(".", os.sep)
        if name == rest:
            beside.append(sys.intern(module))
        else:
            up = [os.pardir] * (len(name) - len(rest) - 1)
            relative.append(sys.intern(os.path.normpath(os.path.join(os.path.dirname(path), *up, module))))
    return _File(hashlib.sha256(text.encode()).hexdigest(), beside, relative)


def _named(text: str) -> set[str]:
    found: set[str] = set()
    for module, names, plain in _IMPORT.findall(text):
        if plain:
            found.update(part.split()[0] for part in plain.split(",") if part.strip())
            continue
        found.add(module)
        joint = "" if module.endswith(".") else "."
        found.update(f"{module}{joint}{name}" for name in _NAME.findall(names))
    return found
