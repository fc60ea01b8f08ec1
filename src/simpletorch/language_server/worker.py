"""The process that follows for the server: ``python -P -m simpletorch.language_server.worker``.

It reads `Ask`s from its input and writes a `Found` and an `Answer` to each to its output. A process of its own, because
the server must answer while a program is followed, and must outlive whatever a text does to Python's parser.
"""

from __future__ import annotations

import ast
import gc
import os
import queue
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Final

from simpletorch.follow import Finding, Followed, follow
from simpletorch.follow.marks.seen import Look, Place
from simpletorch.follow.sources import texts
from simpletorch.follow.sources.syntax import forget, parse
from simpletorch.language_server.hints import hints
from simpletorch.language_server.messages import Answer, Ask, Cancel, Found, Hint, Known, Mistake, pack, read

__all__ = ["Worker", "main"]

_PAUSE: Final = 0.05  # seconds in which a typing user may send the next text
_MOST_ANSWERS: Final = 100  # until all garbage is collected
_SWITCH: Final = 0.0005  # seconds until the thread that reads cancellations runs
_STACK: Final = 512 * 2**20  # bytes of address space: the follower's recursion is Python's


class Worker:
    """The state of the process: the open texts, as they are and as they last were valid Python."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.good: dict[str, str] = {}
        self.mistakes: dict[str, Mistake | None] = {}
        self.cancelled: set[int] = set()

    def answer(self, ask: Ask, first: Callable[[Found], object] = lambda found: None) -> Answer:
        """Follow the program with the texts of now; those that are no Python count as they last were.

        ``first`` is told what was found, which is what somebody waits for.
        """
        start = time.perf_counter()
        self._take(ask.texts)
        mistake = self.mistakes.get(ask.path)
        if mistake is not None or ask.number in self.cancelled:
            return Answer(ask.number, ask.path, mistake, is_cancelled=mistake is None)
        found = follow(
            ask.path,
            ask.arguments,
            steps=ask.steps,
            seconds=ask.seconds,
            severities=ask.severities,
            data=ask.data,
            opened=self.good,
            watched=True,
            is_cancelled=lambda: ask.number in self.cancelled,
        )
        if ask.number in self.cancelled:
            return Answer(ask.number, ask.path, is_cancelled=True)
        findings = (*found.errors, *found.warnings, *found.remarks)
        first(Found(ask.number, ask.path, findings))
        if (answer := self._described(ask, found, findings, start)) is None:
            return Answer(ask.number, ask.path, is_cancelled=True)
        return answer

    def _described(self, ask: Ask, found: Followed, findings: tuple[Finding, ...], start: float) -> Answer | None:
        """All that is known; None where the text is another one meanwhile, and somebody waits for its findings."""
        known: dict[Known, int] = {}
        seen = found.seen
        assert seen is not None
        mine = {path for path in found.files if path in self.good}
        looks: dict[str, list[tuple[Place, tuple[int, ...]]]] = {}
        for (path, place), row in seen.looks.items():
            if path in mine:
                indexes = dict.fromkeys(known.setdefault(_known(look), len(known)) for look in row)
                looks.setdefault(path, []).append((place, tuple(indexes)))
        if ask.number in self.cancelled:
            return None
        hinted = {path: tuple(self._hints(path, found)) for path in mine}
        if ask.number in self.cancelled:
            return None
        return Answer(
            ask.number,
            ask.path,
            is_complete=found.complete,
            findings=findings,
            notes=found.notes,
            files=found.files,
            hints=hinted,
            looks=looks,
            known=tuple(known),
            reasons=_by_file(found.reasons, mine),
            visits=tuple(seen.visits),
            page=self._page(ask.path, found) if ask.page else None,
            seconds=time.perf_counter() - start,
        )

    def _take(self, changed: Mapping[str, str | None]) -> None:
        for path, text in changed.items():
            if self.texts.get(path) != text:
                forget(path)  # the syntax of the last text isn't used any more
            if text is None:
                self.texts.pop(path, None)
                self.good.pop(path, None)
                self.mistakes.pop(path, None)
                continue
            self.texts[path] = text
            self.mistakes[path] = self._mistake(path)
            if self.mistakes[path] is None:
                self.good[path] = text

    def _mistake(self, path: str) -> Mistake | None:
        """Why a text is no Python, which it has to be as a whole."""
        try:
            with texts.instead({path: self.texts[path]}):
                tree = parse(Path(path)) or ast.parse(self.texts[path].removeprefix("\ufeff"), path)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of what only looks wrong
                compile(tree, path, "exec", dont_inherit=True)
        except SyntaxError as error:
            return Mistake(max(error.lineno or 1, 1), max((error.offset or 1) - 1, 0), error.msg)
        except (ValueError, RecursionError, MemoryError) as error:
            return Mistake(1, 0, f"can't be read as Python: {str(error) or 'it is nested too deeply'}")
        return None

    def _hints(self, path: str, found: Followed) -> Iterator[Hint]:
        with texts.instead(self.good):
            tree = parse(Path(path))
        if tree is not None and found.seen is not None:
            yield from hints(path, tree, found.claims, found.seen)

    def _page(self, path: str, found: Followed) -> str:
        from simpletorch.cli._shapes.page import page

        with texts.instead(self.good):
            return page(path, found)


def _known(look: Look) -> Known:
    return Known(str(look.type), look.place, look.layout_said, look.origins_said)


def _by_file(reasons: Mapping[tuple[str, int], Sequence[str]], files: set[str]) -> dict[str, dict[int, Sequence[str]]]:
    found: dict[str, dict[int, Sequence[str]]] = {}
    for (path, line), row in reasons.items():
        if path in files:
            found.setdefault(path, {})[line] = tuple(row)
    return found


# -- the process -----------------------------------------------------------------------------------------------------


def main() -> None:
    """Answer until the input ends. Prints go to the standard error, not between the answers."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    threading.stack_size(_STACK)
    sys.setswitchinterval(_SWITCH)
    worker, asked = Worker(), queue.SimpleQueue[Ask]()
    thread = threading.Thread(target=_work, args=(worker, asked, out), daemon=True)
    thread.start()
    while (message := read(sys.stdin.buffer)) is not None:
        if isinstance(message, Cancel):
            worker.cancelled.add(message.number)
        else:
            asked.put(message)
    os._exit(0)  # whoever asked is gone


def _work(worker: Worker, asked: queue.SimpleQueue[Ask], out: BinaryIO) -> None:
    gc.freeze()  # what is imported stays
    gc.disable()  # while somebody waits; a follow that needs much memory collects by itself, see `Budget`

    def send(message: Found | Answer) -> None:
        out.write(pack(message))
        out.flush()

    answered = 0  # since all garbage was collected
    try:
        while True:
            if answered >= _MOST_ANSWERS:
                gc.collect()
                answered = 0
            try:
                ask = asked.get(timeout=_PAUSE)
            except queue.Empty:
                if answered:
                    gc.collect()
                    answered = 0
                ask = asked.get()
            send(worker.answer(ask, send))
            gc.collect(0)  # of what this answer has made, which takes a millisecond
            answered += 1
            worker.cancelled = {number for number in worker.cancelled if number > ask.number}
    except BrokenPipeError:
        pass
    except BaseException:
        sys.excepthook(*sys.exc_info())
        os._exit(1)  # the server starts another one
    os._exit(0)


if __name__ == "__main__":
    main()
