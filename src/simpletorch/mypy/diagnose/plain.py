"""Whether mypy would say the same without the plugin.

torch types the call of a module as Any, and the items of a list of modules as ``Module``. A program may pass what it
got so to whatever has another type in mypy's eyes (``self.fc(x).view(-1, config.num_labels)`` with an optional int),
and nobody ever told its author. With us such a value has a type, which is for shapes and dtypes; what else mypy then
finds is no news of ours. So the statement of a message of mypy's own is evaluated again without our hooks, with its
variables as they would be then; the message is dropped if it isn't said again.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias, cast

from mypy.errors import ErrorInfo
from mypy.nodes import (
    AssignmentExpr,
    AssignmentStmt,
    CallExpr,
    ClassDef,
    DictExpr,
    DictionaryComprehension,
    Expression,
    ForStmt,
    GeneratorExpr,
    IndexExpr,
    ListExpr,
    MemberExpr,
    MypyFile,
    NameExpr,
    OperatorAssignmentStmt,
    ReturnStmt,
    StarExpr,
    Statement,
    TupleExpr,
    Var,
)
from mypy.plugin import CheckerPluginInterface
from mypy.subtypes import is_subtype
from mypy.types import AnyType, Instance, ProperType, TupleType, Type, UnionType, get_proper_type

from simpletorch.mypy.convert.lift import is_module
from simpletorch.mypy.convert.spelling import respell
from simpletorch.mypy.guard import DEBUG_VARIABLE
from simpletorch.mypy.names import DICTS, LISTS, MODULE, SEQUENTIALS, TENSOR
from simpletorch.mypy.program.memory import once_a_tree
from simpletorch.mypy.program.syntax import expressions_of, inner_expressions, statements_in
from simpletorch.mypy.types import TypeTable, any_type

__all__ = ["is_plain", "only_with_us"]

_CODES: Final = frozenset(
    {
        "arg-type",
        "assignment",
        "call-overload",
        "dict-item",
        "index",
        "list-item",
        "misc",
        "operator",
        "return-value",
        "union-attr",
    }
)
_ADDING: Final = frozenset({"append", "appendleft", "insert", "add", "setdefault", "put"})
_EXTENDING: Final = frozenset({"extend", "update", "+="})
_CONTAINERS: Final = (*SEQUENTIALS, *LISTS, *DICTS)
_Key: TypeAlias = "Var | tuple[str, str]"

_DEEPEST: Final = 12
"""How many assignments are followed back, one from the other."""

_plain = 0


def is_plain() -> bool:
    """Whether mypy is to be left alone: it is asked what it says without us."""
    return _plain > 0


def only_with_us(info: ErrorInfo, api: CheckerPluginInterface) -> bool:
    """Whether mypy would not say this without the plugin, as far as can be told."""
    if info.code is None or info.code.code not in _CODES or info.severity != "error" or is_plain():
        return False
    return _guarded(info, cast(Any, api))


def _found(info: ErrorInfo, checker: Any) -> bool:
    assert info.code is not None
    reader = _reader(checker)
    message = info.line, info.column, info.code.code, respell(info.message)  # it passes twice, then in our spelling
    if message not in reader.verdicts or checker.current_node_deferred:
        reader.verdicts[message] = _is_news(info, checker, reader)
    return reader.verdicts[message]


def _is_news(info: ErrorInfo, checker: Any, reader: _Reader) -> bool:
    statements = [s for s in _statements_at(checker.tree).get(info.line, ()) if reader.differs(s)]
    return any(_is_silent(s, info, reader) for s in statements)


def _guarded(info: ErrorInfo, checker: Any) -> bool:
    """No error in here may crash mypy; under the debug switch it does."""
    try:
        return _found(info, checker)
    except Exception:
        if os.environ.get(DEBUG_VARIABLE):
            raise
        return False


_readers: Final[dict[object, _Reader]] = {}
"""The reader for the file that is being checked: what variables hold is found out once."""


def _reader(checker: Any) -> _Reader:
    found = _readers.get(checker)
    if found is None or found.body is not checker.tree.defs:
        _readers.clear()
        found = _readers[checker] = _Reader(checker)
    return found


def _is_silent(s: Statement, info: ErrorInfo, reader: _Reader) -> bool:
    assert info.code is not None
    context = reader.expected(s)
    said: list[ErrorInfo] = []
    types = []
    for e in expressions_of(s):
        typ, errors = reader.evaluate(e, context)
        said += errors
        types.append(get_proper_type(typ))
    same = {(e.column, e.message) for e in said if e.line == info.line and e.code == info.code}
    if same:
        return not reader.is_among(info, len(same))
    match info.code.code, s:
        case "return-value", ReturnStmt():
            return context is not None and is_subtype(types[0], context)
        case "assignment", AssignmentStmt(lvalues=[place]):
            return reader.takes(place, types[0])
        case "return-value" | "assignment", _:
            return False
        case ("operator", OperatorAssignmentStmt()) | (_, ForStmt()):
            return any(isinstance(t, AnyType) for t in types)
    return True


@once_a_tree
def _statements_at(tree: MypyFile) -> dict[int, list[Statement]]:
    """The statements by each line of the expressions that are directly in them."""
    found: dict[int, list[Statement]] = defaultdict(list)
    for s in statements_in(tree.defs):
        expressions = list(expressions_of(s))
        if expressions:
            last = max([s.line, *(e.end_line or e.line for e in expressions)])
            for line in range(s.line, last + 1):
                found[line].append(s)
    return found


@once_a_tree
def _kept(tree: MypyFile) -> dict[tuple[int, str], set[tuple[int, str]]]:
    """The messages that were let through, by line and code, where mypy has some of its own."""
    return defaultdict(set)


# -- where values come from -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Source:
    """An expression whose value, or an item of it, is put somewhere."""

    value: Expression
    items: tuple[int | None, ...] = ()
    """Which item of an item of … is put there; None: one after the other."""
    is_added: bool = False
    """Whether it is put into what the place holds already."""

    def item(self, index: int | None) -> _Source:
        """An item of it."""
        match self.value, index:
            case ((TupleExpr(items=values) | ListExpr(items=values)), int()) if not self.items and index < len(values):
                return replace(self, value=values[index])
        return replace(self, items=(*self.items, index))


@dataclass
class _Sources:
    """What a file puts into its variables, and into the attributes of its classes."""

    found: dict[_Key, list[_Source]] = field(default_factory=lambda: defaultdict(list))

    def add(self, place: Expression, source: _Source, cls: str) -> None:
        """A value is put into a place."""
        match place:
            case TupleExpr(items=places) | ListExpr(items=places):
                starred = any(isinstance(p, StarExpr) for p in places)
                for i, inner in enumerate(places):
                    self.add(inner, source.item(None if starred else i), cls)
            case IndexExpr(base=base):
                self.add(base, replace(source, is_added=True), cls)
            case NameExpr(node=Var() as variable):
                self.found[variable].append(source)
            case MemberExpr(expr=owner, name=name) if _is_self(owner):
                self.found[cls, name].append(source)


def _is_self(node: Expression) -> bool:
    return isinstance(node, NameExpr) and isinstance(node.node, Var) and node.node.is_self


def _is_none(node: Expression) -> bool:
    return isinstance(node, NameExpr) and node.fullname == "builtins.None"


def _is_empty(node: Expression) -> bool:
    """Whether it is an empty list or dict, whose type mypy takes from what is put there first."""
    return isinstance(node, ListExpr | DictExpr) and not node.items


@once_a_tree
def _sources(tree: MypyFile) -> dict[_Key, list[_Source]]:
    out = _Sources()
    for cls, s in _in_classes(tree.defs, ""):
        match s:
            case AssignmentStmt(lvalues=places, rvalue=value):
                for place in places:
                    out.add(place, _Source(value), cls)
            case OperatorAssignmentStmt(op="+", lvalue=place, rvalue=value):
                out.add(place, _Source(value, is_added=True, items=(None,)), cls)
            case ForStmt(index=place, expr=value):
                out.add(place, _Source(value, items=(None,)), cls)
        for e in expressions_of(s):
            _add_inner(e, out, cls)
    return dict(out.found)


def _add_inner(e: Expression, out: _Sources, cls: str) -> None:
    """What is put somewhere inside an expression: comprehensions, ``:=``, ``xs.append(y)``."""
    match e:
        case (
            GeneratorExpr(indices=places, sequences=values) | DictionaryComprehension(indices=places, sequences=values)
        ):
            for place, value in zip(places, values, strict=True):
                out.add(place, _Source(value, items=(None,)), cls)
        case AssignmentExpr(target=place, value=value):
            out.add(place, _Source(value), cls)
        case CallExpr(callee=MemberExpr(expr=place, name=name), args=[*_, value]) if name in _ADDING | _EXTENDING:
            out.add(place, _Source(value, is_added=True, items=(None,) if name in _EXTENDING else ()), cls)
    for part in inner_expressions(e):
        _add_inner(part, out, cls)


def _in_classes(statements: Iterable[Statement], cls: str) -> Iterator[tuple[str, Statement]]:
    """The statements, with the full name of the class around each."""
    for s in statements_in(statements, enter_classes=False):
        yield cls, s
        if isinstance(s, ClassDef):
            yield from _in_classes(s.defs.body, s.fullname)


# -- what mypy says ---------------------------------------------------------------------------------------------------


class _Reader:
    """Evaluates expressions of the file that is being checked as mypy does without the plugin."""

    def __init__(self, checker: Any) -> None:
        self.body = checker.tree.defs
        self._depth = 0
        self._checker = checker
        self._types = TypeTable(checker.modules)
        self._sources = _sources(checker.tree)
        self._known: dict[_Source, Type | None] = {}
        self.verdicts: dict[tuple[int, int, str, str], bool] = {}

    def is_among(self, info: ErrorInfo, count: int) -> bool:
        """Whether a message is one of as many as mypy has with its code on its line."""
        assert info.code is not None
        kept = _kept(self._checker.tree)[info.line, info.code.code]
        said = info.column, respell(info.message)  # a message passes twice, the second time in our spelling
        if len(kept) < count:
            kept.add(said)
        return said in kept

    def evaluate(self, e: Expression, context: Type | None = None) -> tuple[Type, list[ErrorInfo]]:
        """The type of an expression, and what mypy says of it."""
        replaced: dict[Expression, Type] = {}
        self._replace(e, replaced)
        return self._accept(e, replaced, context)

    def differs(self, s: Statement) -> bool:
        """Whether anything in the statement has another type without the plugin."""
        found: dict[Expression, Type] = {}
        for e in expressions_of(s):
            self._replace(e, found)
        return bool(found) or any(self._calls_module(e) for e in expressions_of(s))

    def _calls_module(self, e: Expression) -> bool:
        if isinstance(e, CallExpr) and any(is_module(t) for t in _members(self._now(e.callee))):
            return True
        return any(map(self._calls_module, inner_expressions(e)))

    def expected(self, s: Statement) -> Type | None:
        """The type that the statement's value has to have."""
        if isinstance(s, ReturnStmt) and self._checker.return_types:
            function = self._checker.scope.current_function()
            if function is not None and not (function.is_generator or function.is_coroutine):
                return cast(Type, self._checker.return_types[-1])
        if isinstance(s, AssignmentStmt) and len(s.lvalues) == 1:
            return self._declared(s.lvalues[0])
        return None

    def _declared(self, place: Expression) -> Type | None:
        """The type that a place was declared to have, or that it has in mypy's eyes without us."""
        variable = place.node if isinstance(place, NameExpr | MemberExpr) else None
        if isinstance(place, MemberExpr) and variable is None:
            owner = self._now(place.expr)
            symbol = owner.type.get(place.name) if isinstance(owner, Instance) else None
            variable = None if symbol is None else symbol.node
        if not isinstance(variable, Var):
            return None
        return None if variable.is_inferred else variable.type

    def takes(self, place: Expression, typ: Type) -> bool:
        """Whether a value of this type may be put into a place."""
        if isinstance(typ, AnyType):
            return True
        if isinstance(place, IndexExpr):
            return isinstance(get_proper_type(self.evaluate(place.base)[0]), AnyType)
        declared = self._declared(place)
        if declared is not None:
            return is_subtype(typ, declared)
        key = self._key(place)
        return key is not None and isinstance(get_proper_type(self._last(key, 0)), AnyType)

    def _now(self, e: Expression) -> ProperType | None:
        """The type that an expression has with us; in the middle of a statement mypy may not have noted it yet."""
        found = self._checker.lookup_type_or_none(e)
        if found is None and isinstance(e, NameExpr | MemberExpr | IndexExpr):
            found = self._accept(e, {}, None)[0]
        return get_proper_type(found)

    def _replace(self, e: Expression, replaced: dict[Expression, Type]) -> None:
        """Collect what has another type without the plugin."""
        found = self._without_us(e)
        if found is not None:
            replaced[e] = found
            return
        for part in inner_expressions(e):
            self._replace(part, replaced)

    def _without_us(self, e: Expression) -> Type | None:
        """The type of a variable, attribute or item without the plugin, where it is another one."""
        if isinstance(e, IndexExpr):
            container = self._now(e.base)
            held = self._now(e)
            return self._types.instance(MODULE) if _holds_modules(container) and not _holds_modules(held) else None
        key = self._key(e)
        if key is None:
            return None
        now = self._now(e)
        if now is None or isinstance(now, AnyType) or _is_unresolved(now):
            return None
        if isinstance(key, Var) and isinstance(get_proper_type(key.type), AnyType):
            return None  # narrowed, as mypy does as well
        found = get_proper_type(self._last(key, e.line if isinstance(key, Var) else 0))
        if isinstance(found, Instance) and found.type.fullname == MODULE:
            return found
        if not isinstance(found, AnyType):
            return self._list_of_any(key, now)
        kept = [m for m in _members(now) if not _is_ours(m) and not isinstance(m, AnyType)]
        return UnionType.make_union([any_type(), *kept]) if isinstance(now, UnionType) else any_type()

    def _list_of_any(self, key: _Key, now: ProperType) -> Type | None:
        """The list that was made empty, where mypy takes for Any what is put there first."""
        sources = self._sources.get(key, [])
        made = [s for s in sources if not s.is_added]
        added = next((s for s in sources if s.is_added), None)
        if not isinstance(now, Instance) or not made or added is None or not all(_is_empty(s.value) for s in made):
            return None
        if not isinstance(get_proper_type(self._of_source(added)), AnyType):
            return None
        return now.copy_modified(args=[*now.args[:-1], any_type()])

    def _key(self, e: Expression) -> _Key | None:
        match e:
            case NameExpr(node=Var() as variable):
                return variable
            case MemberExpr(expr=owner, name=name):
                typ = self._now(owner)
                symbol = typ.type.get(name) if isinstance(typ, Instance) else None
                if symbol is not None and isinstance(symbol.node, Var) and symbol.node.is_inferred:
                    return (symbol.node.info.fullname, name)
        return None

    def _last(self, key: _Key, line: int) -> Type | None:
        """What was put into a place last before the line; else what is put there first, if nobody declared it."""
        made = [s for s in self._sources.get(key, []) if not s.is_added and not _is_none(s.value)]
        before = [s for s in made if s.value.line < line]
        if not before and (isinstance(key, tuple) or key.is_inferred):
            before = made[:1]
        if isinstance(key, Var) and not key.is_inferred and not self._checker.options.allow_redefinition:
            before = []
        return self._of_source(before[-1]) if before else None

    def _of_source(self, source: _Source) -> Type | None:
        if source not in self._known:
            self._known[source] = None  # x = f(x)
            found = self._put_there(source)
            if self._checker.current_node_deferred:  # there will be more to know
                del self._known[source]
                return found
            self._known[source] = found
        return self._known[source]

    def _put_there(self, source: _Source) -> Type | None:
        if self._depth >= _DEEPEST:
            return None
        self._depth += 1
        try:
            typ, _ = self.evaluate(source.value)
        finally:
            self._depth -= 1
        for index in source.items:
            typ = self._item(get_proper_type(typ), index, source.value)
        return typ

    def _item(self, typ: ProperType, index: int | None, e: Expression) -> Type:
        if isinstance(typ, AnyType):
            return typ
        if isinstance(typ, TupleType) and index is not None:
            return typ.items[index] if index < len(typ.items) else any_type()
        if _holds_modules(typ):
            return self._types.instance(MODULE) or any_type()
        with self._alone():
            found: Type = self._checker.analyze_iterable_item_type_without_expression(typ, e)[1]
        return found

    def _accept(
        self, e: Expression, replaced: dict[Expression, Type], context: Type | None
    ) -> tuple[Type, list[ErrorInfo]]:
        overrides = self._checker.expr_checker.type_overrides
        before = {node: overrides[node] for node in replaced if node in overrides}
        with self._alone() as errors:
            overrides.update(replaced)
            for node, known in replaced.items():  # mypy looks up what a method is called on
                self._checker.store_type(node, known)
            try:
                typ = self._checker.expr_checker.accept(e, context)
            finally:
                for node in replaced:
                    overrides.pop(node, None)
                overrides.update(before)
        return typ, errors.filtered_errors()

    @contextmanager
    def _alone(self) -> Iterator[Any]:
        """mypy without the plugin; what it finds out meanwhile is forgotten."""
        global _plain
        checker = self._checker
        cache, deferred, later = (
            checker.expr_checker.expr_cache,
            checker.current_node_deferred,
            len(checker.deferred_nodes),
        )
        _plain += 1
        checker.expr_checker.expr_cache = {}
        try:
            with (
                checker.msg.filter_errors(save_filtered_errors=True) as errors,
                checker.local_type_map,
                checker.binder.frame_context(can_skip=True, fall_through=0),
            ):
                yield errors
        finally:
            _plain -= 1
            checker.expr_checker.expr_cache = cache
            checker.current_node_deferred = deferred
            del checker.deferred_nodes[later:]


def _is_ours(typ: ProperType) -> bool:
    """Whether the plugin may have put it in the place of Any."""
    return isinstance(typ, Instance) and (typ.type.has_base(TENSOR) or typ.type.has_base(MODULE))


def _holds_modules(typ: ProperType | None) -> bool:
    """Whether it is a container of modules."""
    return is_module(typ) and any(typ.type.has_base(c) for c in _CONTAINERS)


def _is_unresolved(typ: ProperType) -> bool:
    """Whether it is what mypy itself says of an attribute of a module, or of an item of a list of modules."""
    members = list(_members(typ))
    return any(isinstance(m, Instance) and m.type.fullname == MODULE for m in members) and all(
        isinstance(m, Instance) and m.type.fullname in (MODULE, TENSOR) for m in members
    )


def _members(typ: ProperType | None) -> Iterator[ProperType]:
    if isinstance(typ, UnionType):
        yield from map(get_proper_type, typ.items)
    elif typ is not None:
        yield typ
