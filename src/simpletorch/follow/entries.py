"""Where a program may begin besides its own start: what nobody in it calls, with symbols for what a caller would give.

- a class of modules that is never used: each plain int of its constructor is a symbol of its own, and ``forward`` gets
  tensors as it annotates them;
- a function whose annotations say what tensors it takes, one that needs no argument, a test.

Of a library's file only those are followed that annotate their tensors. Each begins where the program has ended, and
leaves nothing behind.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow.annotations import tensor_of
from simpletorch.follow.heap import now
from simpletorch.follow.layers import is_module
from simpletorch.follow.marks import devices, gradients
from simpletorch.follow.model import caught
from simpletorch.follow.model.scopes import Scope
from simpletorch.follow.outcomes import Exhausted, Raised
from simpletorch.follow.sources.syntax import own_nodes, walk
from simpletorch.follow.values import MISSING, Choice, Class, Dict, Function, Instance, List, Tensor, Value, is_int
from simpletorch.rules import MODULES, TensorType
from simpletorch.shapes import Expr, Rest, Var, equal, var, variables

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["follow_entries"]

_STEPS: Final = 20_000  # of each entry
_STEPS_OF_LIBRARY: Final = 10_000  # the same, of a library's file
_STEPS_OF_BUILDERS: Final = 5_000  # of all functions of a library's file that need no argument: it may have a hundred


def follow_entries(run: Interpreter, tree: ast.Module, scope: Scope) -> None:
    """Follow what the program itself has not reached."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            found = run.resolve(scope.cells.get(node.name, MISSING))
            if isinstance(found, Class) and (found.is_a("torch.nn.Module") or _holds_tensors(run, found)):
                _apart(run, partial(_module, run, found, scope))
        elif isinstance(node, ast.FunctionDef):
            found = _written(run, scope.cells.get(node.name, MISSING))
            if isinstance(found, Function) and found.node not in run.entered:
                _apart(run, partial(_function, run, found))


def _written(run: Interpreter, value: Value) -> Value:
    """A function as it is written, of an operator its body."""
    value = run.resolve(value)
    is_operator = isinstance(value, Instance) and value.cls.is_a("torch.kernels.Operator")
    return run.resolve(value.cells["reference"]) if is_operator else value


def _apart(run: Interpreter, work: Any) -> None:
    """Follow an entry by itself."""
    most = _STEPS_OF_LIBRARY if run.program.is_library else _STEPS
    left, run.steps = run.steps, min(run.steps, most)
    passed, run.passed = run.passed, {}
    run.entry += 1
    start = run.steps
    try:
        with run.heap.aside():
            run.heap.write(run.modes, gradients.MODE, run.unknown("the mode in which a caller calls", "bool"))
            work()
    except Raised as error:
        caught.tell(run, error)
    except Exhausted:
        if run.steps >= 0 or left <= most:  # the time, or the steps of the whole
            raise
    finally:
        run.steps = left - (start - run.steps)
        run.passed = passed
        run.free.clear()
        run.class_sizes.clear()
        run.replaceable.clear()


def _module(run: Interpreter, cls: Class, scope: Scope) -> None:
    forward = cls.find("forward")
    if forward is None and cls.is_a("torch.nn.Module"):
        return
    if forward is not None and (not isinstance(forward[0], Function) or forward[0].node in run.entered):
        return
    if run.only_annotated and not any(_takes_tensors(run, method) for _, (method, _) in _own_methods(cls)):
        return
    init = next(iter(cls.find("__init__") or ()), None)
    args: dict[str, Value] = {}
    if isinstance(init, Function):
        if init.node.args.vararg is not None:
            return  # what a caller gives isn't known: it may be a decorator's
        args = dict(_constructor_arguments(run, init, cls.name))
        if any(v is MISSING for v in args.values()):
            return
        run.node = init.node  # the trace says that it is followed by itself
    elif any(c.qualified in MODULES or c.qualified in _CONTAINERS for c in cls.mro):
        return  # a layer of torch's: a caller gives it sizes, or layers
    made = run.resolve(run.call(cls, (), args))
    if not isinstance(made, Instance):
        return
    for name in _set_later(cls) | _filled_later(cls, run.entered):
        run.heap.write(made.cells, name, run.unknown(f"attribute {name!r}, which another method sets"))
    for part in _parts(made):
        for name in _set_later(part.cls, run.entered):
            run.heap.write(part.cells, name, run.unknown(f"attribute {name!r}, which another method sets"))
    for name, (value, _) in _own_methods(cls):
        needs_nothing = not is_module(made) and all(default is not MISSING for _, default in _parameters(value)[1:])
        if (
            name == "forward"
            or needs_nothing
            or (isinstance(value, Function) and value.node not in run.entered and _takes_tensors(run, value))
        ):
            _call_annotated(run, value, made)


def _parts(whole: Instance) -> Iterator[Instance]:
    """The objects that an object is made of."""
    seen, todo = {id(whole)}, [whole]
    while todo:
        for value in todo.pop().cells.values():
            if isinstance(value, Instance) and id(value) not in seen:
                seen.add(id(value))
                todo.append(value)
                yield value


def _set_later(cls: Class, entered: Collection[ast.AST] = ()) -> set[str]:
    """The attributes that methods beside the constructor, and those entered, assign: what they hold when another is
    called isn't known.
    """
    found: set[str] = set()
    for c in cls.mro:
        for name, value in c.cells.items():
            if not isinstance(value, Function) or value.node in entered:
                continue
            if name != "__init__" and value.node.args.args:
                found |= set(_changed_attributes(value.node, value.node.args.args[0].arg))
    return found


def _filled_later(cls: Class, entered: Collection[ast.AST]) -> set[str]:
    """The collections that methods change which the constructor doesn't call: ``self.heads.append(head)``."""
    found: set[str] = set()
    for value in (v for c in cls.mro for v in c.cells.values() if isinstance(v, Function) and v.node not in entered):
        me = value.node.args.args[0].arg if value.node.args.args else None
        for n in walk(value.node):
            match n:
                case ast.Call(func=ast.Attribute(value=ast.Attribute(value=ast.Name(id=name), attr=attr), attr=method)):
                    found |= {attr} if name == me and method in _FILLS else set()
                case ast.Subscript(value=ast.Attribute(value=ast.Name(id=name), attr=attr), ctx=ast.Store()):
                    found |= {attr} if name == me else set()
    return found


_FILLS: Final = frozenset({"append", "extend", "insert", "update", "setdefault", "add_module", "register_parameter"})
_CONTAINERS: Final = frozenset(
    f"torch.nn.{name}" for name in ("Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict")
)


def _changed_attributes(node: ast.AST, me: str) -> Iterator[str]:
    """``self.cache = x``, and ``self.cache.resize_(3)``."""
    for n in walk(node):
        match n:
            case ast.Attribute(value=ast.Name(id=name), attr=attr, ctx=ast.Store()) if name == me:
                yield attr
            case ast.Call(func=ast.Attribute(value=ast.Attribute(value=ast.Name(id=name), attr=attr), attr=method)):
                if name == me and method.endswith("_") and not method.startswith("_"):
                    yield attr


def _holds_tensors(run: Interpreter, cls: Class) -> bool:
    """Whether a class of the program's is made of tensors that its constructor annotates."""
    init = cls.find("__init__")
    if init is None or not isinstance(init[0], Function) or init[0].node in run.entered or cls.unknown_base is not None:
        return False
    return _takes_tensors(run, init[0])


def _own_methods(cls: Class) -> list[tuple[str, tuple[Any, Class]]]:
    names = [n for c in cls.mro if c.module == "__main__" for n, v in c.cells.items() if isinstance(v, Function)]
    found = {n: cls.find(n) for n in ["forward", *(n for n in names if not n.startswith("__"))]}
    return [(n, f) for n, f in found.items() if f is not None and isinstance(f[0], Function)]


def _parameters(function: Function) -> list[tuple[ast.arg, Value]]:
    """The parameters with their defaults (MISSING where they must be given)."""
    spec = function.node.args
    positional = [*spec.posonlyargs, *spec.args]
    defaults = [*[MISSING] * (len(positional) - len(function.defaults)), *function.defaults]
    named = [(a, function.keyword_defaults.get(a.arg, MISSING)) for a in spec.kwonlyargs]
    return [*zip(positional, defaults, strict=True), *named]


def _bodies(values: Iterable[Value]) -> Iterator[ast.AST]:
    """The bodies of the functions, and of the constructors of the classes, among values."""
    for value in values:
        found = next(iter(value.find("__init__") or ()), None) if isinstance(value, Class) else value
        if isinstance(found, Function):
            yield found.node


def _constructor_arguments(run: Interpreter, init: Function, where: str) -> Iterator[tuple[str, Value]]:
    parameters = _parameters(init)[1:]
    needs_nothing = all(default is not MISSING for _, default in parameters)
    if not needs_nothing:
        run.replaceable.update(_bodies(default for _, default in parameters))
    for parameter, default in parameters:
        match parameter.annotation:
            case ast.Subscript(value=ast.Name(id="Dim"), slice=ast.Name(id=name)):  # the class's own size
                size = _symbol(run, name, where) if default is MISSING else default
                if is_int(size):
                    run.class_sizes[name] = size
                    yield parameter.arg, size
                    continue
        if default is MISSING:
            yield parameter.arg, _of_caller(run, parameter, where, init.scope, is_constructor=True)
        elif needs_nothing and _stands_for_nothing(default):  # one of several may be needed
            yield parameter.arg, run.unknown(f"the argument {parameter.arg}")


def _stands_for_nothing(default: Value) -> bool:
    """Whether a default only marks a missing argument: ``None``, ``[]`` or ``""``."""
    held = default.items if isinstance(default, List) else default.cells if isinstance(default, Dict) else default
    return held is None or (isinstance(held, tuple | str | dict) and not held)


def _of_caller(
    run: Interpreter, parameter: ast.arg, where: str, scope: Scope, *, is_constructor: bool = False
) -> Value:
    """What a caller may give for a parameter without default; MISSING where nothing can be said."""
    name = parameter.arg
    match parameter.annotation:
        case ast.Name(id="int"):
            return _symbol(run, name, where)
        case ast.Name(id="bool" | "str" as kind):
            own = kind == "bool" and not is_constructor  # a function must work for both
            return run.unknown(f"the argument {name}", kind, "data" if own else "code")
        case None | ast.Name(id="float"):  # who says float takes an int as well
            return run.unknown(f"the argument {name}")
    kind = tensor_of(run, parameter.annotation, scope, where)
    if kind is not None:
        return _given(run, kind)
    found = run.evaluate(parameter.annotation, scope) if isinstance(parameter.annotation, ast.Name) else None
    if isinstance(found, Class) and found.fields is not None:
        return _record(run, found, where, scope)
    return run.unknown(f"the argument {name}")


def _symbol(run: Interpreter, name: str, where: str) -> Expr:
    """A size that the caller chooses."""
    symbol = var(name, where)
    run.symbols.update(variables(symbol))
    return symbol


def _record(run: Interpreter, cls: Class, where: str, scope: Scope) -> Value:
    """An object of a dataclass as its defaults make it; an int without default is a symbol.

    A size of -1 or 0 by default says that the caller has to give one.
    """
    args: dict[str, Value] = {}
    for name, default in cls.fields or ():
        if type(default) is int and default <= 0:
            args[name] = run.unknown(f"the argument {name}", "int")
        elif default is MISSING:
            note = next((c.notes.get(name) for c in cls.mro if c.notes), None)
            args[name] = _of_caller(run, ast.arg(name, note), f"{where}.{cls.name}", scope)
    return run.call(cls, (), args)


def _given(run: Interpreter, kind: TensorType) -> Tensor:
    """A tensor that a caller gives: the names of its sizes become what their first use says."""
    for item in kind.shape.items:
        if isinstance(item, Expr):
            run.free.update(variables(item))
    made = Tensor(kind)
    devices.DEVICE.put(made, devices.DEVICE.of_annotation(made))
    return made


def _takes_tensors(run: Interpreter, function: Function) -> bool:
    return any(
        (kind := tensor_of(run, p.annotation, function.scope, function.name)) is not None and kind != TensorType()
        for p, _ in _parameters(function)
    )


def _function(run: Interpreter, function: Function) -> None:
    needed = [p for p, default in _parameters(function) if default is MISSING]
    if _takes_tensors(run, function):
        _call_annotated(run, function, None)
    elif not run.only_annotated and (function.pure or not needed or _makes_tensor(run, function, needed)):
        if run.program.is_library and run.steps_of_builders > _STEPS_OF_BUILDERS:
            run.path, run.node = function.scope.path, function.node
            run.note_reason(f"{function.name} isn't followed: the file has too many functions that are never called")
            return
        before = run.steps
        try:
            _call_annotated(run, function, None)
        finally:
            run.steps_of_builders += before - run.steps


def _makes_tensor(run: Interpreter, function: Function, needed: Sequence[ast.arg]) -> bool:
    """Whether it says that it makes a tensor of sizes alone."""
    if not isinstance(function.node, ast.FunctionDef) or not all(_is_size(p.annotation) for p in needed):
        return False
    return tensor_of(run, function.node.returns, function.scope, function.name) is not None


def _is_size(annotation: ast.expr | None) -> bool:
    return isinstance(annotation, ast.Name) and annotation.id == "int"


def _call_annotated(run: Interpreter, function: Function, receiver: Instance | None) -> None:
    if function.node.args.vararg is not None:
        return  # how many a caller gives isn't known
    args: dict[str, Value] = {}
    parameters = _parameters(function)[1 if receiver is not None else 0 :]
    where = f"{receiver.cls.name}.{function.name}" if receiver is not None else function.name
    for parameter, default in parameters:
        if default is MISSING:
            value = _of_caller(run, parameter, where, function.scope)
            if value is MISSING:
                return
            args[parameter.arg] = value
    if args:  # a caller that gives something may give this too
        run.replaceable.update(_bodies(default for _, default in parameters))
        left = [p.arg for p, default in parameters if default is None]
        args.update({name: run.unknown(f"the argument {name}") for name in left})
    run.node, run.path = function.node, function.scope.path
    run.entered_at = now()
    result = run.call(function, () if receiver is None else (receiver,), args)
    if isinstance(function.node, ast.FunctionDef):
        _returns(run, function, result, where, [*args.values()])


def _returns(run: Interpreter, function: Function, result: Value, where: str, arguments: Sequence[Value]) -> None:
    """What is returned must be what the annotation promises."""
    assert isinstance(function.node, ast.FunctionDef)
    promised = tensor_of(run, function.node.returns, function.scope, where)
    result = run.resolve(result)
    if isinstance(result, Choice) and result.condition in arguments:  # it must keep its promise for both
        for one in (result.when_true, result.when_false):
            _returns(run, function, one, where, arguments)
        return
    if promised is None or not isinstance(result, Tensor):
        return
    given = {v for p, _ in _parameters(function) for v in _names(run, p, function, where)}
    own = {v for i in promised.shape.items if isinstance(i, Expr) for v in variables(i)}
    if not own <= given:
        return  # a name that appears only in the result is the function's to choose
    with run.knowing():
        differs = _differ(promised, result.type)
    if differs:
        returns = [n for n in own_nodes(function.node) if isinstance(n, ast.Return) and n in run.passed]
        run.node, run.path = returns[0] if len(returns) == 1 else function.node, function.scope.path
        run.find("tensor-shape", f"{where} returns {result.type}, but its annotation says {promised}", is_promise=True)


def _names(run: Interpreter, parameter: ast.arg, function: Function, where: str) -> set[Var]:
    kind = tensor_of(run, parameter.annotation, function.scope, where)
    items = kind.shape.items if kind is not None else ()
    return {v for i in items if isinstance(i, Expr) for v in variables(i)}


def _differ(promised: TensorType, got: TensorType) -> bool:
    a, b = promised.shape, got.shape
    if not a.is_exact or not b.is_exact or any(isinstance(i, Rest) for i in (*a.items, *b.items)):
        return False
    return a.rank != b.rank or any(equal(x, y) is False for x, y in zip(a.dims, b.dims, strict=True))
