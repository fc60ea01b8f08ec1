"""The way of an operation's call through the follower: its stays and rooms, counted over call stacks.

A room is a module of ``simpletorch.follow``, or the package ``rules``. A stay is a time in one room: each call into
another one, and each return from there, begins a new stay. The second of two equal lines is counted.

    python benchmarks/follow/stays.py
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

from simpletorch.follow import follow, interpreter

LINES = {
    "torch.relu(x)": "torch.relu(x)",
    "x.transpose(0, 1)": "x.transpose(0, 1)",
    "x @ w": "x @ w",
    "layer(x)": "layer(x)",
}
PROGRAM = """import torch
x, w, layer = torch.randn(3, 5), torch.randn(5, 7), torch.nn.Linear(5, 7)
{line}
{line}
"""


def room_of(frame: FrameType) -> str | None:
    """The room of a frame; None where it isn't the follower's."""
    name: str = frame.f_globals.get("__name__", "")
    if name.startswith("simpletorch.rules"):
        return "simpletorch.rules"
    return name if name.startswith("simpletorch.follow") else None


def rooms_of(line: str) -> list[str]:
    """The rooms of the second call of a line, one for each stay."""
    found: list[str] = []
    seen = Counter[int]()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        there = frame.f_back if event == "return" else frame
        room = None if there is None else room_of(there)
        if event in ("call", "return") and room is not None and (not found or found[-1] != room):
            found.append(room)

    evaluate = interpreter.Interpreter.evaluate

    def watched(run: Any, node: Any, scope: Any) -> Any:
        is_ours = getattr(node, "lineno", 0) == 4 and type(node).__name__ in ("Call", "BinOp") and not seen[4]
        if not is_ours or run.path != path:
            return evaluate(run, node, scope)
        seen[4] += 1
        sys.setprofile(note)
        try:
            return evaluate(run, node, scope)
        finally:
            sys.setprofile(None)

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.py"
        path = str(file)
        file.write_text(PROGRAM.format(line=line))
        interpreter.Interpreter.evaluate = watched  # type: ignore[method-assign,assignment]
        try:
            follow(file)
        finally:
            interpreter.Interpreter.evaluate = evaluate  # type: ignore[method-assign]
    return found


def main() -> None:
    """Print the stays of each line, and how many of them are in each room."""
    for shown, line in LINES.items():
        stays = rooms_of(line)
        print(f"{shown}: {len(stays)} stays in {len(set(stays))} rooms")
        for room, count in Counter(stays).most_common():
            print(f"  {count:3} {room}")


if __name__ == "__main__":
    main()
