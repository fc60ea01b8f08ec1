"""What a program's lines really give to names: the tensors and ints that are there after each line, in torch."""

from __future__ import annotations

import ast
import dis
import random
import runpy
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

import numpy as np
import torch
from corpus import Program
from follower import Place, Value

_END_OF_HANDLER: Final = dis.opmap["POP_EXCEPT"]
"""What Python does there has the line of the last statement of the handler, which need not have run."""

Recorded = dict[Place, dict[str, set[Value]]]


@dataclass(frozen=True)
class Statement:
    """A statement: its lines, the names that it gives values to, and for a loop the lines of its body."""

    lines: range
    names: tuple[str, ...]
    body: range | None = None


class Recorder:
    """A trace function for ``sys.settrace`` that looks at the files of one program only."""

    def __init__(self, program: Program, folder: Path) -> None:
        self.statements = {str(folder / file): _statements(text) for file, text in program.files.items()}
        self.recorded: Recorded = defaultdict(lambda: defaultdict(set))

    def __call__(self, frame: FrameType, event: str, argument: object) -> Callable[..., Any] | None:
        """What follows a frame of the program; None for any other."""
        by_line = self.statements.get(frame.f_code.co_filename)
        if by_line is None or _is_inline(frame.f_code):
            return None
        current: Statement | None = None
        code = frame.f_code.co_code

        def step(frame: FrameType, event: str, argument: object) -> Callable[..., Any]:
            nonlocal current
            if event == "exception":
                current = None  # it didn't come to its end
            elif event in ("line", "return"):
                begins = event == "line" and code[frame.f_lasti] != _END_OF_HANDLER
                following = by_line.get(frame.f_lineno) if begins else None
                if current is not None and (following is not current or len(current.lines) == 1):
                    self._finished(current, frame, frame.f_lineno)
                current = following
            return step

        return step

    def _finished(self, statement: Statement, frame: FrameType, next_line: int) -> None:
        if statement.body is not None and next_line not in statement.body:
            return
        place = (Path(frame.f_code.co_filename).name, statement.lines.start)
        for name in statement.names:
            if (value := _value(_looked_up(name, frame))) is not None:
                self.recorded[place][name].add(value)


def record(program: Program, most_runs: int = 1) -> tuple[Recorded, bool]:
    """Run a program (in a process that may be thrown away): what its lines gave, and whether that is all they can give.

    With several runs, ``random.random()`` gives 0 or 1, and the runs take each way through the program that this opens.
    """
    with program.written() as main:
        program.importable(main)
        warnings.simplefilter("ignore")
        recorder = Recorder(program, main.parent)
        pending: list[tuple[int, ...]] = [()]
        for _ in range(most_runs):
            chosen = Choices(pending.pop())
            if most_runs > 1:
                random.random = chosen
            sys.settrace(recorder)
            try:
                runpy.run_path(str(main), run_name="__main__")
            except SystemExit as ended:
                if ended.code:
                    raise
            finally:
                sys.settrace(None)
            pending += chosen.others()
            if not pending:
                return recorder.recorded, True
        return recorder.recorded, False


class Choices:
    """Stands for ``random.random``: the first answers are given, all later ones are 0."""

    def __init__(self, given: tuple[int, ...]) -> None:
        self.given = given
        self.answers: list[int] = []

    def __call__(self) -> float:
        """The next answer."""
        place = len(self.answers)
        self.answers.append(self.given[place] if place < len(self.given) else 0)
        return float(self.answers[-1])

    def others(self) -> list[tuple[int, ...]]:
        """The ways that part from this one after what was given."""
        return [(*self.answers[:place], 1) for place in range(len(self.given), len(self.answers))]


def _is_inline(code: CodeType) -> bool:
    """Whether it is a comprehension or a lambda: a frame of its own on a line that gives values to others' names."""
    return code.co_name.startswith("<") and code.co_name != "<module>"


def _looked_up(name: str, frame: FrameType) -> object:
    first, *attributes = name.split(".")
    value = frame.f_locals.get(first, frame.f_globals.get(first))
    for attribute in attributes:
        value = getattr(value, attribute, None)
    return value


def _value(value: object) -> Value | None:
    if isinstance(value, torch.Tensor | np.ndarray | np.generic):
        return str(value.dtype).removeprefix("torch."), tuple(value.shape)
    return value if type(value) is int else None


def _statements(text: str) -> dict[int, Statement]:
    """From a line to the innermost statement that it is part of."""
    lines: dict[int, Statement] = {}
    for node in ast.walk(ast.parse(text)):  # outer ones first, so inner ones write over them
        if isinstance(node, ast.stmt):
            body = range(node.body[0].lineno, node.body[-1].end_lineno + 1) if isinstance(node, ast.For) else None
            span = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            before = lines.get(node.lineno)  # "a = 1; b = 2" are one
            earlier = before.names if before and before.lines == span else ()
            names = Counter((*earlier, *_names(node)))
            once = tuple(name for name, times in names.items() if times == 1)  # of "_, (h, _) = …" the first _ is gone
            lines.update(dict.fromkeys(span, Statement(span, once, body)))
    return lines


def _names(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.Assign(targets=targets):
            pass
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target) | ast.For(target=target):
            targets = [target]
        case ast.With(items=items):
            targets = [item.optional_vars for item in items if item.optional_vars]
        case _:
            return
    for target in targets:
        yield from _parts(target)


def _parts(target: ast.expr) -> Iterator[str]:
    match target:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from _parts(part)
        case ast.Starred(value=value):
            yield from _parts(value)
        case ast.Name() | ast.Attribute():
            text = ast.unparse(target)
            if text.replace(".", "").isidentifier():
                yield text
