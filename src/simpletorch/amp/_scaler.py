"""Scaling of losses, so that small gradients don't become 0."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import torch

from simpletorch.device import Device
from simpletorch.errors import TorchError, as_also

__all__ = ["GradScaler"]

_ORDER: Final = "scaler.scale(loss).backward(), unscale_ where gradients are clipped, step, update"
_EXPLAINED: Final = (  # a part of torch's words, the reason, the hint
    ("_scale is None", "no loss has been scaled yet", f"the order is {_ORDER}"),
    (
        "No inf checks",
        "no parameter of the optimizer has a gradient",
        "call scaler.scale(loss).backward() first, on a loss that depends on its parameters",
    ),
    (
        "unscale_() has already been called",
        "the gradients of this optimizer are unscaled already, and would be divided twice",
        "call it once, between backward() and step(), and update() after each step",
    ),
    ("unscale_() is being called after step()", "the step has been made already", f"the order is {_ORDER}"),
    (
        "step() has already been called",
        "a step was made since the last update",
        "call scaler.update() after each step, and step once for each optimizer",
    ),
    (
        "unscale FP16 gradients",
        "parameters are Float16, so are their gradients, which is too coarse to be divided",
        "keep the model in Float32 and run its forward under autocast(dtype=torch.float16)",
    ),
)


@contextmanager
def _explaining(operation: str) -> Iterator[None]:
    try:
        yield
    except (AssertionError, RuntimeError, ValueError) as error:
        for words, reason, hint in _EXPLAINED:
            if words in str(error):
                kind = as_also(TorchError, type(error))
                raise kind(reason, operation=f"GradScaler.{operation}", hint=hint) from error
        raise


class GradScaler(torch.amp.GradScaler):
    """torch's scaler of losses, on the CPU as well; keeps small Float16 gradients from becoming 0.

    The loss is multiplied by a scale before ``backward`` and the gradients are divided by it before the update. An
    update with a gradient that is not finite is skipped and the scale halved; after ``growth_interval`` updates in a
    row the scale is doubled.

    Args:
        device: the type of device the model is on; by default the accelerator that torch finds, else the CPU.
        init_scale: the first scale, a factor of the loss.
        growth_factor: the factor by which the scale grows after ``growth_interval`` updates without a skipped one.
        backoff_factor: the factor by which the scale shrinks after a skipped update, between 0 and 1.
        growth_interval: the number of successive updates with finite gradients before the scale grows.
        enabled: False turns scaling off: `scale` returns the loss as it is, and `step` always updates.

    Raises:
        TorchError: (of torch's own class too) `step`, `unscale_` or `update` in the wrong order, or Float16 parameters.

    Examples:
        >>> import torch
        >>> from simpletorch import amp, nn, optim
        >>> model = nn.Linear(3, 2)
        >>> optimizer, scaler = optim.SGD(model.parameters(), lr=0.1), amp.GradScaler()
        >>> loss = model(torch.zeros(7, 3)).square().mean()
        >>> scaler.scale(loss).backward()
        >>> _ = scaler.step(optimizer)
        >>> scaler.update()

    Source: https://docs.pytorch.org/docs/stable/amp.html#torch.amp.GradScaler
    """

    def __init__(
        self,
        device: str | None = None,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        if device is None:
            device = Device.best().type
        super().__init__(device, init_scale, growth_factor, backoff_factor, growth_interval, enabled)

    def unscale_(self, optimizer: torch.optim.Optimizer) -> None:
        """Divide the gradients by the scale, to clip or look at them before `step`."""
        with _explaining("unscale_"):
            super().unscale_(optimizer)

    def step(self, optimizer: torch.optim.Optimizer, *args: Any, **kwargs: Any) -> float | None:
        """Step the optimizer, unless a gradient isn't finite.

        Returns:
            The result of ``optimizer.step()``; None if the update was skipped.
        """
        with _explaining("step"):
            return super().step(optimizer, *args, **kwargs)

    def update(self, new_scale: float | torch.Tensor | None = None) -> None:
        """Adapt the scale to whether the last steps were made."""
        with _explaining("update"):
            super().update(new_scale)
