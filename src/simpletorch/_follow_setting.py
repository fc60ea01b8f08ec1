"""Whether programs are followed: ``[simpletorch] follow = false`` in the file that has mypy's options turns it off."""

from __future__ import annotations

import configparser
import os
import tomllib
from pathlib import Path
from typing import Any, Final

__all__ = ["FOLLOW_VARIABLE", "follows"]

FOLLOW_VARIABLE: Final = "SIMPLETORCH_FOLLOW"
_NO: Final = ("0", "false", "no", "off")


def follows(config_file: str | Path | None) -> bool:
    """What the file says, which the variable of the environment overrules; yes if nothing is said."""
    wanted = os.environ.get(FOLLOW_VARIABLE) or _written(config_file)  # a variable that is set but empty says nothing
    return str(wanted).strip().lower() not in _NO


def _written(config_file: str | Path | None) -> Any:
    if not config_file or not Path(config_file).is_file():
        return None
    if Path(config_file).suffix == ".toml":
        with Path(config_file).open("rb") as stream:
            return tomllib.load(stream).get("tool", {}).get("simpletorch", {}).get("follow")
    # mypy reads its file with the same class: another one would stumble over a "%" in a pattern
    parser = configparser.RawConfigParser()
    parser.read(config_file, encoding="utf-8")
    return parser.get("simpletorch", "follow", fallback=None)
