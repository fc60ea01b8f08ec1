"""What is installed here, for programs that say what to do without it (``try: import … except ImportError``)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from simpletorch import _outside as outside

__all__ = ["AGAIN", "has_member", "has_module", "is_installed", "is_library"]


def has_module(name: str) -> bool:
    """Whether a module of this dotted name is there. Nothing is imported for it."""
    found = _has_module(name)
    outside.note("module", name, found)
    return found


def has_member(module: str, name: str) -> bool:
    """Whether ``from module import name`` may work: not where the module's source doesn't speak of the name."""
    found = _has_member(module, name)
    outside.note("member", f"{module}:{name}", found)
    return found


def is_installed(name: str, project: Path | None) -> bool:
    """Whether a top-level module is there without the project's own folder on the search path."""
    found = _is_installed(name, project)
    outside.note("installed", f"{name}:{project or ''}", found)
    return found


def is_library(name: str) -> bool:
    """Whether a top-level module lies where packages are installed, and may be imported by us."""
    found = _is_library(name)
    outside.note("library", name, found)
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


AGAIN: Final[Mapping[str, Callable[[str], bool]]] = {
    "module": _has_module,
    "library": _is_library,
    "member": lambda asked: _has_member(*asked.split(":")),
    "installed": lambda asked: _is_installed(name := asked.partition(":")[0], _path(asked[len(name) + 1 :])),
}
"""How look-ups are answered again that were noted here."""
