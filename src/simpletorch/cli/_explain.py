"""``simpletorch explain CODE``: the page of a code, in the terminal; and links from findings to these pages."""

from __future__ import annotations

import os
import re
import sys
from typing import Final

from simpletorch._distribution import page_of
from simpletorch.cli._output import could_not
from simpletorch.rules.core.codes import CODES

__all__ = ["explain", "linked"]

_CODE: Final = re.compile(r"\[(tensor-[a-z]+)\]$")


def explain(code: str | None = None) -> int:
    """Print the page of a code, or the list of codes; 2 if there is no such code."""
    if code is None:
        width = max(map(len, CODES))
        for each in CODES.values():
            print(f"{each.name:{width}}  {each.severity:7}  {each.about}")
        return 0
    name = code.strip("[]")
    name = name if name in CODES else f"tensor-{name}"
    page = page_of(name)
    if name not in CODES or page is None:
        return could_not("explain", f"there is no code {code}; simpletorch explain lists them", "text")
    text = page.read_text(encoding="utf-8")
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(text, code_theme="ansi_dark"))  # the terminal's own colours
    else:
        print(text, end="")
    return 0


def linked(line: str) -> str:
    """A line of a finding, whose code is a link to its page where a terminal shows the line.

    Source: https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda, the sequence OSC 8.
    """
    found = _CODE.search(line)
    page = page_of(found[1]) if found else None
    if found is None or page is None or not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        return line
    return f"{line[: found.start()]}\x1b]8;;{page.as_uri()}\x1b\\{found[0]}\x1b]8;;\x1b\\"
