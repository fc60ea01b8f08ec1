"""What pages of documentation show: their programs, and what is said of those that are wrong.

A block `python` is part of the page's program. One that begins with `# bad` fails on purpose: what is said of it stands
in the block `text` below it. A block `py` is a fragment, which is only shown: it needs a file, a GPU or a long time.
"""

from __future__ import annotations

import re

__all__ = ["BAD", "BLOCK", "program"]

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BAD = re.compile(r"^```python\n(# bad\n.*?)^```\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def program(page: str) -> str:
    """The page's program, with each line where it is on the page."""
    lines = [""] * (page.count("\n") + 1)
    for block in BLOCK.finditer(page):
        if not block[1].startswith(("# bad\n", "# good\n")):
            start = page.count("\n", 0, block.start(1))
            lines[start : start + block[1].count("\n")] = block[1].splitlines()
    return "\n".join(lines).rstrip() + "\n"
