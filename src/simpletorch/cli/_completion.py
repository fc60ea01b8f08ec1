"""``simpletorch completion``: a shell's script, made from the parser."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import shtab

__all__ = ["actions", "completion"]


def completion(parser: argparse.ArgumentParser, shell: str) -> int:
    """Print the script that completes ``parser``'s commands, options and files in ``shell``."""
    for action in actions(parser):
        if action.metavar in ("FILE", "PATH"):
            action.complete = shtab.FILE
    print(shtab.complete(parser, shell))
    return 0


def actions(parser: argparse.ArgumentParser) -> Iterator[Any]:
    """The arguments of a parser and of its commands; argparse has no public way there; shtab goes this one too."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from actions(command)
