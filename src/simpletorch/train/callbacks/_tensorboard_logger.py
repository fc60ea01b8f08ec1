"""A training in TensorBoard."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from simpletorch._distribution import installing
from simpletorch.errors import BackendError, TorchError, as_also
from simpletorch.train._callback import Callback
from simpletorch.train._measures import VALIDATION

if TYPE_CHECKING:
    from simpletorch.train._fit import Fit


class TensorBoardLogger(Callback):
    """Write the scalars that ``tensorboard --logdir FOLDER`` shows, by the number of updates.

    They are ``train/loss`` (of the batch), ``train/learning_rate`` and the values of callbacks
    (``train/gradient_norm``), and after each epoch or evaluation ``epoch/<measure>`` and ``validation/<metric>``.

    Args:
        folder: the folder for event files; each training makes a new one, and a resumed one hides the events after its
            state was saved.
        every: only updates whose number is a multiple of this; reading the loss waits for a GPU.

    Raises:
        ValueError: ``every`` is less than 1.
        BackendError: while training: tensorboard is not installed.

    Examples:
        >>> from pathlib import Path
        >>> from simpletorch import data, nn, optim, train
        >>> model = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
        >>> optimizer = optim.AdamW(model.parameters(), lr=0.01)
        >>> loader = data.DataLoader(data.Digits(), batch_size=100)
        >>> settings = {"loss": nn.functional.cross_entropy, "optimizer": optimizer, "progress": False}
        >>> trainer = train.Trainer(**settings, callbacks=[train.TensorBoardLogger("runs")])
        >>> history = trainer.fit(model, loader, epochs=1)
        >>> len(list(Path("runs").iterdir()))
        1
    """

    main_only = True

    def __init__(self, folder: str | os.PathLike[str], *, every: int = 10) -> None:
        if every < 1:
            raise as_also(TorchError, ValueError)(f"TensorBoardLogger got every={every}: log every 1 or more updates")
        self.folder = folder
        self.every = every
        self._writer: Any = None

    def on_fit_start(self, fit: Fit) -> None:
        """Open the event file."""
        try:
            from torch.utils.tensorboard.writer import SummaryWriter  # here because it costs a second to import
        except ImportError as error:
            raise BackendError(
                f"TensorBoardLogger needs the package tensorboard, which is not installed: {installing('tensorboard')}"
            ) from error
        resumed: dict[str, Any] = {"purge_step": fit.step + 1} if fit.step else {}
        self._writer = SummaryWriter(os.fspath(self.folder), **resumed)

    def on_step_end(self, fit: Fit) -> None:
        """Write the update's scalars."""
        if fit.step % self.every == 0:
            self._scalar("train/learning_rate", fit.learning_rate, fit)
            if fit.loss is not None:
                self._scalar("train/loss", float(fit.loss), fit)
            for name, value in fit.logged.items():
                self._scalar(f"train/{name}", float(value), fit)

    def on_evaluated(self, fit: Fit) -> None:
        """Write the measurements."""
        for name, value in fit.metrics.items():
            if name.startswith(VALIDATION):
                self._scalar(f"validation/{name.removeprefix(VALIDATION)}", value, fit)

    def on_epoch_end(self, fit: Fit) -> None:
        """Write the epoch's measures."""
        for name, value in fit.metrics.items():
            if not name.startswith(VALIDATION):
                self._scalar(f"epoch/{name}", value, fit)
        self._writer.flush()

    def on_fit_end(self, fit: Fit) -> None:
        """Close the event file."""
        self._close()

    def on_exception(self, fit: Fit, error: BaseException) -> None:
        """Close the event file."""
        self._close()

    def _scalar(self, name: str, value: float, fit: Fit) -> None:
        self._writer.add_scalar(name, value, fit.step)

    def _close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None
