"""A project's settings: ``[tool.simpletorch]`` in pyproject.toml, ``[simpletorch]`` in mypy.ini.

::

    [tool.simpletorch]
    follow = false  # programs aren't followed
    data = false  # the headers of data files aren't read; or a list of further folders to read below
    cache = false  # programs are followed again that haven't changed
    libraries = false  # installed libraries aren't followed into their source
    models = ["stubs"]  # folders of stubs

    [tool.simpletorch.findings]
    tensor-training = "off"  # or error, warning, note; true: as severe as it is by itself

In an ini file a code is an option of ``[simpletorch]`` itself.
"""

from __future__ import annotations

import configparser
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, cast, final, get_args

from simpletorch.rules.core.codes import CODES, Severity

__all__ = ["FOLLOW_VARIABLE", "SettingError", "Settings", "configuration_files", "settings"]

FOLLOW_VARIABLE: Final = "SIMPLETORCH_FOLLOW"
_OWN: Final = ("follow", "data", "cache", "libraries", "models")
"""Settings beside the severities of findings."""
_NO: Final = ("0", "false", "no", "off")
_YES: Final = ("1", "true", "yes", "on")
_NAMES: Final = ("mypy.ini", ".mypy.ini", "pyproject.toml", "setup.cfg")


class SettingError(Exception):
    """A setting that says nothing; the text names the file, the setting and what would be right."""


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a project; defaults where it has none."""

    follow: bool = True
    data: bool | tuple[Path, ...] = True
    """Whether data files are read for their sizes; further folders that they may lie in."""
    cache: bool = True
    """Whether answers of follows are kept on the disk, and given again while nothing has changed."""
    libraries: bool = True
    """Whether installed libraries are followed into their source."""
    models: tuple[Path, ...] = ()
    """Folders with stubs that say what a library's functions give."""
    severities: Mapping[str, Severity] = field(default_factory=dict)
    """By code, of those that shall have another one than they have by themselves."""


def settings(config_file: str | Path | None = None, here: Path | None = None) -> Settings:
    """The settings in ``config_file``. Without a part for us there, those of the nearest file above ``here``.

    The variable ``SIMPLETORCH_FOLLOW`` of the environment overrules the files.

    Raises:
        SettingError: a code or a severity that doesn't exist, or a file that can't be read.
    """
    named = [Path(config_file)] if config_file and Path(config_file).is_file() else []
    for file in (*named, *configuration_files(here or Path.cwd(), _NAMES)):
        if (written := _written(file)) is not None:
            break
    else:
        written = {}
    codes = dict(written.get("findings", {}))
    for name in written.keys() - {*_OWN, "findings"}:
        codes[_code(name, file)] = written[name]
    follow = os.environ.get(FOLLOW_VARIABLE) or str(written.get("follow", ""))  # a variable that is empty says nothing
    return Settings(
        follow.strip().lower() not in _NO,
        _folders("data", written.get("data", True), file) if written else True,
        str(written.get("cache", "")).strip().lower() not in _NO,
        str(written.get("libraries", "")).strip().lower() not in _NO,
        _stubs(written["models"], file) if "models" in written else (),
        {_code(name, file): _severity(name, value, file) for name, value in codes.items()},
    )


def configuration_files(here: Path, names: tuple[str, ...]) -> Iterator[Path]:
    """The files of these names in a folder and those around it, the first one first.

    As `_find_config_file` of mypy/config_parser.py does, the search ends at the root of a repository.
    """
    for folder in (here, *here.parents):
        yield from (folder / name for name in names if (folder / name).is_file())
        if (folder / ".git").exists() or (folder / ".hg").exists():
            break


def _written(file: Path) -> dict[str, Any] | None:
    """Our part of a file; None if it has none."""
    try:
        if file.suffix == ".toml":
            with file.open("rb") as stream:
                found = tomllib.load(stream).get("tool", {}).get("simpletorch")
            return None if found is None else dict(found)
        # mypy reads its file with the same class: another one would stumble over a "%" in a pattern
        parser = configparser.RawConfigParser()
        parser.read_string(file.read_text(encoding="utf-8"), source=str(file))
    except (OSError, UnicodeDecodeError, configparser.Error, tomllib.TOMLDecodeError) as error:
        raise SettingError(f"can't read the configuration {file}: {error}") from error
    return dict(parser["simpletorch"]) if parser.has_section("simpletorch") else None


def _code(name: str, file: Path) -> str:
    if name in CODES:
        return name
    close = get_close_matches(name, (*CODES, *_OWN, "findings"), 1)
    meant = f"did you mean {close[0]}?" if close else f"there are {', '.join((*_OWN, *sorted(CODES)))}"
    raise SettingError(f"{file}: {name} is no setting and no code of a finding; {meant}")


def _stubs(value: object, file: Path) -> tuple[Path, ...]:
    found = _folders("models", value, file)
    if isinstance(found, bool):
        raise SettingError(f"{file}: models = {value!r} is no list of folders")
    return found


def _folders(name: str, value: object, file: Path) -> bool | tuple[Path, ...]:
    if isinstance(value, list | tuple) and all(isinstance(v, str) for v in value):
        return tuple(file.parent / v for v in value)
    if isinstance(value, bool) or str(value).strip().lower() in (*_NO, *_YES):
        return str(value).strip().lower() not in _NO
    if isinstance(value, str) and file.suffix != ".toml":
        return tuple(file.parent / v.strip() for v in value.split(",") if v.strip())
    raise SettingError(f"{file}: {name} must be true, false or a list of folders, not {value!r}")


def _severity(name: str, value: object, file: Path) -> Severity:
    said = str(value).strip().lower()
    if said in get_args(Severity):
        return cast(Severity, said)
    if said in _NO:
        return "off"
    if said in _YES:
        own = CODES[name].severity
        return "warning" if own == "off" else own
    raise SettingError(
        f"{file}: {name} = {value!r} is no severity; there are {', '.join(get_args(Severity))}, true and false"
    )
