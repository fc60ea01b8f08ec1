"""The common base of loggers of numbers."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import torch

from simpletorch.errors import BackendError, TorchError, as_also
from simpletorch.train._callback import Callback
from simpletorch.train._measures import VALIDATION

if TYPE_CHECKING:
    from simpletorch.train._fit import Fit

BATCH_LOSS: Final = "batch_loss"


def without(logger: str, package: str, how: str, error: ImportError) -> BackendError:
    """The error for a logger's package that is missing or incompatible."""
    absent = isinstance(error, ModuleNotFoundError) and error.name == package
    why = "is not installed" if absent else f"can't be imported ({error})"
    return BackendError(f"{logger} needs the package {package}, which {why}: {how}")


def plain(value: Any) -> Any:
    """Settings as every service takes them: numbers, texts, lists and dicts, and of anything else its text."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, enum.Enum):
        return plain(value.value)
    if isinstance(value, int | float):  # classes of other libraries: NumPy's float64 is one
        return float(value) if isinstance(value, float) else int(value)
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item") and not isinstance(value, torch.Tensor):
        return plain(value.item())  # NumPy's other numbers
    return str(value)


class ScalarLogger(Callback):
    """Numbers by the number of updates, under the names that callbacks take: a base for loggers.

    After an update it logs ``batch_loss``, ``learning_rate`` and the values of callbacks (``gradient_norm``). After
    each epoch and evaluation it logs the measures that `EarlyStopping` and `Checkpoint` can watch (``loss``,
    ``validation accuracy``).

    Args:
        every: only updates whose number is a multiple of this; reading the loss waits for a GPU.

    Raises:
        ValueError: ``every`` is less than 1.
    """

    main_only = True

    def __init__(self, every: int) -> None:
        if every < 1:
            name = type(self).__name__
            raise as_also(TorchError, ValueError)(f"{name} got every={every}: log every 1 or more updates")
        self.every = every
        self._is_open = False

    def open(self, fit: Fit) -> None:
        """Begin the log, or go on in it.

        Args:
            fit: the state of the training.
        """
        raise NotImplementedError

    def write(self, scalars: dict[str, float], fit: Fit) -> None:
        """Write numbers that belong to ``fit.step``.

        Args:
            scalars: the numbers by name.
            fit: the state of the training; ``fit.step`` is the number of updates.
        """
        raise NotImplementedError

    def close(self, error: BaseException | None) -> None:
        """End the log; ``error`` is the exception that ended the training, if any.

        Args:
            error: the exception that ended the training; None if it ended as planned.
        """
        raise NotImplementedError

    def on_fit_start(self, fit: Fit) -> None:
        """Begin the log."""
        self.open(fit)
        self._is_open = True

    def on_step_end(self, fit: Fit) -> None:
        """Write the update's numbers."""
        if fit.step % self.every == 0:
            scalars = {"learning_rate": fit.learning_rate}
            if fit.loss is not None:
                scalars[BATCH_LOSS] = float(fit.loss)
            scalars.update({name: float(value) for name, value in fit.logged.items()})
            self.write(scalars, fit)

    def on_evaluated(self, fit: Fit) -> None:
        """Write the measurements."""
        self.write({name: value for name, value in fit.metrics.items() if name.startswith(VALIDATION)}, fit)

    def on_epoch_end(self, fit: Fit) -> None:
        """Write the epoch's measures."""
        own = {name: value for name, value in fit.metrics.items() if not name.startswith(VALIDATION)}
        self.write({"epoch": fit.epoch, **own}, fit)

    def on_fit_end(self, fit: Fit) -> None:
        """End the log."""
        self._end(None)

    def on_exception(self, fit: Fit, error: BaseException) -> None:
        """End the log as one of a training that failed."""
        self._end(error)

    def _end(self, error: BaseException | None) -> None:
        if self._is_open:
            self._is_open = False
            self.close(error)
