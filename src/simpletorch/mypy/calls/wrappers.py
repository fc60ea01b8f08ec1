"""Functions that take a module and return one that is called in the same way: ``torch.compile``, DDP, conversions.

And what is spread over processes as it was: ``DTensor``, with the dtype and the shape of the whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, cast

from mypy.maptype import map_instance_to_supertype
from mypy.nodes import ArgKind, CallExpr, Expression, TempNode, TupleExpr, TypeInfo
from mypy.plugin import FunctionSigContext, MethodSigContext
from mypy.type_visitor import TypeTranslator
from mypy.types import AnyType, CallableType, Instance, TupleType, Type, TypeAliasType, TypeOfAny, get_proper_type

from simpletorch.mypy.calls.arguments import type_of
from simpletorch.mypy.calls.layers import called_with
from simpletorch.mypy.calls.reader import CallReader
from simpletorch.mypy.convert.lift import is_module, is_tensor
from simpletorch.mypy.convert.lower import Lowerer
from simpletorch.mypy.convert.place import PlaceLifter
from simpletorch.mypy.hooks import FunctionHook, MethodHook
from simpletorch.mypy.names import DTENSOR, MODULE, MODULES_PREFIX, TENSOR, WRAPPERS, public_class
from simpletorch.mypy.types import TypeTable
from simpletorch.rules import ANYTHING, MODULES, Device, Value
from simpletorch.rules.common.positions import unknown_dims
from simpletorch.rules.core.dtype import BY_TORCH_NAME, DType
from simpletorch.rules.core.registry import field_names
from simpletorch.rules.core.values import as_device

__all__ = ["FUNCTIONS", "INHERITED_METHODS", "METHODS"]

_UTILS: Final = "torch.nn.utils."
_SAME_MODULE: Final = frozenset(
    {
        "torch.compile",
        f"{_UTILS}parametrizations.orthogonal",
        f"{_UTILS}parametrizations.weight_norm",
        f"{_UTILS}parametrizations.spectral_norm",
        f"{_UTILS}parametrize.register_parametrization",
        f"{_UTILS}parametrize.remove_parametrizations",
        f"{_UTILS}fusion.fuse_conv_bn_eval",
        f"{_UTILS}fusion.fuse_linear_bn_eval",
        *(
            f"{_UTILS}prune.{name}"
            for name in (
                "identity",
                "random_unstructured",
                "l1_unstructured",
                "random_structured",
                "ln_structured",
                "custom_from_mask",
                "remove",
            )
        ),
        "torch.jit._script.script",
        "torch.jit._trace.trace",
    }
)
"""Functions that give back the module they get, or one that is called like it; `_wrap` sees to classes."""

_FUNCTIONAL_CALLS: Final = frozenset(
    {"torch._functorch.functional_call.functional_call", "torch.nn.utils.stateless.functional_call"}
)
_FULLY_SHARD: Final = "torch.distributed.fsdp._fully_shard._fully_shard.fully_shard"
_FSDP_MODULE: Final = "torch.distributed.fsdp._fully_shard._fully_shard.FSDPModule"
_RUN_PADDED: Final = "simpletorch.nn._recurrent.run_padded"
_DTYPE_OF: Final = {"half": "float16", "bfloat16": "bfloat16", "float": "float32", "double": "float64"}
_DEVICES: Final = ("cuda", "cpu", "xpu")
_CONVERSIONS: Final = frozenset({*_DTYPE_OF, *_DEVICES, "to", "type", "to_empty"})


def _is_module(typ: Type) -> bool:
    typ = get_proper_type(typ)
    return is_module(typ) and typ.type.fullname != MODULE


def _same_module(context: FunctionSigContext | MethodSigContext, types: TypeTable) -> CallableType:
    """``torch.compile(model)`` is, for its callers, the model."""
    signature = context.default_signature
    if not context.args or len(context.args[0]) != 1:
        return signature
    given = get_proper_type(type_of(context.args[0][0], context.api))
    if not _is_module(given):
        return signature
    return signature.copy_modified(arg_types=[given, *signature.arg_types[1:]], ret_type=given, variables=[])


def _wrap(context: FunctionSigContext, types: TypeTable) -> CallableType:
    """``DistributedDataParallel(model)`` is a ``DistributedDataParallel[Model]``."""
    signature = context.default_signature
    built = get_proper_type(signature.ret_type)
    if not isinstance(built, Instance) or not built.type.type_vars or not context.args or len(context.args[0]) != 1:
        return signature
    given = type_of(context.args[0][0], context.api)
    formals = [given, *signature.arg_types[1:]]
    return signature.copy_modified(arg_types=formals, ret_type=Instance(built.type, [given]), variables=[])


def _shard(context: FunctionSigContext, types: TypeTable) -> CallableType:
    """``fully_shard(model)`` is the model, with the methods of an ``FSDPModule`` beside its own."""
    signature = context.default_signature
    result = get_proper_type(signature.ret_type)
    if not context.args or len(context.args[0]) != 1 or not isinstance(result, Instance):
        return signature
    given = get_proper_type(type_of(context.args[0][0], context.api))
    if not isinstance(given, Instance) or not _is_module(given) or result.type.fullname != _FSDP_MODULE:
        return signature
    if given.type.has_base(_FSDP_MODULE):
        return signature.copy_modified(ret_type=given)
    both = cast(Any, context.api).intersect_instances((given, result), [])
    return signature.copy_modified(ret_type=given if both is None else both)


def _functional_call(context: FunctionSigContext, types: TypeTable) -> CallableType:
    """``functional_call(model, parameters, (x,))`` gives what ``model(x)`` gives."""
    signature, node = context.default_signature, context.context
    if not isinstance(node, CallExpr) or len(context.args) < 4 or len(context.args[0]) != 1:
        return signature
    module = get_proper_type(type_of(context.args[0][0], context.api))
    given, named = context.args[2], context.args[3]
    if not _is_module(module) or len(given) != 1 or named:
        return signature
    args: Sequence[Expression] = given[0].items if isinstance(given[0], TupleExpr) else given
    if not isinstance(given[0], TupleExpr) and not is_tensor(type_of(given[0], context.api)):
        return signature
    return signature.copy_modified(ret_type=_called(context, module, args))


def _run_padded(context: FunctionSigContext, types: TypeTable) -> CallableType:
    """``run_padded(lstm, x, lengths)`` gives the outputs that ``lstm(x)`` gives."""
    signature = context.default_signature
    if any(len(given) != 1 for given in context.args):
        return signature
    layer = get_proper_type(type_of(context.args[0][0], context.api))
    sequences = context.args[1][0]
    if not _is_module(layer) or not is_tensor(type_of(sequences, context.api)):
        return signature
    result = get_proper_type(_called(context, layer, [sequences]))
    return signature.copy_modified(ret_type=result.items[0]) if isinstance(result, TupleType) else signature


def _called(context: FunctionSigContext, module: Type, args: Sequence[Expression]) -> Type:
    """The type of ``module(*args)``, with what the arguments are known to be here."""
    nodes: list[Expression] = [TempNode(type_of(a, context.api), context=a) for a in args]
    return called_with(module, nodes, context.context, context.api)


# -- conversions -------------------------------------------------------------------------------------------------------


class _Converter(TypeTranslator):
    """Puts another dtype or device into the types of torch's own layers, also inside containers."""

    def __init__(self, reader: CallReader, changes: dict[str, Value]) -> None:
        super().__init__()
        self.reader = reader
        self.changes = changes

    def visit_instance(self, t: Instance, /) -> Type:
        rule = MODULES.get(public_class(t.type.fullname))
        if rule is None or not t.args:
            return super().visit_instance(t)
        changed = [
            self.reader.lowerer.static(self.changes[name]) if name in self.changes else arg.accept(self)
            for name, arg in zip(field_names(rule), t.args, strict=True)
        ]
        return t.copy_modified(args=changed)

    def visit_type_alias_type(self, t: TypeAliasType, /) -> Type:
        return t


def _convert(method: str, context: MethodSigContext, types: TypeTable) -> CallableType:
    """``layer.half()`` has other parameters: ``Linear[4, 6, dtype=Float16]``."""
    signature = _with_memory_format(context.default_signature) if method == "to" else context.default_signature
    reader = CallReader(types, context)
    changes = _changes(method, [v for nodes in context.args for n in nodes for v in reader.alternatives(n)])
    if not _is_module(context.type) or not changes:
        return signature
    return signature.copy_modified(ret_type=context.type.accept(_Converter(reader, changes)))


def _with_memory_format(signature: CallableType) -> CallableType:
    """``model.to(memory_format=torch.channels_last)``, which torch's annotations leave out (2.13)."""
    if "memory_format" in signature.arg_names:
        return signature
    return signature.copy_modified(
        arg_types=[*signature.arg_types, AnyType(TypeOfAny.special_form)],
        arg_kinds=[*signature.arg_kinds, ArgKind.ARG_NAMED_OPT],
        arg_names=[*signature.arg_names, "memory_format"],
    )


def _changes(method: str, given: Sequence[Value]) -> dict[str, Value]:
    if method in _DTYPE_OF:
        return {"dtype": BY_TORCH_NAME[_DTYPE_OF[method]]}
    if method in _DEVICES:
        return {"device": Device(method)}
    changes: dict[str, Value] = {}
    for value in given:
        if isinstance(value, DType):
            changes["dtype"] = value
        elif isinstance(value, str) and method == "to":
            changes["device"] = as_device(value)
        elif isinstance(value, Device):
            changes["device"] = value
        elif value is ANYTHING:
            return {"dtype": ANYTHING, "device": ANYTHING}
    return changes


# -- tensors over a mesh of processes ----------------------------------------------------------------------------------


def _tensor_as(info: TypeInfo | None, tensor: Type) -> Type | None:
    """The same dtype and shape as another class of tensors."""
    tensor = get_proper_type(tensor)
    if info is None or not info.type_vars or not isinstance(tensor, Instance) or not is_tensor(tensor):
        return None
    base = next(i for i in tensor.type.mro if i.fullname == TENSOR)
    return Instance(info, map_instance_to_supertype(tensor, base).args)


def _distribute(context: FunctionSigContext, types: TypeTable) -> CallableType:
    """``distribute_tensor(x, mesh, placements)`` has the shape of ``x``."""
    signature = context.default_signature
    if not context.args or len(context.args[0]) != 1:
        return signature
    made = _tensor_as(types.info(DTENSOR), type_of(context.args[0][0], context.api))
    return signature if made is None else signature.copy_modified(ret_type=made)


def _whole(context: MethodSigContext, types: TypeTable) -> CallableType:
    """``full_tensor()`` is the whole as a plain tensor."""
    made = _tensor_as(types.info(TENSOR), context.type)
    return context.default_signature if made is None else context.default_signature.copy_modified(ret_type=made)


def _redistribute(context: MethodSigContext, types: TypeTable) -> CallableType:
    """``redistribute(…)`` is the same whole in other parts."""
    made = _tensor_as(types.info(DTENSOR), context.type)
    return context.default_signature if made is None else context.default_signature.copy_modified(ret_type=made)


def _local(context: MethodSigContext, types: TypeTable) -> CallableType:
    """``to_local()`` has as many dims; their sizes depend on the mesh and the placements."""
    lifter = PlaceLifter(types, context.api, context.context.line)
    whole = get_proper_type(context.type)
    if not isinstance(whole, Instance) or not is_tensor(whole):
        return context.default_signature
    value = lifter.tensor(whole)
    made = Lowerer(lifter).tensor(value.with_shape(*unknown_dims(value.shape).items))
    return context.default_signature if made is None else context.default_signature.copy_modified(ret_type=made)


FUNCTIONS: Final[Mapping[str, FunctionHook]] = {
    f"{DTENSOR.rpartition('.')[0]}.distribute_tensor": _distribute,
    **dict.fromkeys(_SAME_MODULE, _same_module),
    **dict.fromkeys(WRAPPERS, _wrap),
    **dict.fromkeys(_FUNCTIONAL_CALLS, _functional_call),
    _RUN_PADDED: _run_padded,
    _FULLY_SHARD: _shard,
}
METHODS: Final[Mapping[str, MethodHook]] = {
    f"{MODULES_PREFIX}batchnorm.SyncBatchNorm.convert_sync_batchnorm": _same_module,
    f"{DTENSOR}.full_tensor": _whole,
    f"{DTENSOR}.redistribute": _redistribute,
    f"{DTENSOR}.to_local": _local,
}
INHERITED_METHODS: Final[Mapping[str, MethodHook]] = {
    f"{MODULE}.{method}": partial(_convert, method) for method in _CONVERSIONS
}
