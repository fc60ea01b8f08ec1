"""A model's outputs for data."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch

from simpletorch._tensors import map_tensors
from simpletorch.errors import DataError, explain
from simpletorch.train._batch import named_items, parts_of
from simpletorch.train._device import device_of, to_device
from simpletorch.train._mode import mode


def predict(model: torch.nn.Module, loader: Iterable[Any], *, targets: bool = True, target: str | None = None) -> Any:
    """The outputs of ``model`` for all batches of ``loader``, joined along the first dim, on the CPU.

    A batch is as in training, ``(*inputs, target)``, and its target is left out; or inputs alone: a tensor, or with
    ``targets=False`` a tuple ``(*inputs)``. Tuples or dicts of tensors are joined into one tuple or dict; other values
    become a list with an item for each batch.

    The model runs in eval mode and without gradients, and is left in the mode it was in.

    Args:
        model: the model that predicts.
        loader: the batches.
        targets: whether batches that are tuples have a target at their end.
        target: the name of the target, in batches whose items have names; None if they have none.

    Returns:
        A tensor ``[N, *S]``, or the structure of such tensors that the model gives.

    Raises:
        DataError: the loader gave no batch.
        TorchError: torch raised an error inside.

    Examples:
        >>> from simpletorch import nn
        >>> from simpletorch.data import DataLoader, Digits
        >>> from simpletorch.train import predict
        >>> model = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
        >>> predict(model, DataLoader(Digits(train=False), 100)).shape
        torch.Size([360, 10])
    """
    outputs: list[Any] = []
    with mode(model, training=False), torch.no_grad(), explain():
        for batch in to_device(loader, device_of(model)):
            inputs, named = _inputs(batch, targets, target)
            outputs.append(_on_cpu(model(*inputs, **named)))
    if not outputs:
        raise DataError("there is nothing to predict: the loader gave no batch")
    return _together(outputs)


def _inputs(batch: Any, targets: bool, target: str | None) -> tuple[Sequence[Any], dict[str, Any]]:
    if target is not None or not isinstance(batch, (tuple, list)):
        named = named_items(batch)
        if named is None:
            return (batch,), {}
        return (), {name: item for name, item in named.items() if name != target}
    if not targets or len(batch) == 1:
        return batch, {}
    return parts_of(batch)[0], {}


def _on_cpu(output: Any) -> Any:
    """At once, batch by batch: a GPU would have to hold all of them."""
    return map_tensors(output, lambda tensor: tensor.cpu())


def _together(outputs: Sequence[Any]) -> Any:
    first = outputs[0]
    if isinstance(first, torch.Tensor):
        return torch.cat([output if output.ndim else output.unsqueeze(0) for output in outputs])
    if isinstance(first, Mapping):
        return {key: _together([output[key] for output in outputs]) for key in first}
    if isinstance(first, (tuple, list)):
        items = [_together(items) for items in zip(*outputs, strict=True)]
        return type(first)(*items) if hasattr(first, "_fields") else type(first)(items)
    if dataclasses.is_dataclass(first) and not isinstance(first, type):
        return {
            field.name: _together([getattr(output, field.name) for output in outputs])
            for field in dataclasses.fields(first)
        }
    return list(outputs)
