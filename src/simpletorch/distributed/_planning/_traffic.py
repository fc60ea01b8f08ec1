"""The traffic of one step: which collectives, how many, how many bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import torch

from simpletorch.distributed._planning._layout import Layout
from simpletorch.distributed._planning._precision import Precision

__all__ = ["Collective", "collectives_of"]

_FIRST_BUCKET: Final = 2**20  # torch.nn.parallel.DistributedDataParallel's, in bytes
_BUCKET: Final = 25 * 2**20


@dataclass(frozen=True)
class Collective:
    """All calls of one kind in a step.

    Examples:
        >>> from simpletorch import distributed, nn
        >>> plan = distributed.plan(nn.MLP(784, 128, 10), "Float32[64, 784]", mesh="data=8")
        >>> [(each.kind, each.calls) for each in plan.collectives]
        [('all_gather', 2), ('all_gather', 2), ('reduce_scatter', 2)]
    """

    kind: str
    """``"all_reduce"``, ``"all_gather"``, ``"reduce_scatter"`` or ``"broadcast"``."""
    purpose: str
    """The tensors that are sent, such as ``"gradients"`` or ``"parameters, forward"``."""
    axis: str
    """The axis of the mesh: ``"data"``, ``"tensor"`` or ``"replicate"``."""
    ranks: int
    """The number of ranks that take part."""
    calls: int
    """The number of calls in a step."""
    bytes: int
    """Of all calls together, the whole tensors: what is reduced, or what has been gathered."""

    @property
    def sent(self) -> int:
        """The bytes that each rank sends in a ring, the algorithm of NCCL and gloo for large tensors."""
        rounds = 2 if self.kind == "all_reduce" else 1
        return rounds * self.bytes * (self.ranks - 1) // self.ranks


def collectives_of(
    layout: Layout,
    mesh: Mapping[str, int],
    *,
    parallel: str,
    precision: Precision,
    sizes: Mapping[str, list[tuple[int, int]]],
    split: Mapping[str, str],
) -> tuple[Collective, ...]:
    """The collectives of one step; those of an axis of one rank are none."""
    if parallel in ("ddp", "zero1"):
        data = _replicated(layout, mesh, precision, broadcast=parallel == "zero1")
    else:
        data = _sharded(layout, mesh, precision, again=parallel == "fsdp")
    return tuple(found for found in (*data, *_split(layout, mesh, sizes, split)) if found.ranks > 1 and found.calls)


def _replicated(
    layout: Layout, mesh: Mapping[str, int], precision: Precision, *, broadcast: bool
) -> Iterator[Collective]:
    ranks = mesh["replicate"] * mesh["data"]
    trained = [(part, precision.of_parameter(part.dtype)) for part in layout.parts if part.trained]
    sizes = [part.local * dtype.itemsize for part, dtype in trained]
    yield Collective("all_reduce", "gradients", "data", ranks, _buckets(sizes), sum(sizes))
    if broadcast:
        yield Collective("broadcast", "updated parameters", "data", ranks, len(sizes), sum(sizes))


def _buckets(sizes: list[int]) -> int:
    """How many buckets gradients of these sizes fill, the last parameter first."""
    count, filled, room = 0, 0, _FIRST_BUCKET
    for size in reversed(sizes):
        filled += size
        if filled >= room:
            count, filled, room = count + 1, 0, _BUCKET
    return count + (filled > 0)


def _sharded(layout: Layout, mesh: Mapping[str, int], precision: Precision, *, again: bool) -> Iterator[Collective]:
    ranks = mesh["data"]
    gathered = dict.fromkeys(layout.groups, 0)
    reduced = dict(gathered)
    for part in layout.parts:
        gathered[part.group] += part.kept * ranks * precision.of_compute(part.dtype).itemsize
        if part.trained:
            reduced[part.group] += part.kept * ranks * reduce_dtype(precision, part.dtype).itemsize
    yield Collective("all_gather", "parameters, forward", "data", ranks, len(gathered), sum(gathered.values()))
    if again:  # what is in no block isn't given up after the forward
        blocks = {group: size for group, size in gathered.items() if group}
        yield Collective("all_gather", "parameters, backward", "data", ranks, len(blocks), sum(blocks.values()))
    sizes = [size for size in reduced.values() if size]
    yield Collective("reduce_scatter", "gradients", "data", ranks, len(sizes), sum(sizes))
    yield Collective(
        "all_reduce", "gradients, of the shards", "replicate", mesh["replicate"], len(sizes), sum(sizes) // ranks
    )


def reduce_dtype(precision: Precision, dtype: torch.dtype) -> torch.dtype:
    """The dtype in which gradients are summed: that of the parameters which are kept."""
    return precision.of_parameter(dtype)


def _split(
    layout: Layout,
    mesh: Mapping[str, int],
    sizes: Mapping[str, list[tuple[int, int]]],
    split: Mapping[str, str],
) -> Iterator[Collective]:
    """Divided by outputs, the gradient of the input is summed; by inputs, the output: Megatron's f and g."""
    wide = [size for path, calls in sizes.items() if split[path].startswith(("out", "thirds")) for size, _ in calls]
    given = [size for size in wide if size]
    summed = [size for path, calls in sizes.items() if split[path] in ("in", "rows") for _, size in calls]
    joined = [size for path, calls in sizes.items() if split[path] == "out and gather" for _, size in calls]
    thirds = {path for path in sizes if split[path] == "thirds"}
    parts = [p.local * p.dtype.itemsize for p in layout.parts if p.trained and p.name.rpartition(".")[0] in thirds]
    yield Collective("all_reduce", "activations, forward", "tensor", mesh["tensor"], len(summed), sum(summed))
    yield Collective("all_gather", "outputs", "tensor", mesh["tensor"], len(joined), sum(joined))
    yield Collective("all_reduce", "gradients of activations", "tensor", mesh["tensor"], len(given), sum(given))
    yield Collective("all_gather", "gradients of whole weights", "tensor", mesh["tensor"], len(parts), sum(parts))
