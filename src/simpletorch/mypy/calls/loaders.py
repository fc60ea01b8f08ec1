"""The batches of a `DataLoader`: the type of a sample with the batch dim in front of every tensor in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mypy.expandtype import expand_type_by_instance
from mypy.maptype import map_instance_to_supertype
from mypy.nodes import ARG_NAMED, ARG_POS, CallExpr, Expression, TypeInfo, Var
from mypy.plugin import AttributeContext, FunctionSigContext, MethodSigContext
from mypy.subtypes import is_same_type
from mypy.types import (
    CallableType,
    ExtraAttrs,
    Instance,
    LiteralType,
    NoneType,
    TupleType,
    Type,
    TypedDictType,
    UnionType,
    UnpackType,
    get_proper_type,
)

from simpletorch.mypy.annotate.classes import fields_of
from simpletorch.mypy.calls.reader import CallReader
from simpletorch.mypy.convert.lift import is_tensor
from simpletorch.mypy.hooks import FunctionHook, MethodHook
from simpletorch.mypy.names import DTYPES_MODULE
from simpletorch.mypy.types import TypeTable, any_type

__all__ = ["FUNCTIONS", "INHERITED_METHODS", "METHODS", "field", "has_fields", "is_batched"]

_LOADER: Final = "simpletorch.data.loading._loader.DataLoader"
_BUILD: Final = "simpletorch.data.loading._builder.LoaderBuilder.build"
_BUFFER: Final = "simpletorch.data.datasets._replay.ReplayBuffer"
_DATASET: Final = "torch.utils.data.dataset.Dataset"
_POSITIONAL: Final = (
    *("dataset", "batch_size", "shuffle", "sampler", "batch_sampler", "num_workers", "collate_fn", "pin_memory"),
    *("drop_last", "timeout", "worker_init_fn", "multiprocessing_context", "generator"),
)
_NUMBERS: Final = {"builtins.int": "Int64", "builtins.bool": "Bool", "builtins.float": "Float64"}
_KEPT: Final = ("builtins.str", "builtins.bytes")
_LISTS: Final = ("builtins.list", "typing.Sequence")
_MAPPINGS: Final = ("builtins.dict", "typing.Mapping", "typing.MutableMapping")
_BATCHED: Final = "batched by a DataLoader"  # marks the extra attributes of a dataclass as ours


def _construct(context: FunctionSigContext, types: TypeTable) -> CallableType:
    """``DataLoader(data, 32)`` gives what ``data`` has, 32 at a time: each variant of the constructor says so.

    With a ``collate_fn`` mypy's own inference is right: a batch is what that returns.
    """
    signature = context.default_signature
    built = get_proper_type(signature.ret_type)
    given = _arguments(context.context)
    if given is None or not isinstance(built, Instance) or "dataset" not in given:
        return signature
    reader = CallReader(types, context)
    if "collate_fn" in given and not isinstance(get_proper_type(reader.type_of(given["collate_fn"])), NoneType):
        return signature
    sample = _sample_of(reader.type_of(given["dataset"]), types)
    size = given.get("batch_size")
    if size is not None and isinstance(get_proper_type(reader.type_of(size)), NoneType):
        batch = sample if "batch_sampler" not in given else _batched(sample, any_type(), types)
    else:
        batch = _batched(sample, _size(given, reader, types), types)
    return signature.copy_modified(ret_type=built.copy_modified(args=[batch]))


def _arguments(call: object) -> dict[str, Expression] | None:
    """The arguments by name; None if some can't be read."""
    if not isinstance(call, CallExpr) or any(kind not in (ARG_POS, ARG_NAMED) for kind in call.arg_kinds):
        return None
    names = iter(_POSITIONAL)
    return {name or next(names, ""): node for name, node in zip(call.arg_names, call.args, strict=True)}


def _size(given: dict[str, Expression], reader: CallReader, types: TypeTable) -> Type:
    """The batch dim: known if no batch is smaller."""
    if "batch_sampler" in given:
        return any_type()
    if "batch_size" not in given:
        return types.literal(1)
    sizes = reader.alternatives(given["batch_size"])
    drops = reader.alternatives(given["drop_last"]) if "drop_last" in given else [False]
    if len(sizes) != 1 or not (drops == [True] or sizes == [1]):
        return any_type()
    size = reader.lowerer.static(sizes[0])
    return any_type() if isinstance(size, NoneType) else size


def _build(context: MethodSigContext, types: TypeTable) -> CallableType:
    """``….build()``: the builder's type says what a sample is, how many make a batch, and whether all are as large."""
    signature = context.default_signature
    builder, built = get_proper_type(context.type), get_proper_type(signature.ret_type)
    if not isinstance(builder, Instance) or not isinstance(built, Instance) or len(builder.args) != 3:
        return signature
    sample, size, drop = (get_proper_type(argument) for argument in builder.args)
    always = isinstance(size, LiteralType) and size.value == 1
    if not always and not (isinstance(drop, LiteralType) and drop.value is True):
        size = any_type()
    return signature.copy_modified(ret_type=built.copy_modified(args=[_batched(sample, size, types)]))


def _replayed(context: MethodSigContext, types: TypeTable) -> CallableType:
    """``buffer.sample(64)``: the fields of a transition with 64 in front."""
    signature = context.default_signature
    buffer, info = get_proper_type(context.type), types.info(_BUFFER)
    if info is None or not isinstance(buffer, Instance) or not context.args or len(context.args[0]) != 1:
        return signature
    transition = get_proper_type(map_instance_to_supertype(buffer, info).args[0])
    if isinstance(transition, TupleType):
        transition = transition.copy_modified(items=[_kept(item, types) for item in transition.items])
    reader = CallReader(types, context)
    sizes = reader.alternatives(context.args[0][0])
    batch = _batched(transition, reader.lowerer.static(sizes[0]) if len(sizes) == 1 else any_type(), types)
    given = get_proper_type(signature.ret_type)
    if isinstance(given, TupleType):  # a prioritized one says more of what it has drawn
        return signature.copy_modified(ret_type=given.copy_modified(items=[batch, *given.items[1:]]))
    return signature.copy_modified(ret_type=batch)


def _kept(item: Type, types: TypeTable) -> Type:
    """A field as a replay buffer keeps it: unlike `collate`, it makes a float32 of a number."""
    kept, gradual = get_proper_type(item), types.any_tensor()
    dtype = types.instance(f"{DTYPES_MODULE}.Float32")
    is_float = isinstance(kept, Instance) and kept.type.fullname == "builtins.float"
    return gradual.copy_modified(args=[dtype]) if is_float and gradual is not None and dtype is not None else item


def _sample_of(dataset: Type, types: TypeTable) -> Type:
    dataset, base = get_proper_type(dataset), types.info(_DATASET)
    if isinstance(dataset, UnionType):
        samples = [_sample_of(item, types) for item in dataset.items]
        return samples[0] if all(is_same_type(samples[0], other) for other in samples) else any_type()
    if base is None or not isinstance(dataset, Instance) or not dataset.type.has_base(_DATASET):
        return any_type()
    mapped = map_instance_to_supertype(dataset, base)
    return mapped.args[0] if mapped.args else any_type()


def _batched(sample: Type, size: Type, types: TypeTable) -> Type:
    """The type that `simpletorch.data.collate` makes of samples of this type."""
    sample = get_proper_type(sample)
    match sample:
        case TupleType(items=items):
            return sample.copy_modified(items=[_item(item, size, types) for item in items])
        case TypedDictType(items=fields):
            return sample.copy_modified(item_types=[_batched(item, size, types) for item in fields.values()])
        case LiteralType(fallback=fallback):
            return _batched(fallback, size, types)
        case Instance():
            return _instance(sample, size, types)
    return any_type()


def _item(item: Type, size: Type, types: TypeTable) -> Type:
    """An item of a tuple; ``*tuple[X, ...]`` is one too."""
    if isinstance(item, UnpackType):
        inner = get_proper_type(item.type)
        return UnpackType(_batched(inner, size, types)) if isinstance(inner, Instance) else types.any_rest()
    return _batched(item, size, types)


def _instance(sample: Instance, size: Type, types: TypeTable) -> Type:
    name = sample.type.fullname
    if is_tensor(sample):
        return _stacked(sample, size)
    if name in _NUMBERS:
        return _tensor(types, types.instance(f"{DTYPES_MODULE}.{_NUMBERS[name]}") or any_type(), size)
    if name == "numpy.ndarray":
        return _tensor(types, any_type(), size, types.any_rest())
    if name in _KEPT:
        return types.instance("builtins.list", sample) or any_type()
    if name == "builtins.tuple":
        return types.tuple_(_batched(sample.args[0], size, types))
    if name in _LISTS:
        return types.instance("builtins.list", _batched(sample.args[0], size, types)) or any_type()
    if name in _MAPPINGS:
        key, value = sample.args
        return types.instance("builtins.dict", key, _batched(value, size, types)) or any_type()
    if "dataclass" in sample.type.metadata:
        return _dataclass(sample, size, types)
    return any_type()


def _stacked(sample: Instance, size: Type) -> Type:
    if not sample.args:
        return sample
    dtype, *dims = sample.args
    return sample.copy_modified(args=[dtype, size, *dims])


def _tensor(types: TypeTable, dtype: Type, *dims: Type) -> Type:
    return any_type() if types.tensor is None else Instance(types.tensor, [dtype, *dims])


def _dataclass(sample: Instance, size: Type, types: TypeTable) -> Type:
    """The dataclass itself, which a batch of it is, with other types of its fields: `field` hands them out."""
    attributes = {name: _batched(declared, size, types) for name, declared in _declared(sample).items()}
    return sample.copy_with_extra_attr(_BATCHED, any_type()) if not attributes else _marked(sample, attributes)


def _declared(sample: Instance) -> dict[str, Type]:
    """The types that a dataclass declares for its fields."""
    attributes: dict[str, Type] = {}
    for info in reversed(sample.type.mro):
        for name in info.metadata.get("dataclass", {}).get("attributes", ()):
            symbol = info.names.get(name["name"])
            if symbol is not None and isinstance(symbol.node, Var) and symbol.node.type is not None:
                declared = expand_type_by_instance(symbol.node.type, map_instance_to_supertype(sample, info))
                attributes[name["name"]] = declared
    return attributes


def named_items(batch: Type) -> Mapping[str, Type]:
    """The items of a batch that is a dataclass, a named tuple or a typed dict, by name; none of anything else."""
    batch = get_proper_type(batch)
    if isinstance(batch, TypedDictType):
        return batch.items if batch.required_keys == batch.items.keys() else {}
    if isinstance(batch, TupleType):
        names = fields_of(batch.partial_fallback.type)
        return dict(zip(names, batch.items, strict=True)) if len(names) == len(batch.items) else {}
    if not isinstance(batch, Instance) or "dataclass" not in batch.type.metadata:
        return {}
    if batch.extra_attrs is not None and _BATCHED in batch.extra_attrs.attrs:
        return {name: item for name, item in batch.extra_attrs.attrs.items() if name != _BATCHED}
    return _declared(batch)


def _marked(sample: Instance, attributes: dict[str, Type]) -> Instance:
    marked = sample.copy_modified()
    marked.extra_attrs = ExtraAttrs({_BATCHED: any_type(), **attributes}, set(), None)
    return marked


def has_fields(node: object) -> bool:
    """Whether a class has fields that are batched one by one: a dataclass or a named tuple."""
    return isinstance(node, TypeInfo) and ("dataclass" in node.metadata or node.is_named_tuple)


def is_batched(owner: Type) -> bool:
    """Whether a loader may have made this of a dataclass or a named tuple."""
    owner = get_proper_type(owner)
    return isinstance(owner, TupleType) or (isinstance(owner, Instance) and owner.extra_attrs is not None)


def field(name: str, context: AttributeContext, types: TypeTable) -> Type:
    """``batch.image`` of a batch of dataclasses or named tuples."""
    receiver = get_proper_type(context.type)
    if context.is_lvalue:
        return context.default_attr_type
    if isinstance(receiver, TupleType):
        names = fields_of(receiver.partial_fallback.type)
        place = names.index(name) if name in names else len(receiver.items)
        return receiver.items[place] if place < len(receiver.items) else context.default_attr_type
    extra = receiver.extra_attrs if isinstance(receiver, Instance) else None
    if extra is None or _BATCHED not in extra.attrs:
        return context.default_attr_type
    return extra.attrs.get(name, context.default_attr_type)


FUNCTIONS: Final[Mapping[str, FunctionHook]] = {_LOADER: _construct}
METHODS: Final[Mapping[str, MethodHook]] = {_BUILD: _build}
INHERITED_METHODS: Final[Mapping[str, MethodHook]] = {f"{_BUFFER}.sample": _replayed}
