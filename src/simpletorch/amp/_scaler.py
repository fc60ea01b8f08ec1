"""Scaling of losses, so that small gradients don't become 0."""

from __future__ import annotations

import torch

from simpletorch.device import Device

__all__ = ["GradScaler"]


class GradScaler(torch.amp.GradScaler):
    """torch's scaler of losses, on the CPU as well; keeps small Float16 gradients from becoming 0.

    The loss is multiplied by a scale before ``backward`` and the gradients are divided by it before the update. An
    update with a gradient that is not finite is skipped and the scale halved; after ``growth_interval`` updates in a
    row the scale is doubled.

    Args:
        device: the type of device the model is on; by default the accelerator that torch finds, else the CPU.

    The other arguments: https://docs.pytorch.org/docs/stable/amp.html#torch.amp.GradScaler
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
