"""The interface of metrics, and the classes in a model's output."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

import torch

from simpletorch.errors import DataError

Result = TypeVar("Result", covariant=True)


class Metric(Protocol[Result]):
    """Anything with these methods. State lives on the device of what it was given; only `compute` waits for it.

    Metrics of torchmetrics are such things as well; `TorchMetric` also keeps their state in checkpoints.

    Examples:
        >>> import torch
        >>> from simpletorch.metrics import Accuracy, Metric
        >>> metric: Metric[float] = Accuracy()
        >>> metric.update(torch.tensor([[0.0, 1.0]]), torch.tensor([1]))
        >>> metric.compute()
        1.0
    """

    def update(self, output: Any, target: Any, /) -> None:
        """Take one batch of a model's outputs and the targets that belong to them.

        Args:
            output: the model's output for one batch.
            target: the batch's target.
        """

    def compute(self) -> Result:
        """The value over everything since the start or the last `reset`."""

    def reset(self) -> None:
        """Forget everything."""


def classes_of(target: torch.Tensor, who: str, output: torch.Tensor | None = None) -> torch.Tensor:
    """``target`` as class numbers; booleans are classes 0 and 1.

    With ``output`` the floats 0 and 1 are too, where a binary loss takes them: in the shape of the outputs. Their
    values aren't looked at (`refuse_soft`).

    Raises:
        DataError: the targets are other floats, or complex.
    """
    if target.is_floating_point() and output is not None and output.shape == target.shape:
        return target.to(torch.int64)
    if target.is_floating_point() or target.is_complex():
        shaped = "" if output is None else f", or 0 and 1 in the shape of the outputs, {list(output.shape)}"
        raise DataError(f"{who} needs class numbers as targets, but they are {target.dtype}: pass integers{shaped}")
    return target.to(torch.int64) if target.dtype == torch.bool else target


def is_soft(target: torch.Tensor, ignore_index: int | None = None) -> torch.Tensor:
    """Where floats ``[*S]`` are neither class 0 nor 1 nor to be ignored, as a mask on their device."""
    soft = (target != 0) & (target != 1)
    return soft if ignore_index is None else soft & (target != ignore_index)


def refuse_soft(target: torch.Tensor, who: str, ignore_index: int | None = None) -> None:
    """Raise if targets are floats between the classes; this reads them, which waits for a GPU.

    Raises:
        DataError: they are.
    """
    if target.is_floating_point() and len(found := target[is_soft(target, ignore_index)]):
        raise soft_labels(who, f": {float(found[0]):g} is one")


def soft_labels(who: str, found: str = "") -> DataError:
    """The error for targets between the classes, with one of them where it was read."""
    return DataError(
        f"{who} takes floats as targets where each is class 0 or 1, but some are neither{found}",
        hint="(target > 0.5) makes classes of soft labels",
    )


def predicted_classes(
    output: torch.Tensor, target: torch.Tensor, who: str, threshold: float | None = None
) -> torch.Tensor:
    """The class predicted for each element of ``target`` (class numbers ``[B, *S]``), integer of the same shape.

    ``output`` is either scores ``[B, C, *S]`` of a floating dtype, where the largest along C wins (the first one on a
    tie), or the classes themselves, integer ``[B, *S]``. With a ``threshold``, it may also be scores ``[B, *S]`` of
    class 1, which is predicted where they are above it.
    """
    if output.is_floating_point():
        if has_class_dim(output, target):
            return output.argmax(1)
        if threshold is not None and output.shape == target.shape:
            return (output > threshold).to(torch.int64)
    elif output.shape == target.shape:
        return output.to(torch.int64) if output.dtype == torch.bool else output
    same = output.is_floating_point() and output.shape == target.shape
    hint = f"; for scores of one class, pass {who}(threshold=…): 0 for logits, 0.5 for probabilities" if same else ""
    raise DataError(
        f"{who} got outputs {list(output.shape)} of {output.dtype} for targets {list(target.shape)}: "
        f"outputs must be scores [B, C, *S] of a floating dtype or class numbers [B, *S], for targets [B, *S]{hint}"
    )


def has_class_dim(output: torch.Tensor, target: torch.Tensor) -> bool:
    """Whether ``output`` is ``[B, C, *S]`` for a target ``[B, *S]``."""
    if output.ndim != target.ndim + 1:
        return False
    batch, _, *rest = output.shape
    return target.shape == (batch, *rest)
