"""All marks in one tuple: each of them is asked for the mark of a new tensor."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow.marks.devices import DEVICE
from simpletorch.follow.marks.gradients import GRADIENT
from simpletorch.follow.marks.layout import LAYOUT
from simpletorch.follow.marks.mark import Call, LayerCall, Mark, Marks
from simpletorch.follow.marks.origins import ORIGINS
from simpletorch.follow.marks.sequences import BATCH
from simpletorch.follow.marks.spread import SPREAD
from simpletorch.follow.numbers.indexes import NUMBERS
from simpletorch.follow.values import Tensor, Value, is_among, tensors_in
from simpletorch.rules import TensorType

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["MARKS", "another", "batch_of", "common", "follows_alone", "of_data", "of_layer", "of_operation", "same"]

_RECORD: Final[tuple[Mark[Any], ...]] = (SPREAD, LAYOUT, ORIGINS, DEVICE, BATCH)  # as the fields of `Marks`
_BESIDE: Final[tuple[Mark[Any], ...]] = (GRADIENT, NUMBERS)  # which a write through a view, or on one way, changes
MARKS: Final = (*_BESIDE, *_RECORD)


# -- of what torch gives -----------------------------------------------------------------------------------------------


def of_operation(run: Interpreter, call: Call) -> None:
    """An operation's new tensors get their marks."""
    made = [one for one in _results(call.result) if isinstance(one, Tensor) and not is_among(one, call.args)]
    _put(made, [mark.of_operation(run, call, made) for mark in _RECORD])


def of_layer(run: Interpreter, call: LayerCall) -> None:
    """The tensors that a layer gives get their marks."""
    made = list(tensors_in((call.result,)))
    _put(made, [mark.of_layer(run, call, made) for mark in _RECORD])


def follows_alone(run: Interpreter, call: Call) -> bool:
    """Whether all marks of an operation's results follow from the operands' types and marks."""
    return all(mark.follows_alone(run, call) for mark in _RECORD)


def _put(made: Iterable[Tensor], known: Iterable[Iterable[Any]]) -> None:
    for one, *marks in zip(made, *known, strict=True):
        one.marks = Marks(*marks)


def _results(value: Value) -> tuple[Value, ...]:
    return value if isinstance(value, tuple) else (value,)


# -- of two, and of another one ----------------------------------------------------------------------------------------


def same(a: Tensor, b: Tensor) -> bool:
    """Whether the same is known of both, beside their types."""
    for mark in MARKS:  # noqa: SIM110  (`all` takes twice as long)
        if not mark.same(a, b):
            return False
    return True


def common(a: Tensor, b: Tensor, type: TensorType) -> Tensor:
    """A tensor that stands for both: which of them it is isn't known."""
    return _with(Tensor(type, array=a.array), [mark.common(a, b) for mark in MARKS])


def another(value: Tensor) -> Tensor:
    """Another tensor of the kind: the items of a stream, such as batches, are different objects."""
    return _with(Tensor(value.type, array=value.array), [mark.another(value) for mark in MARKS])


def batch_of(sample: Tensor, type: TensorType) -> Tensor:
    """A batch of samples such as this one, as a loader makes it."""
    batch = Tensor(type)
    return _with(batch, [mark.of_batch(sample, batch) for mark in MARKS])


def of_data(made: Tensor) -> Tensor:
    """A tensor of numbers that are written out, read or computed elsewhere."""
    for mark in _RECORD:
        known = mark.of_data(made)
        if known is not None:
            mark.put(made, known)
    return made


def _with(made: Tensor, known: list[Any]) -> Tensor:
    beside = len(_BESIDE)
    for mark, one in zip(_BESIDE, known, strict=False):
        mark.put(made, one)
    made.marks = Marks(*known[beside:])
    return made
