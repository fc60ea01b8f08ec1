"""Writes ``index.py``: ``python -m simpletorch.rules.core.families`` after a rule was added, renamed or moved.

It runs in a process of its own, in which no family has been read before: who reads a family sees what it registers.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from textwrap import wrap
from typing import Any, Final

import simpletorch.rules as package
from simpletorch.rules.core import registry

__all__ = ["INDEX", "main"]

INDEX: Final = Path(__file__).with_name("index.py")
_HEAD: Final = '''"""Which module has which rules. Written by ``python -m simpletorch.rules.core.families``."""

# fmt: off
from typing import Final

'''


def _registered(table: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Each name with the module that registers it: the one whose body runs when the entry comes."""
    names = dict.fromkeys(dict.__iter__(table))
    return ((name, _BY_NAME[id(table), name].removeprefix(f"{package.__name__}.")) for name in names)


_BY_NAME: Final[dict[tuple[int, str], str]] = {}


def _watch() -> None:
    """From here on note where `rule` and `module` are called."""
    for decorator, table in (("rule", registry.RULES), ("module", registry.MODULES)):
        original = getattr(registry, decorator)

        def watched(*names: str, _made: Any = original, _table: Any = table, **options: Any) -> Any:
            frame = sys._getframe(1)  # the module's body, or a helper's that it calls
            while frame.f_back is not None and frame.f_code.co_name != "<module>":
                frame = frame.f_back
            for name in names:
                _BY_NAME[id(_table), name] = frame.f_globals["__name__"]
            return _made(*names, **options)

        setattr(registry, decorator, watched)


def _shown(table: dict[str, Any]) -> str:
    families: dict[str, list[str]] = {}
    for name, family in _registered(table):
        families.setdefault(family, []).append(name)
    rows = []
    for family in sorted(families):
        lines = wrap(" ".join(sorted(families[family])), 108, break_long_words=False, break_on_hyphens=False)
        quoted = "\n".join(f'        "{line} "' for line in lines)
        rows.append(f'    "{family}": (\n{quoted}\n    ),\n')
    return "{\n" + "".join(rows) + "}"


def text() -> str:
    """The source of ``index.py``, of all modules of the package as they are."""
    _watch()
    for found in walk_packages(package.__path__, f"{package.__name__}."):
        if found.name != f"{package.__name__}.core.families":
            import_module(found.name)
    return f"{_HEAD}FUNCTIONS: Final = {_shown(registry.RULES)}\nLAYERS: Final = {_shown(registry.MODULES)}\n"


def main(arguments: list[str]) -> int:
    """Write the file; with ``--check`` say whether it is as it must be."""
    made = text()
    if arguments == ["--check"]:
        return int(INDEX.read_text() != made)
    INDEX.write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
