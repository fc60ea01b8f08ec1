"""The course of a training, as far as one follow has seen it: the mistakes ask for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, final

from simpletorch.follow.heap import Cells, born
from simpletorch.follow.values import Function, Instance, Tensor, Unknown, Value

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Promise", "Training", "promised"]

T = TypeVar("T")


@final
@dataclass(slots=True)
class Training:
    """The facts that the core notes, and what each mistake keeps for itself."""

    called: dict[int, Instance] = field(default_factory=dict)
    """Modules that were called, or that code had which isn't followed."""
    inside: list[Instance] = field(default_factory=list)
    """The modules whose ``forward`` runs."""
    used: dict[int, Tensor] = field(default_factory=dict)
    """Parameters that an operation was given, or that such code had."""
    weights: Cells = field(default_factory=Cells)
    """Which parameters have gradients, and when steps have changed them; see `marks.weights`."""
    has_batches: bool = False
    """Whether of some tensor it is known which dim are the samples, see `marks.sequences`."""
    lost_sight: bool = False
    """Whether code that isn't followed had anything: it may have computed gradients."""
    half: bool = False
    """Whether autocast to float16 was in force."""
    kept: dict[type, Any] = field(default_factory=dict)

    def of(self, kind: type[T]) -> T:
        """What a mistake keeps: one object of its class."""
        found = self.kept.get(kind)
        if found is None:
            found = self.kept[kind] = kind()
        return found


class Promise(NamedTuple):
    """A call of a function that promises to be pure; only while one runs, changes are told."""

    name: str
    start: int
    arguments: frozenset[int]
    """Those of which nothing is known, by identity."""


def promised(function: Function, arguments: Mapping[str, Value]) -> Promise:
    """A call that begins here."""
    unknown = frozenset(id(v) for v in arguments.values() if isinstance(v, Unknown))
    return Promise(function.name, born(arguments), unknown)  # type: ignore[arg-type]
