"""``Trainer.fit(model, loader)`` and ``evaluate(model, loader, …)``: the loader's batches have to fit the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from mypy.nodes import ARG_POS, CallExpr, Expression, MemberExpr, NameExpr, TempNode
from mypy.plugin import CheckerPluginInterface
from mypy.types import FunctionLike, Instance, TupleType, Type, UnpackType, get_proper_type

from simpletorch.mypy.calls.arguments import SignatureContext, type_of
from simpletorch.mypy.calls.functions import call_function
from simpletorch.mypy.calls.layers import called_with
from simpletorch.mypy.convert.lift import is_module
from simpletorch.mypy.diagnose.report import mistakes
from simpletorch.mypy.hooks import FunctionHook, MethodHook
from simpletorch.mypy.program.constants import constant
from simpletorch.mypy.types import TypeTable

__all__ = ["FUNCTIONS", "INHERITED_METHODS"]

_TRAINER: Final = "simpletorch.train._trainer.Trainer"
_EVALUATE: Final = "simpletorch.train._evaluate.evaluate"
_LOADERS: Final = ("loader", "validation")


def _fit(context: SignatureContext, types: TypeTable) -> FunctionLike:
    """``trainer.fit(model, loader, validation=…)``"""
    _check(context, types)
    return call_function(context.default_signature, context, types, "Trainer.fit")


def _evaluate(context: SignatureContext, types: TypeTable) -> FunctionLike:
    """``evaluate(model, loader, metrics)``"""
    _check(context, types)
    return call_function(context.default_signature, context, types, "evaluate")


def _check(context: SignatureContext, types: TypeTable) -> None:
    """Call the model with what the loaders give; mypy then reports what it reports of such a call."""
    api = context.api
    given = {
        name: nodes[0]
        for name, nodes in zip(context.default_signature.arg_names, context.args, strict=True)
        if name is not None and len(nodes) == 1
    }
    if "model" not in given:
        return
    model = get_proper_type(type_of(given["model"], api))
    if not is_module(model):
        return
    loss = _loss(context)
    for name in _LOADERS:
        if name in given:
            _call(model, loss, _batch(given[name], api), given[name], name, api)


def _loss(context: SignatureContext) -> Expression | None:
    """What was given as ``loss`` to the trainer whose ``fit`` this is, if that is known."""
    match context.context:
        case CallExpr(callee=MemberExpr(name="fit", expr=trainer)):
            made = constant(trainer, cast(Any, context.api).tree) if isinstance(trainer, NameExpr) else trainer
            if isinstance(made, CallExpr):
                given = dict(zip(made.arg_names, made.args, strict=True))
                return given.get("loss")
    return None


def _batch(loader: Expression, api: CheckerPluginInterface) -> Sequence[Type]:
    """The types of a batch's items, of which the last is the target; none if they aren't known."""
    checker = cast(Any, api)
    typ = get_proper_type(type_of(loader, api))
    if not isinstance(typ, Instance | TupleType):
        return ()
    with api.msg.filter_errors():
        batch = get_proper_type(checker.analyze_iterable_item_type_without_expression(typ, loader)[1])
    if not isinstance(batch, TupleType) or any(isinstance(item, UnpackType) for item in batch.items):
        return ()
    return batch.items


def _call(
    model: Instance,
    loss: Expression | None,
    batch: Sequence[Type],
    loader: Expression,
    name: str,
    api: CheckerPluginInterface,
) -> None:
    if len(batch) < 2:
        return
    what = "batches" if name == "loader" else "validation batches"
    *inputs, target = (TempNode(item, context=loader) for item in batch)
    with mistakes(api) as found:
        output = called_with(model, list(inputs), loader, api)
    api.msg.add_errors(found)
    if found:
        api.msg.note(f"the {what} don't fit the model's forward", loader)
    elif loss is not None:
        compared = CallExpr(loss, [TempNode(output, context=loader), target], [ARG_POS, ARG_POS], [None, None])
        compared.set_line(loader)
        with mistakes(api) as found:
            cast(Any, api).expr_checker.accept(compared)
        # what else there is to say of the loss is said where it is written
        ours = [error for error in found if error.code is not None and error.code.category == "simpletorch"]
        api.msg.add_errors(ours)
        if ours:
            api.msg.note(f"the targets of the {what} don't fit the loss", loader)


FUNCTIONS: Final[Mapping[str, FunctionHook]] = {_EVALUATE: _evaluate}
INHERITED_METHODS: Final[Mapping[str, MethodHook]] = {f"{_TRAINER}.fit": _fit}
