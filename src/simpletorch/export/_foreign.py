"""Files that were written elsewhere: ONNX models by their own value infos, other formats only if they are trusted."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any, Final

import torch

from simpletorch._distribution import installing
from simpletorch.errors import BackendError, CheckpointError
from simpletorch.export._artifact import Exported
from simpletorch.export._runners import onnx_runner, read_runner
from simpletorch.export._signature import Group, Node, Signature, Symbol, TensorSpec
from simpletorch.shapes import UNKNOWN, Dim, DimSyntaxError, parse_dim

__all__ = ["load_foreign"]


def load_foreign(path: Path, trust: bool) -> Exported[..., Any]:
    """A file that has no manifest.

    Raises:
        CheckpointError: it is damaged, of no known format, or of one that can run code, and not trusted.
        BackendError: it can't be run here.
    """
    kind = _kind(path)
    if kind == "onnx":
        return _load_onnx(path)
    if not trust:
        raise CheckpointError(
            f"there is no manifest {path.name}.json beside {path}, and reading a file of its format ({kind}) can run "
            "code",
            operation="export.load",
            hint="copy the manifest along with the file; or load(path, trust=True), if you trust its author",
        )
    if kind == "unknown":
        raise CheckpointError(f"{path} is no program, ONNX model, AOT package or TorchScript", operation="export.load")
    return Exported(kind, None, read_runner(kind, path), None, path)


def _kind(path: Path) -> str:
    """The format, by what is in the file; nothing of it is read but names."""
    try:
        if not zipfile.is_zipfile(path):
            with open(path, "rb") as file:
                return "onnx" if path.suffix == ".onnx" or file.read(1) == b"\x08" else "unknown"
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError, EOFError) as error:
        raise CheckpointError(f"{path} is damaged: {type(error).__name__}: {error}", operation="export.load") from error
    if any("/aotinductor/" in name for name in names):
        return "aot"
    if any("/models/" in name for name in names):
        return "program"
    return "torchscript" if any("/code/" in name for name in names) else "unknown"


# -- ONNX -----------------------------------------------------------------------------------------------------------


def _load_onnx(path: Path) -> Exported[..., Any]:
    try:
        onnx: Any = import_module("onnx")
    except ImportError as error:
        raise BackendError("onnx isn't installed", operation="export.load", hint=installing("export")) from error
    content = path.read_bytes()
    try:
        model = onnx.load_model_from_string(content)
        whole = onnx.load_model(path) if _has_outside_data(model, path) else model
        onnx.checker.check_model(whole)
        signature = _signature(onnx, model.graph)
    except (BackendError, CheckpointError):
        raise
    except Exception as error:  # protocol buffers, the checker and NumPy have errors of their own
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise CheckpointError(
            f"{path} is damaged, or no ONNX model: {lines[0][:200]}", operation="export.load"
        ) from error
    if whole is not model:
        content = whole.SerializeToString()
    return Exported("onnx", signature, onnx_runner(content, str(path)), None, path)


def _has_outside_data(model: Any, path: Path) -> bool:
    """Whether weights lie in files of their own.

    Raises:
        CheckpointError: in files outside of the model's folder.
    """
    found = False
    for tensor in model.graph.initializer:
        for entry in tensor.external_data:
            if entry.key == "location":
                found = True
                place = PurePosixPath(entry.value.replace("\\", "/"))
                if place.is_absolute() or ".." in place.parts or ":" in entry.value:
                    raise CheckpointError(
                        f"{path} reads weights from {entry.value!r}, outside of its folder", operation="export.load"
                    )
    return found


def _signature(onnx: Any, graph: Any) -> Signature:
    """Names, dtypes and sizes as the file has them."""
    weights = {tensor.name for tensor in graph.initializer}
    inputs = [_spec(onnx, info) for info in graph.input if info.name not in weights]
    outputs = [_spec(onnx, info) for info in graph.output]
    names = dict.fromkeys(name for spec in inputs for name in spec.symbols())
    node: Node = outputs[0] if len(outputs) == 1 else Group("tuple", (), tuple(outputs))
    return Signature(tuple((spec.name, spec) for spec in inputs), node, tuple(Symbol(name, 0) for name in names))


def _spec(onnx: Any, info: Any) -> TensorSpec:
    if not info.type.HasField("tensor_type"):
        kind = info.type.WhichOneof("value") or "value without a type"
        raise BackendError(f"{info.name} is a {kind}, and only tensors can be passed", operation="export.load")
    tensor = info.type.tensor_type
    return TensorSpec(info.name, _dtype(onnx, tensor.elem_type), tuple(map(_size, _dims(tensor))))


def _dims(tensor: Any) -> Sequence[Any]:
    if not tensor.HasField("shape"):
        raise BackendError(
            "an input or output has no shape in the file, so nothing can be checked", operation="export.load"
        )
    found: Sequence[Any] = tensor.shape.dim
    return found


def _size(dim: Any) -> Dim:
    if dim.HasField("dim_value"):
        return int(dim.dim_value)
    try:
        return parse_dim(dim.dim_param) if dim.dim_param else UNKNOWN
    except DimSyntaxError:  # any text is a name there
        return UNKNOWN


_NUMPY: Final = {"bool": torch.bool}


def _dtype(onnx: Any, number: int) -> torch.dtype:
    name = str(onnx.helper.tensor_dtype_to_np_dtype(number))
    dtype = _NUMPY.get(name) or getattr(torch, name, None)
    if not isinstance(dtype, torch.dtype):
        raise BackendError(f"torch has no dtype for ONNX's {name}", operation="export.load")
    return dtype
