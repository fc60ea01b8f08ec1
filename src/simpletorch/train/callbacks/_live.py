"""A training as one bar and a curve that move."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from simpletorch._drawing import curves
from simpletorch.errors import TorchError, as_also
from simpletorch.train._callback import Callback
from simpletorch.train.callbacks._checkpoint import Checkpoint
from simpletorch.train.callbacks._interruption import Interruption

if TYPE_CHECKING:
    from simpletorch.train._fit import Fit

_WIDTH: Final = 30
_MOST_POINTS: Final = 200


class Live(Callback):
    """Show how far a training is: in a notebook one bar and the curve of the loss, which move; elsewhere nothing.

    Ctrl-C (the stop button of a notebook) ends the training after the running update: ``fit`` returns the results so
    far, and the model, the optimizer and the schedule are as that update left them. A second one raises
    ``KeyboardInterrupt`` as ever. If a `Checkpoint` listens to signals, its behaviour comes first: it saves, and
    leaves.

    Args:
        every: seconds between two looks at the loss, which wait for a GPU.

    Raises:
        ValueError: ``every`` is negative.

    Examples:
        >>> from simpletorch import data, nn, optim, train
        >>> model = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
        >>> optimizer = optim.AdamW(model.parameters(), lr=0.01)
        >>> loader = data.DataLoader(data.Digits(), batch_size=100)
        >>> settings = {"loss": nn.functional.cross_entropy, "optimizer": optimizer, "progress": False}
        >>> trainer = train.Trainer(**settings, callbacks=[train.Live()])
        >>> history = trainer.fit(model, loader, epochs=1)
        >>> len(history)
        1
    """

    def __init__(self, *, every: float = 0.5) -> None:
        if every < 0:
            raise as_also(TorchError, ValueError)(f"Live got every={every}: seconds between two looks are 0 or more")
        self.every = every
        self._interruption = Interruption()
        self._listens = False
        self._losses: list[float] = []
        self._spacing = 1  # looks for each point of the curve
        self._looks = 0
        self._next = 0.0
        self._handle: Any = None

    def on_fit_start(self, fit: Fit) -> None:
        """Begin with an empty bar."""
        self._losses, self._spacing, self._looks, self._next = [], 1, 0, 0.0
        self._listens = not any(isinstance(c, Checkpoint) and c._interruption is not None for c in fit.callbacks)
        if self._listens:
            self._interruption.start()
        self._handle = _display(self._view(fit))

    def on_step_end(self, fit: Fit) -> None:
        """Move on if it is time, and stop if the user asks for it."""
        if self._listens and self._interruption.signal is not None:
            fit.stop(f"{self._interruption.signal.name} came")
        if self._handle is not None and time.monotonic() >= self._next:
            self._look(fit)
            self._handle.update(self._view(fit))
            self._next = time.monotonic() + self.every

    def on_epoch_end(self, fit: Fit) -> None:
        """Show the results of the epoch."""
        if self._handle is not None:
            self._handle.update(self._view(fit))

    def on_fit_end(self, fit: Fit) -> None:
        """Show where it ended."""
        self._end(fit)

    def on_exception(self, fit: Fit, error: BaseException) -> None:
        """Show where it ended."""
        self._end(fit)

    def _end(self, fit: Fit) -> None:
        if self._listens:
            self._interruption.stop()
        if self._handle is not None:
            self._handle.update(self._view(fit))
            self._handle = None

    def _look(self, fit: Fit) -> None:
        """Add the loss of the last batch to the curve; every second point is dropped when it is full."""
        if self._looks % self._spacing == 0 and fit.loss is not None:
            self._losses.append(fit.loss.item())
        self._looks += 1
        if len(self._losses) > _MOST_POINTS:
            self._losses = self._losses[::2]
            self._spacing *= 2

    def _view(self, fit: Fit) -> _View:
        said = [str(fit.history[-1])] if fit.history else []
        loss = f", loss {self._losses[-1]:.4f}" if self._losses else ""
        reason = f", stopped: {fit.stop_reason}" if fit.stop_reason else ""
        return _View(_part(fit), f"{fit.step} updates{loss}{reason}", tuple(said), tuple(self._losses))


def _part(fit: Fit) -> float | None:
    """The done share of the training; None if its length is unknown."""
    if fit.steps is not None:
        return min(fit.step / fit.steps, 1.0) if fit.steps else 1.0
    if not fit.epochs:
        return None
    done = len(fit.history)
    length = fit.history[-1].steps if done and fit.phase != "between" else 0
    begun = fit.epoch_steps / length if length else 0.0
    return min((done + begun) / fit.epochs, 1.0)


@dataclass(frozen=True)
class _View:
    """The display at one moment."""

    part: float | None
    state: str
    said: tuple[str, ...]
    losses: tuple[float, ...]

    def __repr__(self) -> str:
        full = 0 if self.part is None else round(self.part * _WIDTH)
        share = "" if self.part is None else f" {self.part:.0%}"
        return "\n".join([f"[{'#' * full}{'.' * (_WIDTH - full)}]{share} {self.state}", *self.said])

    def _repr_html_(self) -> str:
        bar = "" if self.part is None else f'<progress value="{self.part:.4f}" max="1"></progress> {self.part:.0%} '
        said = "".join(f"<div>{escape(line)}</div>" for line in self.said)
        return f'<div style="color:inherit">{bar}{escape(self.state)}{said}{curves({"loss": self.losses})}</div>'


def _display(view: _View) -> Any:
    """Show something under the cell that can be changed; None where there is no notebook."""
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if getattr(shell, "kernel", None) is None:
        return None
    return import_module("IPython.display").display(view, display_id=True)  # mypy shan't read IPython for a trainer
