"""Layers: the rule of one, what goes through several, and where two of them don't fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from mypy.maptype import map_instance_to_supertype
from mypy.nodes import ARG_NAMED, ARG_POS, Context, Expression, MypyFile, TempNode, TypeInfo
from mypy.plugin import CheckerPluginInterface
from mypy.subtypes import is_same_type
from mypy.types import AnyType, Instance, LiteralType, NoneType, TupleType, Type, UnpackType, get_proper_type

from simpletorch.mypy.calls.arguments import nothing_expected
from simpletorch.mypy.convert.lift import Lifter
from simpletorch.mypy.convert.place import Place, PlaceLifter
from simpletorch.mypy.diagnose.report import mistakes
from simpletorch.mypy.names import public_class
from simpletorch.mypy.program.autocast import autocast_at
from simpletorch.mypy.program.memory import once_a_tree
from simpletorch.mypy.types import TypeTable, walk
from simpletorch.rules import ANYTHING, MODULES, ModuleRule
from simpletorch.rules.core.registry import field_names

__all__ = ["called", "called_with", "chain", "check_fit", "module_value", "repeated"]


def module_value(typ: Instance, lifter: Lifter, *, called: bool = True) -> ModuleRule | None:
    """The module that an instance is, by the torch class that it derives from; None for a user's own.

    Args:
        typ: the instance.
        lifter: reads the types.
        called: whether a subclass with a ``forward`` of its own is another module.
    """
    for info in typ.type.mro:
        rule = MODULES.get(public_class(info.fullname))
        if rule is not None:
            base = map_instance_to_supertype(typ, info)
            count = len(field_names(rule))
            values = [lifter.static(a) for a in base.args] if base.args else [ANYTHING] * count
            return rule(*values) if len(values) == count else None
        if called and "forward" in info.names:
            return None
    return None


def called(module: Type, given: Type, context: Context, api: CheckerPluginInterface) -> Type:
    """The type of ``module(x)``."""
    return called_with(module, [TempNode(given, context=context)], context, api)


def called_with(
    module: Type,
    args: list[Expression],
    context: Context,
    api: CheckerPluginInterface,
    named: Mapping[str, Expression] | None = None,
) -> Type:
    """The type of ``module(*args, **named)``; what is wrong with the call is reported."""
    named = named or {}
    kinds, names = [ARG_POS] * len(args) + [ARG_NAMED] * len(named), [*[None] * len(args), *named]
    given = [*args, *named.values()]
    with nothing_expected(api) as checker:
        result, _ = checker.check_call(module, given, kinds, context, names)
    return cast(Type, result)


def chain(layers: Sequence[Type], given: Type, context: Context, api: CheckerPluginInterface) -> Type | None:
    """The type after the last layer; None if it depends on the number of layers."""
    for layer in layers:
        if (kind := repeated(layer)) is not None:
            once = called(kind, given, context, api)
            if not is_same_type(called(kind, once, context, api), once):
                return None
            given = once
        else:
            given = called(layer, given, context, api)
    return given


def repeated(layer: Type) -> Type | None:
    """The layer of ``*tuple[Layer, ...]``."""
    layer = get_proper_type(layer)
    inner = get_proper_type(layer.type) if isinstance(layer, UnpackType) else None
    return inner.args[0] if isinstance(inner, Instance) else None


@dataclass(frozen=True)
class _Source:
    """The layer that gave the shape that the next layer gets, and its index."""

    index: int
    text: str


def check_fit(layers: Sequence[Type], places: Sequence[Expression | None], context: Place, types: TypeTable) -> bool:
    """Send an unknown tensor through the layers, and report the first that doesn't fit, with the one before it.

    Args:
        layers: their types.
        places: where each is written, if it is in this call.
        context: the call that puts them together.
        types: the classes that mypy has loaded.
    """
    api = context.api
    known = _fitting(cast(Any, api).tree) if _are_plain(layers) and autocast_at(context.context, api) is None else set()
    key = (*layers, *(scope for scope in cast(Any, api).scope.stack if isinstance(scope, TypeInfo)))
    if key in known:
        return True
    if not _fit(layers, places, context, types):
        return False
    known.add(key)
    return True


@once_a_tree
def _fitting(_: MypyFile) -> set[tuple[object, ...]]:
    """Layers that fit each other, with the classes around them, by which the file's conversions of dtypes count."""
    return set()


def _are_plain(layers: Sequence[Type]) -> bool:
    """Whether all are torch's or einops' own and none has a size with a variable: then they always fit, or never."""
    parts = [part for layer in layers for part in walk(layer)]
    return all(isinstance(part, _PLAIN) for part in parts) and all(
        part.type.fullname.startswith(_OWN) for part in parts if isinstance(part, Instance)
    )


_PLAIN: Final = (AnyType, Instance, LiteralType, NoneType, TupleType, UnpackType)
_OWN: Final = ("torch.nn.", "einops.layers.", "builtins.", "_simpletorch.")


def _fit(layers: Sequence[Type], places: Sequence[Expression | None], context: Place, types: TypeTable) -> bool:
    api, lifter = context.api, PlaceLifter(types, context.api, context.context.line)
    given = types.any_tensor()
    source: _Source | None = None
    for i, (layer, place) in enumerate(zip(layers, places, strict=True)):
        if given is None or repeated(layer) is not None:
            return True
        with mistakes(api) as found:
            result = called(layer, given, place or context.context, api)
        if found:
            for info in found:
                if source is not None and info.severity == "error":
                    before = f"layer {source.index}, {source.text}"
                    info.message = f"Sequential: layer {i} doesn't fit {before}: {info.message}"
            api.msg.add_errors(found)
            return False
        if not is_same_type(result, given):
            source = _Source(i, _spoken(layer, lifter))
        given = result if not isinstance(get_proper_type(result), AnyType) else None
    return True


def _spoken(layer: Type, lifter: Lifter) -> str:
    """A layer as its constructor would be written, else its class."""
    layer = get_proper_type(layer)
    if not isinstance(layer, Instance):
        return str(layer)
    rule = module_value(layer, lifter)
    return layer.type.name if rule is None else str(rule)
