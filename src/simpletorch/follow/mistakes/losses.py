"""Losses that take other numbers than they are given: `tensor-loss`.

A softmax before a cross-entropy, which takes its own, is computed without a word, and trains badly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from simpletorch.follow.marks import origins
from simpletorch.follow.mistakes import events
from simpletorch.follow.values import HISTORY, Tensor, Value
from simpletorch.rules.layers.losses import KLDivLoss

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter
    from simpletorch.follow.values import Instance
    from simpletorch.rules import ModuleRule

__all__ = ["LISTENS"]

_LOSSES: Final = {
    "cross_entropy": "cross_entropy",
    "CrossEntropyLoss": "cross_entropy",
    "nll_loss": "nll_loss",
    "NLLLoss": "nll_loss",
    "binary_cross_entropy_with_logits": "logits",
    "BCEWithLogitsLoss": "logits",
    "binary_cross_entropy": "probabilities",
    "BCELoss": "probabilities",
}


def _form(value: Value) -> tuple[str, int | None] | None:
    """Whether a tensor has probabilities, their logarithms or scores, and along which dim."""
    known = value.cells.get(HISTORY) if isinstance(value, Tensor) else None
    return None if known is None else known.form


def _check_divergence(run: Interpreter, short: str, args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> None:
    """A warning where a divergence is given probabilities for logarithms, or the other way round."""
    form, expected = (
        _form(args[0] if args else kwargs.get("input")),
        _form(args[1] if len(args) > 1 else kwargs.get("target")),
    )
    if form is not None and form[0] == "softmax":
        run.find("tensor-loss", f"{short} takes logarithms of probabilities, but its input is a softmax",
                 "log_softmax instead; the target has probabilities, unless log_target=True")  # fmt: skip
    takes_logarithms = run.resolve(args[5] if len(args) > 5 else kwargs.get("log_target", False))
    if expected is not None and expected[0] == "log_softmax" and takes_logarithms is False:
        run.find("tensor-loss", f"{short} takes a target of probabilities, but it is given a log_softmax",
                 "log_target=True, or a softmax: the loss is NaN now")  # fmt: skip
    elif expected is not None and expected[0] == "softmax" and takes_logarithms is True:
        run.find("tensor-loss", f"{short} with log_target=True takes logarithms, but its target is a softmax",
                 "log_softmax instead, or leave log_target out")  # fmt: skip


def _check(run: Interpreter, short: str, args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> None:
    """A warning where a loss takes something else than it is given."""
    loss = _LOSSES[short]
    value = args[0] if args else kwargs.get("input")
    form = _form(value)
    if form is None or not isinstance(value, Tensor):
        return
    name, dim = form
    rank = value.type.shape.rank
    classes = None if rank is None else min(rank - 1, 1)
    if loss == "logits" and name in ("sigmoid", "softmax"):
        run.find("tensor-loss", f"{short} takes logits, but it is given a {name}: it applies a sigmoid again",
                 "leave the sigmoid out (or take binary_cross_entropy)")  # fmt: skip
    elif loss == "probabilities" and name == "scores":
        run.find("tensor-loss", f"{short} takes probabilities, but it is given a layer's scores, which are any numbers",
                 "binary_cross_entropy_with_logits (BCEWithLogitsLoss), or a sigmoid before it")  # fmt: skip
    elif loss == "cross_entropy" and name == "softmax" and dim is not None and (dim == classes or rank == 2):
        run.find("tensor-loss", f"{short} takes logits, but it is given a softmax: it applies softmax again",
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


_CHOICES: Final = {"argmax": 1, "max": 1, "topk": 2, "multinomial": None, "Categorical": None}
"""What picks a class by its probability, with the place of its dim among the arguments; some have none."""


def _check_choice(run: Interpreter, short: str, args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> None:
    """A warning where a class is picked for each sample from a softmax that is over the samples."""
    value = args[0] if args else kwargs.get("input")
    if not isinstance(value, Tensor) or _form(value) not in _OVER_SAMPLES:
        return
    at = _CHOICES[short]
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


_CHECKS: Final = {"kl_div": _check_divergence, **dict.fromkeys(_CHOICES, _check_choice)}


def _operation(name: str) -> Callable[[Interpreter, tuple[Value, ...], Mapping[str, Value], Value], None] | None:
    """The listener to an operation."""
    short = name.rpartition(".")[2]
    check = _check if short in _LOSSES else _CHECKS.get(short)
    return None if check is None else lambda run, args, kwargs, result: check(run, short, args, kwargs)


def _layer(
    run: Interpreter,
    layer: Instance,
    short: str,
    rule: ModuleRule,
    args: tuple[Value, ...],
    kwargs: Mapping[str, Value],
) -> None:
    if short in _LOSSES:
        _check(run, short, args, {**kwargs, "reduction": getattr(rule, "reduction", "mean")})
    elif isinstance(rule, KLDivLoss):
        _check_divergence(run, short, args, {**kwargs, "log_target": rule.log_target})


def _choice(run: Interpreter, name: str, source: Value) -> None:
    _check_choice(run, name, (source,), {})


LISTENS: Final = (events.OPERATION.to(_operation), events.LAYER.to(_layer), events.CHOICE.to(_choice))
