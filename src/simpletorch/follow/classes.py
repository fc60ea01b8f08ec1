"""Functions and classes, made by ``def`` and ``class``; objects, generators and managers, made by calling them."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import branches, guards, texts
from simpletorch.follow.annotations import hold_class
from simpletorch.follow.guards import Guard
from simpletorch.follow.heap import Cells
from simpletorch.follow.memory import remembered
from simpletorch.follow.mistakes import events
from simpletorch.follow.model import (
    coroutines,
    descriptors,
    generators,
    iterators,
    kinds,
    managers,
    members,
    metaclasses,
    names,
    unmodelled,
)
from simpletorch.follow.model.scopes import Scope
from simpletorch.follow.numbers import between, offsets
from simpletorch.follow.outcomes import Done, Outcome, Passing, Raise, Raised
from simpletorch.follow.sources.syntax import of_node, own_nodes, walk
from simpletorch.follow.values import (
    MISSING,
    SIZE,
    Choice,
    Class,
    Dict,
    Function,
    Instance,
    Iterator,
    List,
    Method,
    StaticMethod,
    Unknown,
    Value,
    is_known,
)
from simpletorch.rules import Device

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = [
    "build",
    "create",
    "define",
    "generate",
    "give",
    "instantiate",
    "is_exception",
    "maker",
    "managed",
    "plainly",
    "yields",
]

_MOST_YIELDS: Final = 256
_MOST_KINDS: Final = 16  # values that a generator gives each of which has a size of its own
_ALIKE: Final = 3  # values that a generator gives, one like the other, until it counts as endless


class _Enough(Passing):
    """A generator has given enough to know what it gives."""


# -- functions -------------------------------------------------------------------------------------------------------


def define(run: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scope: Scope) -> Value:
    """A function, as its decorators leave it."""
    spec = node.args
    decorators = [] if isinstance(node, ast.Lambda) else [run.evaluate(d, scope) for d in node.decorator_list]
    made = Function(
        node,
        _seeing_parameters(run, node, scope),
        "<lambda>" if isinstance(node, ast.Lambda) else node.name,
        tuple(run.evaluate(d, scope) for d in spec.defaults),
        {
            a.arg: run.evaluate(d, scope)
            for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
            if d is not None
        },
        scope.owner if scope.is_class else None,
    )
    if isinstance(node, ast.Lambda):
        return made
    return _decorated(run, node, decorators, made)


def _seeing_parameters(run: Interpreter, node: ast.AST, scope: Scope) -> Scope:
    """The scope of the type parameters that a function or class states (from Python 3.12 on), inside of another."""
    stated = getattr(node, "type_params", ())
    return Scope(scope, scope.path, {p.name: run.unknown("a type parameter") for p in stated}) if stated else scope


def _decorated(
    run: Interpreter, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, decorators: list[Value], value: Value
) -> Value:
    """Apply the decorators of a function or class, the last one first."""
    for decorator, found in zip(reversed(node.decorator_list), reversed(decorators), strict=True):
        value = _by_decorator(run, decorator, run.resolve(found), value)
    return value


def _by_decorator(run: Interpreter, decorator: ast.expr, found: Value, value: Value) -> Value:
    if isinstance(found, Unknown):
        made = run.unknown(f"what the decorator {ast.unparse(decorator)} makes of {getattr(value, 'name', 'it')}")
        made.given = (value,) if isinstance(value, Function) else ()
        return made
    return run.call(found, (value,))


_YIELDS: Final = (ast.Yield, ast.YieldFrom)


@of_node
def yields(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> bool:
    """Whether it is a generator function."""
    inside = any(type(n) in _YIELDS for n in walk(node))  # takes a fraction of the time; in few functions it says yes
    return inside and any(type(n) in _YIELDS for n in own_nodes(node))


# -- generators ------------------------------------------------------------------------------------------------------


def generate(run: Interpreter, function: Function, scope: Scope) -> Value:
    """What calling a generator function gives: a manager under ``contextlib.contextmanager``, else its values."""
    if function.context_manager:
        return Instance(run.program.library_class("contextlib.AbstractContextManager"), (function, scope))
    steps = generators.Steps(run, function, scope, lambda: _generated(run, function, scope, steps))
    return iterators.lazily(steps)


def _generated(run: Interpreter, function: Function, scope: Scope, steps: generators.Steps | None = None) -> Value:
    """The items of a generator that runs to its end at once."""
    given = List()
    scope.yielded, scope.depth, roots = given, run.heap.depth, run.roots

    def work() -> Value:
        before = run.hypothetical
        try:
            result = branches.finish(run, _to_the_end(run, function, scope))
            if steps is not None:
                steps.result = result
        except Raised as error:
            raise generators.not_stop(function, error) from None
        except _Enough:
            item = branches.common_item(given.items, "what a generator gives") if given.items else given.item
            return Iterator(None, texts.one_of_many(run, item, roots))
        finally:
            run.hypothetical = before
        number = between.count(given)
        item = given.item if given.items is not None else texts.one_of_many(run, given.item, roots)
        return Iterator(given.items, item, number if type(number) is int else None)

    return run.enter(function, scope, work)


_CLOSED: Final = Raised("GeneratorExit", None, ("BaseException",))


def _to_the_end(run: Interpreter, function: Function, scope: Scope) -> Done:
    """The body of a generator. What it does where it is left in the middle (``finally``) is followed, and dropped."""
    if not _minds_its_end(function.node):
        return run.execute(_body(function), scope)

    def body() -> Done:
        scope.depth = run.heap.depth
        return run.execute(_body(function), scope)

    guard = Guard(lambda error: error.name == _CLOSED.name, run.heap.depth)
    ways = [w for w in guards.guarded(run, guard, body) if not (isinstance(w.done, Raise) and w.done.error is _CLOSED)]
    if len(ways) == 1:
        ways[0].conditions = ()
    return branches.go_on(run, ways, lambda way: way.done, ("normal", "return", "raise"))


@of_node
def _minds_its_end(node: ast.AST) -> bool:
    """Whether something is done where a generator is left in the middle."""
    return any(isinstance(n, ast.Try | ast.With) for n in walk(node))


def _body(function: Function) -> list[ast.stmt]:
    return generators.statements(function.node)


def give(run: Interpreter, scope: Scope, value: Value, *, several: bool = False) -> Value:
    """``yield value``: what it gives is what ``send`` sends, which isn't known."""
    taker = scope.yielded
    if callable(taker):
        taker(value)
        return None
    if not isinstance(taker, List):
        return run.unknown("a value sent to a generator")
    guards.may_raise(run, (_CLOSED,))
    run.hypothetical = True
    if several or taker.items is None:
        scope.given += 1
        again = taker.items is None and branches.alike(branches.common_item((taker.item, value)), taker.item)
        if (again or scope.given > _MOST_KINDS) and run.heap.depth == scope.depth:
            raise _Enough
        kept = taker.items if taker.items is not None else (taker.item,)
        size = None if several else taker.cells.get(SIZE)
        run.heap.write(taker.cells, "item", branches.common_item((*kept, value)))
        run.heap.write(taker.cells, "items", None)
        offsets.resized(run, taker, size, 1)
        return None
    items = (*taker.items, value)
    run.heap.write(taker.cells, "items", items)
    last = items[-_ALIKE:]
    endless = len(items) > _MOST_YIELDS or (
        len(items) > 2 * _ALIKE and not isinstance(value, int | str) and all(branches.alike(v, value) for v in last)
    )
    if endless and run.heap.depth == scope.depth:
        raise _Enough
    return None


# -- classes ---------------------------------------------------------------------------------------------------------


def _parameters(node: ast.ClassDef) -> tuple[str, ...]:
    """The names of a generic class's parameters, in their order, as far as it states them."""
    stated = [p.name for p in getattr(node, "type_params", ())]  # from Python 3.12 on
    for base in node.bases:
        match base:
            case ast.Subscript(value=ast.Name(id="Generic" | "Protocol") | ast.Attribute(attr="Generic" | "Protocol")):
                items = base.slice.elts if isinstance(base.slice, ast.Tuple) else [base.slice]
                stated += [item.id if isinstance(item, ast.Name) else "" for item in items]
    return tuple(stated)


def create(run: Interpreter, node: ast.ClassDef, scope: Scope) -> Value:
    """A class, as its decorators leave it."""
    names.mangle(node, node.name)
    decorators = [run.evaluate(d, scope) for d in node.decorator_list]
    around = _seeing_parameters(run, node, scope)
    seen = {**scope.cells, **around.cells} if around is not scope and scope.is_class else around.cells
    bases, options = _heading(run, node, Scope(scope, scope.path, seen) if around is not scope else scope)
    body = Scope(around, scope.path, is_class=True)
    module = "simpletorch" if scope.path in run.program.own else run.program.main  # of ours not all is said
    if scope.path.endswith(".pyi") or scope.path in run.program.packages.files:
        module = scope.globals.cells["__name__"]

    def fill(made: Class) -> None:
        made.metadata["parameters"] = _parameters(node)
        outer = scope.owner.metadata.get(metaclasses.QUALIFIED) if scope.is_class and scope.owner is not None else None
        made.metadata[metaclasses.QUALIFIED] = f"{outer}.{node.name}" if outer else None if scope.parent else node.name
        if descriptors.META in made.metadata:
            made.metadata[metaclasses.UNWRITTEN] = {"__module__": module, **_unwritten(node)}
        body.owner = made
        branches.finish(run, run.execute(node.body, body))

    value = _build(run, node.name, bases, options, body.cells, module, fill)
    if isinstance(value, Class):
        hold_class(run, node, value, scope)
    return _decorated(run, node, decorators, value)


@of_node
def _unwritten(node: ast.ClassDef) -> dict[str, Value]:
    """The names of a class body that no statement gives: a metaclass is given them too."""
    found: dict[str, Value] = {"__qualname__": Unknown("the name of a class", "str")}
    if (text := ast.get_docstring(node, clean=False)) is not None:
        found["__doc__"] = text
    if sys.version_info >= (3, 13):
        found |= {"__firstlineno__": Unknown("a line", "int"), "__static_attributes__": Unknown("names", "tuple")}
    todo: list[ast.AST] = list(node.body)
    while todo:
        inner = todo.pop()
        if isinstance(inner, ast.Name) and inner.id in ("super", "__class__"):
            found[metaclasses.CELL] = Unknown("the cell of a class")
        todo += () if isinstance(inner, ast.ClassDef) else ast.iter_child_nodes(inner)
    return found


def _heading(run: Interpreter, node: ast.ClassDef, scope: Scope) -> tuple[list[Value], dict[str, Value]]:
    """The bases and the options in a class statement; what isn't known of them is an unknown base."""
    bases: list[Value] = []
    for base in node.bases:
        if isinstance(base, ast.Starred):
            found = run.items(run.evaluate(base.value, scope))
            bases += (run.unknown("a base"),) if found is None else map(run.resolve, found)
        else:
            bases.append(run.resolve(run.evaluate(base, scope)))
    options: dict[str, Value] = {}
    for keyword in node.keywords:
        value = run.evaluate(keyword.value, scope)
        given = run.resolve(value)
        if keyword.arg is not None:
            options[keyword.arg] = value
        elif isinstance(given, Dict) and given.rest is MISSING and all(type(k) is str for k in given.cells):
            options |= given.cells
        else:
            bases.append(run.unknown("an option of a class"))
    return bases, options


def build(run: Interpreter, name: str, bases: Sequence[Value], namespace: Dict, options: dict[str, Value]) -> Value:
    """``type(name, bases, namespace, **options)``; the metaclass is that of the bases.

    Raises:
        Raised: there is no such class.
    """
    cells = Cells({n: v for n, v in namespace.cells.items() if n != metaclasses.CELL})
    if len(cells) < len(namespace.cells):  # it may be that of another class
        guards.may_raise(run, guards.ANY)
    made = _build(run, name, bases, options, cells, run.program.main, lambda made: None)
    if namespace.rest is not MISSING and isinstance(made, Class):
        made.unknown_base = run.unknown("what a class has that is made at run time")
    return made


def _build(
    run: Interpreter,
    name: str,
    bases: Sequence[Value],
    options: dict[str, Value],
    cells: dict[str, Any],
    module: str,
    fill: Callable[[Class], None],
) -> Value:
    known = tuple(b for b in bases if isinstance(b, Class))
    made = Class(name, known or (run.program.library_class("builtins.object"),), cells, module)
    strange = next((b for b in bases if not isinstance(b, Class)), None)
    extended = any(c.metadata.get("members") for b in known for c in b.mro)
    if extended or any((kinds.is_of_python(b) and not isinstance(b, slice)) or isinstance(b, Function) for b in bases):
        raise kinds.error("TypeError")
    if strange is not None:
        guards.may_raise(run, guards.ANY)
        made.unknown_base = strange if isinstance(strange, Unknown) else run.unknown(f"base {strange!r}")
    metaclasses.check_bases(made)
    if "metaclass" in options:
        made.metadata["metaclass"] = True
    made.metadata["options"] = frozenset(options)
    finished = metaclasses.begin(run, made, bases, options)
    fill(made)
    value: Value = finished()
    for base in known:
        for cls in base.mro:
            hook = cls.metadata.get("subclassed")
            if hook is not None:
                hook(run, made)
    metaclasses.subclassed(run, made, options)
    return value


def instantiate(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``cls(*args, **kwargs)``."""
    if cls.metadata.get(metaclasses.ABSTRACT):
        raise Raised("TypeError", None, ("Exception", "BaseException"))
    if (own := metaclasses.special(cls, "__call__")) is not None:
        return run.call(own, args, kwargs)
    return plainly(run, cls, args, kwargs)


def plainly(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """``type.__call__(cls, *args, **kwargs)``."""
    init = cls.find("__init__")
    if init is not None and isinstance(init[0], Function) and cls.is_a("torch.nn.Module"):
        return remembered.construction(run, cls, args, kwargs, lambda: _instantiate(run, cls, args, kwargs))
    return _instantiate(run, cls, args, kwargs)


def maker(cls: Class) -> Any:
    """What makes the objects of a library's class, or of one that is derived from it; None where they are plain."""
    first = next((c for c in cls.mro if "make" in c.metadata or "__init__" in c.cells), None)
    made = first is not None and "make" in first.metadata and (first is cls or kinds.collection_of(cls) is None)
    return first.metadata["make"] if made and first is not None else None


def _instantiate(run: Interpreter, cls: Class, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    kind = metaclasses.behaves_otherwise(cls)
    if kind is not None:
        guards.may_raise(run, guards.ANY)
        run.escape((*args, *kwargs.values()))
        found = run.unknown(f"an object of a class that is derived from {kind}")
        found.derived = cls
        return found
    if cls.qualified == "builtins.OSError" and len(args) > 1 and type(number := run.resolve(args[0])) is int:
        cls = run.program.library_class(f"builtins.{type(OSError(number, '')).__name__}")  # Python's own choice
    make = maker(cls)
    if make is not None:
        kinds.check_arguments(cls, args, kwargs)
        if not run.takers:
            return make(run, cls, args, kwargs)
        return unmodelled.watched(run, cls.qualified, lambda run, *given: make(run, cls, *given), args, kwargs)
    new = cls.find("__new__")
    if new is not None and isinstance(new[0], Function | StaticMethod):
        inner = new[0].function if isinstance(new[0], StaticMethod) else new[0]
        first = (cls, cls) if isinstance(new[0], StaticMethod) and new[0].of_class else (cls,)
        made = run.resolve(run.call(inner, (*first, *args), kwargs))
        if not isinstance(made, Instance) or cls not in made.cls.mro:
            return made
    else:
        made = Instance(cls, kinds.collection_of(cls))
    if (end := cls.find("__del__")) is not None:  # at a time that isn't followed
        run.escape((end[0],))
    init, failed = cls.find("__init__"), run.failed
    if init is not None:
        _initialise(run, cls, made, init, args, kwargs)
        if run.failed > failed:  # it was never built
            run.heap.write(made.state, "open", True)
    elif cls.fields is not None:
        if not (cls.metadata.get("tuple") and made.cells):  # else `__new__` has done it
            fill(run, made, args, kwargs)
    elif cls.unknown_base is not None:
        guards.may_raise(run, guards.ANY)
        run.heap.write(made.state, "open", True)
    elif (args or kwargs) and new is None and (cls.qualified == "builtins.object" or _takes_nothing(run, cls)):
        raise kinds.error("TypeError")
    if is_exception(cls) and kwargs and init is None and cls.unknown_base is None:
        if not any(c.name in _WITH_NAMES for c in cls.mro):
            raise kinds.error("TypeError")
        guards.may_raise(run, guards.ANY)
    if is_exception(cls) and "args" not in made.cells:
        run.heap.write(made.cells, "args", args)
    return made


_WITH_NAMES: Final = ("ImportError", "AttributeError", "NameError", "OSError", "UnicodeError", "SyntaxError")
"""Python's exceptions that take arguments by name, or their arguments in a way of their own."""


def _takes_nothing(run: Interpreter, cls: Class) -> bool:
    """Whether a class and its bases are the program's, or Python's, and none of them is an exception."""
    return (
        not is_exception(cls)
        and cls.module == run.program.main
        and all(c.module in ("builtins", run.program.main) for c in cls.mro)
    )


def is_exception(cls: Class) -> bool:
    """Whether its objects can be raised."""
    return cls.is_a("builtins.BaseException")


def _initialise(
    run: Interpreter,
    cls: Class,
    made: Instance,
    init: tuple[Any, Class],
    args: tuple[Value, ...],
    kwargs: dict[str, Value],
) -> None:
    """``made.__init__(*args, **kwargs)``."""
    if cls.is_a(members.MODULE):
        if isinstance(init[0], Function):
            members.start(made)
        if events.CONSTRUCT(run, made, init, args, kwargs) is not None:
            run.heap.write(made.state, "open", True)
            return
    given = run.resolve(run.call(Method(init[0], made), args, kwargs))
    if isinstance(init[0], Function) and given is not None and (is_known(given) or isinstance(given, Instance | List)):
        raise Raised("TypeError", None, ("Exception", "BaseException"))


DEFAULTS: Final = "__new__.__defaults__"
"""The name under which the class of a named tuple keeps the defaults that were set after it was made."""


def _with_defaults(run: Interpreter, fields: tuple[Any, ...], values: Value) -> tuple[Any, ...]:
    """The fields of a named tuple, the last of them with these defaults."""
    given = () if values is None else run.items(values)
    if given is None:
        return tuple((name, run.unknown("a default")) for name, _ in fields)
    padding = (MISSING,) * (len(fields) - len(given))
    return tuple((name, value) for (name, _), value in zip(fields, (*padding, *given), strict=False))


def fill(run: Interpreter, made: Instance, args: tuple[Value, ...], kwargs: dict[str, Value]) -> None:
    """The fields of a dataclass or named tuple.

    Raises:
        Raised: a field is left, or there are too many arguments.
    """
    fields = made.cls.fields or ()
    if (later := made.cls.find(DEFAULTS)) is not None:
        fields = _with_defaults(run, fields, later[0])
    given = dict(kwargs)
    free = [name for name, _ in fields if name not in given]
    if len(args) > len(free):
        raise Raised("TypeError", None, ("Exception", "BaseException"))
    given.update(zip(free, args, strict=False))
    for name, default in fields:
        if name in given:
            value = given[name]
        elif default is MISSING:
            raise Raised("TypeError", None, ("Exception", "BaseException"))
        else:
            value = default(run) if callable(default) else default
        run.heap.write(made.cells, name, value)
    after = made.cls.find("__post_init__")
    if after is not None:
        run.call(Method(after[0], made), ())


# -- context managers ------------------------------------------------------------------------------------------------


def managed(run: Interpreter, manager: Value, inside: Callable[[Value], Done], *, asynchronous: bool = False) -> Done:
    """``with manager as value: inside(value)``."""
    manager = run.resolve(manager)
    if isinstance(manager, Device):
        run.places = False  # what is made inside is there
    if isinstance(manager, Choice):
        value = branches.common_item((manager.when_true, manager.when_false), "a context manager")
        return _unsure(run, inside, value)
    if isinstance(manager, Instance) and isinstance(manager.native, tuple) and isinstance(manager.native[0], Function):
        function, scope = manager.native
        return _around(run, function, scope, inside)
    if isinstance(manager, Instance) and manager.cls.is_a("contextlib.suppress"):
        given = None if manager.cls.name == "suppress" else run.unknown("what a context manager gives")
        return _suppressing(run, manager, lambda: inside(given))
    enter, exit_ = ("__aenter__", "__aexit__") if asynchronous else ("__enter__", "__exit__")
    if isinstance(manager, Instance) and manager.cls.find(enter) is not None:
        leave = manager.cls.find(exit_)
        if leave is None:
            kinds.need(run, manager, exit_)
        value = coroutines.result(run, run.call(run.attribute(manager, enter), ()))
        return inside(value) if leave is None else _left(run, manager, leave[0], lambda: inside(value))
    if (refused := events.NO_MANAGER(run, manager)) is not None:
        return inside(refused)
    kinds.need(run, manager, exit_)
    kinds.need(run, manager, enter)
    if isinstance(manager, Instance):
        return _unsure(run, inside, manager)
    if isinstance(manager, Unknown) and not manager.harmless:
        return _unsure(run, inside, run.part(manager, "what a context manager gives"))
    return inside(run.part(manager, "what a context manager gives") if isinstance(manager, Unknown) else manager)


def _unsure(run: Interpreter, inside: Callable[[Value], Done], value: Value) -> Done:
    """A body in an unknown manager, which may switch gradients off, and drop what the body raises."""
    guard = Guard(lambda error: True, run.heap.depth, passes_on=True)
    run.unsure_modes += 1
    try:
        ways = guards.guarded(run, guard, lambda: inside(value))
    finally:
        run.unsure_modes -= 1
    return branches.go_on(run, ways, lambda way: _maybe_dropped(run, way.done), _WAYS)


_WAYS: Final = ("normal", "return", "break", "continue", "raise")


def _maybe_dropped(run: Interpreter, done: Done) -> Done:
    if not isinstance(done, Raise):
        return done
    dropped = run.unknown("whether a context manager drops an exception", "bool")
    return branches.choose(run, dropped, lambda: None, lambda: done)


def _left(run: Interpreter, manager: Instance, leave: Value, body: Callable[[], Done]) -> Done:
    """A body after which, however it ends, ``__exit__`` is called; it may drop what the body raises."""
    drops = managers.may_drop(manager) or (isinstance(leave, Function) and _may_drop(leave.node))
    guard = Guard(lambda error: True, run.heap.depth, passes_on=not drops)
    run.tries += drops
    try:
        ways = guards.guarded(run, guard, body)
    finally:
        run.tries -= drops
    return branches.go_on(run, ways, lambda way: managers.leave(run, manager, leave, way.done), _WAYS)


@of_node
def _may_drop(node: ast.AST) -> bool:
    """Whether an ``__exit__`` can answer that the exception is dealt with."""
    returns = [n.value for n in walk(node) if isinstance(n, ast.Return)]
    return any(v is not None and not (isinstance(v, ast.Constant) and not v.value) for v in returns)


def _suppressing(run: Interpreter, manager: Instance, inside: Callable[[], Done]) -> Done:
    """A body whose exceptions of some classes are dropped."""
    given = manager.native[0] if isinstance(manager.native, tuple) else ()
    names = {c.name if isinstance(c, Class) else "" for c in map(run.resolve, given)}

    def drops(error: Raised) -> bool | None:
        surely = not names.isdisjoint({error.name, *error.bases}) and error.name != ""
        return True if surely or "BaseException" in names else None if "" in names or error.name == "" else False

    def following(way: Outcome) -> Done:
        if not isinstance(way.done, Raise) or (answer := drops(way.done.error)) is False:
            return way.done
        if answer:
            return None
        return branches.choose(run, run.unknown("what is raised", "bool"), lambda: None, lambda: way.done)

    run.tries += 1
    try:
        ways = guards.guarded(run, Guard(drops, run.heap.depth), inside)
    finally:
        run.tries -= 1
    return branches.go_on(run, ways, following, ("raise",))


def _around(run: Interpreter, function: Function, scope: Scope, inside: Callable[[Value], Done]) -> Done:
    """The body of ``with`` runs where the generator of the manager yields."""
    ended: list[Done] = []

    def take(value: Value) -> None:
        if ended:  # the generator doesn't stop
            guards.may_raise(run, (kinds.error("RuntimeError"),))
        else:
            frames = run.stack, run.running
            run.stack, run.running = run.stack[:-1], run.running[:-1]
            try:
                ended.append(inside(value))
            finally:
                run.stack, run.running = frames
            if isinstance(ended[0], Raise):
                raise ended[0].error  # where it waits for the body: it may catch it

    scope.yielded = take
    try:
        run.enter(function, scope, lambda: branches.finish(run, run.execute(_body(function), scope)))
    except Raised as error:
        left = ended[0] if ended else None
        return left if isinstance(left, Raise) and generators.is_of_stop(error, left.error) else Raise(error)
    if not ended:
        guards.may_raise(run, (kinds.error("RuntimeError"),))  # it yields nothing, or where isn't followed
        return _unsure(run, inside, run.unknown("what a context manager gives"))
    return None if isinstance(ended[0], Raise) else ended[0]
