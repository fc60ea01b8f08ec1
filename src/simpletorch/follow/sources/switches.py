"""Options that a program's training waits for: ``if args.train:``, where ``--train`` is off unless it is given.

Followed with its defaults, such a program loads a model, prints its help or does nothing. So it is followed once more
as a user starts it, with the option.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from simpletorch.follow.findings import Call
from simpletorch.follow.sources.syntax import of_node, parse, walk
from simpletorch.follow.values import Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["Switch", "left_out", "of_training", "offer"]

_TRAINS: Final = frozenset({"backward", "fit", "trainer"})
_DEFINES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Switch(NamedTuple):
    """An option of the command line with the value that makes the program train."""

    name: str
    value: bool | str
    words: str
    """As a user writes it: ``--train``, ``--mode train``."""
    path: str
    line: int
    """Where the program asks for it."""

    @property
    def way(self) -> Call:
        """The last step on the way to a mistake that the program doesn't make without the option."""
        return Call(self.path, self.line, "the program", words=self.words)


def offer(run: Interpreter, name: str, flag: str, default: Value) -> Value:
    """An option that the command line leaves out: its default, or the value with which the program is followed."""
    run.offered[name] = flag, default
    if name in run.given:
        return run.unknown(f"{flag} of the command line")
    switch = run.switch
    return switch.value if switch is not None and switch.name == name else default


def left_out(run: Interpreter) -> dict[str, str]:
    """The flags of the options that are None unless they are given, by name."""
    return {name: flag for name, (flag, default) in run.offered.items() if default is None}


def of_training(run: Interpreter) -> Switch | None:
    """The option behind which the program trains; None without.

    Of several, one whose name says so comes first.
    """
    if run.updates or not run.offered:
        return None
    files = [(m.path, tree) for m in run.program.modules.values() if m.path and (tree := parse(Path(m.path)))]
    defined = _defined(tree for _, tree in files)
    found = [
        Switch(name, value, words, path, node.lineno)
        for path, tree in files
        for node in walk(tree)
        if isinstance(node, ast.If)
        for name, value, words in _asked(run, node.test)
        if _says_so(words) or _leads_to_training(node.body, defined)
    ]
    return min(found, key=lambda switch: not _says_so(switch.words), default=None)


def _says_so(words: str) -> bool:
    """Whether an option is named for the training: then its code may be a library's, or a file that isn't there."""
    return re.search(r"\b(do_|run_)?train(ing)?\b", words.replace("-", " ")) is not None


def _asked(run: Interpreter, test: ast.expr) -> Iterator[tuple[str, bool | str, str]]:
    """The options that make a condition true, unlike their defaults: each with the value and the words for it."""
    match test:
        case ast.BoolOp(op=ast.And(), values=parts):
            for part in parts:
                yield from _asked(run, part)
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[ast.Constant(value=str() as value)]):
            name = _name(left)
            flag, default = run.offered.get(name, ("", value))
            if isinstance(default, str | None) and default != value:
                yield name, value, f"{flag} {value}"
        case _:
            name = _name(test)
            flag, default = run.offered.get(name, ("", None))
            if default is False:
                yield name, True, flag


def _name(node: ast.expr) -> str:
    """The last part of a name: of ``args.train``, ``train`` and ``args["train"]``."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=str() as name)):
            return name
    return ""


def _defined(trees: Iterable[ast.Module]) -> dict[str, list[ast.AST]]:
    found: dict[str, list[ast.AST]] = {}
    for node in (node for tree in trees for node in walk(tree) if isinstance(node, _DEFINES)):
        found.setdefault(node.name, []).append(node)
    return found


def _leads_to_training(body: Iterable[ast.AST], defined: dict[str, list[ast.AST]]) -> bool:
    """Whether the names in some code lead to those of a training step, by the program's own functions and classes."""
    left, met = list(body), set[str]()
    while left:
        new = _mentioned(left.pop()) - met
        if new & _TRAINS:
            return True
        met |= new
        left += (node for name in new for node in defined.get(name, ()))
    return False


@of_node
def _mentioned(node: ast.AST) -> frozenset[str]:
    return frozenset(n.attr if isinstance(n, ast.Attribute) else n.id for n in walk(node)
                     if isinstance(n, ast.Name | ast.Attribute))  # fmt: skip
