"""`plan`: the memory of a training on each rank of a mesh, and the bytes that ranks send."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import torch
from torch import nn

from simpletorch.distributed._mesh import Mesh, planned
from simpletorch.distributed._planning._activations import Traced, traced
from simpletorch.distributed._planning._gathered import gathered
from simpletorch.distributed._planning._layout import (
    PARALLEL,
    Layout,
    checked_mesh,
    layout_of,
    read_mesh,
)
from simpletorch.distributed._planning._precision import Precision, States, precision_of, states_of
from simpletorch.distributed._planning._traffic import Collective, collectives_of
from simpletorch.distributed._plans import Style, plan_for, styles_of
from simpletorch.distributed._shard import blocks_of
from simpletorch.errors import TorchError, as_also
from simpletorch.nn._summary_inputs import Inputs, read_inputs
from simpletorch.nn._summary_trace import materialized

__all__ = ["Memory", "Plan", "plan"]

_Wrong: Final = as_also(TorchError, ValueError)


@dataclass(frozen=True)
class Memory:
    """Bytes on the first rank, which has the most.

    Examples:
        >>> from simpletorch import distributed, nn
        >>> plan = distributed.plan(nn.MLP(784, 128, 10), "Float32[64, 784]", mesh="data=8")
        >>> plan.memory.parameters, plan.memory.gradients, plan.memory.optimizer
        (51272, 51272, 102560)
    """

    parameters: int
    """The parameters that the rank keeps."""
    gradients: int
    """Their gradients."""
    optimizer: int
    """The optimizer's states, and its own copy of the parameters if there is one."""
    buffers: int
    """The model's buffers."""
    gathered: int
    """Of FSDP: whole parameters, gradients that aren't divided yet, and the buffers of collectives, at their most."""
    activations: int
    """What autograd keeps from the forward to the backward, at its most."""

    @property
    def states(self) -> int:
        """Parameters, gradients and optimizer states, which don't depend on the batch."""
        return self.parameters + self.gradients + self.optimizer

    @property
    def total(self) -> int:
        """The sum; gathered buffers and activations may peak at different times."""
        return self.states + self.buffers + self.gathered + self.activations


@dataclass(frozen=True)
class Plan:
    """The memory of one rank and the bytes that it sends. ``print(p)`` shows it as text; `as_dict` is plain data.

    Examples:
        >>> from simpletorch import distributed, nn
        >>> plan = distributed.plan(nn.MLP(784, 128, 10), "Float32[64, 784]", mesh="data=8")
        >>> plan.as_dict()["mesh"]
        {'replicate': 1, 'data': 8, 'tensor': 1}
    """

    model: str
    """The name of the model's class."""
    mesh: Mapping[str, int]
    """The size of each axis."""
    parallel: str
    """How the ``data`` axis shares the training: ``"ddp"``, ``"zero1"``, ``"zero2"`` or ``"fsdp"``."""
    precision: Precision
    """The dtypes of parameters and of the computation."""
    optimizer: States
    """The optimizer's state for each parameter."""
    batch: int | None
    """The samples of each rank, or None if the inputs don't say which dim they are along."""
    sizes: Mapping[str, int]
    """The open sizes of the inputs, as they were chosen."""
    recompute: bool
    """Whether blocks are computed again in the backward."""
    parameters: int
    """The values of the model's parameters, each counted once."""
    trained: int
    """The values of the parameters that require a gradient."""
    memory: Memory
    """The bytes of one rank, by purpose."""
    collectives: tuple[Collective, ...]
    """The communication of one step."""
    room: int
    """The bytes of a device."""
    _ask: _Question

    @property
    def ranks(self) -> int:
        """How many processes take part."""
        count = 1
        for size in self.mesh.values():
            count *= size
        return count

    @property
    def fits(self) -> bool:
        """Whether all that is counted fits into a device; libraries and fragments take some GB more."""
        return self.memory.total <= self.room

    @cached_property
    def largest_batch(self) -> int | None:
        """The largest number of samples a rank that fits; None if it is unknown, or the states alone are too large."""
        return self._ask.largest_batch(self)

    @cached_property
    def fewest_ranks(self) -> int | None:
        """The smallest power of 2 for the axis ``data`` at which this batch fits; None if none up to 65,536 does."""
        counts = (2**power for power in range(17))
        return next((n for n in counts if self._ask.memory(data=n).total <= self.room), None)

    def as_dict(self) -> dict[str, Any]:
        """The plan as plain data, for JSON."""
        from simpletorch.distributed._planning._text import as_dict

        return as_dict(self)

    def __str__(self) -> str:
        from simpletorch.distributed._planning._text import as_text

        return as_text(self)


def plan(
    model: nn.Module,
    /,
    *inputs: Any,
    mesh: Mesh | Mapping[str, int] | str = "data=1",
    parallel: str = "fsdp",
    precision: str = "float32",
    optimizer: str = "adamw",
    optimizer_options: Mapping[str, Any] | None = None,
    batch: int | None = None,
    sizes: Mapping[str, int] | None = None,
    recompute: bool = False,
    loss: Callable[[Any], torch.Tensor] | None = None,
    styles: Mapping[str, Style] | None = None,
    room: float = 80e9,
) -> Plan:
    """The memory of a training of ``model`` on each rank of a mesh, and the bytes that ranks send in a step.

    ::

        print(plan(llama_2_7b(), mesh="data=8,tensor=2", precision="bf16", batch=1, sizes={"T": 4096}))

    Nothing is computed and nothing allocated: a model on the meta device will do. Parameters, gradients and states of
    the optimizer are exact; activations are the tensors that autograd saves on the CPU. Not counted are the workspaces
    of libraries, fragments of the allocator, results that no backward needs, sums over the tensor axis that a block
    makes again when it is computed again.

    Args:
        model: any module.
        inputs: the inputs of a call, as `simpletorch.nn.summary` takes them; by default the annotations of ``forward``
            give them.
        mesh: the axes ``data``, ``tensor`` and ``replicate`` with their sizes, as a `Mesh`, a dict or
            ``"data=8,tensor=2"``. No processes are needed, unless a size is -1.
        parallel: ``"ddp"`` (all on each rank), ``"zero1"`` (`ZeroRedundancyOptimizer`: its states divided), ``"zero2"``
            (gradients too: ``shard(reshard=False)``) or ``"fsdp"`` (parameters too), along ``data``.
        precision: ``"float32"``, ``"bf16"`` or ``"fp16"`` (float32 parameters; autocast, or the policy of `shard`),
            ``"bf16-true"`` (all in bfloat16), ``"bf16-master"`` (bfloat16, and a float32 copy for the optimizer, as
            DeepSpeed and Megatron have it).
        optimizer: a class of ``torch.optim``, in upper or lower case.
        optimizer_options: the optimizer's own arguments, such as ``{"momentum": 0.9}`` for SGD.
        batch: the samples of each rank: the first open size of the inputs.
        sizes: the other open sizes.
        recompute: blocks keep only their inputs, and are computed again in the backward.
        loss: applied to the output, ``lambda scores: F.cross_entropy(…)``; its saved tensors count.
        styles: how modules share their weights over ``tensor``, by path, as the plan of `parallelize`: ``"out"``,
            ``"in"``, ``"out and gather"``, ``"rows"``; by default those by which `parallelize` divides the model.
        room: the bytes of a device.

    Raises:
        TorchError: (a `ValueError` too) an axis, a name or a size is unknown, or doesn't divide what it must.
        TypeMismatch: (a `TypeError` too) no input is given, and the annotations of ``forward`` state no shape.
        Exception: raised by the model; torch's own as `TorchError`.

    Source: Rajbhandari et al. 2020, "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models";
    Korthikanti et al. 2022, "Reducing Activation Recomputation in Large Transformer Models".

    Examples:
        >>> from simpletorch import distributed, nn
        >>> plan = distributed.plan(nn.MLP(784, 128, 10), "Float32[64, 784]", mesh="data=8")
        >>> plan.parameters
        101770
        >>> plan.memory.parameters
        51272
    """
    if parallel not in PARALLEL:
        raise _Wrong(f"parallel={parallel!r} is none of {', '.join(PARALLEL)}")
    sizes_of_axes = planned(mesh) if isinstance(mesh, Mesh) else read_mesh(mesh) if isinstance(mesh, str) else mesh
    axes = checked_mesh(sizes_of_axes)
    given = read_inputs(model, inputs, {})
    dtypes, states = precision_of(precision), states_of(optimizer, optimizer_options)
    at = _sizes(given, batch, sizes or {})
    question = _Question(
        materialized(model, given),
        given,
        at,
        axes,
        parallel,
        dtypes,
        states,
        recompute,
        loss,
        _split(model, axes, styles),
    )
    parameters = list(model.parameters())
    return Plan(
        model=type(model).__name__,
        mesh=axes,
        parallel=parallel,
        precision=question.precision,
        optimizer=question.states,
        batch=at[given.symbols()[0]] if given.symbols() else None,
        sizes=at,
        recompute=recompute,
        parameters=sum(p.numel() for p in parameters),
        trained=sum(p.numel() for p in parameters if p.requires_grad),
        memory=question.memory(),
        collectives=question.collectives(),
        room=int(room),
        _ask=question,
    )


def _sizes(inputs: Inputs, batch: int | None, sizes: Mapping[str, int]) -> dict[str, int]:
    """The number for each open size of the inputs."""
    symbols = inputs.symbols()
    found = dict(sizes)
    if batch is not None:
        if not symbols:
            raise _Wrong("the inputs have no open size, which a batch could be")
        found = {symbols[0]: batch, **found}
    missing = [name for name in symbols if name not in found]
    unknown = [name for name in found if name not in symbols]
    if missing or unknown:
        what = f"{', '.join(missing)} is open" if missing else f"there is no open size {', '.join(unknown)}"
        raise _Wrong(
            f"the inputs have the sizes {', '.join(symbols) or '(none)'}, and {what}",
            hint="batch= is the first of them, sizes={'T': 2048} the others; of the command --batch 4 --size T=2048",
        )
    return found


def _split(model: nn.Module, axes: Mapping[str, int], styles: Mapping[str, Style] | None) -> Mapping[str, str]:
    if axes["tensor"] == 1:
        return {}
    return styles_of(model, plan_for(model) if styles is None else styles)


@dataclass(frozen=True)
class _Question:
    """A question to `plan`, from which those for other meshes and batches follow."""

    model: nn.Module
    inputs: Inputs
    sizes: Mapping[str, int]
    mesh: Mapping[str, int]
    parallel: str
    precision: Precision
    states: States
    recompute: bool
    loss: Callable[[Any], torch.Tensor] | None
    split: Mapping[str, str]

    @property
    def _is_sharded(self) -> bool:
        return self.parallel in ("zero2", "fsdp")

    @property
    def _has_whole_parameters(self) -> bool:
        """Whether the optimizer updates its own copy, so that the parameters stay whole in ZeRO's second stage."""
        return self.parallel == "zero2" and self.precision.master is not None

    @cached_property
    def _blocks(self) -> tuple[str, ...]:
        return tuple(blocks_of(self.model))

    @cached_property
    def _traced(self) -> Traced:
        return traced(
            self.model,
            self.inputs,
            self.sizes,
            precision=self.precision,
            autocast=not self._is_sharded and self.precision.stored is None,
            blocks=self._blocks,
            split=self.split,
            loss=self.loss,
        )

    def _layout(self, data: int | None = None, *, sharded: bool | None = None) -> Layout:
        mesh = {**self.mesh, "data": self.mesh["data"] if data is None else data}
        sharded = self._is_sharded if sharded is None else sharded
        return layout_of(self.model, mesh, sharded=sharded, blocks=self._blocks, split=self.split)

    def collectives(self) -> tuple[Collective, ...]:
        return collectives_of(
            self._layout(),
            self.mesh,
            parallel=self.parallel,
            precision=self.precision,
            sizes=self._traced.sizes,
            split=self.split,
        )

    def memory(self, data: int | None = None) -> Memory:
        precision, layout = self.precision, self._layout(data)
        parameters = gradients = optimizer = 0
        for part in layout.parts:
            size = precision.of_parameter(part.dtype).itemsize
            parameters += part.kept * size
            if part.trained:
                gradients += part.kept * size
                copies = self.states.tensors * precision.of_state(part.dtype).itemsize
                if precision.master is not None and part.dtype.is_floating_point:
                    copies += precision.master.itemsize
                optimizer += part.kept * copies + self.states.constant
        if self.parallel == "zero1":  # whole parameters go to one rank each, about as many values to all
            optimizer = -(-optimizer // (self.mesh["data"] if data is None else data))
        if self._has_whole_parameters:
            parameters = sum(part.local * precision.of_parameter(part.dtype).itemsize for part in layout.parts)
        return Memory(
            parameters,
            gradients,
            optimizer,
            sum(b.numel() * b.element_size() for b in self.model.buffers()),
            self._gathered(layout, self.mesh["data"] if data is None else data),
            self._activations(self._traced),
        )

    def _gathered(self, layout: Layout, ranks: int) -> int:
        if not self._is_sharded or self._has_whole_parameters or ranks == 1:
            return 0
        return gathered(layout, ranks, self.precision, self._traced.last, again=self.parallel == "fsdp")

    def _activations(self, found: Traced) -> int:
        tensor = self.mesh["tensor"]
        return sum(found.kept_by_recomputing(tensor)) if self.recompute and self._blocks else found.kept(tensor)

    def largest_batch(self, plan: Plan) -> int | None:
        """Kept memory grows linearly with the batch; the slope comes from two batches, and a third checks it."""
        if plan.batch is None:
            return None
        name = self.inputs.symbols()[0]
        one, two, three = (self._at({**self.sizes, name: plan.batch + more}) for more in (0, 1, 2))
        if two - one != three - two or two <= one:
            return None
        fixed = plan.memory.total - plan.memory.activations
        found = plan.batch + (plan.room - fixed - one) // (two - one)
        return found if found >= 1 else None

    def _at(self, sizes: Mapping[str, int]) -> int:
        if sizes == self.sizes:
            return self._activations(self._traced)
        return self._activations(replace(self, sizes=sizes)._traced)
