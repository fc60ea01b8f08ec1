"""``simpletorch ops``: the operations whose shapes are understood, with the rule and the measured coverage of each."""

from __future__ import annotations

import inspect
import json
import os
import shutil
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import groupby

from simpletorch.cli._coverage import Coverage, measured_on, total


@dataclass(frozen=True)
class Operation:
    """One rule: its family, its public names, what it does with shapes in one line, and how often it was right."""

    family: str
    names: tuple[str, ...]
    rule: str
    coverage: Coverage | None


def operations(pattern: str = "") -> list[Operation]:
    """All operations by family, with the names that contain ``pattern`` (in any case)."""
    from simpletorch.rules import MODULES, RULES

    found = [(r.function.__module__, r.names, r.sentence) for r in {id(r): r for r in RULES.values()}.values()]
    found += [(c.__module__, c.names, inspect.getdoc(c) or "") for c in dict.fromkeys(MODULES.values())]
    wanted = pattern.lower()
    chosen = [
        Operation(module.rpartition(".")[2], matching, rule.partition("\n")[0], total(matching))
        for module, names, rule in found
        if (matching := tuple(n for n in names if wanted in n.lower()))
    ]
    return sorted(chosen, key=lambda o: (o.family, o.names))


def title(family: str) -> str:
    """The subject of a family: the first line of its module, or of the one with its functions if it has layers, too."""
    from simpletorch.rules import MODULES, RULES

    modules = {r.function.__module__ for r in RULES.values()} | {c.__module__ for c in MODULES.values()}
    first = min(name for name in modules if name.rpartition(".")[2] == family)  # functions come before layers
    return (inspect.getdoc(sys.modules[first]) or family).partition("\n")[0]


def ops(pattern: str = "", *, as_json: bool = False) -> int:
    """Print the operations; 1 when none matches, else 0."""
    found = operations(pattern)
    if not found and not as_json:
        print(f"simpletorch ops: nothing has {pattern!r} in its name", file=sys.stderr)
        return 1
    lines = [json.dumps([asdict(o) for o in found], indent=2)] if as_json else list(_lines(found))
    try:
        print("\n".join(lines), flush=True)
    except BrokenPipeError:  # the reader, `head` say, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0 if found else 1


def _lines(found: list[Operation]) -> Iterator[str]:
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else sys.maxsize
    for family, members in groupby(found, key=lambda o: o.family):
        yield from _wrapped(f"{family}: {title(family)}", width, "")
        for o in members:
            yield from _wrapped(", ".join(o.names), width, "  ")
            yield from _wrapped(o.rule.replace("``", ""), width, "      ")
            if o.coverage is not None:
                yield from _wrapped(o.coverage.text, width, "      ")
        yield ""
    names = sum(len(o.names) for o in found)
    yield f"{len(found)} {'rule' if len(found) == 1 else 'rules'} for {names} {'name' if names == 1 else 'names'}"
    every = total(n for o in found for n in o.names)
    if every is not None:
        day, torch = measured_on()
        yield from _wrapped(f"{every.text} (torch {torch}'s own test inputs, {day})", width, "")


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent + "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
