"""One loss out of several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from simpletorch.errors import TorchError, as_also


class WeightedSum:
    """The weighted sum of losses of the same outputs and targets: ``WeightedSum((1.0, F.cross_entropy), (0.5, dice))``.

    Args:
        terms: pairs of a weight and a loss function; each function takes outputs and targets and returns a 0-d tensor.

    Raises:
        ValueError: there is no loss.

    Examples:
        >>> import torch
        >>> from torch.nn import functional as F
        >>> from simpletorch.losses import WeightedSum
        >>> loss = WeightedSum((1.0, F.mse_loss), (0.5, F.l1_loss))
        >>> loss(torch.zeros(7), torch.full((7,), 2.0))
        tensor(5.)
    """

    def __init__(self, *terms: tuple[float, Callable[[Any, Any], torch.Tensor]]) -> None:
        if not terms:
            raise as_also(TorchError, ValueError)("WeightedSum got no loss: pass pairs (weight, loss)")
        self.terms: Sequence[tuple[float, Callable[[Any, Any], torch.Tensor]]] = terms

    def __call__(self, output: Any, target: Any) -> torch.Tensor:
        """The sum for one batch: a 0-d tensor."""
        (weight, first), *others = self.terms
        total = weight * first(output, target)
        for weight, loss in others:
            total = total + weight * loss(output, target)
        return total
