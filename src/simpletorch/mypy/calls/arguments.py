"""What a call is given: the arguments as the program writes them, and their types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from mypy.nodes import ARG_NAMED, ARG_POS, ARG_STAR, CallExpr, Expression, MemberExpr, NameExpr
from mypy.plugin import CheckerPluginInterface, FunctionSigContext, MethodSigContext
from mypy.types import Type, UnionType, get_proper_type

from simpletorch.mypy.convert.lift import is_tensor

__all__ = ["Arguments", "SignatureContext", "Starred", "last_assigned", "read_arguments", "type_of"]

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
    """The arguments as the caller wrote them; for an operator, or a method that nobody wrote, as mypy passes them."""
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
    assigned = last_assigned(node, api)
    if assigned is not None:
        return assigned
    with api.msg.filter_errors():
        return api.get_expression_type(node)


def last_assigned(node: Expression, api: CheckerPluginInterface) -> Type | None:
    """The tensor that was assigned to a variable last, where mypy remembers it; None for anything else.

    mypy joins the type that an assignment gives with the variable's declared one, and where that is the gradual tensor
    (``def forward(self, x: torch.Tensor)``, then ``x = self.fc1(x)``) nothing would be left of what is known.
    """
    if not isinstance(node, NameExpr | MemberExpr):
        return None
    found = get_proper_type(cast(Any, api).binder.get(node))
    members = found.items if isinstance(found, UnionType) else [found]
    return found if found is not None and all(m is not None and is_tensor(m) for m in members) else None
