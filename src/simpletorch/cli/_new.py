"""``simpletorch new``: a project that trains, is checked, and is tested in CI."""

from __future__ import annotations

import keyword
import shutil
import sys
import tempfile
from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

__all__ = ["TEMPLATES", "new"]

TEMPLATES: Final = {
    "vision": "a convolutional network reads handwritten digits",
    "text": "a small GPT learns to write like a text file",
    "rl": "an actor-critic balances poles, 64 at once",
    "lightning-like": "modules as in Lightning: data, model, and a Trainer with logs, checkpoints and early stopping",
}
"""The templates, each with its content."""
_SUFFIX: Final = ".txt"  # a linter or a test runner must not take a template's file for one of ours
_TAKEN: Final = frozenset({"torch", "simpletorch", "numpy", "tests", "mypy", "pytest", *sys.stdlib_module_names})


def new(path: str, template: str) -> int:
    """Make the folder ``path`` with a project in it, whole or not at all.

    Args:
        path: the last part is the project's name.
        template: one of `TEMPLATES`.

    Returns 0, or 2 if the folder is there already, can't be written, or its name can't be that of a package.
    """
    folder = Path(path).resolve()
    package = folder.name.replace("-", "_").lower()
    try:
        _refuse(folder, package)
        _make(folder, package, template)
    except OSError as error:
        print(f"simpletorch new: can't write {path}: {error.strerror or error}", file=sys.stderr)
        return 2
    except ValueError as error:
        print(f"simpletorch new: {error}", file=sys.stderr)
        return 2
    print(_NEXT.format(path=path, package=package))
    return 0


_NEXT: Final = """\
{path}: made

  cd {path}
  pip install -e ".[dev]"
  python -m {package}.train --quick
  simpletorch check
  pytest"""


def _refuse(folder: Path, package: str) -> None:
    if not package.isidentifier() or keyword.iskeyword(package):
        raise ValueError(f"{folder.name} can't be a package's name; write letters, digits and - or _, as in my-project")
    if package in _TAKEN:
        raise ValueError(f"a package called {package} would hide another module of that name; choose another name")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{folder} is there already, and isn't empty; nothing was written")


def _make(folder: Path, package: str, template: str) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    root = resources.files("simpletorch.cli").joinpath("templates")
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as place:
        made = Path(place, folder.name)
        for source in (root / "shared", root / template):
            for name, text in _files(source, ""):
                file = made / name.replace("my_project", package)
                file.parent.mkdir(parents=True, exist_ok=True)
                text = text.replace("my_project", package).replace("my-project", folder.name)
                file.write_text(text, encoding="utf-8", newline="\n")
        if folder.exists():
            folder.rmdir()  # it is empty
        shutil.move(made, folder)


def _files(folder: Traversable, name: str) -> Iterator[tuple[str, str]]:
    """The files of a template by their paths, with their texts."""
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _files(entry, f"{name}{entry.name}/")
        elif entry.name.endswith(_SUFFIX):
            yield name + entry.name.removesuffix(_SUFFIX), entry.read_text(encoding="utf-8")
