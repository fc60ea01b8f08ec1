"""Train and eval mode, put back as they were."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def mode(model: torch.nn.Module, *, training: bool) -> Iterator[None]:
    """Run the block with ``model.train(training)``; afterwards every submodule is in the mode it was in before.

    Args:
        model: the module whose mode is set, with its submodules.
        training: True for training mode, False for eval mode.

    Examples:
        >>> from simpletorch import data, nn, optim, train
        >>> model = nn.Dropout()
        >>> with train.mode(model, training=False):
        ...     print(model.training)
        False
        >>> model.training
        True
    """
    before = [(module, module.training) for module in model.modules()]
    model.train(training)
    try:
        yield
    finally:
        for module, was_training in before:
            module.training = was_training
