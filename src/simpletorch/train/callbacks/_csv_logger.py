"""A training as a table."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import torch

from simpletorch.errors import TorchError, as_also
from simpletorch.train._callback import Callback
from simpletorch.train._measures import VALIDATION

if TYPE_CHECKING:
    from simpletorch.train._fit import Fit

_BUFFERED: Final = 256  # rows that wait to be written together
_NOTHING: Final[dict[str, Any]] = {}


class CSVLogger(Callback):
    """Write a CSV file with a row for each update, evaluation and epoch.

    Its columns are ``kind`` (``step``, ``evaluation`` or ``epoch``), ``epoch``, ``step``, ``loss`` (of the batch, or
    the mean of the epoch), ``learning_rate``, and one for each metric and each value that a callback logs. Missing
    values of a row are left empty. Rows are written in groups and numbers read from a GPU then, so that training does
    not wait.

    An earlier file is replaced; a resumed training goes on in it, from where it was saved.

    Args:
        path: where to write; missing folders are made.
        every: a row only for updates whose number is a multiple of this.

    Raises:
        ValueError: ``every`` is less than 1.
        OSError: while training: the file can't be written.

    Examples:
        >>> from pathlib import Path
        >>> from simpletorch import data, nn, optim, train
        >>> model = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
        >>> optimizer = optim.AdamW(model.parameters(), lr=0.01)
        >>> loader = data.DataLoader(data.Digits(), batch_size=100)
        >>> settings = {"loss": nn.functional.cross_entropy, "optimizer": optimizer, "progress": False}
        >>> trainer = train.Trainer(**settings, callbacks=[train.CSVLogger("run.csv")])
        >>> history = trainer.fit(model, loader, epochs=1)
        >>> Path("run.csv").read_text().splitlines()[0]
        'kind,epoch,step,loss,learning_rate'
    """

    main_only = True

    def __init__(self, path: str | os.PathLike[str], *, every: int = 1) -> None:
        if every < 1:
            raise as_also(TorchError, ValueError)(f"CSVLogger got every={every}: log every 1 or more updates")
        self.path = Path(path)
        self.every = every
        self._columns = ["kind", "epoch", "step", "loss", "learning_rate"]
        self._steps: list[tuple[int, int, torch.Tensor | float | None, float, dict[str, torch.Tensor | float]]] = []
        self._resume_at: int | None = None

    def on_fit_start(self, fit: Fit) -> None:
        """Begin the file, or cut it to its length when the state was saved."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._steps.clear()
        # what was written after the state was saved is trained again, and would be there twice
        if self._resume_at is not None and self.path.exists() and self.path.stat().st_size >= self._resume_at:
            with self.path.open("r+b") as file:
                file.truncate(self._resume_at)
        else:
            self._write([], mode="w")
        self._resume_at = None

    def on_step_end(self, fit: Fit) -> None:
        """Remember the update's row."""
        if fit.step % self.every == 0:
            loss = fit.loss
            number = loss.item() if loss is not None and loss.is_cpu else loss
            logged = dict(fit.logged) if fit.logged else _NOTHING
            self._steps.append((fit.epoch, fit.step, number, fit.learning_rate, logged))
            if len(self._steps) >= _BUFFERED:
                self.flush()

    def on_evaluated(self, fit: Fit) -> None:
        """Write the row of an evaluation in the middle of an epoch; the epoch's row has the one at its end."""
        if fit.phase == "training":
            self.flush()
            measured = {name: value for name, value in fit.metrics.items() if name.startswith(VALIDATION)}
            self._add([{"kind": "evaluation", "epoch": fit.epoch, "step": fit.step, **measured}])

    def on_epoch_end(self, fit: Fit) -> None:
        """Write the epoch's row."""
        self.flush()
        rate = fit.history[-1].learning_rate
        self._add([{"kind": "epoch", "epoch": fit.epoch, "step": fit.step, "learning_rate": rate, **fit.metrics}])

    def on_fit_end(self, fit: Fit) -> None:
        """Write the remaining rows."""
        self.flush()

    def on_exception(self, fit: Fit, error: BaseException) -> None:
        """Write the remaining rows."""
        self.flush()

    def flush(self) -> None:
        """Write the rows that wait."""
        if not self._steps:
            return
        waiting, self._steps = self._steps, []
        numbers = _read([value for row in waiting for value in (row[2], *row[4].values())])
        rows: list[dict[str, Any]] = []
        for epoch, step, _, rate, logged in waiting:
            row = {"kind": "step", "epoch": epoch, "step": step, "loss": next(numbers), "learning_rate": rate}
            for name in logged:
                row[name] = next(numbers)
            rows.append(row)
        self._add(rows)

    def _add(self, rows: Sequence[dict[str, Any]]) -> None:
        known = set(self._columns)
        new = [name for row in rows if not row.keys() <= known for name in row if name not in known]
        if new:
            self._columns += dict.fromkeys(new)
            with self.path.open(newline="", encoding="utf-8") as file:
                earlier: list[dict[str, Any]] = list(csv.DictReader(file))
            self._write([*earlier, *rows], mode="w")
        else:
            self._write(rows, mode="a")

    def _write(self, rows: Sequence[dict[str, Any]], mode: str) -> None:
        # a new header means a new file, which takes the place of the old one when it is complete
        path = self.path if mode == "a" else self.path.with_name(self.path.name + ".new")
        with path.open(mode, newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            if mode == "w":
                writer.writerow(self._columns)
            writer.writerows([[row.get(column) for column in self._columns] for row in rows])
        if mode == "w":
            path.replace(self.path)

    def state_dict(self) -> dict[str, Any]:
        """How much of the file belongs to the training so far."""
        self.flush()
        return {"bytes": self.path.stat().st_size if self.path.exists() else 0, "columns": list(self._columns)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the state that `state_dict` returned, in the file as it was then."""
        self._resume_at = state["bytes"]
        self._columns = list(state["columns"])


def _read(values: list[torch.Tensor | float | None]) -> Iterator[float | None]:
    """The numbers in order; those on a device are read in one go."""
    tensors = [value for value in values if isinstance(value, torch.Tensor)]
    if len({(tensor.dtype, tensor.device) for tensor in tensors}) == 1:
        read = iter(torch.stack(tensors).tolist())
    else:
        read = iter([float(tensor) for tensor in tensors])
    return iter([next(read) if isinstance(value, torch.Tensor) else value for value in values])
