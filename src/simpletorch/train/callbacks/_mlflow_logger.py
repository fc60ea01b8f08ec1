"""A training in MLflow."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from simpletorch.errors import BackendError
from simpletorch.train.callbacks._scalar_logger import ScalarLogger, plain, without

if TYPE_CHECKING:
    from simpletorch.train._fit import Fit


_REFUSED: Final = re.compile(r"[^/\w.\- :]")  # as mlflow.utils.validation has it


def _name(name: str) -> str:
    """A name that MLflow takes; it would end a training at the first epoch that measures ``f1@macro``."""
    return _REFUSED.sub("_", name)


class MLflowLogger(ScalarLogger):
    """Write a training to a run of MLflow, under the names that callbacks take.

    After an update it logs ``batch_loss``, ``learning_rate`` and the values of callbacks (``gradient_norm``). After
    each epoch and evaluation it logs the measures that `EarlyStopping` and `Checkpoint` can watch (``loss``,
    ``validation accuracy``), by the number of updates. Characters that MLflow's names can't have are ``_``
    (``top-5 (%)`` is ``top-5 ___``). MLflow's active run (a process has at most one) is left alone.

    A resumed training goes on in its run; updates that are made again are there twice, under the same step.

    Args:
        experiment: its name; it is made if there is none.
        uri: where to: a server, or a file such as ``"sqlite:///mlflow.db"``. None uses MLflow's own setting.
        config: the settings to note with the run as its parameters.
        every: only updates whose number is a multiple of this; reading the loss waits for a GPU.
        tags: words to find the run by, ``{"mlflow.runName": "first"}``.

    Raises:
        ValueError: ``every`` is less than 1.
        BackendError: while training: mlflow is not installed, the place can't be written to, or the run that a resumed
            training belongs to is gone.

    Source: https://mlflow.org/docs/latest/api_reference/python_api/mlflow.client.html

    Examples:
        >>> from simpletorch import optim, nn, losses, train
        >>> model = nn.Linear(8, 3)
        >>> logger = train.MLflowLogger("digits", every=50)
        >>> trainer = train.Trainer(
        ...     loss=losses.smoothed_cross_entropy(0.1), optimizer=optim.AdamW(model.parameters()), callbacks=[logger]
        ... )
        >>> trainer.callbacks == [logger]
        True
    """

    def __init__(
        self,
        experiment: str = "Default",
        *,
        uri: str | None = None,
        config: Mapping[str, Any] | None = None,
        every: int = 10,
        tags: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(every)
        self.experiment = experiment
        self.uri = uri
        self.config = plain(config or {})
        self.tags = dict(tags or {})
        self._id: str | None = None
        self._client: Any = None
        self._metric: Any = None

    def open(self, fit: Fit) -> None:
        """Begin the run, or go on in it."""
        try:
            mlflow: Any = import_module("mlflow")  # here because it costs a second; by name, or mypy would read it too
            entities: Any = import_module("mlflow.entities")
        except ImportError as error:
            raise without("MLflowLogger", "mlflow", "pip install mlflow", error) from error
        try:
            self._client, self._metric = mlflow.MlflowClient(tracking_uri=self.uri), entities.Metric
            if fit.step and self._id is not None:
                self._client.update_run(self._id, status="RUNNING")
                return
            self._id = self._client.create_run(self._experiment_id(), tags=self.tags).info.run_id
            self._client.log_batch(self._id, params=[entities.Param(_name(n), str(v)) for n, v in self.config.items()])
        except mlflow.exceptions.MlflowException as error:
            raise BackendError(f"MLflow did not begin a run of {self.experiment!r}: {error}") from error

    def _experiment_id(self) -> str:
        found = self._client.get_experiment_by_name(self.experiment)
        made = self._client.create_experiment(self.experiment) if found is None else found.experiment_id
        return str(made)

    def write(self, scalars: dict[str, float], fit: Fit) -> None:
        """Write numbers by the number of updates."""
        now = time.time_ns() // 1_000_000
        self._client.log_batch(self._id, [self._metric(_name(name), v, now, fit.step) for name, v in scalars.items()])

    def close(self, error: BaseException | None) -> None:
        """End the run, as one that failed if it did."""
        status = "FINISHED" if error is None else "KILLED" if isinstance(error, KeyboardInterrupt) else "FAILED"
        self._client.set_terminated(self._id, status)
        self._client = None

    def state_dict(self) -> dict[str, Any]:
        """Which run it is."""
        return {"id": self._id}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on in that run."""
        self._id = state["id"]
