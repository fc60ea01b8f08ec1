"""Batches go to where the model is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, TypeVar, cast

import torch

from simpletorch._tensors import moved

T = TypeVar("T")


def device_of(model: torch.nn.Module) -> torch.device | None:
    """The device of the model's first parameter, or buffer; None when it has neither.

    Args:
        model: any module.

    Returns:
        The device, or None.

    Examples:
        >>> from simpletorch import data, nn, optim, train
        >>> train.device_of(nn.Linear(3, 2))
        device(type='cpu')
    """
    tensor = next(chain(model.parameters(), model.buffers()), None)
    return None if tensor is None else tensor.device


def to_device(batches: Iterable[T], device: torch.device | None) -> Iterator[T]:
    """Yield the batches with their tensors on ``device``, asynchronously where they are in pinned memory.

    Tensors are looked for in tuples, lists, mappings and dataclasses. An object with a method ``to(device)`` of its
    own, such as a tokenizer's batch, is asked to move itself. Anything else stays as it is. None moves nothing.

    Args:
        batches: any iterable of batches.
        device: the device to move to; None moves nothing.

    Yields:
        The batches in the same order, with their tensors on ``device``.

    Examples:
        >>> import torch
        >>> from simpletorch import data, nn, optim, train
        >>> for images in train.to_device([torch.zeros(7, 3)], torch.device("cpu")):
        ...     print(images.device)
        cpu
    """
    if device is None:
        return iter(batches)
    return (batch if _is_there(batch, device) else cast("T", moved(batch, device)) for batch in batches)


def _is_there(batch: Any, device: torch.device) -> bool:
    """Whether a batch is a tuple of tensors on ``device``; then nothing has to be taken apart."""
    if type(batch) is not tuple:
        return False
    for item in batch:  # noqa: SIM110 - a generator for all() costs twice as much, in every step
        if not isinstance(item, torch.Tensor) or item.device != device:
            return False
    return True
