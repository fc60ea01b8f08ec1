"""What the numbers of a tensor are (probabilities, logarithms of them), and losses that take something else.

A softmax before a cross-entropy, which takes its own, is computed without a word, and trains badly. A tensor that comes
from a softmax or a sigmoid remembers it (`History.form`) until its numbers change.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from simpletorch.follow.marks import origins, sequences
from simpletorch.follow.values import HISTORY, Tensor, Value
from simpletorch.rules.core.cards import KEPT, OTHER, Card

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["CHOICES", "LOSSES", "SCORES", "check", "check_choice", "form", "form_of_layer"]

Form: TypeAlias = tuple[str, int | None]

_FORMS: Final = {"softmax": "softmax", "log_softmax": "log_softmax", "sigmoid": "sigmoid", "expit": "sigmoid"}
_LAYERS: Final = {"Softmax": "softmax", "LogSoftmax": "log_softmax", "Sigmoid": "sigmoid", "Softmax2d": "softmax",
                  **dict.fromkeys(("Linear", "Conv1d", "Conv2d", "Conv3d"), "scores")}  # fmt: skip
"""``scores`` are numbers of any size and sign, which no probability and no logarithm of one is."""
SCORES: Final[Form] = ("scores", None)
_ANYWHERE: Final = ("sigmoid", "scores")  # of these it doesn't matter along which dim they are


def form(short: str, card: Card, args: tuple[Value, ...], kwargs: Mapping[str, Value], result: Tensor) -> Form | None:
    """What the numbers are that an operation gives."""
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


def form_of_layer(short: str, rule: Any, args: tuple[Value, ...]) -> Form | None:
    """What the numbers are that a layer gives."""
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


LOSSES: Final = {
    "cross_entropy": "cross_entropy",
    "CrossEntropyLoss": "cross_entropy",
    "nll_loss": "nll_loss",
    "NLLLoss": "nll_loss",
    "binary_cross_entropy_with_logits": "logits",
    "BCEWithLogitsLoss": "logits",
    "binary_cross_entropy": "probabilities",
    "BCELoss": "probabilities",
}


def check(run: Interpreter, short: str, args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> None:
    """A warning where a loss takes something else than it is given."""
    loss = LOSSES[short]
    value = args[0] if args else kwargs.get("input")
    known = value.cells.get(HISTORY) if isinstance(value, Tensor) else None
    if known is None or known.form is None or not isinstance(value, Tensor):
        return
    name, dim = known.form
    rank = value.type.shape.rank
    classes = None if rank is None else min(rank - 1, 1)
    if loss == "logits" and name in ("sigmoid", "softmax"):
        run.find("tensor-loss", f"{short} takes logits, but it is given a {name}: a sigmoid of it is taken again",
                 "leave the sigmoid out (or take binary_cross_entropy)")  # fmt: skip
    elif loss == "probabilities" and name == "scores":
        run.find("tensor-loss", f"{short} takes probabilities, but it is given a layer's scores, which are any numbers",
                 "binary_cross_entropy_with_logits (BCEWithLogitsLoss), or a sigmoid before it")  # fmt: skip
    elif loss == "cross_entropy" and name == "softmax" and dim is not None and (dim == classes or rank == 2):
        run.find("tensor-loss", f"{short} takes logits, but it is given a softmax: a softmax of it is taken again",
                 "leave the softmax out, or take its logarithm and nll_loss")  # fmt: skip
    elif loss == "cross_entropy" and name == "log_softmax" and dim is not None and (dim == classes or rank == 2):
        run.find("tensor-memory", f"{short} takes a log_softmax itself: it is taken twice, which changes nothing",
                 "nll_loss of it, or leave the log_softmax out")  # fmt: skip
    elif loss == "nll_loss" and kwargs.get("reduction", "mean") in ("mean", "sum"):
        if name == "scores":
            run.find("tensor-loss", f"{short} takes logarithms of probabilities, but it is given a layer's scores",
                     "cross_entropy instead, or a log_softmax before it")  # fmt: skip
        elif name == "softmax" and dim is not None and dim == classes:
            run.find("tensor-loss", f"{short} takes logarithms of probabilities, but it is given a softmax",
                     "log_softmax instead, or cross_entropy of the logits")  # fmt: skip
        elif name == "log_softmax" and dim is not None and classes is not None and dim != classes:
            run.find("tensor-loss", f"{short} has its classes along dim {classes}, but log_softmax is over dim {dim}",
                     f"log_softmax over dim {classes}, or cross_entropy of the logits")  # fmt: skip


CHOICES: Final = {"argmax": 1, "max": 1, "topk": 2, "multinomial": None, "Categorical": None}
"""What picks a class by its probability, with the place of its dim among the arguments; some have none."""


def check_choice(run: Interpreter, short: str, args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> None:
    """A warning where a class is picked for each sample from a softmax that is over the samples."""
    value = args[0] if args else kwargs.get("input")
    known = value.cells.get(HISTORY) if isinstance(value, Tensor) else None
    if known is None or known.form not in _OVER_SAMPLES or not isinstance(value, Tensor):
        return
    at = CHOICES[short]
    last = -1 if short == "topk" or at is None else None
    dim = args[at] if at is not None and len(args) > at else kwargs.get("dim", last)
    dims = origins.of(value)
    if dims is None or len(dims) != 2 or dim not in (1, -1) or isinstance(dim, bool):
        return
    if origins.is_samples(dims[0]) and dims[1] == origins.FEATURES:
        what = f"one of {value.type.shape.items[1]} for each sample"
        message = f"{short}: picks {what}, but the softmax is over dim 0, the samples"
        run.find("tensor-loss", message, "softmax over dim 1 (or -1)")


_OVER_SAMPLES: Final = (("softmax", 0), ("log_softmax", 0))
