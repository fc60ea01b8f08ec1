"""``tqdm``: an iterable that is as the one it shows the progress of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import items
from simpletorch.follow.libraries import ALIASES, library_class, native
from simpletorch.follow.values import Instance, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

for _module in ("auto", "notebook", "asyncio", "autonotebook", "rich", "std"):
    ALIASES[f"tqdm.{_module}"] = "tqdm"


def _init(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    run.heap.write(args[0].cells, "iterable", run.resolve(args[1] if args[1:] else kwargs.get("iterable")))
    return None


def _iterable(run: Interpreter, bar: Instance) -> Value:
    """The iterable; unknown where a subclass doesn't say it."""
    return bar.cells["iterable"] if "iterable" in bar.cells else run.unknown("what a progress bar goes over")


def _itself(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return args[0]


def _nothing(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return None


def _length(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return run.call(run.program.builtin(run, "len"), (_iterable(run, args[0]),))


_SHOWN: Final = (
    "set_postfix", "set_postfix_str", "set_description", "set_description_str", "update", "close", "refresh", "reset",
    "clear", "display", "unpause", "write",
)  # fmt: skip
_METHODS: Final[dict[str, Any]] = {
    "__init__": _init,
    "__iter__": lambda run, args, kwargs: _iterable(run, args[0]),
    "__len__": _length,
    "__getitem__": lambda run, args, kwargs: items.get(run, _iterable(run, args[0]), args[1]),
    "__enter__": _itself,
    "__exit__": _nothing,
    **dict.fromkeys(_SHOWN, _nothing),
}
library_class("tqdm.tqdm", methods=_METHODS)


@native("tqdm.trange")
def _range(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    numbers = run.call(run.program.builtin(run, "range"), args)
    return run.call(run.program.library_class("tqdm.tqdm"), (numbers,))
