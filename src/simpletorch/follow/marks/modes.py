"""Models that are trained as if they were evaluated, and evaluated as if they were trained.

Dropout and batch norm compute something else in each mode. A model that was trained in training mode, and after an
``eval()`` goes on to be trained without ``train()``, is a mistake; so is an evaluation (a loop over data under
``no_grad`` that counts hits or losses) in a program in which nobody calls ``eval()``. Batch norm in training mode needs
more than one value for each channel, which torch says itself.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

from simpletorch.follow.findings import Finding
from simpletorch.follow.marks.gradients import MODE
from simpletorch.follow.values import Instance, Tensor, Value
from simpletorch.rules import ModuleRule, Report

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["Modes", "asked", "called", "check_batch", "finish", "has_stepped"]

_CODE: Final = "tensor-mode"
_COUNTS: Final = re.compile(r"==|\.eq\(|argmax|criterion|loss|entropy|accuracy|correct")


@final
@dataclass(slots=True)
class Modes:
    """What one follow has seen of the modes of modules, by the identity of their cells."""

    asked: dict[int, tuple[Instance, bool, str]] = field(default_factory=dict)
    """Modules whose ``eval()`` or ``train()`` was called: the last of these, and where."""
    since: dict[int, bool] = field(default_factory=dict)
    """Those called with gradients since the last step: whether in training mode."""
    trained: set[int] = field(default_factory=set)
    """Those that were trained in training mode."""
    evaluated: dict[int, tuple[Instance, Finding | None]] = field(default_factory=dict)
    """Those called in training mode without gradients, with what would be said."""


def asked(run: Interpreter, module: Instance, trains: Value) -> None:
    """``module.train()``, ``module.eval()``."""
    place = f"line {getattr(run.node, 'lineno', 0)}"
    run.training.modes.asked[id(module.cells)] = module, trains is not False, place


def called(run: Interpreter, module: Instance) -> None:
    """A module is called."""
    seen, key, grad = run.training.modes, id(module.cells), run.modes.get(MODE)
    if grad is True:
        flag = run.resolve(module.cells.get("training", True))
        if flag is True or flag is False:
            seen.since[key] = flag
    elif grad is False and key not in seen.evaluated and key in seen.trained and not run.entry:
        flag = run.resolve(module.cells.get("training", True))
        told = flag is True and not module.state.get("open") and _is_evaluation(run)
        seen.evaluated[key] = module, run.finding(_CODE, "", None) if told else None


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
                run.find(_CODE, message, ".train() behind the evaluation, or where each epoch begins")
    seen.since.clear()


def finish(run: Interpreter) -> None:
    """The program has ended: whether anybody has called ``eval()``."""
    seen = run.training.modes
    found = [(m, f) for m, f in seen.evaluated.values() if f is not None]
    if not found or seen.asked:
        return
    for module in run.program.modules.values():
        path = None if module.path is None else Path(module.path)
        if path is not None and path.is_file() and ".eval(" in path.read_text(errors="replace"):
            return
    for module, finding in found:
        layer = next(_that_differ(run, module), None)
        if layer is not None:
            message = f"{module.cls.name} is evaluated in training mode: nobody calls its eval(), so {layer} is on"
            hint = ".eval() before the evaluation, and .train() where the training goes on"
            run.keep(replace(finding, message=message, hint=hint))


def _that_differ(run: Interpreter, module: Instance) -> Iterator[str]:
    """The layers inside that compute something else in each mode."""
    from simpletorch.follow import layers  # it imports the marks

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
    from simpletorch.follow import layers  # it imports the marks

    return {id(t.cells) for _, t in layers.named_tensors(run, module, parameters_only=True)}


def _is_evaluation(run: Interpreter) -> bool:
    """Whether a call stands in a loop over pairs that counts something and trains nothing."""
    body: ast.AST | None = run.running[-1].node if run.running else _tree(run.path)
    loops = [n for n in ast.walk(body) if isinstance(n, ast.For) and _has(n, run.node)] if body is not None else []
    if not loops:
        return False
    inner = min(loops, key=lambda n: (n.end_lineno or n.lineno) - n.lineno)
    text = ast.unparse(inner)
    trains = ".backward(" in text or ".step(" in text
    return isinstance(inner.target, ast.Tuple) and not trains and _COUNTS.search(text) is not None


def _tree(path: str) -> ast.AST | None:
    from simpletorch.follow.sources.program import parse  # it imports the libraries

    return parse(Path(path))


def _has(outer: ast.AST, inner: ast.AST) -> bool:
    return any(n is inner for n in ast.walk(outer))


def check_batch(run: Interpreter, module: Instance, name: str, args: tuple[Value, ...]) -> Report | None:
    """Batch norm in training mode with one value for each channel."""
    value = args[0] if args else None
    if not name.startswith("BatchNorm") or not isinstance(value, Tensor) or run.entry:
        return None
    shape = value.type.shape
    if not shape.is_exact or len(shape.dims) < 2 or any(d != 1 for i, d in enumerate(shape.dims) if i != 1):
        return None
    if module.state.get("open") or run.resolve(module.cells.get("training", True)) is not True:
        return None
    reason = f"input {shape} has one value for each channel, of which there is no variance in training mode"
    return Report(name, "shape", reason, {"input": value.type}, ".eval() on the model, or more than one sample")
