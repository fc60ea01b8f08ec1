"""Saving a training while it runs."""

from __future__ import annotations

import math
import sys
import warnings
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from simpletorch._atomic import StrPath, remove_leftovers, try_folder
from simpletorch.checkpoint._checkpoint import save_parts
from simpletorch.checkpoint._folder import (
    best_in,
    checkpoints_in,
    is_undamaged,
    name_of,
    remove_half_written,
    step_of,
)
from simpletorch.checkpoint._plain import is_sharded
from simpletorch.checkpoint._sharded import remove
from simpletorch.errors import CheckpointError, TorchError, as_also
from simpletorch.reproducibility import Manifest
from simpletorch.train._callback import Callback
from simpletorch.train._measures import VALIDATION, Mode, better, monitored, sign_of, spelled
from simpletorch.train._processes import Processes
from simpletorch.train.callbacks._interruption import Interruption

if TYPE_CHECKING:
    from simpletorch.train._fit import Fit

INTERRUPTED: Final = 75
"""The exit status of a training that was interrupted and has saved its state: run the same command again.

It is ``EX_TEMPFAIL`` of ``sysexits.h``: "temporary failure; the user is invited to retry".
"""


class Checkpoint(Callback):
    """Save the whole training, so that ``fit(…, resume="auto")`` goes on bit for bit, after a crash too.

    ``folder`` gets ``step-000000100.safetensors`` and so on, named by updates (the newest ``keep`` stay), and
    ``best.safetensors``, the one with the best measure. Each file is there in full or not at all, and has everything
    (`Fit.state_dict`); `simpletorch.checkpoint` reads them.

    On SIGTERM or Ctrl-C the running update is finished and the training saved. The program then ends with exit status
    75 (`INTERRUPTED`) by `SystemExit`. A second signal has its usual effect.

    If several processes train together, the first one writes, with the state of each. All stop after the same update
    when one of them gets a signal. If the model is divided among them (`simpletorch.distributed`), each writes its own
    part, and a folder replaces each file: ``step-000000100`` and ``best``. Another
        number of processes can resume; the guide on distribution says what is exact then.

    It must be the last of the callbacks, so that the state of the others is complete when it is saved.

    Args:
        folder: for this training alone; it is made as needed.
        every_steps: save at each multiple of this number of updates.
        every_epochs: save at each multiple of this number of epochs; None only after the last.
        keep: how many of the newest to keep, at least 1; None keeps all.
        best: keep the best one too. It is looked for after each evaluation, or else each epoch.
        monitor: the name of the measure, as the log has it; by default ``"validation loss"``, or without validation
            batches the training ``"loss"``.
        mode: whether smaller (``"min"``) or larger (``"max"``) is better; None follows the metric
            (``higher_is_better``), and for a loss smaller is better.
        asynchronous: write in the background, from a copy in memory.
        interruptible: finish the update and save on SIGTERM and SIGINT.
        manifest: versions, settings and data of the run, kept as ``manifest.json``; a resumed training warns of
            differences.
        overwrite: start anew in a folder that has checkpoints of an earlier training, which are removed.

    Raises:
        ValueError: a number is out of range.
        CheckpointError: before training: the folder can't be written to, or has checkpoints of another training. While
            training: a file can't be written.

    Examples:
        >>> from simpletorch import nn, optim, seed_everything
        >>> from simpletorch.data import DataLoader, Digits
        >>> from simpletorch.train import Checkpoint, Trainer
        >>> seed_everything(0)
        >>> model = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
        >>> trainer = Trainer(
        ...     loss=nn.functional.cross_entropy,
        ...     optimizer=optim.AdamW(model.parameters()),
        ...     callbacks=[Checkpoint("run", keep=1)],
        ...     progress=False,
        ... )
        >>> loader = DataLoader(Digits(), batch_size=100)
        >>> [epoch.number for epoch in trainer.fit(model, loader, epochs=1, resume="auto")]
        [1]
        >>> [epoch.number for epoch in trainer.fit(model, loader, epochs=2, resume="auto")]
        [1, 2]
    """

    best_value: float
    """The best value so far; infinite before the first."""
    best_step: int
    """After how many updates that was."""
    latest: Path | None
    """The newest file that is complete."""

    def __init__(
        self,
        folder: StrPath,
        *,
        every_steps: int | None = None,
        every_epochs: int | None = 1,
        keep: int | None = 3,
        best: bool = True,
        monitor: str | None = None,
        mode: Mode | None = None,
        asynchronous: bool = False,
        interruptible: bool = True,
        manifest: Manifest | None = None,
        overwrite: bool = False,
    ) -> None:
        for name, number in (("every_steps", every_steps), ("every_epochs", every_epochs), ("keep", keep)):
            if number is not None and number < 1:
                raise as_also(TorchError, ValueError)(f"Checkpoint got {name}={number}: it must be at least 1, or None")
        if mode not in ("min", "max", None):
            raise as_also(TorchError, ValueError)(f"Checkpoint got mode={mode!r}: it must be 'min', 'max' or None")
        self.folder = Path(folder)
        self.every_steps, self.every_epochs, self.keep = every_steps, every_epochs, keep
        self.best, self.mode = best, mode
        self.monitor = None if monitor is None else spelled(monitor)
        self.asynchronous, self.overwrite, self.manifest = asynchronous, overwrite, manifest
        self._sign = sign_of(mode)
        self.best_value, self.best_step = self._sign * math.inf, 0
        self.latest = None
        self._interruption = Interruption() if interruptible else None
        self._pending: Future[Path] | None = None
        self._evaluated = False
        self._processes: Processes | None = None

    # -- when ---------------------------------------------------------------------------------------------------------

    def on_fit_start(self, fit: Fit) -> None:
        """See that the folder can be written to and is this training's own, and listen to signals."""
        if any(not isinstance(other, Checkpoint) for other in fit.callbacks[fit.callbacks.index(self) :]):
            raise TorchError(
                "Checkpoint must be the last of the callbacks: it would save the state of later callbacks "
                "before they have seen the update"
            )
        if self.best:
            self._sign = sign_of(self.mode or better(fit, monitored(fit, self.monitor or None), "Checkpoint"))
            if not self.best_step:
                self.best_value = self._sign * math.inf
        # not in the constructor: the process group must be there, and every process must come by
        self._processes = Processes()
        # before anything is trained, or removed: each process that is going to write
        if self._processes.rank == 0 or self._is_divided(fit):
            try_folder(self.folder)
        if self._processes.rank == 0:
            self._take_folder(fit)
        if self._interruption is not None:
            self._interruption.start()

    def _take_folder(self, fit: Fit) -> None:
        remove_leftovers(self.folder)
        remove_half_written(self.folder)
        # Damaged ones are no hindrance: resume='auto' passes over them, and they are replaced in time.
        later = [path for path in checkpoints_in(self.folder) if step_of(path) > fit.step and is_undamaged(path)]
        if later and not self.overwrite:
            raise CheckpointError(
                f"{self.folder} has checkpoints of an earlier training, up to {later[-1].name}, and this one starts "
                f"{'anew' if fit.step == 0 else f'after {fit.step} updates'}",
                hint="continue with fit(…, resume='auto'), choose another folder, or drop them with overwrite=True",
            )
        best = [best_in(self.folder, divided=divided) for divided in (False, True)]
        for path in [*later, *(best if fit.step == 0 else [])]:
            remove(path)
        if self.manifest is not None:
            self._note(self.manifest, resumed=fit.step > 0)

    def _note(self, manifest: Manifest, *, resumed: bool) -> None:
        path = self.folder / "manifest.json"
        if resumed and path.exists() and (lines := Manifest.load(path).differences(manifest)):
            told = "\n    ".join(["this run differs from the one it goes on with:", *lines])
            warnings.warn(told, stacklevel=2)
        manifest.save(path)

    def on_evaluated(self, fit: Fit) -> None:
        """Remember that there is a new measure."""
        self._evaluated = True

    def on_step_end(self, fit: Fit) -> None:
        """Save if it is time, if it is the best, or if the program is asked to end."""
        stop = self._is_to_stop()
        best = self._evaluated and self._is_best(fit)
        if best or stop or (self.every_steps is not None and fit.step % self.every_steps == 0):
            self.save(fit, best=best)
        if stop:
            self._leave()

    def on_epoch_end(self, fit: Fit) -> None:
        """Save if it is time, if it is the best, if the program is asked to end, or if this is the end."""
        stop = self._is_to_stop()
        best = self._is_best(fit) if self._evaluated or fit.validation is None else False
        if best or stop or fit.is_done or (self.every_epochs is not None and fit.epoch % self.every_epochs == 0):
            self.save(fit, best=best)
        if stop:
            self._leave()

    def on_fit_end(self, fit: Fit) -> None:
        """Wait for running writes."""
        self._end()

    def on_exception(self, fit: Fit, error: BaseException) -> None:
        """Wait for running writes; the state in the middle of a failed update is not saved."""
        try:
            self._end()
        except CheckpointError as late:
            error.add_note(f"besides, a checkpoint could not be written: {late}")

    def _is_to_stop(self) -> bool:
        """Whether one of the processes was told to: they stop after the same update."""
        if self._interruption is None or self._processes is None:
            return False
        return self._processes.any(self._interruption.signal is not None)

    def _leave(self) -> None:
        self.wait()
        if self._processes is not None:
            self._processes.wait()  # torchrun ends all of them when the first is gone
        signal = None if self._interruption is None else self._interruption.signal
        if signal is not None:
            where = f", saved in {self.latest}" if self.latest is not None else ""
            print(
                f"{signal.name}: stopped after a whole update{where}; fit(…, resume='auto') goes on from there",
                file=sys.stderr,
            )
        raise SystemExit(INTERRUPTED)

    def _end(self) -> None:
        if self._interruption is not None:
            self._interruption.stop()
        self.wait()

    # -- what ---------------------------------------------------------------------------------------------------------

    def save(self, fit: Fit, *, best: bool = False) -> None:
        """Save now: at the end of an update or an epoch.

        Args:
            fit: the state of the training.
            best: as the best one too.

        Raises:
            CheckpointError: it can't be written; with ``asynchronous``, the one before couldn't.
        """
        self.wait()
        state = fit.state_dict()
        if self._processes is not None:
            state = self._processes.together(state)
        divided = self._is_divided(fit)
        if self._processes is not None and self._processes.rank != 0 and not divided:
            return
        path = self.folder / name_of(fit.step, divided=divided)
        copies = [best_in(self.folder, divided=divided)] if best else []
        pending = save_parts(path, state, copies, asynchronous=self.asynchronous)
        if isinstance(pending, Path):
            self._written(pending)
        else:
            self._pending = pending

    def _is_divided(self, fit: Fit) -> bool:
        return any(is_sharded(parameter) for parameter in fit.model.parameters())

    def wait(self) -> None:
        """Wait until all background writes are on the disk.

        Raises:
            CheckpointError: it couldn't be written.
        """
        pending, self._pending = self._pending, None
        if pending is not None:
            self._written(pending.result())

    def _written(self, path: Path) -> None:
        """Only now that ``path`` is complete may older ones go."""
        self.latest = path
        if self.keep is not None and (self._processes is None or self._processes.rank == 0):
            older = [other for other in checkpoints_in(self.folder) if step_of(other) < step_of(path)]
            for other in older[: max(len(older) + 1 - self.keep, 0)]:
                remove(other)

    def _is_best(self, fit: Fit) -> bool:
        self._evaluated = False
        if not self.best:
            return False
        name = monitored(fit, self.monitor or None)
        if name not in fit.metrics:
            if self.monitor is not None and not self.monitor.startswith(VALIDATION) and fit.phase != "between":
                return False  # what is measured in training is known at the epoch's end only
            raise TorchError(f"Checkpoint(monitor={name!r}): there is no such measure, only {', '.join(fit.metrics)}")
        value = float(fit.metrics[name])
        if not self._sign * value < self._sign * self.best_value:
            return False
        self.best_value, self.best_step = value, fit.step
        return True

    def state_dict(self) -> dict[str, Any]:
        """The best value so far, and where it was."""
        return {"best_value": self.best_value, "best_step": self.best_step, "evaluated": self._evaluated}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the state that `state_dict` returned."""
        self.best_value, self.best_step = state["best_value"], state["best_step"]
        self._evaluated = state["evaluated"]
