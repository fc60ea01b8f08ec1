"""A training that other processes go on with than those that saved it: more of them, or fewer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from simpletorch.errors import CheckpointError
from simpletorch.train._processes import SHARED, processes_of

if TYPE_CHECKING:
    from simpletorch.train._fit import Fit


def resized(parts: dict[str, Any], rank: int, size: int, fit: Fit) -> dict[str, Any]:
    """The state of process ``rank`` of ``size``, of what `Processes.together` gave in another number of them.

    Weights, optimizer, schedules and what callbacks remember are those of all processes. Samples seen and the sum of
    their losses are divided again, so that they stay the same in total. The place in the epoch stays too, and with
    `simpletorch.data.DistributedSampler` the samples of every further step, if all processes together have batches as
    large as before. Generators of a process that wasn't there begin anew, from a seed of its own, so what dropout
    draws is not what it would have been.

    Raises:
        CheckpointError: in the middle of an epoch the batches would be others, or a training metric can't be divided.
    """
    saved = [parts, *parts["ranks"]] if "ranks" in parts else [parts]
    own = saved[rank] if rank < len(saved) else _new(parts, rank)
    state = {**parts, **{name: part for name, part in own.items() if name not in SHARED}}
    state.pop("ranks", None)
    total = sum(int(each["samples"]) for each in saved)
    if reason := _why_not(saved, total, size, fit):
        count = processes_of(parts)
        raise CheckpointError(f"it was saved by {count} process{'es' * (count > 1)}, and {size} can't go on: {reason}")
    state["samples"] = total // size + (rank < total % size)
    losses = sum(float(each["loss_sum"] or 0.0) for each in saved)
    state["loss_sum"] = losses * state["samples"] / total if total else 0.0
    if state["loader"] is not None:
        about = fit.loader.state_dict()["loader"]  # type: ignore[attr-defined]
        state["loader"] = _by(size, {**state["loader"], "loader": about})
    if rank >= len(saved):
        fresh = {name: _fresh(metric) for name, metric in fit.train_metrics.items()}
        state["train_metrics"] = fresh
    return state


def _why_not(saved: Sequence[dict[str, Any]], total: int, size: int, fit: Fit) -> str:
    if saved[0]["phase"] == "between":
        return ""
    if len(saved) > size and any(state is not None for state in saved[0]["train_metrics"].values()):
        return "it is in the middle of an epoch, and what training metrics have counted can't be put together"
    batch = getattr(fit.loader, "batch_size", None)
    if saved[0]["phase"] == "drained" or not saved[0]["batches"] or not isinstance(batch, int):
        return "" if isinstance(batch, int) else "the loader doesn't say its batch_size"
    before, left = divmod(total, int(saved[0]["batches"]))
    if left or batch * size != before:
        want = f"batch_size={before // size}" if not left and before % size == 0 else "another number of processes"
        return (
            f"it is in the middle of an epoch whose steps have {total / int(saved[0]['batches']):g} samples, and here "
            f"they would have {size} x {batch}; take {want}"
        )
    return ""


def _by(size: int, loader: Any) -> Any:
    """The state of a loader whose sampler gives each of ``size`` processes its share: the order is the same."""
    if isinstance(loader, (list, tuple)):
        return type(loader)(_by(size, part) for part in loader)
    if not isinstance(loader, dict):
        return loader
    if loader.keys() == {"epoch", "replicas"}:  # of a DistributedSampler, see `data.loading._order`
        return {**loader, "replicas": size}
    return {name: _by(size, part) for name, part in loader.items()}


def _new(parts: dict[str, Any], rank: int) -> dict[str, Any]:
    """The own state of a process that is new: the first one's, with its own random numbers."""
    return {**parts, **{name: _reseeded(parts[name], rank) for name in ("rng", "epoch_rng") if parts.get(name)}}


def _reseeded(rng: dict[str, Any], rank: int) -> dict[str, Any]:
    # from the first one's state, so that the same checkpoint goes on in the same way each time
    seed = int(rng["torch"][:8].view(torch.int64).item()) ^ int(rng["torch"].sum().item()) * 1_000_003 ^ rank
    generator = torch.Generator().manual_seed(seed & (2**63 - 1))
    return {**rng, "torch": generator.get_state()}


def _fresh(metric: Any) -> Any:
    return metric.state_dict() if hasattr(metric, "load_state_dict") else None
