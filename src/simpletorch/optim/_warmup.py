"""Learning rates that start small."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch.optim.lr_scheduler import LambdaLR, LinearLR

from simpletorch.errors import TorchError, as_also

_Wrong = as_also(TorchError, ValueError)


class LinearWarmup(LinearLR):
    """Raise the learning rate in a straight line for ``steps`` steps, then keep it at the optimizer's rate.

    Args:
        optimizer: the optimizer whose learning rates are changed; each group keeps its own final rate.
        steps: how many; step the scheduler after each update.
        start: the first step's share of the learning rate, more than 0 and at most 1.

    Raises:
        ValueError: ``steps`` is less than 1 or ``start`` out of range.

    Examples:
        >>> from simpletorch import nn, optim
        >>> optimizer = optim.SGD(nn.Linear(3, 2).parameters(), lr=0.1)
        >>> warmup = optim.LinearWarmup(optimizer, steps=4, start=0.2)
        >>> for _ in range(5):
        ...     optimizer.step()
        ...     warmup.step()
        ...     print(f"{optimizer.param_groups[0]['lr']:.3f}")
        0.040
        0.060
        0.080
        0.100
        0.100

    Source: Goyal et al. 2017, "Accurate, large minibatch SGD", section 2.2;
    https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.LinearLR.html
    """

    def __init__(self, optimizer: torch.optim.Optimizer, steps: int, start: float = 0.001) -> None:
        if steps < 1 or not 0 < start <= 1:
            raise _Wrong(f"LinearWarmup got steps={steps} and start={start}: steps must be 1 or more, start in (0, 1]")
        super().__init__(optimizer, start_factor=start, end_factor=1.0, total_iters=steps)


class WarmupCosine(LambdaLR):
    """Raise the learning rate in a straight line, then lower it along half a cosine, as is usual for transformers.

    Args:
        optimizer: the optimizer whose learning rates are changed; each group keeps its own highest rate.
        warmup: how many steps to rise; the first already has a ``1 / warmup`` share.
        total: the step at which the lowest rate is reached; it stays there.
        floor: the lowest rate's share of the optimizer's, 0 to 1.

    Raises:
        ValueError: not ``0 <= warmup < total``, or ``floor`` out of range.

    Examples:
        >>> from simpletorch import nn, optim
        >>> optimizer = optim.SGD(nn.Linear(13, 3).parameters(), lr=1.0)
        >>> schedule = optim.WarmupCosine(optimizer, warmup=2, total=6)
        >>> rates = []
        >>> for _ in range(6):
        ...     rates.append(round(schedule.get_last_lr()[0], 2))
        ...     optimizer.step()
        ...     schedule.step()
        >>> rates
        [0.5, 1.0, 1.0, 0.85, 0.5, 0.15]

    Source: Loshchilov & Hutter 2017, "SGDR: stochastic gradient descent with warm restarts"; Radford et al. 2018.
    """

    def __init__(self, optimizer: torch.optim.Optimizer, warmup: int, total: int, floor: float = 0.0) -> None:
        if not 0 <= warmup < total or not 0 <= floor <= 1:
            raise _Wrong(
                f"WarmupCosine got warmup={warmup}, total={total}, floor={floor}: "
                "warmup must be at least 0 and less than total, and floor between 0 and 1"
            )
        super().__init__(optimizer, partial(_factor, warmup, total, floor))


def _factor(warmup: int, total: int, floor: float, step: int) -> float:
    if step < warmup:
        return (step + 1) / warmup
    done = min(1.0, (step - warmup) / (total - warmup))
    return floor + (1 - floor) * (1 + math.cos(math.pi * done)) / 2
