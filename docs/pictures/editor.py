"""A program as an editor shows it: the inlay hints, the finding and the hover that our language server answers.

It is no screenshot of VS Code: the answers are the server's, and the page around them is ours.
"""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]

PROGRAM: Final = """\
import torch
from torch import nn

model = nn.Sequential(nn.Flatten(), nn.Linear(784, 128), nn.ReLU())
head = nn.Linear(100, 10)
images = torch.randn(64, 1, 28, 28)
features = model(images)
flipped = features.T
scores = head(features)
"""
HOVERED: Final = (7, 2)
"""The line and the column of the name under the pointer, from 0."""

PAGE: Final = """<!doctype html><html><head><meta charset="utf-8"><style>
:root { color-scheme: light dark; --back: #fff; --text: #1f1f1f; --number: #8a8a8a; --hint: #6b6b6b; --under: #e8eef7;
  --bad: #e51400; --edge: #c8c8c8; --tip: #f8f8f8; }
@media (prefers-color-scheme: dark) { :root { --back: #1f1f1f; --text: #d4d4d4; --number: #858585; --hint: #9aa4b0;
  --under: #2b3440; --bad: #f14c4c; --edge: #454545; --tip: #252526; } }
body { background: var(--back); color: var(--text); margin: 10px; font: 13px/1.6 "DejaVu Sans Mono", monospace; }
.line { white-space: pre; } .line > b { color: var(--number); font-weight: normal; margin-right: 18px; }
.hint { color: var(--hint); background: var(--under); border-radius: 3px; padding: 0 3px; font-size: 12px; }
.bad { text-decoration: underline wavy var(--bad); text-decoration-skip-ink: none; }
.tip { background: var(--tip); border: 1px solid var(--edge); margin: 2px 0 6px 44px; padding: 5px 9px;
  width: fit-content; max-width: 660px; white-space: pre-wrap; font-size: 12px; }
</style></head><body>%s</body></html>"""


def page(folder: Path) -> str:
    """The page."""
    sys.path.insert(0, str(ROOT))
    from tests.language_server.client import Client  # an editor's side of the protocol, over pipes

    path = folder / "net.py"
    path.write_text(PROGRAM)
    with Client(folder) as client:
        address = client.open(path, PROGRAM)
        found = client.said(address)
        hints = client.hints(address)
        hovered = client.hover(address, *HOVERED)
    rows = [_line(number, text, hints, found) for number, text in enumerate(PROGRAM.splitlines())]
    tips = {HOVERED[0]: re.sub(r"```\w*\n?|`|\*\*", "", hovered).strip()}
    tips |= {each["range"]["start"]["line"]: f"{each['message']}  {each['code']}" for each in found}
    for line in sorted(tips, reverse=True):
        rows.insert(line + 1, f'<div class="tip">{html.escape(tips[line])}</div>')
    return PAGE % "\n".join(rows)


def _line(number: int, text: str, hints: list[tuple[int, int, str]], found: list[dict[str, Any]]) -> str:
    """A line with its hints, and the part underlined that a finding is about."""
    marks = {
        column: f'<span class="hint">{html.escape(label)}</span>' for line, column, label in hints if line == number
    }
    for each in found:
        start, end = each["range"]["start"], each["range"]["end"]
        if start["line"] == number == end["line"]:
            marks[start["character"]] = marks.get(start["character"], "") + '<span class="bad">'
            marks[end["character"]] = "</span>" + marks.get(end["character"], "")
    shown = "".join(marks.get(at, "") + html.escape(text[at : at + 1]) for at in range(len(text) + 1))
    return f'<div class="line"><b>{number + 1}</b>{shown}</div>'
