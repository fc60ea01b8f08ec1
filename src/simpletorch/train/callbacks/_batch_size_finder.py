"""The largest batch that fits in memory."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable
from itertools import islice
from typing import TYPE_CHECKING, Any

import torch

from simpletorch.errors import OutOfMemory, TorchError, as_also
from simpletorch.train._batch import samples_in
from simpletorch.train._callback import Callback
from simpletorch.train._device import device_of, to_device
from simpletorch.train.callbacks._trial import trial

if TYPE_CHECKING:
    from simpletorch.train._fit import Fit


class BatchSizeFinder(Callback):
    """Before training, double the batch size until memory runs out, and train with the largest that fits.

    ::

        finder = BatchSizeFinder(lambda size: DataLoader(data, size, shuffle=True), start=16)
        Trainer(…, callbacks=[finder]).fit(model, finder.loader(16), epochs=10)

    Weights, optimizer and random generators are put back after each try. A resumed training makes none: give it a
    loader of the size that was found.

    Args:
        loader: makes a loader for a batch size.
        start: the first size tried.
        largest: no size above it is tried.
        updates: how many are made with each size; optimizers take memory in the first one.
        refine: then halve the distance to the first size that failed, until it is found to one part in eight.

    Raises:
        ValueError: a number is out of range.
        OutOfMemory: not even ``start`` fits.

    Examples:
        >>> from simpletorch import data, nn, optim, train
        >>> model = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
        >>> optimizer = optim.AdamW(model.parameters(), lr=0.01)
        >>> loader = data.DataLoader(data.Digits(), batch_size=100)
        >>> finder = train.BatchSizeFinder(lambda size: data.DataLoader(data.Digits(), size), largest=256)
        >>> settings = {"loss": nn.functional.cross_entropy, "optimizer": optimizer, "progress": False}
        >>> trainer = train.Trainer(**settings, callbacks=[finder])
        >>> history = trainer.fit(model, loader, epochs=1)
        >>> finder.batch_size
        256
    """

    batch_size: int | None
    """The size found; None before."""

    def __init__(
        self,
        loader: Callable[[int], Iterable[Any]],
        *,
        start: int = 8,
        largest: int = 65_536,
        updates: int = 2,
        refine: bool = False,
    ) -> None:
        if not 1 <= start <= largest or updates < 1:
            raise as_also(TorchError, ValueError)(
                f"BatchSizeFinder got start={start}, largest={largest}, updates={updates}: it needs "
                "1 <= start <= largest and at least one update"
            )
        self.loader = loader
        self.start = start
        self.largest = largest
        self.updates = updates
        self.refine = refine
        self.batch_size = None

    def on_fit_start(self, fit: Fit) -> None:
        """Find the size, and give the training its loader."""
        if fit.step:
            return
        good, bad, size = 0, self.largest + 1, self.start
        while good < size < bad:
            fits, full = self._fits(fit, size)
            if not fits:
                bad = size
            elif full:
                good = size
            else:  # the data end before the memory does
                good = good or size
                break
            size = min(2 * good, self.largest) if bad > self.largest else self._between(good, bad)
        if good == 0:
            raise OutOfMemory(
                reason=f"not even batches of {self.start} fit in memory",
                hint="a smaller start, accumulate=…, recompute(model, …) or precision='bfloat16' needs less",
            )
        self.batch_size = good
        fit.loader = self.loader(good)

    def _between(self, good: int, bad: int) -> int:
        """The next size to try, or ``good`` when it is known well enough."""
        if not good or not self.refine or (bad - good) * 8 <= good:
            return good
        return (good + bad) // 2

    def _fits(self, fit: Fit, size: int) -> tuple[bool, bool]:
        """Whether updates with this batch size fit in memory, and whether the loader has a batch of it."""
        full = False
        try:
            with trial(fit) as step:
                for batch in islice(to_device(self.loader(size), device_of(fit.model)), self.updates):
                    full = full or samples_in(batch, fit.target) >= size
                    step(batch)
        except (OutOfMemory, torch.OutOfMemoryError, MemoryError):
            fits = False
        else:
            fits = True
        gc.collect()  # the failed step's tensors hang on its traceback
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        return fits, full
