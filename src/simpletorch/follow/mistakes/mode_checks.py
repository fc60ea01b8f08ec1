"""Models that are trained as if they were evaluated, and evaluated as if they were trained.

Dropout and batch norm compute something else in each mode. A model that was trained in training mode, and after an
``eval()`` goes on to be trained without ``train()``, is a mistake; so is an evaluation (a loop over data under
``no_grad`` that counts hits or losses) in a program in which nobody calls ``eval()``. A loop of that kind in eval mode
without ``no_grad`` works, and keeps the graph of each batch: a note.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from simpletorch.follow import layers
from simpletorch.follow.mistakes import events
from simpletorch.follow.mistakes.modes import CODE, Modes
from simpletorch.follow.mistakes.optimizers import Optimizers
from simpletorch.follow.sources import mentions
from simpletorch.follow.sources.syntax import contains, of_node, parse, walk
from simpletorch.follow.values import Function, Instance, Value
from simpletorch.rules import ModuleRule

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["LISTENS", "trains_with_chance"]


def _stepped(run: Interpreter, optimizer: Value, calls: bool) -> None:
    """An optimizer makes a step."""
    known = run.training.of(Optimizers).get(optimizer)
    if known is None:
        return
    seen = run.training.of(Modes)
    seen.anew.clear()
    for key, trains in seen.since.items():
        if trains:
            seen.trained.add(key)
        elif key in seen.trained and key in seen.asked and not seen.asked[key][1] and not run.entry:
            module, _, place = seen.asked[key]
            layer = next(_that_differ(run, module), None)
            if layer is not None and known.own(run) & _parameters(run, module):
                message = f"{module.cls.name} is still trained in eval mode, since {place}: {layer} is off"
                run.find(CODE, message, "call .train() after the evaluation, or at the start of each epoch")
    seen.since.clear()


def _finish(run: Interpreter) -> None:
    """The program has ended: whether anybody has called ``eval()``, and whether evaluations need their graphs."""
    seen = run.training.of(Modes)
    _finish_graphs(run)
    found = [(m, f) for m, f in seen.evaluated.values() if f is not None]
    if not found or not all(trains for _, trains, _ in seen.asked.values()):
        return
    if "eval" in run.program.mentions().called:
        return
    for module, finding in found:
        layer = next(_that_differ(run, module), None)
        if layer is not None:
            message = f"{module.cls.name} is evaluated in training mode: its eval() is never called, so {layer} is on"
            hint = ".eval() before the evaluation, and .train() where the training goes on"
            run.keep(replace(finding, message=message, hint=hint))


def _finish_graphs(run: Interpreter) -> None:
    """Evaluations whose batches are recorded for a backward that never comes."""
    found = [(m, f) for m, f in run.training.of(Modes).recorded.values() if f is not None]
    if not found or _needs_gradients(run) or not _steps_after_each_backward(run):
        return
    for module, finding in found:
        forward = module.cls.find("forward")
        inside = forward[0] if forward is not None else None
        if isinstance(inside, Function) and (
            inside.grad is not None or not mentions.of(inside.node).called.isdisjoint(_MODES)
        ):
            continue
        message = (
            f"{module.cls.name} is evaluated with gradients: each batch is recorded for a backward that never comes"
        )
        hint = "with torch.no_grad(): around the loop, or @torch.no_grad() on its function"
        run.keep(replace(finding, message=message, hint=hint))


_MODES: Final = ("no_grad", "enable_grad", "set_grad_enabled", "inference_mode")
_GRADIENTS: Final = ("grad", "requires_grad_", "vjp", "jacobian", "jacrev", "jacfwd")


def _needs_gradients(run: Interpreter) -> bool:
    """Whether the program asks for gradients beside a training: of an attack's input, of a penalty."""
    names = run.program.mentions()
    return (
        not (names.called | names.imported).isdisjoint(_GRADIENTS)
        or "requires_grad=True" in names.keywords
        or any(map(_sets_flag, run.program.trees()))
    )


@of_node
def _sets_flag(tree: ast.Module) -> bool:
    """``x.requires_grad = True``"""
    set_here = (n for n in walk(tree) if isinstance(n, ast.Assign) and isinstance(n.value, ast.Constant))
    given = ((t, n.value.value) for n in set_here for t in n.targets if isinstance(n.value, ast.Constant))
    return any(isinstance(t, ast.Attribute) and t.attr == "requires_grad" and value is True for t, value in given)


def _steps_after_each_backward(run: Interpreter) -> bool:
    """Whether each ``backward`` of the program is one of a training: attacks and pictures of gradients have others."""
    trees = [tree for m in run.program.modules.values() if m.path and (tree := parse(Path(m.path))) is not None]
    for tree in trees:
        inner = [n for n in walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
        for call in walk(tree):
            if isinstance(call, ast.Attribute) and call.attr == "backward":
                around = [f for f in inner if contains(f, call)]
                names = (n.attr for n in walk(around[-1] if around else tree) if isinstance(n, ast.Attribute))
                if "step" not in names:
                    return False
    return True


def trains_with_chance(run: Interpreter) -> bool:
    """Whether a model is trained that has dropout."""
    modules = [m for m in run.training.called.values() if id(m.cells) in run.training.of(Modes).trained]
    return any("Dropout" in name for m in modules for name in _that_differ(run, m))


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


LISTENS: Final = (events.STEP.to(_stepped), events.END.to(_finish))
