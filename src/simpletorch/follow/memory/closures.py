"""What a function changes of what is around it: when unknown code has the function, it may call it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Final

from simpletorch.follow.heap import Cells
from simpletorch.follow.model.scopes import Scope
from simpletorch.follow.sources.syntax import of_node, walk
from simpletorch.follow.values import MISSING, Class, Dict, Function, Instance, List, Set, Value
from simpletorch.follow.values import Iterator as Items

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["changed", "changed_by", "changed_by_method", "changed_meanwhile"]

_READING: Final = frozenset({"copy", "count", "get", "index", "items", "keys", "values"})


def changed(run: Interpreter, function: Function) -> Iterator[Value]:
    """The collections around a function that it changes, and the functions that it calls; what it assigns to names
    and attributes around it isn't known any more.
    """
    for default in (*function.defaults, *function.keyword_defaults.values()):
        yield from _collections(default)
    yield from _changed(run, function.node, function.scope, _own_names(function.node))


def changed_by(run: Interpreter, body: Iterable[ast.stmt], scope: Scope) -> Iterator[Value]:
    """The same of statements."""
    for statement in body:
        yield from _changed(run, statement, scope, ())


def changed_meanwhile(run: Interpreter, scope: Scope) -> Iterator[Value]:
    """The same of other coroutines, and of the other methods of an object, while a coroutine waits in this scope."""
    while scope.is_inner and scope.parent is not None:
        scope = scope.parent
    me = scope.first
    for name, method in _methods(me):
        if name not in ("__init__", scope.function):
            yield from _by_method(run, me, method, frozenset())
    outer = scope if scope is scope.globals else scope.parent
    while outer is not None:
        for value in list(outer.cells.values()):
            if isinstance(value, Function):
                is_other = isinstance(value.node, ast.AsyncFunctionDef) and value.name != scope.function
                yield from changed(run, value) if is_other else ()
            elif outer is not outer.globals:
                yield from _collections(run.resolve(value))
        outer = outer.parent


def _methods(me: Value) -> list[tuple[str, Function]]:
    if not isinstance(me, Instance):
        return []
    return [(n, f) for cls in me.cls.mro for n, f in cls.cells.items() if isinstance(f, Function)]


def changed_by_method(run: Interpreter, me: Instance, method: Function) -> Iterator[Value]:
    """The same of an object's method, whose other attributes are kept."""
    return _by_method(run, me, method, frozenset())


def _by_method(run: Interpreter, me: Value, method: Function, entered: frozenset[ast.AST]) -> Iterator[Value]:
    """Attributes that an object's method changes, and the methods that it calls."""
    if method.node in entered or not method.node.args.args:
        return
    mine = method.node.args.args[0].arg
    around = Scope(method.scope, method.scope.path, Cells({mine: me}))
    yield from _changed(run, method.node, around, _own_names(method.node) - {mine}, entered | {method.node})


def _changed(
    run: Interpreter, code: ast.AST, scope: Scope, own: Collection[str], entered: frozenset[ast.AST] = frozenset()
) -> Iterator[Value]:
    for node in _changing(code):
        match node:
            case ast.Nonlocal(names=names) | ast.Global(names=names):
                for name in names:
                    cells = scope.globals.cells if isinstance(node, ast.Global) else scope.place(name)
                    if name in cells:
                        run.heap.write(cells, name, run.unknown(f"{name}, which unknown code may have changed"))
            case ast.Call(func=ast.Attribute(value=place, attr=method)) if method not in _READING:
                owner = _around(run, scope, place, own)
                yield from _collections(owner)
                found = owner.cls.find(method) if isinstance(owner, Instance) else None
                if found is not None and isinstance(found[0], Function):
                    yield from _by_method(run, owner, found[0], entered)
            case ast.Call(func=ast.Name() as place):
                called = _around(run, scope, place, own)
                yield from [called] if isinstance(called, Function) else []
            case ast.YieldFrom(value=place):
                owner = _around(run, scope, place, own)
                yield from [owner] if isinstance(owner, Instance) else []
            case ast.Subscript(value=place, ctx=ast.Store() | ast.Del()):
                yield from _collections(_around(run, scope, place, own))
            case ast.AugAssign(target=place):
                yield from _collections(_around(run, scope, place, own))
            case ast.Attribute(value=place, attr=name, ctx=ast.Store()):
                owner = _around(run, scope, place, own)
                if isinstance(owner, Instance | Class):
                    run.heap.write(owner.cells, name, run.unknown(f"{name}, which unknown code may have changed"))


@of_node
def _changing(code: ast.AST) -> tuple[ast.AST, ...]:
    """The parts of code that may change something: the same function is had by unknown code again and again."""
    kinds = ast.Nonlocal | ast.Global | ast.Call | ast.AugAssign | ast.YieldFrom
    stores = ast.Store | ast.Del
    return tuple(
        node
        for node in walk(code)
        if isinstance(node, kinds) or (isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, stores))
    )


@of_node
def _own_names(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> frozenset[str]:
    """The parameters and variables of a function."""
    inside = list(walk(node))
    outside = {name for n in inside if isinstance(n, ast.Nonlocal | ast.Global) for name in n.names}
    stored = {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return frozenset({n.arg for n in inside if isinstance(n, ast.arg)} | (stored - outside))


def _around(run: Interpreter, scope: Scope, node: ast.expr, own: Collection[str]) -> Value:
    """What a name or ``name.attribute`` around a function holds, MISSING for anything else."""
    match node:
        case ast.Name(id=name) if name not in own:
            return run.resolve(scope.find(name))
        case ast.Attribute(value=inner, attr=name):
            owner = _around(run, scope, inner, own)
            return run.resolve(owner.cells.get(name, MISSING)) if isinstance(owner, Instance | Class) else MISSING
    return MISSING


def _collections(value: Value) -> list[Value]:
    return [value] if isinstance(value, List | Dict | Set | Items) else []
