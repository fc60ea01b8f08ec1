"""The checkpoints of a run, in one folder: ``step-000000100.safetensors`` and so on."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Final

from simpletorch._atomic import StrPath
from simpletorch.checkpoint._format import verify
from simpletorch.errors import CheckpointError

_NAME: Final = re.compile(r"step-(\d+)\.safetensors")
BEST: Final = "best.safetensors"


def name_of(step: int) -> str:
    """The file name of the checkpoint after ``step`` updates."""
    return f"step-{step:09d}.safetensors"


def step_of(path: Path) -> int:
    """After how many updates the checkpoint ``path`` was saved, by its name."""
    match = _NAME.fullmatch(path.name)
    if match is None:
        raise ValueError(f"{path.name} is not named step-….safetensors")
    return int(match[1])


def checkpoints_in(folder: StrPath, /) -> list[Path]:
    """The checkpoints of ``folder``, in the order of their steps; [] if there is no such folder."""
    found = [(int(match[1]), path) for path in Path(folder).glob("step-*") if (match := _NAME.fullmatch(path.name))]
    # by number: names of ten digits sort before those of nine
    return [path for _, path in sorted(found)]


def latest(folder: StrPath, /) -> Path | None:
    """The newest checkpoint of ``folder`` that is undamaged, None if there is none; warns of the others."""
    for path in reversed(checkpoints_in(folder)):
        try:
            verify(path)
        except CheckpointError as error:
            warnings.warn(f"{error.reason}: passed over", stacklevel=2)
        else:
            return path
    return None


def previous_good(path: Path) -> Path | None:
    """The newest undamaged checkpoint before ``path`` in its folder."""
    others = [other for other in checkpoints_in(path.parent) if other.name < path.name]
    return next((other for other in reversed(others) if is_undamaged(other)), None)


def is_undamaged(path: Path) -> bool:
    """Whether ``path`` is a checkpoint whose checksum is right."""
    try:
        verify(path)
    except CheckpointError:
        return False
    return True
