"""A step on shapes alone."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch.nn.parallel import DataParallel, DistributedDataParallel

from simpletorch._tensors import tensors_in
from simpletorch.errors import DTypeMismatch, ShapeMismatch, explain
from simpletorch.train._batch import parts_of
from simpletorch.train._rng import undrawn

T = TypeVar("T")


def dry_step(
    model: torch.nn.Module, loss: Callable[[Any, Any], torch.Tensor], *batch: Any, target: str | None = None
) -> bool:
    """Send a batch ``(*inputs, target)`` through ``model`` and ``loss`` without data, to find mismatches now.

    A batch may be given as a whole, and have names if ``target`` is that of its target, as for `Step`.

    A copy of the model runs on torch's ``meta`` device, where tensors have shapes and dtypes but no contents. So the
    step takes no memory and no arithmetic, and changes neither the model (its statistics, its caches) nor any random
    generator.

    Args:
        model: the model to try; a copy of it is used.
        loss: takes outputs and targets and returns a 0-d tensor.
        batch: the batch's items, the target last, or the batch as one argument.
        target: the name of the target, in batches whose items have names; None for tuples.

    Returns:
        Whether the whole step could be tried: False for a model that can't be copied, or can't run without data.

    Raises:
        DataError: it is no batch.
        ShapeMismatch: shapes don't fit; it says in which layer.
        DTypeMismatch: dtypes don't fit.

    Examples:
        >>> import torch
        >>> from simpletorch import data, nn, optim, train
        >>> model = nn.Linear(3, 2)
        >>> train.dry_step(model, nn.functional.cross_entropy, torch.zeros(7, 3), torch.zeros(7, dtype=torch.int64))
        True
    """
    copies = without_data(model, parts_of(batch[0] if len(batch) == 1 else batch, target), training=True)
    if copies is None:
        return False
    model, (inputs, named, targets) = copies
    return tried(lambda: loss(model(*inputs, **named), targets)) is not None


def tried(run: Callable[[], T]) -> T | None:
    """The result of ``run``, with no random number drawn; None if it can't be told without data.

    Raises:
        ShapeMismatch: shapes don't fit; it says in which layer.
        DTypeMismatch: dtypes don't fit.
    """
    # meta draws nothing, but a model may draw on the CPU by itself
    with undrawn():
        try:
            with explain():
                return run()
        except (ShapeMismatch, DTypeMismatch):
            raise
        except Exception:  # it needs values (.item(), nonzero, a kernel without meta): the first real step will tell
            return None


def without_data(model: torch.nn.Module, item: T, *, training: bool) -> tuple[torch.nn.Module, T] | None:
    """Deep copies of ``model`` and ``item`` with every tensor on ``meta``; None if one can't be copied."""
    # the model itself: a wrapper is for real GPUs, and its forward would speak with other processes
    model = model.module if isinstance(model, (DataParallel, DistributedDataParallel)) else model
    try:
        return copy.deepcopy(model, meta_copies(model)).train(training), copy.deepcopy(item, meta_copies(item))
    except Exception:  # whatever a user's __deepcopy__ raises: this model is none that can be tried
        return None


def meta_copies(item: Any) -> dict[int, Any]:
    """The memo with which `copy.deepcopy` puts the tensors of ``item`` on ``meta``, by their ids; none is copied."""
    if isinstance(item, torch.nn.Module):
        return {key: copied for module in item.modules() for key, copied in meta_copies(vars(module)).items()}
    return {id(tensor): _meta(tensor) for tensor in tensors_in(item)}


def _meta(tensor: torch.Tensor) -> torch.Tensor:
    empty = torch.empty_like(tensor, device="meta")
    if isinstance(tensor, torch.nn.Parameter):
        return torch.nn.Parameter(empty, requires_grad=tensor.requires_grad)
    return empty
