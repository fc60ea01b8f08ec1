"""``multiprocessing`` and ``concurrent.futures``: what other processes and threads compute is what this one would."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import iteration
from simpletorch.follow.libraries import ALIASES, gives, library_class, native
from simpletorch.follow.values import Instance, List, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

ALIASES.update({"multiprocessing.pool": "multiprocessing", "multiprocessing.ThreadPool": "multiprocessing.Pool"})
gives("multiprocessing.cpu_count", "int")
gives("multiprocessing.current_process multiprocessing.parent_process multiprocessing.active_children")


@native("multiprocessing.set_start_method", "multiprocessing.freeze_support", "multiprocessing.set_sharing_strategy")
def _nothing(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return None


def _itself(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return args[0]


def _map(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    _, function, *sources = args
    rows = iteration.common_length(run, tuple(sources[:1]))
    if rows is None:
        return List(None, run.call(function, (iteration.item(run, sources[0]),)))
    return List(tuple(run.call(function, row) for row in rows))


def _map_side_by_side(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return run.call(run.program.builtin(run, "map"), args[1:])


def _starmap(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    found = run.items(args[2])
    rows = [run.items(v) for v in found or ()]
    if found is None or any(r is None for r in rows):
        return List(None, run.call_in_the_dark(args[1], (), {}))
    return List(tuple(run.call(args[1], r) for r in rows if r is not None))


def _submit(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    made = Instance(run.program.library_class("concurrent.futures.Future"))
    made.cells["value"] = run.call(args[1], args[2:], kwargs)
    return made


_MANAGED: Final[dict[str, Any]] = {
    "__enter__": _itself,
    "__exit__": _nothing,
    **dict.fromkeys(("close", "join", "terminate", "shutdown"), _nothing),
}
library_class(
    "multiprocessing.Pool",
    methods={**_MANAGED, **dict.fromkeys(("map", "imap"), _map), "starmap": _starmap},
)
for _name in ("ThreadPoolExecutor", "ProcessPoolExecutor"):
    library_class(f"concurrent.futures.{_name}", methods={**_MANAGED, "map": _map_side_by_side, "submit": _submit})
library_class(
    "concurrent.futures.Future",
    methods={"result": lambda run, args, kwargs: args[0].cells["value"], "done": lambda run, args, kwargs: True},
)
