"""Generators, step by step: a body runs until it yields, and goes on from there when it is asked again.

A yield under an unknown condition, inside ``with`` of an unknown manager, or within an expression can't be stepped
through. Then the body is followed as a whole, or isn't known from there on.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from simpletorch.follow import assignment, branches, guards
from simpletorch.follow.guards import Guard
from simpletorch.follow.model import handlers, iterators, kinds, managers, unmodelled
from simpletorch.follow.model.iterators import END, UNSURE
from simpletorch.follow.model.scopes import Scope
from simpletorch.follow.outcomes import Done, Raise, Raised, Return, Split
from simpletorch.follow.sources.syntax import has_effects, of_node, walk
from simpletorch.follow.values import MISSING, Function, Instance, Iterator, Value

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["Steps", "ask", "close", "is_of_stop", "not_stop", "statements"]

_Stepping: TypeAlias = Generator[Value, Value, Done]
_YIELDS: Final = (ast.Yield, ast.YieldFrom)
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_AT: Final = "(at)"
_OVER: Final = "(over)"
_BASES: Final = ("Exception", "BaseException")
_STOPS: Final = ("StopIteration", "StopAsyncIteration")


class _Unsure(Exception):
    """The next step isn't known."""


@of_node
def _has_yield(node: ast.AST) -> bool:
    """Whether a statement or expression yields, beside what functions in it do."""
    if isinstance(node, _YIELDS):
        return True
    return any(_has_yield(n) for n in ast.iter_child_nodes(node) if not isinstance(n, _FUNCTIONS))


@of_node
def _last_things(node: ast.AST) -> tuple[ast.stmt, ...]:
    """The statements that a generator still runs when it is closed within a ``try``."""
    found: list[ast.stmt] = []
    for inner in walk(node):
        if isinstance(inner, ast.Try) and any(map(_has_yield, inner.body)):
            found += [*inner.finalbody, *(s for h in inner.handlers for s in h.body)]
    return tuple(found)


@of_node
def _delegates(node: ast.AST) -> bool:
    """Whether a body yields what another generator does, which is dropped with it."""
    return any(isinstance(inner, ast.YieldFrom) for inner in walk(node))


@of_node
def statements(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[ast.stmt]:
    """The body of a function; that of a lambda is what it returns."""
    if not isinstance(node, ast.Lambda):
        return node.body
    return [ast.copy_location(ast.Return(node.body), node.body)]


class Steps(iterators.Lazy):
    """A generator: its body, and how far it has come.

    Args:
        run: the interpreter.
        function: the generator function.
        scope: its variables.
        whole: follows the body as a whole, and gives an iterator of what it yields.
    """

    is_generator = True

    def __init__(self, run: Interpreter, function: Function, scope: Scope, whole: Callable[[], Value]) -> None:
        super().__init__(whole, self._next, minds=True)
        self.run, self.function, self.scope = run, function, scope
        self.body: _Stepping | None = None
        self.at = 0  # how often it was resumed
        self.result: Value = run.unknown("what a generator returns")

    def _next(self) -> Value:
        return self.resume(None, None)

    @property
    def is_asynchronous(self) -> bool:
        """Whether its function is one with ``async``."""
        return isinstance(self.function.node, ast.AsyncFunctionDef)

    @property
    def is_over(self) -> bool:
        """Whether its body has ended."""
        return self.scope.cells.get(_OVER, False) is True

    def _ends(self) -> None:
        self.run.heap.write(self.scope.cells, _OVER, True)

    @property
    def has_begun(self) -> bool:
        """Whether some of its body was run."""
        return self.at > 0

    def resume(self, sent: Value, thrown: Raised | None) -> Value:
        """Go on until it yields: that value, `END`, or `UNSURE` if that isn't known.

        Raises:
            Raised: the body raises it.
        """
        run, cells = self.run, self.scope.cells
        if self.is_over:
            if thrown is not None:
                raise thrown
            return END
        if run.resolve(cells.get(_AT, 0)) != self.at:  # some of what it did was taken back
            return self.lost()
        if self.body is not None and inspect.getgeneratorstate(self.body) == inspect.GEN_RUNNING:  # it asks itself
            guards.may_raise(run, guards.ANY)
            return self.lost()
        self.at += 1
        run.heap.write(cells, _AT, self.at)
        first = self.body is None
        if self.body is None:
            if thrown is not None:
                self._ends()
                raise thrown
            self.body = _block(run, statements(self.function.node), self.scope)
            run.heap.begin()
        depth = run.heap.depth
        try:
            value = run.enter(self.function, self.scope, lambda: self._step(sent, thrown))
        except _Unsure:
            if first:
                while run.heap.depth >= depth:
                    run.heap.end()
                self.body, self.at = None, 0
                return self._as_a_whole()
            return self.lost()
        except BaseException:
            if first:
                run.heap.keep()
            self._ends()
            raise
        if first:
            run.heap.keep()
        run.waiting |= self.waits
        return value

    @property
    def waits(self) -> bool:
        """Whether it is suspended where closing it runs more statements."""
        if self.at == 0 or self.is_over:
            return False
        return (bool(_last_things(self.function.node)) and _is_within(self.body, _try)) or self._is_elsewhere

    @property
    def _is_elsewhere(self) -> bool:
        """Whether it is suspended in another generator, or inside a manager that is left when it is dropped."""
        is_in_another = _delegates(self.function.node) and _is_within(self.body, _delegated)
        return is_in_another or _is_within(self.body, _managed)

    def drop(self) -> None:
        """A name of it is gone: if that was the last one, its ``finally`` runs."""
        if self.holder is not None and self.was_whole(self.holder):
            self.lost()
        if not self.waits:
            return
        if self._is_elsewhere:
            self.run.escape((self.function, *self._own_values()))
        for statement in _last_things(self.function.node):
            unmodelled.happens(self.run, statement, self.scope, "what a generator does when it is dropped")

    def _step(self, sent: Value, thrown: Raised | None) -> Value:
        assert self.body is not None
        try:
            return self.body.throw(thrown) if thrown is not None else self.body.send(sent)
        except StopIteration as stop:
            self._ends()
            done = stop.value
            if isinstance(done, Raise):
                raise not_stop(self.function, done.error) from None
            self.result = done.value if isinstance(done, Return) else None
            return END
        except Raised as error:
            raise not_stop(self.function, error) from None

    def was_whole(self, owner: Iterator) -> bool:
        """Whether all of it was followed at once, also what it hadn't come to, and that changed something."""
        left = owner.items
        return self.body is None and bool(left) and has_effects(self.function.node)

    def lost(self) -> Value:
        """How far it has come isn't known: it may have done, and give, anything."""
        self.run.heap.write(self.scope.cells, _OVER, MISSING)
        self.run.escape((self.function, *self._own_values()))
        self.result = self.run.unknown("what a generator returns")
        return UNSURE

    def _own_values(self) -> tuple[Value, ...]:
        return tuple(value for key, value in self.scope.cells.items() if key not in (_AT, _OVER))

    def _as_a_whole(self) -> Value:
        """Nothing of it has run: follow all of it."""
        self.result = self.run.unknown("what a generator returns")
        self.run.waiting |= has_effects(self.function.node)
        found = self.run.resolve(self.whole())
        if self.holder is None or not isinstance(found, Iterator):
            return UNSURE
        heap, cells = self.run.heap, self.holder.cells
        for key in ("items", "item"):
            heap.write(cells, key, found.cells[key])
        return iterators.pull(self.run, self.holder)


def _is_within(body: Any, kind: Callable[..., Any]) -> bool:
    """Whether a body is suspended within what this function steps through."""
    while body is not None and body.gi_code is not kind.__code__:
        body = getattr(body, "gi_yieldfrom", None)
    return body is not None


def not_stop(function: Function, error: Raised) -> Raised:
    """``StopIteration`` doesn't leave a generator, nor ``StopAsyncIteration`` one with ``async``."""
    stops = _STOPS if isinstance(function.node, ast.AsyncFunctionDef) else _STOPS[:1]
    return Raised("RuntimeError", None, _BASES) if error.name in stops else error


def is_of_stop(error: Raised, thrown: Raised) -> bool:
    """Whether a generator that was thrown ``StopIteration`` has passed it on, itself or as the cause of another."""
    if thrown.name != "StopIteration" or error.name != "RuntimeError":
        return False
    made = error.value
    return made is None or (isinstance(made, Instance) and made.cells.get("__cause__") is thrown.value)


def _block(run: Interpreter, body: Sequence[ast.stmt], scope: Scope) -> _Stepping:
    """Statements one after the other."""
    for statement in body:
        if not _has_yield(statement):
            done = run.execute([statement], scope)
            if isinstance(done, Split):
                raise _Unsure
        else:
            run.step(statement)
            run.path = scope.path
            run.passed[statement] = scope.path
            kind = _TABLE.get(type(statement))
            if kind is None:
                raise _Unsure
            done = yield from kind(run, statement, scope)
        if done is not None:
            return done
    return None


def _value(run: Interpreter, node: ast.expr | None, scope: Scope) -> Generator[Value, Value, Value]:
    """An expression that is a yield, or has none."""
    if node is None:
        return None
    if isinstance(node, ast.Yield):
        value = None if node.value is None else run.evaluate(node.value, scope)
        return (yield value)
    if isinstance(node, ast.YieldFrom):
        return (yield from _delegated(run, run.evaluate(node.value, scope)))
    if _has_yield(node):
        raise _Unsure
    return run.evaluate(node, scope)


def _delegated(run: Interpreter, source: Value) -> Generator[Value, Value, Value]:
    """``yield from source``: what is sent goes there, and what it returns is the value."""
    source = run.resolve(source)
    if not iterators.is_simple(run, source):
        raise _Unsure
    inner = iterators.over(run, source)
    steps = inner.lazy if isinstance(inner, Iterator) and isinstance(inner.lazy, Steps) else None
    sent: Value = None
    thrown: Raised | None = None
    while True:
        if thrown is not None and thrown.name == "GeneratorExit":
            close(run, inner)
            raise thrown
        if steps is not None:
            found = ask(run, inner, sent, thrown)
        elif thrown is not None and kinds.is_of_python(source):
            raise thrown
        elif thrown is not None:
            raise _Unsure
        elif sent is not None:
            if not kinds.is_of_python(source):
                raise _Unsure
            raise kinds.error("AttributeError")
        else:
            found = iterators.pull(run, inner)
        if found is END:
            return None if steps is None else steps.result
        if found is UNSURE:
            raise _Unsure
        sent, thrown = None, None
        try:
            sent = yield found
        except Raised as error:
            thrown = error


def ask(run: Interpreter, owner: Iterator, sent: Value, thrown: Raised | None = None) -> Value:
    """``send`` and ``throw`` of a generator."""
    steps = owner.lazy
    if isinstance(steps, Steps) and steps.was_whole(owner) and (sent is not None or thrown is not None):
        run.heap.write(owner.cells, "items", None)
        return steps.lost()
    if not isinstance(steps, Steps) or owner.items is not None:
        return iterators.pull(run, owner) if thrown is None else UNSURE
    if owner.cells["items"] is None:
        return UNSURE
    if sent is not None and not steps.has_begun:
        raise Raised("TypeError", None, _BASES)
    run.heap.write(owner.cells, iterators.PULLED, True)
    found = steps.resume(sent, thrown)
    if found is END:
        iterators.ended(run, owner)
    elif found is UNSURE:
        run.heap.write(owner.cells, "items", None)
    return found


def close(run: Interpreter, owner: Iterator) -> None:
    """``close`` of a generator."""
    steps = owner.lazy
    if isinstance(steps, Steps) and steps.has_begun and not steps.is_over and owner.cells["items"] is not None:
        try:
            found = ask(run, owner, None, Raised("GeneratorExit", None, ("BaseException",)))
            if found is UNSURE:
                guards.may_raise(run, guards.ANY)
            elif found is not END:
                raise kinds.error("RuntimeError")
        except Raised as error:
            if error.name not in ("GeneratorExit", "StopIteration"):
                raise
    is_lost = owner.cells["items"] is None
    if isinstance(steps, Steps) and (is_lost or steps.was_whole(owner)):
        steps.lost()
    iterators.ended(run, owner)
    run.heap.write(owner.cells, iterators.OVER, True)


def _expression(run: Interpreter, node: ast.Expr, scope: Scope) -> _Stepping:
    yield from _value(run, node.value, scope)
    return None


def _assign(run: Interpreter, node: ast.Assign, scope: Scope) -> _Stepping:
    value = yield from _value(run, node.value, scope)
    run.node = node
    for target in node.targets:
        assignment.assign(run, target, value, scope)
    return None


def _annotated(run: Interpreter, node: ast.AnnAssign, scope: Scope) -> _Stepping:
    value = yield from _value(run, node.value, scope)
    run.node = node
    assignment.assign(run, node.target, value, scope)
    return None


def _return(run: Interpreter, node: ast.Return, scope: Scope) -> _Stepping:
    return Return((yield from _value(run, node.value, scope)))


def _truth(run: Interpreter, test: ast.expr, scope: Scope) -> bool:
    if _has_yield(test):
        raise _Unsure
    found = branches.truth(run, run.evaluate(test, scope))
    if not isinstance(found, bool):
        raise _Unsure
    return found


def _if(run: Interpreter, node: ast.If, scope: Scope) -> _Stepping:
    return (yield from _block(run, node.body if _truth(run, node.test, scope) else node.orelse, scope))


def _while(run: Interpreter, node: ast.While, scope: Scope) -> _Stepping:
    while _truth(run, node.test, scope):
        run.step(node)
        done = yield from _block(run, node.body, scope)
        if done is not None and done.kind == "break":
            return None
        if done is not None and done.kind != "continue":
            return done
    return (yield from _block(run, node.orelse, scope))


def _for(run: Interpreter, node: ast.For, scope: Scope) -> _Stepping:
    if _has_yield(node.iter):
        raise _Unsure
    source = run.resolve(run.evaluate(node.iter, scope))
    if not iterators.is_simple(run, source):
        found = run.items(source) if isinstance(source, str | bytes | Instance) else None
        if found is None:
            raise _Unsure
        source = found
    inner = iterators.over(run, source)
    while (value := iterators.pull(run, inner)) is not END:
        if value is UNSURE:
            raise _Unsure
        run.step(node)
        assignment.assign(run, node.target, value, scope)
        done = yield from _block(run, node.body, scope)
        if done is not None and done.kind == "break":
            return None
        if done is not None and done.kind != "continue":
            return done
    return (yield from _block(run, node.orelse, scope))


def _guarded(run: Interpreter, body: _Stepping, catching: Any) -> _Stepping:
    """A body inside ``try``: each step of it is asked whether it may raise what is caught."""
    sent: Value = None
    thrown: Raised | None = None
    while True:
        stepped: list[tuple[bool, Value]] = []

        def step(sent: Value = sent, thrown: Raised | None = thrown) -> Done:
            try:
                value = body.throw(thrown) if thrown is not None else body.send(sent)
            except StopIteration as stop:
                stepped.append((True, stop.value))  # noqa: B023
                return stop.value  # type: ignore[no-any-return]
            stepped.append((False, value))  # noqa: B023
            return None

        guard = Guard(lambda error: handlers.catches(error, catching), run.heap.depth)
        run.tries += 1
        try:
            ways = guards.guarded(run, guard, step)
        finally:
            run.tries -= 1
        if len(ways) != 1:
            raise _Unsure
        run.heap.apply(ways[0].change)
        if isinstance(ways[0].done, Raise):
            return ways[0].done
        is_over, value = stepped[-1]
        if is_over:
            return value  # type: ignore[no-any-return]
        sent, thrown = None, None
        try:
            sent = yield value
        except Raised as error:
            thrown = error


def _try(run: Interpreter, node: ast.Try, scope: Scope) -> _Stepping:
    if node.finalbody:
        inner = _handled(run, node, scope)
        try:
            done = yield from _guarded(run, inner, handlers.EVERYTHING)
        except Raised as error:
            done = Raise(error)
        if isinstance(done, Raise):
            run.handled.append(done.error)
        try:
            last = yield from _block(run, node.finalbody, scope)
        finally:
            if isinstance(done, Raise) and done.error in run.handled:
                run.handled.remove(done.error)
        return done if last is None else last
    return (yield from _handled(run, node, scope))


def _handled(run: Interpreter, node: ast.Try, scope: Scope) -> _Stepping:
    if not node.handlers:
        return (yield from _block(run, node.body, scope))
    catching = handlers.handlers_of(run, node, scope)
    done = yield from _guarded(run, _block(run, node.body, scope), catching)
    if not isinstance(done, Raise):
        return done if done is not None else (yield from _block(run, node.orelse, scope))
    options = handlers.takers(done.error, catching)
    if len(options) != 1:
        raise _Unsure
    if options[0] is None:
        return done
    handler = options[0]
    if handler.name:
        run.heap.write(scope.holder(handler.name), handler.name, handlers.object_of(run, done.error))
    run.handled.append(done.error)
    try:
        return (yield from _block(run, handler.body, scope))
    finally:
        if done.error in run.handled:
            run.handled.remove(done.error)


def _with(run: Interpreter, node: ast.With, scope: Scope) -> _Stepping:
    return (yield from _managed(run, node, scope, 0))


def _managed(run: Interpreter, node: ast.With, scope: Scope, index: int) -> _Stepping:
    """The body inside the managers from ``index`` on."""
    if index == len(node.items):
        return (yield from _block(run, node.body, scope))
    item = node.items[index]
    manager = run.resolve(run.evaluate(item.context_expr, scope))
    found = manager.cls.find("__exit__") if isinstance(manager, Instance) else None
    if found is None or manager.cls.find("__enter__") is None:
        raise _Unsure
    value = run.call(run.attribute(manager, "__enter__"), ())
    if item.optional_vars is not None:
        assignment.assign(run, item.optional_vars, value, scope)
    try:
        done = yield from _guarded(run, _managed(run, node, scope, index + 1), handlers.EVERYTHING)
    except Raised as error:
        done = Raise(error)
    left = managers.leave(run, manager, found[0], done)
    if isinstance(left, Split):
        raise _Unsure
    return left


_TABLE: Final[dict[type[ast.stmt], Callable[[Interpreter, Any, Scope], _Stepping]]] = {
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.Return: _return,
    ast.If: _if,
    ast.While: _while,
    ast.For: _for,
    ast.Try: _try,
    ast.With: _with,
}
