"""A training in Aim."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from simpletorch.train.callbacks._scalar_logger import ScalarLogger, plain, without

if TYPE_CHECKING:
    from simpletorch.train._fit import Fit


class AimLogger(ScalarLogger):
    """Write a training to a run of Aim, which ``aim up`` shows, under the names that callbacks take.

    After an update it logs ``batch_loss``, ``learning_rate`` and the values of callbacks (``gradient_norm``). After
    each epoch and evaluation it logs the measures that `EarlyStopping` and `Checkpoint` can watch (``loss``,
    ``validation accuracy``), by the number of updates. A resumed training goes on in its run.

    Args:
        repo: the folder that has the folder ``.aim``, which is made there; or a server, ``"aim://host:port"``.
        experiment: the name of the run's experiment.
        config: the settings to note with the run; values that aren't plain data (a path, a dtype) are noted as text.
        every: only updates whose number is a multiple of this; reading the loss waits for a GPU.

    Raises:
        ValueError: ``every`` is less than 1.
        BackendError: while training: aim is not installed.

    Source: https://aimstack.readthedocs.io/en/latest/refs/sdk.html

    Examples:
        >>> from simpletorch import optim, nn, losses, train
        >>> model = nn.Linear(8, 3)
        >>> logger = train.AimLogger(experiment="digits", every=50)
        >>> trainer = train.Trainer(
        ...     loss=losses.smoothed_cross_entropy(0.1), optimizer=optim.AdamW(model.parameters()), callbacks=[logger]
        ... )
        >>> trainer.callbacks == [logger]
        True
    """

    def __init__(
        self,
        repo: str | os.PathLike[str] = ".",
        *,
        experiment: str | None = None,
        config: Mapping[str, Any] | None = None,
        every: int = 10,
    ) -> None:
        super().__init__(every)
        self.repo = os.fspath(repo)
        self.experiment = experiment
        self.config = plain(config or {})
        self._hash: str | None = None
        self._run: Any = None

    def open(self, fit: Fit) -> None:
        """Begin the run, or go on in it."""
        try:
            aim: Any = import_module("aim")  # here because it costs a second; by name, or mypy would read it too
        except ImportError as error:
            raise without("AimLogger", "aim", "pip install aim", error) from error
        same = self._hash if fit.step else None
        self._run = aim.Run(run_hash=same, repo=self.repo, experiment=self.experiment, system_tracking_interval=None)
        self._hash = self._run.hash
        self._run["config"], self._run["error"] = self.config, None

    def write(self, scalars: dict[str, float], fit: Fit) -> None:
        """Write numbers by the number of updates."""
        for name, value in scalars.items():
            self._run.track(value, name=name, step=fit.step, epoch=fit.epoch)

    def close(self, error: BaseException | None) -> None:
        """End the run."""
        if error is not None:
            self._run["error"] = type(error).__name__
        self._run.close()
        self._run = None

    def state_dict(self) -> dict[str, Any]:
        """Which run it is."""
        return {"hash": self._hash}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on in that run."""
        self._hash = state["hash"]
