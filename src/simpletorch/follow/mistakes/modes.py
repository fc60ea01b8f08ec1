"""In which modes models are called: what `mode_checks` judges, and batch norm of one value."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, final

from simpletorch.follow.findings import Finding
from simpletorch.follow.marks.gradients import MODE
from simpletorch.follow.mistakes import events
from simpletorch.follow.sources import mentions
from simpletorch.follow.sources.syntax import loop_around, walk
from simpletorch.follow.values import Instance, Tensor, Value
from simpletorch.rules import Report

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter
    from simpletorch.rules import ModuleRule

__all__ = ["CODE", "LISTENS", "MEMORY", "Modes"]

CODE: Final = "tensor-mode"
MEMORY: Final = "tensor-memory"


@final
@dataclass(slots=True)
class Modes:
    """What one follow has seen of the modes of modules, by the identity of their cells."""

    asked: dict[int, tuple[Instance, bool, str]] = field(default_factory=dict)
    """Modules whose ``eval()`` or ``train()`` was called: the last of these, and where."""
    anew: set[int] = field(default_factory=set)
    """Those of which ``train()`` was called since the last step: perhaps dropout is wanted."""
    with_gradients: set[int] = field(default_factory=set)
    """Those that were called with gradients."""
    since: dict[int, bool] = field(default_factory=dict)
    """Those called with gradients since the last step: whether in training mode."""
    trained: set[int] = field(default_factory=set)
    """Those that were trained in training mode."""
    evaluated: dict[int, tuple[Instance, Finding | None]] = field(default_factory=dict)
    """Those called in training mode without gradients, with what would be said."""
    recorded: dict[int, tuple[Instance, Finding | None]] = field(default_factory=dict)
    """Those called in eval mode with gradients after they were trained, with what would be said."""


def _asked(run: Interpreter, module: Instance, trains: Value) -> None:
    """``module.train()``, ``module.eval()``."""
    place = f"line {getattr(run.node, 'lineno', 0)}"
    seen = run.training.of(Modes)
    seen.asked[id(module.cells)] = module, trains is not False, place
    (seen.anew.discard if trains is False else seen.anew.add)(id(module.cells))


def _called(run: Interpreter, module: Instance) -> None:
    """A module is called."""
    seen, key, grad = run.training.of(Modes), id(module.cells), run.modes.get(MODE)
    if grad is True:
        seen.with_gradients.add(key)
        flag = module.cells.get("training", True)
        if flag is not True and flag is not False:
            flag = run.resolve(flag)
        if flag is True or flag is False:
            seen.since[key] = flag
        if flag is False and key in seen.trained and key not in seen.recorded and not run.entry:
            seen.recorded[key] = module, run.finding(MEMORY, "", None) if _is_evaluation(run) else None
    elif grad is False and key not in seen.evaluated and key in seen.trained and not run.entry:
        flag = run.resolve(module.cells.get("training", True))
        told = flag is True and key not in seen.anew and not module.state.get("open") and _is_evaluation(run)
        seen.evaluated[key] = module, run.finding(CODE, "", None) if told else None


def _dropped(run: Interpreter, name: str, args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> None:
    """``F.dropout(x, 0.5)`` in a ``forward``: it drops in eval mode too, unless it is given the mode."""
    inside = run.training.inside
    if run.entry or not inside or len(args) > 2 or "training" in kwargs or 0 in (*args[1:2], kwargs.get("p", 0.5)):
        return
    if run.resolve(inside[-1].cells.get("training", True)) is False:
        message = f"{name} is active although {inside[-1].cls.name} is in eval mode: its training is True by default"
        run.find(CODE, message, f"F.{name}(x, p, training=self.training), or an nn.Dropout made in __init__")


_DROPS: Final = {f"torch.nn.functional.{name}": name for name in ("dropout", "dropout1d", "dropout2d", "dropout3d")}


def _is_evaluation(run: Interpreter) -> bool:
    """Whether a call stands in a loop over pairs that compares something with their second part and trains nothing."""
    inner = None if run.body is None else loop_around(run.body, run.node, ast.For)
    if inner is None or not isinstance(inner.target, ast.Tuple):
        return False
    labels = _labels(inner, run.node)
    place: ast.AST = inner
    if not _compares(inner, labels) and isinstance(run.body, ast.FunctionDef):
        place = run.body  # what the loop gathers is counted behind it
    return mentions.of(place).called.isdisjoint(("backward", "step")) and _compares(place, labels)


def _labels(loop: ast.For, call: ast.AST) -> set[str]:
    """The variables of a loop over pairs that aren't the first of a pair, and aren't given to the model."""
    pair: ast.AST = loop.target
    if isinstance(pair, ast.Tuple) and any(isinstance(e, ast.Tuple) for e in pair.elts):  # ``i, (x, y)``
        pair = next(e for e in pair.elts if isinstance(e, ast.Tuple))
    names = [n.id for n in walk(pair) if isinstance(n, ast.Name)]
    return set(names[1:]) - {n.id for n in walk(call) if isinstance(n, ast.Name)}


def _compares(place: ast.AST, labels: set[str]) -> bool:
    """Whether code compares labels, or what it makes or gathers of them, or calls something with them and others."""
    known = set(labels)
    for _ in range(_MOST_STEPS):
        before = len(known)
        for node in walk(place):
            if isinstance(node, ast.Assign | ast.AugAssign) and _reads(node.value, known):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                known |= {n.id for t in targets for n in walk(t) if isinstance(n, ast.Name)}
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _gathers(node, known):
                known |= {n.id for n in walk(node.func.value) if isinstance(n, ast.Name)}
        if len(known) == before:
            break
    return any(
        (isinstance(n, ast.Compare | ast.BinOp) or (isinstance(n, ast.Call) and _variables(n) > 1)) and _reads(n, known)
        for n in walk(place)
    )


def _variables(call: ast.Call) -> int:
    """How many arguments aren't constants."""
    given = (*call.args, *(keyword.value for keyword in call.keywords))
    return sum(not isinstance(one, ast.Constant) for one in given)


_MOST_STEPS: Final = 5  # from a label to what is counted


def _gathers(call: ast.Call, names: set[str]) -> bool:
    return len(call.args) == 1 and _reads(call.args[0], names)


def _reads(node: ast.AST, names: set[str]) -> bool:
    return any(isinstance(n, ast.Name) and n.id in names for n in walk(node))


def _layer(
    run: Interpreter,
    module: Instance,
    name: str,
    rule: ModuleRule,
    args: tuple[Value, ...],
    kwargs: Mapping[str, Value],
) -> None:
    """Batch norm in training mode with one value for each channel."""
    value = args[0] if args else None
    if not name.startswith("BatchNorm") or not isinstance(value, Tensor) or run.entry:
        return
    shape = value.type.shape
    if not shape.is_exact or len(shape.dims) < 2 or any(d != 1 for i, d in enumerate(shape.dims) if i != 1):
        return
    if module.state.get("open") or run.resolve(module.cells.get("training", True)) is not True:
        return
    reason = f"input {shape} has one value per channel, so training mode has no variance to compute"
    hint = ".eval() on the model, or more than one sample"
    run.report(Report(name, "shape", reason, {"input": value.type}, hint))


def _operation(name: str) -> Callable[[Interpreter, tuple[Value, ...], Mapping[str, Value], Value], None] | None:
    """The listener to an operation."""
    short = _DROPS.get(name)
    return None if short is None else lambda run, args, kwargs, result: _dropped(run, short, args, kwargs)


LISTENS: Final = (
    events.MODE.to(_asked),
    events.MODULE.to(_called),
    events.OPERATION.to(_operation),
    events.LAYER.to(_layer),
)
