"""``simpletorch init``: the project's configuration of mypy, with the plugin in it."""

from __future__ import annotations

import configparser
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from simpletorch._distribution import NAME
from simpletorch.cli._config import DEFAULTS, PLUGIN, ConfigError, read

__all__ = ["init"]

_INI_NAMES: Final = ("mypy.ini", ".mypy.ini")
_WORKFLOW: Final = Path(".github/workflows/simpletorch.yml")


def init(*, ci: str | None = None) -> int:
    """Write what ``simpletorch check`` would add into ``mypy.ini`` if there is one, else into ``pyproject.toml``.

    Existing settings stay as they are, comments included; a second run changes nothing.

    Args:
        ci: "github" for a workflow that checks each push.

    Returns 0, or 2 if a file can't be read.
    """
    try:
        _say(*_configuration(Path.cwd()))
    except ConfigError as error:
        print(f"simpletorch init: {error}", file=sys.stderr)
        return 2
    if ci == "github":
        _say(*_workflow(_WORKFLOW))
    return 0


def _say(file: Path, what: str) -> None:
    print(f"{file.name if file.parent == Path.cwd() else file}: {what}")


def _configuration(folder: Path) -> tuple[Path, str]:
    file = next((folder / name for name in _INI_NAMES if (folder / name).is_file()), folder / "pyproject.toml")
    section = read(file, need=False).get("mypy", {}) if file.is_file() else {}
    missing = _missing(section)
    if not missing:
        return file, "nothing to do, it is all there"
    old = file.read_text(encoding="utf-8") if file.is_file() else ""
    text = _in_toml(old, missing) if file.suffix == ".toml" else _in_ini(old, missing)
    _write(file, text)
    return file, "added " + ", ".join(missing)


def _missing(section: Mapping[str, str]) -> dict[str, str]:
    """The settings that the section lacks; what it says otherwise is the project's choice, except the plugin."""
    missing = {key: value for key, value in DEFAULTS.items() if key not in section}
    if "allow_redefinition_new" in section:
        missing.pop("allow_redefinition", None)
    if PLUGIN not in [name.strip() for name in section.get("plugins", "").split(",")]:
        missing["plugins"] = PLUGIN
    return missing


def _in_toml(text: str, missing: Mapping[str, str]) -> str:
    import tomlkit

    document = tomlkit.parse(text)
    tool = document.setdefault("tool", tomlkit.table(is_super_table=True))
    section: Any = tool.setdefault("mypy", tomlkit.table())
    for key, value in missing.items():
        if key not in section:
            section[key] = True if value == "true" else [value]
        elif isinstance(section[key], str):
            section[key] = ", ".join((value, section[key]))
        else:
            section[key].insert(0, value)
    return tomlkit.dumps(document)


def _in_ini(text: str, missing: Mapping[str, str]) -> str:
    """The text with the settings behind the head of its section; a list of plugins is continued where it begins."""
    for key, value in missing.items():
        if re.search(r"^\[mypy\]", text, re.MULTILINE) is None:
            text += f"{'' if not text or text.endswith(chr(10)) else chr(10)}[mypy]\n"
        head, body = re.split(r"(?<=\[mypy\])[^\n]*\n?", text, maxsplit=1)
        begins = re.match(rf"(?s)(?:(?!^\[).)*?^{key}\s*[=:][ \t]*", body, re.MULTILINE) if key == "plugins" else None
        if begins is None:
            text = f"{head}\n{key} = {value}\n{body}"
        else:
            rest = body[begins.end() :]
            text = f"{head}\n{body[: begins.end()]}{value}{', ' if rest.strip() else ''}{rest}"
    _verify(text, missing)
    return text


def _verify(text: str, missing: Mapping[str, str]) -> None:
    """That the text says what it is meant to say: it is written by hand, so that comments stay."""
    parser = configparser.RawConfigParser()
    parser.read_string(text)
    lacking = _missing(dict(parser["mypy"]))
    if lacking:
        raise ConfigError(f"can't add {', '.join(missing)} to the [mypy] section; add them by hand")


def _write(file: Path, text: str) -> None:
    """Write a file in one step: it is the old one or the new one, in full."""
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    fresh.write_text(text, encoding="utf-8")
    if file.is_file():
        fresh.chmod(file.stat().st_mode)
    fresh.replace(file.resolve())  # where a link leads, not the link


def _workflow(file: Path) -> tuple[Path, str]:
    if file.is_file():
        return file, "it exists, and stays unchanged"
    file.parent.mkdir(parents=True, exist_ok=True)
    _write(file, _GITHUB)
    return file, "checks each push and pull request"


_GITHUB: Final = f"""\
name: simpletorch
on: [push, pull_request]
permissions:
  contents: read
jobs:
  check:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
          cache: pip
      - run: pip install torch --index-url https://download.pytorch.org/whl/cpu
      - run: pip install . {NAME}
      - run: simpletorch check --output github
"""
