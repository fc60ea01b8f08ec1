"""Meshes of processes, models whose parameters are sharded over them, and tensors that are (``DTensor``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from simpletorch.follow import guards
from simpletorch.follow.calls import escape
from simpletorch.follow.libraries import ALIASES, by_name, library_class, native
from simpletorch.follow.numbers import processes
from simpletorch.follow.values import Instance, List, Value, is_int
from simpletorch.rules import Group, Report
from simpletorch.shapes import UNKNOWN, Dim, Expr

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

__all__ = ["Mesh", "group", "group_of", "initialized", "is_initialized", "mesh_of", "need_group"]

Args: TypeAlias = tuple[Value, ...]
Kwargs: TypeAlias = dict[str, Value]

_DIST: Final = "torch.distributed"
_MESHES: Final = f"{_DIST}.device_mesh"
ALIASES.update(
    {
        f"{_DIST}.init_device_mesh": f"{_MESHES}.init_device_mesh",
        f"{_DIST}.DeviceMesh": f"{_MESHES}.DeviceMesh",
        f"{_DIST}.tensor.DeviceMesh": f"{_MESHES}.DeviceMesh",
        f"{_DIST}.tensor.init_device_mesh": f"{_MESHES}.init_device_mesh",
        f"{_DIST}.tensor.device_mesh": _MESHES,
        f"{_DIST}._tensor": f"{_DIST}.tensor",
        f"{_DIST}._composable.fsdp": f"{_DIST}.fsdp",
        f"{_DIST}.fsdp.fully_sharded_data_parallel": f"{_DIST}.fsdp",
    }
)


class Mesh(NamedTuple):
    """Processes in rows: how many along each dim, and what the dims are called."""

    sizes: tuple[Dim, ...]
    names: tuple[str, ...] | None


# -- groups ------------------------------------------------------------------------------------------------------------

_INITIALIZED: Final = "(initialized)"
_INITIALIZE: Final = frozenset({"accelerate", "deepspeed", "ignite", "lightning", "pytorch_lightning", "transformers"})
"""Libraries that initialize the processes on their own, at a place that doesn't show it."""


def is_initialized(run: Interpreter) -> Value:
    """Whether the processes of the program know of each other by now."""
    return run.resolve(run.program.library(run, _DIST).cells.get(_INITIALIZED, False))


def initialized(run: Interpreter, value: Value = True) -> None:
    """From now on they do, don't, or may."""
    run.heap.write(run.program.library(run, _DIST).cells, _INITIALIZED, value)


def need_group(run: Interpreter, name: str) -> None:
    """torch refuses what needs a group of processes before there is one; said where nothing else can have made it."""
    if run.entry or run.program.packages.doubts or is_initialized(run) is not False:
        return
    if run.program.mentions().roots.isdisjoint(_INITIALIZE):
        message = f"{name} needs a process group, and init_process_group hasn't been called"
        guards.refuse(run, message, "call init_process_group first, under torchrun", "ValueError", "tensor-option")


def group(run: Interpreter, known: Group | None) -> Instance:
    """A group as the program has it; None is that of all processes, however many there are when it is used."""
    return Instance(run.program.library_class(f"{_DIST}.ProcessGroup"), known)


def group_of(run: Interpreter, value: Value) -> Group:
    """The processes that an argument ``group`` speaks of: a group, a mesh of one dim, or none for all."""
    value = run.resolve(value)
    if value is None or (isinstance(value, Instance) and value.cls.is_a(f"{_DIST}.ProcessGroup") and not value.native):
        return Group(processes.world_size(run))
    if isinstance(value, Instance) and isinstance(value.native, Group):
        return value.native
    mesh = mesh_of(value)
    return Group(mesh.sizes[0] if mesh is not None and len(mesh.sizes) == 1 else UNKNOWN)


def _size(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    found = group_of(run, args[0]).size
    return found if isinstance(found, int | Expr) else run.unknown("how many processes there are", "int")


def _number(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return run.unknown("the rank in a group", "int", "data")


library_class(f"{_DIST}.ProcessGroup", methods={"size": _size, "rank": _number})


# -- meshes ------------------------------------------------------------------------------------------------------------


def mesh_of(value: Value) -> Mesh | None:
    """What is known of a mesh."""
    return value.native if isinstance(value, Instance) and isinstance(value.native, Mesh) else None


def _mesh(run: Interpreter, known: Mesh) -> Instance:
    return Instance(run.program.library_class(f"{_MESHES}.DeviceMesh"), known)


def _product(sizes: tuple[Dim, ...]) -> Dim:
    """How many processes a mesh has."""
    found: Dim = 1
    for size in sizes:
        found = found * size
    return found


@native(f"{_MESHES}.init_device_mesh")
def _init_mesh(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    given = by_name("device_type mesh_shape", args, kwargs)
    shape, named = run.resolve(given.get("mesh_shape")), run.resolve(given.get("mesh_dim_names"))
    found = run.items(shape) if isinstance(shape, tuple | List) else None
    if found is None:
        return run.unknown("a mesh of processes")
    sizes = tuple(v if is_int(v) else UNKNOWN for v in map(run.resolve, found))
    names = run.items(named) if isinstance(named, tuple | List) else None
    texts = None if names is None else tuple(map(run.resolve, names))
    if texts is not None and len(texts) != len(sizes):
        reason = f"mesh_shape has {len(sizes)} dims, but mesh_dim_names has {len(texts)} names"
        return run.report(Report("init_device_mesh", "shape", reason, {}, None, len(sizes), len(texts)))
    needed, there = _product(sizes), processes.world_size(run)
    if isinstance(needed, int) and isinstance(there, int) and needed > there:  # fewer are a mesh of some of them
        grid = " x ".join(map(str, sizes))
        reason = f"a mesh of {grid} needs {needed} processes, but there are {there}"
        return run.report(Report("init_device_mesh", "shape", reason, {}, None, there, needed))
    initialized(run)
    return _mesh(run, Mesh(sizes, texts if texts is not None and all(isinstance(t, str) for t in texts) else None))


def _sub_mesh(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    mesh, names = mesh_of(args[0]), run.resolve(args[1])
    asked = (names,) if isinstance(names, str) else names if isinstance(names, tuple) else ()
    if mesh is None or mesh.names is None or not asked or not all(n in mesh.names for n in asked):
        return run.unknown("a part of a mesh")
    return _mesh(run, Mesh(tuple(mesh.sizes[mesh.names.index(n)] for n in asked), asked))


def _mesh_size(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    mesh, at = mesh_of(args[0]), run.resolve(by_name("mesh_dim", args[1:], kwargs).get("mesh_dim"))
    found: Dim = UNKNOWN
    if mesh is not None and at is None:
        found = _product(mesh.sizes)
    elif mesh is not None and isinstance(at, int) and -len(mesh.sizes) <= at < len(mesh.sizes):
        found = mesh.sizes[at]
    return found if isinstance(found, int | Expr) else run.unknown("how many processes a mesh has", "int")


def _mesh_group(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    mesh, at = mesh_of(args[0]), run.resolve(by_name("mesh_dim", args[1:], kwargs).get("mesh_dim"))
    if mesh is None:
        return run.unknown("a group of processes")
    if isinstance(at, str) and mesh.names is not None and at in mesh.names:
        at = mesh.names.index(at)
    if at is None and len(mesh.sizes) == 1:
        at = 0
    known = isinstance(at, int) and -len(mesh.sizes) <= at < len(mesh.sizes)
    return group(run, Group(mesh.sizes[at] if known else UNKNOWN))


library_class(
    f"{_MESHES}.DeviceMesh",
    methods={
        "__getitem__": _sub_mesh,
        "size": _mesh_size,
        "get_group": _mesh_group,
        "get_rank": lambda run, args, kwargs: processes.rank(run),
        **dict.fromkeys(("get_local_rank",), _number),
    },
    make=lambda run, cls, args, kwargs: Instance(cls),
)


# -- sharded models ----------------------------------------------------------------------------------------------------


@native(f"{_DIST}.fsdp.fully_shard", "simpletorch.distributed.shard")
def _fully_shard(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """The same module, which is called as before; it has other methods too, and its parameters are sharded."""
    module = run.resolve(args[0] if args else kwargs.get("module", kwargs.get("model")))
    for one in (run.items(module) or ()) if isinstance(module, List | tuple) else (module,):
        found = run.resolve(one)
        if isinstance(found, Instance):
            run.heap.write(found.state, "sharded", True)
    return module


@native(f"{_DIST}.tensor.distribute_module")
def _distribute_module(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """The same module; functions that the program gives may change it, and what it takes and gives."""
    given = by_name("module device_mesh partition_fn input_fn output_fn", args, kwargs)
    module = run.resolve(given.get("module"))
    if any(run.resolve(given.get(name)) is not None for name in ("partition_fn", "input_fn", "output_fn")):
        escape(run, (module,))
    return module
