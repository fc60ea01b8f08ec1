"""The numbers of a tensor: probabilities, their logarithms, or scores.

A tensor that comes from a softmax or a sigmoid remembers it (`History.form`) until its numbers change.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from simpletorch.follow.marks import sequences
from simpletorch.follow.values import HISTORY, Tensor, Value
from simpletorch.rules.core.cards import KEPT, OTHER, Card

__all__ = ["SCORES", "of_layer", "of_operation"]

Form: TypeAlias = tuple[str, int | None]

_FORMS: Final = {"softmax": "softmax", "log_softmax": "log_softmax", "sigmoid": "sigmoid", "expit": "sigmoid"}
_LAYERS: Final = {"Softmax": "softmax", "LogSoftmax": "log_softmax", "Sigmoid": "sigmoid", "Softmax2d": "softmax",
                  **dict.fromkeys(("Linear", "Conv1d", "Conv2d", "Conv3d"), "scores")}  # fmt: skip
"""``scores`` are numbers of any size and sign, which no probability and no logarithm of one is."""
SCORES: Final[Form] = ("scores", None)
_ANYWHERE: Final = ("sigmoid", "scores")  # of these it doesn't matter along which dim they are


def of_operation(
    short: str, card: Card, args: tuple[Value, ...], kwargs: Mapping[str, Value], result: Tensor
) -> Form | None:
    """The form of what an operation gives."""
    name = _FORMS.get(short)
    value = args[0] if args else kwargs.get("input")
    if name is not None:
        dim = args[1] if len(args) > 1 else kwargs.get("dim")
        return name, None if name == "sigmoid" else _place(value, dim)
    if short == "log":
        known = value.cells.get(HISTORY) if isinstance(value, Tensor) else None
        inner: Form | None = None if known is None else known.form
        return ("log_softmax", inner[1]) if inner is not None and inner[0] == "softmax" else None
    held = card.held(args, kwargs)
    if held is not OTHER:
        known = value.cells.get(HISTORY) if isinstance(value, Tensor) else None
        found: Form | None = None if known is None else known.form
        if found is None or held is KEPT or found[0] in _ANYWHERE:
            return found
        at = None if found[1] is None else sequences.moved(short, args, kwargs, found[1], result)
        return None if at is None else (found[0], at)
    return None


def of_layer(short: str, rule: Any, args: tuple[Value, ...]) -> Form | None:
    """The form of what a layer gives."""
    name = _LAYERS.get(short)
    value = args[0] if args else None
    if name is not None:
        return name, None if name in _ANYWHERE else _place(value, getattr(rule, "dim", None))
    if short == "Identity" and isinstance(value, Tensor) and HISTORY in value.cells:
        found: Form | None = value.cells[HISTORY].form
        return found
    return None


def _place(value: Value, dim: Value) -> int | None:
    """A dim as a number that isn't negative; None where it isn't known."""
    rank = value.type.shape.rank if isinstance(value, Tensor) else None
    if not isinstance(dim, int) or isinstance(dim, bool):
        return None
    return dim if dim >= 0 else None if rank is None else dim + rank
