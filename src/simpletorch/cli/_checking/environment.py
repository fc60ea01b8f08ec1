"""The environment whose PyTorch mypy reads, if the checker is installed in one of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from simpletorch._distribution import torch_available
from simpletorch.cli._config import Config, read

__all__ = ["environment"]

_OPTION: Final = "--python-executable"
_PACKAGE: Final = Path(__file__).parents[2]
_TYPES: Final = (_PACKAGE / "types", _PACKAGE.parent)
"""Folders with ``_simpletorch``, which mypy must find: one with nothing else, of a wheel; a checkout's ``src``."""
_NO_TORCH: Final = (
    "PyTorch is not installed here, so mypy knows no tensors; activate your project's environment, "
    f"or add: -- {_OPTION} PATH"
)


def environment(config: Config, arguments: Sequence[str]) -> tuple[list[str], str]:
    """Arguments that make mypy find PyTorch.

    An environment that mypy's options name is used, else the checker's own if it has torch. Otherwise it is the one
    that is active (``VIRTUAL_ENV``), or ``.venv`` in this folder or one around it.

    Returns:
        more arguments of mypy's, and a remark for people.
    """
    if python := _named(config, arguments):
        _show_types(python)
        return [], ""
    if torch_available():
        return [], ""
    found = next((python for python in _others() if _has(python, "torch")), None)
    if found is None:
        return [], _NO_TORCH
    _show_types(found)
    return [_OPTION, found], f"mypy reads PyTorch in {Path(found).parents[1]}"


def _named(config: Config, arguments: Sequence[str]) -> str | None:
    """The interpreter that the options of mypy name."""
    for option, value in zip(arguments, (*arguments[1:], ""), strict=False):
        if option == _OPTION or option.startswith(f"{_OPTION}="):
            return option.partition("=")[2] or value
    return read(config.file)["mypy"].get("python_executable")


def _others() -> Iterator[str]:
    """Interpreters of environments that may be the project's."""
    here = Path.cwd()
    active = os.environ.get("VIRTUAL_ENV")
    for folder in (*([Path(active)] if active else ()), *(parent / ".venv" for parent in (here, *here.parents))):
        python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
        if python.is_file():
            yield str(python)


def _has(python: str, package: str) -> bool:
    """Whether an interpreter finds a package; of one that doesn't start mypy says why."""
    from mypy.errors import CompileError
    from mypy.modulefinder import get_search_dirs

    try:
        found = get_search_dirs(python)
    except CompileError:
        return False
    return any(Path(folder, package).is_dir() for folders in found for folder in folders)


def _show_types(python: str) -> None:
    """Let mypy find ``_simpletorch``, whose types the plugin gives to torch's tensors."""
    if not _has(python, "_simpletorch"):
        folder = next(folder for folder in _TYPES if folder.is_dir())
        os.environ["MYPYPATH"] = os.pathsep.join(filter(None, (os.environ.get("MYPYPATH"), str(folder))))
