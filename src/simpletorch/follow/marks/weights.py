"""Parameters that an optimizer's step has changed in place, though a later backward needs their old numbers.

torch raises "one of the variables needed for gradient computation has been modified by an inplace operation". So it
does where the loss of a generator goes through a discriminator that has made a step since. With ``retain_graph=True`` a
backward may also reach the rounds before. A step changes the parameters that have a gradient. A graph needs the weights
of matrix products, and of layers whose input requires a gradient.

One table has the parameters with a gradient and the time of each one's last change, so that branches that differ leave
both unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final

from simpletorch.follow.heap import now
from simpletorch.follow.values import CHANGED, HISTORY, MISSING, SPENT, Kept, Tensor

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["WEIGHTED", "computed", "is_outdated", "stepped", "zeroed"]

WEIGHTED: Final = frozenset({
    "Linear", *(f"Conv{n}d" for n in (1, 2, 3)), *(f"ConvTranspose{n}d" for n in (1, 2, 3)),
    "LayerNorm", *(f"BatchNorm{n}d" for n in (1, 2, 3)), "PReLU",
    *(f"{kind}{cell}" for kind in ("RNN", "GRU", "LSTM") for cell in ("", "Cell")),
})  # fmt: skip
"""Layers whose backward needs their weights, if an input requires a gradient (a test runs each one's)."""
_NAMES: Final = ("weight", "weight_hh_l0", "weight_hh")
_WITH_GRADIENT: Final = SPENT  # keys for which `OF_GRAPHS` holds
_WHEN: Final = CHANGED


def _weight(kept: Kept) -> Tensor | None:
    if isinstance(kept.tensor, Tensor):
        return kept.tensor
    held = (kept.tensor.cells.get(name) for name in _NAMES)
    return next((v for v in held if isinstance(v, Tensor)), None)


def computed(run: Interpreter, graph: Iterable[Tensor], requires: Callable[[Tensor], bool | None]) -> None:
    """Backward has gone through a graph: parameters in it that require a gradient have one now."""
    weights = (_weight(kept) for tensor in graph for kept in tensor.cells[HISTORY].kept)
    found = {id(w.cells) for w in weights if w is not None and w.type.is_parameter and requires(w)}
    table = run.training.weights
    before = table.get(_WITH_GRADIENT, frozenset())
    if not found <= before:
        run.heap.write(table, _WITH_GRADIENT, before | found)


def zeroed(run: Interpreter) -> None:
    """Gradients are set to None: which ones isn't followed."""
    if _WITH_GRADIENT in run.training.weights:
        run.heap.write(run.training.weights, _WITH_GRADIENT, MISSING)


def stepped(run: Interpreter, own: set[int]) -> None:
    """An optimizer of these parameters makes a step."""
    table = run.training.weights
    changed = own & table.get(_WITH_GRADIENT, frozenset())
    if changed:
        before: Mapping[int, int] = table.get(_WHEN, {})
        run.heap.write(table, _WHEN, {**before, **dict.fromkeys(changed, now())})


def is_outdated(run: Interpreter, kept: Kept) -> bool:
    """Whether a step has changed what an operation needs for its backward."""
    weight = _weight(kept)
    when: Mapping[int, int] = run.training.weights.get(_WHEN, {})
    return weight is not None and when.get(id(weight.cells), 0) > kept.when
