"""Questions that the texts of ``simpletorch.train`` ask about models, batches and optimizers."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from simpletorch.follow import layers
from simpletorch.follow.libraries import native
from simpletorch.follow.mistakes import events
from simpletorch.follow.values import MISSING, Dict, Fields, Function, Instance, List, Tensor, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter


@native("simpletorch.train._following.is_known")
def _is_known(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return isinstance(run.resolve(args[0]), Instance)


@native("simpletorch.train._following.trains")
def _trains(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """False if surely none of a model's parameters is an optimizer's."""
    optimizer, model = map(run.resolve, args)
    if not isinstance(optimizer, Instance) or not isinstance(model, Instance) or not layers.is_certain(run, model):
        return True
    own = {id(t.cells) for _, t in layers.named_tensors(run, model, parameters_only=True)}
    given = list(layers.optimized(run, optimizer))
    return not own or not given or None in given or any(id(t.cells) in own for t in given if t is not None)


@native("simpletorch.train._following.may_measure")
def _may_measure(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """Whether a callback may put measures of its own into ``fit.metrics``."""
    callback = run.resolve(args[0])
    if not isinstance(callback, Instance) or callback.cls.unknown_base is not None:
        return True
    held = (value for cls in callback.cls.mro for name, value in cls.cells.items() if str(name).startswith("on_"))
    hooks = map(run.resolve, held)
    return any(not isinstance(hook, Function) or _gives_away(hook.node) for hook in hooks)


def _gives_away(method: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> bool:
    """Whether a hook names ``metrics``, or does more with its ``fit`` than read attributes."""
    nodes = list(ast.walk(method))
    read = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    given = {argument.arg for argument in method.args.args[1:]}
    return any(
        (isinstance(node, ast.Attribute) and node.attr == "metrics")
        or (isinstance(node, ast.Name) and node.id in given and id(node) not in read)
        for node in nodes
    )


@native("simpletorch.train._following.why_not_called")
def _why_not_called(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """Why the ``forward`` of a model can't be called with a batch's inputs; None if it can, or isn't known."""
    model, inputs, named = map(run.resolve, args)
    given, names = run.items(inputs) if isinstance(inputs, tuple | List) else None, named
    if not layers.is_module(model) or given is None or not isinstance(names, Dict) or names.rest is not MISSING:
        return None
    if not all(isinstance(name, str) for name in names.cells):
        return None
    return events.BATCH(run, model, given, names.cells)


@native("simpletorch.train._following.moved")
def _moved(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """A batch on the device of a model."""
    batch, model = map(run.resolve, args)
    if not run.places:
        return batch
    parameters = run.items(run.call(run.attribute(model, "parameters"), ())) if isinstance(model, Instance) else None
    device = run.attribute(parameters[0], "device") if parameters else run.unknown("a model's device", "device")

    def move(value: Value) -> Value:
        value = run.resolve(value)
        if isinstance(value, Tensor):
            return run.call(run.attribute(value, "to"), (device,))
        if isinstance(value, Fields):
            return Fields(value.names, tuple(map(move, value)))
        if isinstance(value, tuple):
            return tuple(map(move, value))
        if isinstance(value, List) and value.items is not None:
            return List(tuple(map(move, value.items)))
        if isinstance(value, Dict):
            return Dict({k: move(v) for k, v in value.cells.items()}, value.rest)
        return run.unknown("a batch that was moved")

    return move(batch)


@native("simpletorch.train.track")
def _track(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return args[0]
