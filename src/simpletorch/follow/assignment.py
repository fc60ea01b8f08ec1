"""Where values go: names, attributes, items, several at once; ``del``, ``+=`` and the patterns of ``match``."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from simpletorch.follow import attributes, branches, guards, items, iteration, operators
from simpletorch.follow.annotations import hold_attribute
from simpletorch.follow.marks import carried
from simpletorch.follow.mistakes import events
from simpletorch.follow.model import iterators, kinds, members, metaclasses
from simpletorch.follow.numbers import open_shapes
from simpletorch.follow.outcomes import Done
from simpletorch.follow.sources.syntax import of_node, unparsed
from simpletorch.follow.values import (
    ASKED_FOR,
    MISSING,
    Choice,
    Class,
    Dict,
    Function,
    Instance,
    Iterator,
    List,
    Property,
    Set,
    Sizes,
    Tensor,
    Unknown,
    Value,
    View,
    behind,
    is_known,
)

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter
    from simpletorch.follow.model.scopes import Scope

__all__ = ["assign", "augment", "delete", "match", "unpack"]


def assign(run: Interpreter, target: ast.expr, value: Value, scope: Scope) -> None:
    """``target = value``."""
    if type(target) is ast.Name:  # nearly all: patterns ask one after the other
        name = target.id
        if run.promises and name in scope.outside:
            events.DECLARED(run, name, scope.holder(name))
        cells = scope.holder(name) if scope.outside else scope.cells
        before = cells.get(name, MISSING) if run.waiting else MISSING
        run.heap.write(cells, name, value)
        if before is not MISSING and before is not value:
            run.dropped(before)
        if not scope.is_inner:
            run.claim(name, value)
        return
    match target:
        case ast.Attribute(value=owner, attr=name):
            held = run.evaluate(owner, scope)
            if run.takers and isinstance(run.resolve(held), Unknown | Choice):
                guards.may_raise(run, guards.ANY)
            if run.places:
                hold_attribute(run, held, name, value, scope)
            run.set_attribute(held, name, value)
            run.claim(unparsed(target), _as_kept(run, held, name, value))
        case ast.Subscript(value=owner, slice=index):
            held, place = run.evaluate(owner, scope), run.evaluate(index, scope)
            if run.takers and not guards.is_sure((held, place)):
                guards.may_raise(run, guards.LOOKUP)
            items.put(run, held, place, value)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part, piece in zip(parts, unpack(run, value, parts), strict=True):
                assign(run, part.value if isinstance(part, ast.Starred) else part, piece, scope)
        case ast.Starred(value=inner):
            assign(run, inner, value, scope)


def _as_kept(run: Interpreter, owner: Value, name: str, value: Value) -> Value:
    """What an attribute is after it was set: the class may have a say in it."""
    owner = run.resolve(owner)
    if isinstance(owner, Choice):
        plain = [_as_kept(run, v, name, value) is value for v in (owner.when_true, owner.when_false)]
        return value if all(plain) else run.unknown("an attribute that its class sets")
    if isinstance(owner, Unknown):
        kept = run.unknown("an attribute of what isn't known")
        kept.without_tensors = owner.without_tensors or not branches.may_lack_sizes(value)
        return kept
    if not isinstance(owner, Instance) or owner.cls.module != run.program.main:
        return value
    found = owner.cls.find(name)
    if owner.cls.find("__setattr__") is None and (found is None or not isinstance(found[0], Property | Instance)):
        return value
    return run.unknown("an attribute that its class sets")


def unpack(run: Interpreter, value: Value, parts: Sequence[ast.expr]) -> list[Value]:
    """The pieces for the targets of ``a, *b, c = value``."""
    value = run.resolve(value)
    star = next((i for i, p in enumerate(parts) if isinstance(p, ast.Starred)), None)
    if isinstance(value, Choice) and None in (value.when_true, value.when_false):  # who unpacks it knows that it isn't
        return unpack(run, value.when_true if value.when_false is None else value.when_false, parts)
    if isinstance(value, Choice):
        return _pieces(run, branches.distribute(run, value, lambda one: tuple(unpack(run, one, parts))), len(parts))
    found = None if value is MISSING else _taken(run, value, len(parts)) if star is None else run.items(value)
    if found is None:
        return _pieces_of_unknown(run, value, parts)
    if star is None and len(found) == len(parts):
        return list(found)
    if star is not None and len(found) >= len(parts) - 1:
        after = len(parts) - star - 1
        middle = List(found[star : len(found) - after])
        return [*found[:star], middle, *found[len(found) - after :]]
    if isinstance(value, List) and ASKED_FOR in value.cells and len(found) < len(parts):
        asked = value.cells[ASKED_FOR]
        left = (List(None, asked) if isinstance(p, ast.Starred) else asked for p in parts[len(found) :])
        return [*found, *left]
    return _wrong_number(run, value, found, parts)


def _pieces(run: Interpreter, value: Value, number: int) -> list[Value]:
    """The items of a tuple of this length, or of one of several such tuples."""
    if isinstance(value, Choice):
        ways = _pieces(run, value.when_true, number), _pieces(run, value.when_false, number)
        return [branches.merge(value.condition, a, b) for a, b in zip(*ways, strict=True)]
    return list(value) if isinstance(value, tuple) else [run.part(value, value.reason) for _ in range(number)]


def _taken(run: Interpreter, value: Value, number: int) -> tuple[Value, ...] | None:
    """The items for so many targets; an iterator is asked for one more, to see that there is none."""
    value = iteration.asked(run, value)
    if not isinstance(value, Iterator) or not iterators.can_pull(value):
        return run.items(value)
    found: list[Value] = []
    while len(found) <= number:
        one = iterators.pull(run, value)
        if one is iterators.UNSURE:
            return None
        if one is iterators.END:
            break
        found.append(one)
    return tuple(found)


def _pieces_of_unknown(run: Interpreter, value: Value, parts: Sequence[ast.expr]) -> list[Value]:
    has_star = any(isinstance(p, ast.Starred) for p in parts)
    if isinstance(value, Unknown) and not has_star and (sizes := open_shapes.unpacked(run, value, len(parts))):
        return sizes
    if type(value) in _NOT_ITERABLE or (isinstance(value, Tensor) and value.type.shape.rank == 0):
        shown = "None" if value is None else f"the number {value}" if not isinstance(value, Tensor) else repr(value)
        guards.refuse(
            run, f"{shown} can't be unpacked into {len(parts)}: it has no items", None, "TypeError", "tensor-shape"
        )
        return [run.unknown("an error was found here") for _ in parts]
    if (refused := events.UNITERABLE(run, value)) is not None:
        return [refused for _ in parts]
    guards.may_raise(run, guards.ANY)
    one = iteration.item(run, value)
    return [List(None, one) if isinstance(p, ast.Starred) else _another(run, one) for p in parts]


_NOT_ITERABLE: Final = (int, float, bool, type(None))


def _another(run: Interpreter, value: Value) -> Value:
    """Another value of the same kind: two items of an unknown list aren't the same object."""
    if isinstance(value, Unknown):
        made = run.part(value, value.reason)
        made.type, made.cause = value.type, value.cause
        return made
    return carried.another(value) if isinstance(value, Tensor) else value


def _wrong_number(run: Interpreter, value: Value, found: tuple[Value, ...], parts: Sequence[ast.expr]) -> list[Value]:
    count, least = len(found), any(isinstance(p, ast.Starred) for p in parts)
    noun = "tensor" if found and all(isinstance(run.resolve(v), Tensor) for v in found) else "value"
    if isinstance(value, Tensor):
        what = f"{value!r} has {count} items along its first dim"
    elif isinstance(value, Sizes):
        what = f"the shape {value} has {count} dims"
    else:
        what = f"this is 1 {noun}" if count == 1 else f"these are {count} {noun}s"
    wanted = f"at least {len(parts) - 1}" if least else str(len(parts))
    guards.refuse(run, f"{what}, but {wanted} are unpacked", None, "ValueError", "tensor-shape")
    return [run.unknown("an error was found here") for _ in parts]


def augment(run: Interpreter, node: ast.AugAssign, scope: Scope) -> None:
    """``target += value``; lists and tensors change in place."""
    target = node.target
    name = operators.METHODS[type(node.op)]
    if isinstance(target, ast.Name):
        old = run.evaluate(_read(target), scope)
        value = run.evaluate(node.value, scope)
        if name == "__add__":
            events.SUM(run, target, value)
        if run.promises and target.id in scope.outside:
            events.DECLARED(run, target.id, scope.holder(target.id))
        new = operators.in_place(run, name, old, value)
        run.heap.write(scope.holder(target.id), target.id, new)
        run.claim(target.id, new)
    elif isinstance(target, ast.Attribute):
        owner = run.evaluate(target.value, scope)
        old = run.attribute(owner, target.attr)
        new = operators.in_place(run, name, old, run.evaluate(node.value, scope))
        run.set_attribute(owner, target.attr, new)
        run.claim(ast.unparse(target), _as_kept(run, owner, target.attr, new))
    elif isinstance(target, ast.Subscript):
        owner, index = run.evaluate(target.value, scope), run.evaluate(target.slice, scope)
        old = items.get(run, owner, index)
        new = operators.in_place(run, name, old, run.evaluate(node.value, scope))
        items.put(run, owner, index, new)


@of_node
def _read(target: ast.Name) -> ast.Name:
    """The same name, read."""
    return ast.copy_location(ast.Name(target.id, ast.Load()), target)


def delete(run: Interpreter, target: ast.expr, scope: Scope) -> None:
    """``del target``."""
    match target:
        case ast.Name(id=name):
            cells = scope.holder(name)
            if name not in cells and not scope.globals.stars:
                raise kinds.error("UnboundLocalError" if name in scope.locals else "NameError")
            before = cells.get(name, MISSING)
            run.heap.write(cells, name, MISSING)
            run.dropped(before)
        case ast.Attribute(value=owner, attr=name):
            held = run.evaluate(owner, scope)
            if run.takers and isinstance(run.resolve(held), Unknown | Choice):
                guards.may_raise(run, guards.ANY)
            attributes.delete(run, held, name)
        case ast.Subscript(value=owner, slice=index):
            held, place = run.evaluate(owner, scope), run.evaluate(index, scope)
            if run.takers and not guards.is_sure((held, place)):
                guards.may_raise(run, guards.LOOKUP)
            items.remove(run, held, place)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                delete(run, part, scope)


# -- match -----------------------------------------------------------------------------------------------------------


def match(run: Interpreter, subject: Value, cases: Sequence[ast.match_case], scope: Scope) -> Done:
    """The first case that fits; where that can't be told, it and the later ones."""
    if not cases:
        return None
    case, rest = cases[0], cases[1:]
    binding: dict[str, Value] = {}
    fits = _fits(run, case.pattern, run.resolve(subject), scope, binding)

    def taken() -> Done:
        for name, value in binding.items():
            run.heap.write(scope.holder(name), name, value)
        if case.guard is None:
            return run.execute(case.body, scope)
        test = run.evaluate(case.guard, scope)
        return branches.choose(
            run, test, lambda: run.execute(case.body, scope), lambda: match(run, subject, rest, scope)
        )

    return branches.choose(run, fits, taken, lambda: match(run, subject, rest, scope))


def _fits(run: Interpreter, pattern: ast.pattern, value: Value, scope: Scope, binding: dict[str, Value]) -> Value:
    """Whether a value fits a pattern: a bool, or an unknown one. What the pattern names goes into ``binding``."""
    match pattern:
        case ast.MatchValue(value=node):
            return operators.as_bool(run, run.operate("__eq__", value, run.evaluate(node, scope)))
        case ast.MatchSingleton(value=constant):
            return operators.identical(run, value, constant)
        case ast.MatchAs(pattern=inner, name=name):
            if name is not None:
                binding[name] = value
            return True if inner is None else _fits(run, inner, value, scope, binding)
        case ast.MatchOr(patterns=patterns):
            return _fits_one(run, patterns, value, scope, binding)
        case ast.MatchSequence(patterns=patterns):
            found = _fits_items(run, patterns, value, scope, binding)
        case ast.MatchMapping():
            found = _fits_mapping(run, pattern, value, scope, binding)
        case ast.MatchClass():
            found = _fits_class(run, pattern, value, scope, binding)
        case _:
            found = run.unknown("whether a pattern fits", "bool")
    if found is not True and found is not False:  # not every part was looked at
        for name in _captures(pattern):
            binding.setdefault(name, run.unknown("what a pattern names"))
    return found


@of_node
def _captures(pattern: ast.pattern) -> tuple[str, ...]:
    """The names that a pattern gives values."""
    inside = [(n.rest if isinstance(n, ast.MatchMapping) else getattr(n, "name", None)) for n in ast.walk(pattern)]
    return tuple(name for name in inside if isinstance(name, str))


def _all_fit(
    run: Interpreter, rows: Iterable[tuple[ast.pattern, Value]], scope: Scope, binding: dict[str, Value]
) -> Value:
    """Whether several values fit a pattern each."""
    open_: list[Value] = []
    for pattern, value in rows:
        answer = _fits(run, pattern, run.resolve(value), scope, binding)
        if answer is False:
            return False
        open_ += [] if answer is True else [answer]
    return True if not open_ else open_[0] if len(open_) == 1 else run.unknown("whether a pattern fits", "bool")


def _fits_one(
    run: Interpreter, patterns: Sequence[ast.pattern], value: Value, scope: Scope, binding: dict[str, Value]
) -> Value:
    """Whether a value fits one of several patterns; what the first that fits names counts."""
    perhaps: Value = False
    for pattern in patterns:
        own: dict[str, Value] = {}
        fits = _fits(run, pattern, value, scope, own)
        if fits is not False and perhaps is False:
            perhaps = fits
            binding.update(own)
        elif fits is not False:  # which of them it is isn't known
            binding.update({name: run.unknown("what a pattern names") for name in own})
        if fits is True:
            return True
    return perhaps


_NO_SEQUENCES: Final = (int, float, complex, str, bytes, type(None), Dict, Set, Iterator, Tensor, Class, Function)


def _is_of_two_kinds(value: Value) -> bool:
    """Whether an object derives from several of Python's classes: which of them counts, their order says."""
    if not isinstance(value, Instance):
        return False
    others = any(c.module in ("collections", "collections.abc") for c in value.cls.mro) or value.cls.unknown_base
    return bool(others) and behind(value) is not value


def _fits_items(
    run: Interpreter, patterns: Sequence[ast.pattern], value: Value, scope: Scope, binding: dict[str, Value]
) -> Value:
    held = behind(value)
    if _is_of_two_kinds(value):
        return run.unknown("whether Python takes an object for a sequence", "bool")
    if isinstance(held, (*_NO_SEQUENCES, View)):
        return False
    is_named = isinstance(value, Instance) and value.cls.metadata.get("tuple")
    if not isinstance(held, tuple | List | range) and not is_named:
        plain = isinstance(value, Instance) and value.cls.unknown_base is None and members.knows_all(run, value.cls)
        may_register = run.program.library_class("collections.abc.Sequence").metadata.get(metaclasses.REGISTERS)
        return False if plain and not may_register else run.unknown("what a value is", "bool")
    found = run.items(value)
    if found is None:
        return run.unknown("whether a pattern fits", "bool")
    star = next((i for i, p in enumerate(patterns) if isinstance(p, ast.MatchStar)), None)
    if len(found) != len(patterns) if star is None else len(found) < len(patterns) - 1:
        return False
    if star is None:
        return _all_fit(run, zip(patterns, found, strict=True), scope, binding)
    after = len(patterns) - star - 1
    name = getattr(patterns[star], "name", None)
    if name is not None:
        binding[name] = List(found[star : len(found) - after])
    rows = [
        *zip(patterns[:star], found, strict=False),
        *zip(patterns[star + 1 :], found[len(found) - after :], strict=True),
    ]
    return _all_fit(run, rows, scope, binding)


def _fits_mapping(
    run: Interpreter, pattern: ast.MatchMapping, value: Value, scope: Scope, binding: dict[str, Value]
) -> Value:
    held = behind(value)
    if _is_of_two_kinds(value):
        return run.unknown("whether Python takes an object for a mapping", "bool")
    if not isinstance(held, Dict):
        plain = not isinstance(held, Unknown | Choice | Instance)
        return False if plain else run.unknown("what a value is", "bool")
    rows: list[tuple[ast.pattern, Value]] = []
    keys = [run.resolve(run.evaluate(k, scope)) for k in pattern.keys]
    if len({k for k in keys if items.can_be_key(k)}) < sum(map(items.can_be_key, keys)):
        raise kinds.error("ValueError")
    for key, inner in zip(keys, pattern.patterns, strict=True):
        if not items.can_be_key(key) or branches.may_be_missing(run, held.cells.get(key, 0)):
            return run.unknown("whether a dict has a key", "bool")
        if key not in held.cells:
            return False if held.rest is MISSING else run.unknown("whether a dict has a key", "bool")
        rows.append((inner, held.cells[key]))
    if pattern.rest is not None:
        binding[pattern.rest] = Dict({k: v for k, v in held.cells.items() if k not in keys}, held.rest)
    return _all_fit(run, rows, scope, binding)


_OF_THEMSELVES: Final = frozenset(
    f"builtins.{n}"
    for n in ("bool", "bytearray", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple")
)
"""The classes whose pattern's only part is the value itself."""


def _fits_class(
    run: Interpreter, pattern: ast.MatchClass, value: Value, scope: Scope, binding: dict[str, Value]
) -> Value:
    cls = run.resolve(run.evaluate(pattern.cls, scope))
    is_one = operators.is_instance(run, value, cls)
    if is_one is False or not (pattern.patterns or pattern.kwd_patterns):
        return is_one
    names: list[str] = list(pattern.kwd_attrs)
    rows: list[tuple[ast.pattern, Value]] = []
    places = list(pattern.patterns)
    if places and isinstance(cls, Class) and cls.qualified in _OF_THEMSELVES:
        rows.append((places.pop(0), value))
    elif places:
        stated = _match_args(run, cls)
        if is_one is not True or stated is None:
            guards.may_raise(run, guards.ANY)
            return run.unknown("whether a pattern fits", "bool")
        if len(places) > len(stated):
            raise kinds.error("TypeError")
        names = [*stated[: len(places)], *names]
    _check_names(names)
    for name, inner in zip(names, [*places, *pattern.kwd_patterns], strict=False):
        if isinstance(value, Unknown | Choice):
            return run.unknown("whether a pattern fits", "bool")
        held = attributes.find(run, value, name)
        if held is MISSING:
            return False
        if not attributes.is_there(value, name, held):
            return run.unknown("whether a pattern fits", "bool")
        rows.append((inner, held))
    found = _all_fit(run, rows, scope, binding)
    return found if is_one is True or found is False else run.unknown("whether a pattern fits", "bool")


def _check_names(names: Sequence[Value]) -> None:
    """The parts of a class's pattern stand for an attribute each, and no two of them for one.

    Raises:
        Raised: they don't.
    """
    if len(set(names)) < len(names) or not all(isinstance(n, str) for n in names):
        raise kinds.error("TypeError")


def _match_args(run: Interpreter, cls: Value) -> tuple[str, ...] | None:
    """The attributes that the parts of a class's pattern stand for.

    Raises:
        Raised: the class has something else than a tuple of names.
    """
    if not isinstance(cls, Class):
        return None
    own = cls.find("__match_args__")
    if own is not None:
        stated = run.resolve(own[0])
        if kinds.is_of_python(stated) and not isinstance(stated, tuple):
            raise kinds.error("TypeError")
        return tuple(stated) if isinstance(stated, tuple) and all(map(is_known, stated)) else None
    fields = next((c.metadata["dataclass"] for c in cls.mro if "dataclass" in c.metadata), None)
    if fields is not None:
        return tuple(f.name for f in fields if f.in_init and not f.by_name_only)
    if cls.metadata.get("tuple") and cls.fields is not None:
        return tuple(name for name, _ in cls.fields)
    return None if cls.unknown_base is not None or not members.knows_all(run, cls) else ()
