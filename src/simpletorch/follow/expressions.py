"""Expressions: a table from the kind of syntax to the value that it gives."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from simpletorch.follow import (
    assignment,
    attributes,
    branches,
    calls,
    classes,
    guards,
    items,
    iteration,
    layers,
    operators,
    texts,
)
from simpletorch.follow.budget import LARGEST, formats_too_much, weight
from simpletorch.follow.libraries.python.evaluation import evaluate
from simpletorch.follow.marks import devices, gradients
from simpletorch.follow.memory import elements, remembered
from simpletorch.follow.mistakes import events
from simpletorch.follow.model import coroutines, hidden, iterators, kinds, members, often, unmodelled
from simpletorch.follow.model.scopes import Scope
from simpletorch.follow.numbers import between, offsets
from simpletorch.follow.outcomes import Raise, Raised, Return
from simpletorch.follow.sources.syntax import is_python, of_node, statements_of, unparsed
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
    Namespace,
    Native,
    Set,
    Super,
    Tensor,
    Unknown,
    Value,
    as_tuple,
    is_known,
)

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["TABLE"]

_NOT_DEFINED: Final = Raised("NameError", None, ("Exception", "BaseException"))
_NO_VALUE: Final = Raised("UnboundLocalError", None, ("NameError", "Exception", "BaseException"))


def _constant(run: Interpreter, node: ast.Constant, scope: Scope) -> Value:
    return node.value


def _name(run: Interpreter, node: ast.Name, scope: Scope) -> Value:
    cells = scope.cells
    found = MISSING if scope.outside else cells.get(node.id, MISSING)
    if found is MISSING:
        if not scope.outside and scope.lacks(node.id):
            lacking = _NOT_DEFINED if scope.is_inner and sys.version_info < (3, 12) else _NO_VALUE
            raise Raised(lacking.name, None, lacking.bases)
        cells = scope.place(node.id)
        found = cells.get(node.id, MISSING)
        if node.id == "__class__" and cells is scope.globals.cells and (method := _method_around(scope)) is not None:
            return _class_around(run, method)
    if run.heap.recorders and (cells is not scope.cells or found is MISSING):
        remembered.note_name(run.heap, cells, node.id)
    if found is MISSING:
        found = run.program.builtin(run, node.id)
        for library in scope.globals.stars if found is MISSING else ():
            found = run.program.library(run, f"{library.name}.{node.id}")
            if found is not MISSING:
                break
    if type(found) is Choice:
        found = _perhaps(run, found, _NO_VALUE if node.id in scope.locals else _NOT_DEFINED)
    if found is MISSING:
        unsure = run.conditions or run.entry or run.hypothetical or run.questions or node.id in _OF_NOTEBOOKS
        lacks = not scope.globals.stars and not hasattr(builtins, node.id)
        if lacks and (guards.is_caught(run, _NOT_DEFINED) or not unsure):
            raise Raised(_NOT_DEFINED.name, None, _NOT_DEFINED.bases)
        return run.unknown(f"{node.id!r} isn't defined here")
    return found


def _class_around(run: Interpreter, method: Scope) -> Value:
    """The class in whose body a method stands; a metaclass may have made another one than is known."""
    owner = method.owner
    is_it = isinstance(owner, Class) and not any("metaclass" in c.metadata for c in owner.mro)
    return owner if is_it else run.unknown("the class around")


_OF_NOTEBOOKS: Final = frozenset({"get_ipython", "display", "In", "Out", "exit", "quit", "_", "__", "___"})


def _perhaps(run: Interpreter, found: Choice, error: Raised) -> Value:
    """What a name or key stands for that not every way here has given a value."""
    if run.takers and branches.may_be_missing(run, found):
        guards.may_raise(run, (error,))
    return run.resolve(found)


def _attribute(run: Interpreter, node: ast.Attribute, scope: Scope) -> Value:
    owner = run.evaluate(node.value, scope)
    run.node = node
    if owner is None and gradients.lacks(run, node):
        return run.unknown("an error was found here")
    found = attributes.read(run, owner, node.attr)
    if found is MISSING:
        refused = events.LACKS(run, run.resolve(owner), node.attr)
        if refused is None:
            raise Raised("AttributeError", None, ("Exception", "BaseException"))
        return refused
    return found


def _subscript(run: Interpreter, node: ast.Subscript, scope: Scope) -> Value:
    owner = run.evaluate(node.value, scope)
    index = run.evaluate(node.slice, scope)
    run.node = node
    if run.takers and not isinstance(run.resolve(owner), Tensor) and not guards.is_sure((owner, index)):
        guards.may_raise(run, guards.LOOKUP)
    if type(owner) is Instance and (refused := events.ITEM(run, owner)) is not None:
        return refused
    return items.get(run, owner, index)


def _slice(run: Interpreter, node: ast.Slice, scope: Scope) -> Value:
    return slice(
        *(None if n is None else run.resolve(run.evaluate(n, scope)) for n in (node.lower, node.upper, node.step))
    )


def _several(
    run: Interpreter, nodes: list[ast.expr], scope: Scope, *, unordered: bool = False
) -> tuple[Value, ...] | Unknown:
    """The items of a display (``unordered``: of a set's); unknown where a star hides how many there are."""
    out, behind = _spread(run, nodes, scope, unordered=unordered)
    return out if behind is None else run.unknown("how many items a star stands for")


def _spread(
    run: Interpreter, nodes: list[ast.expr], scope: Scope, *, unordered: bool = False
) -> tuple[tuple[Value, ...], tuple[Value, ...] | None]:
    """The values before the first star that hides how many there are, and those behind it; None without such a star."""
    out: list[Value] = []
    before = -1
    for node in nodes:
        if type(node) is not ast.Starred:
            out.append(run.evaluate(node, scope))
            continue
        value = (iteration.check if unordered else iteration.gathered)(run, run.evaluate(node.value, scope))
        found = run.items(value)
        if found is None:
            guards.may_raise(run, guards.ANY)
        if found is not None and len(out) + len(found) <= LARGEST:
            out.extend(found)
        elif before < 0:
            before = len(out)
    return (tuple(out), None) if before < 0 else (tuple(out[:before]), tuple(out[before:]))


_MOST_NESTED: Final = 20_000


def _is_too_deep(values: Iterable[Value]) -> bool:
    """Whether collections in a collection hold too many items to go through all of them."""
    count, todo = 0, [v for v in values if type(v) in _NESTED]
    while todo and count <= _MOST_NESTED:
        one = todo.pop()
        count += 1
        inside = one if type(one) is tuple else one.items if type(one) is List else one.cells.values()
        if inside:
            todo += [v for v in inside if type(v) in _NESTED]
    return count > _MOST_NESTED


_NESTED: Final = frozenset({tuple, List, Dict})


def _tuple(run: Interpreter, node: ast.Tuple, scope: Scope) -> Value:
    found = _several(run, node.elts, scope)
    return run.unknown("a tuple that holds too much") if type(found) is tuple and _is_too_deep(found) else found


def _list(run: Interpreter, node: ast.List, scope: Scope) -> Value:
    found = _several(run, node.elts, scope)
    if type(found) is tuple and _is_too_deep(found):
        found = run.unknown("a list that holds too much")
    return List(None, run.unknown("an item of a list")) if isinstance(found, Unknown) else List(found)


def _set(run: Interpreter, node: ast.Set, scope: Scope) -> Value:
    found = _several(run, node.elts, scope, unordered=True)
    for value in () if isinstance(found, Unknown) else found:
        items.check_key(run, value)
    if isinstance(found, Unknown) or not all(map(is_known, found)):
        return Set((), open=True)
    return Set(found)


def _dict(run: Interpreter, node: ast.Dict, scope: Scope) -> Value:
    made = Dict()
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            items.update(run, made, _mapping(run, run.evaluate(value, scope)))
        else:
            name = run.evaluate(key, scope)
            items.put(run, made, name, run.evaluate(value, scope))
    return run.unknown("a dict that holds too much") if _is_too_deep(made.cells.values()) else made


def _mapping(run: Interpreter, value: Value) -> Value:
    """The mapping that ``**value`` unpacks.

    Raises:
        Raised: it is no mapping.
    """
    value = run.resolve(value)
    is_plain = isinstance(value, Instance) and value.native is not None and isinstance(value.native, List | Set)
    if is_plain and value.cls.find("keys") is None and value.cls.find("__getattr__") is None:
        raise kinds.error("TypeError")
    if is_plain and value.cls.find("keys") is None:
        guards.may_raise(run, guards.ANY)
        return run.unknown("a mapping whose keys aren't known")
    if isinstance(value, Instance) and value.cls.is_a("enum.Enum") and value.cls.find("keys") is None:
        raise kinds.error("TypeError")
    if kinds.has_attribute(value, "keys") is False or isinstance(value, Tensor | Iterator):
        raise kinds.error("TypeError")
    if isinstance(value, Instance) and value.native is None and value.cls.find("keys") is None:
        if members.knows_all(run, value.cls) and value.cls.find("__getattr__") is None and "keys" not in value.cells:
            raise kinds.error("TypeError")
        guards.may_raise(run, guards.ANY)
        return run.unknown("a mapping whose keys aren't known")
    return value


def _binary(run: Interpreter, node: ast.BinOp, scope: Scope) -> Value:
    left = run.evaluate(node.left, scope)
    right = run.evaluate(node.right, scope)
    run.node = node
    return run.operate(operators.METHODS[type(node.op)], left, right)


def _is_unknown(*values: Value) -> bool:
    return any(isinstance(v, Unknown) for v in values)


def _are_numbers(*values: Value) -> bool:
    return all(branches.type_name(v) in ("int", "float", "bool") for v in values)


def _unary(run: Interpreter, node: ast.UnaryOp, scope: Scope) -> Value:
    value = run.evaluate(node.operand, scope)
    run.node = node
    if run.takers and not isinstance(node.op, ast.Not) and _is_unknown(value) and not _are_numbers(value):
        guards.may_raise(run, guards.ANY)
    if isinstance(node.op, ast.Not):
        return operators.negate(run, value)
    return operators.unary(run, operators.METHODS[type(node.op)], value)


_ORDERS: Final = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn)


def _compare(run: Interpreter, node: ast.Compare, scope: Scope) -> Value:
    left = run.evaluate(node.left, scope)
    result: Value = True
    for op, right_node in zip(node.ops, node.comparators, strict=True):
        right = run.evaluate(right_node, scope)
        run.node = node
        if run.takers and type(op) in _ORDERS and _is_unknown(left, right) and not _are_numbers(left, right):
            guards.may_raise(run, guards.ANY)
        one = operators.compare(run, type(op), left, right)
        if one is False:
            return False
        result = one if result is True else result if one is True else run.derived("and", result, one)
        left = right
    return result


def _both(run: Interpreter, node: ast.BoolOp, scope: Scope) -> Value:
    """``and`` and ``or``: the first value that decides; those after it are computed only if it doesn't."""
    return _from(run, node, scope, 0)


def _from(run: Interpreter, node: ast.BoolOp, scope: Scope, index: int) -> Value:
    value = run.resolve(run.evaluate(node.values[index], scope))
    if index + 1 == len(node.values):
        return value
    is_and = isinstance(node.op, ast.And)
    found = branches.truth(run, value)
    if isinstance(found, bool):
        return _from(run, node, scope, index + 1) if found is is_and else value

    ends: list[object] = []

    def rest() -> Return:
        last = _from(run, node, scope, index + 1)
        ends.append(branches.truth(run, last))
        return Return(last)

    def here() -> Return:
        # `x and y` is x only if x is false: of an unknown bool that is all there is to know
        kept = (not is_and) if isinstance(value, Unknown) and value.type == "bool" else value
        return Return(kept)

    made = branches.finish(run, branches.choose(run, value, rest if is_and else here, here if is_and else rest))
    if isinstance(made, Unknown) and ends == [not is_and]:  # as false as the last, or as true
        made = copy(made)
        made.fact = None
        run.assume(made, not is_and)
    return made


def _either(run: Interpreter, node: ast.IfExp, scope: Scope) -> Value:
    test = run.evaluate(node.test, scope)
    if isinstance(test, Unknown) and branches.decision(run, test) is None and _counts(node):
        return run.evaluate(node.body, scope)
    done = branches.choose(
        run, test, lambda: Return(run.evaluate(node.body, scope)), lambda: Return(run.evaluate(node.orelse, scope))
    )
    value = branches.finish(run, done)
    return devices.chosen(run, node, value) if run.places else value


@of_node
def _counts(node: ast.IfExp) -> bool:
    """``nn.Linear(3, n) if n > 0 else nn.Identity()``: of a size that isn't known there is one."""
    match node:
        case ast.IfExp(
            test=ast.Compare(left=size, ops=[ast.Gt()], comparators=[ast.Constant(value=0)]), body=ast.Call() as made
        ):
            return any(unparsed(a) == unparsed(size) for a in (*made.args, *(k.value for k in made.keywords)))
    return False


def _named_twice(kwargs: Mapping[str, Value], more: Mapping[Any, Value]) -> None:
    """A call gives each name once.

    Raises:
        Raised: it doesn't.
    """
    if kwargs.keys() & more.keys():
        raise Raised("TypeError", None, ("Exception", "BaseException"))


def _call(run: Interpreter, node: ast.Call, scope: Scope) -> Value:
    called = node.func
    if type(called) is ast.Name and called.id == "super" and _is_pythons(scope.find("super"), "super"):
        return _super(run, node, scope)
    function = run.evaluate(called, scope)
    args, behind = _spread(run, node.args, scope)
    kwargs, several, is_double = _named(run, node.keywords, scope)
    run.node, run.path = node, scope.path
    if type(function) is Unknown and type(called) is ast.Attribute and type(called.value) is ast.Name:
        _changes_its_object(run, called.attr, run.evaluate(called.value, scope))
    if run.takers:
        _may_raise(run, function, (*args, *(behind or ()), *kwargs.values()))
    if type(function) is Native:
        if function.name == "builtins.eval" and behind is None and len(args) == 1 and not kwargs:
            return evaluate(run, args[0], scope)
        if function.name == "builtins.exec" and behind is None:
            return _exec(run, args, kwargs, scope)
        if function.name in _NAMES_HERE and not node.args and not kwargs:
            return _names_here(run, scope, function.name)
        if behind is not None and len(node.args) == 1 and function.name == "builtins.zip":
            return _transposed(run, node.args[0], scope)
    if behind is not None or is_double:
        run.escape((*(behind or ()), *several))
        return hidden.call(run, function, args, kwargs, star=behind is not None, double=is_double or bool(several))
    result = run.call(function, args, kwargs) if not several else _with_all(run, function, args, kwargs, several)
    if type(result) is Unknown and type(function) is Native and result.type is None and not result.harmless:
        run.node, run.path = node, scope.path
        run.note_dark()
    return result


def _named(run: Interpreter, keywords: list[ast.keyword], scope: Scope) -> tuple[dict[str, Value], list[Value], bool]:
    """The arguments with names; the dicts that have other keys on other ways; whether a double star hides names."""
    found: dict[str, Value] = {}
    several: list[Value] = []
    is_hidden = False
    for keyword in keywords:
        value = run.evaluate(keyword.value, scope)
        if keyword.arg is not None:
            _named_twice(found, {keyword.arg: value})
            found[keyword.arg] = value
            continue
        value = items.as_dict(run, _mapping(run, value))
        if isinstance(value, Dict) and any(kinds.is_of_python(n) and not isinstance(n, str) for n in value.cells):
            raise kinds.error("TypeError")
        value = items.whole(run, value) if isinstance(value, Dict) else value
        if isinstance(value, Choice):
            several.append(value)
        elif isinstance(value, Dict) and value.rest is MISSING and all(isinstance(n, str) for n in value.cells):
            _named_twice(found, value.cells)
            found.update(value.cells)
        else:
            is_hidden = True
            surely = value.cells.items() if isinstance(value, Dict) else ()
            found.update((n, v) for n, v in surely if isinstance(n, str) and not isinstance(v, Choice))
    return found, several, is_hidden


def _changes_its_object(run: Interpreter, name: str, owner: Value) -> None:
    """A method of the program's that something unknown made, such as a decorator, may change the object it is of."""
    is_of_class = type(owner) is Instance and any(type(c.cells.get(name)) is Unknown for c in owner.cls.mro)
    if is_of_class and not layers.is_module(owner):
        run.escape((owner,))


def _exec(run: Interpreter, args: tuple[Value, ...], kwargs: Mapping[str, Value], scope: Scope) -> Value:
    """``exec(text)``: the statements of a text that is known; another one may set each variable of the module."""
    source = run.resolve(args[0]) if args else None
    if len(args) > 1 or kwargs:
        here = tuple(v for v in map(run.resolve, scope.cells.values()) if isinstance(v, Function))  # their code may run
        return run.call_in_the_dark(run.unknown("what exec runs"), (*args, *here), kwargs)
    tree = statements_of(run.node, source) if isinstance(source, str) else None
    if tree is not None:
        done = run.execute(tree.body, scope)
        branches.settle(run, done)
        if isinstance(done, Raise):
            raise done.error
        return None
    if isinstance(source, str) and not is_python(source):
        raise kinds.error("SyntaxError")
    guards.may_raise(run, guards.ANY)
    run.escape(_reached(run, scope))
    for name, value in list(scope.globals.cells.items()):
        held = run.resolve(value)
        if not isinstance(held, Namespace | Class | Function | Native) and not name.startswith("__"):
            changed = run.unknown(f"{name}, which exec may have set", branches.type_name(held))
            run.heap.write(scope.globals.cells, name, changed)
    return None


def _reached(run: Interpreter, scope: Scope) -> tuple[Value, ...]:
    """The objects that code can reach by the names around it, without modules of torch."""
    found: list[Value] = []
    around: Scope | None = scope
    while around is not None:
        found += [
            v for v in map(run.resolve, around.cells.values()) if isinstance(v, List | Dict | Set | Instance | Function)
        ]
        around = around.parent
    return tuple(v for v in found if not layers.is_module(v))


_NAMES_HERE: Final = frozenset({"builtins.locals", "builtins.vars", "builtins.globals"})


def _names_here(run: Interpreter, scope: Scope, function: str) -> Dict:
    """What ``locals()``, ``vars()`` and ``globals()`` give. Of a module there may be more names than were followed."""
    while scope.is_inner and scope.parent is not None:
        scope = scope.parent
    if function != "builtins.globals" and scope is not scope.globals and not scope.is_class:
        around = scope.parent
        while around is not None and around.is_class:
            around = around.parent
        inner = around is not scope.globals  # it has names of the function around it
        return Dict(scope.cells, run.unknown("a variable of a function around") if inner else MISSING)
    cells = scope.globals.cells if function == "builtins.globals" else scope.cells
    run.heap.touch(cells)  # what is remembered of a call notes one name at a time
    known = cells is scope.globals.cells and run.program.has_all_names(cells)
    made = Dict({}, MISSING if known else run.unknown("a name of a module or class"))
    made.cells = cells
    return made


def _with_all(
    run: Interpreter, function: Value, args: tuple[Value, ...], kwargs: dict[str, Value], several: list[Value]
) -> Value:
    """A call with ``**more``, where ``more`` has other keys on other ways."""
    first, *rest = several

    def one(more: Value) -> Value:
        if not isinstance(more, Dict) or more.rest is not MISSING or not all(isinstance(k, str) for k in more.cells):
            return hidden.call(run, function, args, kwargs, star=False, double=True)
        named = {**kwargs, **more.cells}
        return run.call(function, args, named) if not rest else _with_all(run, function, args, named, rest)

    return run.each(first, one)


_OUTSIDE: Final = (
    "builtins.open",
    "io.",
    "os.",
    "shutil.",
    "subprocess.",
    "importlib.",
    "builtins.__import__",
    "sys.exit",
)
"""How functions begin that may fail whatever they are given."""
_HARMLESS: Final = {f"builtins.{name}" for name in ("print", "isinstance", "str", "repr", "hasattr", "type", "id")}


def _may_raise(run: Interpreter, function: Value, values: tuple[Value, ...]) -> None:
    """A call of what the program doesn't say itself, with values of which not enough is known."""
    function = run.resolve(function)
    if isinstance(function, BoundNative):
        values = (function.receiver, *values)
    known = isinstance(function, Function | Method) or (isinstance(function, Native) and function.name in _HARMLESS)
    if known or (isinstance(function, Unknown) and function.harmless):
        return
    outside = isinstance(function, Native) and function.name.startswith(_OUTSIDE)
    if outside or isinstance(function, Unknown) or not guards.is_sure(values):
        guards.may_raise(run, guards.ANY)


def _transposed(run: Interpreter, node: ast.expr, scope: Scope) -> Value:
    """``zip(*rows)`` of an unknown number of rows: a column for each of their items."""
    assert isinstance(node, ast.Starred)
    row = iteration.item(run, run.evaluate(node.value, scope))
    found = run.items(row)
    if found is None:
        return Iterator(None, as_tuple(List(None, iteration.item(run, row))))
    return Iterator(tuple(as_tuple(List(None, v)) for v in found))


def _is_pythons(found: Value, name: str) -> bool:
    """Whether a name is Python's own, also where it is imported: ``from builtins import super``."""
    return found is MISSING or (isinstance(found, Native) and found.name == f"builtins.{name}")


def _is_other(cls: Class, owner: Class) -> bool:
    """Whether it is another class of the program's than this one, and derives from it in no way."""
    return cls.unknown_base is None and owner not in cls.mro and not cls.is_a(owner.qualified)


def _super(run: Interpreter, node: ast.Call, scope: Scope) -> Value:
    """``super()``, or ``super(Class, self)``."""
    if len(node.args) == 1:
        return unmodelled.of_expression(run, node, scope)
    if len(node.args) > 2 and not any(isinstance(a, ast.Starred) for a in node.args):
        raise kinds.error("TypeError")
    if len(node.args) == 2:
        owner, receiver = (run.resolve(run.evaluate(a, scope)) for a in node.args)
        if isinstance(owner, Class) and isinstance(receiver, Instance) and _is_other(receiver.cls, owner):
            members.begun(run, receiver)  # that nothing begins it is no second mistake
            message = (
                f"super({owner.name}, …): the object is a {receiver.cls.name}, which isn't derived from {owner.name}"
            )
            return guards.refuse(run, message, "super() without arguments is always of the class around it")
    else:
        if _method_around(scope) is not scope:  # in a function inside, it is about that one's first argument
            return unmodelled.of_expression(run, node, scope)
        owner, receiver = scope.owner, next(iter(scope.cells.values()), MISSING)
        receiver = scope.first if scope.first is not MISSING else receiver
    if not isinstance(owner, Class) or isinstance(receiver, Unknown):
        guards.may_raise(run, guards.ANY)
        return run.unknown("super() of what isn't known")
    return Super(receiver, owner)


def _method_around(scope: Scope) -> Scope | None:
    """The method in which a name stands, or in whose functions; None outside of classes."""
    method: Scope | None = scope
    while method is not None and (method.owner is None or method.is_class):
        method = method.parent
    return method


def _lambda(run: Interpreter, node: ast.Lambda, scope: Scope) -> Value:
    return classes.define(run, node, scope)


def _formatted(run: Interpreter, node: ast.JoinedStr, scope: Scope) -> Value:
    parts = [run.resolve(run.evaluate(part, scope)) for part in node.values]
    if all(isinstance(part, str) for part in parts):
        return "".join(parts) if sum(map(len, parts)) <= LARGEST else run.unknown("a long text", "str")
    return texts.made_of(run, run.unknown("a formatted string", "str"), parts)


_CONVERSIONS: Final[dict[int, Callable[[Any], str]]] = {ord("r"): repr, ord("s"): str, ord("a"): ascii}


def _says_nothing(kind: Any) -> bool:
    """Whether a class of Python's takes no format."""
    return kind.__format__ is _ANY.__format__


_ANY: Final[Any] = object


def _placeholder(run: Interpreter, node: ast.FormattedValue, scope: Scope) -> Value:
    value = run.resolve(run.evaluate(node.value, scope))
    spec = "" if node.format_spec is None else run.resolve(run.evaluate(node.format_spec, scope))
    if (
        not is_known(value)
        or texts.is_of_torch(value)
        or not isinstance(spec, str)
        or formats_too_much(spec)
        or (weight(value) > LARGEST)
    ):
        if spec != "" and node.conversion not in _CONVERSIONS:
            texts.check_number(run, value)
            if kinds.is_of_python(value) and all(_says_nothing(type(w)) for w in kinds.witnesses(value)):
                raise kinds.error("TypeError")
            if branches.type_name(value) not in ("int", "float"):
                guards.may_raise(run, guards.ANY)
        shown = value.native if isinstance(value, Instance) and value.cls.is_a("pathlib.PurePath") else value
        if spec == "" and node.conversion in (-1, ord("s")) and texts.is_text(shown):
            return shown
        return run.unknown("a formatted value", "str")
    try:
        shown = _CONVERSIONS[node.conversion](value) if node.conversion in _CONVERSIONS else value
        return format(shown, spec)
    except (ValueError, TypeError, OverflowError) as error:
        raise kinds.error(type(error).__name__) from None


# -- comprehensions --------------------------------------------------------------------------------------------------


def _later(run: Interpreter, node: ast.GeneratorExp, scope: Scope) -> Value:
    """``(element for target in source)``: the source is computed here, all else when it is asked for."""
    first = node.generators[0]
    source = iteration.asked(run, run.evaluate(first.iter, scope))
    if any(g.is_async for g in node.generators):
        return _comprehension(run, node, scope, source)
    inner = Scope(scope, scope.path, is_inner=True)
    inner.function = scope.function
    asked: list[Value] = []

    def there(work: Callable[[], Value]) -> Value:
        before = run.path, run.node
        run.path, run.node = scope.path, node
        try:
            return work()
        finally:
            run.path, run.node = before

    def whole() -> Value:
        return there(lambda: _comprehension(run, node, scope, source))

    def one() -> Value:
        if len(node.generators) > 1 or not iterators.is_simple(run, source):
            return iterators.all_at_once(run, made, whole)
        if not asked:
            asked.append(iterators.over(run, source))
        return there(next_one)

    def next_one() -> Value:
        while (value := iterators.pull(run, asked[0])) is not iterators.END:
            if value is iterators.UNSURE:
                return value
            run.step(node)
            assignment.assign(run, first.target, value, inner)
            tests = [True]
            for test in first.ifs:
                found = branches.truth(run, run.evaluate(test, inner))
                if not isinstance(found, bool):
                    return iterators.UNSURE
                tests.append(found)
                if not found:
                    break
            if all(tests):
                return run.evaluate(node.elt, inner)
        return iterators.END

    made = iterators.lazily(iterators.Lazy(whole, one, minds=isinstance(source, Iterator)))
    made.lazy.is_generator = True
    return made


def _comprehension(
    run: Interpreter,
    node: ast.ListComp | ast.GeneratorExp | ast.SetComp,
    scope: Scope,
    given: Value = MISSING,
) -> Value:
    inner = Scope(scope, scope.path, is_inner=True)
    inner.function = scope.function
    out: list[Value] = []
    sources: list[Value] = []
    roots = run.roots
    element = elements.looked_up(run, node, inner, elements.of_rows(run, node, inner, sources))
    steps = run.steps

    def rest(left: tuple[Value, ...]) -> bool:
        found = elements.of_the_rest(run, node, inner, out, left, steps - run.steps)
        out.extend(found)
        return bool(found)

    def add() -> None:
        out.append(element())

    is_set = isinstance(node, ast.SetComp)
    certain = _generate(run, node.generators, 0, inner, add, sources, given, rest, orderless=is_set)
    if is_set:
        return Set(tuple(out)) if certain and all(map(is_known, out)) else Set((), open=True)
    if certain:
        return Iterator(tuple(out)) if isinstance(node, ast.GeneratorExp) else List(tuple(out))
    item = texts.one_of_many(run, branches.common_item(out), roots)
    made = _of_unknown_length(run, node, item, sources[0])
    if isinstance(node, ast.GeneratorExp):
        made = Iterator(None, made.item) if made.items is None else Iterator(made.items)
    return made


def _of_unknown_length(
    run: Interpreter, node: ast.ListComp | ast.GeneratorExp | ast.SetComp, item: Value, source: Value
) -> List:
    """What a comprehension gives: it is as long as what it goes through."""
    if len(node.generators) > 1 or node.generators[0].ifs:
        return List(None, item)
    size = offsets.size_of(run, source) if isinstance(source, List) else between.size_of(source)
    return offsets.filled(run, item, size)


def _dict_comprehension(run: Interpreter, node: ast.DictComp, scope: Scope) -> Value:
    inner = Scope(scope, scope.path, is_inner=True)
    made, roots = Dict(), run.roots

    def add() -> None:
        key = run.evaluate(node.key, inner)
        items.put(run, made, key, run.evaluate(node.value, inner))

    if not _generate(run, node.generators, 0, inner, add, orderless=True):
        rest = branches.common_item(items.values(made), "which item of a dict it is")
        return Dict(made.cells, texts.one_of_many(run, rest, roots))
    return made


def _generate(
    run: Interpreter,
    generators: list[ast.comprehension],
    index: int,
    scope: Scope,
    emit: Callable[[], None],
    sources: list[Value] | None = None,
    given: Value = MISSING,
    rest: Callable[[tuple[Value, ...]], bool] | None = None,
    *,
    orderless: bool = False,
) -> bool:
    """Call ``emit`` for each round of the loops of a comprehension. False if it isn't known how many there are.

    ``sources`` gets what the first loop goes over. ``rest`` may make all elements of the items that are left.
    ``orderless``: it makes no difference in which order a set is gone over.
    """
    if index == len(generators):
        emit()
        return True
    generator = generators[index]
    around = scope.parent if index == 0 and scope.parent is not None else scope  # the first source is no part of it
    source = run.resolve(run.evaluate(generator.iter, around)) if given is MISSING else given
    if generator.is_async:
        source = iteration.asynchronous(run, source)
    if (refused := events.UNITERABLE(run, source)) is not None:
        source = refused
    if sources is not None:
        sources.append(source)
    found = iteration.members(run, source) if orderless else run.items(source)
    certain = found is not None
    plain = certain and not generator.ifs and index + 1 == len(generators)

    def once(value: Value) -> bool:
        run.step(run.node)
        assignment.assign(run, generator.target, value, scope)
        if plain:
            emit()
            return True
        passes = [branches.truth(run, run.evaluate(test, scope)) for test in generator.ifs]
        if any(p is False for p in passes):
            return certain
        surely = found is not None and all(p is True for p in passes)
        run.unsure_rounds += not surely
        try:
            return _generate(run, generators, index + 1, scope, emit, rest=rest, orderless=orderless) and surely
        finally:
            run.unsure_rounds -= not surely

    for number, value in enumerate((iteration.item(run, source),) if found is None else found):
        asks = plain and rest is not None and found is not None and elements.is_long(number, len(found))
        if asks and rest is not None and found is not None and rest(found[number:]):
            break
        certain &= once(value) if found is not None else often.repeat(run, partial(once, value))
    return certain


def _await(run: Interpreter, node: ast.Await, scope: Scope) -> Value:
    value = coroutines.result(run, run.evaluate(node.value, scope))
    match node.value:
        case ast.Call(func=ast.Attribute(attr="sleep") | ast.Name(id="sleep")):
            calls.wait(run, scope)
        case _ if isinstance(value, Unknown):
            calls.wait(run, scope)
        case _ if isinstance(value, Instance) and value.cls.is_a("simpletorch.Pending"):
            return run.attribute(value, "value")
        case ast.Call(func=ast.Attribute(value=ast.Name() as owner, attr="step")) if value is None:
            optimizer = run.evaluate(owner, scope)
            if isinstance(optimizer, Instance) and optimizer.cls.module == "torch.optim":
                run.node = node
                return guards.refuse(
                    run, "step() of an optimizer gives None, which can't be awaited", "optimizer.step()"
                )
    return value


def _yield(run: Interpreter, node: ast.Yield, scope: Scope) -> Value:
    value = None if node.value is None else run.evaluate(node.value, scope)
    return classes.give(run, scope, value)


def _yield_from(run: Interpreter, node: ast.YieldFrom, scope: Scope) -> Value:
    source = run.resolve(run.evaluate(node.value, scope))
    was_over = isinstance(source, Iterator) and iterators.is_over(source)
    found = run.items(source)
    for value in (iteration.item(run, source),) if found is None else found:
        classes.give(run, scope, value, several=found is None)
    if isinstance(source, Iterator) and hasattr(source.lazy, "result"):
        return None if was_over else source.lazy.result
    return None if is_known(source) or isinstance(source, List | Dict | Set | Iterator) else run.unknown("a result")


def _walrus(run: Interpreter, node: ast.NamedExpr, scope: Scope) -> Value:
    value = run.evaluate(node.value, scope)
    while scope.is_inner and scope.parent is not None:
        scope = scope.parent
    assignment.assign(run, node.target, value, scope)
    return value


def _starred(run: Interpreter, node: ast.Starred, scope: Scope) -> Value:
    return run.evaluate(node.value, scope)


_MODELS: Final[dict[type[ast.expr], Callable[[Interpreter, Any, Scope], Value]]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.Tuple: _tuple,
    ast.List: _list,
    ast.Set: _set,
    ast.Dict: _dict,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.BoolOp: _both,
    ast.IfExp: _either,
    ast.Call: _call,
    ast.Lambda: _lambda,
    ast.JoinedStr: _formatted,
    ast.FormattedValue: _placeholder,
    ast.ListComp: _comprehension,
    ast.GeneratorExp: _later,
    ast.SetComp: _comprehension,
    ast.DictComp: _dict_comprehension,
    ast.Await: _await,
    ast.Yield: _yield,
    ast.YieldFrom: _yield_from,
    ast.NamedExpr: _walrus,
    ast.Starred: _starred,
}
TABLE: Final = unmodelled.Table(_MODELS, unmodelled.of_expression)
