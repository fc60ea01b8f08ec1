"""ONNX models under the program's own names: of inputs, of outputs and of sizes."""

from __future__ import annotations

import io
import logging
import os
import re
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, redirect_stderr, redirect_stdout
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Literal, ParamSpec, TypeVar, overload

import torch
from torch._decomp import decomposition_table

from simpletorch._atomic import StrPath
from simpletorch._distribution import installing
from simpletorch.errors import BackendError
from simpletorch.export._artifact import Exported, Model
from simpletorch.export._call import evaluating
from simpletorch.export._capture import RECURRENT
from simpletorch.export._export import as_module, written
from simpletorch.export._prepare import Prepared, names_of, prepare
from simpletorch.export._reading import Dynamic
from simpletorch.export._signature import Signature, Symbol
from simpletorch.export._torchs_own import Axes, converted, refuse_other
from simpletorch.shapes import Expr

__all__ = ["onnx"]

P = ParamSpec("P")
R = TypeVar("R")

_LARGEST: Final = 2**31 - 1  # a file of protocol buffers


@overload
def onnx(
    model: Model[P, R],
    path: StrPath,
    *,
    inputs: Any = None,
    dynamic: Dynamic | None = None,
    tolerance: float | None = None,
    opset: int | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
) -> Exported[P, R]: ...
@overload
def onnx(
    model: Model[P, R],
    args: torch.Tensor | tuple[Any, ...],
    f: StrPath,
    *,
    kwargs: Mapping[str, Any] | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    opset_version: int | None = None,
    dynamic_axes: Axes | None = None,
    dynamic_shapes: Any = None,
    tolerance: float | None = None,
    verbose: bool | None = None,
    do_constant_folding: bool = True,
    export_params: Literal[True] = True,
    dynamo: Literal[True] = True,
    keep_initializers_as_inputs: Literal[False] = False,
    training: torch.onnx.TrainingMode = ...,
) -> Exported[P, R]: ...
def onnx(  # type: ignore[misc]  # the second place is `path` or `args`; each may be given by name, too
    model: Model[P, R],
    args: Any = None,
    f: StrPath | None = None,
    *,
    path: StrPath | None = None,
    inputs: Any = None,
    dynamic: Dynamic | None = None,
    tolerance: float | None = None,
    opset: int | None = None,
    kwargs: Mapping[str, Any] | None = None,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    opset_version: int | None = None,
    dynamic_axes: Axes | None = None,
    dynamic_shapes: Any = None,
    verbose: bool | None = None,
    do_constant_folding: bool = True,
    **others: Any,
) -> Exported[P, R]:
    """The model as an ONNX file, run by onnxruntime (or ``onnx.reference``) and compared with the model.

    Inputs have the names of ``forward``'s parameters, outputs those that it returns (``return mean, variance``), open
    dims those of the annotation. The arguments are those of `program`. The call may also be that of
    `torch.onnx.export`: ``export.onnx(model, x, "net.onnx", input_names=["images"])``. Without an annotation the sizes
    of ``x`` are the only ones then, but for the dims of ``dynamic_axes``.

    Args:
        model: the module to export.
        f: the file to write, as `torch.onnx.export` calls it.
        path: the file to write, such as ``"net.onnx"``.
        inputs, dynamic, tolerance: as for `program`.
        opset: the version of ONNX's operators; torch's own choice by default. Torch calls it ``opset_version``.
        args: inputs of the model, a tensor or a tuple, with ``kwargs`` by name. ``f`` is the path then.
        kwargs: inputs of the model by name, beside ``args``.
        input_names: the names of the input tensors in the file, in the order of the inputs.
        output_names: the names of the output tensors in the file.
        opset_version: torch's name for ``opset``.
        dynamic_axes: by the name of an input its open dims: ``{"images": {0: "batch"}}``, or ``{"images": [0]}``.
        dynamic_shapes: the same as `torch.export.export` takes it: ``{"x": {0: Dim("batch", max=64)}}``.
        verbose: torch's exporter prints its progress.
        do_constant_folding: torch's exporter takes no notice of it.
        others: ``export_params``, ``dynamo``, ``keep_initializers_as_inputs`` and ``training``, with torch's defaults.

    Returns:
        The file's model, to be called as the model is, with a report of the comparison.

    Raises:
        TypeMismatch: (a `TypeError` too) an input isn't described, or ``forward`` can't be called with ``args``.
        TypeError: there is no path.
        ValueError: a name of ``dynamic_axes`` or ``dynamic_shapes`` is no input, or a dim isn't there.
        BackendError: the model can't be exported, has an operator that ONNX hasn't, or the file gives something else.
        CheckpointError: the file can't be written.

    Source: https://docs.pytorch.org/docs/stable/onnx_export.html

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
        >>> export.onnx(Net(), path="net.onnx")(torch.zeros(5, 8)).shape
        torch.Size([5, 3])
    """
    for package in ("onnx", "onnxscript"):
        try:
            import_module(package)
        except ImportError as error:
            raise BackendError(
                f"{package} isn't installed", operation="export.onnx", hint=installing("export")
            ) from error
    module = as_module(model)
    refuse_other(others)
    target = path if path is not None else args if f is None else f
    if not isinstance(target, str | os.PathLike):
        raise TypeError("export.onnx() misses the path: onnx(model, path), or as torch has it, onnx(model, args, path)")
    if f is not None:
        inputs, dynamic = converted(module, args, kwargs, input_names, output_names, dynamic_axes, dynamic_shapes)
    with evaluating(module):
        prepared = prepare(module, inputs, dynamic, tolerance)
        names = (
            _named([spec.name for spec in prepared.signature.tensors()], input_names),
            _named(names_of(prepared.signature.output), output_names),
        )
        write = partial(_write, prepared, names=names, opset=opset or opset_version, verbose=bool(verbose))
        return written(Path(target), "onnx", prepared, write, names[0])


def _write(
    prepared: Prepared, file: Path, *, names: tuple[list[str], list[str]], opset: int | None, verbose: bool
) -> None:
    assert prepared.program is not None, "prepared with a program"
    recurrent = any(node.target in RECURRENT for node in prepared.program.graph.nodes)
    with nullcontext() if verbose else _silent(), _sized_layers() if recurrent else nullcontext():
        made: Any = torch.onnx.export(
            prepared.program,
            input_names=names[0],
            output_names=names[1] or None,
            opset_version=opset,
            dynamo=True,
            verbose=verbose,
        )
    proto = made.model_proto
    _name_sizes(proto, prepared.signature)
    if proto.ByteSize() > _LARGEST:
        raise BackendError(
            f"the model takes {proto.ByteSize():,} bytes, and one file of ONNX holds {_LARGEST:,}",
            operation="export.onnx",
            hint="export.program and export.aot have no such limit",
        )
    file.write_bytes(proto.SerializeToString())


def _named(own: Sequence[str], asked: Sequence[str] | None) -> list[str]:
    """The names in the file: those that were asked for, then our own."""
    if asked is not None and len(asked) > len(own):
        tensors = f"{len(own)} tensor{'s' if len(own) != 1 else ''}"
        raise ValueError(f"export.onnx: {tensors} for the {len(asked)} names {', '.join(asked)}")
    return [*(asked or ()), *own[len(asked or ()) :]]


def _name_sizes(proto: Any, signature: Signature) -> None:
    """Give the sizes the names of the signature in place of torch's (``s77``)."""
    own: dict[str, str] = {}
    whole: dict[str, str] = {}
    by_name = {s.name: s for s in signature.symbols}
    for spec, info in zip(signature.tensors(), proto.graph.input, strict=False):
        for size, dim in zip(spec.shape, info.type.tensor_type.shape.dim, strict=False):
            if dim.dim_param and isinstance(size, Expr):
                whole[dim.dim_param] = str(size)
                own |= _names(dim.dim_param, str(size), by_name.get(str(size)))
    infos = [*proto.graph.input, *proto.graph.output, *proto.graph.value_info]
    for info in infos:
        for dim in info.type.tensor_type.shape.dim:
            if dim.dim_param:
                text = dim.dim_param
                dim.dim_param = (
                    whole[text] if text in whole else _WORD.sub(lambda word: own.get(word[0], word[0]), text)
                )


_WORD: Final = re.compile(r"[A-Za-z_]\w*")


def _names(theirs: str, ours: str, symbol: Symbol | None) -> dict[str, str]:
    """The meaning of torch's name in a size."""
    words = set(_WORD.findall(theirs))
    if len(words) != 1:
        return {}
    (word,) = words
    if theirs == word:
        return {word: ours if ours.isidentifier() else f"({ours})"}
    if symbol is not None and symbol.step > 1:  # 8*s is T: s is T//8
        return {
            word: f"({ours}//{symbol.step})" if not symbol.offset else f"(({ours} - {symbol.offset})//{symbol.step})"
        }
    inside = _WORD.findall(ours)
    return {word: inside[0]} if len(set(inside)) == 1 else {}


@contextmanager
def _sized_layers() -> Iterator[None]:
    """LSTM and GRU by the sizes of their results alone, while torch finds out the sizes of a program once more.

    ONNX has operators for both, so their contents don't matter. Torch's own way goes through the steps, which makes
    a number of the time; its loop (`looping`) is compiled, and what is remembered of that breaks the next AOTInductor
    package (torch 2.13).
    """
    with ExitStack() as after:
        for operator in RECURRENT:
            # torch.export._patches exchanges the same two, and torch has no other way to either
            _exchanged(after, operator.py_kernels, torch._C.DispatchKey.CompositeImplicitAutograd)
            _exchanged(after, decomposition_table, operator)
            operator._dispatch_cache.clear()
            after.callback(operator._dispatch_cache.clear)
        yield


def _exchanged(after: ExitStack, table: MutableMapping[Any, Any], key: object) -> None:
    """Put `_layer_sizes` into a table of torch's for as long as ``after`` lasts."""
    after.callback(table.update, {key: table[key]} if key in table else {})
    after.callback(table.pop, key)
    table[key] = _layer_sizes


def _layer_sizes(
    x: torch.Tensor,
    states: Any,
    weights: Any,
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[torch.Tensor, ...]:
    """The result of a recurrent layer, without contents; ``states`` are two of an LSTM, and one of a GRU."""
    states = [states] if isinstance(states, torch.Tensor) else states
    width = states[0].shape[-1] * (2 if bidirectional else 1)
    return x.new_empty(*x.shape[:2], width), *[torch.empty_like(state) for state in states]


@contextmanager
def _silent() -> Iterator[None]:
    """Without what the exporter prints and logs about its own work."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            yield
    finally:
        logger.setLevel(level)
