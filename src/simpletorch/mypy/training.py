"""``Trainer.fit(model, loader)`` and ``evaluate(model, loader, …)``: the loader's batches have to fit the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

from mypy.nodes import Expression, TempNode
from mypy.types import FunctionLike, Instance, TupleType, Type, UnpackType, get_proper_type

from simpletorch.mypy.calls import CallReader, SignatureContext
from simpletorch.mypy.functions import call_function
from simpletorch.mypy.layers import called_with
from simpletorch.mypy.lift import is_module
from simpletorch.mypy.types import TypeTable

__all__ = ["EVALUATE", "TRAINER", "evaluate", "fit", "is_trainer"]

TRAINER: Final = "simpletorch.train._trainer.Trainer"
EVALUATE: Final = "simpletorch.train._evaluate.evaluate"
_LOADERS: Final = ("loader", "validation")


def is_trainer(receiver: str, types: TypeTable) -> bool:
    """Whether the class is `Trainer` or derives from it."""
    info = types.info(receiver)
    return info is not None and info.has_base(TRAINER)


def fit(context: SignatureContext, types: TypeTable) -> FunctionLike:
    """``trainer.fit(model, loader, validation=…)``"""
    _check(context, types)
    return call_function(context.default_signature, context, types, "Trainer.fit")


def evaluate(context: SignatureContext, types: TypeTable) -> FunctionLike:
    """``evaluate(model, loader, metrics)``"""
    _check(context, types)
    return call_function(context.default_signature, context, types, "evaluate")


def _check(context: SignatureContext, types: TypeTable) -> None:
    """Call the model with what the loaders give; mypy then reports what it reports of such a call."""
    reader = CallReader(types, context.api)
    given = {
        name: nodes[0]
        for name, nodes in zip(context.default_signature.arg_names, context.args, strict=True)
        if name is not None and len(nodes) == 1
    }
    if "model" not in given:
        return
    model = get_proper_type(reader.type_of(given["model"]))
    if not is_module(model):
        return
    for name in _LOADERS:
        if name in given:
            _call(model, _inputs(given[name], reader), given[name], name, reader)


def _inputs(loader: Expression, reader: CallReader) -> Sequence[Type]:
    """The types of a batch's inputs, which are all but its last item; none if they aren't known."""
    checker = cast(Any, reader.api)
    typ = get_proper_type(reader.type_of(loader))
    if not isinstance(typ, Instance | TupleType):
        return ()
    with reader.api.msg.filter_errors():
        batch = get_proper_type(checker.analyze_iterable_item_type_without_expression(typ, loader)[1])
    if not isinstance(batch, TupleType) or any(isinstance(item, UnpackType) for item in batch.items):
        return ()
    return batch.items[:-1]


def _call(model: Instance, inputs: Sequence[Type], loader: Expression, name: str, reader: CallReader) -> None:
    if not inputs:
        return
    messages = reader.api.msg
    nodes: list[Expression] = [TempNode(item, context=loader) for item in inputs]
    with messages.filter_errors(save_filtered_errors=True) as errors:
        called_with(model, nodes, loader, reader.api)
    messages.add_errors(errors.filtered_errors())
    if errors.has_new_errors():
        what = "batches" if name == "loader" else "validation batches"
        messages.note(f"the {what} don't fit the model's forward", loader)
