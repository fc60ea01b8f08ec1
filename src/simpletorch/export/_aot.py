"""Packages of AOTInductor: the model as a shared library."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from simpletorch._atomic import StrPath
from simpletorch.export._artifact import Exported, Model
from simpletorch.export._call import evaluating
from simpletorch.export._capture import looping
from simpletorch.export._export import as_module, written
from simpletorch.export._prepare import Prepared, prepare
from simpletorch.export._reading import Dynamic

__all__ = ["aot"]

P = ParamSpec("P")
R = TypeVar("R")


def aot(
    model: Model[P, R],
    path: StrPath,
    *,
    inputs: Any = None,
    dynamic: Dynamic | None = None,
    tolerance: float | None = None,
) -> Exported[P, R]:
    """The model compiled to a package of AOTInductor (``net.pt2``) for this kind of machine, compared with the model.

    It needs a C++ compiler, takes some ten seconds, and runs without Python elsewhere. The arguments are those of
    `program`. Torch compiles most reliably if no size inside is 0 or 1: a convolutional network whose last maps may be
    of one pixel wants ``dynamic={"H": (64, None), "W": (64, None)}``.

    Args:
        model: the module to export.
        path: the package to write, such as ``"net.pt2"``.
        inputs, dynamic, tolerance: as for `program`.

    Returns:
        The package, to be called as the model is, with a report of the comparison.

    Raises:
        TypeMismatch: (a `TypeError` too) an input isn't described.
        BackendError: the model can't be exported or compiled, or the package gives something else.
        CheckpointError: the file can't be written.

    Source: https://docs.pytorch.org/docs/stable/torch.compiler_aot_inductor.html
    """
    module = as_module(model)
    with evaluating(module):
        prepared = prepare(module, inputs, dynamic, tolerance, compiled=True)
        return written(Path(path), "aot", prepared, lambda file: _write(prepared, file))


def _write(prepared: Prepared, file: Path) -> None:
    inductor: Any = import_module("torch._inductor")  # the package's face, as torch's pages on AOTInductor call it
    # torch's own way would write the steps of an LSTM out for the length of the example, and give wrong numbers
    with looping():
        inductor.aoti_compile_and_package(prepared.program, package_path=str(file))
