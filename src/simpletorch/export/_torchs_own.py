"""The arguments of `torch.onnx.export`, as those of `simpletorch.export.onnx`."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import torch
from torch import nn
from torch.onnx import TrainingMode
from torch.utils._pytree import tree_leaves

from simpletorch.errors import BackendError, TypeMismatch, as_also

__all__ = ["Axes", "converted", "refuse_other"]

Axes = Mapping[str, "Mapping[int, str] | Sequence[int]"]
"""``dynamic_axes``: by the name of an input, the names of its open dims, or their numbers."""

_ALWAYS: Final[Mapping[str, tuple[Any, ...]]] = {
    "export_params": (True,),
    "dynamo": (True,),
    "training": (None, TrainingMode.EVAL),
    "keep_initializers_as_inputs": (False,),
}


def refuse_other(given: Mapping[str, Any]) -> None:
    """Refuse what `export.onnx` never does.

    Raises:
        BackendError: an argument asks for it.
        TypeError: there is no such argument.
    """
    for name, value in given.items():
        if name not in _ALWAYS:
            raise TypeError(f"export.onnx() got an unexpected keyword argument {name!r}")
        if value not in _ALWAYS[name]:
            raise BackendError(
                f"{name}={value!r} isn't possible: the file holds the model's parameters, in eval mode",
                operation="export.onnx",
                hint=f"torch.onnx.export(..., {name}={value!r}) writes such a file; it isn't verified",
            )


def converted(
    model: nn.Module,
    args: Any,
    kwargs: Mapping[str, Any] | None,
    input_names: Sequence[str] | None,
    output_names: Sequence[str] | None,
    dynamic_axes: Axes | None,
    dynamic_shapes: Any,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """``inputs`` and ``dynamic`` of an export.

    Raises:
        TypeMismatch: (a `TypeError` too) ``forward`` can't be called with the inputs.
        ValueError: a name or a dim isn't there, or a name is no identifier.
    """
    forward = inspect.signature(model.forward)
    try:
        inputs = forward.bind(*(args if isinstance(args, tuple) else (args,)), **(kwargs or {})).arguments
    except TypeError as error:
        raise as_also(TypeMismatch, TypeError)(
            str(forward), None, f"{type(model).__name__}.forward{forward} {error}", operation="export.onnx"
        ) from None
    by_name = dict(_parameters(inputs, input_names))
    sizes: dict[str, dict[int, str]] = {}
    limits: dict[str, Any] = {}
    for name, axes in (dynamic_axes or {}).items():
        if name in by_name:
            named = axes if isinstance(axes, Mapping) else _numbered(name, axes)
            sizes[by_name[name]] = dict(named)
        elif name not in (output_names or ()):  # the sizes of a result follow from those of the inputs
            raise ValueError(f"export.onnx: dynamic_axes names {name}, but the inputs are {', '.join(by_name)}")
    for name, dims in _by_parameter(inputs, dynamic_shapes):
        sizes.setdefault(name, {}).update(_open(name, dims, limits))
    texts = {name: _text(name, inputs[name], open_) for name, open_ in sizes.items() if open_}
    return inputs, {**texts, **limits}


def _parameters(inputs: Mapping[str, Any], names: Sequence[str] | None) -> Iterator[tuple[str, str]]:
    """By the name of a tensor in the file, the parameter; torch counts the tensors inside of containers too."""
    rest = list(names or ())
    for parameter, value in inputs.items():
        for _ in (leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)):
            yield rest.pop(0) if rest else parameter, parameter
    if rest:
        raise ValueError(f"export.onnx: input_names has no tensor left for {', '.join(rest)}")


def _numbered(name: str, dims: Iterable[int]) -> dict[int, str]:
    return {dim: f"{name}_dynamic_axes_{i}" for i, dim in enumerate(dims, 1)}  # torch's own names


def _by_parameter(inputs: Mapping[str, Any], shapes: Any) -> Iterator[tuple[str, Any]]:
    pairs = shapes.items() if isinstance(shapes, Mapping) else zip(inputs, shapes or (), strict=False)
    for name, dims in pairs:
        if name not in inputs:
            raise ValueError(f"export.onnx: dynamic_shapes names {name}, but the inputs are {', '.join(inputs)}")
        if dims is not None:
            yield name, dims


def _open(name: str, dims: Any, limits: dict[str, Any]) -> Iterator[tuple[int, str]]:
    """The open dims in an entry of ``dynamic_shapes``, by their names; ``limits`` gets their least and most."""
    for dim, of in dims.items() if isinstance(dims, Mapping) else enumerate(dims):
        if isinstance(of, str):
            yield dim, of
        elif isinstance(of, torch.export.Dim):
            root = getattr(of, "root", of)  # of 2*batch it is batch
            most = root.max if isinstance(root.max, int) else None
            if (root.min, most) != (0, None):
                limits[root.__name__] = (max(root.min, 1), most)
            yield dim, of.__name__.replace(" ", "")
        elif not isinstance(of, int | None) and of != torch.export.Dim.STATIC:  # AUTO and DYNAMIC
            yield dim, f"{name}_{dim}"


def _text(name: str, value: Any, sizes: Mapping[int, str]) -> str:
    """The sizes of a parameter as `export.onnx` takes them: ``"batch 784"``."""
    if not isinstance(value, torch.Tensor):
        raise ValueError(
            f"export.onnx: {name} is no tensor, but a {type(value).__name__}; for open sizes inside of it, pass "
            f'texts in the place of its tensors: export.onnx(model, path, inputs={{"{name}": ...}})'
        )
    found = [str(size) for size in value.shape]
    for dim, text in sizes.items():
        if not -value.ndim <= dim < value.ndim:
            raise ValueError(f"export.onnx: {name} has {value.ndim} dims, and no dim {dim}")
        if not text.replace("*", "").replace("+", "").replace("-", "").isidentifier():
            raise ValueError(f"export.onnx: {text!r} can't name a size; write a name such as batch")
        found[dim] = text
    return " ".join(found)
