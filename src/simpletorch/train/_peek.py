"""A batch of a loader, without a trace in the loader."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Sized
from typing import Any, Final

import torch.utils.data
from torch.utils.data import BatchSampler, IterableDataset
from torch.utils.data.datapipes.datapipe import MapDataPipe

from simpletorch._tensors import tensors_in
from simpletorch.data import DataLoader, DeviceLoader
from simpletorch.data.loading._collate import collate
from simpletorch.errors import DataError
from simpletorch.train._rng import undrawn

# of others it isn't known what they remember; a list of batches remembers nothing
_KNOWN_SAMPLERS: Final = ("torch.utils.data.", "simpletorch.data.", "builtins")


def batch_of(loader: Any) -> Any:
    """A batch as ``loader`` gives them, the first one unless orders are drawn; None if that might change later ones.

    Lists of batches and loaders over datasets with indices can be asked: a loader with one batch is made of the same
    dataset, with the samples that a copy of its sampler names. It reads them in a worker process if ``loader`` has
    any, so that a dataset opens its files where it always does. A stream may give each sample once: a copy of it is
    asked, if there can be one and it is small.

    Raises:
        DataError: there are samples, but ``drop_last`` leaves them out.
    """
    if isinstance(loader, DeviceLoader):
        loader = loader.loader
    if isinstance(loader, (list, tuple)):
        return loader[0] if loader else None
    if _is_stream(loader):
        return _first_of_copy(loader)
    if not _can_be_asked(loader):
        return None
    with undrawn(loader):
        batches = loader.sampler if loader.batch_sampler is None else loader.batch_sampler
        # next(…, None): a sampler that names nothing
        indices = next(iter(_apart(batches)), None)
        if indices is not None:
            (batch,) = _only(loader, indices)  # to its end, so that a worker is gone
            return batch
    if isinstance(batches, BatchSampler) and batches.drop_last:
        sampler: Any = batches.sampler
        if 0 < len(sampler) < batches.batch_size:
            raise DataError(
                f"a loader gives no batch: it reads {len(sampler)} samples, fewer than "
                f"batch_size={batches.batch_size}, and drop_last=True leaves them out"
            )
    return None


def _is_stream(loader: Any) -> bool:
    """Whether a loader reads a dataset whose ``__iter__`` is a generator function, which begins anew each time."""
    if type(loader) not in (torch.utils.data.DataLoader, DataLoader) or loader.num_workers:
        return False
    dataset = loader.dataset
    return isinstance(dataset, IterableDataset) and inspect.isgeneratorfunction(type(dataset).__iter__)


def _first_of_copy(loader: Any) -> Any:
    """The first batch of a copy of a stream; None of one that can't be copied: a file or a generator is inside."""
    held = vars(loader.dataset).values()
    if any(isinstance(v, Sized) and not isinstance(v, torch.Tensor) and len(v) > _SMALL for v in held):
        return None
    try:
        dataset = copy.deepcopy(loader.dataset, {id(t): t for t in tensors_in(tuple(held))})
    except Exception:  # whatever a user's __deepcopy__ raises
        return None
    with undrawn(loader):
        options = {"batch_size": loader.batch_size, "drop_last": loader.drop_last}
        return next(iter(torch.utils.data.DataLoader(dataset, collate_fn=loader.collate_fn, **options)), None)


_SMALL: Final = 10_000  # items of what a stream holds


def _can_be_asked(loader: Any) -> bool:
    if not isinstance(loader, torch.utils.data.DataLoader) or isinstance(loader.dataset, IterableDataset | MapDataPipe):
        return False
    if type(loader).__iter__ not in (torch.utils.data.DataLoader.__iter__, DataLoader.__iter__):
        return False  # a class of the user's that makes something else of the batches
    samplers = [loader.batch_sampler, loader.sampler, getattr(loader.batch_sampler, "sampler", None)]
    return all(s is None or f"{type(s).__module__}.".startswith(_KNOWN_SAMPLERS) for s in samplers)


def _apart(sampler: Any) -> Any:
    """A sampler that names the same samples; drawing from it, or counting its epochs, changes nothing in the first."""
    new = copy.copy(sampler)
    if isinstance(getattr(new, "generator", None), torch.Generator):
        new.generator = copy.deepcopy(new.generator)
    if hasattr(new, "sampler"):
        new.sampler = _apart(new.sampler)
    return new


def _only(loader: Any, indices: Any) -> torch.utils.data.DataLoader[Any]:
    """A loader for these samples alone, which reads and collates as ``loader`` does."""
    batched: dict[str, Any] = {"batch_sampler": [indices]}
    workers: dict[str, Any] = {}
    if loader.batch_sampler is None:
        batched = {"batch_size": None, "sampler": [indices]}
    if loader.num_workers > 0:
        workers = {"num_workers": 1, "worker_init_fn": loader.worker_init_fn, "timeout": loader.timeout}
        workers["multiprocessing_context"] = loader.multiprocessing_context
    if isinstance(loader, DataLoader):
        collate_fn = None if loader.collate_fn is collate else loader.collate_fn
        return DataLoader(loader.dataset, collate_fn=collate_fn, **batched, **workers)
    return torch.utils.data.DataLoader(loader.dataset, collate_fn=loader.collate_fn, **batched, **workers)
