"""Precision by name, as `simpletorch.train` takes it."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Final, Literal, TypeAlias, get_args

import torch
from torch.amp import is_autocast_available

from simpletorch.errors import TorchError, as_also

__all__ = ["Precision", "precise"]

Precision: TypeAlias = Literal["float32", "bfloat16", "float16"]
"""What the large operations are computed in; parameters stay as they are."""

_Wrong = as_also(TorchError, ValueError)
_DTYPES: Final = {"bfloat16": torch.bfloat16, "float16": torch.float16}


def precise(precision: Precision, device: torch.device | None) -> AbstractContextManager[object]:
    """The context in which a forward pass on ``device`` has this precision; for ``"float32"`` it does nothing.

    Args:
        precision: ``"float32"``, ``"bfloat16"`` or ``"float16"``: the dtype that autocast uses for large operations.
        device: the device of the model; None is the CPU.

    Returns:
        A context manager.

    Raises:
        ValueError: there is no such precision, or torch has no autocast on this device.

    Examples:
        >>> import torch
        >>> from simpletorch import amp, nn
        >>> with amp.precise("bfloat16", torch.device("cpu")):
        ...     print(nn.Linear(3, 2)(torch.zeros(7, 3)).dtype)
        torch.bfloat16
    """
    if precision not in get_args(Precision):
        raise _Wrong(f"precision is {precision!r}: it must be one of {', '.join(map(repr, get_args(Precision)))}")
    if precision == "float32":
        return nullcontext()
    kind = "cpu" if device is None else device.type
    if not is_autocast_available(kind):
        raise _Wrong(f"precision is {precision!r}, but torch has no autocast on {kind!r}: use 'float32' there")
    return torch.autocast(kind, dtype=_DTYPES[precision])
