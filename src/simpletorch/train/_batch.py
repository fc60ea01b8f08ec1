"""What a batch looks like to the training code."""

from __future__ import annotations

from typing import Any

import torch

from simpletorch.errors import DataError


def samples_in(batch: Any) -> int:
    """How many samples a batch ``(*inputs, target)`` has.

    Raises:
        DataError: it is no such tuple.
    """
    if not isinstance(batch, (tuple, list)) or len(batch) < 2:
        raise DataError(
            f"a batch is a {type(batch).__name__}, but training and evaluation need tuples (inputs, target): "
            "write the loop by hand for anything else"
        )
    target = batch[-1]
    return target.size(0) if isinstance(target, torch.Tensor) and target.ndim else len(target)  # quicker than its len()
