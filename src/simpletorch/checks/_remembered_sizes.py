"""The sizes of an instance: an argument for ``n: Dim[N]`` of a generic class's ``__init__`` holds in its methods."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from types import FrameType, FunctionType
from typing import Any, Final

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from simpletorch._annotation import axis_name
from simpletorch.checks._hints import Resolver
from simpletorch.checks._scope import local_names
from simpletorch.dims import DimType

__all__ = ["is_rebuilt", "remember_sizes"]

_BUILT: Final = "_built"


def remember_sizes(cls: type, frame: FrameType) -> str | None:
    """Make ``cls`` remember the sizes of its instances; the attribute that holds them, None if it has no such sizes.

    A class has an attribute of its own: a subclass may mean another size by the same name.
    """
    init = cls.__dict__.get("__init__")
    own = {axis_name(p.__name__) for p in getattr(cls, "__parameters__", ())}
    if not own or not isinstance(init, FunctionType) or cls.__dictoffset__ == 0:  # slots: no place to keep them
        return None
    signature = inspect.signature(init)
    resolve = Resolver(init, {**local_names(init, frame), cls.__name__: cls})
    sizes = {p.name: _name(resolve(p.annotation)) for p in signature.parameters.values()}
    names = {parameter: name for parameter, name in sizes.items() if name in own}
    if not names:
        return None
    attribute = f"_sizes_of_{cls.__name__}"
    # a subclass may have its base's name
    while hasattr(cls, attribute):
        attribute += "_"
    setattr(cls, attribute, ())

    @functools.wraps(init)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        __tracebackhide__ = True
        try:
            arguments = signature.bind(self, *args, **kwargs).arguments
        except TypeError:  # Python's own message follows
            arguments = {}
        # past __setattr__, which a frozen class refuses; and first, as __init__ may call methods that need them
        self.__dict__[attribute] = _bound(names, arguments)
        init(self, *args, **kwargs)
        if isinstance(self, nn.Module):
            self.__dict__[attribute + _BUILT] = _parameters(self)

    setattr(cls, "__init__", __init__)  # noqa: B010 - mypy allows no assignment
    return attribute


def is_rebuilt(instance: Any, attribute: str) -> bool:
    """Whether other layers were put into a module than ``__init__`` made, as in ``model.fc = nn.Linear(512, 7)``.

    The assigned sizes count then, not the constructor's arguments.
    """
    built = getattr(instance, attribute + _BUILT, None)
    # parameters may be added (an adapter's): only those that changed or went count
    return built is not None and not built.items() <= _parameters(instance).items()


def _parameters(module: nn.Module) -> dict[str, torch.Size]:
    return {name: p.shape for name, p in module.named_parameters() if not is_lazy(p)}


def _name(hint: Any) -> str | None:
    """``N`` of ``Dim[N]``."""
    return hint._axis.dim_str if isinstance(hint, DimType) and hint._axis is not None else None


def _bound(names: Mapping[str, str | None], arguments: Mapping[str, Any]) -> tuple[tuple[str, int], ...]:
    """The sizes by name; one that two arguments disagree on is no size."""
    found: dict[str, set[int]] = {}
    for parameter, name in names.items():
        value = arguments.get(parameter)
        if name is not None and type(value) is int:
            found.setdefault(name, set()).add(value)
    return tuple((name, values.pop()) for name, values in found.items() if len(values) == 1)
