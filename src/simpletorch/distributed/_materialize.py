"""Models that are larger than a process's memory: built on ``meta``, divided, and only then given numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import nn

from simpletorch.checkpoint._plain import is_sharded
from simpletorch.checkpoint._sharded import divide
from simpletorch.errors import TorchError

M = TypeVar("M", bound=nn.Module)


def materialize(
    model: M,
    device: torch.device | str = "cpu",
    *,
    initialize: Callable[[nn.Module], object] | None = None,
    seed: int = 0,
) -> M:
    """Give a model that was built on ``meta`` memory and first weights, in place; each process only of its part.

    ::

        with torch.device("meta"):
            model = llama_3_8b()
        shard(model)
        materialize(model, initialize=lambda module: initialize_normal(module, 0.02))

    One module after the other is drawn whole and divided. So the largest module has to fit, and the weights are the
    same in any number of processes. Tensors that several modules share stay shared, with the values that the first one
    draws. Make the optimizer afterwards.

    Args:
        model: a module that was built on the ``meta`` device, sharded or not.
        device: where it is going to be.
        initialize: called with each module that has parameters or buffers; ``reset_parameters()`` by default.
        seed: of torch's generator while weights are drawn; it is put back afterwards.

    Returns:
        The model itself.

    Raises:
        TorchError: a module can't draw its own weights; it is named.

    Examples:
        >>> import torch
        >>> from simpletorch import distributed, nn
        >>> with torch.device("meta"):
        ...     model = nn.Linear(8, 3)
        >>> distributed.materialize(model).weight.device
        device(type='cpu')
    """
    if reason := _why_not(model):
        raise TorchError(reason, hint="build it under torch.device('meta'), then shard it, then materialize it")
    target = torch.device(device)
    places = _places(model)
    model.to_empty(device=target)
    for (owner, key), *others in places:
        for module, name in others:
            module._parameters[name] = owner._parameters[key]
    with torch.no_grad(), torch.random.fork_rng(devices=[] if target.type != "cuda" else [target]):
        torch.manual_seed(seed)
        for name, module in model.named_modules():
            drawn = {key for _, *others in places for owner, key in others if owner is module}
            own = {key for key, _ in (*module.named_parameters("", False), *module.named_buffers("", False))}
            if own - drawn:
                _draw(name, module, target, initialize, drawn)
    return model


def _why_not(model: nn.Module) -> str:
    """Why a model can't be given memory as a whole; "" when it can."""
    for name, value in [*model.named_parameters(), *model.named_buffers()]:
        if not value.is_meta:
            return f"{name} is on {value.device} already, and what it has would be lost"
    return ""


def _places(model: nn.Module) -> list[list[tuple[nn.Module, str]]]:
    """For each parameter the modules that have it, and its name there: of tied weights, several."""
    found: dict[int, list[tuple[nn.Module, str]]] = {}
    for module in model.modules():
        for name, parameter in module.named_parameters(recurse=False, remove_duplicate=False):
            found.setdefault(id(parameter), []).append((module, name))
    return list(found.values())


def _draw(
    name: str,
    module: nn.Module,
    device: torch.device,
    initialize: Callable[[nn.Module], object] | None,
    drawn: set[str],
) -> None:
    """Have a module draw its own; of what another one has ``drawn`` it gets something else, which is dropped."""
    draw: Any = getattr(module, "reset_parameters", None) if initialize is None else initialize
    if draw is None:
        raise TorchError(
            f"{name or 'the model'}, a {type(module).__name__}, has no reset_parameters() that draws its weights",
            hint="give initialize=, which gets each module and draws its weights, or load a checkpoint into it",
        )
    kept: dict[str, Any] = {
        key: value for key, value in module._parameters.items() if is_sharded(value) or key in drawn
    }
    for key, part in kept.items():
        whole = torch.empty(part.shape, dtype=part.dtype, device=device)
        module._parameters[key] = nn.Parameter(whole, part.requires_grad)
    try:
        draw() if initialize is None else draw(module)
        for key, part in kept.items():
            if key not in drawn:
                # every process has drawn the same: there is nothing to send
                whole = module._parameters[key].data  # type: ignore[union-attr]
                part.to_local().copy_(divide(whole, part).to_local())
    finally:
        module._parameters.update(kept)  # the parameters stay the objects that FSDP2 knows
