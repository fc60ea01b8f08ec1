"""Where the time goes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch.profiler import ProfilerActivity, profile, schedule

from simpletorch.errors import TorchError, as_also
from simpletorch.train._callback import Callback

if TYPE_CHECKING:
    from simpletorch.train._fit import Fit


class Profiler(Callback):
    """Record a few updates: a table of operations, and a trace for chrome://tracing or https://ui.perfetto.dev.

    After ``wait`` updates, and ``warmup`` more in which it runs without recording, ``active`` updates are recorded.
    Then ``trace.json`` and ``operations.txt`` are written, and the training goes on at full speed.

    Args:
        folder: where to write; made if it is missing.
        wait: the number of updates before the profiler starts.
        warmup: the number of updates that run with the profiler but aren't recorded.
        active: the number of updates that are recorded, 1 or more.
        memory: record the allocations of each operation, too.
        shapes: record the operands' shapes too.
        rows: of the table.

    Raises:
        ValueError: ``active`` is less than 1 or another number negative.

    Examples:
        >>> from pathlib import Path
        >>> from simpletorch import data, nn, optim, train
        >>> model = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
        >>> optimizer = optim.AdamW(model.parameters(), lr=0.01)
        >>> loader = data.DataLoader(data.Digits(), batch_size=100)
        >>> settings = {"loss": nn.functional.cross_entropy, "optimizer": optimizer, "progress": False}
        >>> trainer = train.Trainer(**settings, callbacks=[train.Profiler("profile", active=2)])
        >>> history = trainer.fit(model, loader, epochs=1)
        >>> len(list(Path("profile").iterdir())) > 0
        True

    Source: https://docs.pytorch.org/docs/stable/profiler.html
    """

    table: str = ""
    """Operations by their own time, once they are recorded."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        wait: int = 1,
        warmup: int = 1,
        active: int = 3,
        memory: bool = False,
        shapes: bool = False,
        rows: int = 30,
    ) -> None:
        if active < 1 or wait < 0 or warmup < 0:
            raise as_also(TorchError, ValueError)(
                f"Profiler got wait={wait}, warmup={warmup}, active={active}: record 1 or more updates after 0 or more"
            )
        self.folder = Path(folder)
        self.rows = rows
        self._settings = {"wait": wait, "warmup": warmup, "active": active}
        self.memory = memory
        self.shapes = shapes
        self._running: profile | None = None

    def on_fit_start(self, fit: Fit) -> None:
        """Start the profiler, which waits."""
        activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if torch.cuda.is_available() else [])]
        self._running = profile(
            activities=activities,
            schedule=schedule(**self._settings, repeat=1),
            on_trace_ready=self._write,
            profile_memory=self.memory,
            record_shapes=self.shapes,
        )
        self._running.start()

    def on_step_end(self, fit: Fit) -> None:
        """Tell the profiler that an update is over."""
        if self._running is not None:
            self._running.step()
            if self.table:
                self._stop()

    def on_fit_end(self, fit: Fit) -> None:
        """Write the trace so far, if the training was too short."""
        self._stop()

    def on_exception(self, fit: Fit, error: BaseException) -> None:
        """Stop the profiler."""
        self._stop()

    def _stop(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            running.stop()

    def _write(self, recorded: profile) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        recorded.export_chrome_trace(str(self.folder / "trace.json"))
        order = "self_cuda_time_total" if torch.cuda.is_available() else "self_cpu_time_total"
        self.table = recorded.key_averages().table(sort_by=order, row_limit=self.rows)
        (self.folder / "operations.txt").write_text(self.table, encoding="utf-8")
