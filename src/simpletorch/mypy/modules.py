"""``torch.nn``: constructors that keep their sizes, calls that follow ``forward``, ``Sequential``, parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, cast

from mypy.expandtype import expand_type_by_instance
from mypy.maptype import map_instance_to_supertype
from mypy.nodes import (
    ARG_POS,
    ARG_STAR,
    ARG_STAR2,
    CallExpr,
    Decorator,
    FuncDef,
    MemberExpr,
    OverloadedFuncDef,
    TempNode,
    TypeInfo,
)
from mypy.plugin import AttributeContext, CheckerPluginInterface, FunctionSigContext, MethodSigContext
from mypy.typeops import bind_self
from mypy.types import CallableType, FunctionLike, Instance, Type, get_proper_type

from simpletorch.mypy.calls import CallReader, Starred, read_arguments
from simpletorch.mypy.functions import call_function, has_sizes
from simpletorch.mypy.inferred import is_grown, is_unsettled, widen
from simpletorch.mypy.lift import Lifter, is_tensor, scopes_around
from simpletorch.mypy.lower import Lowerer
from simpletorch.mypy.names import (
    MODULE,
    MODULE_LIST,
    OUR_MODULE,
    PARAMETER,
    SEQUENTIAL,
    SEQUENTIALS,
    TENSOR,
    public_class,
)
from simpletorch.mypy.report import report
from simpletorch.mypy.types import TypeTable, any_type
from simpletorch.rules import ANYTHING, MODULES, ModuleRule, Report, Value, infer_module, new_module
from simpletorch.rules.values import ANY_TENSOR

__all__ = ["attribute", "call", "construct", "construct_module_list", "construct_sequential", "has_attribute_rule"]


def _rule_of(info: TypeInfo) -> type[ModuleRule] | None:
    return MODULES.get(public_class(info.fullname)) if info.fullname.startswith("torch.nn.") else None


def module_value(typ: Instance, lifter: Lifter) -> ModuleRule | None:
    """The module that an instance is, by the torch class whose ``forward`` it has; None for a user's own."""
    for info in typ.type.mro:
        rule = _rule_of(info)
        if rule is not None:
            base = map_instance_to_supertype(typ, info)
            values = [lifter.static(a) for a in base.args] if base.args else [ANYTHING] * len(fields(rule))
            return rule(*values) if len(values) == len(fields(rule)) else None
        if "forward" in info.names:
            return None
    return None


def construct(context: FunctionSigContext, types: TypeTable) -> CallableType:
    """``nn.Linear(784, 128)`` is a ``Linear[784, 128]``; arguments that torch refuses are reported."""
    signature = context.default_signature
    built = get_proper_type(signature.ret_type)
    if not isinstance(built, Instance):
        return signature
    rule = _rule_of(built.type)
    if rule is None:
        return signature
    reader = CallReader(types, context.api)
    given: dict[str, Value] = {}
    for name, nodes in zip(signature.arg_names, context.args, strict=True):
        if name is not None and len(nodes) == 1:
            options = reader.alternatives(nodes[0])
            given[name] = options[0] if len(options) == 1 else ANYTHING
    own = [f.name for f in fields(rule)]
    if _is_spread(context):
        given = dict.fromkeys(own, ANYTHING)
    made = new_module(public_class(built.type.fullname), given)
    if isinstance(made, Report):
        report(made, context.context, context.api)
        made = None
    values: Sequence[Value] = [ANYTHING] * len(own) if made is None else [getattr(made, name) for name in own]
    result: Type = Instance(built.type, [reader.lowerer.static(v) for v in values])
    if is_unsettled(context.context, cast(Any, context.api).tree):
        result = widen(result, types)
    return signature.copy_modified(ret_type=result, variables=[])


def _is_spread(context: FunctionSigContext) -> bool:
    call = context.context
    return isinstance(call, CallExpr) and any(kind in (ARG_STAR, ARG_STAR2) for kind in call.arg_kinds)


# -- calling --------------------------------------------------------------------------------------------------------


def call(context: MethodSigContext, types: TypeTable) -> FunctionLike:
    """``model(x)`` has the signature of ``forward``; a torch module with a rule also knows its result."""
    receiver = context.type
    if not isinstance(receiver, Instance) or not receiver.type.has_base(MODULE):
        return context.default_signature
    if "forward" not in {n for info in receiver.type.mro for n in info.names}:
        return context.default_signature
    reader = CallReader(types, context.api)
    rule = module_value(receiver, reader.lifter)
    if rule is not None:
        combinations = reader.arguments(read_arguments(context))
        if combinations is None:
            return context.default_signature
        result = reader.answer(
            lambda positional, named: infer_module(rule, positional, named),
            combinations,
            _forward_result(receiver),
            context.context,
        )
        return context.default_signature.copy_modified(ret_type=result)
    found = _forward_node(receiver.type)
    if found is not None and found[0].fullname in SEQUENTIALS:
        return _call_sequential(receiver, context, reader)
    forward = _forward_type(receiver)
    if not isinstance(forward, CallableType):
        return context.default_signature if forward is None else forward
    if not (has_sizes(forward) or receiver.type.has_base(OUR_MODULE)):
        return _loose(forward, context)
    return call_function(forward, context, types, f"{receiver.type.name}.forward")


def _loose(forward: CallableType, context: MethodSigContext) -> CallableType:
    """A torch module whose ``forward`` states no size: the call stays unchecked, but a tensor is a tensor.

    torch types ``Module.__call__`` as ``Callable[..., Any]``, and much code out there lives on it.
    """
    result = forward.ret_type if is_tensor(forward.ret_type) else context.default_signature.ret_type
    return context.default_signature.copy_modified(ret_type=result)


def _forward_node(info: TypeInfo) -> tuple[TypeInfo, Any] | None:
    for base in info.mro:
        symbol = base.names.get("forward")
        if symbol is not None:
            return base, symbol.node
    return None


def _forward_type(receiver: Instance) -> FunctionLike | None:
    """The type of ``forward`` bound to the instance; None if it has no annotation."""
    found = _forward_node(receiver.type)
    if found is None:
        return None
    owner, node = found
    if not isinstance(node, FuncDef | Decorator | OverloadedFuncDef):
        return None
    typ = get_proper_type(node.type)
    if not isinstance(typ, FunctionLike):
        return None
    expanded = expand_type_by_instance(typ, map_instance_to_supertype(receiver, owner))
    return bind_self(cast(FunctionLike, expanded), receiver)


def _forward_result(receiver: Instance) -> Type:
    """What torch's own annotation says that ``forward`` returns."""
    forward = _forward_type(receiver)
    if isinstance(forward, CallableType):
        return forward.ret_type
    return any_type()


# -- Sequential -----------------------------------------------------------------------------------------------------


def construct_sequential(context: FunctionSigContext, types: TypeTable) -> CallableType:
    """``nn.Sequential(a, b)`` is a ``Sequential[A, B]``; layers that don't fit each other are reported here."""
    signature = context.default_signature
    built = get_proper_type(signature.ret_type)
    if not isinstance(built, Instance) or built.type.fullname not in SEQUENTIALS:
        return signature
    unknown = Instance(built.type, [types.any_rest()])
    reader = CallReader(types, context.api)
    given = read_arguments(context)
    layers: list[Type] = []
    for node in given.positional:
        typ = None if isinstance(node, Starred) else get_proper_type(reader.type_of(node))
        if not isinstance(typ, Instance) or not typ.type.has_base(MODULE):
            return signature.copy_modified(ret_type=unknown, variables=[])
        layers.append(typ)
    result: Instance = Instance(built.type, layers)
    gradual = reader.lowerer.tensor(ANY_TENSOR)
    if gradual is not None and not _fits(layers, gradual, context):
        result = unknown
    return signature.copy_modified(ret_type=result, variables=[])


def _fits(layers: Sequence[Type], given: Type, context: FunctionSigContext) -> bool:
    """Send an unknown tensor through the layers, so that mypy reports the first that doesn't fit."""
    with context.api.msg.filter_errors(save_filtered_errors=True) as errors:
        _chain(layers, given, context, context.api)
    context.api.msg.add_errors(errors.filtered_errors())
    return not errors.has_new_errors()


def _chain(
    layers: Sequence[Type], given: Type, context: FunctionSigContext | MethodSigContext, api: CheckerPluginInterface
) -> Type:
    checker = cast(Any, api).expr_checker
    for layer in layers:
        node = TempNode(given, context=context.context)
        given, _ = checker.check_call(layer, [node], [ARG_POS], context.context)
    return given


def _call_sequential(receiver: Instance, context: MethodSigContext, reader: CallReader) -> CallableType:
    found = _forward_node(receiver.type)
    base = map_instance_to_supertype(receiver, next(i for i in receiver.type.mro if i.fullname == SEQUENTIAL))
    given = read_arguments(context).positional
    signature = context.default_signature
    known = all(isinstance(get_proper_type(a), Instance) for a in base.args)
    if found is None or found[0].fullname not in SEQUENTIALS or not base.args or not known or len(given) != 1:
        return signature
    if isinstance(given[0], Starred):
        return signature
    start = reader.type_of(given[0])
    return signature.copy_modified(ret_type=_chain(base.args, start, context, context.api))


def construct_module_list(context: FunctionSigContext, types: TypeTable) -> CallableType:
    """``nn.ModuleList([Block(dim) for _ in range(n)])`` holds ``Block[…]``s, unless others may be added later."""
    signature = context.default_signature
    built = get_proper_type(signature.ret_type)
    module = types.instance(MODULE)
    if not isinstance(built, Instance) or built.type.fullname != MODULE_LIST or module is None:
        return signature
    layer: Type = module
    if context.args and len(context.args[0]) == 1 and not is_grown(context.context, cast(Any, context.api).tree):
        given = get_proper_type(CallReader(types, context.api).type_of(context.args[0][0]))
        iterable = types.info("typing.Iterable")
        if isinstance(given, Instance) and iterable is not None and given.type.has_base("typing.Iterable"):
            item = get_proper_type(map_instance_to_supertype(given, iterable).args[0])
            layer = item if isinstance(item, Instance) and item.type.has_base(MODULE) else module
    return signature.copy_modified(ret_type=Instance(built.type, [layer]), variables=[])


# -- parameters -----------------------------------------------------------------------------------------------------


def has_attribute_rule(fullname: str) -> bool:
    """Whether ``torch.nn.modules.linear.Linear.weight`` may be known: its class has a rule."""
    return public_class(fullname.rpartition(".")[0]) in MODULES


def attribute(name: str, context: AttributeContext, types: TypeTable) -> Type:
    """``Linear(4, 6).weight`` is a ``Parameter[…, 6, 4]``."""
    receiver = get_proper_type(context.type)
    if context.is_lvalue or not isinstance(receiver, Instance) or not isinstance(context.context, MemberExpr):
        return context.default_attr_type
    declared = get_proper_type(context.default_attr_type)
    if not isinstance(declared, Instance) or declared.type.fullname not in (TENSOR, PARAMETER):
        return context.default_attr_type
    lifter = Lifter(types, scopes_around(context.api))
    rule = module_value(receiver, lifter)
    found: Value = ANYTHING if rule is None else rule.attributes().get(name, ANYTHING)
    return Lowerer(lifter).value(found, context.default_attr_type)
