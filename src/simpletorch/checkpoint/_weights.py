"""Weights alone, from wherever they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open

from simpletorch._atomic import StrPath, opened
from simpletorch.checkpoint._checkpoint import read
from simpletorch.checkpoint._differences import Report, compare
from simpletorch.checkpoint._format import is_of_torch
from simpletorch.checkpoint._names import unwrapped
from simpletorch.checkpoint._sharded import is_folder
from simpletorch.checkpoint._torch_files import read_torch
from simpletorch.errors import CheckpointError


def load_weights(
    path: StrPath,
    model: torch.nn.Module,
    *,
    part: str = "model",
    partial: bool = False,
    rename: Callable[[str], str] | None = None,
) -> Report:
    """Load a model's weights from a checkpoint, a plain safetensors file or a file of ``torch.save``.

    Prefixes that `torch.compile`, `DistributedDataParallel` and averages of weights give to all names are dropped.
    Nothing is executed, and nothing is changed when an error is raised.

    Args:
        path: the file to read.
        model: the module to load into, in place.
        part: which part of a checkpoint, such as ``"ema"``.
        partial: load the entries that fit by name and shape, and leave the rest of the model as it is; the report lists
            both. Without it every difference is an error.
        rename: from a name in the file to the model's, for instance ``lambda name: name.replace("backbone.", "")``.

    Returns:
        The loaded and the other tensors; it prints as a readable list.

    Raises:
        TypeError: ``model`` isn't a module.
        CheckpointError: the file can't be read, it differs from the model, or not one tensor fits.

    Examples:
        >>> import torch
        >>> from simpletorch import checkpoint, nn
        >>> torch.save(nn.Linear(3, 2).state_dict(), "weights.pt")
        >>> report = checkpoint.load_weights("weights.pt", nn.Linear(3, 2))
        >>> report.loaded
        ('weight', 'bias')
    """
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"load_weights(path, model) got a {type(model).__name__} for the model: it must be a Module")
    path = Path(path)
    saved = _weights_in(path, part)
    # the counter of torch's AveragedModel (torch/optim/swa_utils.py), which is no weight
    if "n_averaged" in saved and "n_averaged" not in unwrapped(model).state_dict():
        saved = {name: value for name, value in saved.items() if name != "n_averaged"}  # an average of such a model
    report, fitting = compare(model, saved, rename)
    lines = report.differences()
    if (lines and not partial) or not report.loaded:
        count = "one difference" if len(lines) == 1 else f"{len(lines)} differences"
        raise CheckpointError(
            "\n    ".join([f"{path} has the weights of another model, {count}:", *lines]),
            hint="partial=True loads what fits; rename=… maps names" if report.loaded else "rename=… maps names",
        )
    unwrapped(model).load_state_dict(fitting, strict=False)
    return report


def _weights_in(path: Path, part: str) -> Mapping[str, Any]:
    kind = _kind_of(path)
    if kind == "torch":
        content = read_torch(path)
        for name in (part, f"{part}_state_dict", "state_dict"):
            if isinstance(content, Mapping) and isinstance(content.get(name), Mapping):
                content = content[name]
        found = content
    elif kind == "safetensors":
        try:
            with safe_open(path, framework="pt") as file:
                found = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # no mapping
        except (SafetensorError, OSError) as error:
            raise CheckpointError(f"{path} is damaged, or no safetensors file: {error}") from error
    else:
        parts = read(path).parts
        if part not in parts:
            raise CheckpointError(f"{path} has no {part}; it has {', '.join(sorted(parts))}")
        found = parts[part]
    if not isinstance(found, Mapping) or not all(isinstance(name, str) for name in found):
        raise CheckpointError(f"{path} holds a {type(found).__name__} where a model's state, a dict by name, is due")
    return found


def _kind_of(path: Path) -> str:
    """``"checkpoint"``, ``"safetensors"`` or ``"torch"``, by how the file begins."""
    if is_folder(path):
        return "checkpoint"
    with opened(path) as file:
        start = file.read(8)
        # a checkpoint's metadata are first in its header, so the beginning is enough
        header = file.read(min(int.from_bytes(start, "little"), 1 << 16))
    if is_of_torch(start):
        return "torch"
    return "checkpoint" if b'"simpletorch"' in header else "safetensors"
