"""``tqdm``: an iterable that is as the one it shows the progress of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import items
from simpletorch.follow.libraries import ALIASES, library_class, native
from simpletorch.follow.values import Class, Instance, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

for _module in ("auto", "notebook", "asyncio", "autonotebook", "rich", "std"):
    ALIASES[f"tqdm.{_module}"] = "tqdm"


def _make(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    made = Instance(cls)
    made.cells["iterable"] = run.resolve(args[0] if args else kwargs.get("iterable"))
    return made


def _itself(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return args[0]


def _nothing(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return None


def _length(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return run.call(run.program.builtin(run, "len"), (args[0].cells["iterable"],))


_SHOWN: Final = (
    "set_postfix", "set_postfix_str", "set_description", "set_description_str", "update", "close", "refresh", "reset",
    "clear", "display", "unpause", "write",
)  # fmt: skip
_METHODS: Final[dict[str, Any]] = {
    "__iter__": lambda run, args, kwargs: args[0].cells["iterable"],
    "__len__": _length,
    "__getitem__": lambda run, args, kwargs: items.get(run, args[0].cells["iterable"], args[1]),
    "__enter__": _itself,
    "__exit__": _nothing,
    **dict.fromkeys(_SHOWN, _nothing),
}
library_class("tqdm.tqdm", make=_make, methods=_METHODS)


@native("tqdm.trange")
def _range(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    numbers = run.call(run.program.builtin(run, "range"), args)
    return run.call(run.program.library_class("tqdm.tqdm"), (numbers,))
