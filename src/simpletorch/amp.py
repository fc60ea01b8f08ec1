"""Mixed precision: torch's `autocast`, and a `GradScaler` that works where the model is.

::

    scaler = GradScaler("cuda")
    with autocast("cuda", dtype=torch.float16):
        loss = F.cross_entropy(model(images), targets)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()

`simpletorch.train.Step` and `Trainer` do this for ``precision="float16"``; ``"bfloat16"`` needs no scaling.

Source: https://docs.pytorch.org/docs/stable/amp.html
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Final, Literal, TypeAlias, get_args

import torch
from torch import autocast as autocast
from torch.amp import custom_bwd as custom_bwd
from torch.amp import custom_fwd as custom_fwd
from torch.amp import is_autocast_available as is_autocast_available

from simpletorch.errors import TorchError, as_also

__all__ = ["GradScaler", "Precision", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available", "precise"]

Precision: TypeAlias = Literal["float32", "bfloat16", "float16"]
"""What the large operations are computed in; parameters stay as they are."""

_Wrong = as_also(TorchError, ValueError)
_DTYPES: Final = {"bfloat16": torch.bfloat16, "float16": torch.float16}


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
            found = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
            device = "cpu" if found is None else found.type
        super().__init__(device, init_scale, growth_factor, backoff_factor, growth_interval, enabled)


def precise(precision: Precision, device: torch.device | None) -> AbstractContextManager[object]:
    """The context in which a forward pass on ``device`` has this precision; for ``"float32"`` it does nothing.

    Raises:
        ValueError: there is no such precision, or torch has no autocast on this device.
    """
    if precision not in get_args(Precision):
        raise _Wrong(f"precision is {precision!r}: it must be one of {', '.join(map(repr, get_args(Precision)))}")
    if precision == "float32":
        return nullcontext()
    kind = "cpu" if device is None else device.type
    if not is_autocast_available(kind):
        raise _Wrong(f"precision is {precision!r}, but torch has no autocast on {kind!r}: use 'float32' there")
    return autocast(kind, dtype=_DTYPES[precision])
