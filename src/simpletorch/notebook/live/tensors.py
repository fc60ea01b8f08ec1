"""Live values of torch's: tensors, modules, loaders and datasets, optimizers, dtypes and devices; NumPy's arrays."""

from __future__ import annotations

import sys
from collections import OrderedDict
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final

import torch
from torch import nn

from simpletorch.errors.live import lift, rule_of
from simpletorch.follow.layers import only, own_tensors
from simpletorch.follow.marks import gradients, layout
from simpletorch.follow.marks.devices import BUFFER, PLACE
from simpletorch.follow.marks.mark import Marks
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
from simpletorch.notebook.live.reading import (
    home_of,
    is_a,
    is_one_of,
    items,
    members_of,
    mro_of,
    name_of,
    own_of,
    plain_dict,
    qualified,
    text,
)
from simpletorch.rules import MODULES, Device, ModuleRule, TensorType
from simpletorch.rules.core.dtype import BY_TORCH_NAME
from simpletorch.shapes import Shape

if TYPE_CHECKING:
    from simpletorch.notebook.live.values import Live

__all__ = ["of_torch", "prepare"]

_TENSORS: Final = frozenset(map(id, (torch.Tensor, nn.Parameter, nn.Buffer)))
_TENSOR: Final = torch.Tensor
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
    if id(kind) in _TENSORS:
        return _tensor(live, given)
    if is_a(kind, nn.Module):  # most
        return _module(live, given)
    if is_a(kind, torch.Tensor):
        return Unknown(f"a {name_of(kind)}")
    if kind is torch.dtype:
        return BY_TORCH_NAME.get(str(given).removeprefix("torch."), Unknown(f"{given}"))
    if kind is torch.device:
        return Device(given.type, given.index)
    if kind is torch.Size:
        return Sizes(given)
    if is_a(kind, torch.optim.Optimizer):
        return _optimizer(live, given)
    if is_a(kind, torch.utils.data.DataLoader):
        return _loader(live, given)
    if is_a(kind, torch.utils.data.Dataset):
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
    is_parameter = type(given) is nn.Parameter
    made = Tensor(TensorType(found.shape, found.dtype, device, is_parameter=is_parameter))
    made.cells = dict(made.cells)
    made.cells[HISTORY] = History(grad=given.requires_grad, leaf=given.is_leaf)
    if given.requires_grad and (given.retains_grad or (given.is_leaf and given.grad is not None)):
        made.cells[gradients.HAS_GRAD] = True
    # the class's own: a tensor may have attributes of these names
    lies = layout.CONTIGUOUS if _TENSOR.is_contiguous(given) else tuple(_TENSOR.stride(given))
    made.marks = Marks(layout=lies, place=device.type if device.type in _PLACES else None)
    return made


def _device(given: torch.Tensor) -> Device:
    return Device(given.device.type, given.device.index)


def _array(given: Any) -> Value:
    """An array of NumPy's."""
    if given.dtype.kind == "V" and given.dtype.isbuiltin != 2:
        return Unknown("an array of records")  # which may be of a class of the user's, whose name would be asked for
    dtype = BY_TORCH_NAME.get(given.dtype.name)
    made = Tensor(TensorType(Shape(given.shape), dtype), array=True) if dtype is not None else None
    if made is None:
        return Unknown(f"an array of {given.dtype}")
    made.cells = dict(made.cells)
    return made


# -- modules ---------------------------------------------------------------------------------------------------------


_OPAQUE: Final = (torch.jit.ScriptModule, nn.DataParallel)
_HOOKS: Final = ("_forward_hooks", "_forward_pre_hooks")
_LAZY: Final[type] = vars(nn.parameter)["UninitializedTensorMixin"]  # which its annotations leave out
_KEPT_APART: Final = ("_parameters", "_buffers", "_modules")
_DICTS: Final = (dict, OrderedDict)


def _module(live: Live, given: nn.Module) -> Value:
    """A module with its real parameters, buffers, modules and attributes."""
    kind = type(given)
    if any(is_a(kind, each) for each in _OPAQUE):
        return Unknown(f"a {name_of(kind)}")
    held = own_of(given) or {}
    if home_of(kind) == "torch._dynamo.eval_frame" and "_orig_mod" in plain_dict(held.get("_modules")):
        return live.value(plain_dict(held["_modules"])["_orig_mod"])
    cls = live.value(kind)
    if not isinstance(cls, Class) or not all(is_one_of(type(held.get(name)), _DICTS) for name in _KEPT_APART):
        return Unknown(f"a {name_of(kind)}")
    held = {**held, **{name: plain_dict(held[name]) for name in _KEPT_APART}}
    made = Instance(cls)
    made.cells, made.state = {}, {}
    live.keep(given, made)
    if _has_layer(cls):
        made.native = only(_rule_of(given, held))
    if cls.unknown_base is not None:
        made.state["open"] = True
    for name in _HOOKS:
        hooks = held.get(name)
        if hooks is not None and (not is_one_of(type(hooks), _DICTS) or len(hooks)):
            made.state["hooked"] = True
    as_made = _as_made(live, held, made)
    for name, value in _attributes(held, made.native):
        if name not in as_made:
            made.cells[name] = live.value(value)
    for name in held["_buffers"]:
        made.state[f"{BUFFER} {name}"] = True
    own = [*held["_parameters"].values(), *held["_buffers"].values()]
    places = {_device(t).type if _is_readable(t) else "?" for t in own if t is not None}
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


def _as_made(live: Live, held: dict[str, Any], made: Instance) -> set[str]:
    """The parameters and buffers of a layer that are as its rule says, which makes them when they are asked for.

    A layer with others than it was made with isn't what its rule says.
    """
    here = {k: v for k, v in (held["_parameters"] | held["_buffers"]).items() if v is not None}
    if not here and made.native is None:
        return set()
    if any(is_a(type(p), _LAZY) for p in here.values()):  # the first call makes them
        return set()
    if not all(map(_is_readable, here.values())):
        made.state["changed"] = True
        return set()
    if any(_TENSOR.is_floating_point(p) and p.dtype != torch.float32 for p in here.values()):
        live.run.converts_dtypes = True
    rule = made.native
    if not isinstance(rule, ModuleRule):
        return set()
    own = {k: v for k, v in (own_tensors(rule) or {}).items() if isinstance(v, TensorType)}
    if any(name not in here or tuple(here[name].shape) != kind.shape.items for name, kind in own.items()):
        made.state["changed"] = True
        return set()
    return {name for name in own if _is_as_made(here[name], name in held["_parameters"])}


def _is_readable(given: Any) -> bool:
    """Whether a tensor's class is torch's, so that asking it runs nothing of the user's."""
    kind = type(given)
    return id(kind) in _TENSORS or (is_a(kind, torch.Tensor) and _is_of_torch(kind))


def _is_of_torch(kind: type) -> bool:
    home = home_of(kind)
    module = sys.modules.get(home) if home.startswith("torch.") else None
    return module is not None and vars(module).get(name_of(kind)) is kind


def _rule_of(given: nn.Module, held: dict[str, Any]) -> ModuleRule | None:
    """`rule_of`, of a stand-in that has what is plain of a module, and torch's own class."""
    kind = type(given)
    names = (qualified(c) for c in mro_of(kind) if home_of(c).startswith("torch.nn."))
    public = next((vars(nn)[name] for name in names if f"torch.nn.{name}" in MODULES), None)
    forward = next((own["forward"] for c in mro_of(kind) if "forward" in (own := members_of(c))), None)
    # a subclass with a forward of its own may do anything: torch's rule doesn't speak of it
    if public is None or type(forward) is not FunctionType or forward is not public.forward:
        return None
    return rule_of(_stand_in(public, held, _DEEP))


_DEEP: Final = 4  # a transformer's stack, its layer, the attention in it


def _stand_in(kind: type, held: dict[str, Any], deep: int) -> nn.Module:
    made: nn.Module = object.__new__(kind)
    own = {name: value for name, value in held.items() if _is_simple(value)}
    own["_parameters"] = {k: None if v is None else True for k, v in plain_dict(held.get("_parameters")).items()}
    own["_buffers"] = {}
    inner = plain_dict(held.get("_modules")) if deep else {}
    own["_modules"] = {
        name: _stand_in(type(module), own_of(module) or {}, deep - 1)
        for name, module in inner.items()
        if module is not None and _is_of_torch(type(module)) and is_a(type(module), nn.Module)
    }
    object.__getattribute__(made, "__dict__").update(own)
    return made


def _is_simple(value: Any) -> bool:
    kind = type(value)
    if kind is tuple or kind is list:
        return len(value) < _LONGEST and all(map(_is_simple, value))
    return id(kind) in _SIMPLE


_SIMPLE: Final = frozenset(map(id, (int, float, bool, str, type(None), torch.dtype, torch.device)))
_LONGEST: Final = 100


def _is_as_made(given: torch.Tensor, is_parameter: bool) -> bool:
    """Whether a tensor of a layer is what torch makes there."""
    plain = _TENSOR.is_contiguous(given) and _device(given).type == "cpu" and given.requires_grad is is_parameter
    return plain and (not is_parameter or given.dtype == torch.float32)


# -- loaders, datasets, optimizers -------------------------------------------------------------------------------------


def _loader(live: Live, given: Any) -> Value:
    """A loader: its dataset, and how it makes batches."""
    cls = live.value(type(given))
    if not isinstance(cls, Class) or not cls.is_a(f"{_DATA}.DataLoader"):
        return Unknown(f"a {name_of(type(given))}")
    held = own_of(given) or {}
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
    kind = type(collate)
    home = text(collate.__module__) if kind is FunctionType else home_of(kind)
    by_torch = home.startswith(("torch.", "simpletorch."))
    made.cells["collate_fn"] = None if by_torch else live.value(collate)
    made.cells["generator"] = None
    return made


def _sampler(live: Live, given: Any) -> Value:
    """None for those that go over the whole dataset, in whatever order."""
    whole = (torch.utils.data.SequentialSampler, torch.utils.data.RandomSampler)
    held = own_of(given) or {}
    if is_one_of(type(given), whole) and held.get("replacement", False) is False and held.get("_num_samples") is None:
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
        return Unknown(f"a {name_of(type(given))}")
    if cls.metadata.get("live"):
        return MISSING
    names = next((_PARTS[c.name] for c in cls.mro if c.name in _PARTS and c.module == _DATA), None)
    if names is None:
        return Unknown(f"a {name_of(type(given))}")
    made = Instance(cls)
    made.cells, made.state = {}, {}
    live.keep(given, made)
    for name in names:
        made.cells[name] = live.value((own_of(given) or {}).get(name))
    return made


def _optimizer(live: Live, given: torch.optim.Optimizer) -> Value:
    """An optimizer with its groups of parameters; rates are never known."""
    cls = live.value(type(given))
    if not isinstance(cls, Class) or not cls.is_a("torch.optim.Optimizer"):
        return Unknown(f"a {name_of(type(given))}")
    made = Instance(cls)
    made.cells, made.state = {}, {"open": True}
    live.keep(given, made)
    rest = Unknown("an option of a group of parameters")
    groups = map(plain_dict, items((own_of(given) or {}).get("param_groups")))
    rows = [Dict({"params": live.value(group.get("params"))}, rest) for group in groups]
    made.cells["param_groups"] = List(tuple(rows))
    made.cells["state"] = Dict({}, Unknown("the state of an optimizer"))
    return made
