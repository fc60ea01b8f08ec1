"""``unittest.mock.patch``: while it lasts, an attribute of a class, an object or a module is another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, final

from simpletorch.follow import attributes
from simpletorch.follow.heap import MISSING
from simpletorch.follow.libraries import by_name, library_class, native
from simpletorch.follow.values import Class, Instance, Namespace, Unknown, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

_PATCH: Final = "unittest.mock._patch"
_PARAMETERS: Final = "target attribute new"
_DOES_MORE: Final = frozenset({"side_effect", "wraps", "new_callable"})  # than to be called


@final
class _Patch:
    """What is put where; and, once it is, what was there: tables, names in them and what they held."""

    __slots__ = ("before", "name", "new", "target")

    def __init__(self, target: Value, name: str, new: Value) -> None:
        self.target, self.name, self.new = target, name, new
        self.before: list[tuple[dict[Any, Any], str, Value]] = []


@native("unittest.mock.patch.object")
def _patch_object(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = by_name(_PARAMETERS, args, kwargs)
    return _made(run, run.resolve(given.get("target")), run.resolve(given.get("attribute")), given, kwargs)


@native("unittest.mock.patch")
def _patch(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    given = by_name("target new", args, kwargs)
    target = run.resolve(given.get("target"))
    if type(target) is not str:
        return run.unknown("what mock.patch puts somewhere")
    owner, _, name = target.rpartition(".")
    return _made(run, _imported(run, owner), name, given, kwargs)


def _made(run: Interpreter, target: Value, name: Value, given: dict[str, Value], kwargs: dict[str, Value]) -> Value:
    if type(name) is not str or not isinstance(target, Class | Instance | Namespace):
        return run.unknown("what mock.patch puts somewhere")
    new = given.get("new", MISSING)
    if new is MISSING:
        new = Unknown("a mock", harmless=_DOES_MORE.isdisjoint(kwargs))
    return Instance(run.program.library_class(_PATCH), _Patch(target, name, new))


def _imported(run: Interpreter, name: str) -> Value:
    """What a dotted name leads to, of a library or the program; MISSING where that isn't known."""
    if not name:
        return MISSING
    found = run.program.library(run, name)
    if found is MISSING:
        found = run.program.modules.get(name) or run.program.load(run, name) or MISSING
    if found is not MISSING:
        return found
    owner, _, last = name.rpartition(".")
    around = _imported(run, owner)
    return MISSING if around is MISSING else attributes.find(run, around, last)


def _start(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    patch = args[0].native
    target, name = patch.target, patch.name
    patch.before = [(target.cells, name, target.cells.get(name, MISSING))]
    if isinstance(target, Instance):  # of a layer it is noted that it isn't as it was made
        patch.before += [(target.state, key, target.state.get(key, MISSING)) for key in ("changed", "open")]
    run.set_attribute(target, name, patch.new)
    return patch.new


def _stop(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    run.remembered.clear()  # what a class holds isn't noted call by call
    for cells, name, value in args[0].native.before:
        run.heap.write(cells, name, value)
    return None


def _decorate(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return run.unknown("what mock.patch makes of a function")


library_class(
    _PATCH,
    methods={"__enter__": _start, "__exit__": _stop, "start": _start, "stop": _stop, "__call__": _decorate},
)
