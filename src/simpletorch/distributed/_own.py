"""Attributes of a model's parameters, kept when these are replaced by sharded ones."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from simpletorch.errors import TorchError
from simpletorch.optim import Optimizer


def rehome(optimizer: Optimizer, before: Mapping[str, torch.Tensor], after: Mapping[str, torch.Tensor]) -> None:
    """Have an optimizer update the parameters that took the place of those it was made of.

    Raises:
        TorchError: it has state already, of parameters that are whole.
    """
    new = {id(parameter): after[name] for name, parameter in before.items() if name in after}
    state = getattr(optimizer, "state", {})
    for group in optimizer.param_groups:
        if any(state.get(parameter) for parameter in group["params"]):
            raise TorchError(
                "the optimizer has made updates already, so its averages are of undivided parameters",
                hint="shard(model) before the optimizer is made, or resume from a checkpoint",
            )
        group["params"] = [new.get(id(parameter), parameter) for parameter in group["params"]]
