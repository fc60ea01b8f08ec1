"""The contents of `DataLoader.state_dict`, and whether it fits a loader."""

from __future__ import annotations

from collections.abc import Sized
from typing import TYPE_CHECKING, Any, Final

from simpletorch.data._length import length_of
from simpletorch.data.loading._batches import Progress

if TYPE_CHECKING:
    from simpletorch.data.loading._loader import DataLoader

VERSION: Final = 1


def saved(loader: DataLoader[Any], position: dict[str, Any] | None, start: dict[str, Any]) -> dict[str, Any]:
    """The whole state.

    Args:
        position: how far the epoch is; None between two.
        start: the state that the epoch's order was drawn from (between two: the next one's).
    """
    return {"version": VERSION, "loader": _about(loader), "position": position, "start": start}


def _about(loader: DataLoader[Any]) -> dict[str, Any]:
    """The properties that must be equal for equal batches."""
    sampler = loader.sampler
    return {
        "samples": length_of(loader.dataset) if isinstance(loader.dataset, Sized) else None,
        "sampled": len(sampler) if isinstance(sampler, Sized) and not loader.is_stream else None,
        "batch_size": loader.batch_size,
        "drop_last": loader.drop_last,
        "sampler": type(sampler).__name__,
    }


_WORDS: Final = {
    "samples": "samples in the dataset",
    "sampled": "samples an epoch",
    "batch_size": "as batch_size",
    "drop_last": "as drop_last",
    "sampler": "as sampler",
}


def why_not(loader: DataLoader[Any], state: Any) -> str:
    """Why ``state`` can't be the state of this loader; "" when it can."""
    if not isinstance(state, dict) or not {"version", "loader", "position", "start"} <= state.keys():
        return "this isn't the state of a DataLoader: pass the result of its state_dict()"
    if state["version"] != VERSION:
        return f"this state has version {state['version']}, but this simpletorch reads version {VERSION}"
    now = _about(loader)
    for name, before in state["loader"].items():
        if now.get(name) != before:
            return (
                f"this state is of a loader with {before} {_WORDS.get(name, name)}, but this one has {now.get(name)}: "
                "its batches would be others; build the loader with the same arguments"
            )
    position = state["position"]
    workers = max(1, loader.num_workers)
    if position is not None and position["streams"] and loader.is_stream and len(position["streams"]) != workers:
        return (
            f"this state is of an IterableDataset read by {len(position['streams'])} process(es), but now there are "
            f"{workers}: each has its own place in its own stream; take as many workers, or start a new epoch"
        )
    return ""


def progress_at(position: dict[str, Any], workers: int, is_stream: bool) -> Progress:
    """The `Progress` that was saved."""
    # batches by indices may go on with another number of workers, streams may not
    turn = position["turn"] if is_stream else position["batches"] % max(1, workers)
    streams = list(position["streams"]) if is_stream else []
    return Progress(batches=position["batches"], streams=streams, turn=turn)
