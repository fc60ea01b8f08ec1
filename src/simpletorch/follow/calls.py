"""Calls: of the program's functions, of classes, of what the follower computes itself, and of what nobody knows."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import branches, classes, files, guards, items, layers
from simpletorch.follow.annotations import hold_arguments, hold_result, stated_devices
from simpletorch.follow.heap import Cells
from simpletorch.follow.libraries import CLASSES, METHODS, Model
from simpletorch.follow.marks import gradients
from simpletorch.follow.memory import closures, recursion, remembered
from simpletorch.follow.mistakes import events
from simpletorch.follow.model import coroutines, hidden, iterators, kinds, members, names, unmodelled
from simpletorch.follow.model.scopes import Scope
from simpletorch.follow.model.training import promised
from simpletorch.follow.numbers import sizes
from simpletorch.follow.outcomes import Raised
from simpletorch.follow.values import (
    MISSING,
    BoundNative,
    Choice,
    Class,
    Dict,
    Function,
    Instance,
    Iterator,
    List,
    Method,
    Native,
    Set,
    StaticMethod,
    Tensor,
    Unknown,
    Value,
    behind,
    is_known,
    type_of,
)
from simpletorch.rules.core.dtype import DType

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["call", "escape", "in_the_dark", "wait"]

_TYPE_ERROR: Final = ("Exception", "BaseException")
_TOO_DEEP: Final = (Raised("RecursionError", None, ("RuntimeError", *_TYPE_ERROR)),)


def call(run: Interpreter, function: Value, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``function(*args, **kwargs)``."""
    kind = type(function)
    if kind is Choice:
        function = run.resolve(function)
        kind = type(function)
    if run.heap.recorders:
        noted = function.receiver if kind is Method or kind is BoundNative else function
        if type(noted) in remembered.MUTABLE:
            recorder, cells = run.heap.recorders[-1], noted.cells
            if (type(cells) is not Cells or cells.born <= recorder.start) and id(cells) not in recorder.met:
                recorder.note(noted)
    if kind is BoundNative:
        return _method(run, function.name, function.receiver, args, kwargs)
    if kind is Instance:
        return _instance(run, function, args, kwargs)
    if kind is Method:
        return call(run, function.function, (function.receiver, *args), kwargs)
    if kind is Function:
        return _function(run, function, args, kwargs)
    if kind is Native:
        return _native(run, function.name, function.work, args, kwargs)
    match function:
        case Class():
            return classes.instantiate(run, function, args, kwargs)
        case StaticMethod(function=inner):
            return call(run, inner, args, kwargs)
        case DType() if args:  # ``np.float32(x)``
            return call(run, run.program.library(run, "numpy.asarray"), args, {"dtype": function})
        case Choice():
            return branches.distribute(run, function, lambda v: call(run, v, args, kwargs))
    if run.promises:
        events.UNKNOWN(run, function)
    if (refused := events.UNCALLABLE(run, function, args, kwargs)) is not None:
        return refused
    if isinstance(function, Tensor | Iterator):
        raise Raised("TypeError", None, _TYPE_ERROR)
    kinds.need(run, function, "__call__")
    return in_the_dark(run, function, args, kwargs)


_OPERANDS: Final = (
    *("input", "tensor", "tensors", "a", "object", "arr", "condition", "other", "mat2", "b"),
    *("split_size_or_sections", "mask", "source", "size", "chunks", "destination"),
)
"""How torch and NumPy call the first arguments of their functions, in the order in which they stand."""


def _native(
    run: Interpreter, name: str, work: Callable[..., Value], args: tuple[Value, ...], kwargs: dict[str, Value]
) -> Value:
    """What the follower computes itself. A call that its model doesn't foresee gives what isn't known."""
    if run.promises:
        events.CALL(run, name, args, kwargs)
    if args and type(args[0]) is Instance and members.is_bare(args[0]) and name.endswith(".__init__"):
        members.begun(run, args[0])
    try:
        made = work(run, args, kwargs) if not run.takers else unmodelled.watched(run, name, work, args, kwargs)
        if type(made) is Tensor or type(made) is tuple:
            sizes.name_new(run, (*args, *kwargs.values()), made)
        return made
    except (IndexError, KeyError, TypeError, AttributeError, ValueError, AssertionError) as error:
        if type(work) is Model and (refused := _misfit(run, work, args, kwargs)) is not None:
            return refused
        if isinstance(error, IndexError) and not args and not kwargs:  # it needs an argument: ``Counter.__init__()``
            raise Raised("TypeError", None, _TYPE_ERROR) from None
        named = [name for name in _OPERANDS if name in kwargs]
        if named and type(work) is not Model:  # they may be given by name, which few models look for
            rest = {k: v for k, v in kwargs.items() if k not in named}
            return _native(run, name, work, (*args, *(kwargs[k] for k in named)), rest)
        of_class = args and isinstance(args[0], Unknown) and name.rpartition(".")[0] in CLASSES
        if not of_class:  # ``DataFrame.copy(x)``: its object may be one of another class
            run.fault(error)
        escape(run, (*args, *kwargs.values()))
        return run.unknown(f"what {name} gives for such arguments")


def _misfit(run: Interpreter, model: Model, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """The answer to a call that a model doesn't take; None of one that it takes.

    Raises:
        Raised: the library surely doesn't take it, and it isn't seen where the arguments come from.
    """
    binder = model.binder
    if binder.misfit(len(args), kwargs) is None:
        return None
    if binder.double_star is not None:  # the library may take it
        escape(run, (*args, *kwargs.values()))
        return run.unknown(f"what {model.name} gives for such arguments")
    refused = events.MODEL_MISFIT(run, model, args, kwargs)
    if refused is None:
        raise Raised("TypeError", None, _TYPE_ERROR)
    return refused


def _instance(run: Interpreter, function: Instance, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    found = function.cls.find("__call__")
    if found is not None and type(found[0]) is Instance:
        _need_an_end(function.cls, found[0])
        return call(run, run.special(function, "__call__"), args, kwargs)
    if found is not None:
        return call(run, Method(found[0], function), args, kwargs)
    if layers.is_module(function):
        return layers.call(run, function, args, kwargs)
    kinds.need(run, function, "__call__")
    return in_the_dark(run, function, args, kwargs)


def _need_an_end(cls: Class, inner: Value) -> None:
    """``A.__call__ = A()``: an object that is called through another of its class is called without end.

    Raises:
        Raised: it is so.
    """
    met = {cls}
    while isinstance(inner, Instance) and (found := inner.cls.find("__call__")) is not None:
        if inner.cls in met:
            raise kinds.error("RecursionError")
        met.add(inner.cls)
        inner = found[0]


_COLLECTIONS: Final = (List, Dict, Set, tuple)


def _method(run: Interpreter, name: str, receiver: Value, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    if type(receiver) is Choice:
        receiver = run.resolve(receiver)
    if isinstance(receiver, Choice):
        return branches.distribute(run, receiver, lambda v: call(run, run.attribute(v, name), args, kwargs))
    if run.promises:
        events.METHOD(run, name, receiver)
    table = METHODS.get(type_of(receiver), {})
    work = table.get(name)
    if work is not None:
        if type(receiver) in _COLLECTIONS:
            kinds.check_method(receiver, name, len(args), kwargs)
        return _native(run, name, work, (receiver, *args), kwargs)
    if isinstance(receiver, Tensor) and not receiver.array:
        return run.ask(f"Tensor.{name}", (receiver, *args), kwargs)
    if type(receiver) is Iterator and name == "next" and not args and not kwargs:  # of a loader's, until torch 1.13
        guards.may_raise(run, guards.ANY)
        return call(run, run.program.builtin(run, "next"), (receiver,), {})
    if name == "backward" and branches.type_name(receiver) in ("int", "float"):
        gradients.need_number(run, receiver)
    guards.may_raise(run, guards.ANY)
    changed = (receiver,) if isinstance(receiver, List | Dict | Set | Iterator) else ()
    escape(run, (*changed, *args, *kwargs.values()))
    return run.unknown(f"what .{name}() gives")


# -- the program's functions -----------------------------------------------------------------------------------------


_REDEFINED: Final = frozenset({"__code__", "__defaults__", "__kwdefaults__"})
"""Attributes of a function that make it another one where they are set."""


def _function(run: Interpreter, function: Function, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    if not _REDEFINED.isdisjoint(function.attributes):
        return in_the_dark(run, run.unknown(f"{function.name}, which has other code"), (function, *args), kwargs)
    is_kept = function.answers is not None and all(map(is_known, (*args, *kwargs.values())))
    if run.too_deep or (not is_kept and recursion.enough(run, function, (*args, *kwargs.values()))):
        guards.may_raise(run, _TOO_DEEP)
        escape(run, (function, *args, *kwargs.values()))
        return run.unknown(f"{function.name} calls itself too often")
    if function.owner is not None:
        names.mangle(function.node, function.owner.name)
    scope = Scope(function.scope, function.scope.path)
    scope.function = function.name
    scope.owner = function.owner
    scope.locals = names.local_names(function.node)
    try:
        _bind(run, function, args, kwargs, scope.cells)
    except Raised:
        refused = events.MISFIT(run, function, args, kwargs)
        if refused is None:
            raise
        return refused
    is_held = bool(run.places and stated_devices(function.node)) and hold_arguments(run, function, scope.cells)
    if function.answers is not None:
        found = _cached(run, function, function.answers, scope, args, kwargs)
    else:
        found = _bound(run, function, scope, args)
    if is_held:
        hold_result(run, function, found)
    return found


def _cached(
    run: Interpreter,
    function: Function,
    answers: Dict,
    scope: Scope,
    args: tuple[Value, ...],
    kwargs: dict[str, Value],
) -> Value:
    """``functools.lru_cache``: equal arguments, the same answer."""
    key: Any = (tuple(map(run.resolve, args)), tuple((k, run.resolve(v)) for k, v in kwargs.items()))
    items.check_key(run, key)
    if not items.can_be_key(key):
        return _bound(run, function, scope, args)
    if len(args) == 1 and not kwargs:
        key = (type(key[0][0]), key)
    if run.heap.recorders:
        remembered.note(run.heap, answers)
    found = run.resolve(answers.cells.get(key, MISSING))
    is_full = function.most_answers is not None and len(answers.cells) >= function.most_answers
    if found is not MISSING and not isinstance(found, Choice):
        if is_full:  # the one that was asked for last is the last to go
            run.heap.write(answers.cells, key, MISSING)
            run.heap.write(answers.cells, key, found)
        return found
    found = _bound(run, function, scope, args)
    if function.most_answers is not None and len(answers.cells) >= function.most_answers:
        for oldest in list(answers.cells)[:1]:
            run.heap.write(answers.cells, oldest, MISSING)
    if function.most_answers != 0:
        run.heap.write(answers.cells, key, found)
    return found


def _bound(run: Interpreter, function: Function, scope: Scope, args: tuple[Value, ...]) -> Value:
    """A call whose arguments have their names."""
    scope.first = args[0] if args else MISSING
    if function.scripted:
        _convert(run, function, scope.cells)
    if function.grad is not None:
        with run.heap.instead(run.modes, gradients.MODE, function.grad):
            return _started(run, function, scope)
    return _started(run, function, scope)


def _started(run: Interpreter, function: Function, scope: Scope) -> Value:
    if function.pure:
        run.promises.append(promised(function, scope.cells))
        try:
            return _entered(run, function, scope)
        finally:
            run.promises.pop()
    return _entered(run, function, scope)


def _entered(run: Interpreter, function: Function, scope: Scope) -> Value:
    if classes.yields(function.node):
        return classes.generate(run, function, scope)
    found = run.enter(function, scope, lambda: body(run, function, scope))
    return coroutines.made(run, found) if isinstance(function.node, ast.AsyncFunctionDef) else found


def body(run: Interpreter, function: Function, scope: Scope) -> Value:
    """What the body of a function gives."""
    if isinstance(function.node, ast.Lambda):
        return run.evaluate(function.node.body, scope)
    return branches.finish(run, run.execute(function.node.body, scope))


def _bind(
    run: Interpreter, function: Function, args: tuple[Value, ...], kwargs: Mapping[str, Value], cells: dict[str, Any]
) -> None:
    """Arguments to parameters, as Python does it.

    Raises:
        Raised: they don't fit.
    """
    spec = function.node.args
    names = [a.arg for a in (*spec.posonlyargs, *spec.args)]
    cells.update(zip(names, args, strict=False))
    if hidden.STAR in kwargs and spec.vararg is not None:
        cells[spec.vararg.arg] = kwargs[hidden.STAR]
    elif len(args) > len(names):
        if spec.vararg is None:
            raise Raised("TypeError", None, _TYPE_ERROR)
        cells[spec.vararg.arg] = tuple(args[len(names) :])
    elif spec.vararg is not None:
        cells[spec.vararg.arg] = ()
    by_name = {*names[len(spec.posonlyargs) :], *(a.arg for a in spec.kwonlyargs)}
    more: dict[str, Value] = {}
    for name, value in kwargs.items():
        if name in (hidden.STAR, hidden.DOUBLE):
            continue
        if name not in by_name:
            more[name] = value
        elif name in cells:
            raise Raised("TypeError", None, _TYPE_ERROR)
        else:
            cells[name] = value
    if spec.kwarg is not None:
        cells[spec.kwarg.arg] = Dict(more, kwargs.get(hidden.DOUBLE, MISSING))
    elif more:
        raise Raised("TypeError", None, _TYPE_ERROR)
    for name, default in zip(reversed(names), reversed(function.defaults), strict=False):
        cells.setdefault(name, default)
    for name, default in _keyword_defaults(function):
        cells.setdefault(name, default)
    for name in (*names, *(a.arg for a in spec.kwonlyargs)):
        if name not in cells:
            raise Raised("TypeError", None, _TYPE_ERROR)


def _keyword_defaults(function: Function) -> Iterable[tuple[str, Value]]:
    """The defaults of parameters that are given by name; a private name is another one since the class was made."""
    spec, held = function.node.args, function.keyword_defaults
    names = [a.arg for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is not None]
    return held.items() if len(names) != len(held) else zip(names, held.values(), strict=True)


def _convert(run: Interpreter, function: Function, cells: dict[str, Any]) -> None:
    """TorchScript's arguments: an int is a float where the parameter is annotated so."""
    spec = function.node.args
    for parameter in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs):
        value = run.resolve(cells[parameter.arg])
        if parameter.annotation is None or "float" not in ast.unparse(parameter.annotation):
            continue
        if type(value) is int and isinstance(parameter.annotation, ast.Name):
            cells[parameter.arg] = float(value)
        elif not isinstance(value, float) and value is not None:
            cells[parameter.arg] = run.unknown(f"{parameter.arg} of a scripted function")


# -- what nobody knows -----------------------------------------------------------------------------------------------


def in_the_dark(run: Interpreter, function: Value, args: tuple[Value, ...], kwargs: Mapping[str, Value]) -> Value:
    """A call of something unknown, or with arguments that aren't all known: it may change all that it gets."""
    run.training.lost_sight = True
    guards.may_raise(run, guards.ANY)
    if isinstance(function, Unknown) and function.harmless:
        files.spoiled(run, (*args, *kwargs.values()))
        made = run.part(function, function.reason)
        made.is_object = _is_class(function)
        return made
    run.note_dark()
    if isinstance(function, Unknown) and function.fact is not None and _is_registration(function.fact[0]):
        run.called_back += args
    escape(run, (*args, *kwargs.values(), _owner(function), *run.called_back))
    if isinstance(function, Method | Function):
        escape(run, (function,))
    if isinstance(function, BoundNative):
        escape(run, (function.receiver,))
    if isinstance(function, Class) and classes.maker(function) is None:
        made = Instance(function)
        run.heap.write(made.state, "open", True)
        return made
    if isinstance(function, Instance) and layers.is_module(function) and function.native is None:
        return run.unknown(f"what {function!r} gives for arguments that aren't known")
    reason = function.reason if isinstance(function, Unknown) else f"what {function!r} gives"
    made = run.unknown(reason)
    if isinstance(function, Unknown):
        made.origin, made.without_tensors = function.origin, function.without_tensors
        made.is_object = _is_class(function)
    given = (function, *args, *kwargs.values())
    made.given = tuple(v for a in given for v in (a if type(a) is tuple else (a,)) if _is_kept(v))
    return made


def _is_class(function: Unknown) -> bool:
    """Whether it makes an object that is no tensor: ``torch_geometric.loader.DataLoader``, ``….from_pretrained``."""
    name, owner = "", function
    while isinstance(owner, Unknown) and owner.fact is not None and owner.fact[0].startswith("."):
        name, owner = f"{owner.fact[0]}{name}", owner.fact[1]
    library = _OF_LIBRARY.fullmatch(owner.reason) if isinstance(owner, Unknown) else None
    return library is not None and _OF_CLASS.search(f"{library[1]}{name}") is not None


_OF_LIBRARY: Final = re.compile(r"([\w.]+) isn't (?:followed|known to the follower)")
_OF_CLASS: Final = re.compile(
    r"(?:^|\.)(?:(?!\w*(?:Tensor|Variable|Parameter|Array)$)[A-Z]\w+|from_pretrained|from_config|load_from_checkpoint)$"
)


def _is_registration(name: str) -> bool:
    """``layer.register_forward_hook(self.save)``: whatever unknown code is called later may call it back."""
    return name.startswith(".register_") and name.endswith("_hook")


def _is_kept(value: Value) -> bool:
    """Whether it is the program's function, or an object with such, that may be called back; modules change nothing."""
    if type(value) is Function:
        return True
    if type(value) is not Instance or value.native is not None or layers.is_module(value):
        return False
    return any(type(f) is Function for c in value.cls.mro for f in c.cells.values())


def _owner(function: Value) -> Value:
    """The unknown value that has an unknown function as a method, or has the object with that method."""
    while isinstance(function, Unknown) and function.fact is not None and isinstance(function.fact[1], Unknown):
        function = function.fact[1]
    return function if isinstance(function, Unknown) else None


def escape(run: Interpreter, values: tuple[Value, ...]) -> None:
    """Unknown code has these objects: what it may change of them isn't known any more.

    Tensors keep their types: code that changes the shape of a tensor that it is given is not of this world.
    """
    run.training.lost_sight |= bool(values)
    files.handed_over(run, values)
    seen: set[int] = set()
    todo = list(values)
    while todo:
        value = run.resolve(todo.pop())
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, Choice):
            todo += [value.when_true, value.when_false]
        elif isinstance(value, tuple):
            todo += value
        elif isinstance(value, Tensor):
            gradients.escaped(run, value)
        elif isinstance(value, List):
            todo += value.items if value.items is not None else [value.item]
            run.heap.write(value.cells, "items", None)
            run.heap.write(value.cells, "item", run.unknown("a list that unknown code has changed"))
        elif isinstance(value, Dict):
            todo += value.cells.values()
            for key in list(value.cells):
                run.heap.write(value.cells, key, run.unknown("a dict that unknown code has changed"))
            run.heap.write(value.state, "open", run.unknown("a dict that unknown code has changed"))
        elif isinstance(value, Set):
            for one in list(value.cells):
                run.heap.write(value.cells, one, MISSING)
            run.heap.write(value.state, "open", True)
        elif isinstance(value, Iterator):
            iterators.force(run, value)
            run.heap.write(value.cells, "item", run.unknown("an iterator that unknown code has moved"))
            run.heap.write(value.cells, "items", None)
        elif isinstance(value, Instance):
            todo += value.cells.values()
            if behind(value) is not value:
                todo.append(behind(value))
            for cls in value.cls.mro:
                if cls.module == run.program.main:
                    todo += [v for v in cls.cells.values() if isinstance(v, List | Dict | Set)]
            if layers.is_module(value):
                run.training.called[id(value.cells)] = value
            _open(run, value)
        elif isinstance(value, Unknown):
            todo += value.given
        elif isinstance(value, Method):
            todo += [value.receiver, value.function]
        elif isinstance(value, Function):
            todo += closures.changed(run, value)


def wait(run: Interpreter, scope: Scope) -> None:
    """A coroutine waits: what others change meanwhile isn't known any more."""
    escape(run, tuple(closures.changed_meanwhile(run, scope)))


def _open(run: Interpreter, value: Instance) -> None:
    run.heap.write(value.state, "open", True)
    if value.native is not None:
        return
    for name in list(value.cells):
        run.heap.write(value.cells, name, run.unknown(f"attribute {name!r}, which unknown code may have changed"))
