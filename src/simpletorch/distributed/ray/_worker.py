"""A model and its optimizer in a process of its own, anywhere in a cluster, which is asked by awaiting its methods."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Generic, TypeVar

import torch
import torch.distributed as dist
from torch import nn

from simpletorch.distributed.actors import Actor, spawn

__all__ = ["TrainingWorker"]

B = TypeVar("B")
M = TypeVar("M", bound=nn.Module)

_TIMEOUT: Final = 600.0


class TrainingWorker(Generic[B]):
    """One of several workers that train together: ``loss = await worker.train(batch)``.

    Each holds a model and an optimizer. `train` computes gradients of its own batch, averages them with those of the
    other workers by one all-reduce, weighted by samples, and updates. Afterwards all have the same parameters, equal to
    those of one process with all batches as one. So all must be asked to train together::

        workers = await TrainingWorker.start(build, loss, count=2)
        losses = await asyncio.gather(*(w.train(batch) for w, batch in zip(workers, batches, strict=True)))

    Make them by `start`. ``B`` is the type of a batch: a tensor, or a tuple, list or dict of tensors.

    Args:
        actor: the actor that holds the model.
        count: the number of workers.
    """

    def __init__(self, actor: Actor[_Holder], count: int) -> None:
        self._actor, self.rank, self.count = actor, actor.rank, count

    @classmethod
    async def start(
        cls,
        build: Callable[[], tuple[M, torch.optim.Optimizer]],
        loss: Callable[[M, B], torch.Tensor],
        *,
        count: int = 2,
        resources: Mapping[str, float] | None = None,
        timeout: float = _TIMEOUT,
    ) -> list[TrainingWorker[B]]:
        """Start ``count`` workers, all with the parameters of the first.

        Args:
            build: makes the model and the optimizer, in the worker.
            loss: of the model and a batch, the mean over its samples.
            count: the number of workers, 1 or more.
            resources: of each worker: ``{"CPU": 1}`` by default.
            timeout: seconds that one waits for the others before that is an error.

        Returns:
            The workers, by rank.

        Raises:
            ValueError: ``count`` is below 1; it is a `TorchError` too.
            ImportError: Ray is not installed; it is a `TorchError` too.
            Exception: raised by ``build``.
        """
        holders = await asyncio.to_thread(
            spawn,
            partial(_Holder, build, loss),
            count,
            resources=resources or {"CPU": 1},
            name="worker",
            timeout=timeout,
        )
        await asyncio.gather(*(holder.ask(_Holder.begin) for holder in holders))
        return [cls(holder, count) for holder in holders]

    async def train(self, batch: B) -> float:
        """Make one update on this batch and those of the other workers.

        Args:
            batch: this worker's batch.

        Returns:
            The mean loss over the samples of all workers.

        Raises:
            TorchError: this worker, or one that it waited for, has died.
            Exception: raised by the model or the loss.
        """
        return await self._actor.ask(_Holder.train, batch)

    async def evaluate(self, batch: B) -> float:
        """The loss of this batch, without an update; the other workers have no part in it.

        Args:
            batch: the batch to measure.
        """
        return await self._actor.ask(_Holder.evaluate, batch)

    async def state_dict(self) -> dict[str, Any]:
        """The state of model and optimizer (``"model"``, ``"optimizer"``), on the CPU."""
        return await self._actor.ask(_Holder.state_dict)

    async def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from such a state; give it to all workers.

        Args:
            state: a state that `state_dict` returned, of any worker.
        """
        await self._actor.ask(_Holder.load_state_dict, dict(state))

    def stop(self) -> None:
        """End the worker's process at once; others that wait for it get an error."""
        self._actor.stop()


class _Holder:
    """The part in the worker's process."""

    def __init__(
        self, build: Callable[[], tuple[Any, torch.optim.Optimizer]], loss: Callable[[Any, Any], torch.Tensor]
    ) -> None:
        self.model, self.optimizer = build()
        self.loss = loss

    def begin(self) -> None:
        """Take the parameters of the first."""
        with torch.no_grad():
            for tensor in (*self.model.parameters(), *self.model.buffers()):
                dist.broadcast(tensor, src=0)

    def train(self, batch: Any) -> float:
        self.model.train()
        self.optimizer.zero_grad()
        loss = self.loss(self.model, batch)
        loss.backward()
        mean = _average_gradients(list(self.model.parameters()), loss.detach(), _samples(batch))
        self.optimizer.step()
        return mean

    def evaluate(self, batch: Any) -> float:
        self.model.eval()
        with torch.no_grad():
            return self.loss(self.model, batch).item()

    def state_dict(self) -> dict[str, Any]:
        state = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
        return {name: _on_cpu(part) for name, part in state.items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])


def _on_cpu(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _on_cpu(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_on_cpu(item) for item in value]
    return value.cpu() if isinstance(value, torch.Tensor) else value


def _average_gradients(parameters: Sequence[torch.Tensor], loss: torch.Tensor, samples: int) -> float:
    """One all-reduce of all gradients, the loss, and which parameters have a gradient, weighted by samples."""
    there = loss.new_tensor([p.grad is not None for p in parameters])
    wide = torch.promote_types(loss.dtype, torch.float32)  # sums, and the number of samples, exact up to 16 million
    parts = [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]
    flat = torch.cat([*(part.flatten().to(wide) for part in parts), loss.reshape(1).to(wide), there.to(wide)]) * samples
    total = torch.cat([flat, flat.new_tensor([samples])])
    dist.all_reduce(total)
    total /= total[-1].item()
    *means, rest = total.split([*(p.numel() for p in parameters), len(there) + 2])
    for parameter, mean, share in zip(parameters, means, rest[1:-1], strict=True):
        # an optimizer may not touch a parameter that no worker's loss reaches
        parameter.grad = mean.view_as(parameter).to(parameter.dtype) if share else None
    return float(rest[0])


def _samples(batch: Any) -> int:
    """The first dim of the first tensor."""
    if isinstance(batch, torch.Tensor):
        return len(batch)
    return _samples(next(iter(batch.values() if isinstance(batch, Mapping) else batch)))
