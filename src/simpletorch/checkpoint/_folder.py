"""The checkpoints of a run, in one folder: ``step-000000100.safetensors`` and so on.

Those of divided models are folders, ``step-000000100``.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Final

from simpletorch._atomic import StrPath, remove_leftovers
from simpletorch.checkpoint._format import verify
from simpletorch.checkpoint._sharded import is_folder, remove, remove_strays, verify_folder
from simpletorch.errors import CheckpointError

_NAME: Final = re.compile(r"step-(\d+)(?:\.safetensors)?")


def name_of(step: int, *, divided: bool = False) -> str:
    """The name of the checkpoint after ``step`` updates, or if it is ``divided``, of its folder."""
    return f"step-{step:09d}{'' if divided else '.safetensors'}"


def best_in(folder: Path, *, divided: bool = False) -> Path:
    """Where the best checkpoint is."""
    return folder / ("best" if divided else "best.safetensors")


def step_of(path: Path) -> int:
    """After how many updates the checkpoint ``path`` was saved, by its name."""
    match = _NAME.fullmatch(path.name)
    if match is None:
        raise ValueError(f"{path.name} is not named step-… or step-….safetensors")
    return int(match[1])


def checkpoints_in(folder: StrPath, /) -> list[Path]:
    """The checkpoints of ``folder``, in the order of their steps; [] if there is no such folder.

    Args:
        folder: the folder of a run, which holds entries such as ``step-000000100.safetensors``.

    Returns:
        Paths, oldest step first.

    Examples:
        >>> from simpletorch import checkpoint, nn
        >>> _ = checkpoint.save("runs/step-000000100.safetensors", model=nn.Linear(3, 2))
        >>> checkpoint.checkpoints_in("runs")
        [PosixPath('runs/step-000000100.safetensors')]
    """
    found = [
        (int(match[1]), path)
        for path in Path(folder).glob("step-*")
        if (match := _NAME.fullmatch(path.name)) and (path.suffix or is_folder(path))
    ]
    # by number: names of ten digits sort before those of nine
    return [path for _, path in sorted(found)]


def remove_half_written(folder: Path) -> None:
    """Delete incomplete sharded checkpoints; no writer may be active."""
    for path in folder.glob("step-*"):
        if _NAME.fullmatch(path.name) and path.is_dir() and not is_folder(path):
            remove(path)
        else:
            remove_strays(path)
    remove_strays(best_in(folder, divided=True))
    # a link to a part that never got its name keeps the part on the disk
    remove_leftovers(best_in(folder, divided=True))


def latest(folder: StrPath, /) -> Path | None:
    """The newest checkpoint of ``folder`` that is undamaged, None if there is none; warns of the others.

    Args:
        folder: the folder of a run.

    Returns:
        A path, or None.

    Examples:
        >>> from simpletorch import checkpoint, nn
        >>> _ = checkpoint.save("runs/step-000000100.safetensors", model=nn.Linear(3, 2))
        >>> checkpoint.latest("runs")
        PosixPath('runs/step-000000100.safetensors')
    """
    for path in reversed(checkpoints_in(folder)):
        try:
            verify_folder(path) if is_folder(path) else verify(path)
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
        verify_folder(path) if is_folder(path) else verify(path)
    except CheckpointError:
        return False
    return True
