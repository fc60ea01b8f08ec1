"""Constructors of ``torch.nn``: ``nn.Linear(784, 128)`` is a ``Linear[784, 128]``; what torch refuses is reported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from mypy.nodes import (
    ARG_STAR,
    ARG_STAR2,
    CallExpr,
    Expression,
    IndexExpr,
    MemberExpr,
    MypyFile,
    OpExpr,
    RefExpr,
    TypeInfo,
)
from mypy.plugin import FunctionSigContext
from mypy.typeops import get_type_vars
from mypy.types import CallableType, Instance, Type, TypeVarType, UninhabitedType, get_proper_type

from simpletorch._empty import empty
from simpletorch.mypy.calls.reader import CallReader, is_constant
from simpletorch.mypy.calls.repeats import given_types, once_at
from simpletorch.mypy.convert.lift import is_module
from simpletorch.mypy.diagnose.inferred import is_unsettled, widen
from simpletorch.mypy.diagnose.report import report
from simpletorch.mypy.names import public_class
from simpletorch.mypy.program.memory import once_a_tree
from simpletorch.mypy.program.sight import is_of_others
from simpletorch.mypy.types import TypeTable, any_type
from simpletorch.rules import ANYTHING, MODULES, ModuleRule, Report, Value, new_module
from simpletorch.rules.core.registry import field_names

__all__ = ["construct"]

# Arguments that torch takes, but its annotations don't: LazyConv2d(8, 3, padding="same").
_TOO_NARROW: Final[Mapping[str, str]] = {f"torch.nn.LazyConv{n}d": "padding" for n in (1, 2, 3)}

_COMPUTED: Final = (RefExpr, CallExpr, IndexExpr, OpExpr)
_RECURRENT: Final = ("torch.nn.RNN", "torch.nn.LSTM", "torch.nn.GRU")


def construct(context: FunctionSigContext, types: TypeTable) -> CallableType:
    """The module with what its rule knows of the arguments; a mistake in them is one error."""
    signature = context.default_signature
    built = get_proper_type(signature.ret_type)
    rule = MODULES.get(public_class(built.type.fullname)) if isinstance(built, Instance) else None
    if not isinstance(built, Instance) or rule is None:
        return signature
    name = public_class(built.type.fullname)
    # the variants of an overloaded constructor have parameters of their own
    question = (name, *signature.arg_names)
    result, is_refused = once_at(
        context, question, given_types(context), lambda: _made(name, rule, built.type, context, types)
    )
    if is_refused:
        signature = signature.copy_modified(arg_types=[any_type()] * len(signature.arg_types))
    return _loosened(name, signature, context).copy_modified(ret_type=result, variables=[])


def with_open_sizes(signature: CallableType, fullname: str) -> CallableType:
    """A module whose base ``Module[In, Out]`` has type variables that no argument decides: each call does."""
    made = get_proper_type(signature.ret_type)
    if not isinstance(made, Instance) or made.type.fullname != fullname or not made.args or not is_module(made):
        return signature
    if made.type.defn.removed_base_type_exprs:  # ``Generic[D]``: the class itself has the variable
        return signature
    decided = {v.id for t in signature.arg_types for v in get_type_vars(t)}
    args = [any_type() if isinstance(a, TypeVarType) and a.id not in decided else a for a in made.args]
    return signature.copy_modified(ret_type=made.copy_modified(args=args))


def _made(
    name: str, rule: type[ModuleRule], cls: TypeInfo, context: FunctionSigContext, types: TypeTable
) -> tuple[Type, bool]:
    """The type of the module, and whether torch or simpletorch refuses the arguments, which is reported."""
    reader = CallReader(types, context)
    given = dict(_given(context, reader))
    if not all(map(is_constant, given.values())):
        return _built(name, rule, cls, given, reader, context)
    known = _layers(cast(Any, context.api).tree)
    key = cls, context.context, *((parameter, type(value), value) for parameter, value in given.items())
    found = known.get(key)
    if found is None:
        found = _built(name, rule, cls, given, reader, context)
        if not found[1]:  # what is refused is said each time, since mypy drops what is said while it tries a call
            known[key] = found
    return found


@once_a_tree
def _layers(_: MypyFile) -> dict[tuple[object, ...], tuple[Type, bool]]:
    """The layers that places build from constants: mypy asks again whenever it knows more of a variable."""
    return {}


def _built(
    name: str,
    rule: type[ModuleRule],
    cls: TypeInfo,
    given: Mapping[str, Value],
    reader: CallReader,
    context: FunctionSigContext,
) -> tuple[Type, bool]:
    own = field_names(rule)
    made = new_module(name, given)
    if isinstance(made, ModuleRule) and _is_ours(context.context):
        layer = name.rpartition(".")[2]
        found = empty(layer, {**given, **vars(made)})
        made = made if found is None else Report(layer, "shape", found.reason, {}, found.hint, 1, 0)
    is_refused = isinstance(made, Report)
    if isinstance(made, Report):
        report(made, context.context, context.api)
        made = None
    values: Sequence[Value] = [ANYTHING] * len(own) if made is None else [getattr(made, name) for name in own]
    result: Type = Instance(cls, [reader.lowerer.static(v) for v in values])
    if is_unsettled(context.context, cast(Any, context.api).tree, across_methods=True):
        result = widen(result, reader.lifter.types)
    return result, is_refused


def _is_ours(call: object) -> bool:
    """Whether the class is named as one of ``simpletorch.nn``, which refuses what torch only warns of."""
    match call:
        case CallExpr(callee=MemberExpr(expr=RefExpr(node=MypyFile() as module))):
            return module.fullname.partition(".")[0] == "simpletorch"
    return False


def _given(context: FunctionSigContext, reader: CallReader) -> Iterator[tuple[str, Value]]:
    """The arguments by name. Values from ``*args`` or ``**kwargs`` are unknown."""
    call = context.context
    spread: set[Expression] = set()
    names: dict[Expression, str | None] = {}
    if isinstance(call, CallExpr):
        spread = {a for a, kind in zip(call.args, call.arg_kinds, strict=True) if kind in (ARG_STAR, ARG_STAR2)}
        names = dict(zip(call.args, call.arg_names, strict=True))
    signature = context.default_signature
    for name, kind, nodes in zip(signature.arg_names, signature.arg_kinds, context.args, strict=True):
        if name is None or (not nodes and kind != ARG_STAR2):
            continue
        if spread.intersection(nodes):
            yield name, ANYTHING
        elif kind == ARG_STAR2:
            yield name, tuple((names.get(node) or "", _value(node, reader)) for node in nodes)
        else:
            yield name, _value(nodes[0], reader)


def _value(node: Expression, reader: CallReader) -> Value:
    """The value of an argument, if there is only one. Layers of installed packages have only sizes that are numbers."""
    if isinstance(node, _COMPUTED) and not _is_constant(node) and is_of_others(reader.api):
        return ANYTHING
    options = reader.alternatives(node)
    return options[0] if len(options) == 1 else ANYTHING


def _is_constant(node: Expression) -> bool:
    """Whether this is True, False, None, or a dtype of torch's."""
    return isinstance(node, RefExpr) and node.fullname.startswith(("builtins.", "torch."))


def _loosened(name: str, signature: CallableType, context: FunctionSigContext) -> CallableType:
    """The signature with torch's two mistakes in it mended.

    `RNN`, `LSTM` and `GRU` have a variant ``(*args, **kwargs)`` that takes anything; it is closed to all calls that the
    other one refuses.
    """
    narrow = _TOO_NARROW.get(name)
    if narrow in signature.arg_names:
        formals = list(signature.arg_types)
        formals[signature.arg_names.index(narrow)] = any_type()
        return signature.copy_modified(arg_types=formals)
    if name in _RECURRENT and signature.arg_kinds == [ARG_STAR, ARG_STAR2]:
        return signature.copy_modified(arg_types=[UninhabitedType(), UninhabitedType()])
    return signature
