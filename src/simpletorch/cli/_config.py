"""The mypy configuration that `simpletorch check` runs with: good defaults, or the project's own plus our plugin."""

from __future__ import annotations

import configparser
import hashlib
import io
import os
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from simpletorch._settings import configuration_files

PLUGIN: Final = "simpletorch.mypy"

DEFAULTS: Final = {
    "plugins": PLUGIN,
    "check_untyped_defs": "true",
    # `x = self.fc1(x)` gives x a new shape on every line.
    "allow_redefinition": "true",
    # Under --strict: torch leaves Tensor.backward, split, norm, … unannotated, which is no fault of the caller's.
    "untyped_calls_exclude": "torch",
    # That a package of somebody else's has no stubs is no mistake of the program's.
    "disable_error_code": "import-untyped",
}

# Parts of torch that nothing a user touches takes its type from (a test compares the types of torch's public names with
# and without them). Skipping them halves the time and memory of the first run.
PRIVATE: Final = (
    "sympy",
    "torch._decomp",
    "torch._dynamo",
    "torch._export",
    "torch._higher_order_ops",
    "torch._inductor",
    "torch._lazy",
    "torch._meta_registrations",
    "torch._numpy",
    "torch._prims",
    "torch._prims_common",
    "torch._refs",
    "torch._subclasses",
    "torch.testing._internal",
    "torch.utils._sympy",
    "torch._functorch._aot_autograd",
    "torch._functorch.aot_autograd",
    "torch._functorch.partitioners",
    "torch.distributed._shard",
    "torch.distributed._tools",
    "torch.distributed.tensor._ops",
)

# Where mypy looks, in its order; the last two are shared with other tools and count only if they have a part for mypy.
_OWN_NAMES: Final = ("mypy.ini", ".mypy.ini")
_SHARED_NAMES: Final = ("pyproject.toml", "setup.cfg")

Sections = dict[str, dict[str, str]]


class ConfigError(Exception):
    """A configuration file that can't be read; the text says which and why."""


@dataclass(frozen=True)
class Config:
    """The configuration that mypy is run with."""

    file: Path
    cache: Path | None
    """None leaves the cache where the file (or mypy) says."""
    based_on: Path | None
    """The project's own configuration."""
    added: tuple[str, ...] = ()
    """What was added to the project's own configuration."""

    @property
    def arguments(self) -> list[str]:
        """The same as arguments of mypy's."""
        return ["--config-file", str(self.file), *([] if self.cache is None else ["--cache-dir", str(self.cache)])]

    @property
    def remark(self) -> str:
        """Which configuration was used, if it is not ours."""
        if self.based_on is None:
            return ""
        added = f", with {' and '.join(self.added)} added" if self.added else ""
        return f"Configuration: {self.based_on}{added}"


def configure(explicit: Path | None = None, *, search: bool = True, daemon: bool = False) -> Config:
    """Find the configuration to use: ``explicit``, else the one mypy would find from here, else our defaults.

    A configuration that names our plugin is used untouched, together with its cache, so that ``mypy`` and
    ``simpletorch check`` are the same thing there. To any other one the plugin is added in a copy.

    Args:
        explicit: the configuration to use.
        search: look for one; our defaults if false.
        daemon: for mypy's daemon, which crashes where imports are skipped.

    Raises:
        ConfigError: the configuration can't be read.
    """
    found = explicit or (next(_candidates(Path.cwd()), None) if search else None)
    if found is None:
        sections: Sections = {"mypy": dict(DEFAULTS)}
        added: tuple[str, ...] = ()
    else:
        sections = read(found)
        if PLUGIN in _names(sections["mypy"].get("plugins", "")):
            return Config(found, None, found)
        added = _add(sections["mypy"], found.parent)
    for package in () if daemon else PRIVATE:
        sections.setdefault(f"mypy-{package}.*", {"follow_imports": "skip"})
    text = _write(sections)
    # Our defaults are the same everywhere, so all projects share what mypy learns about torch.
    name = "default" if found is None else _short(found.resolve())
    folder = cache_folder() / (f"{name}-daemon" if daemon else name)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "mypy.ini"
    if not file.is_file() or file.read_text(encoding="utf-8") != text:
        fresh = folder / f"mypy.{os.getpid()}.ini"  # another check may be reading the old one
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(file)
    return Config(file, folder, found, added)


@contextmanager
def skipping(config: Config, modules: Sequence[str]) -> Iterator[Config]:
    """The same for as long as it lasts, but mypy reads none of these modules where another one imports them."""
    sections = read(config.file)
    _anchor(sections["mypy"], config.file.parent)
    for module in modules:
        sections.setdefault(f"mypy-{module}", {})["follow_imports"] = "skip"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "mypy.ini"
        file.write_text(_write(sections), encoding="utf-8")
        yield replace(config, file=file)


def daemon_file(*, followed: bool = True) -> Path:
    """Where the daemon that checks the current folder says how to reach it; one that doesn't follow is another."""
    folder = cache_folder() / "daemons"
    folder.mkdir(exist_ok=True)
    return folder / f"{_short(Path.cwd())}{'' if followed else '-alone'}.json"


def _short(path: Path) -> str:
    """A name for what is kept of a path."""
    return hashlib.sha256(str(path).encode()).hexdigest()[:16]


def _candidates(here: Path) -> Iterator[Path]:
    """The configuration files that mypy would use when started ``here``, the first one first."""
    for file in configuration_files(here, _OWN_NAMES + _SHARED_NAMES):
        if file.name in _OWN_NAMES or "mypy" in read(file, need=False):
            yield file
    personal = [Path.home() / ".config/mypy/config", Path.home() / ".mypy.ini"]
    if root := os.environ.get("XDG_CONFIG_HOME"):
        personal.insert(0, Path(root) / "mypy/config")
    yield from (file for file in personal if file.is_file())


def read(file: Path, *, need: bool = True) -> Sections:
    """The parts of ``file`` that are for mypy, as an ini file has them: ``mypy`` and ``mypy-<pattern>``.

    Args:
        need: there has to be a ``mypy`` part; an empty one is made up.

    Raises:
        ConfigError: the file can't be read or parsed.
    """
    try:
        if file.suffix == ".toml":
            with file.open("rb") as stream:
                sections = _from_toml(tomllib.load(stream).get("tool", {}).get("mypy"))
        else:
            parser = configparser.RawConfigParser()
            parser.read_string(file.read_text(encoding="utf-8"), source=str(file))
            sections = {name: dict(parser[name]) for name in parser.sections() if name.split("-")[0] == "mypy"}
    except (OSError, UnicodeDecodeError, configparser.Error, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"can't read the mypy configuration {file}: {error}") from error
    if need:
        sections.setdefault("mypy", {})
    return sections


def _from_toml(table: Mapping[str, Any] | None) -> Sections:
    if table is None:
        return {}
    sections: Sections = {"mypy": {key: _ini(key, value) for key, value in table.items() if key != "overrides"}}
    for override in table.get("overrides", ()):
        modules = override["module"]
        for module in [modules] if isinstance(modules, str) else modules:
            values = {key: _ini(key, value) for key, value in override.items() if key != "module"}
            sections.setdefault(f"mypy-{module}", {}).update(values)
    return sections


def _ini(key: str, value: Any) -> str:
    if not isinstance(value, list):
        return str(value)
    if key == "exclude":  # the one option whose items are joined by more than a comma: each is a regular expression
        return "|".join(f"(?:{item})" for item in value)
    return ", ".join(map(str, value))


def _names(value: str) -> list[str]:
    return [name.strip() for name in value.split(",") if name.strip()]


def _add(section: dict[str, str], folder: Path) -> tuple[str, ...]:
    """Add to a project's main section what it lacks, and say what; the file moves, so what is relative to it stays."""
    section["plugins"] = ", ".join([PLUGIN, *_anchor(section, folder)])
    added = [f"plugins = {PLUGIN}"]
    if not {"allow_redefinition", "allow_redefinition_new"} & section.keys():
        section["allow_redefinition"] = "true"
        added.append("allow_redefinition = true")
    return tuple(added)


def _anchor(section: dict[str, str], folder: Path) -> Sequence[str]:
    """Make what is relative to the file's folder absolute, as the file moves; returns the plugins."""
    for key, value in section.items():
        section[key] = value.replace("$MYPY_CONFIG_FILE_DIR", str(folder))
    plugins = [
        str((folder / name).resolve()) if name.rpartition(":")[0].endswith(".py") or name.endswith(".py") else name
        for name in _names(section.get("plugins", ""))
    ]
    if plugins:
        section["plugins"] = ", ".join(plugins)
    return plugins


def _write(sections: Sections) -> str:
    parser = configparser.RawConfigParser()
    parser.read_dict(sections)
    stream = io.StringIO()
    parser.write(stream)
    return stream.getvalue()


def cache_folder() -> Path:
    """Where results of earlier runs are kept, so that torch is read once per machine and not once per project."""
    if sys.platform == "win32":
        root = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local")
    elif sys.platform == "darwin":
        root = Path.home() / "Library/Caches"
    else:
        root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = root / "simpletorch" / "mypy"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:  # no home, or one that can't be written to
        folder = (
            Path(tempfile.gettempdir()) / f"simpletorch-{os.getuid() if hasattr(os, 'getuid') else 'user'}" / "mypy"
        )
        folder.mkdir(parents=True, exist_ok=True)
    return folder
