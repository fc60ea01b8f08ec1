"""How the processes of a training are arranged: a grid whose directions have names."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import torch
import torch.distributed as dist

from simpletorch.distributed._group import has_group
from simpletorch.errors import TorchError, as_also

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh

_Wrong: Final = as_also(TorchError, ValueError)


DATA: Final = ("replicate", "data")
"""The directions along which processes read different samples."""


class Share(NamedTuple):
    """One of ``num_replicas`` parts of a dataset, which are numbered from 0."""

    num_replicas: int
    rank: int


class Mesh:
    """A grid of processes: ``Mesh(data=2, tensor=4)`` is eight, rank ``r`` in row ``r // 4`` and column ``r % 4``.

    Neighbours in the last direction have neighbouring ranks, so it is the one to give the fastest connections: tensor
    parallel inside a machine, data parallel across. One size may be -1: it follows from the number of processes.

    The names have a meaning for `shard` (``data`` and ``context`` divide parameters, ``replicate`` repeats them),
    `parallelize` (``tensor``), `Pipeline` (``pipeline``) and `context_parallel` (``context``). Any other name will do
    for directions of your own.

    Nothing happens until `device_mesh` is asked for, torch's own mesh, which makes a process group for each direction:
    every process must ask.

    Args:
        sizes: by name, how many processes there are in each direction.

    Raises:
        ValueError: there is no direction, or a size is below 1 (apart from one -1); it is a `TorchError` too.

    Source: https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.device_mesh.DeviceMesh

    Examples:
        >>> from simpletorch import distributed
        >>> mesh = distributed.Mesh(data=1)
        >>> mesh.sizes()
        {'data': 1}
    """

    def __init__(self, **sizes: int) -> None:
        if not sizes:
            raise _Wrong("Mesh() has no direction: give at least one, such as Mesh(data=2)")
        wrong = {name: size for name, size in sizes.items() if size < 1 and size != -1}
        if wrong or list(sizes.values()).count(-1) > 1:
            raise _Wrong(f"{_text(sizes)}: sizes are at least 1, and one may be -1 (the rest)")
        self._given = dict(sizes)

    @property
    def names(self) -> tuple[str, ...]:
        """The directions."""
        return tuple(self._given)

    def sizes(self, world: int | None = None) -> dict[str, int]:
        """How many processes there are in each direction.

        Args:
            world: how many there are in all; by default as many as the process group has, 1 without one.

        Raises:
            ValueError: that isn't the mesh's number, or the sizes that are given don't divide it.
        """
        world = _world_size() if world is None else world
        known = math.prod(size for size in self._given.values() if size != -1)
        rest, left = divmod(world, known)
        if left or (rest != 1 and -1 not in self._given.values()):
            raise _Wrong(
                f"{_text(self._given)} is a grid of {known} processes"
                f"{' or a multiple of them' if -1 in self._given.values() else ''}, but there are {world}",
                hint=f"torchrun --nproc-per-node {known}, or other sizes: their product is the number of processes",
            )
        return {name: rest if size == -1 else size for name, size in self._given.items()}

    @cached_property
    def device_mesh(self) -> DeviceMesh:
        """torch's mesh of these processes; every process must ask for it.

        Raises:
            ValueError: the sizes don't fit the number of processes.
            TorchError: there is no process group.
        """
        from torch.distributed.device_mesh import init_device_mesh

        if not has_group():
            raise TorchError(
                f"{_text(self._given)} arranges processes, but there is no process group",
                hint="call simpletorch.distributed.init() first, in a script started by torchrun",
            )
        sizes = self.sizes()
        # "fake" is torch's group for plans: it has no device of its own
        kind = "cuda" if torch.cuda.is_available() and dist.get_backend() != "gloo" else "cpu"
        return init_device_mesh(kind, tuple(sizes.values()), mesh_dim_names=tuple(sizes))

    @property
    def share(self) -> Share:
        """Which part of the samples this process reads: those beside it in other directions than of data read the same.

        ``DistributedSampler(dataset, *mesh.share)`` reads it.

        Raises:
            ValueError: the sizes don't fit the number of processes.
        """
        sizes = self.sizes()
        rest, place = (dist.get_rank() if _world_size() > 1 else 0), {}
        for name, size in reversed(sizes.items()):
            rest, place[name] = divmod(rest, size)
        shares, number = 1, 0
        for name, size in sizes.items():
            if name in DATA:
                shares, number = shares * size, number * size + place[name]
        return Share(shares, number)

    def __repr__(self) -> str:
        return _text(self._given)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mesh) and list(self._given.items()) == list(other._given.items())

    def __hash__(self) -> int:
        return hash(tuple(self._given.items()))


def planned(mesh: Mesh) -> dict[str, int]:
    """The sizes of a mesh whose processes need not be there; -1 is the number of the remaining ones.

    Raises:
        ValueError: a size is -1, and the others don't divide the number of processes.
    """
    return mesh.sizes() if -1 in mesh._given.values() else dict(mesh._given)


def _text(sizes: Mapping[str, int]) -> str:
    return f"Mesh({', '.join(f'{name}={size}' for name, size in sizes.items())})"


def _world_size() -> int:
    return dist.get_world_size() if has_group() else 1


def direction(mesh: Mesh | DeviceMesh, *names: str) -> DeviceMesh | None:
    """The part of a mesh along those of ``names`` that it has, in its own order; None if it has none of them."""
    own = mesh.device_mesh if isinstance(mesh, Mesh) else mesh
    there = tuple(name for name in own.mesh_dim_names or () if name in names)
    return own[there] if there else None


def dividing(mesh: Mesh | DeviceMesh) -> DeviceMesh | None:
    """The part of a mesh along which parameters are divided, ``data`` and ``context`` as one direction, and repeated.

    Processes beside each other in ``context`` compute on parts of the same samples, so their gradients are averaged
    like those of ``data``.
    """
    own = mesh.device_mesh if isinstance(mesh, Mesh) else mesh
    found, parts = direction(own, *DATA), direction(own, "data", "context")
    if parts is None or "context" not in (parts.mesh_dim_names or ()):
        return found
    together = parts._flatten("data_context") if parts.ndim > 1 else parts
    if "replicate" not in (own.mesh_dim_names or ()):
        return together
    return own["replicate", (together.mesh_dim_names or ())[0]]
