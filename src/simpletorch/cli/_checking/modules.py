"""Which files mypy can check together: of each it needs the module's name, and no name twice.

A folder without ``__init__.py`` holds scripts, which import their neighbours by bare names, or is a namespace package,
whose modules are imported as ``folder.module``. By itself, mypy takes all for scripts. It stops where two have one
name, or where a file is imported by the other name.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

from simpletorch._programs import text_of

if TYPE_CHECKING:
    from mypy.options import Options

__all__ = ["Run", "exclusion", "imported", "module_of", "options_of", "runs"]

_IMPORT: Final = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<parent>[\w.]+)[ \t]+import[ \t]*(?P<names>\([^)]*\)|[^\n(]+)"
    r"|import[ \t]+(?P<modules>[^\n#;]+))",
    re.MULTILINE,
)


@final
@dataclass(slots=True)
class Run:
    """Files for one run of mypy.

    Args:
        files: their paths.
        bases: the folders that names of modules begin in; none where mypy finds them itself.
    """

    files: list[str] = field(default_factory=list)
    bases: list[str] = field(default_factory=list)


def options_of(arguments: Sequence[str]) -> Options | None:
    """mypy's options from its arguments and the configuration; None if it refuses them (it says why when it runs)."""
    from mypy.main import process_options

    quiet = io.StringIO()
    try:
        # a module, which has to be there, keeps mypy from walking the folders that the configuration names
        return process_options([*arguments, "-m", "sys"], stdout=quiet, stderr=quiet)[1]
    except SystemExit:
        return None


def exclusion(options: Options | None) -> Callable[[str], bool]:
    """Whether the configuration excludes a path that is found in a folder."""
    from mypy.fscache import FileSystemCache
    from mypy.modulefinder import matches_exclude, matches_gitignore

    if options is None or not (options.exclude or options.exclude_gitignore):
        return lambda path: False
    cache = FileSystemCache()
    exclude, as_git = options.exclude, options.exclude_gitignore
    return lambda path: (
        matches_exclude(path, exclude, cache, False) or (as_git and matches_gitignore(path, cache, False))
    )


def runs(files: Sequence[str], options: Options) -> tuple[list[Run], list[tuple[str, str]]]:
    """Divide files so that each name of a module is there once in a run; and the files that can be no module.

    Args:
        files: paths of files. A stub stands for the module beside it.
        options: mypy's.
    """
    stubs = {f for f in files if f.endswith(".pyi")}
    files = [f for f in files if f"{f}i" not in stubs]
    namespaces = {} if options.explicit_package_bases else _namespaces(files)
    found: dict[str, tuple[list[str], set[str]]] = {}  # by the folder that names begin in: files, first parts of names
    refused = []
    for file in files:
        name, base = module_of(file, options, namespaces)
        if name:
            inside, names = found.setdefault(base, ([], set()))
            inside.append(file)
            names.add(name.partition(".")[0])
        else:
            refused.append((file, base))
    out: list[tuple[Run, set[str]]] = []
    for base, (inside, names) in found.items():
        run, taken = next((o for o in out if not o[1] & names), (Run(), set()))
        if not run.files:
            out.append((run, taken))
        run.files += inside
        run.bases += [base] if namespaces else []
        taken |= names
    return [run for run, _ in out], refused


def module_of(file: str, options: Options, namespaces: Mapping[str, str] | None = None) -> tuple[str, str]:
    """The name of a file's module and the folder in which it begins; "" and the reason if there is none."""
    from mypy.find_sources import InvalidSourceList, SourceFinder
    from mypy.fscache import FileSystemCache

    try:
        name, base = SourceFinder(FileSystemCache(), options).crawl_up(file)
    except InvalidSourceList as error:
        return "", str(error)
    if namespaces and base in namespaces:
        root = namespaces[base]
        name, base = ".".join((*Path(base).relative_to(root).parts, name)), root
    return name, base


def _namespaces(files: Iterable[str]) -> dict[str, str]:
    """The folders that some file imports modules from as from a package, with the folder that their names begin in.

    The current folder is none for mypy: names always begin there.
    """
    found: dict[str, str] = {}
    here = os.getcwd()
    folders = lru_cache(maxsize=None)(_folders)
    for file in files:
        place = os.path.abspath(os.path.dirname(file))
        around = [place, *map(str, Path(place).parents)]
        roots = around[: around.index(os.path.commonpath([place, here])) + 1]
        for name in imported(text_of(file) or ""):
            if name.startswith("."):
                inside = () if _has_init(place) else (place,)
                root = os.path.dirname(place)
            else:
                root, inside = next(((r, i) for r in roots if (i := folders(r, name))), ("", ()))
            for folder in inside:
                found.setdefault(folder, root)
    found.pop(here, None)
    return found


def imported(text: str) -> Iterator[str]:
    """The dotted names of modules that a text may import; a relative import's begin with a dot."""
    for match in _IMPORT.finditer(text):
        if match["modules"]:
            yield from (part.split()[0] for part in match["modules"].split(",") if part.strip())
        else:
            yield from (f"{match['parent']}.{name}" for name in re.findall(r"\w+", match["names"]))


def _folders(root: str, name: str) -> tuple[str, ...]:
    """The folders without ``__init__.py`` that a name leads through, if there is such a module."""
    first, _, rest = name.partition(".")
    folder = os.path.join(root, first)
    if not rest or not os.path.isdir(folder) or os.path.isfile(f"{folder}.py") or _has_init(folder):
        return ()
    inner = os.path.join(folder, rest.partition(".")[0])
    if not (os.path.isfile(f"{inner}.py") or os.path.isdir(inner)):
        return ()
    return folder, *_folders(folder, rest)


def _has_init(folder: str) -> bool:
    return any(os.path.isfile(os.path.join(folder, init)) for init in ("__init__.py", "__init__.pyi"))
