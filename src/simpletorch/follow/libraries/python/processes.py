"""``multiprocessing`` and ``concurrent.futures``: what other processes and threads compute is what this one would."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import iteration
from simpletorch.follow.libraries import ALIASES, by_name, gives, library_class, model, native
from simpletorch.follow.numbers import processes
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.values import Dict, Instance, List, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

ALIASES.update(
    {
        "multiprocessing.pool": "multiprocessing",
        "multiprocessing.ThreadPool": "multiprocessing.Pool",
        "multiprocessing.process": "multiprocessing",
        "torch.multiprocessing": "multiprocessing",
        "torch.multiprocessing.spawn": "torch.multiprocessing.spawn",
        "torch.multiprocessing.start_processes": "torch.multiprocessing.spawn",
    }
)
gives("multiprocessing.cpu_count", "int")
gives("multiprocessing.current_process multiprocessing.parent_process multiprocessing.active_children")


@native("multiprocessing.set_start_method", "multiprocessing.freeze_support", "multiprocessing.set_sharing_strategy")
def _nothing(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return None


def _itself(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return args[0]


def _map_side_by_side(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return run.call(run.program.builtin(run, "map"), args[1:])


def _submit(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    made = Instance(run.program.library_class("concurrent.futures.Future"))
    made.cells["value"] = run.call(args[1], args[2:], kwargs)
    return made


def _initialise(order: str, run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """A pool calls its ``initializer`` where it works, before anything else."""
    given = by_name(order, args[1:], kwargs)
    function, more = run.resolve(given.get("initializer")), run.items(given.get("initargs", ()))
    if function is not None and more is not None:
        run.call(function, more)
    elif function is not None:
        run.call_in_the_dark(function, (), {})
    return None


_MANAGED: Final[dict[str, Any]] = {
    "__enter__": _itself,
    "__exit__": _nothing,
    **dict.fromkeys(("close", "join", "terminate", "shutdown"), _nothing),
}
library_class(
    "multiprocessing.Pool",
    methods={
        **_MANAGED,
        "__init__": partial(_initialise, "processes initializer initargs"),
    },
)


@model("multiprocessing.Pool.map")
def _map(run: Interpreter, self: Instance, func: Value, iterable: Value, chunksize: Value = None) -> Value:
    rows = iteration.common_length(run, (iterable,))
    if rows is None:
        return List(None, run.call(func, (iteration.item(run, iterable),)))
    return List(tuple(run.call(func, row) for row in rows))


@model("multiprocessing.Pool.imap")
def _imap(run: Interpreter, self: Instance, func: Value, iterable: Value, chunksize: Value = 1) -> Value:
    return run.call(run.program.builtin(run, "map"), (func, iterable))


@model("multiprocessing.Pool.starmap")
def _starmap(run: Interpreter, self: Instance, func: Value, iterable: Value, chunksize: Value = None) -> Value:
    found = run.items(iterable)
    rows = [run.items(v) for v in found or ()]
    if found is None or any(r is None for r in rows):
        return List(None, run.call_in_the_dark(func, (), {}))
    return List(tuple(run.call(func, r) for r in rows if r is not None))


for _name in ("ThreadPoolExecutor", "ProcessPoolExecutor"):
    _init = partial(_initialise, "max_workers _ initializer initargs")
    _methods = {**_MANAGED, "__init__": _init, "map": _map_side_by_side, "submit": _submit}
    library_class(f"concurrent.futures.{_name}", methods=_methods)
library_class(
    "concurrent.futures.Future",
    methods={"result": lambda run, args, kwargs: args[0].cells["value"], "done": lambda run, args, kwargs: True},
)


# -- processes ---------------------------------------------------------------------------------------------------------


@native("torch.multiprocessing.spawn")
def _spawn(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``mp.spawn(work, (world_size,), nprocs=world_size)``: the function is followed once, for any of the ranks."""
    given = by_name("fn args nprocs join daemon start_method", args, kwargs)
    count, more = run.resolve(given.get("nprocs", 1)), run.items(given.get("args", ()))
    if more is None:
        run.call_in_the_dark(given.get("fn"), (), {})
        return None
    most = count - 1 if isinstance(count, int) else None
    number = 0 if most == 0 else run.some_size(0, most)
    with processes.as_process(run, number):
        run.call(given.get("fn"), (number, *more))
    return None


def _init_process(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    for name, value in by_name("group target name args kwargs", args[1:], kwargs).items():
        run.heap.write(args[0].state, name, value)
    return None


def _start(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """What a process does, it does to copies of its own; that it fails is seen by nobody but who looks."""
    with processes.as_process(run, None), suppress(Raised):
        run.call(run.attribute(args[0], "run"), ())
    return None


def _run_process(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    state = args[0].state
    target, more, named = run.resolve(state.get("target")), state.get("args", ()), run.resolve(state.get("kwargs"))
    if target is None:
        return None
    found = run.items(more)
    if found is None or (named is not None and not isinstance(named, Dict)):
        return run.call_in_the_dark(target, (), {})
    return run.call(target, found, dict(named.cells) if named is not None else {})


library_class(
    "multiprocessing.Process",
    methods={
        "__init__": _init_process,
        "start": _start,
        "run": _run_process,
        "is_alive": lambda run, args, kwargs: run.unknown("whether a process runs", "bool", "data"),
        **dict.fromkeys(("join", "terminate", "kill", "close"), _nothing),
    },
)
