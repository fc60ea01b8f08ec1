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
    bar, *given = args
    if isinstance(bar, Instance):
        run.heap.write(bar.cells, "iterable", run.resolve(given[0] if given else kwargs.get("iterable")))
    return None


def _shown(run: Interpreter, bar: Value) -> Value:
    """The iterable of a bar; a subclass may have made its bar without saying so."""
    unknown = run.unknown("what a progress bar shows")
    return bar.cells.get("iterable", unknown) if isinstance(bar, Instance) else unknown


def _itself(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return args[0]


def _nothing(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return None


def _length(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return run.call(run.program.builtin(run, "len"), (_shown(run, args[0]),))


_SHOWN: Final = (
    "set_postfix", "set_postfix_str", "set_description", "set_description_str", "update", "close", "refresh", "reset",
    "clear", "display", "unpause", "write",
)  # fmt: skip
_METHODS: Final[dict[str, Any]] = {
    "__init__": _init,
    "__iter__": lambda run, args, kwargs: _shown(run, args[0]),
    "__len__": _length,
    "__getitem__": lambda run, args, kwargs: items.get(run, _shown(run, args[0]), args[1]),
    "__enter__": _itself,
    "__exit__": _nothing,
    **dict.fromkeys(_SHOWN, _nothing),
}
library_class("tqdm.tqdm", methods=_METHODS, unknown="a progress bar")


@native("prefetch_generator.BackgroundGenerator")
def _ahead(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """An iterator that is asked ahead of time gives the same."""
    return run.call(run.program.builtin(run, "iter"), (args[0] if args else kwargs["generator"],))


@native("tqdm.trange")
def _range(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    numbers = run.call(run.program.builtin(run, "range"), args)
    return run.call(run.program.library_class("tqdm.tqdm"), (numbers,))
