"""Pipeline parallel: each process has some of the layers, and parts of a batch go from one to the next.

Huang et al., GPipe, 2018 (https://arxiv.org/abs/1811.06965); Narayanan et al., PipeDream: 1F1B, 2019.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Literal

import torch
import torch.distributed as dist
from torch import nn

from simpletorch.distributed._group import has_group
from simpletorch.distributed._mesh import Mesh, direction
from simpletorch.errors import ShapeMismatch, TorchError, as_also

_Wrong: Final = as_also(TorchError, ValueError)
_SCHEDULES: Final = {"gpipe": "ScheduleGPipe", "1f1b": "Schedule1F1B"}


class Pipeline:
    """A sequence of layers divided among processes, one stage after the other; trained by `step`.

    A batch is cut along its first dim into ``parts``, so that the stages work at the same time: with ``p`` parts and
    ``s`` stages each waits ``(s - 1) / (p + s - 1)`` of the time. On one process without a group there is one stage,
    which computes the same sums.

    Args:
        layers: what comes one after the other, each from one tensor to one tensor; all processes build the same.
        loss: the mean loss of outputs and targets, a 0-d tensor.
        parts: into how many a batch is cut; its length must be a multiple.
        mesh: has a direction ``pipeline``; by default all processes are stages.
        schedule: ``"1f1b"`` goes back as soon as it can and keeps few parts in memory, ``"gpipe"`` after all of them.

    Raises:
        ValueError: there are fewer layers than stages, or ``parts`` or ``schedule`` is wrong; a `TorchError` too.

    Source: https://docs.pytorch.org/docs/stable/distributed.pipelining.html
    """

    stage: nn.Sequential
    """This process's layers. The optimizer is of its parameters."""
    first: int
    """The place of its first layer among all."""

    def __init__(
        self,
        layers: nn.Sequential | Sequence[nn.Module],
        loss: Callable[[Any, Any], torch.Tensor],
        *,
        parts: int,
        mesh: Mesh | None = None,
        schedule: Literal["1f1b", "gpipe"] = "1f1b",
    ) -> None:
        if parts < 1 or schedule not in _SCHEDULES:
            raise _Wrong(f"Pipeline got parts={parts}, schedule={schedule!r}: at least 1, and '1f1b' or 'gpipe'")
        together = has_group()
        line = direction(Mesh(pipeline=-1) if mesh is None else mesh, "pipeline") if together else None
        if together and line is None:
            raise _Wrong(f"Pipeline needs a direction pipeline, and {mesh} has none: Mesh(pipeline=…)")
        self.stages = 1 if line is None else line.size()
        self.number = 0 if line is None else line.get_local_rank()
        self.parts, self.loss = parts, loss
        cuts = stages_of(list(layers), self.stages)
        self.first = sum(map(len, cuts[: self.number]))
        self.stage = nn.Sequential(*cuts[self.number])
        self._group = None if line is None else line.get_group()
        self._schedule = None if line is None or self.stages == 1 else self._scheduled(schedule)

    def _scheduled(self, schedule: str) -> Any:
        from torch.distributed import pipelining

        device = next((parameter.device for parameter in self.stage.parameters()), torch.device("cpu"))
        stage = pipelining.PipelineStage(self.stage, self.number, self.stages, device, group=self._group)
        return getattr(pipelining, _SCHEDULES[schedule])(stage, n_microbatches=self.parts, loss_fn=self.loss)

    def step(self, inputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Make the gradients of one batch, which every process is given; returns its mean loss in all of them, 0-d.

        Raises:
            ShapeMismatch: ``parts`` doesn't divide the batch.
        """
        if len(inputs) % self.parts:
            raise as_also(ShapeMismatch, ValueError)(
                self.parts,
                len(inputs),
                f"a batch of {len(inputs)} can't be cut into {self.parts} equal parts",
                operation="Pipeline.step",
            )
        if self._schedule is None:
            return self._alone(inputs, targets)
        losses: list[torch.Tensor] = []
        given = (inputs,) if self.number == 0 else ()
        asked = {"target": targets, "losses": losses} if self.number == self.stages - 1 else {}
        self._schedule.step(*given, **asked)
        loss = torch.stack(losses).mean().detach() if losses else inputs.new_zeros(())
        dist.broadcast(loss, group_src=self.stages - 1, group=self._group)
        return loss

    def _alone(self, inputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        losses = []
        for part, its in zip(inputs.chunk(self.parts), targets.chunk(self.parts), strict=True):
            loss = self.loss(self.stage(part), its)
            (loss / self.parts).backward()
            losses.append(loss.detach())
        return torch.stack(losses).mean()

    def state_dict(self) -> dict[str, torch.Tensor]:
        """This stage's parameters and buffers under the names that they have in the whole sequence."""
        return dict(self._renamed(self.stage.state_dict(), self.first))

    def load_state_dict(self, state: dict[str, torch.Tensor]) -> None:
        """Load this stage's part of a state of all layers, or of `state_dict`."""
        own = {f"{int(name.partition('.')[0]) - self.first}.{name.partition('.')[2]}": v for name, v in state.items()}
        here = self.stage.state_dict()
        self.stage.load_state_dict({name: value for name, value in own.items() if name in here})

    @staticmethod
    def _renamed(state: dict[str, torch.Tensor], by: int) -> Iterator[tuple[str, torch.Tensor]]:
        for name, value in state.items():
            layer, _, rest = name.partition(".")
            yield f"{int(layer) + by}.{rest}", value


def stages_of(layers: Sequence[nn.Module], stages: int) -> list[list[nn.Module]]:
    """The layers in so many groups, in order, with about as many parameters in each.

    Raises:
        ValueError: there are fewer layers than stages.
    """
    if len(layers) < stages:
        raise _Wrong(f"a pipeline of {stages} stages needs as many layers, and there are {len(layers)}")
    sizes = [sum(parameter.numel() for parameter in layer.parameters()) for layer in layers]
    groups: list[list[nn.Module]] = []
    start, left = 0, sum(sizes)
    for stage in range(stages, 0, -1):
        goal, end, size = left / stage, start + 1, sizes[start]
        # a layer more, while that brings it nearer to its share and leaves one for each stage that comes
        while len(layers) - end > stage - 1 and abs(size + sizes[end] - goal) <= abs(size - goal):
            size += sizes[end]
            end += 1
        if stage == 1:
            end = len(layers)
        groups.append(list(layers[start:end]))
        start, left = end, left - sum(sizes[start:end])
    return groups
