"""The codes of what is found: what each is about, and how severe it is unless a configuration says otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, final

__all__ = ["CODES", "Code", "Severity"]

Severity: TypeAlias = Literal["error", "warning", "note", "off"]
"""Of an error: torch (or Python) raises. Of a warning: it runs, and is surely not meant. A note may help."""


@final
@dataclass(frozen=True, slots=True)
class Code:
    """What stands in brackets behind a finding; ``docs/errors/`` has a page for each."""

    name: str
    about: str
    severity: Severity = "error"


CODES: Final[Mapping[str, Code]] = {
    code.name: code
    for code in (
        Code("tensor-shape", "Shapes of tensors that don't fit"),
        Code("tensor-dtype", "Dtypes of tensors that don't fit"),
        Code("tensor-device", "Tensors on different devices"),
        Code("tensor-layout", "Tensors that lie in memory otherwise than an operation needs"),
        Code("tensor-grad", "What torch refuses of gradients"),
        Code("tensor-class", "What Python or torch refuses of a module's class"),
        Code("tensor-option", "Options of loaders and schedules that torch refuses"),
        Code("tensor-annotation", "An annotation that is no tensor type"),
        Code("tensor-broadcast", "Broadcasting that is likely a mistake", "warning"),
        Code("tensor-mixed", "Dims that are mixed up, where a transpose was meant or the batch comes first", "warning"),
        Code("tensor-loss", "A loss that is given something else than it takes", "warning"),
        Code("tensor-mode", "Models that are trained in eval mode, or evaluated in training mode", "warning"),
        Code("tensor-training", "Training that trains nothing, or not what was meant", "warning"),
        Code("tensor-pure", "A function that promises to be pure, and isn't", "warning"),
        Code("tensor-stream", "A stream that uses what another one may not have computed yet", "warning"),
        Code("tensor-memory", "Memory and time that is spent for nothing", "note"),
        Code("tensor-size", "Sizes that have to be equal, which nothing says", "off"),
    )
}
"""By name. mypy has errors alone: what it says itself with a warning's code is an error there."""
