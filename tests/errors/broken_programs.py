"""The programs of ``broken/``, one mistake each, and the texts that stand beside them."""

from __future__ import annotations

import re
from importlib import import_module
from inspect import signature
from pathlib import Path
from types import FunctionType

FOLDER = Path(__file__).parent / "broken"


def programs(name: str) -> list[FunctionType]:
    """The programs of a file: its functions without parameters."""
    module = import_module(f".broken.{name}", __package__)
    return [
        f
        for f in vars(module).values()
        if isinstance(f, FunctionType) and f.__module__ == module.__name__ and not signature(f).parameters
    ]


def recorded(name: str) -> dict[str, str]:
    """The texts that are recorded for a file, by program."""
    file = FOLDER / f"{name}.txt"
    if not file.exists():
        return {}
    parts = re.split(r"^== (\w+)\n", file.read_text(), flags=re.MULTILINE)[1:]
    return {name: text.strip() for name, text in zip(parts[::2], parts[1::2], strict=True)}


def record(name: str, program: str, text: str) -> None:
    """Record the text of a program."""
    texts = {**recorded(name), program: text}
    (FOLDER / f"{name}.txt").write_text("\n\n".join(f"== {name}\n{text}" for name, text in texts.items()) + "\n")
