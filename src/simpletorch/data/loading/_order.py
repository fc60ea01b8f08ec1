"""The order in which samples are read: the indices of each batch, and the state that reproduces them.

Orders are drawn from torch's CPU generators only, whose integers are the same on every platform, and in the loader's
own process, so that the number of workers does not matter.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, Final, cast

import numpy as np
import torch
from torch.utils.data import BatchSampler, RandomSampler, SequentialSampler
from torch.utils.data.distributed import DistributedSampler

from simpletorch.data._stream import Stateful
from simpletorch.errors import DataError

_AT_ONCE: Final = 256
"""Batches whose indices are split off together: one by one takes three times as long."""
_OURS_AND_TORCH_S: Final = ("torch.utils.data.", "simpletorch.data.")


# -- indices ------------------------------------------------------------------------------------------------------


def index_batches(batches: Iterable[Any], skip: int, device: torch.device | None) -> Iterator[Any]:
    """The items of the sampler ``batches`` after the first ``skip``, drawn from the same generators.

    Args:
        device: of a dataset of tensors: its indices come as ranges or tensors there. None gives lists.
    """
    if type(batches) is BatchSampler:
        if _is_permutation(batches.sampler):
            return _permuted(batches, skip, device)
        if type(batches.sampler) is SequentialSampler:
            return _in_sequence(batches, skip, device)
    return islice(iter(batches), skip, None)


def _is_permutation(sampler: object) -> bool:
    """Whether ``sampler`` is what ``shuffle=True`` makes."""
    return (
        type(sampler) is RandomSampler and not sampler.replacement and sampler.num_samples == len(sampler.data_source)
    )


def _stop(batches: BatchSampler) -> int:
    total = len(cast("RandomSampler", batches.sampler))
    return total - total % batches.batch_size if batches.drop_last else total


def _permuted(batches: BatchSampler, skip: int, device: torch.device | None) -> Iterator[Any]:
    sampler, size, stop = cast("RandomSampler", batches.sampler), batches.batch_size, _stop(batches)
    generator = sampler.generator
    if generator is None:
        # drawn as in torch's RandomSampler.__iter__, so that the global generator is left in the same state
        generator = torch.Generator().manual_seed(int(torch.empty((), dtype=torch.int64).random_().item()))
    order = torch.randperm(len(sampler.data_source), generator=generator)
    order = order if device is None else order.to(device)
    ends_early = stop % size > 0  # torch's sampler draws one more order when it has no more: for the smaller last batch
    for start in range(skip * size, stop, size * _AT_ONCE):
        end = min(start + size * _AT_ONCE, stop)
        *rest, last = torch.split(order[start:end], size)
        for rows in rest:
            yield rows.tolist() if device is None else rows
        if end == stop and ends_early:
            torch.randperm(len(sampler.data_source), generator=generator)
        yield last.tolist() if device is None else last
    if not ends_early or skip * size >= stop:  # or when it is asked after the last
        torch.randperm(len(sampler.data_source), generator=generator)


def _in_sequence(batches: BatchSampler, skip: int, device: torch.device | None) -> Iterator[Any]:
    size, stop = batches.batch_size, _stop(batches)
    for start in range(skip * size, stop, size):
        rows = range(start, min(start + size, stop))
        yield list(rows) if device is None else rows


# -- what they were drawn from ----------------------------------------------------------------------------------------


class Source:
    """All that the order of an epoch is drawn from: generators, samplers with a state, the global random state.

    Args:
        samplers: to search, with the ones that they wrap.
        generator: the loader's own.
        is_stream: the dataset itself is iterated in this process, and may draw what it likes when that begins.
    """

    def __init__(self, samplers: Iterable[object], generator: torch.Generator | None, is_stream: bool) -> None:
        self.samplers = list(_unwrapped(samplers))
        found = [generator, *(getattr(sampler, "generator", None) for sampler in self.samplers)]
        self.generators = list({id(g): g for g in found if isinstance(g, torch.Generator)}.values())
        self.draws_anything = is_stream or any(_is_foreign(sampler) for sampler in self.samplers)

    def capture(self) -> dict[str, Any]:
        """The state now, as tensors and plain values."""
        state: dict[str, Any] = {
            "generators": [generator.get_state() for generator in self.generators],
            "samplers": [_state_of(sampler) for sampler in self.samplers],
            "torch": torch.get_rng_state(),
        }
        if self.draws_anything:
            state |= {"python": random.getstate(), "numpy": _numpy_state()}
        return state

    def restore(self, state: dict[str, Any]) -> None:
        """Put generators and samplers back; the global random state is left alone."""
        if len(state["generators"]) != len(self.generators) or len(state["samplers"]) != len(self.samplers):
            raise DataError(
                f"the loader's state was saved with {len(state['generators'])} generators and "
                f"{len(state['samplers'])} samplers, but this loader has {len(self.generators)} and "
                f"{len(self.samplers)}: build it with the same arguments"
            )
        for generator, saved in zip(self.generators, state["generators"], strict=True):
            generator.set_state(saved)
        for sampler, saved in zip(self.samplers, state["samplers"], strict=True):
            _put_back(sampler, saved)

    @contextmanager
    def replayed(self, state: dict[str, Any]) -> Iterator[None]:
        """`restore`, and inside the block the global random state as it was then; afterwards as it is now."""
        self.restore(state)
        now = torch.get_rng_state(), random.getstate(), _numpy_state()
        torch.set_rng_state(state["torch"])
        if "python" in state:
            random.setstate(_as_tuples(state["python"]))
            _set_numpy_state(state["numpy"])
        try:
            yield
        finally:
            torch.set_rng_state(now[0])
            random.setstate(now[1])
            _set_numpy_state(now[2])


def _unwrapped(samplers: Iterable[object]) -> Iterator[object]:
    seen: set[int] = set()
    waiting = list(samplers)
    while waiting:
        sampler = waiting.pop(0)
        if sampler is None or id(sampler) in seen:
            continue
        seen.add(id(sampler))
        yield sampler
        waiting += [getattr(sampler, name, None) for name in ("sampler", "batch_sampler")]


def _is_foreign(sampler: object) -> bool:
    return not isinstance(sampler, list | tuple | range) and not type(sampler).__module__.startswith(_OURS_AND_TORCH_S)


def _state_of(sampler: object) -> dict[str, Any] | None:
    if isinstance(sampler, DistributedSampler):
        return {"epoch": sampler.epoch, "replicas": sampler.num_replicas}
    return sampler.state_dict() if isinstance(sampler, Stateful) else None


def _put_back(sampler: object, state: dict[str, Any] | None) -> None:
    if isinstance(sampler, DistributedSampler) and state is not None:
        if state["replicas"] != sampler.num_replicas:
            raise DataError(
                f"the loader's state was saved with {state['replicas']} ranks, but now there are "
                f"{sampler.num_replicas}. Resume with as many ranks, or at the end of an epoch with a new loader"
            )
        sampler.set_epoch(state["epoch"])
    elif isinstance(sampler, Stateful) and state is not None:
        sampler.load_state_dict(state)


def _numpy_state() -> dict[str, Any]:
    name, keys, position, has_gauss, gauss = np.random.get_state(legacy=True)
    return {
        "name": str(name),
        "keys": torch.from_numpy(np.asarray(keys).astype(np.int64)),  # a tensor: loads with weights_only
        "place": [int(position), int(has_gauss), float(gauss)],
    }


def _set_numpy_state(state: dict[str, Any]) -> None:
    position, has_gauss, gauss = state["place"]
    np.random.set_state((state["name"], state["keys"].numpy().astype(np.uint32), position, has_gauss, gauss))


def _as_tuples(state: Any) -> Any:
    """As `random.setstate` wants it; formats such as JSON make lists of tuples."""
    return tuple(_as_tuples(item) for item in state) if isinstance(state, list | tuple) else state
