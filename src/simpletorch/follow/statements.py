"""Statements: a table from the kind of syntax to what it does. Each gives how it ends (`outcomes.Done`)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import assignment, branches, classes, loops
from simpletorch.follow.heap import now
from simpletorch.follow.outcomes import BREAK, CONTINUE, Done, Raise, Raised, Return, Split
from simpletorch.follow.sources import imports
from simpletorch.follow.values import Class, Instance, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter
    from simpletorch.follow.scopes import Scope

__all__ = ["TABLE", "block"]


def block(run: Interpreter, body: Sequence[ast.stmt], scope: Scope, start: int) -> Done:
    """Statements one after the other, until one ends otherwise than normally."""
    for index in range(start, len(body)):
        statement = body[index]
        run.step(statement)
        run.path = scope.path
        run.passed[statement] = scope.path
        try:
            done = TABLE[type(statement)](run, statement, scope)
        except Raised as error:
            done = Raise(error)
        if isinstance(done, Split) and any(o.kind == "normal" for o in done.outcomes):
            if index + 1 == len(body):
                return done
            return branches.follow_on(run, done, partial(block, run, body, scope, index + 1))
        if done is not None:
            return done
    return None


def _expression(run: Interpreter, node: ast.Expr, scope: Scope) -> Done:
    run.evaluate(node.value, scope)
    return None


def _assign(run: Interpreter, node: ast.Assign, scope: Scope) -> Done:
    value = run.evaluate(node.value, scope)
    for target in node.targets:
        assignment.assign(run, target, value, scope)
    return None


def _annotated(run: Interpreter, node: ast.AnnAssign, scope: Scope) -> Done:
    if scope.is_class and isinstance(node.target, ast.Name):
        scope.cells.setdefault("__annotations__", {})[node.target.id] = node.annotation
    if node.value is not None:
        assignment.assign(run, node.target, run.evaluate(node.value, scope), scope)
    return None


def _augmented(run: Interpreter, node: ast.AugAssign, scope: Scope) -> Done:
    assignment.augment(run, node, scope)
    return None


def _return(run: Interpreter, node: ast.Return, scope: Scope) -> Done:
    return Return(None if node.value is None else run.evaluate(node.value, scope))


def _if(run: Interpreter, node: ast.If, scope: Scope) -> Done:
    test = run.evaluate(node.test, scope)
    return branches.choose(run, test, lambda: run.execute(node.body, scope), lambda: run.execute(node.orelse, scope))


def _assert(run: Interpreter, node: ast.Assert, scope: Scope) -> Done:
    test = run.evaluate(node.test, scope)
    error = Raise(Raised("AssertionError", None, ("Exception", "BaseException")))
    return branches.choose(run, test, lambda: None, lambda: error)


def _raise(run: Interpreter, node: ast.Raise, scope: Scope) -> Done:
    value = None if node.exc is None else run.evaluate(node.exc, scope)
    return Raise(exception_of(run, value))


def exception_of(run: Interpreter, value: Value) -> Raised:
    """The exception that ``raise value`` raises."""
    value = run.resolve(value)
    cls = value.cls if isinstance(value, Instance) else value
    if isinstance(cls, Class):
        return Raised(cls.name, value, tuple(c.name for c in cls.mro[1:]))
    return Raised("Exception", value, ("BaseException",))


def _delete(run: Interpreter, node: ast.Delete, scope: Scope) -> Done:
    for target in node.targets:
        assignment.delete(run, target, scope)
    return None


def _with(run: Interpreter, node: ast.With | ast.AsyncWith, scope: Scope) -> Done:
    return _within(run, node, scope, 0)


def _within(run: Interpreter, node: ast.With | ast.AsyncWith, scope: Scope, index: int) -> Done:
    """The body inside the managers from ``index`` on."""
    if index == len(node.items):
        return run.execute(node.body, scope)
    item = node.items[index]

    def inside(value: Value) -> Done:
        if item.optional_vars is not None:
            assignment.assign(run, item.optional_vars, value, scope)
        return _within(run, node, scope, index + 1)

    return classes.managed(run, run.evaluate(item.context_expr, scope), inside)


def _try(run: Interpreter, node: ast.Try, scope: Scope) -> Done:
    try:
        done = _guarded(run, node, scope)
    except Raised as error:
        done = Raise(error)
    if not node.finalbody:
        return done
    if isinstance(done, Split):
        kinds = ("normal", "return", "break", "continue", "raise")
        return branches.follow_on(run, done, lambda: run.execute(node.finalbody, scope), kinds, keep=True)
    last = run.execute(node.finalbody, scope)
    return done if last is None else last


_OF_IMPORTS: Final = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
_OF_TORCH: Final = {"Exception", "BaseException", "RuntimeError", "ValueError", "IndexError", "TypeError"}


def _caught_names(run: Interpreter, handler: ast.ExceptHandler, scope: Scope) -> tuple[str, ...]:
    if handler.type is None:
        return ("BaseException",)
    found = run.evaluate(handler.type, scope)
    classes_ = found if isinstance(found, tuple) else (found,)
    return tuple(c.name if isinstance(c, Class) else "" for c in map(run.resolve, classes_))


def _guarded(run: Interpreter, node: ast.Try, scope: Scope) -> Done:
    """The body with ``else``, and the handler that takes what it raises, or may take it."""
    catching = [(_caught_names(run, h, scope), h) for h in node.handlers]
    reacts = any(_OF_TORCH.intersection(names) or "" in names for names, _ in catching)
    optional = any(_OF_IMPORTS.intersection(names) for names, _ in catching)
    run.tries += reacts
    run.optional_imports += optional
    earlier, run.may_raise = run.may_raise, []
    start = now()
    run.heap.begin()
    try:
        done = run.execute(node.body, scope)
    except Raised as error:
        done = Raise(error)
    finally:
        run.tries -= reacts
        run.optional_imports -= optional
        possible, run.may_raise = run.may_raise, earlier
        before = run.heap.keep()
    if isinstance(done, Raise):
        return _handled(run, done.error, catching, scope)
    if isinstance(done, Split):
        raising = [o for o in done.outcomes if isinstance(o.done, Raise)]
        possible += [o.done.error for o in raising if isinstance(o.done, Raise)]
        rest = [o for o in done.outcomes if not isinstance(o.done, Raise)]
        if rest and len(rest) < len(done.outcomes):
            done = branches.join(run, rest)
    run.may_raise += [error for error in possible if _handler(error, catching) is None]
    caught = next((error for error in possible if _handler(error, catching) is not None), None)
    if caught is None:
        return _else(run, node, scope, done)

    def handled() -> Done:
        loops.widen(run, loops.older(before, start), forced=False)  # how far the body got isn't known
        return _handled(run, caught, catching, scope)

    condition = run.unknown("whether something is raised", "bool")
    return branches.choose(run, condition, handled, lambda: _else(run, node, scope, done))


def _else(run: Interpreter, node: ast.Try, scope: Scope, done: Done) -> Done:
    """What follows a body that raised nothing."""
    if isinstance(done, Split) and node.orelse:
        return branches.follow_on(run, done, lambda: run.execute(node.orelse, scope))
    return run.execute(node.orelse, scope) if done is None else done


def _handler(error: Raised, catching: list[tuple[tuple[str, ...], ast.ExceptHandler]]) -> ast.ExceptHandler | None:
    names = {error.name, *error.bases}
    return next(
        (h for caught, h in catching if names.intersection(caught) or "BaseException" in caught or "" in caught), None
    )


def _handled(
    run: Interpreter, error: Raised, catching: list[tuple[tuple[str, ...], ast.ExceptHandler]], scope: Scope
) -> Done:
    handler = _handler(error, catching)
    if handler is None:
        return Raise(error)
    if handler.name:
        value = error.value if isinstance(error.value, Instance) else run.unknown("an exception", None)
        run.heap.write(scope.holder(handler.name), handler.name, value)
    done = run.execute(handler.body, scope)
    if isinstance(done, Raise) and done.error.value is None and done.error.name == "Exception":
        return Raise(error)  # a bare raise
    return done


def _function(run: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> Done:
    made = classes.define(run, node, scope)
    run.heap.write(scope.holder(node.name), node.name, made)
    return None


def _class(run: Interpreter, node: ast.ClassDef, scope: Scope) -> Done:
    run.heap.write(scope.holder(node.name), node.name, classes.create(run, node, scope))
    return None


def _match(run: Interpreter, node: ast.Match, scope: Scope) -> Done:
    return assignment.match(run, run.evaluate(node.subject, scope), node.cases, scope)


def _declare(run: Interpreter, node: ast.Global | ast.Nonlocal, scope: Scope) -> Done:
    scope.declare(node)
    return None


def _nothing(run: Interpreter, node: ast.stmt, scope: Scope) -> Done:
    return None


def _import(run: Interpreter, node: ast.Import, scope: Scope) -> Done:
    imports.plain(run, node, scope)
    return None


def _import_from(run: Interpreter, node: ast.ImportFrom, scope: Scope) -> Done:
    imports.names(run, node, scope)
    return None


TABLE: Final[dict[type[ast.stmt], Callable[[Interpreter, Any, Scope], Done]]] = {
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Return: _return,
    ast.If: _if,
    ast.For: loops.over,
    ast.AsyncFor: loops.over,
    ast.While: loops.until,
    ast.Break: lambda run, node, scope: BREAK,
    ast.Continue: lambda run, node, scope: CONTINUE,
    ast.Pass: _nothing,
    ast.Assert: _assert,
    ast.Raise: _raise,
    ast.Delete: _delete,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Try: _try,
    ast.TryStar: _try,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
    ast.Match: _match,
    ast.Global: _declare,
    ast.Nonlocal: _declare,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
}
