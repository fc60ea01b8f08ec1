"""`autocast` that picks device and dtype."""

from __future__ import annotations

from typing import Final

import torch
from torch.amp import is_autocast_available

from simpletorch.device import Device
from simpletorch.errors import TorchError, as_also

__all__ = ["autocast"]

_Wrong: Final = as_also(TorchError, ValueError)


def autocast(
    device_type: str | torch.device | None = None,
    dtype: torch.dtype | None = None,
    enabled: bool = True,
    cache_enabled: bool | None = None,
) -> torch.autocast:
    """`torch.autocast`, for ``with`` and as a decorator, without the need to say where and in what.

    Args:
        device_type: by default the accelerator that torch finds, else the CPU; a device counts by its type.
        dtype: by default bfloat16 where the device computes in it, which needs no `GradScaler`, else float16.
        enabled: False makes it do nothing.
        cache_enabled: whether a parameter is cast once for all its uses, which is the default.

    Raises:
        ValueError: torch has no autocast for the device, or doesn't cast to the dtype.

    Examples:
        >>> import torch
        >>> from simpletorch import amp, nn
        >>> layer = nn.Linear(3, 2)
        >>> with amp.autocast():
        ...     print(layer(torch.zeros(7, 3)).dtype)
        torch.bfloat16

    Source: https://docs.pytorch.org/docs/stable/amp.html#torch.autocast
    """
    kind = (Device.best() if device_type is None else torch.device(device_type)).type
    if not torch.compiler.is_compiling() and not is_autocast_available(kind):  # Dynamo of torch 2.11 can't trace it
        raise _Wrong(f"device_type is {kind!r}, but torch has no autocast there", hint="use 'cuda', 'cpu' or 'mps'")
    if dtype is None:
        dtype = torch.bfloat16 if kind != "cuda" or torch.cuda.is_bf16_supported() else torch.float16
    elif dtype not in (torch.bfloat16, torch.float16):
        raise _Wrong(
            f"dtype is {dtype}, but autocast computes in torch.bfloat16 or torch.float16",
            hint="for float32 leave autocast away; for eight bits see simpletorch.amp.float8",
        )
    return torch.autocast(kind, dtype, enabled, cache_enabled)
