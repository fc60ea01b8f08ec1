"""``losses.focal_loss(scores, targets)`` and its like: each by the rule of the loss of torch that it varies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, TypeAlias

from mypy.plugin import FunctionSigContext
from mypy.types import CallableType

from simpletorch.mypy.calls.arguments import read_arguments
from simpletorch.mypy.calls.reader import CallReader
from simpletorch.mypy.hooks import FunctionHook
from simpletorch.mypy.types import TypeTable
from simpletorch.rules import Report, Value, infer
from simpletorch.rules.core.dtype import FLOAT32
from simpletorch.rules.core.values import TensorType

__all__ = ["FUNCTIONS"]

Given: TypeAlias = Mapping[str, Value]

_CROSS_ENTROPY: Final = "torch.nn.functional.cross_entropy"
_YES_OR_NO: Final = "torch.nn.functional.binary_cross_entropy_with_logits"


def _some(given: Given, *names: str) -> dict[str, Value]:
    return {name: given[name] for name in names if name in given}


def _focal(given: Given) -> Value | Report:
    return infer(_CROSS_ENTROPY, [given["input"], given["target"]], _some(given, "weight", "reduction"))


def _sigmoid_focal(given: Given) -> Value | Report:
    return infer(_YES_OR_NO, [given["input"], given["target"]], _some(given, "reduction"))


def _dice(given: Given) -> Value | Report:
    """Both have one shape; the target's dtype is as it may be."""
    probabilities, target = given["input"], given["target"]
    if isinstance(probabilities, TensorType) and isinstance(target, TensorType):
        target = target.with_dtype(probabilities.dtype)
    return infer(_YES_OR_NO, [probabilities, target], {})


def _smooth(given: Given) -> Value | Report:
    found = infer("torch.nn.functional.one_hot", [given["target"], given["classes"]], {})
    return found.with_dtype(FLOAT32) if isinstance(found, TensorType) else found


def _call(work: Callable[[Given], Value | Report], context: FunctionSigContext, types: TypeTable) -> CallableType:
    signature = context.default_signature
    reader = CallReader(types, context)
    combinations = reader.arguments(read_arguments(context))
    names = [name for name in signature.arg_names if name is not None]
    if combinations is None or any(not {*names[: len(p)], *n}.issuperset(names[:2]) for p, n in combinations):
        return signature  # mypy says what is missing

    def ask(positional: Sequence[Value], named: dict[str, Value]) -> Value | Report:
        found = work({**dict(zip(names, positional, strict=False)), **named})
        return replace(found, op=signature.name or found.op) if isinstance(found, Report) else found

    result = reader.answer(ask, combinations, signature.ret_type, context.context)
    return signature.copy_modified(ret_type=result)


FUNCTIONS: Final[Mapping[str, FunctionHook]] = {
    "simpletorch.losses._dice.dice_loss": partial(_call, _dice),
    "simpletorch.losses._focal.focal_loss": partial(_call, _focal),
    "simpletorch.losses._focal.sigmoid_focal_loss": partial(_call, _sigmoid_focal),
    "simpletorch.losses._smoothing.smooth_labels": partial(_call, _smooth),
}
