"""Runtimes of artefacts: tensors in, tensors out."""

from __future__ import annotations

import functools
import io
import re
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import torch

from simpletorch._distribution import installing
from simpletorch.errors import BackendError, CheckpointError
from simpletorch.export._capture import quiet
from simpletorch.export._signature import leaves

__all__ = ["Runner", "onnx_runner", "read_runner", "run_program"]

Runner: TypeAlias = Callable[[Sequence[torch.Tensor]], list[torch.Tensor]]


def read_runner(kind: str, path: Path) -> Runner:
    """The runtime for the artefact of a file, which was verified by checksum or which the caller trusts.

    Raises:
        CheckpointError: it isn't a file of this kind, or is damaged.
        BackendError: its runtime isn't installed.
    """
    try:
        with quiet():
            return _READERS[kind](path)
    except (BackendError, CheckpointError):
        raise
    except Exception as error:  # what a reader raises for a damaged file is of any kind
        raise CheckpointError(
            f"{path} is damaged, or no {_NAMES[kind]}: {type(error).__name__}", operation="export.load"
        ) from error


def run_program(program: torch.export.ExportedProgram) -> Runner:
    """The runtime of an exported program."""
    module = program.module()

    def run(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        with torch.no_grad():
            return leaves(module(*tensors))

    return run


def _read_program(path: Path) -> Runner:
    return run_program(torch.export.load(io.BytesIO(path.read_bytes())))


def _read_torchscript(path: Path) -> Runner:
    # not by the path: torch reads a file of its own accord once more when it fails
    module = torch.jit.load(io.BytesIO(path.read_bytes()), map_location="cpu")

    def run(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        with torch.no_grad():
            return leaves(module(*tensors))

    return run


def _read_aot(path: Path) -> Runner:
    inductor: Any = import_module("torch._inductor")  # the package's face, as torch's pages on AOTInductor call it
    model = inductor.aoti_load_package(str(path))

    def run(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        with torch.no_grad():
            return leaves(model(*(t.contiguous() for t in tensors)))

    return run


def _read_onnx(path: Path) -> Runner:
    return onnx_runner(path.read_bytes(), str(path))


def onnx_runner(content: bytes, what: str, *, reference: bool = False) -> Runner:
    """The runtime of an ONNX model: onnxruntime if it is installed, else ``onnx.reference``.

    Raises:
        BackendError: neither is installed, or the model has an operator that they don't know.
        CheckpointError: it is no ONNX model.
    """
    runtime = None if reference else _module("onnxruntime")
    if runtime is None:
        return _reference_runner(content, what)
    options = runtime.SessionOptions()
    options.log_severity_level = 4  # what fails is raised, and need not be printed as well
    try:
        session = runtime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its errors have no common base
        raise _no_session(error, what) from error
    names = [given.name for given in session.get_inputs()]

    def run(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        feeds = {name: _array(tensor) for name, tensor in zip(names, tensors, strict=False)}
        try:
            return [torch.from_numpy(np.array(out)) for out in session.run(None, feeds)]
        except Exception as error:  # as above
            raise BackendError(f"onnxruntime: {_line(error)}", operation=what) from error

    return run


def _reference_runner(content: bytes, what: str) -> Runner:
    onnx = _module("onnx")
    if onnx is None:
        raise BackendError(
            "neither onnxruntime nor onnx is installed, and one of them runs ONNX models",
            operation=what,
            hint=installing("export"),
        )
    reference: Any = import_module("onnx.reference")
    try:
        model = onnx.load_model_from_string(content)
        evaluator = reference.ReferenceEvaluator(model)
    except Exception as error:
        raise _no_session(error, what) from error

    def run(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        feeds = {name: _array(tensor) for name, tensor in zip(evaluator.input_names, tensors, strict=False)}
        try:
            return [torch.from_numpy(np.array(out)) for out in evaluator.run(None, feeds)]
        except Exception as error:
            raise BackendError(f"onnx.reference: {_line(error)}", operation=what) from error

    return run


def _no_session(error: Exception, what: str) -> Exception:
    """The error for a model that isn't accepted: damaged, or of operators that aren't there."""
    if type(error).__name__ in ("NotImplemented", "NotImplementedError", "RuntimeException"):
        return BackendError(f"{what} can't be run: {_line(error)}", operation="export.load")
    return CheckpointError(f"{what} is damaged, or no ONNX model: {_line(error)}", operation="export.load")


_NODE: Final = re.compile(
    r"while running (?P<kind>\S+) node\. Name:'(?P<name>[^']*)' Status Message: "
    r"(?:\S+:\d+ )?(?:.* was false\. )?(?P<message>\S.*)"  # where that is in onnxruntime's own sources
)


def _line(error: Exception) -> str:
    """A tool's error in one line: for onnxruntime, the node that fails and the reason."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    node = _NODE.search(lines[0])
    return (lines[0] if node is None else f"{node['kind']} ({node['name']}): {node['message']}")[:200]


def _array(tensor: torch.Tensor) -> Any:
    tensor = tensor.detach().cpu().contiguous()
    if tensor.dtype == torch.bfloat16:
        raise BackendError(
            "NumPy has no bfloat16, so an ONNX model can't be given one", hint="export the model in float32"
        )
    return tensor.numpy()


@functools.cache
def _module(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        return None


_READERS: Final[dict[str, Callable[[Path], Runner]]] = {
    "program": _read_program,
    "onnx": _read_onnx,
    "aot": _read_aot,
    "torchscript": _read_torchscript,
}
_NAMES: Final = {
    "program": "program of torch.export",
    "onnx": "ONNX model",
    "aot": "package of AOTInductor",
    "torchscript": "TorchScript archive",
}
