"""One update of a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from simpletorch.errors import explained
from simpletorch.optim import Optimizer, clip_grad_norm


class Step:
    """One training step: forward, loss, backward, clipping, update. ``step(images, targets)`` gives the loss.

    The last argument is the target, the others go to the model: ``loss(model(*inputs), target)``.

    Args:
        model: trained in place; its mode is the caller's business (`mode`, or ``model.train()``).
        loss: from outputs and targets to a 0-d tensor.
        optimizer: has the parameters to update.
        clip_norm: limits the norm of all gradients together; None doesn't.

    Raises:
        ValueError: the optimizer has no parameter of the model, or ``clip_norm`` is not positive.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        loss: Callable[[Any, Any], torch.Tensor],
        optimizer: Optimizer,
        *,
        clip_norm: float | None = None,
    ) -> None:
        if clip_norm is not None and not clip_norm > 0:
            raise ValueError(f"clip_norm is {clip_norm}: give a positive number, or None for no clipping")
        self.parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        owned = set(map(id, self.parameters))
        if not any(id(parameter) in owned for parameter in model.parameters()):
            raise ValueError(
                "the optimizer updates none of this model's parameters: build it from model.parameters(), "
                "after the model was moved or wrapped"
            )
        self.model = model
        self.loss = loss
        self.optimizer = optimizer
        self.clip_norm = clip_norm

    def __call__(self, *batch: Any) -> torch.Tensor:
        """Update the model from one batch ``(*inputs, target)``; returns the loss before the update, 0-d, detached.

        Raises:
            TorchError: what torch raised inside, explained.
        """
        try:
            loss = self.loss(self.model(*batch[:-1]), batch[-1])
            self.optimizer.zero_grad()
            loss.backward()
            if self.clip_norm is not None:
                clip_grad_norm(self.parameters, self.clip_norm)
            self.optimizer.step()
        except Exception as error:
            new = explained(error)
            if new is None:
                raise
            raise new from new.__cause__
        return loss.detach()
