"""``contextlib``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simpletorch.follow.libraries import library_class, model
from simpletorch.follow.marks import gradients
from simpletorch.follow.values import Class, Function, Instance, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

library_class("contextlib.AbstractContextManager")
library_class("contextlib.ContextDecorator")


@model("contextlib.contextmanager", "contextlib.asynccontextmanager")
def _context_manager(run: Interpreter, func: Value) -> Value:
    if not isinstance(func, Function):
        return run.unknown("a context manager")
    func.context_manager = True
    return func


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


_BEFORE: Final = "(before)"  # the mode of gradients, which a manager on the stack may change


def _enter_stack(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    run.heap.write(args[0].cells, _BEFORE, run.modes[gradients.MODE])
    return args[0]


def _leave_stack(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    before = args[0].cells.get(_BEFORE)
    run.heap.write(run.modes, gradients.MODE, run.unknown("a mode", "bool") if before is None else before)
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
        "__enter__": _enter_stack,
        "__exit__": _leave_stack,
        "enter_context": _enter_context,
        "push": _itself,
        "callback": _nothing,
        "close": _leave_stack,
        "pop_all": _itself,
    },
)
