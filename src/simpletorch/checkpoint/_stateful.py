"""Objects that a checkpoint can save and restore."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import torch

from simpletorch.checkpoint._differences import compare, optimizer_differences
from simpletorch.checkpoint._names import own_names, unwrapped
from simpletorch.errors import CheckpointError


@runtime_checkable
class Stateful(Protocol):
    """Anything with these two methods: modules, optimizers, schedulers, scalers, our loaders and metrics, your own."""

    def state_dict(self) -> Any:
        """Everything needed to go on later, as plain data and tensors."""

    def load_state_dict(self, state_dict: Any, /) -> Any:
        """Go on from what `state_dict` gave."""


Part: TypeAlias = Stateful | Mapping[str, Stateful] | Sequence[Stateful]
"""What `load` restores: a stateful object, or several by name or in order."""

Data: TypeAlias = (
    Mapping[Any, Any] | Sequence[Any] | set[Any] | frozenset[Any] | torch.Tensor | np.ndarray[Any, Any] | complex | None
)
"""What `save` keeps as it is: plain data, tensors and arrays. (``complex`` stands for float, int and bool as well.)"""


def state_of(value: Any) -> Any:
    """The state of whatever is stateful in ``value``; the rest as it is."""
    if isinstance(value, torch.nn.Module):
        return unwrapped(value).state_dict()
    # a class has the two methods as well as its instances
    if isinstance(value, Stateful) and not isinstance(value, type):
        return value.state_dict()
    if type(value) is dict:
        return {key: state_of(item) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(state_of(item) for item in value)
    return value


def differences(part: Any, saved: Any, name: str) -> list[str]:
    """Why ``saved`` can't be loaded into ``part``: one line for each reason, found before anything is changed."""
    try:
        return _differences(part, saved, name)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        # The file is undamaged, so another program wrote it: it has not even the form of such a state.
        return [f"{name}: what was saved is no state of a {type(part).__name__} ({type(error).__name__}: {error})"]


def _differences(part: Any, saved: Any, name: str) -> list[str]:
    if isinstance(part, Mapping):
        if not isinstance(saved, Mapping) or part.keys() != saved.keys():
            there = sorted(saved) if isinstance(saved, Mapping) else "a single state"
            return [f"{name}: {there} in the checkpoint, {sorted(part)} here"]
        return [line for key in part for line in differences(part[key], saved[key], f"{name}.{key}")]
    if isinstance(part, Sequence):
        if not isinstance(saved, (list, tuple)) or len(part) != len(saved):
            there = f"{len(saved)} states" if isinstance(saved, (list, tuple)) else "a single state"
            return [f"{name}: {there} in the checkpoint, {len(part)} here"]
        pairs = enumerate(zip(part, saved, strict=True))
        return [line for index, (one, its) in pairs for line in differences(one, its, f"{name}.{index}")]
    if isinstance(part, torch.nn.Module):
        if not isinstance(saved, Mapping):
            return [f"{name}: a {type(saved).__name__} in the checkpoint, a {type(part).__name__} here"]
        return [f"{name}.{line}" for line in compare(part, saved)[0].differences()]
    if isinstance(part, torch.optim.Optimizer):
        lines = optimizer_differences(part, saved) if isinstance(saved, Mapping) else ["it is no state of an optimizer"]
        return [f"{name}: {line}" for line in lines]
    if not isinstance(part, Stateful):
        return [f"{name}: a {type(part).__name__} can't be restored in place; what was saved is in read(path).parts"]
    return []


def load_into(part: Any, saved: Any, name: str) -> None:
    """Load ``saved`` into ``part``, which `differences` found nothing against.

    Raises:
        CheckpointError: the part itself refuses it.
    """
    if isinstance(part, Mapping):
        for key in part:
            load_into(part[key], saved[key], f"{name}.{key}")
    elif isinstance(part, Sequence):
        for index, (one, its) in enumerate(zip(part, saved, strict=True)):
            load_into(one, its, f"{name}.{index}")
    else:
        try:
            if isinstance(part, torch.nn.Module):
                unwrapped(part).load_state_dict(own_names(saved, part))
            else:
                part.load_state_dict(saved)
        except CheckpointError:
            raise
        except Exception as error:  # whatever a load_state_dict raises, it is about this state
            refused = f"{type(part).__name__}.load_state_dict refuses the saved state"
            raise CheckpointError(f"{name}: {refused}: {type(error).__name__}: {error}") from error
