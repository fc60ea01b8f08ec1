"""The files that a program reads when it is followed: what mypy has to say of it changes with them.

mypy checks a file again when the interfaces of its imports change. What a program does depends on their bodies too. A
module that is no program is left to mypy's rule: else an edit would bring about a check of all that imports the file.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Final

__all__ = ["read_by"]

_PROGRAM: Final = re.compile(r"^if __name__ == |^def test", re.MULTILINE)
_IMPORT: Final = re.compile(
    r"^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]+([^\n#]*)|import[ \t]+([\w., \t]+))", re.MULTILINE
)
_files: Final[dict[tuple[str, int, int], tuple[str, frozenset[str], bool]]] = {}


def read_by(path: str) -> str:
    """A digest of the program's own modules that a file imports, these import, and so on; "" if it is no program."""
    if "site-packages" in path or not path.endswith(".py"):
        return ""
    start = _read(Path(path))
    if start is None or not start[2]:
        return ""
    folder = Path(path).parent
    found: dict[Path, str] = {}
    left = [(Path(path), start)]
    while left:
        file, (_, names, _) = left.pop()
        for name in names:
            for candidate in _candidates(name, file, folder):
                if candidate not in found and (inner := _read(candidate)) is not None:
                    found[candidate] = inner[0]
                    left.append((candidate, inner))
    return hashlib.sha256("".join(sorted(found.values())).encode()).hexdigest() if found else ""


def _candidates(name: str, file: Path, folder: Path) -> list[Path]:
    """Where a module may be: beside the program, or, for ``.name``, where the dots lead."""
    dots = len(name) - len(name.lstrip("."))
    root = file.parents[dots - 1] if 0 < dots <= len(file.parents) else folder
    base = root.joinpath(*filter(None, name[dots:].split(".")))
    return [base.with_suffix(".py") if base != root else base / "__init__.py", base / "__init__.py"]


def _read(file: Path) -> tuple[str, frozenset[str], bool] | None:
    """The digest of a file, the modules that it names, and whether it is a program; kept while it is the same."""
    try:
        status = file.stat()
        key = str(file), status.st_mtime_ns, status.st_size
        if key not in _files:
            text = file.read_text(encoding="utf-8", errors="replace")
            _files[key] = (
                hashlib.sha256(text.encode()).hexdigest(),
                frozenset(_named(text)),
                bool(_PROGRAM.search(text)),
            )
        return _files[key]
    except OSError:
        return None


def _named(text: str) -> set[str]:
    found: set[str] = set()
    for module, names, plain in _IMPORT.findall(text):
        if plain:
            found.update(part.split()[0] for part in plain.split(",") if part.strip())
            continue
        found.add(module)
        joint = "" if module.endswith(".") else "."
        found.update(f"{module}{joint}{name}" for name in re.findall(r"\w+", names))
    return found
