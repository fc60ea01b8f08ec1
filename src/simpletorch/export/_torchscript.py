"""TorchScript, traced or compiled."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar

import torch

from simpletorch._atomic import StrPath
from simpletorch.export._artifact import Exported, Model
from simpletorch.export._call import evaluating
from simpletorch.export._export import as_module, written
from simpletorch.export._prepare import Prepared, prepare_eagerly
from simpletorch.export._reading import Dynamic
from simpletorch.nn._scriptable import scriptable_tree

__all__ = ["torchscript"]

P = ParamSpec("P")
R = TypeVar("R")


def torchscript(
    model: Model[P, R],
    path: StrPath,
    *,
    inputs: Any = None,
    dynamic: Dynamic | None = None,
    tolerance: float | None = None,
    how: Literal["trace", "script"] = "trace",
) -> Exported[P, R]:
    """The model as a TorchScript archive, compared with the model before it is there.

    A trace records the model's run on one input: decisions by sizes or contents are fixed, which the comparison
    detects. ``how="script"`` compiles its text instead, branches and loops included, as far as TorchScript knows
    Python. Torch calls both deprecated; `program` replaces them. The other arguments are those of `program`.

    Args:
        model: the module to export.
        path: the archive to write, such as ``"net.pt"``.
        inputs, dynamic, tolerance: as for `program`.
        how: ``"trace"`` records one run, ``"script"`` compiles the source.

    Returns:
        The archive, to be called as the model is, with a report of the comparison.

    Raises:
        TypeMismatch: (a `TypeError` too) an input isn't described.
        BackendError: the model can't be traced or compiled, or the archive gives something else.
        CheckpointError: the file can't be written.

    Examples:
        >>> import torch
        >>> from simpletorch import Float32, Tensor, export, nn
        >>> from simpletorch.dims import B
        >>> class Net(nn.Module):
        ...     def __init__(self) -> None:
        ...         super().__init__()
        ...         self.fc = nn.Linear(8, 3)
        ...
        ...     def forward(self, x: Tensor[Float32, B, 8]) -> Tensor[Float32, B, 3]:
        ...         return self.fc(x)
        >>> export.torchscript(Net(), "net.pt")(torch.zeros(7, 8)).shape
        torch.Size([7, 3])

    Source: https://docs.pytorch.org/docs/stable/jit.html
    """
    module = as_module(model)
    with evaluating(module):
        prepared = prepare_eagerly(module, inputs, dynamic, tolerance)
        return written(Path(path), "torchscript", prepared, lambda file: _write(prepared, file, how))


def _write(prepared: Prepared, file: Path, how: str) -> None:
    if how == "script":
        made: Any = torch.jit.script(scriptable_tree(prepared.module))
    else:
        with torch.no_grad():
            made = torch.jit.trace(prepared.module, tuple(prepared.tensors()), check_trace=False)
    torch.jit.save(made, file)
