"""Settings in YAML, TOML, INI and ``.env``: plain values only, within limits.

YAML needs PyYAML, which programs that read YAML have; only its safe part is used, with a limit of depth and size.
"""

from __future__ import annotations

import configparser
import re
import tomllib
from functools import cache
from importlib import import_module
from typing import Any, Final

from simpletorch.follow.disk.described import Contents, Unreadable
from simpletorch.follow.sources.installed import is_library

__all__ = ["dotenv", "has_yaml", "ini", "toml", "yaml"]

_LONGEST: Final = 200_000  # characters
_DEEPEST: Final = 60
_MOST_MERGED: Final = 20_000  # pairs that ``<<`` copies
_FLOAT: Final = re.compile(
    r"""^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)?
    |[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+
    |\.[0-9_]+(?:[eE][-+][0-9]+)?
    |[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*
    |[-+]?\.(?:inf|Inf|INF)
    |\.(?:nan|NaN|NAN))$""",
    re.VERBOSE,
)
"""Numbers that are floats in OmegaConf's YAML and in YAML 1.2: also ``1e-3``, which PyYAML takes for a text."""


def has_yaml() -> bool:
    """Whether PyYAML is installed: a ``yaml.py`` of the program's own must not run."""
    return is_library("yaml")


@cache
def _loader(newer: bool) -> Any:
    module: Any = import_module("yaml")

    class Loader(module.SafeLoader):  # type: ignore[misc]
        """PyYAML's safe loader, which refuses what is deep or copies too much."""

        depth = 0
        merged = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            """One node."""
            self.depth += 1
            if self.depth > _DEEPEST:
                raise Unreadable("nested too deeply")
            found = super().compose_node(parent, index)
            self.depth -= 1
            return found

        def flatten_mapping(self, node: Any) -> None:
            """``<<``."""
            self.merged += len(node.value)
            if self.merged > _MOST_MERGED:
                raise Unreadable("merges too much")
            super().flatten_mapping(node)

    if newer:
        Loader.yaml_implicit_resolvers = {
            first: [(tag, pattern) for tag, pattern in rows if not tag.endswith((":float", ":timestamp"))]
            for first, rows in Loader.yaml_implicit_resolvers.items()
        }
        Loader.add_implicit_resolver("tag:yaml.org,2002:float", _FLOAT, list("-+0123456789."))
    return Loader


def yaml(text: str, *, newer: bool = False) -> Contents:
    """The one document in a text; ``newer``: as OmegaConf and readers of YAML 1.2 read floats."""
    if len(text) > _LONGEST:
        raise Unreadable("a long text")
    if not has_yaml():
        raise Unreadable("PyYAML isn't installed")
    module: Any = import_module("yaml")
    loader = _loader(newer)(text)
    try:
        return _plain(loader.get_single_data())
    except (module.YAMLError, ValueError, TypeError, RecursionError, OverflowError) as error:
        raise Unreadable("no plain YAML") from error
    finally:
        loader.dispose()


def toml(text: str) -> Contents:
    """A TOML document."""
    if len(text) > _LONGEST:
        raise Unreadable("a long text")
    try:
        return _plain(tomllib.loads(text))
    except (ValueError, RecursionError) as error:
        raise Unreadable("no TOML") from error


def ini(text: str) -> dict[str, dict[str, str]]:
    """Sections of an INI file, each with its options and those of ``[DEFAULT]``, which comes first."""
    if len(text) > _LONGEST:
        raise Unreadable("a long text")
    reader = configparser.ConfigParser(allow_no_value=True)
    try:
        reader.read_string(text)
        return {"DEFAULT": dict(reader.defaults()), **{name: dict(reader[name]) for name in reader.sections()}}
    except (configparser.Error, ValueError, RecursionError) as error:
        raise Unreadable("no INI file") from error


def dotenv(text: str) -> dict[str, str | None]:
    """The variables of an ``.env`` file; None where the value refers to others or has escapes."""
    found: dict[str, str | None] = {}
    for line in text.splitlines():
        match = re.fullmatch(r"""\s*(?:export\s+)?([\w.]+)\s*=\s*("[^"]*"|'[^']*'|[^#"']*?)\s*(?:\s#.*)?""", line)
        if match is None:
            if line.strip() and not line.lstrip().startswith("#"):
                raise Unreadable("no plain .env file")
            continue
        name, value = match.groups()
        quoted = value[:1] in ("'", '"')
        value = value[1:-1] if quoted else value
        found[name] = None if ("$" in value or "\\" in value) else value
    return found


def _plain(found: Any, depth: int = 0, done: dict[int, Any] | None = None) -> Contents:
    """Dicts with plain keys, lists and plain values; anything else is an object that isn't read."""
    done = {} if done is None else done
    if not isinstance(found, dict | list):
        return found  # what isn't plain becomes unknown, see `entries`
    if depth > _DEEPEST or done.get(id(found), found) is None:
        raise Unreadable("nested too deeply, or in itself")
    if id(found) not in done:
        done[id(found)] = None
        if isinstance(found, list):
            done[id(found)] = [_plain(v, depth + 1, done) for v in found]
        elif all(k is None or isinstance(k, str | int | float | bool) for k in found):
            done[id(found)] = {k: _plain(v, depth + 1, done) for k, v in found.items()}
        else:
            raise Unreadable("keys that aren't plain")
    return done[id(found)]
