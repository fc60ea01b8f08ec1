"""Code that is untyped to mypy alone: the plugin must not cause complaints of mypy's there.

torch says ``Any`` of what a module gives, and many of its functions have no annotation. Where the plugin knows more,
mypy has more to complain of: ``y = self.proj(x)`` makes a tensor of ``y``, and ``y.reshape(-1, self.heads)`` is then an
error because ``heads`` may be None. That is no mistake about sizes, and users didn't ask for that check. So what mypy
says of an expression whose type is our doing is dropped, unless it is about sizes or dtypes, or a name that nothing
has.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, cast

from mypy.errors import ErrorInfo
from mypy.nodes import (
    AssignmentExpr,
    AssignmentStmt,
    CallExpr,
    ClassDef,
    ComparisonExpr,
    ConditionalExpr,
    Decorator,
    DictExpr,
    Expression,
    ExpressionStmt,
    ForStmt,
    FuncDef,
    GeneratorExpr,
    IfStmt,
    IndexExpr,
    ListComprehension,
    ListExpr,
    MemberExpr,
    MypyFile,
    NameExpr,
    OperatorAssignmentStmt,
    OpExpr,
    RefExpr,
    StarExpr,
    Statement,
    TupleExpr,
    TypeInfo,
    UnaryExpr,
    Var,
)
from mypy.plugin import CheckerPluginInterface
from mypy.types import (
    AnyType,
    CallableType,
    Instance,
    ProperType,
    TupleType,
    Type,
    UnionType,
    UnpackType,
    flatten_nested_unions,
    get_proper_type,
)

from simpletorch.mypy.convert.lift import is_module, is_tensor
from simpletorch.mypy.diagnose.concerned import CONCERNED, at_line
from simpletorch.mypy.diagnose.inferred import widen
from simpletorch.mypy.names import DICTS, LISTS, MODULE, OUR_MODULE, SEQUENTIALS, SIZE
from simpletorch.mypy.program.memory import once_a_tree
from simpletorch.mypy.program.syntax import all_statements, expressions_in, expressions_of, inner_blocks
from simpletorch.mypy.types import TypeTable, walk

__all__ = ["is_ours_to_cause"]

_CONTAINERS: Final = (*SEQUENTIALS, *LISTS, *DICTS)
_VIA_CLASS: Final = "Access to generic instance variables via class is ambiguous"
_UNPACKED: Final = re.compile(r"(?:Need more than|Too many).* to unpack \((\d+) expected")
_NUMBERS: Final = frozenset({"builtins.bool", "builtins.int", "builtins.float", "builtins.complex"})
_GROWS: Final = frozenset({"append", "extend", "insert", "add"})
_DISPLAYS: Final = (TupleExpr, ListExpr)
_BUILTINS: Final = frozenset({"tuple", "list", "zip", "enumerate", "reversed", "sorted", "sum", "dict", "set"})


def is_ours_to_cause(info: ErrorInfo, api: CheckerPluginInterface) -> bool:
    """Whether mypy complains of something only because the plugin told it what it is."""
    code = "" if info.code is None else info.code.code
    if code == "var-annotated":
        return _Reader(cast(Any, api)).is_grown_by_several(info.line)
    concerned = CONCERNED.get(code)
    if concerned is None or info.message.startswith("Revealed type"):
        return False
    reader = _Reader(cast(Any, api))
    if any(map(reader.is_attribute_of_item, _taken_for_none(reader.checker.tree, info.line))):
        return True
    if info.message.startswith(_VIA_CLASS):
        return any(map(_is_of_our_generic, at_line(reader.checker.tree, info.line)))
    unpacked = _UNPACKED.match(info.message)
    for node in at_line(reader.checker.tree, info.line):
        if unpacked and any(reader.may_have_rank(int(unpacked[1]), e) for e in concerned(node, info.column)):
            return True
        if any(reader.is_known(e) and reader.is_ours(e) for e in concerned(node, info.column)):
            return True
    return False


def _taken_for_none(tree: MypyFile, line: int) -> Iterator[Expression]:
    """Expressions that are None on a line inside ``if net.head is None``; mypy alone may take that for unreachable."""
    return (e for first, last, e in _none_blocks(tree) if first <= line <= last)


@once_a_tree
def _none_blocks(tree: MypyFile) -> list[tuple[int, int, Expression]]:
    """The first and last lines of what is done if something is None."""
    statements = [s for s in all_statements(tree) if isinstance(s, IfStmt)]
    found = []
    for condition, block in (pair for s in statements for pair in zip(s.expr, s.body, strict=True)):
        match condition, block.body:
            case ComparisonExpr(operators=["is"], operands=[e, NameExpr(fullname="builtins.None")]), [first, *rest]:
                last = rest[-1] if rest else first
                found.append((first.line, last.end_line or last.line, e))
    return found


def _is_of_our_generic(node: object) -> bool:
    """Whether this is an attribute of a class of torch's, which are generic by our doing."""
    owner = node.expr.node if isinstance(node, MemberExpr) and isinstance(node.expr, RefExpr) else None
    return isinstance(owner, TypeInfo) and owner.fullname.startswith("torch.")


# -- whose doing a type is -------------------------------------------------------------------------------------------


@dataclass
class _Reader:
    """Follows an expression back to where its type comes from."""

    checker: Any
    seen: set[object] = field(default_factory=set)

    def is_known(self, e: Expression) -> bool:
        """Whether there is a tensor in its type, or a module of a class that is known; or the type isn't there yet."""
        typ = self._type(e)
        return typ is None or any(
            is_tensor(t) or (is_module(t) and t.type.fullname != MODULE) for t in walk(typ) if isinstance(t, Instance)
        )

    def may_have_rank(self, rank: int, e: Expression) -> bool:
        """Whether ``x.size()`` is in an expression and has so many items for one of the shapes that x may have."""
        return any(
            isinstance(m, TupleType) and m.partial_fallback.type.fullname == SIZE and m.length() == rank
            for inner in expressions_in(e)
            for m in self._members(inner)
        )

    def is_grown_by_several(self, line: int) -> bool:
        """Whether the list that begins here is extended by one of several lists that differ in sizes alone.

        mypy infers what ``found = []`` holds from ``found.extend(y)``, but not if the type of ``y`` is a union.
        """
        tree = self.checker.tree
        begun = (s.lvalues[0] for s in at_line(tree, line) if isinstance(s, AssignmentStmt))
        variables = [place.node for place in begun if isinstance(place, NameExpr)]
        members = [self._members(source.value) for v in variables for source in _sources(tree).get(v, ())]
        types = TypeTable(self.checker.modules)
        return any(_differ_in_sizes(several, types) for several in members)

    def _has_several_sizes(self, e: Expression) -> bool:
        """Whether this is a union by our doing: of it and an int mypy alone would make an object."""
        return _differ_in_sizes(self._members(e), TypeTable(self.checker.modules))

    def _is_our_equality(self, e: ComparisonExpr) -> bool:
        """Whether a tensor is compared with what may be anything: for mypy alone that is `object.__eq__`, a bool."""
        members = [m for operand in e.operands for m in self._members(operand)]
        return (
            set(e.operators) <= {"==", "!="}
            and any(map(is_tensor, members))
            and not all(is_tensor(m) or _is_number(m) for m in members)
        )

    def is_ours(self, e: Expression) -> bool:
        """Whether mypy alone would infer Any, or a module without further knowledge."""
        if e in self.seen:
            return False
        self.seen.add(e)
        match e:
            case CallExpr():
                return self._is_our_call(e)
            case NameExpr(node=Var() as variable):
                return self._is_our_variable(variable, e)
            case MemberExpr(expr=owner):
                return self._is_our_attribute(e) or self.is_ours(owner)
            case IndexExpr(base=base):
                return self._is_container(base) or self.is_ours(base)
            case ListComprehension(generator=GeneratorExpr(left_expr=left)) | GeneratorExpr(left_expr=left):
                return self.is_ours(left)
            case UnaryExpr(expr=inner) | StarExpr(expr=inner) | AssignmentExpr(value=inner):
                return self.is_ours(inner)
            case OpExpr(left=left, right=right):
                return self.is_ours(left) or self.is_ours(right)
            case ComparisonExpr(operands=operands):
                return self._is_our_equality(e) or any(map(self.is_ours, operands))
            case ConditionalExpr(if_expr=first, else_expr=second):
                return self.is_ours(first) or self.is_ours(second)
            case TupleExpr(items=items) | ListExpr(items=items):
                return any(map(self.is_ours, items))
            case DictExpr(items=pairs):
                return any(self.is_ours(value) or self._has_several_sizes(value) for _, value in pairs)
        return False

    def _type(self, e: Expression) -> ProperType | None:
        """The type of an expression; while mypy tries an assignment in several ways, it keeps it of names only."""
        found = cast("Type | None", self.checker.lookup_type_or_none(e))
        if found is None and isinstance(e, NameExpr | MemberExpr):
            variable = self._definition(e)
            found = self.checker.binder.get(e) or (variable.type if isinstance(variable, Var) else None)
        return get_proper_type(found)

    def _members(self, e: Expression) -> list[ProperType]:
        typ = self._type(e)
        if isinstance(typ, UnionType):
            return [get_proper_type(m) for m in flatten_nested_unions(typ.items)]
        return [] if typ is None else [typ]

    def _is_container(self, e: Expression) -> bool:
        """Of a container torch says that it holds modules, whichever."""
        return any(isinstance(m, Instance) and any(map(m.type.has_base, _CONTAINERS)) for m in self._members(e))

    def is_attribute_of_item(self, e: Expression) -> bool:
        """Whether this is an attribute of what is in a container: a tensor or a module for mypy alone, never None."""
        match e:
            case MemberExpr(expr=IndexExpr(base=base)):
                return self._is_container(base)
            case MemberExpr(expr=NameExpr(node=Var() as variable)):
                found = _sources(self.checker.tree).get(variable, ())
                return any(source.is_item and self._is_container(source.value) for source in found)
        return False

    def _is_our_call(self, call: CallExpr) -> bool:
        if any(map(_is_of_torch, self._members(call.callee))) or _is_untyped(self._definition(call.callee)):
            return True
        match call.callee:
            case MemberExpr(expr=owner):
                return self.is_ours(owner)
            case NameExpr(fullname=name) if name.rpartition(".")[2] in _BUILTINS:
                return any(map(self.is_ours, call.args))
        return False

    def _definition(self, callee: Expression) -> object:
        if isinstance(callee, NameExpr | MemberExpr) and callee.node is not None:
            return callee.node
        if isinstance(callee, MemberExpr):
            for owner in self._members(callee.expr):
                symbol = owner.type.get(callee.name) if isinstance(owner, Instance) else None
                if symbol is not None:
                    return symbol.node
        return None

    def _is_our_attribute(self, e: MemberExpr) -> bool:
        """An attribute that was given different modules, or whose type comes from what is ours."""
        variable = self._definition(e)
        if not isinstance(variable, Var) or not variable.is_inferred:
            return False
        modules = [m for m in self._members(e) if is_module(m)]
        return len(modules) > 1 or self._is_our_variable(variable, e, of_object=True)

    def _is_our_variable(self, variable: Var, at: Expression, *, of_object: bool = False) -> bool:
        """A variable that was given something of ours above, or a list that got some."""
        if (variable, at.line) in self.seen:
            return False
        self.seen.add((variable, at.line))
        found = _sources(self.checker.tree).get((variable.info, variable.name) if of_object else variable, ())
        return any(self._is_our_source(source) for source in found if of_object or source.line <= at.line)

    def _is_our_source(self, source: _Source) -> bool:
        typ = self._type(source.value)
        iterated = self._members(source.value) if not source.is_part or typ is None else walk(typ)
        if source.is_item and (self._is_container(source.value) or any(map(is_tensor, iterated))):
            return True  # torch doesn't say what iterating over a tensor gives
        return self.is_ours(source.value)


def _is_number(typ: ProperType) -> bool:
    return isinstance(typ, Instance) and typ.type.fullname in _NUMBERS


def _differ_in_sizes(members: list[ProperType], types: TypeTable) -> bool:
    """Whether these are tensors, or hold some, that are alike but for sizes and dtypes."""
    return (
        len(members) > 1
        and any(is_tensor(t) for m in members for t in walk(m) if isinstance(t, Instance))
        and len({str(widen(m, types)) for m in members}) == 1
    )


def _is_of_torch(typ: ProperType) -> bool:
    """Whether this is a module whose call gives anything, as far as it says."""
    if not isinstance(typ, Instance) or not is_module(typ) or typ.type.has_base(OUR_MODULE):
        return False
    forward = typ.type.get("forward")
    return forward is None or not _says_sizes(forward.type)


def _says_sizes(typ: Type | None) -> bool:
    """Whether an annotation says more of a tensor than that it is one: then the program asked to have it checked."""
    typ = get_proper_type(typ)
    return isinstance(typ, CallableType) and any(
        isinstance(t, Instance)
        and is_tensor(t)
        and not all(isinstance(get_proper_type(a), AnyType | UnpackType) for a in t.args)
        for t in walk(typ.ret_type)
    )


def _is_untyped(definition: object) -> bool:
    """Whether a function of torch's has no annotation. Those that it makes of others get a type of `Any` from us."""
    if isinstance(definition, Decorator):
        definition = definition.func
    if not isinstance(definition, FuncDef | Var) or not definition.fullname.startswith("torch."):
        return False
    return definition.type is None or _gives_any(definition.type)


def _gives_any(typ: Type | None) -> bool:
    typ = get_proper_type(typ)
    return isinstance(typ, CallableType) and isinstance(get_proper_type(typ.ret_type), AnyType)


class _Source(NamedTuple):
    """A value that a variable is assigned."""

    value: Expression
    line: int
    is_item: bool
    """Whether it is an item of the value."""
    is_part: bool
    """Whether it is an item of an item, as in ``for x, y in pairs``."""


@once_a_tree
def _sources(tree: MypyFile) -> Mapping[object, list[_Source]]:
    """The values that are assigned to variables, and to the attributes of ``self`` by class and name."""
    found: dict[object, list[_Source]] = defaultdict(list)
    _collect(tree.defs, None, found)
    return found


def _collect(statements: Iterable[Statement], owner: TypeInfo | None, found: dict[object, list[_Source]]) -> None:
    for s in statements:
        for place, value, is_item in _gifts(s):
            is_unpacked = type(place) in _DISPLAYS
            for name in _names(place, owner):
                found[name].append(_Source(value, s.line, is_item or is_unpacked, is_item and is_unpacked))
        inside = s.info if isinstance(s, ClassDef) else owner
        for block in inner_blocks(s):
            _collect(block.body, inside, found)


def _gifts(s: Statement) -> list[tuple[Expression, Expression, bool]]:
    """The targets of a statement, the values for them, and whether a target gets an item of its value."""
    found: list[tuple[Expression, Expression, bool]] = []
    match s:
        case AssignmentStmt(lvalues=places, rvalue=value):
            found = [(place, value, False) for place in places]
        case OperatorAssignmentStmt(lvalue=place, rvalue=value):
            found = [(place, value, False)]
        case ForStmt(index=place, expr=value):
            found = [(place, value, True)]
        case ExpressionStmt(expr=CallExpr(callee=MemberExpr(expr=place, name=name), args=args)) if name in _GROWS:
            found = [(place, value, False) for value in args]
    for e in expressions_of(s):
        if type(e) is GeneratorExpr:
            found += [(place, value, True) for place, value in zip(e.indices, e.sequences, strict=True)]
        elif type(e) is AssignmentExpr:
            found.append((e.target, e.value, False))
    return found


def _names(place: Expression, owner: TypeInfo | None) -> Iterator[object]:
    match place:
        case TupleExpr(items=items) | ListExpr(items=items):
            for item in items:
                yield from _names(item, owner)
        case StarExpr(expr=inner):
            yield from _names(inner, owner)
        case NameExpr(node=Var() as variable):
            yield variable
        case MemberExpr(expr=NameExpr(node=Var(is_self=True)), name=name):
            yield owner, name
