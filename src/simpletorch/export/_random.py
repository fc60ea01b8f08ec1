"""Random numbers that an exported program draws at each call."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch.export import ExportedProgram

from simpletorch.export._failure import location_in_stack

__all__ = ["draws", "warn_of_dropout"]

_TRAINING: Final = ("train", "training")
_PROBABILITY: Final = ("p", "dropout", "dropout_p")


@dataclass(frozen=True)
class Draw:
    """An operation that draws random numbers, and the line that it comes from, if that is known."""

    operation: str
    line: str

    @property
    def is_dropout(self) -> bool:
        """Whether it drops values; in eval mode that is a mistake, but for who samples from a model that way."""
        return "dropout" in self.operation

    def __str__(self) -> str:
        return f"{self.line} ({self.operation})" if self.line else self.operation


def draws(program: ExportedProgram) -> tuple[Draw, ...]:
    """The lines of a program that draw random numbers, in the order of the program, each once."""
    nodes = (
        node for part in program.graph_module.modules() for node in getattr(getattr(part, "graph", None), "nodes", ())
    )
    return tuple(dict.fromkeys(_drawn(node) for node in nodes if _draws(node)))


def warn_of_dropout(found: tuple[Draw, ...]) -> None:
    """Say once that a model drops values in eval mode too, and where."""
    dropped = [draw for draw in found if draw.is_dropout]
    if dropped:
        places = "; ".join(map(str, dropped))
        told = (
            f"export: the model drops values in eval mode too, and so does what is exported: {places}. "
            "F.dropout(x, p) takes training=True unless it is told: F.dropout(x, p, training=self.training)"
        )
        warnings.warn(told, stacklevel=4)  # where `export.program`, `export.onnx` and the like are called


def _draws(node: torch.fx.Node) -> bool:
    target = node.target
    if not isinstance(target, torch._ops.OpOverload):  # what torch.export's graphs call; it has no public name
        return False
    given = dict(_arguments(target, node))
    is_off = any(given.get(name) is False for name in _TRAINING) or any(given.get(name) == 0 for name in _PROBABILITY)
    return torch.Tag.nondeterministic_seeded in target.tags and not is_off


def _arguments(target: torch._ops.OpOverload, node: torch.fx.Node) -> Iterator[tuple[str, Any]]:
    """The arguments by name, with the defaults of those that aren't given."""
    for i, argument in enumerate(target._schema.arguments):  # no public name either
        value = node.args[i] if i < len(node.args) else node.kwargs.get(argument.name, argument.default_value)
        yield argument.name, value


def _drawn(node: torch.fx.Node) -> Draw:
    found = location_in_stack(node.meta.get("stack_trace") or "")
    line = "" if found is None else f"{found.file}:{found.line}: {found.code}"
    return Draw(str(node.target).removesuffix(".default"), line)
