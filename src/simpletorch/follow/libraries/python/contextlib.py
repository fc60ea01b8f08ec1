"""``contextlib``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simpletorch.follow.libraries import library_class, native
from simpletorch.follow.values import Class, Function, Instance, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

library_class("contextlib.AbstractContextManager")
library_class("contextlib.ContextDecorator")


@native("contextlib.contextmanager", "contextlib.asynccontextmanager")
def _context_manager(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    function = run.resolve(args[0])
    if not isinstance(function, Function):
        return run.unknown("a context manager")
    function.context_manager = True
    return function


def _entering(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return args[0].native[0]


def _make_holder(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """A manager that gives what it was made with."""
    value = args[0] if args else kwargs.get("enter_result", kwargs.get("thing"))
    return Instance(cls, (run.resolve(value), None))


for _name in ("nullcontext", "closing", "redirect_stdout", "redirect_stderr", "aclosing"):
    library_class(f"contextlib.{_name}", make=_make_holder, methods={"__enter__": _entering})


def _itself(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return args[0]


def _nothing(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return None


def _enter_context(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    manager = run.resolve(args[1])
    if isinstance(manager, Instance) and manager.cls.find("__enter__") is not None:
        return run.call(run.attribute(manager, "__enter__"), ())
    return run.unknown("what a context manager gives")


library_class("contextlib.suppress", make=lambda run, cls, args, kwargs: Instance(cls, (args,)))
library_class(
    "contextlib.ExitStack",
    methods={
        "__enter__": _itself,
        "enter_context": _enter_context,
        "push": _itself,
        "callback": _nothing,
        "close": _nothing,
        "pop_all": _itself,
    },
)
