"""What is installed here, for programs that say what to do without it (``try: import … except ImportError``)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from simpletorch import _outside as outside
from simpletorch._settings import SettingError, settings

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = [
    "AGAIN",
    "GROUP",
    "folders_of_stubs",
    "has_member",
    "has_module",
    "is_followed",
    "is_installed",
    "is_library",
    "source_of",
    "stubs_of",
]


def has_module(name: str) -> bool:
    """Whether a module of this dotted name is there. Nothing is imported for it."""
    found: bool = _look("module", name)
    return found


def has_member(module: str, name: str) -> bool:
    """Whether ``from module import name`` may work: not where the module's source doesn't speak of the name."""
    found: bool = _look("member", f"{module}:{name}")
    return found


def is_installed(name: str, project: Path | None) -> bool:
    """Whether a top-level module is there without the project's own folder on the search path."""
    found: bool = _look("installed", f"{name}:{project or ''}")
    return found


def is_library(name: str) -> bool:
    """Whether a top-level module lies where packages are installed, and may be imported by us."""
    found: bool = _look("library", name)
    return found


def source_of(name: str) -> str | None:
    """The file, or the folder without one, of an installed library's module."""
    found: str | None = _look("source", name)
    return found


def is_followed(package: str, folder: str) -> bool:
    """Whether an installed package uses torch, and the settings of a folder let it be followed."""
    found: bool = _look("followed", f"{package}:{folder}")
    return found


@cache
def _has_module(name: str) -> bool:
    spec, rest = _spec(name), name.partition(".")[2]
    return spec is not None and (not rest or not spec.submodule_search_locations or _file(spec, rest) is not None)


@cache
def _is_installed(name: str, project: Path | None) -> bool:
    spec = _spec(name)
    if spec is None:
        return False
    places = [Path(p) for p in (spec.origin, *(spec.submodule_search_locations or ())) if p]
    own = [p for p in places if project is not None and p.is_relative_to(project) and "site-packages" not in p.parts]
    return not own


@cache
def _is_library(name: str) -> bool:
    spec = _spec(name)
    return spec is not None and re.search("(site|dist)-packages", spec.origin or "") is not None


@cache
def _has_member(module: str, name: str) -> bool:
    spec, rest = _spec(module), module.partition(".")[2]
    if spec is None:
        return False
    file = _file(spec, rest)
    if file is None or file.suffix != ".py" or (spec.submodule_search_locations and _has_module(f"{module}.{name}")):
        return True
    text = file.read_text(errors="replace")
    return re.search(rf"\b{re.escape(name)}\b|\bimport \*|\b__getattr__\b", text) is not None


@cache
def _source_of(name: str) -> str | None:
    if not _is_library(name.partition(".")[0]):
        return None
    spec, rest = _spec(name), name.partition(".")[2]
    file = None if spec is None or (rest and not spec.submodule_search_locations) else _file(spec, rest)
    return str(file) if file is not None and (file.suffix == ".py" or file.is_dir()) else None


_MOST_FILES: Final = 80  # that are looked through for torch


def _is_followed(package: str, folder: str) -> bool:
    try:
        return settings(here=Path(folder)).libraries and _uses_torch(package)
    except SettingError:  # who starts the follow says it
        return False


@cache
def _uses_torch(package: str) -> bool:
    """Whether one of the first files of a package imports torch."""
    source = _source_of(package)
    if source is None:
        return False
    place = Path(source)
    files = iter((place,)) if place.name != "__init__.py" else _files(place.parent)
    return any(_IMPORTS_TORCH.search(file.read_text(errors="replace")) for file in islice(files, _MOST_FILES))


_IMPORTS_TORCH: Final = re.compile(r"^[ \t]*(?:import|from)[ \t]+torch\b", re.MULTILINE)


def _files(folder: Path) -> Iterator[Path]:
    """The files of a package, those of its own folder first."""
    todo = [folder]
    while todo:
        entries = sorted(todo.pop(0).iterdir())
        yield from (e for e in entries if e.suffix == ".py")
        todo += [e for e in entries if e.is_dir() and (e / "__init__.py").is_file()]


def _spec(name: str) -> ModuleSpec | None:
    try:
        return find_spec(name.partition(".")[0])
    except (ImportError, ValueError):
        return None


def _file(spec: ModuleSpec, rest: str) -> Path | None:
    """The file of a submodule, or of the module itself."""
    if not rest:
        return Path(spec.origin) if spec.origin else None
    for folder in spec.submodule_search_locations or ():
        inner = Path(folder, *rest.split("."))
        for candidate in (inner / "__init__.py", inner.with_suffix(".py"), *inner.parent.glob(f"{inner.name}.*.so")):
            if candidate.is_file():
                return candidate
        if inner.is_dir():
            return inner
    return None


def _path(text: str) -> Path | None:
    return Path(text) if text else None


# -- stubs -------------------------------------------------------------------------------------------------------------

GROUP: Final = "simpletorch.models"
"""The group of entry points under which distributions have stubs."""


def folders_of_stubs(folder: str) -> list[str]:
    """The folders of stubs that the settings of a folder name."""
    found: list[str] = _look("folders of stubs", folder)
    return found


def _folders_of_stubs(folder: str) -> list[str]:
    try:
        return [str(path) for path in settings(here=Path(folder)).models]
    except SettingError:  # who starts the follow says it
        return []


def stubs_of(package: str) -> str | None:
    """The folder or file with the stubs that an installed distribution has for a package."""
    found: str | None = _look("stubs", package)
    return found


def _stubs_of(package: str) -> str | None:
    found = _shipped().get(package)
    return None if found is None else str(found)


@cache
def _shipped() -> dict[str, Path]:
    """By package, the folder or file with the stubs that an installed distribution has for it."""
    from importlib.metadata import entry_points  # a kept answer that asks for no stubs must not wait for it

    found = {entry.name: _place(entry) for entry in entry_points(group=GROUP)}
    return {name: path for name, path in found.items() if path is not None}


def _place(entry: EntryPoint) -> Path | None:
    """Where an entry point's stubs lie. The distribution's own list of files says it; of one that is being edited
    the path of its package, which Python's finder knows without importing it.
    """
    parts = entry.value.partition(":")[0].strip().split(".")
    for file in (entry.dist.files if entry.dist is not None else None) or ():
        if file.parts in ((*parts, "__init__.pyi"), (*parts[:-1], f"{parts[-1]}.pyi")):
            path = Path(str(file.locate()))
            return path.parent if file.name == "__init__.pyi" else path
    try:
        spec = find_spec(parts[0])
    except (ImportError, ValueError):
        spec = None
    for folder in (spec.submodule_search_locations if spec is not None else None) or ():
        path = Path(folder).joinpath(*parts[1:])
        if (path / "__init__.pyi").is_file():
            return path
        if path.with_suffix(".pyi").is_file():
            return path.with_suffix(".pyi")
    return None


AGAIN: Final[Mapping[str, Callable[[str], outside.Answer]]] = {
    "module": _has_module,
    "library": _is_library,
    "folders of stubs": _folders_of_stubs,
    "stubs": _stubs_of,
    "source": _source_of,
    "followed": lambda asked: _is_followed(*asked.split(":", 1)),
    "member": lambda asked: _has_member(*asked.split(":")),
    "installed": lambda asked: _is_installed(name := asked.partition(":")[0], _path(asked[len(name) + 1 :])),
}
"""The answers to the look-ups of this file, by kind: now, and again when a kept answer is held against them."""


def _look(kind: str, asked: str) -> Any:
    """An answer, noted with its question."""
    found = AGAIN[kind](asked)
    outside.note(kind, asked, found)
    return found
