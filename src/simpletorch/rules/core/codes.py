"""The codes of what is found: what each is about, and how severe it is unless a configuration says otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, final

__all__ = ["CODES", "Code", "Severity"]

Severity: TypeAlias = Literal["error", "warning", "note", "off"]
"""Of an error: torch (or Python) raises, or a promise is broken. Of a warning: it runs, and is surely not meant. A note
may help."""


@final
@dataclass(frozen=True, slots=True)
class Code:
    """The code in brackets at the end of a finding; ``docs/errors/`` has a page for each."""

    name: str
    about: str
    severity: Severity = "error"


CODES: Final[Mapping[str, Code]] = {
    code.name: code
    for code in (
        Code("tensor-shape", "Shapes of tensors that don't fit"),
        Code("tensor-dtype", "Dtypes of tensors that don't fit"),
        Code("tensor-device", "Tensors on different devices"),
        Code("tensor-layout", "Tensors whose memory layout an operation can't use"),
        Code("tensor-grad", "Gradients that torch refuses to compute"),
        Code("tensor-class", "Classes and objects that Python or torch refuses"),
        Code("tensor-option", "Options of loaders and schedules that torch refuses"),
        Code("tensor-annotation", "An annotation that isn't a tensor type"),
        Code("tensor-broadcast", "Broadcasting that is likely a mistake", "warning"),
        Code("tensor-mixed", "Mixed-up dimensions: a transpose was meant, or the batch comes first", "warning"),
        Code("tensor-loss", "A loss with the wrong kind of input", "warning"),
        Code("tensor-mode", "Models that are trained in eval mode, or evaluated in training mode", "warning"),
        Code("tensor-training", "Training without effect, or with another effect than intended", "warning"),
        Code("tensor-pure", "A function that promises to be pure but isn't"),
        Code("tensor-stream", "A stream that uses a result which another may not have computed yet", "warning"),
        Code("tensor-memory", "Wasted memory and time", "note"),
        Code("tensor-size", "Sizes that must be equal, although no annotation says so", "off"),
    )
}
"""By name. mypy has only errors, so its own findings with a warning's code are errors there."""
