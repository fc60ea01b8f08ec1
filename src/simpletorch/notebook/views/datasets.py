"""A dataset as HTML: how many samples of what, and the first of them.

Samples are read as a program reads them, so what ``__getitem__`` does is done; random numbers are put back.
"""

from __future__ import annotations

import time
from collections.abc import Sequence, Sized
from html import escape
from typing import Any, Final

from torch.utils.data import Dataset, IterableDataset, Subset

from simpletorch._drawing import RED
from simpletorch.data import CachedDataset, Table
from simpletorch.notebook.views.samples import items_of, kind_of, samples_as_html
from simpletorch.reproducibility import rng_state, set_rng_state

__all__ = ["dataset_as_html", "dataset_as_text"]

_MOST: Final = 12  # samples
_SECONDS: Final = 0.5  # after which no further one is read


def dataset_as_html(dataset: Dataset[Any]) -> str | None:
    """The card; None of a stream, which reading would change, and of what has no length."""
    count = _count(dataset)
    if count is None:
        return None
    samples, failed = _read(dataset, min(count, _MOST))
    of = f" of {escape(kind_of(samples))}" if samples else ""
    head = f"<b>{escape(type(dataset).__name__)}</b> {count:,} sample{'' if count == 1 else 's'}{of}"
    drawn = samples_as_html(samples, _names(dataset, samples[0]), _columns(dataset)) if samples else ""
    told = f'<div>sample {len(samples)}: <b style="color:{RED}">{escape(failed)}</b></div>' if failed else ""
    return f'<div style="color:inherit">{head}{drawn}{told}</div>'


def dataset_as_text(dataset: Dataset[Any]) -> str | None:
    """``Digits: 1,437 samples of (Float32[1, 8, 8], Int64[])``; None of what has a text of its own."""
    if type(dataset).__repr__ is not object.__repr__ or (count := _count(dataset)) is None:
        return None
    samples, failed = _read(dataset, min(count, 1))
    of = f" of {kind_of(samples)}" if samples else ""
    told = f" (sample 0: {failed})" if failed else ""
    return f"{type(dataset).__name__}: {count:,} sample{'' if count == 1 else 's'}{of}{told}"


def _count(dataset: Dataset[Any]) -> int | None:
    """How many samples it has; None where it doesn't say, as a `Subset` of a stream doesn't."""
    if isinstance(dataset, IterableDataset) or not isinstance(dataset, Sized):
        return None
    try:
        return len(dataset)
    except (TypeError, NotImplementedError):
        return None


def _read(dataset: Dataset[Any], most: int) -> tuple[list[Any], str]:
    """The first samples, and what the next one failed with."""
    before = rng_state()
    began = time.monotonic()
    samples: list[Any] = []
    try:
        while len(samples) < most and (not samples or time.monotonic() - began < _SECONDS):
            samples.append(dataset[len(samples)])
    except Exception as error:  # the dataset's own: it is shown
        return samples, f"{type(error).__name__}: {error}"
    finally:
        set_rng_state(before)
    return samples, ""


def _names(dataset: Dataset[Any], sample: Any) -> dict[str, Sequence[str]]:
    """The classes' names for the last item of a sample, if the dataset has names: behind parts and caches, too."""
    held: Any = dataset
    while isinstance(held, Subset | CachedDataset):
        held = held.dataset
    classes = getattr(held, "classes", None)
    items = list(items_of(sample))
    if len(items) < 2 or not isinstance(classes, list | tuple) or not all(isinstance(c, str) for c in classes):
        return {}
    return {items[-1]: classes}


def _columns(dataset: Dataset[Any]) -> Sequence[str]:
    held: Any = dataset
    while isinstance(held, Subset | CachedDataset):
        held = held.dataset
    return held.columns if isinstance(held, Table) else ()
