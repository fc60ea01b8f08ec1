"""The arguments of a call, as the program writes them, and their types."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

from mypy.nodes import ARG_NAMED, ARG_POS, ARG_STAR, CallExpr, Expression, MemberExpr, NameExpr, Var
from mypy.plugin import CheckerPluginInterface, FunctionSigContext, MethodSigContext
from mypy.types import AnyType, Instance, NoneType, PartialType, Type, UnionType, get_proper_type

from simpletorch.mypy.convert.lift import is_tensor

__all__ = ["Arguments", "SignatureContext", "Starred", "last_assigned", "nothing_expected", "read_arguments", "type_of"]

_SIMPLE: Final = frozenset({"builtins.bool", "builtins.int", "builtins.float", "builtins.str"})
SignatureContext: TypeAlias = FunctionSigContext | MethodSigContext


@dataclass(frozen=True)
class Starred:
    """``*args`` in a call, to be spread when its length is known."""

    node: Expression


@dataclass(frozen=True)
class Arguments:
    """The arguments of a call. ``complete`` is False if some can't be read: ``f(**options)``."""

    positional: list[Expression | Starred]
    named: dict[str, Expression]
    complete: bool = True


def read_arguments(context: SignatureContext, method: str | None = None) -> Arguments:
    """The arguments as the caller wrote them; for an operator or an implicit call of a method, as mypy passes them."""
    call = context.context
    passed = [node for nodes in context.args for node in nodes]
    if not isinstance(call, CallExpr) or any(node not in call.args for node in passed) or not _calls(call, method):
        return Arguments(list(passed), {})
    positional: list[Expression | Starred] = []
    named: dict[str, Expression] = {}
    for node, kind, name in zip(call.args, call.arg_kinds, call.arg_names, strict=True):
        if kind == ARG_POS:
            positional.append(node)
        elif kind == ARG_NAMED and name is not None:
            named[name] = node
        elif kind == ARG_STAR:
            positional.append(Starred(node))
        else:
            return Arguments(positional, named, complete=False)
    return Arguments(positional, named)


def _calls(call: CallExpr, method: str | None) -> bool:
    """Whether the call is one of the method: for ``q, k, v = x.unbind()`` mypy also asks ``__iter__`` at that place."""
    return method is None or (isinstance(call.callee, MemberExpr) and call.callee.name == method)


def type_of(node: Expression, api: CheckerPluginInterface) -> Type:
    """The type of an argument. Its errors are dropped here: mypy evaluates it again and reports them then."""
    if isinstance(node, NameExpr | MemberExpr):
        held = cast(Any, api).binder.get(node)
        found = _declared(node, cast(Any, api)) if held is None else _tensors(held)
        if found is not None:
            return found
    with api.msg.filter_errors():
        return api.get_expression_type(node)


def _declared(node: NameExpr | MemberExpr, checker: Any) -> Type | None:
    """The type of a variable, or of an attribute that is a number or the like, as mypy itself would find it.

    It is asked about what mypy has learnt nothing of. None where mypy has more to look at: most arguments are such
    names, and it takes mypy three times as long.
    """
    if isinstance(node.node, Var):  # a variable, also one of another module
        typ, is_constant = node.node.type, node.node.name in ("True", "False")
        is_known = not (is_constant or isinstance(typ, PartialType) or node in checker.expr_checker.type_overrides)
        return typ if is_known else None
    inner = node.expr if isinstance(node, MemberExpr) else None
    if not isinstance(inner, NameExpr | MemberExpr) or checker.binder.get(inner) is not None:
        return None
    owner = get_proper_type(_declared(inner, checker))
    if not isinstance(owner, Instance) or owner.extra_attrs is not None or owner.type.is_enum:
        return None
    symbol = owner.type.get(node.name)
    variable = None if symbol is None else symbol.node
    is_plain = isinstance(variable, Var) and not variable.is_property and _is_simple(variable.type)
    return cast(Var, variable).type if is_plain else None


def _is_simple(typ: Type | None) -> bool:
    """Whether no hook and no type variable could make another type of it."""
    typ = get_proper_type(typ)
    if isinstance(typ, UnionType):
        return all(map(_is_simple, typ.items))
    return isinstance(typ, AnyType | NoneType) or (isinstance(typ, Instance) and typ.type.fullname in _SIMPLE)


def last_assigned(node: Expression, api: CheckerPluginInterface) -> Type | None:
    """The tensor that was assigned to a variable last, where mypy remembers it; None for anything else.

    mypy joins the type that an assignment gives with the variable's declared one, and where that is the gradual tensor
    (``def forward(self, x: torch.Tensor)``, then ``x = self.fc1(x)``) nothing would be left of what is known.
    """
    if not isinstance(node, NameExpr | MemberExpr):
        return None
    held = cast(Any, api).binder.get(node)
    return None if held is None else _tensors(held)


def _tensors(held: Type) -> Type | None:
    """The type if it is a tensor, or a union of such."""
    found = get_proper_type(held)
    members = found.items if isinstance(found, UnionType) else [found]
    return found if all(map(is_tensor, members)) else None


@contextmanager
def nothing_expected(api: CheckerPluginInterface) -> Iterator[Any]:
    """mypy's checker of expressions, for a call inside another.

    The type that is due for the whole says nothing of a stage.
    """
    checker = cast(Any, api).expr_checker
    checker.type_context.append(None)
    try:
        yield checker
    finally:
        checker.type_context.pop()
