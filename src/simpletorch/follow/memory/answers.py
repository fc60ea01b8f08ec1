"""What the rules have answered: a rule is a pure function, so the same operands have the same answer.

So have what follows for a result's marks, if the marks of the operands are the same too: they lie with the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, final

from simpletorch.follow.marks.mark import KEYED
from simpletorch.follow.values import Fields, List, Tensor, Value, is_among
from simpletorch.rules import TensorType
from simpletorch.rules.core.dtype import DType
from simpletorch.rules.core.values import Sizes
from simpletorch.shapes import Expr

__all__ = ["Answer", "answer", "keep", "key", "known", "marks", "recall"]

_MOST: Final = 6_000
_MOST_MARKS: Final = 64  # of one answer
_answers: Final[dict[Any, Answer]] = {}
_older: Final[dict[Any, Answer]] = {}  # what nobody has asked since there were so many; then it is forgotten


@final
class Answer:
    """What a rule has answered, and the marks of results by those of the operands."""

    __slots__ = ("marks", "result")

    def __init__(self, result: Any) -> None:
        self.result = result
        self.marks: dict[Any, Any] = {}


def key(value: Any) -> Any:
    """The operand as a key: ``1``, ``1.0`` and ``True`` are three."""
    kind = type(value)
    if kind is TensorType:
        return value
    if kind is tuple:
        return tuple(map(key, value))
    if kind is slice:
        return kind, key(value.start), key(value.stop), key(value.step)
    return kind, value


def known(what: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], ask: Callable[[], Any]) -> Answer:
    """What ``ask`` gives, asked once for each operation and operands."""
    try:
        place = what, tuple(map(key, args)), tuple((k, key(v)) for k, v in kwargs.items()) if kwargs else ()
        found = _answers.get(place)
    except TypeError:  # something that has no hash, such as what a rule knows of a packed sequence
        return Answer(ask())
    if found is None:
        found = _older.get(place)
        if found is None:
            found = Answer(ask())
        if len(_answers) >= _MOST:
            _older.clear()
            _older.update(_answers)
            _answers.clear()
        _answers[place] = found
    return found


def answer(what: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], ask: Callable[[], Any]) -> Any:
    """The same, without the marks."""
    return known(what, args, kwargs, ask).result


# -- marks -------------------------------------------------------------------------------------------------------------


_PLAIN: Final = frozenset({int, bool, float, complex, str, type(None), type(...), Expr, DType})
_OF_SLICES: Final = frozenset({int, type(None), Expr})


def marks(operands: Iterable[Value], found: list[Any], moved: Mapping[Any, Any]) -> bool:
    """Put into ``found`` the marks of the tensors among operands, which rules don't see; False where there is more.

    Of all else the key of the answer says what it is. ``moved`` are the tensors whose own place isn't where they are.
    """
    for value in operands:
        kind = type(value)
        if kind is Tensor:
            own = value.marks
            if value.array or value.apart is not None or len(value.cells) > _BARE or type(own.batch) not in _NUMBERS:
                return False
            if moved and id(value.cells) in moved:
                return False
            found += own[KEYED]
        elif kind is slice:
            if not (type(value.start) in _OF_SLICES and type(value.stop) in _OF_SLICES and value.step is None):
                return False
        elif kind is tuple or kind is Sizes:
            found.append(kind)
            if not marks(value, found, moved):
                return False
        elif kind is List:
            found.append(kind)
            if value.items is None or not marks(value.items, found, moved):
                return False
        elif kind not in _PLAIN:
            return False
    return True


_NUMBERS: Final = frozenset({int, type(None)})
_BARE: Final = 2  # its type, and how it was made


def keep(answer: Answer, key: Any, result: Value, operands: tuple[Value, ...]) -> None:
    """Remember the marks of a result that is new."""
    if len(answer.marks) >= _MOST_MARKS:
        return
    several = type(result) is tuple or type(result) is Fields
    results = result if several else (result,)
    for one in results:
        if type(one) is not Tensor or is_among(one, operands):
            return
    made = [one.marks for one in results]
    answer.marks[key] = made if several else made[0]


def recall(answer: Answer, key: Any, result: Value) -> bool:
    """Give a result the marks that are remembered; False where none are."""
    found = answer.marks.get(key)
    if found is None:
        return False
    if type(result) is Tensor:
        result.marks = found
    else:
        for one, own in zip(result, found, strict=True):
            one.marks = own
    return True
