"""Places whose type mypy has inferred from the first thing put there: attributes, lists, dicts, globals.

``self.state = torch.zeros(0)`` in ``__init__`` doesn't mean that the state keeps that size, nor
``layers.append(nn.Linear(3, 5))`` that every layer has it; but mypy takes the first type as declared. So what is put
there later may differ in sizes, dtype and device: the place is then widened, and mypy's complaint dropped. A place
that the user has annotated keeps its type.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, cast

from mypy.nodes import (
    AssignmentStmt,
    CallExpr,
    ClassDef,
    Expression,
    ExpressionStmt,
    IndexExpr,
    MemberExpr,
    MypyFile,
    NameExpr,
    OperatorAssignmentStmt,
    Statement,
    SymbolNode,
    TupleExpr,
    Var,
)
from mypy.plugin import CheckerPluginInterface
from mypy.type_visitor import TypeTranslator
from mypy.typeops import make_simplified_union
from mypy.types import Instance, NoneType, Type, TypeAliasType, UnionType, get_proper_type

from simpletorch.mypy.convert.lift import is_module, is_tensor
from simpletorch.mypy.names import DEVICE_TENSORS, DICTS, DISTRIBUTIONS, LISTS, MODULE, SEQUENTIALS
from simpletorch.mypy.program.memory import once_a_tree
from simpletorch.mypy.program.syntax import all_statements, inner_blocks
from simpletorch.mypy.types import TypeTable, any_type

__all__ = ["is_unsettled", "put", "unite_modules", "widen", "widen_place"]

_MUTATORS: Final = frozenset({"append", "appendleft", "extend", "insert", "add", "setdefault", "update", "put"})

_CONTAINERS: Final = (*SEQUENTIALS, *LISTS, *DICTS)


class _Widener(TypeTranslator):
    """Takes sizes, dtypes and devices out of a type."""

    def __init__(self, types: TypeTable) -> None:
        super().__init__()
        self.types = types

    def visit_instance(self, t: Instance, /) -> Type:
        if not t.args:
            return t
        if t.type.fullname in DEVICE_TENSORS:
            return self.types.any_tensor() or t
        if (is_tensor(t) and t.type.has_type_var_tuple_type) or t.type.fullname in DISTRIBUTIONS:
            return t.copy_modified(args=[any_type(), self.types.any_rest()])
        if t.type.fullname in SEQUENTIALS:
            return t.copy_modified(args=[self.types.any_rest()])
        if t.type.fullname.startswith("torch.nn."):
            return t.copy_modified(args=[any_type()] * len(t.args))
        return super().visit_instance(t)

    def visit_type_alias_type(self, t: TypeAliasType, /) -> Type:
        return t


def widen(typ: Type, types: TypeTable) -> Type:
    """The type without what it says of sizes, dtypes and devices."""
    return typ.accept(_Widener(types))


def widen_place(line: int, api: CheckerPluginInterface) -> bool:
    """Widen the place that the statement on this line puts something into; False if its type was declared."""
    checker = cast(Any, api)
    types = TypeTable(checker.modules)
    found = [(place, is_grown, _variable(place, checker)) for place, is_grown in _places(checker.tree.defs, line)]
    inferred = [(place, is_grown, v, v.type) for place, is_grown, v in found if v is not None and v.type is not None]
    for place, is_grown, variable, typ in inferred:
        variable.type = widen(typ, types)
        collection = _collection(place)
        # what grows stays what it is on this way, whatever else the variable holds on others
        held = checker.binder.get(collection) if is_grown or collection is not place else None
        checker.binder.put(collection, variable.type if held is None else widen(held, types))
    return bool(inferred)


def _collection(place: Expression) -> Expression:
    """``d`` of ``d[k]``, which is what has an inferred type."""
    return _collection(place.base) if isinstance(place, IndexExpr) else place


def unite_modules(line: int, api: CheckerPluginInterface) -> bool:
    """Let the place that the statement puts another kind of module into hold both; False if it isn't about modules.

    ``self.proj = nn.Linear(3, 5)`` in one branch and ``self.proj = nn.Identity()`` in the other make a union. Where a
    container is in play, or another object's attribute is set (``net.head = nn.Identity()``), the place keeps the class
    that mypy found first, without sizes: a union would make every ``layers[0]`` an error.
    """
    checker = cast(Any, api)
    for s in _gifts(checker.tree).get(line, ()):
        match s:
            case AssignmentStmt(lvalues=[place], rvalue=value):
                variable, given = _variable(place, checker), checker.lookup_type_or_none(value)
                if variable is None or not _are_modules(variable.type) or not _are_modules(given):
                    return False
                holds = cast(Type, variable.type)
                if _is_own(place) and not any(map(_is_container, (holds, given))):
                    variable.type = make_simplified_union([holds, given])
                else:
                    variable.type = widen(holds, TypeTable(checker.modules))
                return True
            case ExpressionStmt(expr=CallExpr(callee=MemberExpr(expr=place))) | OperatorAssignmentStmt(lvalue=place):
                return _widen_list(place, checker)
    return False


@once_a_tree
def _gifts(tree: MypyFile) -> Mapping[int, list[Statement]]:
    """Assignments to one place without an annotation, by their first lines; what a list grows by, by all its lines."""
    found: dict[int, list[Statement]] = defaultdict(list)
    for s in all_statements(tree):
        match s:
            case AssignmentStmt(lvalues=[_], unanalyzed_type=None):
                found[s.line].append(s)
            case ExpressionStmt(expr=CallExpr(callee=MemberExpr(name=name))) | OperatorAssignmentStmt(op=name) if (
                name in _MUTATORS or name == "+"
            ):
                for line in range(s.line, (s.end_line or s.line) + 1):
                    found[line].append(s)
    return found


def _is_own(place: Expression) -> bool:
    return isinstance(place, NameExpr) or (isinstance(place, MemberExpr) and _is_self(place.expr))


def _is_self(node: Expression) -> bool:
    return isinstance(node, NameExpr) and isinstance(node.node, Var) and node.node.is_self


def _is_container(typ: Type) -> bool:
    """Whether there is a container among the modules of a type."""
    typ = get_proper_type(typ)
    members = map(get_proper_type, typ.items if isinstance(typ, UnionType) else [typ])
    return any(
        isinstance(m, Instance) and m.type.has_base(base) for m in members for base in (*SEQUENTIALS, *LISTS, *DICTS)
    )


def _are_modules(typ: Type | None) -> bool:
    """Whether a type is a module, or a union of modules and perhaps None."""
    typ = get_proper_type(typ)
    members = typ.items if isinstance(typ, UnionType) else [] if typ is None else [typ]
    found = [m for m in map(get_proper_type, members) if not isinstance(m, NoneType)]
    return bool(found) and all(is_module(m) for m in found)


def _widen_list(place: Expression, checker: Any) -> bool:
    """A list of linear layers becomes a list of modules."""
    variable = _variable(place, checker)
    typ = None if variable is None else get_proper_type(variable.type)
    module = TypeTable(checker.modules).instance(MODULE)
    if variable is None or module is None or not isinstance(typ, Instance) or len(typ.args) != 1:
        return False
    if not _are_modules(typ.args[0]):
        return False
    put(place, typ.copy_modified(args=[module]), checker)
    return True


def put(place: Expression, typ: Type, checker: Any) -> bool:
    """Let a variable have this type from here on; False, and nothing is done, if its type was declared."""
    variable = _variable(place, checker)
    if variable is None:
        return False
    variable.type = typ
    if checker.binder.get(place) is not None:
        checker.binder.put(place, typ)
    return True


def _places(statements: Iterable[Statement], line: int) -> Iterator[tuple[Expression, bool]]:
    """The targets of a statement, and whether each is a list that grows."""
    for s in statements:
        if not s.line <= line <= (s.end_line or s.line):
            continue
        match s:
            case AssignmentStmt(lvalues=[TupleExpr(items=places), *_], unanalyzed_type=None):
                yield from ((place, False) for place in places)
            case AssignmentStmt(lvalues=[place, *_], unanalyzed_type=None) | OperatorAssignmentStmt(lvalue=place):
                yield place, False
            case ExpressionStmt(expr=CallExpr(callee=MemberExpr(expr=place, name=name))) if name in _MUTATORS:
                yield place, True
        for block in inner_blocks(s):
            yield from _places(block.body, line)


def _variable(place: Expression, checker: Any) -> Var | None:
    """The variable or attribute behind an expression, if its type is inferred."""
    node: SymbolNode | None = None
    match place:
        case IndexExpr(base=base):
            return _variable(base, checker)
        case NameExpr(node=node):
            pass
        case MemberExpr(expr=owner, name=name, node=node):
            typ = get_proper_type(checker.lookup_type_or_none(owner))
            if node is None and isinstance(typ, Instance):
                symbol = typ.type.get(name)
                node = None if symbol is None else symbol.node
    if not isinstance(node, Var) or node.explicit_self_type:
        return None
    return node if node.is_inferred else None


def is_unsettled(value: object, tree: MypyFile, *, across_methods: bool = False) -> bool:
    """Whether the expression is assigned to an attribute that its class assigns in several places.

    Args:
        value: the expression.
        tree: the file.
        across_methods: only if these places are in more than one method. Assignments in the branches of one method make
            a union of modules (see `unite_modules`).
    """
    methods = _unsettled(tree).get(cast(Expression, value), 0)
    return methods > 1 if across_methods else methods > 0


@once_a_tree
def _unsettled(tree: MypyFile) -> dict[Expression, int]:
    """Values of attributes that are assigned in several places: in how many methods."""
    return {value: count for cls in all_statements(tree) if isinstance(cls, ClassDef) for value, count in _rivals(cls)}


def _rivals(cls: ClassDef) -> Iterator[tuple[Expression, int]]:
    found: dict[str, list[tuple[int, Expression]]] = defaultdict(list)
    declared: set[str] = set()
    for i, member in enumerate(cls.defs.body):
        for s in _assignments(member):
            for lvalue, value in _targets(s):
                if not isinstance(lvalue, MemberExpr | NameExpr):
                    continue
                if s.unanalyzed_type is not None:
                    declared.add(lvalue.name)
                elif (s is member or _is_attribute(lvalue)) and not _is_none(value):
                    found[lvalue.name].append((i, value))
    for name, places in found.items():
        if len(places) > 1 and name not in declared:
            methods = len({i for i, _ in places})
            yield from ((value, methods) for _, value in places)


def _is_attribute(place: Expression) -> bool:
    return isinstance(place, MemberExpr) and isinstance(place.expr, NameExpr)


def _targets(s: AssignmentStmt) -> Iterable[tuple[Expression, Expression]]:
    """The targets of an assignment with their values; ``a, b = f()`` gives both the whole."""
    if not any(isinstance(lvalue, TupleExpr) for lvalue in s.lvalues):
        return [(lvalue, s.rvalue) for lvalue in s.lvalues]
    return _unpacked(s)


def _unpacked(s: AssignmentStmt) -> Iterator[tuple[Expression, Expression]]:
    for lvalue in s.lvalues:
        match lvalue, s.rvalue:
            case TupleExpr(items=targets), TupleExpr(items=values) if len(targets) == len(values):
                yield from zip(targets, values, strict=True)
            case TupleExpr(items=targets), whole:
                yield from ((target, whole) for target in targets)
            case _:
                yield lvalue, s.rvalue


def _is_none(value: Expression) -> bool:
    return isinstance(value, NameExpr) and value.fullname == "builtins.None"


def _assignments(member: Statement) -> Iterator[AssignmentStmt]:
    """The assignments in a statement of a class; those of a class inside it are that one's own."""
    waiting = [member]
    while waiting:
        s = waiting.pop()
        if isinstance(s, AssignmentStmt):
            yield s
        elif not isinstance(s, ClassDef):
            for block in inner_blocks(s):
                waiting += block.body
