"""``timm``: a hundred modules fill its registry as they are imported; here only the one with the model is followed."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from simpletorch.follow.libraries import ALIASES, model, native
from simpletorch.follow.sources.syntax import of_node
from simpletorch.follow.values import MISSING, Dict, Function, Instance, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__: Final = ()

_NAMES: Final = ("create_model", "register_model", "get_pretrained_cfg", "is_model")
for _place in ("timm", "timm.models", "timm.models.registry", "timm.models._factory", "timm.models.factory"):
    ALIASES.update({f"{_place}.{name}": f"timm.models._registry.{name}" for name in _NAMES})


@native("timm.models._registry.register_model")
def _register(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return args[0]


def _entrypoint(run: Interpreter, name: str) -> tuple[str, Value]:
    """The module that has a model, and the function that makes it."""
    found = run.program.packages.star("timm.models", name)
    return (found or "", MISSING if found is None else run.program.library(run, f"{found}.{name}"))


@native("timm.models._registry.is_model")
def _is_model(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    name = run.resolve(args[0])
    found = isinstance(name, str) and isinstance(_entrypoint(run, name)[1], Function)
    return True if found else run.unknown("whether timm has a model", "bool")


@model("timm.models._registry.create_model")
def _create(
    run: Interpreter,
    model_name: Value,
    pretrained: Value = False,
    pretrained_cfg: Value = None,
    pretrained_cfg_overlay: Value = None,
    checkpoint_path: Value = None,
    cache_dir: Value = None,
    scriptable: Value = None,
    exportable: Value = None,
    no_jit: Value = None,
    **kwargs: Value,
) -> Value:
    """The function of that name makes the model; weights change no size."""
    given = {k: v for k, v in kwargs.items() if v is not None}
    if not isinstance(model_name, str) or ":" in model_name or "/" in model_name:
        run.escape(tuple(given.values()))
        return run.unknown("a model of timm whose name isn't known")
    name, _, tag = model_name.partition(".")
    make = _entrypoint(run, name)[1]
    if not isinstance(make, Function):
        run.escape(tuple(given.values()))
        return run.unknown(f"{name} of timm")
    if tag and pretrained_cfg is None:
        pretrained_cfg = tag
    return run.call(
        make,
        (),
        {
            "pretrained": False,
            "pretrained_cfg": pretrained_cfg,
            "pretrained_cfg_overlay": pretrained_cfg_overlay,
            **given,
        },
    )


@model("timm.models._registry.get_pretrained_cfg")
def _pretrained_cfg(run: Interpreter, model_name: Value, allow_unregistered: Value = True) -> Value:
    """The configuration that the module of a model has for its weights: of its table only the model's rows count."""
    unclear = run.unknown("a configuration of timm")
    if not isinstance(model_name, str):
        return unclear
    name, _, tag = model_name.partition(".")
    module = _entrypoint(run, name)[0]
    rows = _rows(run.program.packages.tree(module), name)
    made = run.program.library(run, "timm.models._pretrained.PretrainedCfg")
    chosen: Value = MISSING
    for key, row in rows.items():
        of_row = key.partition(".")[2]
        if tag and of_row.rstrip("*") != tag:
            continue
        given = run.resolve(run.program.packages.evaluate(run, module, row))
        if isinstance(given, Instance):
            one: Value = given
        elif isinstance(given, Dict) and given.rest is MISSING:
            one = run.call(made, (), {str(k): v for k, v in given.cells.items()})
        else:
            return unclear
        if not isinstance(one, Instance):
            return unclear
        has_weights = run.resolve(run.attribute(one, "has_weights"))
        if chosen is MISSING or of_row.endswith("*") or (has_weights is True and not of_row):
            run.heap.write(one.cells, "architecture", name)
            run.heap.write(one.cells, "tag", of_row.rstrip("*") or None)
            chosen = one
        if tag or of_row.endswith("*") or has_weights is True:
            break
    return unclear if chosen is MISSING else chosen


@of_node
def _rows(tree: ast.Module, name: str) -> dict[str, ast.expr]:
    """The rows of a module's ``default_cfgs`` that are a model's, by their keys."""
    for statement in tree.body:
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id="default_cfgs")], value=value)
                | ast.AnnAssign(target=ast.Name(id="default_cfgs"), value=ast.expr() as value)
            ):
                table = value.args[0] if isinstance(value, ast.Call) and value.args else value
                if isinstance(table, ast.Dict):
                    return {
                        str(key.value): row
                        for key, row in zip(table.keys, table.values, strict=True)
                        if isinstance(key, ast.Constant) and str(key.value).partition(".")[0] == name
                    }
    return {}
