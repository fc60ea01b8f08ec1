"""Statements: a table from the kind of syntax to what it does. Each gives how it ends (`outcomes.Done`)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import assignment, branches, calls, classes, guards, loops
from simpletorch.follow.annotations import hold_variable
from simpletorch.follow.guards import Guard
from simpletorch.follow.heap import Cells
from simpletorch.follow.marks import devices
from simpletorch.follow.mistakes import events
from simpletorch.follow.model import caught, handlers, kinds, unmodelled
from simpletorch.follow.outcomes import BREAK, CONTINUE, Done, Ending, Outcome, Passing, Raise, Raised, Return, Split
from simpletorch.follow.sources import imports, machines, moves, refusals
from simpletorch.follow.sources.syntax import of_node, unparsed, walk
from simpletorch.follow.values import GOES_ROUND, MISSING, Class, Instance, Unknown, Value, is_known

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter
    from simpletorch.follow.model.scopes import Scope

__all__ = ["TABLE", "block"]


def block(run: Interpreter, body: Sequence[ast.stmt], scope: Scope, start: int) -> Done:
    """Statements one after the other, until one ends otherwise than normally."""
    for index in range(start, len(body)):
        statement = body[index]
        run.step(statement)
        run.path = scope.path
        run.passed[statement] = scope.path
        depth = run.heap.depth
        try:
            done = TABLE[type(statement)](run, statement, scope)
        except Raised as error:
            done = Raise(error)
            if run.raised.error is not error:
                run.raised = Ending(error, scope.path, statement)
                if run.heap.depth == depth and _goes_on(run, statement, error):
                    run.note_failure(error, statement)
                    done = _without(run, statement, scope, f"{error.name} is raised")
        except (Passing, MemoryError):
            raise
        except Exception as error:
            if run.heap.depth != depth:  # it was in the middle of something
                raise
            done = _beyond(run, statement, scope, error)
        if type(done) is Raise and run.raised.error is not done.error:
            run.raised = Ending(done.error, scope.path, statement)
        if isinstance(done, Split) and any(o.kind == "normal" for o in done.outcomes):
            if index + 1 == len(body):
                return done
            return branches.follow_on(run, done, partial(block, run, body, scope, index + 1))
        if done is not None:
            return done
    return None


def _beyond(run: Interpreter, node: ast.stmt, scope: Scope, error: Exception) -> Done:
    """A statement that couldn't be followed: a mistake of the follower's, or values that hold each other for ever."""
    if not isinstance(error, RecursionError):
        run.fault(error)
    return _without(run, node, scope, "what wasn't followed")


_MISTAKES: Final = frozenset({
    "AttributeError", "ImportError", "IndexError", "KeyError", "LookupError", "ModuleNotFoundError", "NameError",
    "TypeError", "UnboundLocalError", "ValueError", "ZeroDivisionError",
})  # fmt: skip
"""What Python raises itself where something doesn't fit."""


def _goes_on(run: Interpreter, node: ast.stmt, error: Raised) -> bool:
    """Whether following continues behind a statement that fails.

    A gap in what is modelled is likelier than a program that never runs. The program's own ``raise`` does end it, as
    does an exception that may be caught; one in a branch shows that the branch isn't taken.
    """
    if isinstance(node, ast.Raise) or error.name not in _MISTAKES or error.value is not None:
        return False
    in_branch = any(c.fact is not GOES_ROUND for c in run.conditions)  # a loop's round isn't taken for one
    return not (in_branch or run.entry or run.hypothetical or run.questions or guards.is_caught(run, error))


def _without(run: Interpreter, node: ast.stmt, scope: Scope, reason: str) -> Done:
    """Go on behind a statement that wasn't followed to its end: it may have changed what it names."""
    unmodelled.happens(run, node, scope, reason)
    return Return(run.unknown(reason)) if isinstance(node, ast.Return) else None


def _unmodelled(run: Interpreter, node: ast.stmt, scope: Scope) -> Done:
    return _without(run, node, scope, f"what {type(node).__name__} does")


def _expression(run: Interpreter, node: ast.Expr, scope: Scope) -> Done:
    value = run.evaluate(node.value, scope)
    if type(node.value) is ast.Attribute:
        events.STATEMENT(run, node.value, value)
    return None


def _assign(run: Interpreter, node: ast.Assign, scope: Scope) -> Done:
    value = run.evaluate(node.value, scope)
    for target in node.targets:
        assignment.assign(run, target, value, scope)
    return None


def _annotated(run: Interpreter, node: ast.AnnAssign, scope: Scope) -> Done:
    if scope.is_class and isinstance(node.target, ast.Name):
        notes = scope.cells.setdefault("__annotations__", {})
        if isinstance(notes, dict):  # else the program has given it
            notes[node.target.id] = node.annotation
    if node.value is not None:
        value = run.evaluate(node.value, scope)
        if run.places:
            hold_variable(run, node.annotation, value, scope, unparsed(node.target))
        assignment.assign(run, node.target, value, scope)
    return None


def _augmented(run: Interpreter, node: ast.AugAssign, scope: Scope) -> Done:
    assignment.augment(run, node, scope)
    return None


def _return(run: Interpreter, node: ast.Return, scope: Scope) -> Done:
    return Return(None if node.value is None else run.evaluate(node.value, scope))


_TRUTHS: Final = (bool, int, float, str, type(None))  # of these it is known whether they are true


def _if(run: Interpreter, node: ast.If, scope: Scope) -> Done:
    test = run.evaluate(node.test, scope)
    if (
        type(test) in _TRUTHS
        and machines.is_refusal(node.body if test else node.orelse)
        and machines.is_guard(run, node.test, scope)
    ):
        machines.passed(run, node.test, scope)
        return run.execute(node.orelse, scope) if test else _any_of(run, machines.ways(run, node, scope), scope)
    done = branches.choose(run, test, lambda: run.execute(node.body, scope), lambda: run.execute(node.orelse, scope))
    if run.places and test is False and done is None:
        _there(run, node, scope)
    return done


def _any_of(run: Interpreter, ways: Sequence[list[ast.stmt]], scope: Scope) -> Done:
    """Run one of several blocks; it isn't known which."""
    first, *rest = ways
    if not rest:
        return run.execute(first, scope)
    which = run.unknown("an option that isn't one of those that the program knows")
    return branches.choose(run, which, lambda: run.execute(first, scope), lambda: _any_of(run, rest, scope))


def _there(run: Interpreter, node: ast.If, scope: Scope) -> None:
    """``if torch.cuda.is_available(): x = x.cuda()``, whose body doesn't run here: what it moves is on CUDA there."""
    for statement in moves.moves(node, moves.flags(run)) or ():
        if isinstance(statement, ast.Assign) and moves.names_cuda(statement.value):
            held = run.evaluate(statement.targets[0], scope)
            if devices.is_cpu(held):
                assignment.assign(run, statement.targets[0], devices.as_chosen(held), scope)
        elif all(devices.can_move(run.resolve(run.evaluate(v, scope))) for v in moves.moved_by(statement) or ()):
            run.execute([statement], scope)


def _assert(run: Interpreter, node: ast.Assert, scope: Scope) -> Done:
    test = run.evaluate(node.test, scope)
    if type(test) in _TRUTHS and not test and machines.depends(run, node.test, scope):
        machines.passed(run, node.test, scope)
        return None
    if test is False and (_is_about_shapes(node.test) or _is_about_known_values(run, node.test, scope)):
        run.node = node
        said = guards.refuse(run, _failed(run, node.test, scope), None, "AssertionError", "tensor-shape")
        ends = scope.function not in ("", "__init__")  # an object that is half made would lack attributes
        return Return(said) if ends else None  # behind it nothing is judged
    error = Raise(Raised("AssertionError", None, ("Exception", "BaseException")))
    return branches.choose(run, test, lambda: None, lambda: error)


@of_node
def _is_about_shapes(test: ast.expr) -> bool:
    return any(isinstance(n, ast.Attribute) and n.attr in _OF_SHAPES for n in walk(test))


def _is_about_known_values(run: Interpreter, test: ast.expr, scope: Scope) -> bool:
    """Whether it compares lengths, classes or what shapes gave, and is surely reached as the program stands.

    An assertion that fails in a branch, or in a function without a caller, shows that the program never gets there.
    """
    if not run.surely_gets_here or run.questions:
        return False
    names = _sized(run.tree) if run.tree is not None else frozenset()
    about = False
    for node in walk(test):
        match node:
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, classes]):
                with run.silently():
                    if not _is_plain_class(run, run.resolve(run.evaluate(classes, scope))):
                        return False
                about = True
            case ast.Call(func=ast.Name(id="len")):
                about = True
            case ast.Name(id=name):
                about = about or name in names
    return about


def _is_plain_class(run: Interpreter, value: Value) -> bool:
    """Whether an object is one of a class only if its own class derives from it."""
    if isinstance(value, tuple):
        return all(_is_plain_class(run, run.resolve(one)) for one in value)
    if not isinstance(value, Class) or value.unknown_base is not None or "metaclass" in value.metadata:
        return False
    if value.module in ("builtins", "numpy") or value.qualified == "torch.Tensor" or value.is_a("torch.nn.Module"):
        return True
    return all("parameters" in c.metadata or c.qualified == "builtins.object" for c in value.mro)


@of_node
def _sized(tree: ast.Module) -> frozenset[str]:
    """The names that are assigned nothing but sizes and lengths."""
    sizes: set[str] = set()
    others: set[str] = set()
    for node in walk(tree):
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            for name in target.elts if isinstance(target, ast.Tuple) else (target,):
                if isinstance(name, ast.Name):
                    (sizes if _is_about_shapes(node.value) else others).add(name.id)
    return frozenset(sizes - others)


_NOT_TWICE: Final = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
_OF_SHAPES: Final = ("shape", "size", "ndim", "dim", "numel")


def _failed(run: Interpreter, test: ast.expr, scope: Scope) -> str:
    """Why an assertion fails: what stands on both sides, as far as that is known."""
    said = f"assert {ast.unparse(test)} fails"
    if not isinstance(test, ast.Compare) or len(test.ops) > 1:
        return said
    parts = []
    for side in (test.left, *test.comparators):
        if isinstance(side, ast.Constant | ast.Tuple) or any(
            isinstance(n, ast.NamedExpr | ast.Await) for n in walk(side)
        ):
            continue
        with run.silently():
            value = run.resolve(run.evaluate(side, scope))
        if is_known(value):
            parts.append(f"{ast.unparse(side)} is {value}")
    return f"{said}: {', and '.join(parts)}" if parts else said


_EXCEPTION: Final = ("Exception", "BaseException")


def _raise(run: Interpreter, node: ast.Raise, scope: Scope) -> Done:
    if node.exc is None:
        return Raise(run.handled[-1] if run.handled else Raised("RuntimeError", None, _EXCEPTION))
    if isinstance(node.exc, ast.Call) and scope.path in run.program.own - run.program.packages.files:
        return Raise(refusals.refused(run, node.exc, scope))
    error = handlers.exception_of(run, run.evaluate(node.exc, scope))
    if run.handled and error.finding is None:  # raised for the mistake that a handler has taken
        error.finding = run.handled[-1].finding
    if isinstance(error.value, Instance):
        _chain(run, error.value, None if node.cause is None else (run.evaluate(node.cause, scope),))
    elif node.cause is not None:
        run.evaluate(node.cause, scope)
    return Raise(error)


def _chain(run: Interpreter, value: Instance, cause: tuple[Value] | None) -> None:
    """An exception knows during which other one it was raised, and which it was raised from."""
    if run.handled:
        other = run.handled[-1].value
        if other is not value:
            context = other if isinstance(other, Instance) else run.unknown("an exception")
            run.heap.write(value.cells, "__context__", context)
    elif "__context__" not in value.cells:
        run.heap.write(value.cells, "__context__", None)
    if cause is not None:
        given = run.resolve(cause[0])
        if given is not None and handlers.is_no_exception(given):
            raise kinds.error("TypeError")
        if not handlers.is_exception(given):
            guards.may_raise(run, (kinds.error("TypeError"),))
        run.heap.write(value.cells, "__cause__", run.call(given, ()) if isinstance(given, Class) else given)
    elif "__cause__" not in value.cells:
        run.heap.write(value.cells, "__cause__", None)
    if cause is not None or "__suppress_context__" not in value.cells:
        run.heap.write(value.cells, "__suppress_context__", cause is not None)


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

    manager = run.evaluate(item.context_expr, scope)
    if isinstance(node, ast.AsyncWith) and isinstance(manager, Unknown):
        calls.wait(run, scope)
    return classes.managed(run, manager, inside, asynchronous=isinstance(node, ast.AsyncWith))


_KINDS: Final = ("normal", "return", "break", "continue", "raise")


def _try(run: Interpreter, node: ast.Try, scope: Scope) -> Done:
    if not node.finalbody:
        return _guarded(run, node, scope)

    def finally_(way: Outcome) -> Done:
        raised = [way.done.error] if isinstance(way.done, Raise) else []  # the context of what is raised here
        run.handled += raised
        try:
            last = run.execute(node.finalbody, scope)
        finally:
            del run.handled[len(run.handled) - len(raised) :]
        if isinstance(last, Split):
            for o in last.outcomes:
                o.done = way.done if o.done is None else o.done
        return way.done if last is None else last

    guard = Guard(lambda error: True, run.heap.depth, passes_on=True)
    return branches.go_on(run, guards.guarded(run, guard, lambda: _guarded(run, node, scope)), finally_, _KINDS)


def _try_star(run: Interpreter, node: Any, scope: Scope) -> Done:
    """``except*``: what is raised is shared out among the handlers; which of them runs isn't known."""
    if not node.finalbody:
        return _shared_out(run, node, scope)
    return _try(run, _in_finally(node), scope)


@of_node
def _in_finally(node: Any) -> ast.Try:
    """``try: try: … except* …: …; finally: …``."""
    inner = ast.copy_location(type(node)(node.body, node.handlers, node.orelse, []), node)
    return ast.copy_location(ast.Try([inner], [], [], node.finalbody), node)


def _shared_out(run: Interpreter, node: Any, scope: Scope) -> Done:
    guard = Guard(lambda error: True, run.heap.depth)
    run.tries += 1
    try:
        ways = guards.guarded(run, guard, lambda: run.execute(node.body, scope))
    finally:
        run.tries -= 1

    def following(way: Outcome) -> Done:
        if not isinstance(way.done, Raise):
            return run.execute(node.orelse, scope)
        return _each_handler(run, node.handlers, 0, way.done, scope, Cells({_AGAIN: False}))

    return branches.go_on(run, ways, following, ("normal", "raise"))


def _each_handler(
    run: Interpreter, handlers: Sequence[ast.ExceptHandler], at: int, raised: Raise, scope: Scope, state: Cells
) -> Done:
    """One handler after the other; ``state`` holds whether one of them has raised, which ends the statement."""
    if at == len(handlers):
        left = run.unknown("whether a handler takes all that is raised", "bool")
        of_handlers = Raise(Raised("ExceptionGroup", None, _EXCEPTION))
        return branches.choose(
            run, state[_AGAIN], lambda: of_handlers, lambda: branches.choose(run, left, lambda: None, lambda: raised)
        )
    handler = handlers[at]

    def taken() -> Done:
        if handler.name:
            run.heap.write(scope.holder(handler.name), handler.name, run.unknown("a group of exceptions"))
        run.handled.append(Raised("ExceptionGroup", None, _EXCEPTION))
        try:
            done = run.execute(handler.body, scope)
        finally:
            run.handled.pop()
        if isinstance(done, Split):
            return branches.follow_on(run, done, raises, ("raise",))
        if not isinstance(done, Raise):
            return done
        raises()
        return None

    def raises() -> None:
        run.heap.write(state, _AGAIN, True)

    done = branches.choose(run, run.unknown("what is raised", "bool"), taken, lambda: None)
    if isinstance(done, Split) and any(o.kind == "normal" for o in done.outcomes):
        return branches.follow_on(run, done, lambda: _each_handler(run, handlers, at + 1, raised, scope, state))
    return done if done is not None else _each_handler(run, handlers, at + 1, raised, scope, state)


_AGAIN: Final = "a handler has raised"


_OF_IMPORTS: Final = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
_OF_TORCH: Final = {"Exception", "BaseException", "RuntimeError", "ValueError", "IndexError", "TypeError"}


def _guarded(run: Interpreter, node: ast.Try, scope: Scope) -> Done:
    """The body with ``else``, and the handlers of what it raises, or may raise."""
    if not node.handlers:
        return run.execute(node.body, scope)
    catching = handlers.handlers_of(run, node, scope)
    reacts = any(_OF_TORCH.intersection(names) or "" in names for names, _ in catching)
    optional = any(_OF_IMPORTS.intersection(names) and not machines.needs(h.body) for names, h in catching)
    guard = Guard(
        lambda error: handlers.catches(error, catching),
        run.heap.depth,
        lambda error: tuple(handlers.takers(error, catching)),
    )
    run.tries += reacts
    run.optional_imports += optional
    try:
        ways = guards.guarded(run, guard, lambda: run.execute(node.body, scope))
    finally:
        run.tries -= reacts
        run.optional_imports -= optional

    def following(way: Outcome) -> Done:
        if isinstance(way.done, Raise):
            return _handled(run, node, way.done.error, catching, scope)
        return run.execute(node.orelse, scope)

    return branches.go_on(run, ways, following, ("normal", "raise"))


def _handled(run: Interpreter, node: ast.Try, error: Raised, catching: handlers.Catching, scope: Scope) -> Done:
    return _one_of(run, node, error, handlers.takers(error, catching), scope)


def _one_of(
    run: Interpreter, node: ast.Try, error: Raised, options: Sequence[ast.ExceptHandler | None], scope: Scope
) -> Done:
    if len(options) > 1:
        condition = run.unknown("what is raised", "bool")
        return branches.choose(
            run,
            condition,
            lambda: _one_of(run, node, error, options[:1], scope),
            lambda: _one_of(run, node, Raised(error.name, error.value, error.bases), options[1:], scope),
        )
    (handler,) = options
    if handler is None:
        return Raise(error)
    if handler.name:
        run.heap.write(scope.holder(handler.name), handler.name, handlers.object_of(run, error))
    if caught.is_failure(run, node, handler, error):
        caught.tell(run, error)
    run.handled.append(error)
    try:
        return run.execute(handler.body, scope)
    finally:
        run.handled.pop()
        if handler.name and handler.name in scope.holder(handler.name):
            run.heap.write(scope.holder(handler.name), handler.name, MISSING)


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


def _alias(run: Interpreter, node: Any, scope: Scope) -> Done:
    """``type Batch = torch.Tensor`` of Python 3.12: what it stands for is computed where somebody asks."""
    try:
        value = run.evaluate(node.value, scope)
    except Raised:
        value = run.unknown("what an alias stands for")
    assignment.assign(run, node.name, value, scope)
    return None


def _nothing(run: Interpreter, node: ast.stmt, scope: Scope) -> Done:
    return None


def _import(run: Interpreter, node: ast.Import, scope: Scope) -> Done:
    imports.plain(run, node, scope)
    return None


def _import_from(run: Interpreter, node: ast.ImportFrom, scope: Scope) -> Done:
    imports.names(run, node, scope)
    return None


_MODELS: Final[dict[type[ast.stmt], Callable[[Interpreter, Any, Scope], Done]]] = {
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
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
    ast.Match: _match,
    ast.Global: _declare,
    ast.Nonlocal: _declare,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
}
_MODELS[ast.TryStar] = _try_star
if (alias := getattr(ast, "TypeAlias", None)) is not None:
    _MODELS[alias] = _alias
TABLE: Final = unmodelled.Table(_MODELS, _unmodelled)
