"""Where a training goes on."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

from simpletorch.checkpoint import latest
from simpletorch.checkpoint._checkpoint import read_unfilled
from simpletorch.checkpoint._sharded import filled
from simpletorch.checkpoint._stateful import differences
from simpletorch.errors import CheckpointError, TorchError, as_also
from simpletorch.train._callback import Callback
from simpletorch.train._fit import Fit
from simpletorch.train._own_step import Updates
from simpletorch.train._processes import Processes, processes_of
from simpletorch.train._resize import resized
from simpletorch.train.callbacks._checkpoint import Checkpoint

Resume: TypeAlias = Literal["auto"] | str | os.PathLike[str] | Mapping[str, Any] | None
"""``"auto"``: from the newest undamaged checkpoint of the `Checkpoint` callback's folder, or from the start if there is
none. A path: from that file. A mapping: from what `Fit.state_dict` gave. None: from the start."""


def resume_from(resume: Resume, fit: Fit) -> None:
    """Put ``fit`` where ``resume`` says.

    Raises:
        CheckpointError: the file can't be read, is damaged, or is of another training: all differences are listed.
        ValueError: ``"auto"`` without a `Checkpoint` among the callbacks.
    """
    if resume is None:
        return
    if isinstance(resume, Mapping):
        fit.load_state_dict(resume)
        return
    processes = Processes()
    # the first process's answer for all: of a shared folder each may see another state
    if resume == "auto":
        path = processes.first(_newest(fit.callbacks) if processes.rank == 0 else None)
    else:
        path = Path(resume)
    if path is None:
        return
    parts = read_unfilled(path).parts
    if missing := sorted({"model", "optimizer", "step", "callbacks"} - parts.keys()):
        raise CheckpointError(
            f"{path} is no checkpoint of a Trainer: it has no {', '.join(missing)}",
            hint="simpletorch.checkpoint.load(path, model=model, …) restores its parts",
        )
    own = processes.own(parts)
    if own is None:
        try:
            own = resized(parts, processes.rank, processes.size, fit)
        except CheckpointError as error:
            raise CheckpointError(
                f"{path} was saved by {processes_of(parts)} processes, and {processes.size} can't go on with it: "
                f"{error.reason.partition(': ')[2]}",
                hint="start as many, or begin anew from its weights: simpletorch.checkpoint.load_weights(path, model)",
            ) from error
    # of several optimizers, one by one: of all together nothing could be said
    optimizer = fit.optimizer.parts if isinstance(fit.optimizer, Updates) else fit.optimizer
    pairs = {"model": fit.model, "optimizer": optimizer, "ema": fit.ema}
    small = {"scheduler": fit.scheduler, "scaler": fit.scaler}
    lines = [
        line
        for name, part in (pairs | small).items()
        if part is not None and parts.get(name) is not None
        for line in differences(part, parts[name], name)
    ]
    if lines:
        count = "one difference" if len(lines) == 1 else f"{len(lines)} differences"
        raise CheckpointError(
            "\n    ".join([f"{path} is of another training, {count}:", *lines]),
            hint="simpletorch.checkpoint.load_weights(path, model, partial=True) loads what fits",
        )
    try:
        fit.load_state_dict(filled(own, pairs, lent=[]))
    except TorchError as error:
        raise as_also(CheckpointError, type(error))(f"can't resume from {path}: {error.reason}") from error
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
        # its checksum was right, so another program wrote it, or somebody by hand
        raise CheckpointError(f"can't resume from {path}: {type(error).__name__}: {error}") from error


def _newest(callbacks: Sequence[Callback]) -> Path | None:
    for callback in callbacks:
        if isinstance(callback, Checkpoint):
            return latest(callback.folder)
    raise as_also(TorchError, ValueError)(
        "resume='auto' goes on from the folder of a Checkpoint callback, but there is none: "
        "Trainer(…, callbacks=[Checkpoint('run')])"
    )
