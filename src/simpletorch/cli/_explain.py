"""``simpletorch explain CODE``: the page of a code, in the terminal."""

from __future__ import annotations

import sys

from simpletorch._distribution import page_of
from simpletorch.cli._output import could_not, did_you_mean
from simpletorch.rules.core.codes import CODES

__all__ = ["explain"]


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
        ends = [each.removeprefix("tensor-") for each in CODES]
        meant = did_you_mean(code.strip("[]").removeprefix("tensor-"), ends, "tensor-")
        instead = meant or "simpletorch explain lists them"
        return could_not("explain", f"there is no code {code}; {instead}", "text")
    text = page.read_text(encoding="utf-8")
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(text, code_theme="ansi_dark"))  # the terminal's own colours
    else:
        print(text, end="")
    return 0
