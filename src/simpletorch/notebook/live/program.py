"""A program that goes on from live values: its modules are those that are imported."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow.sources.program import Program
from simpletorch.follow.values import MISSING, Namespace, Native, Value
from simpletorch.notebook.live.sources import is_own_module, text_of

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["LiveProgram"]

_UNCERTAIN: Final = Native("is_available", lambda run, args, kwargs: run.unknown("whether there is a GPU", "bool"))
_SHOWS: Final = Native("display", lambda run, args, kwargs: None)


class LiveProgram(Program):
    """One cell.

    Args:
        folder: where imports are looked for.
        convert: from a live value to the follower's.

    ``text`` is the cell's, ``files`` are those, and the earlier cells, whose functions it has come across.
    """

    is_whole = False

    def __init__(self, folder: Path, convert: Callable[[Any], Value]) -> None:
        super().__init__(folder / "cell", (), "cell")
        self._convert = convert
        self.text = ""
        self.files: Iterable[str] = ()
        self.has_cuda = _uses_cuda()

    def load(self, run: Interpreter, name: str) -> Namespace | None:
        """The module of the program's own by its dotted name: the one that is imported, else by its file."""
        module = sys.modules.get(name)
        if type(module) is ModuleType and is_own_module(module):
            if "sys.modules" in self.text:
                return None  # the cell may have it read anew, from a file that was edited since
            made = self.modules.get(name) or self._convert(module)
            if isinstance(made, Namespace):
                self.modules[name] = made
        return super().load(run, name)

    def trees(self) -> Iterator[ast.Module]:
        """The cell's syntax, and those of the functions and modules that it has come across."""
        for text in (self.text, *map(text_of, self.files)):
            with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
                yield ast.parse(text)
        yield from super().trees()

    def builtin(self, run: Interpreter, name: str) -> Value:
        """A name of Python's own, and what IPython adds."""
        found = super().builtin(run, name)
        return _SHOWS if found is MISSING and name == "display" else found

    def library(self, run: Interpreter, name: str) -> Value:
        """The object that a library has under a dotted name; whether there is a GPU is asked of this machine."""
        if name == "torch.cuda.is_available":
            return _has_cuda()
        return _UNCERTAIN if name == "torch.accelerator.is_available" else super().library(run, name)


def _uses_cuda() -> bool:
    """Whether tensors may be on CUDA, and new ones are on the CPU unless somebody says otherwise."""
    torch: Any = sys.modules.get("torch")
    return torch is not None and torch.cuda.is_initialized() and torch.get_default_device().type == "cpu"


def _has_cuda() -> Native:
    """``torch.cuda.is_available``: torch is asked only if it has woken the driver already."""
    torch: Any = sys.modules.get("torch")
    if torch is None or (torch.version.cuda is not None and not torch.cuda.is_initialized()):
        return _UNCERTAIN
    there = bool(torch.cuda.is_initialized())
    return Native("is_available", lambda run, args, kwargs: there)
