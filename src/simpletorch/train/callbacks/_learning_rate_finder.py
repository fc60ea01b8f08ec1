"""A learning rate to begin with."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from torch.optim.lr_scheduler import CyclicLR, OneCycleLR

from simpletorch._distribution import installing
from simpletorch.errors import BackendError, DataError, TorchError, as_also
from simpletorch.optim import LearningRate
from simpletorch.train._callback import Callback
from simpletorch.train._device import device_of, to_device
from simpletorch.train.callbacks._trial import trial

if TYPE_CHECKING:
    from simpletorch.train._fit import Fit

_DIVERGED: Final = 4.0  # times the best smoothed loss
_FEWEST: Final = 5  # losses that make a curve
_FALL: Final = 1e-6  # of the loss; less is rounding


class LearningRateFinder(Callback):
    """Before training, raise the learning rate from ``low`` to ``high`` batch by batch and record the loss.

    The optimizer then trains with the rate in the middle of the loss's longest descent (`suggestion`). The trial leaves
    no other trace: weights, optimizer and random generators are put back. A resumed training makes none.

    Args:
        low, high: the range; each batch takes the next rate in it, evenly spaced by their logarithms.
        batches: how many; the loader is begun again if it has fewer.
        smoothing: how much of the earlier losses a smoothed one keeps, 0 to 1.
        apply: set the optimizer's rate (of all its groups, in proportion) to the suggestion; False only finds it.

    Raises:
        ValueError: a number is out of range.
        TorchError: the loss falls nowhere, or a scheduler has rates of its own that would undo the suggestion.

    Examples:
        >>> from simpletorch import data, nn, optim, train
        >>> model = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
        >>> optimizer = optim.AdamW(model.parameters(), lr=0.01)
        >>> loader = data.DataLoader(data.Digits(), batch_size=100)
        >>> finder = train.LearningRateFinder(batches=30)
        >>> settings = {"loss": nn.functional.cross_entropy, "optimizer": optimizer, "progress": False}
        >>> trainer = train.Trainer(**settings, callbacks=[finder])
        >>> history = trainer.fit(model, loader, epochs=1)
        >>> optimizer.param_groups[0]["lr"] == finder.suggestion
        True

    Source: Smith 2017, "Cyclical learning rates for training neural networks", section 3.3; the rule for the suggestion
    is in the manner of fastai's "valley".
    """

    rates: list[float]
    """The learning rates that were tried."""
    losses: list[float]
    """The smoothed loss at each."""
    suggestion: LearningRate | None
    """The rate in the middle of the longest way down; None before the trial."""

    def __init__(
        self, low: float = 1e-7, high: float = 1.0, batches: int = 100, *, smoothing: float = 0.9, apply: bool = True
    ) -> None:
        if not 0 < low < high or batches < _FEWEST or not 0 <= smoothing < 1:
            raise as_also(TorchError, ValueError)(
                f"LearningRateFinder got low={low}, high={high}, batches={batches}, smoothing={smoothing}: it needs "
                f"0 < low < high, at least {_FEWEST} batches and a smoothing of at least 0 and less than 1"
            )
        self.low = low
        self.high = high
        self.batches = batches
        self.smoothing = smoothing
        self.apply = apply
        self.rates = []
        self.losses = []
        self.suggestion = None

    def on_fit_start(self, fit: Fit) -> None:
        """Try, suggest and set."""
        if fit.step:
            return
        if self.apply and isinstance(fit.scheduler, (OneCycleLR, CyclicLR)):
            raise TorchError(
                f"{type(fit.scheduler).__name__} has learning rates of its own: use LearningRateFinder(apply=False) in "
                "a short training, and build the scheduler from its suggestion"
            )
        self._try(fit)
        self.suggestion = self._valley()
        if self.apply:
            self._set(fit, self.suggestion)

    def _try(self, fit: Fit) -> None:
        self.rates.clear()
        self.losses.clear()
        growth = (self.high / self.low) ** (1 / (self.batches - 1))
        smoothed, best = 0.0, math.inf
        with trial(fit) as step:
            for index, batch in enumerate(islice(_endless(fit), self.batches)):
                rate = self.low * growth**index
                for group in fit.optimizer.param_groups:
                    group["lr"] = rate
                loss = float(step(batch))
                smoothed = self.smoothing * smoothed + (1 - self.smoothing) * loss
                # the average begins at 0, and this takes that out again, as in Adam
                value = smoothed / (1 - self.smoothing ** (index + 1))
                best = min(best, value)
                if not math.isfinite(value) or value > _DIVERGED * best:
                    break
                self.rates.append(rate)
                self.losses.append(value)

    def _valley(self) -> LearningRate:
        """The rate in the middle of the longest way down, at half of its length: short ones are noise."""
        # the longest falling subsequence, and where each begins; some hundred losses, so two loops will do
        lengths, before = [1] * len(self.losses), list(range(len(self.losses)))
        for i, loss in enumerate(self.losses):
            for j in range(i):
                if loss < self.losses[j] and lengths[j] >= lengths[i]:
                    lengths[i], before[i] = lengths[j] + 1, before[j]
        end = max(range(len(lengths)), key=lengths.__getitem__, default=0)
        if not self.losses or self.losses[before[end]] - self.losses[end] <= _FALL * abs(self.losses[end]):
            tried = f"from {self.low:g} to {self.rates[-1]:g}" if self.rates else f"at {self.low:g}"
            raise TorchError(
                f"the loss falls nowhere with learning rates {tried}: try another range, or look at the model and loss"
            )
        return LearningRate(self.rates[(before[end] + end) // 2])

    def _set(self, fit: Fit, rate: float) -> None:
        groups = fit.optimizer.param_groups
        first = float(groups[0]["lr"]) or 1.0
        for group in groups:
            group["lr"] = rate * (float(group["lr"]) / first)
            if "initial_lr" in group:
                group["initial_lr"] = rate * (float(group["initial_lr"]) / first)
        if fit.scheduler is not None and hasattr(fit.scheduler, "base_lrs"):
            fit.scheduler.base_lrs = [rate * (base / first) for base in fit.scheduler.base_lrs]

    def plot(self, axes: Any = None) -> Any:
        """Draw the losses over the rates, and the suggestion, into matplotlib ``axes`` (new ones if None).

        Args:
            axes: matplotlib axes to draw into; None makes new ones.

        Returns:
            The axes that were drawn into.

        Raises:
            BackendError: matplotlib is not installed.
            TorchError: nothing has been tried yet.
        """
        if self.suggestion is None:
            raise TorchError("there is nothing to draw yet: train with this LearningRateFinder first")
        if axes is None:
            try:
                from matplotlib import pyplot
            except ImportError as error:
                raise BackendError(f"drawing needs matplotlib, which is not installed: {installing('plot')}") from error
            axes = pyplot.subplots()[1]
        axes.plot(self.rates, self.losses)
        axes.axvline(self.suggestion, linestyle="--", label=f"suggestion {self.suggestion:.2g}")
        axes.set(xscale="log", xlabel="learning rate", ylabel="loss, smoothed")
        axes.legend()
        return axes


def _endless(fit: Fit) -> Iterator[Any]:
    """The loader's batches on the model's device, again and again."""
    while True:
        empty = True
        for batch in to_device(fit.loader, device_of(fit.model)):
            empty = False
            yield batch
        if empty:
            raise DataError("there is nothing to try learning rates on: the loader gave no batch")
