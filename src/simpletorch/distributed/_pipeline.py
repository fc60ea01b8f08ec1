"""Pipeline parallel: each process has some of the layers, and parts of a batch go from one to the next.

Huang et al., GPipe, 2018 (https://arxiv.org/abs/1811.06965); Narayanan et al., PipeDream: 1F1B, 2019.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Final, Literal

import torch
import torch.distributed as dist
from torch import nn

from simpletorch.distributed._group import has_group
from simpletorch.distributed._mesh import Mesh, direction
from simpletorch.distributed._stages import Layer, in_order, stages_of
from simpletorch.errors import ShapeMismatch, TorchError, as_also

_Wrong: Final = as_also(TorchError, ValueError)
_SCHEDULES: Final = {"gpipe": "ScheduleGPipe", "1f1b": "Schedule1F1B"}


class Pipeline:
    """A model divided among processes by its layers, one stage after the other; trained by `step`.

    A batch is cut along its first dim into ``parts``, so that the stages work at the same time: with ``p`` parts and
    ``s`` stages each waits ``(s - 1) / (p + s - 1)`` of the time. On one process without a group there is one stage,
    which computes the same sums.

    Together with other directions of a mesh, divide the layers first and the rest last, and build models that are too
    large on ``meta``::

        mesh = Mesh(pipeline=4, data=2, tensor=8)
        pipeline = Pipeline(parallelize(model, mesh), loss, parts=8, mesh=mesh)
        shard(pipeline.stage, mesh)

    Args:
        layers: in order, each from one tensor to one tensor, or a `LlamaForCausalLM`; all processes build the same.
        loss: the mean loss of outputs and targets, a 0-d tensor.
        parts: into how many a batch is cut; its length must be a multiple.
        mesh: has a direction ``pipeline``; by default all processes are stages.
        schedule: ``"1f1b"`` goes back as soon as it can and keeps few parts in memory, ``"gpipe"`` after all of them.

    Raises:
        ValueError: there are fewer layers than stages, ``parts`` or ``schedule`` is wrong, or the layers of the model
            aren't known; a `TorchError` too.

    Source: https://docs.pytorch.org/docs/stable/distributed.pipelining.html

    Examples:
        >>> import torch
        >>> from simpletorch import distributed, nn
        >>> layers = [nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3)]
        >>> pipeline = distributed.Pipeline(layers, nn.functional.cross_entropy, parts=2)
        >>> pipeline.step(torch.zeros(4, 8), torch.zeros(4, dtype=torch.int64)).shape
        torch.Size([])
    """

    stage: nn.Sequential
    """This process's layers. The optimizer is of its parameters."""
    first: int
    """The place of its first layer among all."""

    def __init__(
        self,
        layers: nn.Module | Sequence[nn.Module],
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
            raise _Wrong(f"Pipeline needs a mesh with the direction pipeline, not {mesh}: use Mesh(pipeline=…)")
        self.stages = 1 if line is None else line.size()
        self.number = 0 if line is None else line.get_local_rank()
        self.parts, self.loss = parts, loss
        cuts = stages_of(in_order(layers), self.stages)
        self.first = sum(map(len, cuts[: self.number]))
        self._layers: list[Layer] = cuts[self.number]
        self.stage = nn.Sequential(*(layer.module for layer in self._layers))
        self._group, self._kind = None if line is None else line.get_group(), schedule

    @cached_property
    def _schedule(self) -> Any:
        """torch's, made by the first step: until then the stage may go to another device."""
        from torch.distributed import pipelining

        device = next((parameter.device for parameter in self.stage.parameters()), torch.device("cpu"))
        stage = pipelining.PipelineStage(self.stage, self.number, self.stages, device, group=self._group)
        return getattr(pipelining, _SCHEDULES[self._kind])(stage, n_microbatches=self.parts, loss_fn=self.loss)

    def step(self, inputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Make the gradients of one batch, which every process is given.

        Args:
            inputs: the input of the first layer, ``[B, *S]``.
            targets: the targets of the loss, ``[B, *S]``.

        Returns:
            The mean loss of the batch, 0-d, in every process.

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
        if self.stages == 1:
            return self._alone(inputs, targets)
        losses: list[torch.Tensor] = []
        given = (inputs,) if self.number == 0 else ()
        asked = {"target": targets, "losses": losses} if self.number == self.stages - 1 else {}
        self._schedule.step(*given, **asked)
        # of a dtype that all know beforehand: inputs may be tokens, and only the last stage has seen the loss
        loss = torch.zeros((), dtype=torch.get_default_dtype(), device=inputs.device)
        if losses:
            loss.copy_(torch.stack(losses).mean().detach())
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
        """This stage's parameters and buffers under the names that they have in the whole model."""
        names = self._names()
        return {names[name]: value for name, value in self.stage.state_dict().items()}

    def load_state_dict(self, state: dict[str, torch.Tensor]) -> None:
        """Load this stage's part of a state of the whole model, or of `state_dict`.

        Args:
            state: tensors by the names of the whole model; other stages' tensors are ignored.
        """
        self.stage.load_state_dict({own: state[name] for own, name in self._names().items() if name in state})

    def _names(self) -> dict[str, str]:
        """By its name in the stage, how each value is called in the whole model."""
        found = {}
        for name in self.stage.state_dict():
            index, _, rest = name.partition(".")
            layer = self._layers[int(index)]
            found[name] = layer.name + rest.removeprefix(layer.inner)
        return found
