"""Calls of modules, which follow ``forward``, and the attributes of torch's own: parameters, buffers, sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from mypy.expandtype import expand_type_by_instance
from mypy.maptype import map_instance_to_supertype
from mypy.nodes import (
    ARG_POS,
    CallExpr,
    CastExpr,
    Context,
    Decorator,
    Expression,
    FuncDef,
    MemberExpr,
    NameExpr,
    OverloadedFuncDef,
    TypeInfo,
)
from mypy.plugin import AttributeContext, MethodSigContext
from mypy.server.trigger import make_trigger
from mypy.typeops import bind_self
from mypy.types import (
    AnyType,
    CallableType,
    FunctionLike,
    Instance,
    NoneType,
    Overloaded,
    ProperType,
    Type,
    TypeVarLikeType,
    TypeVarTupleType,
    TypeVarType,
    UnionType,
    get_proper_type,
)

from simpletorch.mypy.calls.arguments import Starred, read_arguments
from simpletorch.mypy.calls.functions import call_function, has_sizes
from simpletorch.mypy.calls.layers import chain, module_value, repeated
from simpletorch.mypy.calls.reader import CallReader, gradual
from simpletorch.mypy.calls.repeats import given_types, once_at
from simpletorch.mypy.convert.lift import is_module, is_tensor
from simpletorch.mypy.convert.lower import Lowerer
from simpletorch.mypy.convert.place import PlaceLifter
from simpletorch.mypy.diagnose.inferred import widen
from simpletorch.mypy.diagnose.report import mistakes
from simpletorch.mypy.hooks import AttributeHook, MethodHook
from simpletorch.mypy.names import MODULE, OUR_MODULE, PARAMETER, SEQUENTIAL, SEQUENTIALS, TENSOR, WRAPPERS
from simpletorch.mypy.program.autocast import autocast_at
from simpletorch.mypy.program.conversions import as_cast
from simpletorch.mypy.program.replacements import is_rebuilt
from simpletorch.mypy.types import TypeTable, any_type, walk
from simpletorch.rules import ANYTHING, ModuleRule, Report, TensorType, Value, infer_module, parameters
from simpletorch.rules.common.arguments import is_dim
from simpletorch.rules.core import due

__all__ = ["ATTRIBUTES", "INHERITED_METHODS", "attribute", "call"]


# -- calling --------------------------------------------------------------------------------------------------------


_OF_A_TASK: Final = "simpletorch.interop._tasks.TransformersModel"

_weighing: Final[set[Context]] = set()
"""The calls of a union of modules that are being weighed: their members are asked in turn."""


def call(context: MethodSigContext, types: TypeTable) -> FunctionLike:
    """``model(x)`` has the signature of ``forward``; a torch module with a rule also knows its result.

    Of a union (``nn.Linear(a, b) if a != b else nn.Identity()``) only what no member takes is a mistake, and it is one.
    """
    others = _other_members(context)
    if not others or context.context in _weighing:
        return _call(context, types)
    _weighing.add(context.context)
    try:
        with context.api.msg.filter_errors(save_filtered_errors=True) as errors:
            signature = _call(context, types)
        if not errors.has_new_errors():
            return signature
        members = [context.type, *others]
        if not any(_takes(m, context) for m in others) and context.type == min(members, key=str):
            context.api.msg.add_errors(errors.filtered_errors())
        return context.default_signature.copy_modified(ret_type=gradual(any_type(), types))
    finally:
        _weighing.discard(context.context)


def _other_members(context: MethodSigContext) -> list[Instance]:
    """The other modules that the called one may be."""
    if not isinstance(context.context, CallExpr):
        return []
    callee = get_proper_type(cast(Any, context.api).lookup_type_or_none(context.context.callee))
    if not isinstance(callee, UnionType):
        return []
    members = [get_proper_type(m) for m in callee.relevant_items()]
    return [m for m in members if is_module(m) and m != context.type]


def _takes(module: Instance, context: MethodSigContext) -> bool:
    """Whether a module can be called with these arguments."""
    node = context.context
    assert isinstance(node, CallExpr)
    with mistakes(context.api) as found:
        cast(Any, context.api).expr_checker.check_call(module, node.args, node.arg_kinds, node, node.arg_names)
    return not found


def _call(context: MethodSigContext, types: TypeTable) -> FunctionLike:
    if not isinstance(context.context, CallExpr):
        return _called(context, types)
    given = given_types(context)
    return once_at(context, "called", given, lambda: _called(context, types), listens=True)


def _called(context: MethodSigContext, types: TypeTable) -> FunctionLike:
    receiver = context.type
    if not is_module(receiver):
        return context.default_signature
    if not any("forward" in info.names for info in receiver.type.mro):
        return context.default_signature
    _depend(f"{receiver.type.fullname}.forward", context)
    reader = CallReader(types, context)
    rule = module_value(receiver, reader.lifter)
    if rule is not None:
        return _call_rule(rule, receiver, context, reader)
    found = _forward_node(receiver.type)
    if found is not None and found[0].fullname in SEQUENTIALS:
        return _call_sequential(receiver, context, reader)
    if found is not None and found[0].fullname in WRAPPERS:
        return _call_wrapped(receiver, found[0], context)
    forward = _forward_type(receiver) or _stated(receiver, context)
    if not isinstance(forward, CallableType):
        return context.default_signature if forward is None else forward
    if not (has_sizes(forward) or receiver.type.has_base(OUR_MODULE)):
        return _loose(forward, context)
    if has_sizes(forward) and is_rebuilt(receiver, context.api):
        return _loose(forward.copy_modified(ret_type=widen(forward.ret_type, types)), context)
    if receiver.type.has_base(_OF_A_TASK) and _has_more(forward, context):
        forward = _of_any_sizes(forward)
    is_ours = receiver.type.has_base(OUR_MODULE)
    name = f"{receiver.type.name}.forward"
    signature = call_function(_open(forward, receiver), context, types, name, only_sizes=not is_ours)
    return signature if is_ours else _as_of_torch(signature)


def _has_more(forward: CallableType, context: MethodSigContext) -> bool:
    """Whether the call names an argument that the signature doesn't."""
    call = context.context
    return isinstance(call, CallExpr) and not {*call.arg_names} <= {None, *forward.arg_names}


def _of_any_sizes(forward: CallableType) -> CallableType:
    """The result of a model of transformers for arguments of its own (``logits_to_keep=1``): of unknown sizes."""
    result = get_proper_type(forward.ret_type)
    assert isinstance(result, Instance)
    return forward.copy_modified(ret_type=result.copy_modified(args=[any_type() for _ in result.args]))


def _as_of_torch(forward: CallableType) -> CallableType:
    """torch says ``Any`` of what a module gives. Of a tensor or something else it stays that.

    mypy would want the two to be told apart.
    """
    result = get_proper_type(forward.ret_type)
    is_mixed = isinstance(result, UnionType) and not all(map(is_tensor, result.relevant_items()))
    return forward.copy_modified(ret_type=any_type()) if is_mixed else forward


def _call_rule(rule: ModuleRule, receiver: Instance, context: MethodSigContext, reader: CallReader) -> FunctionLike:
    called = _called_on(context)
    known = rule if called is None else as_cast(rule, called, context.api)
    cast_to = autocast_at(context.context, context.api)
    # an attribute may be converted with the whole model, anywhere; a variable is converted here
    certain = isinstance(called, NameExpr | CallExpr)
    combinations = reader.arguments(read_arguments(context))
    if combinations is None:
        return context.default_signature
    result = reader.answer(
        lambda positional, named: (
            _of_tuple(known, positional)
            or infer_module(known, positional, named, dtype_counts=certain, autocast=cast_to)
        ),
        combinations,
        _forward_result(receiver),
        context.context,
    )
    return _returning(context.default_signature, result)


def _of_tuple(rule: ModuleRule, positional: Sequence[Value]) -> Report | None:
    """A recurrent layer gives a pair, which most other layers refuse."""
    given = positional[0] if positional else None
    if type(given) is not tuple or not any(isinstance(item, TensorType) for item in given):
        return None
    if 0 not in due.places_of_layer(rule):
        return None
    return Report(str(rule), "class", f"it {due.refusal(f'a tuple of {len(given)}')}", hint="take [0] of it")


def _returning(signature: FunctionLike, result: Type) -> FunctionLike:
    """The signature, or each of an overloaded one, with this result."""
    items = [item.copy_modified(ret_type=result) for item in signature.items]
    return items[0] if len(items) == 1 else Overloaded(items)


def _call_sequential(receiver: Instance, context: MethodSigContext, reader: CallReader) -> FunctionLike:
    base = map_instance_to_supertype(receiver, next(i for i in receiver.type.mro if i.fullname == SEQUENTIAL))
    given = read_arguments(context).positional
    signature = context.default_signature
    known = all(not isinstance(get_proper_type(repeated(a) or a), AnyType) for a in base.args)
    if not known or len(given) != 1 or isinstance(given[0], Starred):
        if isinstance(context.context, CallExpr) and _is_super(context.context):
            return _returning(signature, gradual(any_type(), reader.lifter.types))
        return signature
    result = chain(base.args, reader.type_of(given[0]), context.context, context.api)
    return signature if result is None else _returning(signature, result)


def _is_super(call: CallExpr) -> bool:
    """Whether ``super().forward(x)`` was written here; see `super_calls`."""
    return isinstance(call.callee, MemberExpr) and isinstance(call.callee.expr, CastExpr)


def _call_wrapped(receiver: Instance, wrapper: TypeInfo, context: MethodSigContext) -> FunctionLike:
    """``DistributedDataParallel(model)`` is called as the model is."""
    node, signature = context.context, context.default_signature
    args = map_instance_to_supertype(receiver, wrapper).args
    inner = get_proper_type(args[0]) if args else None
    if not isinstance(inner, Instance) or inner.type.fullname == MODULE or not isinstance(node, CallExpr):
        return signature
    result, _ = cast(Any, context.api).expr_checker.check_call(inner, node.args, node.arg_kinds, node, node.arg_names)
    return _returning(signature, result)


def _stated(receiver: Instance, context: MethodSigContext) -> CallableType | None:
    """The signature that ``Module[In, Out]`` states, where ``forward`` doesn't."""
    info = next((i for i in receiver.type.mro if i.fullname == OUR_MODULE), None)
    args = () if info is None else map_instance_to_supertype(receiver, info).args
    if len(args) != 2 or all(isinstance(get_proper_type(a), AnyType) for a in args):
        return None
    signature = context.default_signature.copy_modified(variables=_own_sizes(args, context))
    return signature.copy_modified(arg_types=[args[0]], arg_kinds=[ARG_POS], arg_names=[None], ret_type=args[1])


def _own_sizes(args: Sequence[Type], context: MethodSigContext) -> list[TypeVarLikeType]:
    """The sizes that no other parameter has: ``B`` of ``model: Module[Tensor[Float32, B, 3], …]`` is of each call."""
    function = cast(Any, context.api).scope.current_function()
    signature = None if function is None else function.type
    if not isinstance(signature, CallableType):
        return []
    inside = {v.id: v for t in args for v in walk(t) if isinstance(v, TypeVarType | TypeVarTupleType)}
    others = [t for t in signature.arg_types if not _mentions_a_call(t)]
    given = {v.id for t in others for v in walk(t) if isinstance(v, TypeVarType | TypeVarTupleType)}
    return [v for v in signature.variables if v.id in inside and v.id not in given]


def _mentions_a_call(formal: Type) -> bool:
    return any(isinstance(t, Instance) and t.type.fullname == OUR_MODULE for t in walk(formal))


def _open(forward: CallableType, receiver: Instance) -> CallableType:
    """``forward`` of an object whose class has sizes that aren't known: the arguments of the call say what they are."""
    found = _forward_node(receiver.type)
    typ = None if found is None or not isinstance(found[1], FuncDef) else get_proper_type(found[1].type)
    if found is None or not isinstance(typ, CallableType):
        return forward
    owner = map_instance_to_supertype(receiver, found[0])
    pairs = list(zip(owner.type.defn.type_vars, owner.args, strict=False))
    free = [v for v, a in pairs if isinstance(v, TypeVarType) and isinstance(get_proper_type(a), AnyType)]
    if not free or owner.type.has_type_var_tuple_type:
        return forward
    owner = owner.copy_modified(args=[v if v in free else a for v, a in pairs])
    bound = bind_self(expand_type_by_instance(typ, owner), receiver)
    return bound.copy_modified(variables=[*bound.variables, *free])


def _called_on(context: MethodSigContext) -> Expression | None:
    """The module of a call as the program says it: ``self.fc`` in ``self.fc(x)``, also in ``self.fc.forward(x)``."""
    match context.context:
        case CallExpr(callee=MemberExpr(expr=module, name="forward")) | CallExpr(callee=module):
            return module
    return None


def _loose(forward: CallableType, context: MethodSigContext) -> CallableType:
    """A torch module whose ``forward`` states no size: the call stays unchecked, but a tensor is a tensor.

    torch types ``Module.__call__`` as ``Callable[..., Any]``, and much code out there lives on it.
    """
    result = forward.ret_type if is_tensor(forward.ret_type) else context.default_signature.ret_type
    return context.default_signature.copy_modified(ret_type=result)


def _depend(name: str, context: MethodSigContext) -> None:
    """Let mypy's daemon check the function or module that is being checked again when ``name`` changes.

    It finds out by itself what is called, and that is ``Module.__call__``.
    """
    checker = cast(Any, context.api)
    if not (checker.options.fine_grained_incremental or checker.options.cache_fine_grained):
        return
    checker.tree.plugin_deps.setdefault(make_trigger(name), set()).add(checker.tscope.current_target())


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
    """The result type in torch's own annotation of ``forward``."""
    forward = _forward_type(receiver)
    if isinstance(forward, CallableType):
        return forward.ret_type
    return any_type()


# -- parameters -----------------------------------------------------------------------------------------------------


def attribute(name: str, context: AttributeContext, types: TypeTable) -> Type:
    """``Linear(4, 6).weight`` is a ``Parameter[Float32, 6, 4]``, its ``in_features`` a ``Dim[4]``."""
    receiver = get_proper_type(context.type)
    if context.is_lvalue or not isinstance(receiver, Instance) or not isinstance(context.context, MemberExpr):
        return context.default_attr_type
    lifter = PlaceLifter(types, context.api, context.context.line)
    rule = module_value(receiver, lifter, called=False)
    if rule is None:
        return context.default_attr_type
    rule = as_cast(rule, context.context.expr, context.api)
    declared = get_proper_type(context.default_attr_type)
    if isinstance(declared, Instance) and declared.type.fullname == "builtins.int":
        size = getattr(rule, name, None)
        return Lowerer(lifter).size(size) if is_dim(size) else context.default_attr_type
    if not any(isinstance(m, Instance) and m.type.fullname in (TENSOR, PARAMETER) for m in _members(declared)):
        return context.default_attr_type
    found = parameters(rule).get(name, ANYTHING)
    return NoneType() if found is None else Lowerer(lifter).value(found, context.default_attr_type)


def _members(typ: ProperType) -> Iterator[ProperType]:
    yield from map(get_proper_type, typ.items) if isinstance(typ, UnionType) else (typ,)


def _wrapped(context: AttributeContext, types: TypeTable) -> Type:
    """``ddp.module`` is the model."""
    receiver = get_proper_type(context.type)
    if context.is_lvalue or not isinstance(receiver, Instance):
        return context.default_attr_type
    wrapper = next(info for info in receiver.type.mro if info.fullname in WRAPPERS)
    args = map_instance_to_supertype(receiver, wrapper).args
    return args[0] if args and not isinstance(get_proper_type(args[0]), AnyType) else context.default_attr_type


INHERITED_METHODS: Final[Mapping[str, MethodHook]] = {f"{MODULE}.__call__": call}
ATTRIBUTES: Final[Mapping[str, AttributeHook]] = {f"{wrapper}.module": _wrapped for wrapper in WRAPPERS}
