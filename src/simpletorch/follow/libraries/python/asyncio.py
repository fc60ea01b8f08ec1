"""``asyncio``: a coroutine stands for its task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simpletorch.follow import guards
from simpletorch.follow.libraries import model, native
from simpletorch.follow.model import coroutines, kinds
from simpletorch.follow.values import List, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter


@native("asyncio.create_task", "asyncio.ensure_future", "asyncio.shield")
def _task(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return args[0] if args else next((kwargs[n] for n in ("main", "coro", "fut", "arg") if n in kwargs), None)


@native("asyncio.run")
def _result(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return coroutines.result(run, _task(run, args, kwargs))


@model("asyncio.wait_for")
def _wait_for(run: Interpreter, fut: Value, timeout: Value) -> Value:
    guards.may_raise(run, (kinds.error("TimeoutError"),))
    return fut


@model("asyncio.gather")
def _gather(run: Interpreter, *coros_or_futures: Value, return_exceptions: Value = False) -> Value:
    return coroutines.made(run, List(tuple(coroutines.result(run, c) for c in coros_or_futures)))


@native("asyncio.to_thread")
def _to_thread(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return coroutines.made(run, run.call(args[0], args[1:], kwargs))


@model("asyncio.sleep")
def _sleep(run: Interpreter, delay: Value, result: Value = None) -> Value:
    return coroutines.made(run, result)
