"""All mistakes in one tuple, in the order in which they are told of what happens."""

from __future__ import annotations

from typing import Final

from simpletorch.follow.mistakes import (
    arguments,
    attributes,
    events,
    last_batches,
    loading,
    losses,
    mixed,
    mode_checks,
    modes,
    modules,
    no_tensors,
    optimizers,
    purity,
    scalers,
    schedules,
    seeds,
    training,
    updates,
    wrong_kinds,
)

__all__ = ["MISTAKES"]

MISTAKES: Final = (
    arguments,
    modules,
    no_tensors,
    wrong_kinds,
    attributes,
    purity,
    modes,
    losses,
    mixed,
    optimizers,
    mode_checks,
    schedules,
    loading,
    seeds,
    scalers,
    updates,
    training,
    last_batches,
)
for _mistake in MISTAKES:
    events.subscribe(_mistake.LISTENS)
