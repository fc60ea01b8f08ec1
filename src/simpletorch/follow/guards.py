"""Who takes exceptions: the ``try`` statements and context managers around, and the states in which they are reached.

What an operation does whose operands aren't known may be to raise. Nobody minds where nothing catches it: who gets on
had no exception. Inside ``try`` it is a way of its own, with the heap as it was before that operation.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow.heap import MISSING, NEXT, OF_GRAPHS, born, now
from simpletorch.follow.outcomes import Done, Outcome, Raise, Raised, Split
from simpletorch.follow.values import Choice, Dict, List, Tensor, Unknown, Value
from simpletorch.rules import TensorType
from simpletorch.shapes import Expr

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["ANY", "LOOKUP", "OF_TENSORS", "Guard", "guarded", "is_caught", "is_sure", "may_raise", "refuse"]

_BASES: Final = ("Exception", "BaseException")
ANY: Final = (Raised("", None, _BASES),)
"""What unknown code raises: its class isn't known either."""
OF_TENSORS: Final = (
    Raised("RuntimeError", None, _BASES),
    Raised("IndexError", None, ("LookupError", *_BASES)),
    Raised("ValueError", None, _BASES),
    Raised("TypeError", None, _BASES),
)
LOOKUP: Final = (
    Raised("IndexError", None, ("LookupError", *_BASES)),
    Raised("KeyError", None, ("LookupError", *_BASES)),
    Raised("TypeError", None, _BASES),
)
_MOST_PLACES: Final = 50_000  # of the heap, in all states in which something may be raised in one body


class Guard:
    """What may take the exceptions of a body.

    Args:
        catches: for the names of an exception's class and bases: True, False, or None where it isn't known.
        depth: that of the heap as the body begins.
        key: exceptions with the same one are taken in the same way; by default those of one class.
        passes_on: it takes every exception and raises it again (``finally``).
    """

    __slots__ = ("at", "catches", "depth", "key", "passes_on", "places", "possible")

    def __init__(
        self,
        catches: Callable[[Raised], bool | None],
        depth: int,
        key: Callable[[Raised], Hashable] = lambda error: error.name,
        *,
        passes_on: bool = False,
    ) -> None:
        self.catches, self.depth, self.key, self.passes_on = catches, depth, key, passes_on
        self.possible: dict[Hashable, Outcome] = {}  # by their keys
        self.places = 0
        self.at: dict[Hashable, int] = {}  # how many writes there had been


def is_caught(run: Interpreter, error: Raised, guards: Sequence[Guard] | None = None) -> bool:
    """Whether somebody around may catch it."""
    return any(g.catches(error) is not False for g in (run.guards if guards is None else guards) if not g.passes_on)


def may_raise(run: Interpreter, errors: Sequence[Raised]) -> None:
    """One of these may be raised here, or nothing."""
    for error in errors if run.takers else ():
        for index in range(len(run.guards) - 1, -1, -1):
            guard = run.guards[index]
            if guard.passes_on and not is_caught(run, error, run.guards[:index]):
                break
            answer = guard.catches(error)
            if answer is not False:
                _add(run, guard, error)
            if answer is True:
                break


def _add(run: Interpreter, guard: Guard, error: Raised) -> None:
    """The way on which it is raised here, joined with those on which another of its kind was raised before."""
    key = guard.key(error)
    before = guard.possible.get(key)
    if before is not None and isinstance(before.done, Raise):
        error = _either(before.done.error, error)
        before.done = Raise(error)
    if (before is not None and guard.at[key] == run.heap.writes) or guard.places > _MOST_PLACES:
        return
    change = run.heap.since(guard.depth)
    guard.places += len(change)
    guard.at[key] = run.heap.writes
    conditions = tuple(
        (c, holds) for cells, c, holds in change.values() if cells is run.assumed and holds is not MISSING
    )
    here = Outcome(Raise(error), change, [], conditions, now())
    if before is not None:
        parted = max(before.began, here.began)
        with run.heap.as_before(guard.depth):
            here = run.join(before, here)
        here.began = parted  # what was made before the later of the two is on both ways
    guard.possible[key] = here


def _either(a: Raised, b: Raised) -> Raised:
    """The exception on the joined way of two."""
    if a.name == b.name:
        return a if a.value is b.value else Raised(a.name, None, a.bases)
    return Raised("", None, tuple(base for base in (a.name, *a.bases) if base and base in (b.name, *b.bases)))


def guarded(run: Interpreter, guard: Guard, body: Callable[[], Done]) -> list[Outcome]:
    """The ways that a body may take, with those on which something is raised that the guard takes."""
    began = now()
    run.guards.append(guard)
    run.takers += not guard.passes_on
    run.heap.begin()
    try:
        done = body()
    except Raised as error:
        done = Raise(error)
    except BaseException:
        run.heap.keep()
        raise
    finally:
        run.guards.remove(guard)
        run.takers -= not guard.passes_on
    touched = run.heap.since(guard.depth) if guard.places > _MOST_PLACES else {}
    change = run.heap.end()
    if isinstance(done, Split):
        ways = [Outcome(o.done, {**change, **o.change}, o.findings, o.conditions, o.began) for o in done.outcomes]
    else:
        ways = [Outcome(done, change, [], (), began)]
    if not guard.possible:
        return ways
    condition = Unknown("whether something is raised", "bool")
    condition.usual = False
    end = now()
    for way in ways:
        way.began = end
        _under(run, way, condition, False)
    for way in guard.possible.values():
        if touched:
            way.change = {place: _anything(run, *entry) for place, entry in touched.items() if born(entry[0]) < began}
        _under(run, way, condition, True)
    return [*ways, *guard.possible.values()]


def _under(run: Interpreter, way: Outcome, condition: Unknown, holds: bool) -> None:
    way.conditions = ((condition, holds), *way.conditions)
    way.change = {**way.change, (id(run.assumed), condition): (run.assumed, condition, holds)}


def _anything(run: Interpreter, cells: dict[Any, Any], key: Any, value: Value) -> tuple[dict[Any, Any], Any, Value]:
    """A cell of which nothing is known any more, with what is put into it."""
    if cells is run.assumed:
        return cells, key, MISSING
    if cells is run.equalities:
        return cells, key, {}
    if key == "items" and "item" in cells:
        return cells, key, None
    if key == NEXT:
        return cells, key, 0
    if key in OF_GRAPHS:
        return cells, key, MISSING
    if isinstance(value, TensorType):
        return cells, key, TensorType()
    return cells, key, Unknown("how far a body got before something was raised")


def is_sure(value: Value, depth: int = 3) -> bool:
    """Whether enough is known of an operand to know whether an operation raises."""
    if isinstance(value, Tensor):
        shape = value.type.shape
        return value.type.dtype is not None and shape.is_exact and all(isinstance(d, int) for d in shape.dims)
    if isinstance(value, Unknown | Expr) or value is MISSING:
        return False
    if isinstance(value, Choice):
        return is_sure(value.when_true, depth) and is_sure(value.when_false, depth)
    if isinstance(value, List):
        return value.items is not None and is_sure(value.items, depth)
    if isinstance(value, Dict):
        return value.rest is MISSING and not any(isinstance(v, Choice) for v in value.cells.values())
    if isinstance(value, tuple):
        return depth == 0 or all(is_sure(v, depth - 1) for v in value)
    if isinstance(value, slice):
        return is_sure((value.start, value.stop, value.step), depth)
    return True


def refuse(
    run: Interpreter, message: str, hint: str | None, error: str = "TypeError", code: str = "tensor-class"
) -> Unknown:
    """What Python or torch raises: a finding, or an exception where somebody may catch it.

    Raises:
        Raised: somebody may catch it.
    """
    raised = Raised(error, None, tuple(c.__name__ for c in getattr(builtins, error).__mro__[1:-1]))
    if is_caught(run, raised):
        run.blame(raised, code, message, hint)
        raise raised
    run.find(code, message, hint)
    return run.unknown("an error was found here")
