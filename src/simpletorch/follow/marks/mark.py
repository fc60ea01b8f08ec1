"""A mark is a fact that a tensor carries beside its type. `carried` has all marks, in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter
    from simpletorch.follow.marks.layout import Layout
    from simpletorch.follow.marks.origins import Origins
    from simpletorch.follow.marks.spread import Spread
    from simpletorch.follow.values import Instance, Tensor, Value
    from simpletorch.rules import ModuleRule

__all__ = ["FORGOTTEN", "KEYED", "NOTHING", "Call", "LayerCall", "Mark", "Marks"]

T = TypeVar("T")
KEYED: Final = slice(1, None)
"""The fields of `Marks` that decide what is remembered: all but `spread`; of tensors over a mesh nothing is."""


class Marks(NamedTuple):
    """All marks of a tensor but those in its cells: one object that never changes. None is "not known" everywhere."""

    spread: Spread | None = None
    layout: Layout = None
    origins: Origins = None
    place: str | None = None
    batch: int | None = None


NOTHING: Final = Marks()
FORGOTTEN: Final = {name: f"({name})" for name in Marks._fields}
"""By mark: the cell of a tensor in which stands that the mark doesn't hold any more. A branch takes it back."""


class Call(NamedTuple):
    """An operation of torch's with its operands, and what it gives."""

    name: str
    args: tuple[Value, ...]
    kwargs: Mapping[str, Value]
    result: Value


class LayerCall(NamedTuple):
    """A layer of torch's with what it is given, and what it gives."""

    name: str
    module: Instance
    rule: ModuleRule
    args: tuple[Value, ...]
    kwargs: Mapping[str, Value]
    result: Value


class Mark(Generic[T]):
    """One kind of mark.

    Args:
        name: its field in `Marks`.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def of(self, value: Tensor) -> T | None:
        """The mark of a tensor as it is now, None where it isn't known."""
        return getattr(value.known, self.name)  # type: ignore[no-any-return]

    def put(self, value: Tensor, known: T | None) -> None:
        """A new tensor has this mark."""
        changed: dict[str, Any] = {self.name: known}
        value.marks = value.marks._replace(**changed)

    def forget(self, run: Interpreter, value: Tensor) -> None:
        """A tensor is changed in place, so that its mark doesn't hold any more."""
        if getattr(value.marks, self.name) is not None:
            run.heap.write(value.cells, FORGOTTEN[self.name], True)

    # -- where it comes from ------------------------------------------------------------------------------------------

    def of_operation(self, run: Interpreter, call: Call, made: Sequence[Tensor]) -> Sequence[T | None]:
        """The mark of each new tensor among an operation's results."""
        return [getattr(one.marks, self.name) for one in made]

    def of_layer(self, run: Interpreter, call: LayerCall, made: Sequence[Tensor]) -> Sequence[T | None]:
        """The mark of each tensor that a layer gives."""
        return [getattr(one.marks, self.name) for one in made]

    def follows_alone(self, run: Interpreter, call: Call) -> bool:
        """Whether that follows from the operands' types and marks, and nothing is said: then it is remembered."""
        return True

    def of_batch(self, sample: Tensor, batch: Tensor) -> T | None:
        """The mark of a batch that a loader makes of samples such as this one."""
        return None

    def of_data(self, made: Tensor) -> T | None:
        """The mark of a tensor of numbers that are written out, read or computed elsewhere."""
        return None

    # -- of two, and of another one -----------------------------------------------------------------------------------

    def same(self, a: Tensor, b: Tensor) -> bool:
        """Whether the same is known of both."""
        return self.of(a) == self.of(b)

    def common(self, a: Tensor, b: Tensor) -> T | None:
        """The mark of a tensor that is one of the two."""
        known = self.of(a)
        return known if known == self.of(b) else None

    def another(self, value: Tensor) -> T | None:
        """The mark of another tensor of the kind: the next item of a stream."""
        return self.of(value)
