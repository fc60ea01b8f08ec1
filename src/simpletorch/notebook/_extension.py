"""The extension of IPython: cells are followed before they run, and ``%simpletorch``, ``%shapes``, ``%%shapes``.

IPython calls the functions of ``pre_run_cell`` for every cell that isn't silent, with the text that the user wrote; an
exception there stops nothing. A transformer of the syntax runs right before a cell does, in async cells and kernels
alike, and may reject it (`InputRejected`): that is how a cell is stopped. ``%%shapes`` is taken off by a transformer of
the text, so that the rest of its cell runs as any other, ``await`` included.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, final

from IPython.core.display_functions import display as _display
from IPython.core.error import InputRejected, UsageError
from IPython.core.interactiveshell import InteractiveShell

from simpletorch._settings import settings
from simpletorch.follow import Finding
from simpletorch.notebook._card import Card, ErrorCard, card_of, error_card
from simpletorch.notebook._following import Seen, follow_cell, read_tables
from simpletorch.notebook._shapes import Shown, beside, path_through
from simpletorch.notebook._tracebacks import shortened
from simpletorch.notebook.live.sources import text_of
from simpletorch.notebook.views import register

__all__ = ["CellStopped", "Extension", "load_ipython_extension", "unload_ipython_extension"]

_MODES: Final = ("warn", "stop", "off")
_SHAPES: Final = "%%shapes"


class CellStopped(InputRejected):
    """The cell was not run, because it surely fails."""

    def __init__(self, card: Card) -> None:
        super().__init__(card.finding.message)
        self.card = card

    def _render_traceback_(self) -> list[str]:
        """The text that IPython shows instead of a traceback."""
        return repr(self.card).splitlines()


@final
class Extension(ast.NodeTransformer):
    """The part of the extension that belongs to one shell."""

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell
        self.mode = "warn"
        self._source: str | None = None  # of the cell that is about to run
        self._name = ""
        self._is_told = False  # that the cell fails, before it runs
        self._formatters: Callable[[], None] = _nothing  # takes the views off again
        self._handler: tuple[Any, Any] = (), None  # of exceptions, as it was
        self._files: dict[str, str] = {}  # what cells are called in reports, with the names that Python has for them

    def load(self) -> None:
        """Begin."""
        read_tables()
        self.shell.events.register("pre_run_cell", self._note)
        self.shell.ast_transformers.append(self)
        self.shell.input_transformers_cleanup.append(_without_magic)
        self.shell.magics_manager.register_function(self._set_mode, "line", "simpletorch")
        self.shell.magics_manager.register_function(self._show_path, "line", "shapes")
        self._formatters = register(self.shell)
        self._handler = self.shell.custom_exceptions, self.shell.CustomTB
        if not self.shell.custom_exceptions:  # else somebody has a handler of his own
            self.shell.set_custom_exc((Exception, KeyboardInterrupt), self._show_error)  # type: ignore[no-untyped-call]

    def unload(self) -> None:
        """Leave the shell as it was."""
        self.shell.events.unregister("pre_run_cell", self._note)
        self.shell.ast_transformers.remove(self)
        self.shell.input_transformers_cleanup.remove(_without_magic)
        for name in ("simpletorch", "shapes"):
            self.shell.magics_manager.magics["line"].pop(name, None)
        self._formatters()
        self.shell.custom_exceptions, self.shell.CustomTB = self._handler

    # -- cells -------------------------------------------------------------------------------------------------------

    def _note(self, info: Any) -> None:
        """A cell is about to run."""
        lines = info.raw_cell.split("\n")
        while len(lines) > 1 and not lines[0].strip():  # IPython takes them off, too, before it counts
            del lines[0]
        self._source = "\n".join(lines)
        self._name = f"Cell In[{self.shell.execution_count - bool(info.store_history)}]"

    def visit(self, node: ast.AST) -> ast.AST:
        """Follow the cell whose syntax this is; what magics of a cell run in it is followed with it.

        Raises:
            CellStopped: it surely fails, and the user wants such cells to be stopped.
        """
        source, self._source = self._source, None
        self._is_told = False
        shows = source is not None and source.startswith(_SHAPES)
        if source is None or (self.mode == "off" and not shows):
            return node
        seen = follow_cell(source, self.shell.user_ns, self._name, self._call_it, settings().severities)
        if seen is None:
            return node
        if shows:
            _show(beside(source.partition("\n")[2], seen.name, _shifted(seen)))
        self._say(seen)
        return node

    def _say(self, seen: Seen) -> None:
        """Show what was found; an error that stops the cell last."""
        stops = seen.stops if self.mode == "stop" else None
        self._is_told = seen.stops is not None and self.mode != "off"
        for found in (*seen.followed.errors, *seen.followed.warnings):
            if found is not stops and self.mode != "off":
                _show(self._card(seen, found, _head(found, seen)))
        if stops is not None:
            raise CellStopped(self._card(seen, stops, ": the cell was not run"))

    def _card(self, seen: Seen, found: Finding, head: str) -> Card:
        def texts(name: str) -> str:
            return seen.text if name == seen.name else text_of(self._files.get(name, name))

        return card_of(found, head, texts)

    def _call_it(self, file: str) -> str:
        """The name of a file in reports: a cell as IPython calls it in tracebacks."""
        compiler = self.shell.compile
        if hasattr(compiler, "format_code_name"):
            shown = compiler.format_code_name(file)
            name = file if shown is None else " ".join(shown)
        else:  # IPython 8.0
            number = compiler._filename_map.get(file)
            name = file if number is None else f"Cell In[{number}]"
        self._files[name] = file
        return name

    def _show_error(
        self, shell: Any, kind: type, error: BaseException, traceback: Any, tb_offset: int | None = None
    ) -> None:
        """An exception as a card, if it is one of torch's, and with a short traceback; ``%tb`` shows the whole one."""
        card = None if self._is_told else error_card(error, self._call_it)
        if card is not None and (hasattr(shell, "kernel") or not isinstance(error, type(card.error))):
            _show(card)  # a terminal has the text of ours below the traceback
        short, _ = shortened(traceback)
        shell.showtraceback((kind, error, short), tb_offset=tb_offset)
        sys.last_traceback = traceback

    # -- magics ------------------------------------------------------------------------------------------------------

    def _set_mode(self, line: str) -> None:
        """Choose what happens to a cell in which an error is found: %simpletorch stop|warn|off.

        warn: the error is shown, and the cell runs. stop: a cell that surely fails doesn't run at all. off: no cell is
        followed. Without a word it says which one holds.
        """
        asked = line.strip()
        if not asked:
            print(f"simpletorch: {self.mode}")
        elif asked in _MODES:
            self.mode = asked
        else:
            raise UsageError(f"%simpletorch {'|'.join(_MODES)}, not {asked!r}")

    def _show_path(self, line: str) -> None:
        """Show the input and output of each module inside a model: %shapes MODEL [BATCH | SIZES].

        The batch is named (%shapes model images), or given by the sizes of a float tensor (%shapes model 5 3 32 32).
        Nothing is run. As %%shapes on the first line of a cell: the cell with the shapes of its lines; then it runs.
        """
        if not line.strip():
            raise UsageError("%shapes MODEL [BATCH | SIZES]")
        try:
            _show(path_through(line, self.shell.user_ns))
        except ValueError as error:
            raise UsageError(str(error)) from None


def _head(found: Finding, seen: Seen) -> str:
    return ": the cell fails here" if found is seen.stops else ""


def _shifted(seen: Seen) -> Any:
    """The result for the cell, by the lines below its first one."""
    claims = {(path, line - (path == seen.name)): given for (path, line), given in seen.followed.claims.items()}
    return replace(seen.followed, claims=claims)


def _without_magic(lines: list[str]) -> list[str]:
    """A cell under ``%%shapes`` is the cell without it; the lines keep their numbers."""
    return ["\n", *lines[1:]] if lines and lines[0].startswith(_SHAPES) else lines


def _nothing() -> None:
    """Before the extension is loaded."""


def _show(value: Card | ErrorCard | Shown) -> None:
    """Show a value under the cell."""
    _display(value)  # type: ignore[no-untyped-call]


_loaded: Final[dict[int, Extension]] = {}


def load_ipython_extension(shell: InteractiveShell) -> None:
    """``%load_ext simpletorch``."""
    if id(shell) not in _loaded:
        made = _loaded[id(shell)] = Extension(shell)
        made.load()


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """``%unload_ext simpletorch``."""
    found = _loaded.pop(id(shell), None)
    if found is not None:
        found.unload()
