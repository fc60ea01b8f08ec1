"""Tensors over a mesh of processes: ``DTensor``, with the shape of the whole."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

from simpletorch.follow.libraries import ALIASES, Work, by_name, library_class, method, native
from simpletorch.follow.libraries.pytorch.torch_meshes import mesh_of
from simpletorch.follow.marks import spread
from simpletorch.follow.marks.spread import PLAIN, Spread
from simpletorch.follow.values import Class, Instance, List, Tensor, Value
from simpletorch.rules import Report

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

Args: TypeAlias = tuple[Value, ...]
Kwargs: TypeAlias = dict[str, Value]

_TENSOR: Final = "torch.distributed.tensor"
for _name in ("Shard", "Replicate", "Partial", "Placement"):
    ALIASES[f"{_TENSOR}.placement_types.{_name}"] = f"{_TENSOR}.{_name}"


# -- placements --------------------------------------------------------------------------------------------------------


def _make_placement(run: Interpreter, cls: Class, args: Args, kwargs: Kwargs) -> Value:
    return Instance(cls, run.resolve(by_name("dim", args, kwargs).get("dim")) if cls.name == "Shard" else None)


for _name in ("Shard", "Replicate", "Partial"):
    library_class(f"{_TENSOR}.{_name}", make=_make_placement)


def _spread(run: Interpreter, given: Kwargs) -> Spread:
    """Where the arguments ``device_mesh`` and ``placements`` put a tensor; without placements it is replicated."""
    mesh = mesh_of(run.resolve(given.get("device_mesh")))
    placements = run.resolve(given.get("placements"))
    found = run.items(placements) if isinstance(placements, List | tuple) else None
    cuts: list[int | None] = []
    for one in map(run.resolve, found or ()):
        known = isinstance(one, Instance) and one.cls.module == _TENSOR
        if not known or (one.cls.name == "Shard" and not isinstance(one.native, int)):
            return Spread(None if mesh is None else mesh.sizes, None)
        cuts.append(one.native)
    if placements is None and mesh is not None:
        cuts = [None] * len(mesh.sizes)
    known_cuts = tuple(cuts) if found is not None or (placements is None and mesh is not None) else None
    return Spread(None if mesh is None else mesh.sizes, known_cuts)


def _over(run: Interpreter, value: Value, at: Spread) -> Value:
    if isinstance(value, Tensor):
        spread.SPREAD.put(value, at)
        run.spreads = True
    return value


def _misfit(name: str, value: Tensor, at: Spread) -> Report | None:
    """Why torch doesn't put it there."""
    if at.sizes is not None and at.cuts is not None and len(at.sizes) != len(at.cuts):
        entries, dims = len(at.cuts), len(at.sizes)
        reason = f"placements has {entries} entries, but the mesh has {dims} dims; it must have one for each"
        return Report(name, "shape", reason, {"tensor": value.type}, None, len(at.sizes), len(at.cuts))
    rank = value.type.shape.rank
    for cut in at.cuts or ():
        if cut is not None and rank is not None and not -rank <= cut < rank:
            return Report(name, "shape", f"Shard({cut}) is no dim of {value.type.shape}", {"tensor": value.type})
    return None


# -- made --------------------------------------------------------------------------------------------------------------


@native(f"{_TENSOR}.distribute_tensor")
def _distribute(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """The shape is that of the tensor; a size that the mesh doesn't divide makes parts of different sizes."""
    given = by_name("tensor device_mesh placements", args, kwargs)
    at = _spread(run, given)

    def one(value: Value) -> Value:
        if not isinstance(value, Tensor):
            return run.unknown("a tensor over a mesh")
        misfit = _misfit("distribute_tensor", value, at)
        return run.report(misfit) if misfit is not None else _over(run, _copy(run, value), at)

    return run.each(given.get("tensor"), one)


def _copy(run: Interpreter, value: Tensor) -> Value:
    return run.ask("Tensor.clone", (value,))


@native(f"{_TENSOR}.DTensor.from_local")
def _from_local(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    given = by_name("local_tensor device_mesh placements", args, kwargs)
    local, at = run.resolve(given.get("local_tensor")), _spread(run, given)
    if not isinstance(local, Tensor) or run.resolve(given.get("shape")) is not None:
        return run.unknown("a tensor over a mesh")
    made = _copy(run, local)
    if isinstance(made, Tensor):
        made.cells["type"] = replace(made.type, shape=spread.global_shape(local.type.shape, at))
    return _over(run, made, at)


def _maker(name: str) -> Work:
    def work(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        own = {k: v for k, v in kwargs.items() if k not in ("device_mesh", "placements")}
        return _over(run, run.ask(f"torch.{name}", args, own), _spread(run, kwargs))

    return work


for _name in ("zeros", "ones", "empty", "full", "rand", "randn"):
    native(f"{_TENSOR}.{_name}")(_maker(_name))


# -- read --------------------------------------------------------------------------------------------------------------


@method(Tensor, "full_tensor")
def _full(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return spread.plain(_copy(run, args[0]))


@method(Tensor, "to_local")
def _to_local(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    made, at = _copy(run, args[0]), args[0].marks.spread
    if isinstance(made, Tensor):
        at = Spread(None, None) if at is None or at is PLAIN else at
        made.cells["type"] = replace(made.type, shape=spread.local_shape(made.type.shape, at))
    return spread.plain(made)


@method(Tensor, "redistribute")
def _redistribute(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    given = by_name("device_mesh placements", args[1:], kwargs)
    at, before = _spread(run, given), args[0].marks.spread
    if run.resolve(given.get("device_mesh")) is None and before is not None:
        at = Spread(before.sizes, at.cuts)
    misfit = _misfit("redistribute", args[0], at)
    return run.report(misfit) if misfit is not None else _over(run, _copy(run, args[0]), at)


@native(f"{_TENSOR}.experimental.implicit_replication")
def _mixing(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """From here on nothing is said of what is mixed."""
    run.heap.write(run.modes, spread.MIXES, True)
    return Instance(run.program.library_class("torch.device_context"))
