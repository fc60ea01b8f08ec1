"""The formats: each is made in a folder of its own, verified there, and put in place with its manifest."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import torch
from torch import nn

from simpletorch._atomic import StrPath, remove_leftovers, workshop
from simpletorch.errors import CheckpointError, TypeMismatch, as_also
from simpletorch.export._artifact import Exported, Model
from simpletorch.export._call import evaluating
from simpletorch.export._capture import quiet
from simpletorch.export._failure import explained_failure
from simpletorch.export._manifest import publish
from simpletorch.export._prepare import Prepared, prepare
from simpletorch.export._reading import Dynamic
from simpletorch.export._runners import read_runner, run_program

__all__ = ["program"]

P = ParamSpec("P")
R = TypeVar("R")


def program(
    model: Model[P, R],
    path: StrPath | None = None,
    *,
    inputs: Any = None,
    dynamic: Dynamic | None = None,
    tolerance: float | None = None,
) -> Exported[P, R]:
    """The model as a program of `torch.export`, verified, and written to ``path`` if there is one.

    ``forward``'s annotation describes the program's inputs: in ``Float32[torch.Tensor, "batch 784"]`` (or
    ``Tensor[Float32, B, 784]``) the batch is open. Conditions of the model on its sizes (``assert h % 8 == 0``) become
    part of the program. The program is run at three sizes or more of each open dim and compared with the model, in eval
    mode.

    Args:
        model: the module to export.
        path: the file to write, such as ``"net.pt2"``; None writes none.
        inputs: descriptions of inputs without annotation: a tensor, a text such as ``"Int64[B, T]"``, or a tuple or
            dict (by parameter) of these. Inputs of other sizes are drawn from the values of a tensor that is given.
        dynamic: by the name of a size its number, or its least and most (``{"batch": (1, 64)}``); by the name of a
            parameter the sizes of its tensor (``{"x": "batch 784"}``).
        tolerance: the greatest difference that is allowed, of the largest number of a result or of 1. None is 1e-5
            for float32, plus the model's own difference from float64, up to nine times that.

    Returns:
        The program, to be called as the model is, with a report of the comparison.

    Raises:
        TypeMismatch: (a `TypeError` too) an input isn't described.
        BackendError: the model can't be exported, with the line and the way out; or the program differs from it.
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
        >>> exported = export.program(Net(), "net.pt2")
        >>> exported(torch.zeros(5, 8)).shape
        torch.Size([5, 3])

    Source: https://docs.pytorch.org/docs/stable/export.html
    """
    module = as_module(model)
    with evaluating(module):
        prepared = prepare(module, inputs, dynamic, tolerance)
        made = prepared.program
        assert made is not None, "prepared with a program"
        report = prepared.report("program", prepared.comparisons)
        exported: Exported[P, R] = Exported("program", prepared.signature, run_program(made), report)
        if path is not None:
            exported = written(Path(path), "program", prepared, lambda file: _save(made, file))
        exported.program = made
    return exported


def _save(made: torch.export.ExportedProgram, file: Path) -> None:
    torch.export.save(made, file)


def as_module(model: Any) -> nn.Module:
    """The model, which has to be a module.

    Raises:
        TypeMismatch: (a `TypeError` too) it is none.
    """
    if isinstance(model, nn.Module):
        return model
    raise as_also(TypeMismatch, TypeError)(
        "a module", type(model).__name__, f"a module can be exported, and this is a {type(model).__name__}"
    )


@contextmanager
def _workshop(path: Path) -> Iterator[Path]:
    """A folder beside ``path`` in which an artefact is made; leftovers of killed exports are removed.

    Raises:
        CheckpointError: the folder can't be written to.
    """
    with ExitStack() as after:
        try:
            folder = after.enter_context(workshop(path))
            remove_leftovers(path.parent)
        except OSError as error:
            raise as_also(CheckpointError, type(error))(f"can't write {path}: {error.strerror or error}") from error
        yield folder


def written(
    path: Path, kind: str, prepared: Prepared, write: Callable[[Path], None], names: Sequence[str] | None = None
) -> Exported[Any, Any]:
    """An artefact that is made, read back and compared with the model before it is put in place.

    Its input tensors have the parameters' names, or ``names``.

    Raises:
        BackendError: it can't be made, or differs from the model.
        CheckpointError: there is no place for it.
    """
    with _workshop(path) as folder:
        # .pt2, as AOTInductor asks for it
        made = folder / f"made{'.pt2' if kind in ('program', 'aot') else path.suffix}"
        try:
            with quiet():
                write(made)
        except CheckpointError:
            raise
        except Exception as error:  # a tool's own errors, of any kind
            raise explained_failure(error, kind, prepared.module, prepared.program) from error
        comparisons = prepared.verified(read_runner(kind, made), kind)
        report = dataclasses.replace(prepared.report(kind, comparisons), path=path, bytes=made.stat().st_size)
        names = names or [spec.name for spec in prepared.signature.tensors()]
        publish(made, path, kind, prepared.signature, tuple(names), report)
    return Exported(kind, prepared.signature, read_runner(kind, path), report, path)
