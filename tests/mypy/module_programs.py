"""module_db's cases as ordinary Python through mypy, and what mypy with the plugin says about each.

A case becomes one function that builds the module and calls it::

    def f0(t0: Tensor[Float32, 3, 5]) -> None:
        m = nn.Linear(5, 7)
        reveal_type(m(t0))

Used by test_module_db.py and by ``benchmarks/module_coverage.py``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from simpletorch.rules import Named
from tests import oracle
from tests.mypy import programs
from tests.oracle.modules import Case

__all__ = ["Outcome", "examine", "write"]

FUNCTIONS = {torch.nn.functional: "F", torch.nn: "nn", torch: "torch"}


class _Writer(programs._Writer):
    """Also writes what only constructors take: functions and modules."""

    def value(self, value: Any) -> str:
        if isinstance(value, nn.TransformerEncoderLayer | nn.TransformerDecoderLayer):
            return self._layer(value)
        for owner, name in FUNCTIONS.items():
            if callable(value) and getattr(owner, getattr(value, "__name__", ""), None) is value:
                return f"{name}.{value.__name__}"
        return super().value(value)

    def _layer(self, layer: Any) -> str:
        attention = layer.self_attn
        sizes = f"{attention.embed_dim}, {attention.num_heads}, {layer.linear1.out_features}"
        return f"nn.{type(layer).__name__}({sizes}, batch_first={attention.batch_first})"


def write(case: Case) -> programs.Program:
    """The case as a user writes it.

    Raises:
        CannotWrite: an argument has no literal.
    """
    writer = _Writer()
    made = f"nn.{case.name.rpartition('.')[2]}({writer.arguments(case.args, case.kwargs)})"
    if not case.called:
        return programs.Program(tuple(writer.parameters), made)
    call = f"m({writer.arguments(case.inputs, case.input_kwargs)})"
    return programs.Program(tuple(writer.parameters), call, f"m = {made}")


@dataclass(frozen=True)
class Outcome:
    """One case: how mypy did, with what it said and what torch does."""

    case: Case
    program: programs.Program
    said: programs.Said
    verdict: str
    truth: object

    def __str__(self) -> str:
        heard = [self.said.revealed, *(f"{message} [{code}]" for code, message in self.said.errors)]
        shown = "\n".join([*self.program.lines("f"), *(f"      mypy: {h}" for h in heard if h)])
        return f"{self.verdict}\n{shown}\n      torch: {self.truth}"


def _judge(case: Case, said: programs.Said, truth: object) -> str:
    """exact, partial, unknown, wrong, false_error; both_refuse, twice, missed; stub: torch's annotations refuse it."""
    if isinstance(truth, Exception):
        return "missed" if not said.errors else "both_refuse" if len(said.errors) == 1 else "twice"
    if said.ours:
        return "false_error"
    if said.stubs:
        return "stub"
    answer = programs.read(said.revealed)
    if isinstance(answer, Named) and isinstance(truth, Named) and len(answer.fields) == len(truth.fields):
        # mypy doesn't print the names of a named tuple's fields
        answer = Named(
            answer.type_name, tuple((k, v) for (k, _), (_, v) in zip(truth.fields, answer.fields, strict=True))
        )
    return str(oracle.compare(answer, truth)) if case.called else "exact"


def examine(cases: Iterable[Case], folder: Path) -> list[Outcome]:
    """Every case that can be written, through mypy in one run."""
    written: list[tuple[Case, programs.Program]] = []
    for case in cases:
        try:
            written.append((case, write(case)))
        except programs.CannotWrite:
            continue
    heard = programs.check([program for _, program in written], folder)
    outcomes = []
    for (case, program), said in zip(written, heard, strict=True):
        truth = case.run()
        outcomes.append(Outcome(case, program, said, _judge(case, said, truth), truth))
    return outcomes
