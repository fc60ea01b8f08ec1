"""Wrappers around a model, and their effect on the names of its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import torch

_WRAPPERS: Final = {
    "torch._dynamo.eval_frame.OptimizedModule": "_orig_mod",  # what torch.compile(model) gives
    "torch.nn.parallel.distributed.DistributedDataParallel": "module",
    "torch.nn.parallel.data_parallel.DataParallel": "module",
}


def unwrapped(model: torch.nn.Module) -> torch.nn.Module:
    """The model itself, without what `torch.compile` and `DistributedDataParallel` put around it.

    So a checkpoint has the model's own names and can be loaded however the model is wrapped then.

    Args:
        model: a module, wrapped or not.

    Returns:
        The inner model, or ``model`` itself.

    Examples:
        >>> import torch
        >>> from simpletorch import checkpoint, nn
        >>> model = nn.Linear(3, 2)
        >>> checkpoint.unwrapped(torch.compile(model)) is model
        True
    """
    # by name, so that torch._dynamo, which is slow to import, isn't imported to compare with
    while (inner := _WRAPPERS.get(f"{type(model).__module__}.{type(model).__qualname__}")) is not None:
        model = getattr(model, inner)
    return model


def own_names(state: Mapping[str, Any], model: torch.nn.Module) -> Mapping[str, Any]:
    """A state of ``model`` without the prefix that a wrapper gave all its names, as files from elsewhere often have."""
    here = list(unwrapped(model).state_dict())
    for prefix in ("_orig_mod.", "module."):
        its_own = any(name.startswith(prefix) for name in here)
        if state and not its_own and all(name.startswith(prefix) for name in state):
            return own_names({name.removeprefix(prefix): value for name, value in state.items()}, model)
    return state
