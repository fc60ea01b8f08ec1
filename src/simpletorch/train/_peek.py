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

# others may remember anything: a deep copy of them is asked; a list of batches remembers nothing
_KNOWN_SAMPLERS: Final = ("torch.utils.data.", "simpletorch.data.", "builtins")


def batch_of(loader: Any) -> Any:
    """A batch as ``loader`` gives them, the first one unless orders are drawn; None if that might change later ones.

    Lists of batches and loaders over datasets with indices can be asked: a loader with one batch is made of the same
    dataset, with the samples that a copy of its sampler names. It reads them in a worker process if ``loader`` has
    any, so that a dataset opens its files where it always does. A stream may give each sample once: a copy of it is
    asked, if there can be one and it is small, and so is a copy of a sampler of the user's.

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
        indices = _first_indices(batches, loader.dataset)
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
    # a class of the user's may make something else of the batches
    return type(loader).__iter__ in (torch.utils.data.DataLoader.__iter__, DataLoader.__iter__)


def _first_indices(sampler: Any, dataset: Any) -> Any:
    """The first index or batch of indices of a sampler's copy; None if nothing, or if it can't be told from a copy.

    A sampler that isn't torch's or ours sees of its dataset the length alone: more might change it.
    """
    seen = _LengthAlone(dataset)
    apart = _apart(sampler, dataset, seen)
    if apart is None:
        return None
    try:
        return next(iter(apart), None)
    except Exception:
        if seen.asked:
            return None
        raise


class _LengthAlone:
    """A stand-in for a dataset that tells how many samples it has, and remembers whether it was asked anything else."""

    def __init__(self, dataset: Any) -> None:
        self.dataset, self.asked = dataset, False

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: object) -> Any:
        self.asked = True
        raise LookupError("the samples are not read before training")

    def __getattr__(self, name: str) -> Any:
        self.asked = True
        raise AttributeError(name)


def _deep_copy(sampler: Any, dataset: Any, seen: _LengthAlone) -> Any:
    """A copy of the user's sampler; None of one that holds much, that can't be copied, or that talks to processes."""
    held = [v for v in getattr(sampler, "__dict__", {}).values() if v is not dataset]
    is_large = any(
        isinstance(v, Sized) and (not isinstance(v, torch.Tensor) or v.ndim) and len(v) > _MANY for v in held
    )
    if is_large or (torch.distributed.is_available() and torch.distributed.is_initialized()):
        return None
    try:
        return copy.deepcopy(sampler, {id(dataset): seen})
    except Exception:  # whatever a user's __deepcopy__ raises
        return None


_MANY: Final = 100_000  # items of what a sampler holds


def _apart(sampler: Any, dataset: Any, seen: _LengthAlone) -> Any:
    """A sampler that names the same samples; drawing from it, or counting its epochs, changes nothing in the first."""
    if not f"{type(sampler).__module__}.".startswith(_KNOWN_SAMPLERS):
        return _deep_copy(sampler, dataset, seen)
    new = copy.copy(sampler)
    if isinstance(getattr(new, "generator", None), torch.Generator):
        new.generator = copy.deepcopy(new.generator)
    if hasattr(new, "sampler"):
        new.sampler = _apart(new.sampler, dataset, seen)
        return None if new.sampler is None else new
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
