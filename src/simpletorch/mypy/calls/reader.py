"""Calls of torch's functions and methods: read the arguments, ask the rule, give mypy the answer as the call's type.

All of it happens in the *signature* hooks, which mypy asks before it resolves overloads: an error reported later,
while a variant is tried, would be taken for a misfit of that variant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import product
from typing import Any, Final, TypeAlias, cast

from mypy.nodes import (
    ARG_STAR,
    ARG_STAR2,
    CallExpr,
    ComparisonExpr,
    ConditionalExpr,
    Context,
    Expression,
    IndexExpr,
    ListExpr,
    MemberExpr,
    NameExpr,
    OperatorAssignmentStmt,
    OpExpr,
    TempNode,
    UnaryExpr,
)
from mypy.operators import op_methods, reverse_op_methods, unary_op_methods
from mypy.plugin import FunctionContext, FunctionSigContext, MethodSigContext
from mypy.typeops import make_simplified_union
from mypy.types import AnyType, CallableType, Instance, NoneType, Type, TypeOfAny, UnionType, get_proper_type

from simpletorch.mypy.calls.arguments import (
    Arguments,
    SignatureContext,
    Starred,
    last_assigned,
    read_arguments,
    type_of,
)
from simpletorch.mypy.calls.arrays.tensors import OF_ARRAYS, with_arrays
from simpletorch.mypy.calls.repeats import given_types, once_at
from simpletorch.mypy.convert.lift import is_tensor
from simpletorch.mypy.convert.lower import Lowerer
from simpletorch.mypy.convert.meta import ask_torch
from simpletorch.mypy.convert.place import Place, PlaceLifter
from simpletorch.mypy.diagnose.inferred import is_unsettled, widen
from simpletorch.mypy.diagnose.report import report
from simpletorch.mypy.hooks import FunctionResultHook
from simpletorch.mypy.names import public_name
from simpletorch.mypy.program.autocast import autocast_at
from simpletorch.mypy.program.loops import is_assigned_in_loop
from simpletorch.mypy.types import TypeTable, any_type
from simpletorch.rules import ANYTHING, RULES, Report, Value, infer
from simpletorch.rules.core.autocast import any_float
from simpletorch.rules.core.dtype import DType
from simpletorch.rules.core.values import ANY_TENSOR, Anything, Scalar, TensorType
from simpletorch.shapes import ANY_REST, Unknown

__all__ = [
    "FUNCTION_RESULTS",
    "CallReader",
    "Combinations",
    "function_rule",
    "gradual",
    "is_constant",
    "method_rule",
]

Ask: TypeAlias = "Callable[[Sequence[Value], dict[str, Value]], Value | Report]"
Combinations: TypeAlias = list[tuple[list[Value], dict[str, Value]]]
MOST_ALTERNATIVES: Final = 8
_ATOMS: Final = frozenset({Anything, Unknown, Scalar, DType, type(None), type(...), bool, int, float, str})
_SIZES: Final = frozenset({int, Unknown})
_INDEXING: Final = ("__getitem__", "__setitem__")
_EQUALITY: Final = ("__eq__", "__ne__")
_OF_OTHERS: Final[Combinations] = []
"""No arguments to ask a rule about: they are arrays that are no tensors."""


class CallReader:
    """Everything needed at one call: types in, values out, answers back."""

    def __init__(self, types: TypeTable, place: Place) -> None:
        self.api = place.api
        self.lifter = PlaceLifter(types, place.api, place.context.line)
        self.lowerer = Lowerer(self.lifter)
        self._types: dict[Expression, Type] = {}

    def type_of(self, node: Expression) -> Type:
        """The type of an argument."""
        found = self._types.get(node)
        if found is None:
            found = self._types[node] = type_of(node, self.api)
        return found

    def alternatives(self, node: Expression) -> list[Value]:
        """The values that an argument may have: several for a union, one else."""
        if isinstance(node, NameExpr | MemberExpr | CallExpr | IndexExpr | OpExpr | ConditionalExpr | TempNode):
            typ = get_proper_type(self.type_of(node))
            if isinstance(typ, UnionType):
                return self.values_of(typ, node)
        return [self.lifter.expression(node, self.type_of)]

    def values_of(self, typ: Type, node: Expression | None) -> list[Value]:
        """The values of an expression of this type, item by item for a union; one with a gradual member is gradual.

        A variable that a loop assigns has as many sizes as there are iterations, so only their join counts.
        """
        typ = get_proper_type(typ)
        if not isinstance(typ, UnionType):
            return [self.lifter.value(typ)]
        values = [self.lifter.value(t) for t in typ.relevant_items()]
        if ANYTHING in values:
            return [ANYTHING]
        if ANY_TENSOR in values and all(isinstance(v, TensorType) for v in values):
            return [ANY_TENSOR]
        if node is not None and is_assigned_in_loop(node, cast(Any, self.api).tree):
            return [self.lifter.joined(values)]
        return list(dict.fromkeys(values)) if all(_is_hashable(v) for v in values) else values

    def arguments(self, given: Arguments) -> Combinations | None:
        """Every combination of what the arguments may be; None if they can't be read or are too many."""
        if not given.complete:
            return None
        positional: list[list[Value]] = []
        for node in given.positional:
            if isinstance(node, Starred):
                spread = self.lifter.spread(node.node, self.type_of)
                if spread is None:
                    return None
                positional.extend([v] for v in spread)
            else:
                positional.append(self.alternatives(node))
        named = {name: self.alternatives(node) for name, node in given.named.items()}
        count = 1
        for options in (*positional, *named.values()):
            count *= len(options)
        if count > MOST_ALTERNATIVES:
            positional = [[self.lifter.joined(options)] for options in positional]
            named = {name: [self.lifter.joined(options)] for name, options in named.items()}
        return [
            (list(combination[: len(positional)]), dict(zip(named, combination[len(positional) :], strict=True)))
            for combination in product(*positional, *named.values())
        ]

    def answer(
        self,
        ask: Ask,
        combinations: Combinations,
        default: Type,
        context: Context,
    ) -> Type:
        """The type of the result over all combinations; the mistake is reported only if every one is a mistake."""
        results = [ask(positional, named) for positional, named in combinations]
        sound = [r for r in results if not isinstance(r, Report)]
        if not sound:
            first = results[0]
            assert isinstance(first, Report)
            report(first, context, self.api)
            return gradual(default, self.lifter.types)
        found = [self.lowerer.value(r, default) for r in sound]
        if len(found) == 1:
            return found[0]
        return make_simplified_union(found)


def gradual(default: Type, types: TypeTable) -> Type:
    """The result of a call after an error: torch's own type, or an unknown tensor, so that there is no cascade."""
    if isinstance(get_proper_type(default), AnyType):
        return types.any_tensor() or default
    return default


def _written(method: str, context: MethodSigContext) -> tuple[Expression | None, Expression | None]:
    """The receiver of a method as the program says it, and for a binary operator the other operand.

    For operators mypy passes placeholders, and for ``a + b`` it may ask ``b.__radd__(a)``.
    """
    match context.context:
        case CallExpr(callee=MemberExpr(expr=receiver, name=name)) if name == method:
            return receiver, None
        case OpExpr(op=op, left=left, right=right) if op_methods.get(op) == method:
            return left, right
        case OpExpr(op=op, left=left, right=right) if reverse_op_methods.get(op_methods.get(op, "")) == method:
            return right, left
        case OperatorAssignmentStmt(lvalue=receiver) if method.startswith("__i") and method != "__iter__":
            return receiver, None
        case IndexExpr(base=base) if method in _INDEXING:
            return base, None
        case UnaryExpr(expr=expr) if method in unary_op_methods.values():
            return expr, None
    return None, None


def _whole(receiver: Expression, context: MethodSigContext) -> Type | None:
    """The tensors that a receiver may be, where mypy asks for one after the other; None if it is no union."""
    union = _union(receiver, context)
    members = [m for m in union.relevant_items() if is_tensor(m) or _is_any(m)] if union is not None else []
    return UnionType.make_union(members) if context.type in members else None


def _may_be_no_tensor(context: MethodSigContext) -> bool:
    """Whether ``x, names = f()`` unpacks a tensor only as far as types go: what gives a tensor or a tuple is told apart
    by how it was called, and torch says of a tensor's items as little.
    """
    union = _union(cast(Expression, context.context), context)
    return union is not None and not all(is_tensor(m) or _is_any(m) for m in union.relevant_items())


def _union(node: Expression, context: MethodSigContext) -> UnionType | None:
    """The type that mypy has found for an operand, if it is a union."""
    found = get_proper_type(cast(Any, context.api).lookup_type_or_none(node))
    return found if isinstance(found, UnionType) else None


def _is_any(typ: Type) -> bool:
    return isinstance(get_proper_type(typ), AnyType)


def _is_hashable(value: Value) -> bool:
    return not isinstance(value, slice | tuple)


def _of_any_float(name: str, positional: Sequence[Value], named: dict[str, Value]) -> Value | Report:
    """torch's answer for an operation whose operands autocast may have cast."""
    found: Value | Report = ask_torch(name, positional, named)
    return found if isinstance(found, Report) else any_float(found)


def _infer(name: str, positional: Sequence[Value], named: dict[str, Value]) -> Value | Report:
    """The rule's answer; cached where no size has a variable in it, as in most calls."""
    if all(map(is_constant, positional)) and all(map(is_constant, named.values())):
        return _inferred(name, *cast(Sequence[Any], positional), **cast(dict[str, Any], named))
    return infer(name, positional, named)


def is_constant(value: Value) -> bool:
    """Whether a value has no variable, which facts could say something of, and is equal only to what is the same."""
    if isinstance(value, TensorType):
        return all(item is ANY_REST or type(item) in _SIZES for item in value.shape.items)
    if type(value) is tuple:
        return all(type(item) in _SIZES for item in value)
    return type(value) in _ATOMS


@lru_cache(maxsize=4096, typed=True)
def _inferred(name: str, /, *positional: Value, **named: Value) -> Value | Report:
    return infer(name, positional, named)


def _result(name: str, reader: CallReader, combinations: Combinations | None, context: SignatureContext) -> Type:
    """The result type of a call by its rule, or by torch itself where there is no rule."""
    declared = context.default_signature.ret_type
    if combinations is None:
        return declared
    cast_to = autocast_at(context.context, reader.api)
    if name in RULES:
        ask: Ask = partial(_infer, name) if cast_to is None else partial(infer, name, autocast=cast_to)
    else:
        ask = partial(ask_torch if cast_to is None else _of_any_float, name)
    result = reader.answer(ask, combinations, declared, context.context)
    if name == "Tensor.__iter__" and is_tensor(result):
        result = reader.lifter.types.instance("typing.Iterator", result) or declared
    if is_unsettled(context.context, cast(Any, context.api).tree):
        result = widen(result, reader.lifter.types)
    return result


def function_rule(fullname: str, context: FunctionSigContext, types: TypeTable) -> CallableType:
    """A function of torch's."""

    def result() -> Type:
        # the variants of an overloaded function differ in their results alone
        reader, combinations = once_at(context, (fullname, "arguments"), given_types(context)[2:], arguments)
        if combinations is _OF_OTHERS:
            return signature.ret_type
        return _result(public_name(fullname), reader, combinations, context)

    def arguments() -> tuple[CallReader, Combinations | None]:
        reader, name, given = CallReader(types, context), public_name(fullname), read_arguments(context)
        if name.startswith("einops.") and _is_other_array(given, reader):
            return reader, _OF_OTHERS
        combinations = reader.arguments(given)
        if combinations is not None and name in OF_ARRAYS:
            combinations = with_arrays(reader.lifter, reader.api, given, combinations)
        return reader, combinations

    signature = context.default_signature
    return signature.copy_modified(ret_type=once_at(context, fullname, given_types(context), result))


def _is_other_array(given: Arguments, reader: CallReader) -> bool:
    """Whether einops is given an array that is no tensor: it gives one of the same kind."""
    first = given.positional[0] if given.positional else None
    typ = None if first is None or isinstance(first, Starred) else get_proper_type(reader.type_of(first))
    return isinstance(typ, Instance) and typ.type.fullname == "numpy.ndarray"


def method_rule(method: str, context: MethodSigContext, types: TypeTable) -> CallableType:
    """A method or operator of a tensor; anything else is left as it is."""
    if not is_tensor(context.type) or (method == "__iter__" and _may_be_no_tensor(context)):
        return context.default_signature
    result = once_at(context, method, given_types(context), lambda: _method_result(method, context, types))
    signature = context.default_signature.copy_modified(ret_type=result)
    if method in _EQUALITY and _is_optional(context):
        return signature.copy_modified(arg_types=[any_type()])
    return signature


def _is_optional(context: MethodSigContext) -> bool:
    """Whether an operand may be None: in ``ids == config.pad_token_id`` the author doesn't mean to compare with None.

    mypy asks for each member of a union; for None it would say that the answer is a bool.
    """
    node = context.context
    operands = node.operands if isinstance(node, ComparisonExpr) else []
    unions = [found for o in operands if (found := _union(o, context)) is not None]
    return any(isinstance(get_proper_type(member), NoneType) for found in unions for member in found.items)


def _method_result(method: str, context: MethodSigContext, types: TypeTable) -> Type:
    reader = CallReader(types, context)
    receiver, other = _written(method, context)
    given = read_arguments(context, method)
    if other is not None and (last_assigned(other, context.api) or _union(other, context)) is not None:
        given = Arguments([other], {})
    combinations = reader.arguments(given)
    if combinations is not None:
        if method in _INDEXING and any(_has_key(positional[0]) for positional, _ in combinations):
            # mypy says itself that a tensor has no keys, with its own error code
            return context.default_signature.ret_type
        if method in _INDEXING and isinstance(given.positional[0], ListExpr):
            # to a rule a list is a tuple, but x[[1, 2]] is not x[1, 2]
            combinations = [([(index,), *rest], named) for (index, *rest), named in combinations]
        if method in _EQUALITY and _is_optional(context):
            combinations = [c for c in combinations if c[0] != [None]] or combinations
        own = None if receiver is None else last_assigned(receiver, context.api) or _whole(receiver, context)
        values = reader.values_of(own or context.type, receiver)
        combinations = [([v, *positional], named) for v in values for positional, named in combinations]
    return _result(f"Tensor.{method}", reader, combinations, context)


def _has_key(index: Value) -> bool:
    return isinstance(index, str) or (isinstance(index, tuple) and any(map(_has_key, index)))


def _made_untyped(context: FunctionContext, types: TypeTable) -> Type:
    """The result of ``_add_docstr(_linalg.linalg_inv, "…")``: a function of unknown signature instead of Any.

    torch defines ``torch.linalg``, ``torch.fft`` and ``torch.special`` so, from extension modules without stubs, and
    ``torch.unique`` with ``boolean_dispatch``. A callee of type Any would never reach a hook; this one does, under
    its name.
    """
    if not isinstance(get_proper_type(context.default_return_type), AnyType):
        return context.default_return_type
    anything = AnyType(TypeOfAny.special_form)
    function = cast(Any, context.api).named_type("builtins.function")
    return CallableType([anything, anything], [ARG_STAR, ARG_STAR2], [None, None], anything, function)


FUNCTION_RESULTS: Final[Mapping[str, FunctionResultHook]] = dict.fromkeys(
    ("torch._C._add_docstr", "torch._jit_internal.boolean_dispatch"), _made_untyped
)
