"""``contextlib``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simpletorch.follow import branches, guards
from simpletorch.follow.libraries import library_class, model
from simpletorch.follow.marks import gradients
from simpletorch.follow.model import generators, iterators, kinds, metaclasses
from simpletorch.follow.model.scopes import Scope
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.values import Class, Function, Instance, Iterator, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

_STEPS: Final = "(steps)"  # the generator of a manager that is entered by a call


def _enter(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``__enter__`` of a generator's manager: the value that it yields; that of another class gives the manager.

    Raises:
        Raised: the generator raises it, or yields nothing.
    """
    manager = args[0]
    if not isinstance(manager.native, tuple):
        return manager
    function, scope = manager.native
    steps = iterators.lazily(generators.Steps(run, function, scope, lambda: None))
    run.heap.write(manager.cells, _STEPS, steps)
    return _given(run, manager, generators.ask(run, steps, None))


def _given(run: Interpreter, manager: Instance, found: Value) -> Value:
    if found is iterators.END:
        raise kinds.error("RuntimeError")
    return _unfollowed(run, manager) if found is iterators.UNSURE else found


def _unfollowed(run: Interpreter, manager: Value) -> Value:
    """A manager did something that isn't followed."""
    guards.may_raise(run, guards.ANY)
    inner = manager.native if isinstance(manager, Instance) and isinstance(manager.native, tuple) else ()
    run.escape((manager, *(v for part in inner for v in (part.cells.values() if isinstance(part, Scope) else (part,)))))
    return run.unknown("what a context manager gives")


def _leave(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``__exit__`` of a generator's manager: whether it drops the exception.

    Raises:
        Raised: the generator raises it, or yields once more.
    """
    manager, value = args[0], run.resolve(args[2]) if len(args) > 2 else None
    steps = manager.cells.get(_STEPS)
    if not isinstance(manager.native, tuple):
        return None
    is_of_class = value is None and len(args) > 1 and run.resolve(args[1]) is not None  # it makes the exception itself
    if not isinstance(steps, Iterator) or is_of_class or (value is not None and not run.handled):
        return _unfollowed(run, manager)
    thrown = None if value is None else run.handled[-1]
    try:
        found = generators.ask(run, steps, None, thrown)
    except Raised as error:
        if error is thrown or (thrown is not None and generators.is_of_stop(error, thrown)):
            return False
        raise
    if found is iterators.UNSURE:
        return _unfollowed(run, manager)
    if found is not iterators.END:
        raise kinds.error("RuntimeError")
    return thrown is not None


def _settle(run: Interpreter, cls: Class) -> None:
    """A class of managers is abstract until it has an ``__exit__`` of its own."""
    found = cls.find("__exit__")
    if found is not None and found[1].qualified == _ABSTRACT:
        cls.metadata[metaclasses.ABSTRACT] = cls.unknown_base is None


_ABSTRACT: Final = "contextlib.AbstractContextManager"
_METHODS: Final = {"__enter__": _enter, "__exit__": _leave}
library_class(_ABSTRACT, methods=_METHODS, subclassed=_settle, abc=True, abstract=True)
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


def _close(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    run.call(run.attribute(args[0].native[0], "close"), ())
    return None


for _name in ("nullcontext", "closing", "redirect_stdout", "redirect_stderr", "aclosing"):
    _methods = {"__enter__": _entering, **({"__exit__": _close} if _name == "closing" else {})}
    library_class(f"contextlib.{_name}", make=_make_holder, methods=_methods)


_BEFORE: Final = "(before)"  # the mode of gradients, which a manager on the stack may change


def _enter_stack(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    run.heap.write(args[0].cells, _BEFORE, run.modes[gradients.MODE])
    return args[0]


_EXITS: Final = "(exits)"  # what a stack calls when it is left, the last one first


def _leave_stack(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """Call what is on the stack: whether it drops the exception."""
    stack, raised = args[0], (*args[1:], None, None, None)[:3]
    dropped: Value = False
    failed: Raised | None = None
    waiting = stack.cells.get(_EXITS, ())
    run.heap.write(stack.cells, _EXITS, ())
    for function, given, by_name in reversed(waiting if isinstance(waiting, tuple) else ()):
        try:
            answer = run.call(function, raised if given is None else given, by_name)
        except Raised as error:
            failed, raised = error, (run.unknown("the class of an exception"), run.unknown("an exception"), None)
            continue
        drops = False if given is not None else branches.truth(run, answer)
        if drops is True:
            failed, raised, dropped = None, (None, None, None), True
        elif drops is not False and run.resolve(raised[0]) is not None:
            raised, dropped = (
                (run.unknown("what is raised"), run.unknown("what is raised"), None),
                run.unknown("whether an exception is dropped", "bool"),
            )
    before = stack.cells.get(_BEFORE)
    run.heap.write(run.modes, gradients.MODE, run.unknown("a mode", "bool") if before is None else before)
    if failed is not None:
        raise failed
    if not isinstance(waiting, tuple) and run.resolve(args[1] if len(args) > 1 else None) is not None:
        return run.unknown("whether an exception is dropped", "bool")
    return dropped


def _waits(run: Interpreter, stack: Instance, function: Value, given: Value, by_name: dict[str, Value]) -> None:
    waiting = stack.cells.get(_EXITS, ())
    if isinstance(waiting, tuple):
        run.heap.write(stack.cells, _EXITS, (*waiting, (function, given, by_name)))


def _enter_context(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    stack, manager = args[0], run.resolve(args[1])
    if isinstance(manager, Instance) and (enter := run.special(manager, "__enter__")) is not None:
        value = run.call(enter, ())
        _push(run, (stack, manager), {})
        return value
    kinds.need(run, manager, "__exit__")
    kinds.need(run, manager, "__enter__")
    run.heap.write(stack.cells, _EXITS, run.unknown("what a stack of managers calls"))
    return _unfollowed(run, manager)


def _push(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    stack, leaving = args[0], run.resolve(args[1])
    leave = run.special(leaving, "__exit__") if isinstance(leaving, Instance) else leaving
    if leave is not None:
        _waits(run, stack, leave, None, {})
    return leaving


def _callback(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    _waits(run, args[0], args[1], args[2:], kwargs)
    return args[1]


def _pop_all(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    made = Instance(args[0].cls)
    made.cells[_EXITS] = args[0].cells.get(_EXITS, ())
    run.heap.write(args[0].cells, _EXITS, ())
    return made


library_class("contextlib.suppress", make=lambda run, cls, args, kwargs: Instance(cls, (args,)))
library_class(
    "contextlib.ExitStack",
    methods={
        "__enter__": _enter_stack,
        "__exit__": _leave_stack,
        "enter_context": _enter_context,
        "push": _push,
        "callback": _callback,
        "close": lambda run, args, kwargs: _leave_stack(run, args[:1], {}) and None,
        "pop_all": _pop_all,
    },
)
