"""Models with int8 weights, compared with the ones that they were made from."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Final, Generic, TypeVar

import torch
from torch import nn

from simpletorch._distribution import installing
from simpletorch.errors import BackendError
from simpletorch.export._call import arguments, evaluating
from simpletorch.export._capture import quiet
from simpletorch.export._export import as_module
from simpletorch.export._failure import explained_failure
from simpletorch.export._prepare import prepare_eagerly
from simpletorch.export._reading import Dynamic
from simpletorch.export._report import Report
from simpletorch.export._signature import leaves

__all__ = ["Quantized", "quantize"]

M = TypeVar("M", bound=nn.Module)

_TOLERANCE: Final = 0.05  # of the largest number of a result: eight bits are two digits


@dataclass(frozen=True)
class Quantized(Generic[M]):
    """A quantized ``model``, of its original class, and its difference from the original.

    Attributes:
        model: the copy with int8 weights.
        report: its comparison with the original.

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
        >>> small = export.quantize(Net())
        >>> small.report.kind
        'quantized'
    """

    model: M
    report: Report

    def __str__(self) -> str:
        return str(self.report)


def quantize(
    model: M,
    *,
    inputs: Any = None,
    dynamic: Dynamic | None = None,
    tolerance: float = _TOLERANCE,
    only: Callable[[nn.Module, str], bool] | None = None,
) -> Quantized[M]:
    """A copy of the model whose linear layers have int8 weights, and round their inputs to int8 at each call.

    It is compared with the model at several sizes, as exports are, and can be exported by `program` and `aot`. The work
    is torchao's.

    Args:
        model: the module to copy.
        tolerance: the greatest difference that is allowed, of the largest number of a result or of 1.
        only: which linear layers, by module and path; all of them by default.
        inputs, dynamic: as for `program`.

    Returns:
        The copy and the report of its differences.

    Raises:
        BackendError: torchao isn't installed, the model has no linear layer, or the copy is too far from it.
        TypeMismatch: (a `TypeError` too) an input isn't described.

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
        >>> small = export.quantize(Net())
        >>> small.model(torch.zeros(7, 8)).shape
        torch.Size([7, 3])

    Source: https://docs.pytorch.org/ao/stable/quantization_overview.html
    """
    module = as_module(model)
    layers = [
        name
        for name, layer in module.named_modules()
        if isinstance(layer, nn.Linear) and (only is None or only(layer, name))
    ]
    if not layers:
        raise BackendError(
            f"{type(model).__name__} has no linear layer to quantize", operation="export.quantize", hint="check only="
        )
    try:
        with quiet():
            tools: Any = import_module("torchao.quantization")
    except ImportError as error:
        raise BackendError(
            "torchao isn't installed", operation="export.quantize", hint=installing("quantize")
        ) from error
    with evaluating(model):
        prepared = prepare_eagerly(model, inputs, dynamic, tolerance)
        quantized = copy.deepcopy(model)
        chosen = set(layers)
        try:
            with quiet():
                tools.quantize_(
                    quantized,
                    tools.Int8DynamicActivationInt8WeightConfig(),
                    filter_fn=lambda layer, name: isinstance(layer, nn.Linear) and name in chosen,
                )
        except Exception as error:  # torchao's own, of any kind
            raise explained_failure(error, "torchao", model) from error

        def run(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
            args, kwargs = arguments(prepared.call.request.parameters, tensors)
            with torch.no_grad():
                return leaves(quantized(*args, **kwargs))

        comparisons = prepared.verified(run, "quantized")
    for copied, layer in zip(quantized.modules(), model.modules(), strict=True):
        copied.training = layer.training
    report = replace(prepared.report("quantized", comparisons), bytes=sum(map(_bytes, quantized.parameters())))
    return Quantized(quantized, report)


def _bytes(tensor: torch.Tensor) -> int:
    """The room that a tensor takes, with what a tensor of torchao's consists of."""
    flatten = getattr(tensor, "__tensor_flatten__", None)
    if flatten is None:
        return tensor.nbytes
    parts = [getattr(tensor, name) for name in flatten()[0]]
    return sum(_bytes(part) for part in parts if isinstance(part, torch.Tensor))
