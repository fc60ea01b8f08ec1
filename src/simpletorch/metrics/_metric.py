"""What a metric is, and how classes are read off a model's output."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

import torch

from simpletorch.errors import DataError

Result = TypeVar("Result", covariant=True)


class Metric(Protocol[Result]):
    """Anything with these methods. State lives on the device of what it was given; only `compute` waits for it."""

    def update(self, output: Any, target: Any, /) -> None:
        """Take one batch of a model's outputs and the targets that belong to them."""

    def compute(self) -> Result:
        """The value over everything since the start or the last `reset`."""

    def reset(self) -> None:
        """Forget everything."""


def predicted_classes(output: torch.Tensor, target: torch.Tensor, who: str) -> torch.Tensor:
    """The class predicted for each element of ``target`` (integer ``[B, *S]``), integer of the same shape.

    ``output`` is either scores ``[B, C, *S]`` of a floating dtype, of which the largest along C wins (the first one
    on a tie), or the classes themselves, integer ``[B, *S]``.
    """
    if target.is_floating_point() or target.is_complex():
        raise DataError(f"{who} needs class numbers as targets, but they are {target.dtype}: pass integers")
    if output.is_floating_point():
        if output.ndim == target.ndim + 1 and output.shape[:1] + output.shape[2:] == target.shape:
            return output.argmax(1)
    elif output.shape == target.shape:
        return output
    raise DataError(
        f"{who} got outputs {list(output.shape)} of {output.dtype} for targets {list(target.shape)}: "
        "outputs must be scores [B, C, *S] of a floating dtype or class numbers [B, *S], for targets [B, *S]"
    )
