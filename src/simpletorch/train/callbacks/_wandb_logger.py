"""A training in Weights & Biases."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from simpletorch._distribution import installing
from simpletorch.errors import BackendError
from simpletorch.train.callbacks._scalar_logger import ScalarLogger, plain, without

if TYPE_CHECKING:
    from simpletorch.train._fit import Fit


class WandbLogger(ScalarLogger):
    """Write a training to a run of Weights & Biases, under the names that callbacks take.

    After an update it logs ``batch_loss``, ``learning_rate`` and the values of callbacks (``gradient_norm``). After
    each epoch and evaluation it logs the measures that `EarlyStopping` and `Checkpoint` can watch (``loss``,
    ``validation accuracy``). All are shown over ``step``, the number of updates.

    ``WANDB_MODE=offline`` writes to the folder ``wandb`` alone, from where ``wandb sync`` takes it. A resumed training
    goes on in its run; updates that are made again have the same ``step``.

    Args:
        project: which project the run belongs to.
        config: the settings to note with the run; values that aren't plain data (a path, a dtype) are noted as text.
        every: only updates whose number is a multiple of this; reading the loss waits for a GPU.
        options: for `wandb.init`, such as ``name=``, ``tags=`` and ``dir=``.

    Raises:
        ValueError: ``every`` is less than 1.
        BackendError: while training: wandb isn't installed or logged in, or the server can't be reached.

    Source: https://docs.wandb.ai/models/ref/python/functions/init

    Examples:
        >>> from simpletorch import optim, nn, losses, train
        >>> model = nn.Linear(8, 3)
        >>> logger = train.WandbLogger("digits", every=50)
        >>> trainer = train.Trainer(
        ...     loss=losses.smoothed_cross_entropy(0.1), optimizer=optim.AdamW(model.parameters()), callbacks=[logger]
        ... )
        >>> trainer.callbacks == [logger]
        True
    """

    def __init__(
        self, project: str | None = None, *, config: Mapping[str, Any] | None = None, every: int = 10, **options: Any
    ) -> None:
        super().__init__(every)
        self.project = project
        self.config = plain(config or {})
        self.options = options
        self._id: str | None = None
        self._run: Any = None

    def open(self, fit: Fit) -> None:
        """Begin the run, or go on in it."""
        try:
            wandb: Any = import_module("wandb")  # here because it costs a second; by name, or mypy would read it too
        except ImportError as error:
            raise without("WandbLogger", "wandb", installing("wandb"), error) from error
        same: dict[str, Any] = {"id": self._id, "resume": "allow"} if fit.step and self._id is not None else {}
        try:
            self._run = wandb.init(**{"project": self.project, "config": self.config, **same, **self.options})
        except wandb.errors.Error as error:
            raise BackendError(
                f"Weights & Biases did not begin a run: {error}; with WANDB_MODE=offline it needs no server"
            ) from error
        self._id = self._run.id
        self._run.define_metric("*", step_metric="step")

    def write(self, scalars: dict[str, float], fit: Fit) -> None:
        """Write numbers over the number of updates."""
        # a step of wandb's own could not be written twice, as updates are that are made again after a resume
        self._run.log({"step": fit.step, **scalars})

    def close(self, error: BaseException | None) -> None:
        """End the run, as one that failed if it did."""
        self._run.finish(exit_code=0 if error is None else 1)
        self._run = None

    def state_dict(self) -> dict[str, Any]:
        """Which run it is."""
        return {"id": self._id}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on in that run."""
        self._id = state["id"]
