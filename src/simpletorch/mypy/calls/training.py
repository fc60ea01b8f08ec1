"""``Trainer.fit(model, loader)`` and ``evaluate(model, loader, …)``: the loader's batches have to fit the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from mypy.nodes import (
    ARG_POS,
    ARG_STAR2,
    CallExpr,
    Expression,
    MemberExpr,
    NameExpr,
    RefExpr,
    StrExpr,
    TempNode,
    TypeInfo,
)
from mypy.plugin import CheckerPluginInterface
from mypy.types import FunctionLike, Instance, ProperType, TupleType, Type, UnpackType, get_proper_type

from simpletorch.mypy.calls.arguments import SignatureContext, type_of
from simpletorch.mypy.calls.functions import call_function
from simpletorch.mypy.calls.layers import called_with
from simpletorch.mypy.calls.loaders import named_items
from simpletorch.mypy.convert.lift import is_module
from simpletorch.mypy.diagnose.report import mistakes
from simpletorch.mypy.hooks import FunctionHook, MethodHook
from simpletorch.mypy.names import TENSOR
from simpletorch.mypy.program.constants import constant
from simpletorch.mypy.types import TypeTable, any_type

__all__ = ["FUNCTIONS", "INHERITED_METHODS"]

_TRAINER: Final = "simpletorch.train._trainer.Trainer"
_EVALUATE: Final = "simpletorch.train._evaluate.evaluate"
_PREDICT: Final = "simpletorch.train._predict.predict"
_LOADERS: Final = ("loader", "validation")


@dataclass(frozen=True)
class _Setting:
    """The settings that decide where the items of a batch go."""

    loss: Expression | None
    target: str | None
    """The name of the target; None if it is the last item of a tuple."""
    precision: Expression | None = None


@dataclass(frozen=True)
class _Batch:
    """The types of a batch's items, as a model is called with them."""

    inputs: Sequence[Type]
    named: Mapping[str, Type]
    target: Type


def _fit(context: SignatureContext, types: TypeTable) -> FunctionLike:
    """``trainer.fit(model, loader, validation=…)``"""
    _check(context, _of_trainer(context))
    return call_function(context.default_signature, context, types, "Trainer.fit")


def _test(context: SignatureContext, types: TypeTable) -> FunctionLike:
    """``trainer.test(model, loader)``"""
    _check(context, _of_trainer(context))
    return call_function(context.default_signature, context, types, "Trainer.test")


def _evaluate(context: SignatureContext, types: TypeTable) -> FunctionLike:
    """``evaluate(model, loader, metrics)``"""
    _check(context, _setting({"target": given} if (given := _given(context).get("target")) else {}))
    return call_function(context.default_signature, context, types, "evaluate")


def _predict_by(context: SignatureContext, types: TypeTable) -> FunctionLike:
    """``trainer.predict(model, loader)``"""
    return _predicted(context, types, _of_trainer(context), "Trainer.predict")


def _predict(context: SignatureContext, types: TypeTable) -> FunctionLike:
    """``predict(model, loader)``"""
    given = _given(context)
    return _predicted(context, types, _setting({"target": given["target"]} if "target" in given else {}), "predict")


def _predicted(context: SignatureContext, types: TypeTable, setting: _Setting | None, name: str) -> FunctionLike:
    """The signature with the type of all outputs together, where the model gives a tensor for each batch."""
    api, given = context.api, _given(context)
    signature = call_function(context.default_signature, context, types, name)
    if setting is None or "targets" in given or not {"model", "loader"} <= given.keys():
        return signature
    model = get_proper_type(type_of(given["model"], api))
    batch = _inputs(given["loader"], setting.target, api)
    if batch is None or not is_module(model):
        return signature
    output = get_proper_type(_call(model, None, batch, given["loader"], "loader", api))
    if not isinstance(output, Instance) or output.type is not types.tensor or len(output.args) < 2:
        return signature
    dtype, size, *dims = output.args
    if isinstance(size, UnpackType):
        return signature
    dtype = dtype if setting.precision is None else any_type()
    return signature.copy_modified(ret_type=output.copy_modified(args=[dtype, any_type(), *dims]))


def _inputs(loader: Expression, target: str | None, api: CheckerPluginInterface) -> _Batch | None:
    """As `_batch`, where the target may be missing: a tensor, or a tuple of one, is the input."""
    item = _item(loader, api)
    if target is None and isinstance(item, Instance) and item.type.fullname == TENSOR:
        return _Batch((item,), {}, any_type())
    if target is None and isinstance(item, TupleType) and len(item.items) == 1:
        return None if isinstance(item.items[0], UnpackType) else _Batch(item.items, {}, any_type())
    return _batch(loader, target, api)


def _given(context: SignatureContext) -> Mapping[str, Expression]:
    return {
        name: nodes[0]
        for name, nodes in zip(context.default_signature.arg_names, context.args, strict=True)
        if name is not None and len(nodes) == 1
    }


def _check(context: SignatureContext, setting: _Setting | None) -> None:
    """Call the model with what the loaders give; mypy then reports what it reports of such a call."""
    api, given = context.api, _given(context)
    if setting is None or "model" not in given:
        return
    model = get_proper_type(type_of(given["model"], api))
    if not is_module(model):
        return
    for name in _LOADERS:
        if name in given and (batch := _batch(given[name], setting.target, api)) is not None:
            _call(model, setting.loss, batch, given[name], name, api)


def _of_trainer(context: SignatureContext) -> _Setting | None:
    """The settings of the trainer whose method this is; None if they aren't known, or it has a step of its own."""
    match context.context:
        case CallExpr(callee=MemberExpr(expr=trainer)):
            made = constant(trainer, cast(Any, context.api).tree) if isinstance(trainer, NameExpr) else trainer
            match made:
                case CallExpr(callee=RefExpr(node=TypeInfo())) if ARG_STAR2 not in made.arg_kinds:
                    return _setting(dict(zip(made.arg_names, made.args, strict=True)))
    return None


def _setting(given: Mapping[str | None, Expression]) -> _Setting | None:
    match given.get("target"):
        case None | NameExpr(fullname="builtins.None"):
            return _Setting(given.get("loss"), None, given.get("precision"))
        case StrExpr(value=target):
            return _Setting(given.get("loss"), target, given.get("precision"))
    return None


def _batch(loader: Expression, target: str | None, api: CheckerPluginInterface) -> _Batch | None:
    """The inputs and the target in the loader's batches; None if they aren't known."""
    batch = _item(loader, api)
    if target is not None:
        named = {} if batch is None else dict(named_items(batch))
        return _Batch((), named, named.pop(target)) if target in named else None
    if not isinstance(batch, TupleType) or any(isinstance(item, UnpackType) for item in batch.items):
        return None
    return _Batch(batch.items[:-1], {}, batch.items[-1]) if len(batch.items) > 1 else None


def _item(loader: Expression, api: CheckerPluginInterface) -> ProperType | None:
    """The type of the items when iterating; None if it isn't known."""
    typ = get_proper_type(type_of(loader, api))
    if not isinstance(typ, Instance | TupleType):
        return None
    with api.msg.filter_errors():
        item: Type = cast(Any, api).analyze_iterable_item_type_without_expression(typ, loader)[1]
    return get_proper_type(item)


def _call(
    model: Instance,
    loss: Expression | None,
    batch: _Batch,
    loader: Expression,
    name: str,
    api: CheckerPluginInterface,
) -> Type | None:
    """The model's output for such a batch, with its mistakes reported; None if the model doesn't take the batch."""
    what = "batches" if name == "loader" else "validation batches"
    inputs: list[Expression] = [TempNode(item, context=loader) for item in batch.inputs]
    named = {name: TempNode(item, context=loader) for name, item in batch.named.items()}
    target = TempNode(batch.target, context=loader)
    with mistakes(api) as found:
        output = called_with(model, inputs, loader, api, named)
    api.msg.add_errors(found)
    if found:
        api.msg.note(f"the {what} don't fit the model's forward", loader)
        return None
    if loss is not None:
        compared = CallExpr(loss, [TempNode(output, context=loader), target], [ARG_POS, ARG_POS], [None, None])
        compared.set_line(loader)
        with mistakes(api) as found:
            cast(Any, api).expr_checker.accept(compared)
        # what else there is to say of the loss is said where it is written
        ours = [error for error in found if error.code is not None and error.code.category == "simpletorch"]
        api.msg.add_errors(ours)
        if ours:
            api.msg.note(f"the targets of the {what} don't fit the loss", loader)
    return output


FUNCTIONS: Final[Mapping[str, FunctionHook]] = {_EVALUATE: _evaluate, _PREDICT: _predict}
INHERITED_METHODS: Final[Mapping[str, MethodHook]] = {
    f"{_TRAINER}.fit": _fit,
    f"{_TRAINER}.test": _test,
    f"{_TRAINER}.predict": _predict_by,
}
