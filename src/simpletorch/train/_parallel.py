"""How the processes of a training share its work: `Trainer(parallel=…)` for the loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.optim.swa_utils import AveragedModel
from torch.utils.data import DistributedSampler, RandomSampler, SequentialSampler

from simpletorch.checkpoint import unwrapped
from simpletorch.distributed._failures import during, group_for_numbers
from simpletorch.distributed._group import has_group, is_started_together, rank, world_size
from simpletorch.distributed._mesh import DATA, Mesh, Share
from simpletorch.distributed._own import rehome
from simpletorch.distributed._plans import parallelize
from simpletorch.distributed._replicate import replicate
from simpletorch.distributed._shard import is_divided, shard
from simpletorch.errors import DataError, TorchError

if TYPE_CHECKING:
    from simpletorch.optim import Optimizer
    from simpletorch.train._fit import Fit

Parallel: TypeAlias = Literal["ddp", "fsdp"] | Mesh
"""``"ddp"``: the whole model in every process (`simpletorch.distributed.replicate`). ``"fsdp"``: each has a part of it
(`simpletorch.distributed.shard`). A `Mesh`: the same along its direction ``data``, after what ``tensor`` divides
(`simpletorch.distributed.parallelize`)."""

KINDS: Final = ("ddp", "fsdp")


class Alone:
    """A process that trains by itself, or whose model the user has wrapped: nothing to share. The base of the kinds."""

    def wrapped(self, model: torch.nn.Module, optimizer: Optimizer) -> torch.nn.Module:
        """The model that the steps call; ``optimizer`` updates its parameters."""
        return model

    def average(self, ema: AveragedModel | None, model: torch.nn.Module) -> None:
        """Have an average of the weights be of the same kind as they are.

        Raises:
            TorchError: the user has divided the model, and not its average.
        """
        if ema is not None and is_divided(model) and not is_divided(ema.module):
            raise TorchError(
                "the model is divided among the processes, but the average of its weights (ema) isn't",
                hint="simpletorch.distributed.shard(ema.module) as well, or let Trainer(parallel='fsdp') divide both",
            )

    def to_evaluate(self, fit: Fit, trained: torch.nn.Module) -> torch.nn.Module:
        """The model that is measured, of the one that the steps call."""
        return trained

    def open_epoch(self, fit: Fit) -> None:
        """Preparations before the epoch's first batch."""

    def epoch_totals(self, fit: Fit) -> tuple[float, int]:
        """The epoch's mean loss and its samples."""
        return fit.mean_loss, fit.samples


class Replicated(Alone):
    """Data parallel: each process has its own batches, and an epoch's results are those of all processes."""

    def __init__(self) -> None:
        self._ddp: DistributedDataParallel | None = None
        # a way of their own, so that they are never taken for a gradient of a process that is still training
        self._group = group_for_numbers()

    def wrapped(self, model: torch.nn.Module, optimizer: Optimizer) -> torch.nn.Module:
        """The model under DDP; one that the user has replicated stays as it is."""
        replicated = model if isinstance(model, DistributedDataParallel) else replicate(model)
        self._ddp = replicated if isinstance(replicated, DistributedDataParallel) else None
        return replicated

    def to_evaluate(self, fit: Fit, trained: torch.nn.Module) -> torch.nn.Module:
        """The model itself: DDP would send buffers in every call, and processes may have differently many batches."""
        with during("sending the model's buffers"):
            for buffer in fit.model.buffers():
                dist.broadcast(buffer, 0)  # the first process's, which are also those that are saved
        return unwrapped(fit.model)

    def open_epoch(self, fit: Fit) -> None:
        """Raise if the processes have differently many batches: some would wait for the others' gradients.

        Raises:
            DataError: they have.
        """
        self._same_number(fit.loader, "batches")

    def _same_number(self, loader: Any, what: str) -> None:
        try:
            number = len(loader)
        except TypeError:
            number = -1
        numbers = [torch.zeros(1, dtype=torch.int64) for _ in range(world_size())]
        with during("comparing the numbers of batches"):
            dist.all_gather(numbers, torch.tensor([number]), group=self._group)
        counts = [int(each) for each in numbers]
        if len(set(counts)) > 1:
            told = ", ".join(
                f"{n} on rank {r}" if n >= 0 else f"a loader without a length on rank {r}" for r, n in enumerate(counts)
            )
            raise DataError(
                f"the ranks have different numbers of {what}: {told}",
                hint="DataLoader(…, sampler=simpletorch.data.DistributedSampler(dataset)) gives every rank as many",
            )

    def epoch_totals(self, fit: Fit) -> tuple[float, int]:
        """The mean loss over the samples of all processes, and their number."""
        mean = fit.mean_loss
        sums = torch.tensor([mean * fit.samples, fit.samples], dtype=torch.float64)
        with during("adding up the epoch's loss"):
            dist.all_reduce(sums, group=self._group)
        return float(sums[0] / sums[1]), int(sums[1])

    # -- for steps that accumulate ------------------------------------------------------------------------------------

    def synchronize(self, flag: bool) -> None:
        """Set whether the next ``backward`` exchanges gradients, as DDP's ``no_sync`` does for a block."""
        if self._ddp is not None:
            self._ddp.require_backward_grad_sync = flag

    def mean(self, value: float) -> float:
        """The mean of a number over all processes."""
        total = torch.tensor([value], dtype=torch.float64)
        with during("counting the samples of an update"):
            dist.all_reduce(total, group=self._group)
        return float(total) / world_size()

    def exchange(self, gradients: Sequence[torch.Tensor]) -> None:
        """Make gradients that no ``backward`` exchanged the mean of all processes', in place."""
        for gradient in gradients:
            dist.all_reduce(gradient)
            gradient.div_(world_size())


class Divided(Replicated):
    """Each process its batches and its part of the model, which are put together block by block (FSDP2)."""

    def __init__(self, mesh: Mesh | None) -> None:
        super().__init__()
        self._mesh = mesh

    def wrapped(self, model: torch.nn.Module, optimizer: Optimizer) -> torch.nn.Module:
        """The model itself, whose parameters are divided now, and are those that the optimizer updates."""
        if is_divided(model):
            return model
        before = dict(model.named_parameters())
        self._divide(model)
        rehome(optimizer, before, dict(model.named_parameters()))
        return model

    def average(self, ema: AveragedModel | None, model: torch.nn.Module) -> None:
        """The average is divided as the model is: each process averages its part."""
        if ema is not None and not is_divided(ema.module):
            self._divide(ema.module)

    def _divide(self, model: torch.nn.Module) -> None:
        if self._mesh is not None and "tensor" in self._mesh.names:
            parallelize(model, self._mesh)
        if self._mesh is None or set(DATA) & set(self._mesh.names):
            shard(model, self._mesh)

    def to_evaluate(self, fit: Fit, trained: torch.nn.Module) -> torch.nn.Module:
        """The same model, if all processes have as many validation batches: they put it together in each of them."""
        self._same_number(fit.validation, "validation batches")
        return trained

    def epoch_totals(self, fit: Fit) -> tuple[float, int]:
        """As of processes that have all of the model; those that share a batch count its samples once."""
        mean, samples = super().epoch_totals(fit)
        return mean, samples // (1 if self._mesh is None else world_size() // self._mesh.share.num_replicas)

    def synchronize(self, flag: bool) -> None:
        """Nothing: every ``backward`` divides its gradients, which then add up."""

    def exchange(self, gradients: Sequence[torch.Tensor]) -> None:
        """Nothing: they are what all processes have."""


def sharing(parallel: Parallel | None) -> Alone:
    """The implementation of a kind; `Alone` for a single process."""
    if parallel is None or not has_group():
        return Alone()
    return Replicated() if parallel == "ddp" else Divided(parallel if isinstance(parallel, Mesh) else None)


def why_not_parallel(parallel: Any, loader: Any) -> str:
    """Why the processes can't share this training; "" when they can."""
    if parallel is None:
        return ""
    if parallel not in KINDS and not isinstance(parallel, Mesh):
        return f"parallel is {parallel!r}: it must be one of {', '.join(map(repr, KINDS))}, a Mesh, or None"
    if is_started_together() and not has_group():
        return (
            f"parallel={parallel!r}, but the processes have not met: call simpletorch.distributed.init() at the start "
            "of the program"
        )
    return _why_not_shared(parallel, _sampler_of(loader)) if world_size() > 1 else ""


def _why_not_shared(parallel: Parallel, sampler: Any) -> str:
    """Why a loader doesn't read what is this process's; processes that divide layers, and no data, read the same."""
    share, given = Share(world_size(), rank()), ""
    if isinstance(parallel, Mesh):
        share, given = parallel.share, ", *mesh.share"
    hint = f"DataLoader(dataset, …, sampler=simpletorch.data.DistributedSampler(dataset{given}))"
    if share.num_replicas > 1 and type(sampler) in (RandomSampler, SequentialSampler):
        return (
            f"the loader of rank {rank()} reads every sample, as those of the other {world_size() - 1} do: {hint} "
            "gives each rank its share"
        )
    if isinstance(sampler, DistributedSampler) and (sampler.num_replicas, sampler.rank) != share:
        return (
            f"the loader of rank {rank()} reads part {sampler.rank} of {sampler.num_replicas}, and with "
            f"parallel={parallel!r} its share is part {share.rank} of {share.num_replicas}: {hint}"
        )
    return ""


def _sampler_of(loader: Any) -> Any:
    """The sampler of a loader's samples; beside a custom batch sampler torch keeps an unused `SequentialSampler`."""
    batches = getattr(loader, "batch_sampler", None)
    return getattr(loader if batches is None else batches, "sampler", None)
