"""Averages of a model's weights over its training, which often do better than the last ones."""

from __future__ import annotations

import sys
from typing import TypeAlias

import torch
from torch.optim.swa_utils import AveragedModel

from simpletorch.errors import TorchError, as_also

_Wrong = as_also(TorchError, ValueError)
_Tensors: TypeAlias = tuple[torch.Tensor, ...] | list[torch.Tensor]


def _move(averages: _Tensors, weights: _Tensors, share: float) -> None:
    """Move the averages this share of the way to the weights; tensors of other than floats are copied."""
    with torch.no_grad():
        # one answers for all: AveragedModel gives tensors of one dtype and device at a time
        if averages[0].is_floating_point() or averages[0].is_complex():
            # private, but `get_ema_multi_avg_fn` of torch/optim/swa_utils.py calls it too; a loop of `lerp_` would do
            torch._foreach_lerp_(averages, weights, share)
        else:
            torch._foreach_copy_(averages, weights)


def _mean(averages: _Tensors, weights: _Tensors, done: torch.Tensor | int) -> None:
    _move(averages, weights, 1 / (int(done) + 1))


def _check_copy(model: torch.nn.Module) -> None:
    fsdp = sys.modules.get("torch.distributed.fsdp")  # whoever has divided a model has imported it
    if fsdp is not None and any(isinstance(module, fsdp.FSDPModule) for module in model.modules()):
        raise _Wrong(
            "an average starts as a copy of the model, and this one is divided among processes (FSDP2), which can't be "
            "copied",
            hint="make the average first: Trainer(ema=ema, parallel='fsdp') divides both, and in a loop of your own "
            "simpletorch.distributed.shard(ema.module) does",
        )


class EMA(AveragedModel):
    """An exponential moving average of a model's weights: a module like the model, to evaluate and to keep.

    ::

        ema = EMA(model, decay=0.999)
        for images, targets in loader:
            ...
            optimizer.step()
            ema.update_parameters(model)
        evaluate(ema, test_loader, metrics)

    It starts as a copy; each update makes it ``decay * average + (1 - decay) * weights``. Floating buffers (the
    statistics of batch norms) are averaged too, other buffers copied. ``ema.module`` is the averaged model itself.

    Args:
        model: the module to average; it is copied, and stays as it is.
        decay: 0 to 1; the average reaches back about ``1 / (1 - decay)`` updates.
        warmup: begin with a smaller decay, ``(1 + n) / (10 + n)`` after n updates, so that the first random weights are
            soon forgotten.

    Raises:
        ValueError: ``decay`` is not between 0 and 1, or the model is divided already.

    Examples:
        >>> import torch
        >>> from simpletorch import nn, optim
        >>> model = nn.Linear(3, 2)
        >>> average = optim.EMA(model, decay=0.99)
        >>> _ = nn.init.zeros_(model.bias)  # stands for the step of an optimizer
        >>> average.update_parameters(model)
        >>> average(torch.zeros(7, 3)).shape
        torch.Size([7, 2])

    Source: Polyak & Juditsky 1992, "Acceleration of stochastic approximation by averaging";
    https://docs.pytorch.org/docs/stable/optim.html#weight-averaging-swa-and-ema
    """

    def __init__(self, model: torch.nn.Module, decay: float = 0.999, *, warmup: bool = False) -> None:
        if not 0 <= decay < 1:
            raise _Wrong(f"decay is {decay}: it must be at least 0 and less than 1, usually 0.99 to 0.9999")
        _check_copy(model)
        super().__init__(model, multi_avg_fn=self._average, use_buffers=True)
        self.decay = decay
        self.warmup = warmup

    def _average(self, averages: _Tensors, weights: _Tensors, done: torch.Tensor | int) -> None:
        decay = min(self.decay, (1 + int(done)) / (10 + int(done))) if self.warmup else self.decay
        _move(averages, weights, 1 - decay)


class SWA(AveragedModel):
    """Stochastic weight averaging: the plain mean of a model's weights from update ``start`` on, at a fixed interval.

    Used like `EMA`. Floating buffers are averaged too; `torch.optim.swa_utils.update_bn` measures the statistics of
    batch norms anew where that is not good enough. Usually trained with a constant rate (`SWALR`).

    Args:
        model: the module to average; it is copied, and stays as it is.
        start: the first update to take in, counted from 0.
        every: from there on, take in one update out of this many.

    Raises:
        ValueError: ``start`` is negative or ``every`` less than 1, or the model is divided already.

    Examples:
        >>> import torch
        >>> from simpletorch import nn, optim
        >>> model = nn.Linear(3, 2)
        >>> average = optim.SWA(model, start=100, every=10)
        >>> average.update_parameters(model)
        >>> average(torch.zeros(7, 3)).shape
        torch.Size([7, 2])

    Source: Izmailov et al. 2018, "Averaging weights leads to wider optima and better generalization".
    """

    seen: torch.Tensor

    def __init__(self, model: torch.nn.Module, start: int = 0, every: int = 1) -> None:
        if start < 0 or every < 1:
            raise _Wrong(f"SWA got start={start} and every={every}: start must be 0 or more, every 1 or more")
        _check_copy(model)
        super().__init__(model, multi_avg_fn=_mean, use_buffers=True)
        self.start = start
        self.every = every
        self.register_buffer("seen", torch.tensor(0, dtype=torch.int64))

    def update_parameters(self, model: torch.nn.Module) -> None:
        """Take in the model's weights, if it is their turn; before the first turn the average is a copy of them."""
        seen = int(self.seen)
        self.seen += 1
        if seen >= self.start and (seen - self.start) % self.every == 0:
            super().update_parameters(model)
        elif seen < self.start:
            with torch.no_grad():
                for average, weight in zip(self.module.state_dict().values(), model.state_dict().values(), strict=True):
                    average.copy_(weight)
