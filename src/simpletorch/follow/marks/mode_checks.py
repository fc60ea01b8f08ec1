"""Models that are trained as if they were evaluated, and evaluated as if they were trained.

Dropout and batch norm compute something else in each mode. A model that was trained in training mode, and after an
``eval()`` goes on to be trained without ``train()``, is a mistake; so is an evaluation (a loop over data under
``no_grad`` that counts hits or losses) in a program in which nobody calls ``eval()``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from simpletorch.follow import layers
from simpletorch.follow.marks.modes import CODE
from simpletorch.follow.values import Instance
from simpletorch.rules import ModuleRule

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["finish", "has_stepped"]


def has_stepped(run: Interpreter, own: set[int]) -> None:
    """An optimizer of these parameters makes a step."""
    seen = run.training.modes
    for key, trains in seen.since.items():
        if trains:
            seen.trained.add(key)
        elif key in seen.trained and key in seen.asked and not seen.asked[key][1] and not run.entry:
            module, _, place = seen.asked[key]
            layer = next(_that_differ(run, module), None)
            if layer is not None and own & _parameters(run, module):
                message = f"{module.cls.name} goes on to be trained in eval mode, since {place}: {layer} is off"
                run.find(CODE, message, ".train() behind the evaluation, or where each epoch begins")
    seen.since.clear()


def finish(run: Interpreter) -> None:
    """The program has ended: whether anybody has called ``eval()``."""
    seen = run.training.modes
    found = [(m, f) for m, f in seen.evaluated.values() if f is not None]
    if not found or seen.asked:
        return
    if any(".eval(" in text for text in run.program.texts()):
        return
    for module, finding in found:
        layer = next(_that_differ(run, module), None)
        if layer is not None:
            message = f"{module.cls.name} is evaluated in training mode: nobody calls its eval(), so {layer} is on"
            hint = ".eval() before the evaluation, and .train() where the training goes on"
            run.keep(replace(finding, message=message, hint=hint))


def _that_differ(run: Interpreter, module: Instance) -> Iterator[str]:
    """The layers inside that compute something else in each mode."""
    if not layers.is_certain(run, module):
        return
    for _, inner in layers.named_modules(run, module):
        rule = inner.native
        if inner is module or not isinstance(rule, ModuleRule):
            continue
        name = rule.names[0].rpartition(".")[2]
        if ("Dropout" in name and isinstance(p := getattr(rule, "p", None), int | float) and p > 0) or (
            "BatchNorm" in name and getattr(rule, "track_running_stats", None) is True
        ):
            yield name


def _parameters(run: Interpreter, module: Instance) -> set[int]:
    return {id(t.cells) for _, t in layers.named_tensors(run, module, parameters_only=True)}
