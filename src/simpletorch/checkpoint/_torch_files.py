"""Files of ``torch.save``."""

from __future__ import annotations

import pickle
import re
import warnings
import zipfile
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
import torch

from simpletorch._atomic import StrPath, opened, replacing
from simpletorch.checkpoint._checkpoint import Saved, read, save
from simpletorch.errors import CheckpointError

_PARTS: Final = {
    "model_state_dict": "model",
    "state_dict": "model",
    "optimizer_state_dict": "optimizer",
    "scheduler_state_dict": "scheduler",
    "lr_scheduler": "scheduler",
    "optimizer_states": "optimizers",  # Lightning's lists
    "lr_schedulers": "schedulers",
}
"""What parts are called elsewhere."""


def read_torch(path: StrPath) -> Any:
    """The contents of a file of ``torch.save``, on the CPU, read by torch's ``weights_only`` reader: no code is run.

    Raises:
        CheckpointError: there is no such file, it is damaged, or it holds more than plain data and tensors (a pickle
            that would run code, for instance).
    """
    path = Path(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about old layouts that are still read
            with opened(path) as file:
                _refuse_compressed(path, file)
                return torch.load(file, map_location="cpu", weights_only=True)
    except (CheckpointError, MemoryError):
        raise
    except Exception as error:  # a damaged pickle can make torch's reader raise anything
        if "Weights only load failed" in str(error) and "nsupported" in str(error):
            raise CheckpointError(
                f"{path} is refused: it is a pickle that holds more than tensors and plain data, and reading it could "
                "run any code",
                hint="ask its author to save state_dict()s; never load a file of unknown origin with pickle",
            ) from error
        raise CheckpointError(f"{path} is damaged, or no file of torch.save: {type(error).__name__}") from error


def _refuse_compressed(path: Path, file: BinaryIO) -> None:
    """torch.save compresses nothing: gigabytes may come of a small file that is compressed."""
    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as packed:
            if any(member.file_size != member.compress_size for member in packed.infolist()):
                raise CheckpointError(f"{path} is refused: it is compressed, as torch.save never does it")
    file.seek(0)


def from_torch(path: StrPath, target: StrPath, /) -> Saved:
    """Convert a file of ``torch.save`` to a checkpoint at ``target``, without running code from it.

    A bare state dict becomes the part ``model``. In a dict of states, the usual names (``model_state_dict``, …) become
    ours, and every other entry is a part of its own name.

    Args:
        path: the file that ``torch.save`` wrote.
        target: the checkpoint to write.

    Returns:
        The contents of the new checkpoint.

    Raises:
        CheckpointError: as for `read_torch`, or ``target`` can't be written.

    Examples:
        >>> import torch
        >>> from simpletorch import checkpoint, nn
        >>> torch.save(nn.Linear(3, 2).state_dict(), "old.pt")
        >>> checkpoint.from_torch("old.pt", "new.safetensors").path
        PosixPath('new.safetensors')
    """
    content = read_torch(path)
    if not isinstance(content, Mapping) or not content or not all(isinstance(name, str) for name in content):
        raise CheckpointError(f"{path} holds a {type(content).__name__}, not a dict of states by name")
    if all(isinstance(value, torch.Tensor) for value in content.values()):
        content = {"model": content}
    parts = {_PARTS.get(name, name): value for name, value in content.items()}
    if len(parts) < len(content):
        raise CheckpointError(f"{path} has one part under two names: {', '.join(sorted(content))}")
    save(target, rng=False, **parts)
    return read(target)


def to_torch(path: StrPath, target: StrPath, /) -> Path:
    """Convert the checkpoint ``path`` to a file for ``torch.load(target, weights_only=True)``: a dict of its parts.

    NumPy arrays and numbers become tensors and Python numbers, which that reader insists on.

    Args:
        path: the checkpoint to read.
        target: the file to write.

    Returns:
        The path of the file.

    Raises:
        CheckpointError: ``path`` can't be read, or ``target`` can't be written.

    Examples:
        >>> import torch
        >>> from simpletorch import checkpoint, nn
        >>> _ = checkpoint.save("run.safetensors", model=nn.Linear(3, 2))
        >>> path = checkpoint.to_torch("run.safetensors", "run.pt")
        >>> torch.load(path, weights_only=True)["model"]["bias"].shape
        torch.Size([2])
    """
    target = Path(target)
    parts = _for_torch(read(path).parts)
    with replacing(target) as file:
        torch.save(parts, file)
        file.flush()
        try:
            # tried out before the file takes its name: what is refused leaves no file behind
            torch.load(file.name, weights_only=True, mmap=True)
        except pickle.UnpicklingError as error:
            raise CheckpointError(
                f"{path} has data that torch's weights_only reader refuses: {_unsupported(error)}",
                hint="convert it by hand (simpletorch.checkpoint.read gives it), or keep it out of the checkpoint",
            ) from error
    return target


def _unsupported(error: pickle.UnpicklingError) -> str:
    found = re.search(r"GLOBAL (\S+)", str(error))
    return found[1] if found else "something that is neither a tensor nor plain data"


def _for_torch(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value)
    if isinstance(value, np.generic):
        return value.item()
    if type(value) is dict:
        return {key: _for_torch(item) for key, item in value.items()}
    if type(value) is OrderedDict:
        result = OrderedDict((key, _for_torch(item)) for key, item in value.items())
        vars(result).update(vars(value))
        return result
    if type(value) in (list, tuple):
        return type(value)(_for_torch(item) for item in value)
    return value
