"""Artefacts read again: checksum first, then the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, ParamSpec, TypeVar, overload

from simpletorch._atomic import StrPath
from simpletorch.errors import BackendError, CheckpointError
from simpletorch.export._artifact import Exported, Model
from simpletorch.export._export import as_module
from simpletorch.export._foreign import load_foreign
from simpletorch.export._like import refuse_unlike
from simpletorch.export._manifest import Manifest, read_manifest
from simpletorch.export._report import Comparison, Report
from simpletorch.export._runners import read_runner

__all__ = ["load"]


P = ParamSpec("P")
R = TypeVar("R")


@overload
def load(path: StrPath, *, like: Model[P, R], trust: bool = False) -> Exported[P, R]: ...


@overload
def load(path: StrPath, *, like: None = None, trust: bool = False) -> Exported[..., Any]: ...


def load(path: StrPath, *, like: Any = None, trust: bool = False) -> Exported[..., Any]:
    """An exported model as a function that checks its arguments.

    It reads the files of `program`, `onnx`, `aot` and `torchscript`, after comparing the checksum in the manifest
    (``net.onnx.json`` beside ``net.onnx``). A file without a manifest is read if it is an ONNX model, whose own names,
    dtypes and dims are its signature. Any other format can run code when it is read, so that has to be asked for.

    Args:
        path: the file to read.
        like: a model that is called in the same way: for type checkers the result has the signature of its ``forward``,
            and the file's signature is compared with that. Its parameters aren't looked at, so one that is made under
            ``torch.device("meta")`` does.
        trust: read a file without a manifest, whatever its origin.

    Returns:
        The model, to be called with tensors as the original.

    Raises:
        CheckpointError: the file or its manifest is damaged, they don't belong together, there is no manifest, or the
            file takes something else than ``like``.
        BackendError: its runtime isn't installed, or it has unknown operators.
        TypeMismatch: (a `TypeError` too) ``like`` isn't a module.

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
        >>> _ = export.program(Net(), "net.pt2")
        >>> export.load("net.pt2")(torch.zeros(7, 8)).shape
        torch.Size([7, 3])
    """
    model = None if like is None else as_module(like)
    path = Path(path)
    exported = _of_one_version(path, trust)
    if model is not None and exported.signature is not None:
        refuse_unlike(exported.signature, model, path.name)
    return exported


def _of_one_version(path: Path, trust: bool) -> Exported[..., Any]:
    """An artefact whose file was the same when its checksum was compared and when it was read."""
    for left in reversed(range(_TRIES)):
        before = _stamp(path)
        try:
            found = _read(path, trust)
        except (CheckpointError, BackendError):
            if before == _stamp(path) or not left:
                raise
        else:
            if before == _stamp(path):
                return found
    raise CheckpointError(f"{path} is replaced again and again while it is read", operation="export.load")


_TRIES: Final = 20


def _stamp(path: Path) -> tuple[int, ...]:
    """A stamp that differs between versions of a file."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return ()
    return found.st_ino, found.st_mtime_ns, found.st_size


def _read(path: Path, trust: bool) -> Exported[..., Any]:
    manifest = read_manifest(path)
    if manifest is None:
        return load_foreign(path, trust)
    report = _report(manifest, path)
    return Exported(manifest.kind, manifest.signature, read_runner(manifest.kind, path), report, path)


def _report(manifest: Manifest, path: Path) -> Report | None:
    """The report that was written with the artefact."""
    found = manifest.report
    try:
        comparisons = tuple(
            Comparison(dict(c["sizes"]), float(c["difference"]), c.get("rounding")) for c in found["comparisons"]
        )
        return Report(
            manifest.kind,
            path,
            str(manifest.signature),
            manifest.signature.symbols,
            dict(found["fixed"]),
            comparisons,
            path.stat().st_size,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"the manifest of {path} has no report: {error}", operation="export.load") from error
