"""Live values of torch's: tensors, modules, loaders and datasets, optimizers, dtypes and devices; NumPy's arrays."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import torch
from torch import nn

from simpletorch.errors.live import lift, rule_of
from simpletorch.follow.layers import only, own_tensors
from simpletorch.follow.marks import gradients, layout
from simpletorch.follow.marks.devices import BUFFER, PLACE
from simpletorch.follow.values import (
    HISTORY,
    MISSING,
    Class,
    Dict,
    History,
    Instance,
    List,
    Sizes,
    Tensor,
    Unknown,
    Value,
)
from simpletorch.rules import Device, ModuleRule, TensorType
from simpletorch.rules.core.dtype import BY_TORCH_NAME
from simpletorch.shapes import Shape

if TYPE_CHECKING:
    from simpletorch.notebook.live.values import Live

__all__ = ["of_torch", "prepare"]

_TENSORS: Final = (torch.Tensor, nn.Parameter, nn.Buffer)
_DATA: Final = "torch.utils.data"
_PLACES: Final = ("cpu", "cuda")  # that marks know


def prepare(live: Live) -> None:
    """Put what torch is set to into an interpreter."""
    modes = live.run.modes
    modes[gradients.MODE] = torch.is_grad_enabled()
    if torch.get_default_dtype() != torch.float32:
        modes["other default dtype"] = True


def of_torch(live: Live, given: Any) -> Value:
    """A value of torch's or NumPy's, MISSING for any other."""
    kind = type(given)
    if kind in _TENSORS:
        return _tensor(live, given)
    if isinstance(given, nn.Module):  # most
        return _module(live, given)
    if isinstance(given, torch.Tensor):
        return Unknown(f"a {kind.__name__}")
    if kind is torch.dtype:
        return BY_TORCH_NAME.get(str(given).removeprefix("torch."), Unknown(f"{given}"))
    if kind is torch.device:
        return Device(given.type, given.index)
    if kind is torch.Size:
        return Sizes(given)
    if isinstance(given, torch.optim.Optimizer):
        return _optimizer(live, given)
    if isinstance(given, torch.utils.data.DataLoader):
        return _loader(live, given)
    if isinstance(given, torch.utils.data.Dataset):
        return _dataset(live, given)
    numpy: Any = sys.modules.get("numpy")
    return _array(given) if numpy is not None and kind is numpy.ndarray else MISSING


# -- tensors ---------------------------------------------------------------------------------------------------------


def _tensor(live: Live, given: torch.Tensor) -> Value:
    """A tensor: all but its contents."""
    found = lift(given)
    if given.layout is not torch.strided or given.is_nested or not isinstance(found, TensorType):
        return Unknown("a tensor that isn't strided")
    device = _device(given)
    is_parameter = isinstance(given, nn.Parameter)
    made = Tensor(TensorType(found.shape, found.dtype, device, is_parameter=is_parameter))
    made.cells = dict(made.cells)
    made.cells[HISTORY] = History(grad=given.requires_grad, leaf=given.is_leaf)
    if given.requires_grad and (given.retains_grad or (given.is_leaf and given.grad is not None)):
        made.cells[gradients.HAS_GRAD] = True
    made.place = device.type if device.type in _PLACES else None
    made.layout = layout.CONTIGUOUS if given.is_contiguous() else tuple(given.stride())
    return made


def _device(given: torch.Tensor) -> Device:
    return Device(given.device.type, given.device.index)


def _array(given: Any) -> Value:
    """An array of NumPy's."""
    dtype = BY_TORCH_NAME.get(given.dtype.name)
    made = Tensor(TensorType(Shape(given.shape), dtype), array=True) if dtype is not None else None
    if made is None:
        return Unknown(f"an array of {given.dtype}")
    made.cells = dict(made.cells)
    return made


# -- modules ---------------------------------------------------------------------------------------------------------


_OPAQUE: Final = (torch.jit.ScriptModule, nn.DataParallel)
_HOOKS: Final = ("_forward_hooks", "_forward_pre_hooks")
_KEPT_APART: Final = frozenset({"_parameters", "_buffers", "_modules"})


def _module(live: Live, given: nn.Module) -> Value:
    """A module with its real parameters, buffers, modules and attributes."""
    if isinstance(given, _OPAQUE):
        return Unknown(f"a {type(given).__name__}")
    held = vars(given)
    if type(given).__module__ == "torch._dynamo.eval_frame" and "_orig_mod" in held.get("_modules", {}):
        return live.value(held["_modules"]["_orig_mod"])
    cls = live.value(type(given))
    if not isinstance(cls, Class) or not held.keys() >= _KEPT_APART:
        return Unknown(f"a {type(given).__name__}")
    made = Instance(cls)
    made.cells, made.state = {}, {}
    live.keep(given, made)
    if _has_layer(cls):
        made.native = only(rule_of(given))
    if cls.unknown_base is not None:
        made.state["open"] = True
    for name in _HOOKS:
        if held.get(name):
            made.state["hooked"] = True
    as_made = _as_made(live, given, made)
    for name, value in _attributes(held, made.native):
        if name not in as_made:
            made.cells[name] = live.value(value)
    for name in held["_buffers"]:
        made.state[f"{BUFFER} {name}"] = True
    own = [*held["_parameters"].values(), *held["_buffers"].values()]
    places = {_device(t).type for t in own if t is not None}
    if places - {"cpu"}:
        made.state[PLACE] = next(iter(places)) if len(places) == 1 else "?"  # as the mark has what isn't known
    return made


def _has_layer(cls: Class) -> bool:
    return any(c.native is not None for c in cls.mro)


def _attributes(held: dict[str, Any], rule: Any) -> list[tuple[str, Any]]:
    """The attributes of a module, without what its rule has and what torch keeps for itself."""
    of_rule = vars(rule).keys() if isinstance(rule, ModuleRule) else frozenset()
    own = [(name, held[name]) for name in held if name not in _OF_TORCH and name not in of_rule]
    return [*own, *held["_parameters"].items(), *held["_buffers"].items(), *held["_modules"].items()]


_OF_TORCH: Final = frozenset(vars(nn.Module())) - {"training"}


def _as_made(live: Live, given: nn.Module, made: Instance) -> set[str]:
    """The parameters and buffers of a layer that are as its rule says, which makes them when they are asked for.

    A layer with others than it was made with isn't what its rule says.
    """
    here: dict[str, torch.Tensor] = {k: v for k, v in (given._parameters | given._buffers).items() if v is not None}
    if not here and made.native is None:
        return set()
    if any(map(nn.parameter.is_lazy, here.values())):  # the first call makes them
        return set()
    if any(p.is_floating_point() and p.dtype != torch.float32 for p in here.values()):
        live.run.converts_dtypes = True
    rule = made.native
    if not isinstance(rule, ModuleRule):
        return set()
    own = {k: v for k, v in (own_tensors(rule) or {}).items() if isinstance(v, TensorType)}
    if any(name not in here or tuple(here[name].shape) != kind.shape.items for name, kind in own.items()):
        made.state["changed"] = True
        return set()
    return {name for name in own if _is_as_made(here[name], name in given._parameters)}


def _is_as_made(given: torch.Tensor, is_parameter: bool) -> bool:
    """Whether a tensor of a layer is what torch makes there."""
    plain = given.is_contiguous() and _device(given).type == "cpu" and given.requires_grad is is_parameter
    return plain and (not is_parameter or given.dtype == torch.float32)


# -- loaders, datasets, optimizers -------------------------------------------------------------------------------------


def _loader(live: Live, given: Any) -> Value:
    """A loader: its dataset, and how it makes batches."""
    cls = live.value(type(given))
    if not isinstance(cls, Class) or not cls.is_a(f"{_DATA}.DataLoader"):
        return Unknown(f"a {type(given).__name__}")
    held = vars(given)
    made = Instance(cls)
    made.cells, made.state = {}, {}
    live.keep(given, made)
    for name in ("dataset", "batch_size", "num_workers", "pin_memory", "drop_last"):
        made.cells[name] = live.value(held.get(name))
    batches = held.get("batch_sampler")
    chosen = None if type(batches) is torch.utils.data.BatchSampler else batches
    made.cells["batch_sampler"] = None if chosen is None else live.value(chosen)
    made.cells["sampler"] = _sampler(live, held.get("sampler"))
    collate = held.get("collate_fn")
    by_torch = getattr(collate, "__module__", "").startswith(("torch.", "simpletorch."))
    made.cells["collate_fn"] = None if by_torch else live.value(collate)
    made.cells["generator"] = None
    return made


def _sampler(live: Live, given: Any) -> Value:
    """None for those that go over the whole dataset, in whatever order."""
    whole = (torch.utils.data.SequentialSampler, torch.utils.data.RandomSampler)
    if type(given) in whole and not getattr(given, "replacement", False) and not getattr(given, "_num_samples", None):
        return None
    return live.value(given)


_PARTS: Final[dict[str, tuple[str, ...]]] = {
    "TensorDataset": ("tensors",),
    "Subset": ("dataset", "indices"),
    "ConcatDataset": ("datasets",),
    "ChainDataset": ("datasets",),
    "StackDataset": ("datasets",),
}


def _dataset(live: Live, given: Any) -> Value:
    """A dataset: of the user's with its attributes, of torch's with what it is made of."""
    cls = live.value(type(given))
    if not isinstance(cls, Class):
        return Unknown(f"a {type(given).__name__}")
    if cls.metadata.get("live"):
        return MISSING
    names = next((_PARTS[c.name] for c in cls.mro if c.name in _PARTS and c.module == _DATA), None)
    if names is None:
        return Unknown(f"a {type(given).__name__}")
    made = Instance(cls)
    made.cells, made.state = {}, {}
    live.keep(given, made)
    for name in names:
        made.cells[name] = live.value(vars(given).get(name))
    return made


def _optimizer(live: Live, given: torch.optim.Optimizer) -> Value:
    """An optimizer with its groups of parameters; rates are never known."""
    cls = live.value(type(given))
    if not isinstance(cls, Class) or not cls.is_a("torch.optim.Optimizer"):
        return Unknown(f"a {type(given).__name__}")
    made = Instance(cls)
    made.cells, made.state = {}, {"open": True}
    live.keep(given, made)
    rest = Unknown("an option of a group of parameters")
    rows = [Dict({"params": live.value(group["params"])}, rest) for group in vars(given)["param_groups"]]
    made.cells["param_groups"] = List(tuple(rows))
    made.cells["state"] = Dict({}, Unknown("the state of an optimizer"))
    return made
