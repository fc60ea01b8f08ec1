"""``torch``'s gradients: the modes in which they are recorded, ``backward``, and the flags of tensors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from simpletorch.follow import calls, guards, iteration, tensors
from simpletorch.follow.libraries import ALIASES, by_name, library_class, method, native
from simpletorch.follow.marks import gradients
from simpletorch.follow.mistakes import events
from simpletorch.follow.values import (
    HISTORY,
    MISSING,
    Class,
    Function,
    Instance,
    List,
    Method,
    Native,
    Tensor,
    Value,
    as_tuple,
)
from simpletorch.rules import Report, infer

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

ALIASES.update(
    {
        "torch.autograd.grad_mode": "torch",
        **{f"torch.autograd.{n}": f"torch.{n}" for n in ("no_grad", "enable_grad", "inference_mode")},
        "torch.autograd.set_grad_enabled": "torch.set_grad_enabled",
        "torch._set_grad_enabled": "torch.set_grad_enabled",
    }
)


# -- modes -----------------------------------------------------------------------------------------------------------


_BEFORE: Final = "(before)"


def _make(fixed: bool | None) -> Callable[..., Value]:
    """What ``no_grad()`` and its like make. As a decorator without parentheses they get the function at once."""

    def make(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        given = run.resolve(args[0] if args else next(iter(kwargs.values()), True))
        if isinstance(given, Function | Method | Class | Native):
            return _decorated(run, Instance(cls, (fixed is True,)), given)
        if fixed is not None:
            return Instance(cls, (fixed,))
        return Instance(cls, (not given if isinstance(given, bool) else None,))  # inference_mode

    return make


def _make_setter(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``set_grad_enabled(mode)`` counts at once; as a manager, until its end."""
    given = run.resolve(args[0] if args else next(iter(kwargs.values()), None))
    made = Instance(cls, (given if isinstance(given, bool) else None,))
    run.heap.write(made.cells, _BEFORE, run.modes[gradients.MODE])
    _set(run, made)
    return made


def _set(run: Interpreter, me: Instance) -> None:
    mode = me.native[0]
    run.heap.write(run.modes, gradients.MODE, run.unknown("a mode", "bool") if mode is None else mode)


def _enter(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    run.heap.write(args[0].cells, _BEFORE, run.modes[gradients.MODE])
    _set(run, args[0])
    return args[0]


def _stay(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return args[0]


def _leave(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    before = args[0].cells.get(_BEFORE, MISSING)
    run.heap.write(run.modes, gradients.MODE, run.unknown("a mode", "bool") if before is MISSING else before)
    return None


def _decorate(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    return _decorated(run, args[0], run.resolve(args[1]))


def _decorate_later(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    _leave(run, args, kwargs)
    return _decorate(run, args, kwargs)


def _decorated(run: Interpreter, me: Instance, function: Value) -> Value:
    mode = me.native[0]
    if isinstance(function, Function) and mode is not None:
        return replace(function, grad=mode)
    if isinstance(function, Class):
        return function

    def work(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        with run.heap.instead(run.modes, gradients.MODE, run.unknown("a mode", "bool") if mode is None else mode):
            return run.call(function, args, kwargs)

    return Native(getattr(function, "name", "a function without gradients"), work)


for _name, _mode in (("no_grad", False), ("enable_grad", True), ("inference_mode", None)):
    library_class(
        f"torch.{_name}",
        make=_make(_mode),
        methods={"__enter__": _enter, "__exit__": _leave, "__call__": _decorate},
    )
library_class(
    "torch.set_grad_enabled",
    make=_make_setter,
    methods={"__enter__": _stay, "__exit__": _leave, "__call__": _decorate_later},
)


# -- backward and flags ----------------------------------------------------------------------------------------------


@method(Tensor, "backward")
def _backward(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    run.updates += 1
    names = "input gradient retain_graph create_graph inputs"
    given = by_name(names, args, kwargs)
    strange = [name for name in kwargs if name not in names.split()[1:]]
    if strange:
        hint = "retain_graph=True" if strange == ["retain_variables"] else None
        return guards.refuse(run, f"backward has no argument {', '.join(strange)}", hint)
    _differentiate(run, given.get("gradient"), given, "Tensor.backward")
    return None


@native("torch.autograd.backward")
def _backward_of(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    run.updates += 1
    given = by_name("tensors grad_tensors retain_graph create_graph grad_variables inputs", args, kwargs)
    _differentiate(run, given.get("grad_tensors"), given, "torch.autograd.backward")
    return None


def _differentiate(run: Interpreter, gradient: Value, given: dict[str, Value], name: str) -> None:
    gradient, value = run.resolve(gradient), run.resolve(next(iter(given.values()), None))
    if (gradient is not None or not isinstance(value, Tensor)) and _is_refused(run, name, given):
        return
    if isinstance(value, Tensor):
        retain = run.resolve(given.get("retain_graph"))
        retain = run.resolve(given.get("create_graph", False)) if retain is None else retain
        gradients.backward(run, value, gradient, retain, given.get("inputs"))
        events.BACKWARD(run, value)


def _is_refused(run: Interpreter, name: str, given: dict[str, Value]) -> bool:
    """Whether gradients to start from, which the rule of this name looks at, don't suit what they are of."""
    named = {k: tensors.to_rule(run.resolve(v)) for k, v in given.items()}
    found = run.adapting(lambda: infer(name, (), named), tuple(given.values()))
    if isinstance(found, Report):
        run.report(found)
    return isinstance(found, Report)


@native("torch.autograd.grad")
def _grad(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    names = "outputs inputs grad_outputs retain_graph create_graph only_inputs allow_unused is_grads_batched"
    given = by_name(names, args, kwargs)
    _is_refused(run, "torch.autograd.grad", given)
    if given.get("is_grads_batched", False) is not False:
        return as_tuple(List(None, run.unknown("the gradients of a batch of gradients")))
    inputs = run.resolve(given.get("inputs"))
    rows = (inputs,) if isinstance(inputs, Tensor) else run.items(inputs)
    if rows is None:
        return as_tuple(List(None, iteration.item(run, inputs)))
    return tuple(
        Tensor(replace(v.type, is_parameter=False)) if isinstance(v, Tensor) else run.unknown("a gradient")
        for v in map(run.resolve, rows)
    )


@method(Tensor, "retain_grad", "register_hook", "register_post_accumulate_grad_hook")
def _nothing_of_it(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    run.updates += 1
    calls.escape(run, (*args[1:], *kwargs.values()))  # a backward calls the hook
    run.heap.write(args[0].cells, gradients.HAS_GRAD, True)
    return None


@method(Tensor, "requires_grad_")
def _requires_grad(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    gradients.freeze(run, args[0], args[1] if len(args) > 1 else kwargs.get("requires_grad", True))
    return args[0]


@method(Tensor, "detach_")
def _detach(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    run.heap.write(args[0].cells, HISTORY, gradients.PLAIN if args[0].base is None else MISSING)
    return args[0]
