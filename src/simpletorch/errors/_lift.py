"""From what a program holds to what rules understand: values, layers, and the names of torch's functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from importlib import import_module
from typing import Any, Final

import torch
from torch import nn

from simpletorch.rules import ANYTHING, MODULES, RULES, Device, ModuleRule, TensorType, Value
from simpletorch.rules.core.dtype import BY_TORCH_NAME, DType
from simpletorch.shapes import UNKNOWN, Shape

__all__ = ["lift", "public_class", "rule_name", "rule_of"]

# a longer list is data, not a shape or a few tensors to join
_MOST_ITEMS: Final = 64


# -- values -----------------------------------------------------------------------------------------------------------


def lift(value: object) -> Value:
    """The rules' view of a value: a tensor by shape, dtype and device, a container item by item."""
    match value:
        case torch.Tensor():
            return _tensor(value)
        case torch.dtype():
            return _dtype(value) or ANYTHING
        case torch.device():
            return Device(value.type, value.index)
        case torch.SymInt():
            return UNKNOWN
        case list() | tuple():
            if len(value) > _MOST_ITEMS:
                return ANYTHING
            return tuple(lift(v) for v in value)
        case None | bool() | int() | float() | complex() | str() | slice():
            return value
        case _ if value is Ellipsis:
            return value  # type: ignore[return-value]  # Ellipsis stands for itself
    return ANYTHING


def _tensor(value: torch.Tensor) -> TensorType:
    try:
        shape = Shape(tuple(size if type(size) is int else UNKNOWN for size in value.shape))
    except RuntimeError:  # a nested tensor has no one shape
        return TensorType(dtype=_dtype(value.dtype))
    return TensorType(shape, _dtype(value.dtype), Device(value.device.type, value.device.index))


def _dtype(dtype: torch.dtype) -> DType | None:
    return BY_TORCH_NAME.get(str(dtype).removeprefix("torch."))


def rule_of(layer: nn.Module) -> ModuleRule | None:
    """The rule of a layer of torch's, with the sizes that the layer has; None for a class without one."""
    name = public_class(type(layer))
    # a subclass with a forward of its own may do anything: torch's rule doesn't speak of it
    if name is None or type(layer).forward is not _forward_of(name):
        return None
    try:
        return MODULES[name](**{field: _field(layer, field, default) for field, default in _defaults(name)})
    except TypeError:  # a rule of its own making, built otherwise
        return None


@cache
def _defaults(name: str) -> tuple[tuple[str, Any], ...]:
    """The fields of a class's rule, which `fields` looks for anew each time, and what each is where it isn't given."""
    return tuple((f.name, f.default) for f in fields(MODULES[name]))


def public_class(cls: type) -> str | None:
    """The public name of the torch class with a rule that a class is, or comes from: ``"torch.nn.Linear"``."""
    names = (f"torch.nn.{c.__qualname__}" for c in cls.__mro__ if c.__module__.startswith("torch.nn."))
    return next((name for name in names if name in MODULES), None)


@cache
def _forward_of(name: str) -> object:
    return getattr(nn, name.rpartition(".")[2]).forward


# torch stores one number given for all dims as a tuple; an argument left out as the one that it falls back to.
_FOR_EVERY_DIM: Final = frozenset(("kernel_size", "stride", "padding", "dilation", "output_padding"))
_FALLS_BACK_TO: Final = {"stride": "kernel_size", "kdim": "embed_dim", "vdim": "embed_dim"}
# the sizes that a transformer's layer leaves to its parts
_HELD_BY: Final = {
    "d_model": ("self_attn", "embed_dim"),
    "nhead": ("self_attn", "num_heads"),
    "dim_feedforward": ("linear1", "out_features"),
    "batch_first": ("self_attn", "batch_first"),
}


def _field(layer: nn.Module, name: str, default: object) -> Value:
    """A constructor argument, read back from the layer: ``kernel_size=(5, 5)`` was 5."""
    # not getattr: a subclass may have made a property of the name, which would run its code
    own = vars(layer)
    if name == "bias" and "bias" not in own:
        has_weights = own.get("affine", own.get("elementwise_affine", True))
        # without weights torch makes no bias either, whatever was asked for; True is the default
        return True if not has_weights else _has_bias(layer)
    if name in ("encoder_layer", "decoder_layer"):
        stack = layer._modules.get("layers")
        part = next(iter(stack._modules.values()), None) if isinstance(stack, nn.ModuleList) else None
        return (None if part is None else rule_of(part)) or ANYTHING  # type: ignore[return-value]  # a rule's own rule
    if name in _HELD_BY and name not in own:
        holder, attribute = _HELD_BY[name]
        part = layer._modules.get(holder)
        return lift(default) if part is None else lift(getattr(part, attribute, None))
    value = own.get(name, default)
    if default is None and name in _FALLS_BACK_TO and value == own.get(_FALLS_BACK_TO[name]):
        return None
    same = type(value) is tuple and value and all(v == value[0] for v in value)
    return lift(value[0] if same and (len(value) == 1 or name in _FOR_EVERY_DIM) else value)


def _has_bias(layer: nn.Module) -> bool:
    return any(p is not None for n, p in layer._parameters.items() if n in ("bias", "in_proj_bias"))


# -- operations -------------------------------------------------------------------------------------------------------


@cache
def _names() -> Mapping[int, str]:
    """The public name of each torch function that has a rule, by the function's identity."""
    found: dict[int, str] = {}
    for name in RULES:
        head, _, rest = name.partition(".")
        if head != "torch":
            continue
        function: Any = torch
        for part in rest.split("."):
            function = getattr(function, part, None)
        if function is None:
            continue
        known = found.get(id(function))
        own = getattr(function, "__name__", "")
        # of several public names of one function, the one that it calls itself by
        if known is None or name.rpartition(".")[2] == own:
            found[id(function)] = name
    return found


def rule_name(function: object) -> str | None:
    """The public torch name of a function that has a rule: ``"torch.matmul"``; None for any other."""
    module = getattr(function, "__module__", None)
    if isinstance(module, str) and module.startswith("einops."):
        name = f"einops.{getattr(function, '__name__', '')}"
        return name if name in RULES and getattr(import_module("einops"), name[7:], None) is function else None
    return _names().get(id(_torch_s(function)))


def _torch_s(function: object) -> object:
    """torch's function behind one of ours: `simpletorch.cat` has the name of torch's."""
    return (
        getattr(function, "__wrapped__", function)
        if getattr(function, "__module__", None) == "simpletorch"
        else function
    )
