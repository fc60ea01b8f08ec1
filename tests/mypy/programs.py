"""The oracle's calls as ordinary Python, and what mypy with the plugin says about each.

A call becomes one function, its tensors are annotated parameters, everything else is a literal::

    def f0(t0: Tensor[Float32, 3, 5], t1: Tensor[Int64, 3]) -> None:
        reveal_type(t0.index_select(0, t1))

Used by test_oracle.py and by ``benchmarks/op_coverage.py --mypy``.
"""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import torch

from simpletorch.rules import ANYTHING, Named, Report, Scalar, TensorType
from simpletorch.rules.core.dtype import BY_NAME
from simpletorch.shapes import ANY_REST, ANY_SHAPE, UNKNOWN, Shape
from tests import oracle, warm
from tests.oracle.verdict import weigh

FUNCTIONS_PER_FILE = 500

HEADER = f"""\
import einops
import torch
import torch.masked
import torch.nn.functional as F
import torch.signal
from torch import nn

from simpletorch import Tensor
from simpletorch.dtypes import {", ".join(sorted(BY_NAME))}
"""

BINARY = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@",
    "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>",
}  # fmt: skip
COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
UNARY = {"neg": "-", "pos": "+", "invert": "~"}
BUILTINS = ("abs", "len", "bool", "int", "float", "complex")


class CannotWrite(Exception):
    """There is no ordinary way to write this call."""


# -- writing -----------------------------------------------------------------------------------------------------------


@dataclass
class _Writer:
    """Writes the arguments of one call; every tensor in them becomes a parameter."""

    parameters: list[str] = field(default_factory=list)

    def value(self, value: Any) -> str:
        match value:
            case torch.Tensor():
                return self._tensor(value)
            case torch.dtype() | torch.device() | None | bool() | int() | str():
                return f'torch.device("{value}")' if isinstance(value, torch.device) else repr(value)
            case float():
                return repr(value) if math.isfinite(value) else f'float("{value}")'
            case complex():
                return repr(value)
            case list():
                return f"[{', '.join(map(self.value, value))}]"
            case tuple():
                return f"({', '.join(map(self.value, value))}{',' if len(value) == 1 else ''})"
            case slice():
                return f"slice({', '.join(map(self.value, (value.start, value.stop, value.step)))})"
            case _ if value is Ellipsis:
                return "..."
        raise CannotWrite

    def _tensor(self, value: torch.Tensor) -> str:
        dtype = oracle.lift_dtype(value.dtype)
        if dtype is None:
            raise CannotWrite
        name = f"t{len(self.parameters)}"
        self.parameters.append(f"{name}: Tensor[{', '.join([dtype.name, *map(str, value.shape)])}]")
        return name

    def index(self, index: Any) -> str:
        """What stands between the brackets of ``x[...]``."""
        if isinstance(index, tuple) and index:
            return ", ".join(map(self._index_item, index)) + ("," if len(index) == 1 else "")
        return self._index_item(index)

    def _index_item(self, item: Any) -> str:
        if not isinstance(item, slice):
            return self.value(item)
        bounds = ["" if b is None else self.value(b) for b in (item.start, item.stop, item.step)]
        return ":".join(bounds if item.step is not None else bounds[:2])

    def arguments(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
        """What stands between the parentheses of a call."""
        return ", ".join([*map(self.value, args), *(f"{k}={self.value(v)}" for k, v in kwargs.items())])


@dataclass(frozen=True)
class Program:
    """A call as a function: its parameters, a statement before (for ``x += y``), and the expression to reveal.

    Of a named tuple the fields are revealed too.
    """

    parameters: tuple[str, ...]
    expression: str
    statement: str = ""
    fields: tuple[str, ...] = ()

    def lines(self, name: str) -> list[str]:
        """The function's text."""
        revealed = [self.expression, *(f"{self.expression}.{f}" for f in self.fields)]
        body = [self.statement] * bool(self.statement) + [f"reveal_type({r})" for r in revealed]
        return [f"def {name}({', '.join(self.parameters)}) -> None:", *(f"    {line}" for line in body)]


def write(call: oracle.Call) -> Program:
    """The call as a user writes it.

    Raises:
        CannotWrite: nobody writes it: an argument has no literal, a dunder has no sign.
    """
    writer = _Writer()
    owner, _, name = call.name.rpartition(".")
    if owner.startswith("torch.torch"):
        raise CannotWrite
    if owner != "Tensor":
        spelled = {"torch.nn.functional": "F", "torch.functional": "torch"}.get(owner, owner)
        if owner == "torch.signal.windows" and isinstance(call.kwargs.get("device"), str):
            call = replace(call, kwargs={**call.kwargs, "device": torch.device(call.kwargs["device"])})
        return _program(writer, f"{spelled}.{name}({writer.arguments(call.args, call.kwargs)})")
    if not isinstance(call.args[0], torch.Tensor):
        raise CannotWrite
    receiver = writer.value(call.args[0])
    if name.startswith("__"):
        return _dunder(writer, receiver, name.strip("_"), call)
    if not callable(getattr(torch.Tensor, name)):
        return _program(writer, f"{receiver}.{name}")
    return _program(writer, f"{receiver}.{name}({writer.arguments(call.args[1:], call.kwargs)})")


def _program(writer: _Writer, expression: str, statement: str = "") -> Program:
    return Program(tuple(writer.parameters), expression, statement)


def _dunder(writer: _Writer, receiver: str, name: str, call: oracle.Call) -> Program:
    if call.kwargs or len(call.args) > 2:
        raise CannotWrite
    if len(call.args) == 1:
        if name in UNARY:
            return _program(writer, f"{UNARY[name]}{receiver}")
        if name in BUILTINS:
            return _program(writer, f"{name}({receiver})")
        raise CannotWrite
    other = call.args[1]
    if name == "getitem":
        return _program(writer, f"{receiver}[{writer.index(other)}]")
    if name in BINARY or name in COMPARISONS:
        return _program(writer, f"{receiver} {(BINARY | COMPARISONS)[name]} {writer.value(other)}")
    if name[0] == "r" and name[1:] in BINARY:
        return _program(writer, f"{writer.value(other)} {BINARY[name[1:]]} {receiver}")
    if name[0] == "i" and name[1:] in BINARY:
        return _program(writer, receiver, f"{receiver} {BINARY[name[1:]]}= {writer.value(other)}")
    raise CannotWrite


# -- asking mypy -------------------------------------------------------------------------------------------------------

_LINE = re.compile(
    r"^(?P<file>[^:]+):(?P<line>\d+): (?P<severity>error|note): (?P<message>.*?)(?:  \[(?P<code>[\w-]+)\])?$"
)


@dataclass
class Said:
    """What mypy says of one call: the revealed type, those of its fields, and errors as (code, message)."""

    revealed: str = ""
    fields: list[str] = field(default_factory=list)
    errors: list[tuple[str, str]] = field(default_factory=list)

    @property
    def ours(self) -> list[tuple[str, str]]:
        """The errors that are the plugin's."""
        return [e for e in self.errors if e[0].startswith("tensor-")]

    @property
    def stubs(self) -> list[tuple[str, str]]:
        """Errors of mypy's own: torch's annotations refuse the call."""
        return [e for e in self.errors if not e[0].startswith("tensor-")]


def check(programs: Sequence[Program], folder: Path) -> list[Said]:
    """What mypy says of each, in one run over files written to ``folder``.

    Raises:
        RuntimeError: mypy itself failed.
    """
    where: dict[tuple[str, int], int] = {}
    files: dict[str, list[str]] = defaultdict(lambda: HEADER.splitlines())
    for i, program in enumerate(programs):
        file = f"calls_{i // FUNCTIONS_PER_FILE}.py"
        for line in ("", *program.lines(f"f{i}")):
            files[file].append(line)
            where[file, len(files[file])] = i
    for file, lines in files.items():
        (folder / file).write_text("\n".join(lines) + "\n")
    command = [sys.executable, "-m", "mypy", "--config-file", warm.STRICT, "--cache-dir", warm.cache(folder), *files]
    debug = {**os.environ, "SIMPLETORCH_DEBUG": "1", "SIMPLETORCH_FOLLOW": "off"}
    done = subprocess.run(command, cwd=folder, env=debug, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    said = [Said() for _ in programs]
    for line in done.stdout.splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        of = where.get((match["file"], int(match["line"])))
        if of is None:
            if match["severity"] == "error":
                raise RuntimeError(line)
            continue
        if match["severity"] == "error":
            said[of].errors.append((match["code"] or "", match["message"]))
        elif match["message"].startswith("Revealed type is "):
            text = match["message"].removeprefix('Revealed type is "').removesuffix('"')
            if said[of].revealed:
                said[of].fields.append(text)
            else:
                said[of].revealed = text
    return said


# -- reading revealed types --------------------------------------------------------------------------------------------


def _split(text: str, separator: str) -> list[str]:
    """Split at the outermost level of brackets."""
    parts, depth, start = [], 0, 0
    for i, character in enumerate(text):
        depth += {"[": 1, "(": 1, "]": -1, ")": -1}.get(character, 0)
        if depth == 0 and text.startswith(separator, i):
            parts.append(text[start:i].strip())
            start = i + len(separator)
    return [*parts, text[start:].strip()]


def read(text: str) -> Any:
    """The value that a revealed type says: the inverse of what mypy prints."""
    text = text.strip().removesuffix("?")
    if len(_split(text, " | ")) > 1:
        return ANYTHING
    head, _, inside = text.partition("[")
    name, items = head.rpartition(".")[2], _split(inside[:-1], ",") if inside else []
    match name:
        case "Tensor" | "Parameter" | "CPUTensor" | "CUDATensor" | "MPSTensor":
            return _tensor(items)
        case "Dim" if items[0].isdigit():
            return int(items[0])
        case "Literal":
            return {"True": True, "False": False, "None": None}.get(items[0], _literal(items[0]))
        case "int":
            return UNKNOWN
        case "bool" | "float" | "complex":
            return Scalar(name)
        case "None":
            return None
        case "tuple" if items[-1] != "...":
            return _tuple(items)
    return ANYTHING


def _literal(text: str) -> Any:
    return text[1:-1] if text[0] in "'\"" else int(text)


def _tensor(items: list[str]) -> TensorType:
    if not items:
        return TensorType(ANY_SHAPE)
    dims = [UNKNOWN if d == "Any" else ANY_REST if d == "..." else int(d) for d in items[1:]]
    return TensorType(Shape(tuple(dims)), BY_NAME.get(items[0]))


def _tuple(items: list[str]) -> Any:
    fallback = items.pop().removeprefix("fallback=") if items[-1].startswith("fallback=") else ""
    values = tuple(map(read, items)) if items != ["()"] else ()
    if not fallback or fallback.endswith(".Size"):
        return values
    return Named(fallback, tuple((str(i), v) for i, v in enumerate(values)))


# -- judging -----------------------------------------------------------------------------------------------------------

Outcome: TypeAlias = Literal[
    "exact", "partial", "unknown", "wrong", "false_error", "flagged", "stub", "both_refuse", "missed", "twice"
]


@dataclass(frozen=True)
class Result:
    """One call: how mypy did, and how the rule alone does."""

    call: oracle.Call
    program: Program
    said: Said
    outcome: Outcome
    rule: str
    truth: Any

    def __str__(self) -> str:
        heard = [self.said.revealed, *(f"{message} [{code}]" for code, message in self.said.errors)]
        lines = self.program.lines("f")
        shown = "\n".join([*lines, *(f"      mypy: {h}" for h in heard if h)])
        return f"{self.outcome} (the rule alone: {self.rule})\n{shown}\n      torch: {self.truth}"


def judge(
    call: oracle.Call, program: Program, said: Said, rule: oracle.Verdict, refused: Collection[str] = ()
) -> Result:
    """How what mypy says compares with what torch does.

    Args:
        rule: what the oracle says of the rule alone.
        refused: codes of the errors for which torch's annotations already refuse the call that this one was made from.
    """
    answer = read(said.revealed)
    if isinstance(answer, Named) and len(answer.fields) == len(program.fields):
        values = [v for _, v in answer.fields]
        if values == [read(text) for text in said.fields]:
            answer = Named(answer.type_name, tuple(zip(program.fields, values, strict=True)))
    if said.ours:
        code, message = said.ours[0]
        answer = Report(call.name, code.removeprefix("tensor-"), message)  # type: ignore[arg-type]
    found = weigh(answer, call.name, call.args, call.kwargs)
    outcome: Outcome = found.verdict
    if outcome in ("both_refuse", "flagged"):
        outcome = "twice" if len([e for e in said.errors if e[0] not in refused]) > 1 else outcome
    elif said.stubs and outcome != "false_error":
        outcome = "stub"
    return Result(call, program, said, outcome, rule, found.truth)


def examine(calls: Iterable[oracle.Call], folder: Path) -> list[Result]:
    """Every call that can be written, through mypy in one run; a changed call follows the one it was made from."""
    written: list[tuple[oracle.Call, Program, oracle.Verdict]] = []
    for call in calls:
        try:
            program = write(call)
        except CannotWrite:
            continue
        rule = call.judge()
        if isinstance(rule.truth, Named):
            program = replace(program, fields=tuple(name for name, _ in rule.truth.fields))
        written.append((call, program, rule.verdict))
    heard = check([program for _, program, _ in written], folder)
    results = []
    refused: set[str] = set()
    for (call, program, rule), said in zip(written, heard, strict=True):
        if not call.change:
            refused = {code for code, _ in said.stubs}
        results.append(judge(call, program, said, rule, refused))
    return results


__all__ = [
    "CannotWrite",
    "Outcome",
    "Program",
    "Result",
    "Said",
    "check",
    "examine",
    "judge",
    "read",
    "replace",
    "write",
]
