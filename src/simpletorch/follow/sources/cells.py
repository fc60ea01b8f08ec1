"""The text of a cell as Python: what IPython adds is blanked out, and every line stays where it is.

This is done without IPython, so that notebooks are checked where it isn't installed.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, final

__all__ = ["Cell", "read", "unknown"]

_KEEPS_BODY: Final = frozenset(
    {"time", "timeit", "capture", "prun", "shapes", "memit", "mprun", "lprun", "memory_peak"}
)
"""Magics of a cell that run its body as Python."""
_RUNS_LINE: Final = frozenset({"time"})
"""Magics of a line that run the rest of it in the notebook's own namespace."""
_HARMLESS: Final = _KEEPS_BODY | frozenset({
    "alias", "autoreload", "cd", "conda", "config", "debug", "dhist", "dirs", "doctest_mode", "env", "gui", "history",
    "lsmagic", "ls", "magic", "matplotlib", "mkdir", "page", "pdb", "pdoc", "pfile", "pinfo", "pip", "popd", "pprint",
    "precision", "pushd", "pwd", "quickref", "reload_ext", "rmdir", "load_ext", "set_env", "simpletorch", "sx",
    "system", "tb", "tensorboard", "uv", "who", "who_ls", "whos", "writefile", "xmode", "html", "latex", "markdown",
    "svg", "javascript", "js", "bash", "sh", "script", "file", "ruby", "perl", "cmd", "SVG", "HTML", "mamba",
    "micromamba", "unload_ext", "watermark",
})  # fmt: skip
"""Magics that leave the notebook's variables as they are."""
_BARE: Final = re.compile(r"\s*(?P<name>[a-z_]+)(?:\s+[^\s=].*)?")
_OF_THE_SHELL: Final = frozenset({"cat", "cp", "less", "ll", "man", "more", "mv", "rm", "touch"})
"""Aliases of commands that IPython has."""
_COMMANDS: Final = _HARMLESS | _OF_THE_SHELL | frozenset({"run", "store"})
"""What needs no ``%`` in front of it: IPython takes a line that begins so for a magic."""
_CELL_MAGIC: Final = re.compile(r"%%(?P<name>[\w.]+)(?P<rest>.*)")
_LINE: Final = re.compile(
    r"(?P<indent>\s*)(?P<target>[\w\s,.\[\]'\"]+=\s*)?(?P<mark>%|!|\?)(?P<name>!?[\w.]*)(?P<rest>.*)", re.DOTALL
)
_HELP: Final = re.compile(r"\s*[\w.*]+\?{1,2}\s*$")
_NAME: Final = re.compile(r"(?<![\w.'\"])[^\W\d]\w*")
"""A name that isn't an attribute."""
_OF_CELL: Final = "__of_ipython__"
"""The name that stands for what a magic gives: nobody defines it, so it isn't known."""


@final
@dataclass(frozen=True)
class Cell:
    """A cell as Python.

    Args:
        text: with as many lines as the cell has.
        strange: the first line whose magic may change variables; None where there is none.
    """

    text: str
    strange: int | None = None


def read(source: str) -> Cell:
    """The Python of a cell. A cell in another language, such as bash, gives blank lines."""
    cell = _read(source)
    return cell if _is_python(cell.text) or not cell.text.strip() else _read(source, bare=True)


def _read(source: str, *, bare: bool = False) -> Cell:
    """The same; with ``bare`` a line that is no Python by itself may be a magic without ``%``."""
    lines = source.split("\n")
    first = next((i for i, line in enumerate(lines) if line.strip()), 0)
    found = _CELL_MAGIC.match(lines[first].lstrip()) if lines else None
    strange: int | None = None
    if found is not None:
        if found["name"] not in _KEEPS_BODY:
            return Cell("\n" * (len(lines) - 1), None if found["name"] in _HARMLESS else first + 1)
        lines[first] = ""
    out = list(lines)
    inside = _inside_of_strings(lines)
    number = 0
    while number < len(lines):
        taken = 1
        if number not in inside and (plain := _python_of(lines[number], bare=bare)) is not None:
            text, harmless = plain
            while lines[number + taken - 1].rstrip().endswith("\\") and number + taken < len(lines):
                out[number + taken] = ""
                taken += 1
            out[number] = text
            if not harmless and strange is None:
                strange = number + 1
        number += taken
    return Cell("\n".join(out), strange)


def unknown(text: str) -> str:
    """Python that stands for a cell that is none: imports, and of each other name in it nothing is known any more."""
    imports = [line for line in text.split("\n") if line.startswith(("import ", "from ")) and _is_python(line)]
    rest = "\n".join(line for line in text.split("\n") if line not in imports)
    names = [n for n in dict.fromkeys(_NAME.findall(rest)) if not keyword.iskeyword(n) and not hasattr(builtins, n)]
    forgotten = [f"{_OF_CELL}({', '.join(names)})", *(f"{name} = {_OF_CELL}" for name in names)]
    return "; ".join((*imports, *forgotten)) + "\n" * text.count("\n")


def _python_of(line: str, *, bare: bool) -> tuple[str, bool] | None:
    """The Python for a line of IPython's, and whether it leaves variables as they are; None for a line of Python."""
    if bare and (word := _BARE.fullmatch(line)) and word["name"] in _COMMANDS and not _is_python(line.strip()):
        line = f"{_indent(line)}{'!' if word['name'] in _OF_THE_SHELL else '%'}{line.lstrip()}"
    if _HELP.match(line):
        return _indent(line) + "pass", True
    found = _LINE.match(line)
    if found is None or (found["target"] and found["mark"] == "?"):
        return None
    name, rest = found["name"], found["rest"].strip()
    harmless = found["mark"] != "%" or name in _HARMLESS
    if found["target"]:
        if found["mark"] == "%" and not (name and (name[0].isalpha() or name[0] == "_")):
            return None
        return f"{found['indent']}{found['target']}{_OF_CELL}", harmless
    if found["mark"] == "%" and name in _RUNS_LINE and _is_python(rest):
        return found["indent"] + rest, True
    return found["indent"] + "pass", harmless


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _is_python(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return bool(text)


def _inside_of_strings(lines: list[str]) -> set[int]:
    """The numbers of lines that begin within a text of several lines, or in brackets, where ``%`` is an operator."""
    return set(_continued(lines))


def _continued(lines: list[str]) -> Iterator[int]:
    quote, depth = "", 0
    for number, line in enumerate(lines):
        if quote or depth > 0:
            yield number
        elif line.lstrip().startswith(("%", "!", "?")):
            continue
        at = 0
        while at < len(line):
            if quote:
                end = line.find(quote, at)
                while end > 0 and line[end - 1] == "\\":
                    end = line.find(quote, end + 1)
                if end < 0:
                    break
                at, quote = end + len(quote), ""
                continue
            char = line[at]
            if char == "#":
                break
            if char in "\"'":
                three = line[at : at + 3]
                quote = three if three in ('"""', "'''") else char
                at += len(quote)
                continue
            depth += (char in "([{") - (char in ")]}")
            at += 1
        if len(quote) == 1:  # a text of one line ends with it
            quote = ""
