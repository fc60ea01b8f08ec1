"""The latest answers, kept for a moment.

For one call, mypy asks several times: for each variant of an overload, for an argument with and without its expected
type, and again for the call around it.

As in mypy's own cache of expressions, an answer holds while nothing more is known of any variable. One that said
something isn't kept, since mypy drops what is said while it tries a call.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final, TypeAlias, TypeVar, cast

from mypy.nodes import Expression, TempNode
from mypy.plugin import FunctionSigContext, MethodSigContext
from mypy.types import Type

from simpletorch.mypy.convert.place import Place
from simpletorch.mypy.diagnose.report import number_of_reports

__all__ = ["given_types", "once_at"]

T = TypeVar("T")

_Given: TypeAlias = tuple[Type | None, ...]


class _Moment:
    """The answers since mypy last learnt something about a variable."""

    binder: object = None
    version: int = -1

    def __init__(self) -> None:
        self.answers: dict[tuple[object, Hashable], list[tuple[_Given, Any]]] = {}

    def begin(self, binder: Any) -> dict[tuple[object, Hashable], list[tuple[_Given, Any]]]:
        """The answers that hold now."""
        version = binder.version
        if self.version != version or self.binder is not binder:
            self.answers.clear()
            self.binder, self.version = binder, version
        return self.answers


_MOMENT: Final = _Moment()


def once_at(place: Place, question: Hashable, given: _Given, work: Callable[[], T], *, listens: bool = False) -> T:
    """The answer to a question about a place, worked out once while nothing else becomes known.

    Args:
        place: what the hook was given.
        question: what is asked.
        given: the types that mypy passed, on which the answer depends besides.
        work: finds the answer.
        listens: whether mypy itself may say something meanwhile, as where it checks a call. That counts as said, too.
            An operator must not listen: `report` passes by the watchers that mypy puts up for it, by their number.
    """
    checker = cast(Any, place.api)
    binder = checker.binder
    key = place.context, question
    known = _MOMENT.begin(binder).get(key)
    if known is not None:
        for types, answer in known:
            if types == given:
                return cast(T, answer)
    version, reports = binder.version, number_of_reports()
    if listens:
        with checker.msg.filter_errors(filter_errors=False) as heard:
            answer = work()
        is_silent = reports == number_of_reports() and not heard.has_new_errors()
    else:
        answer = work()
        is_silent = reports == number_of_reports()
    settled = is_silent and version == binder.version and not checker.current_node_deferred
    # the parameters of a lambda have another type each time that it is tried
    if settled and not checker.expr_checker.in_lambda_expr:
        _MOMENT.begin(binder).setdefault(key, []).append((given, answer))
    return answer


def given_types(context: FunctionSigContext | MethodSigContext) -> _Given:
    """The types that mypy passes: the receiver's, and those of operands that it puts in for expressions."""
    receiver = context.type if isinstance(context, MethodSigContext) else None
    operands = [_type(node) for nodes in context.args for node in nodes]
    return (receiver, context.default_signature.ret_type, *operands)


def _type(node: Expression) -> Type | None:
    return node.type if isinstance(node, TempNode) else None
