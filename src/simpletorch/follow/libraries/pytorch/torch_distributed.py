"""``torch.distributed`` and ours: who takes part, and collectives with as many processes as the program says."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final, TypeAlias

from simpletorch.follow import operators
from simpletorch.follow.libraries import ALIASES, MADE, Work, by_name, library_class, load, native
from simpletorch.follow.libraries.pytorch import dtensors, tensor_parallel, torch_meshes  # noqa: F401  (tables)
from simpletorch.follow.libraries.pytorch.torch_meshes import group_of, initialized, is_initialized
from simpletorch.follow.numbers import processes
from simpletorch.follow.values import (
    SIZE,
    Choice,
    List,
    Tensor,
    Unknown,
    Value,
)
from simpletorch.rules import Group, Many
from simpletorch.shapes import Expr

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter

Args: TypeAlias = tuple[Value, ...]
Kwargs: TypeAlias = dict[str, Value]

_DIST: Final = "torch.distributed"
_OURS: Final = "simpletorch.distributed"
ALIASES.update(
    {
        f"{_DIST}.distributed_c10d": _DIST,
        f"{_DIST}.nn.all_gather": f"{_DIST}.nn.functional.all_gather",
        f"{_DIST}.group.WORLD": f"{_DIST}.GroupMember.WORLD",
        f"{_DIST}.algorithms.Join": f"{_DIST}.algorithms.join.Join",
        f"{_OURS}.replicate": f"{_OURS}.shard",
        f"{_OURS}.ReduceOp": f"{_DIST}.ReduceOp",
        f"{_OURS}.DistributedSampler": "torch.utils.data.DistributedSampler",
    }
)
load("torch.utils.data")  # where the sampler is, which is ours too
_OWN: Final = (
    "Pipeline all_gather all_reduce all_to_all barrier broadcast gather init is_main launch local_rank rank "
    "reduce_scatter scatter shard world_size"
)
for _name in _OWN.split():  # whatever else lies below `simpletorch` is torch's thing of that name
    ALIASES[f"{_OURS}.{_name}"] = f"{_OURS}.{_name}"
    ALIASES[f"{_OURS}.collectives.{_name}"] = f"{_OURS}.{_name}"
for _name in ("all_reduce", "broadcast", "reduce", "gather", "scatter", "reduce_scatter", "all_to_all_single"):
    ALIASES[f"{_DIST}.nn.{_name}"] = f"{_DIST}.nn.functional.{_name}"


def _nothing(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return None


def _itself(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return args[0]


def _of_machine(kind: str | None) -> Work:
    return lambda run, args, kwargs: run.unknown("what depends on the machine", kind, "data")


def _register(names: str, work: Work, prefix: str = _DIST) -> None:
    for name in names.split():
        native(f"{prefix}.{name}")(work)


# -- who takes part ----------------------------------------------------------------------------------------------------


_INIT: Final = "backend init_method timeout world_size rank store group_name pg_options device_id"


@native(f"{_DIST}.init_process_group")
def _init_group(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    given = by_name(_INIT, args, kwargs)
    processes.say(run, given.get("world_size"), given.get("rank"))
    initialized(run)
    return None


def _init_of_ours(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """``simpletorch.distributed.init``: under torchrun there are several processes, which know of each other then."""
    initialized(run, run.unknown("whether several processes were started", "bool", "data"))
    return run.unknown("the device of this process", "device", "data")


@native(f"{_DIST}.destroy_process_group")
def _end_group(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    if not args and not kwargs:
        initialized(run, False)
    return None


@native(f"{_DIST}.is_initialized")
def _is_initialized(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return is_initialized(run)


@native(f"{_DIST}.is_available")
def _is_available(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return True


@native(f"{_DIST}.get_rank", f"{_OURS}.rank")
def _rank(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return processes.rank(run) if not args and not kwargs else run.unknown("the rank in a group", "int", "data")


@native(f"{_OURS}.local_rank")
def _local_rank(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return processes.local_rank()


@native(f"{_DIST}.get_world_size", f"{_OURS}.world_size")
def _world(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    found = group_of(run, by_name("group", args, kwargs).get("group")).size
    return found if isinstance(found, int | Expr) else run.unknown("how many processes there are", "int")


@native(f"{_OURS}.is_main")
def _is_main(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return operators.compare(run, ast.Eq, processes.rank(run), 0)


@native(f"{_DIST}.new_group")
def _new_group(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    ranks = run.resolve(by_name("ranks", args, kwargs).get("ranks"))
    if ranks is None:
        return torch_meshes.group(run, None)
    found = run.items(ranks) if isinstance(ranks, List | tuple | range) else None
    return run.unknown("a group of processes") if found is None else torch_meshes.group(run, Group(len(found)))


def _make_world(run: Interpreter) -> Value:
    return torch_meshes.group(run, None)


MADE[f"{_DIST}.GroupMember.WORLD"] = _make_world
_register("get_node_local_rank get_group_rank get_global_rank", _of_machine("int"))
_register("get_backend", _of_machine("str"))
_register("isend irecv batch_isend_irecv", _of_machine(None))
_register("barrier monitored_barrier send recv broadcast_object_list all_gather_object", _nothing)
_register("init", _init_of_ours, _OURS)
_register("barrier", _nothing, _OURS)


# -- collectives -------------------------------------------------------------------------------------------------------

_PARAMETERS: Final = {
    "all_gather": "tensor_list tensor group async_op",
    "all_gather_into_tensor": "output_tensor input_tensor group async_op",
    "all_gather_single": "output_tensor input_tensor group async_op",
    "all_to_all_single": "output input output_split_sizes input_split_sizes group async_op",
    "gather": "tensor gather_list dst group async_op group_dst",
    "reduce_scatter": "output input_list op group async_op",
    "reduce_scatter_single": "output input op group async_op",
    "reduce_scatter_tensor": "output input op group async_op",
    "scatter": "tensor scatter_list src group async_op group_src",
}
_LISTS: Final = ("tensor_list", "gather_list", "scatter_list", "input_list", "tensors")
_GRADIENTS: Final = f"{_DIST}.nn.functional"
_PARAMETERS_WITH_GRADIENTS: Final = {
    "all_gather": "tensor group",
    "all_reduce": "tensor op group",
    "all_to_all_single": "output input output_split_sizes input_split_sizes group",
    "broadcast": "tensor src group",
    "gather": "tensor dst group",
    "reduce": "tensor dst op group",
    "reduce_scatter": "output input_list op group",
    "scatter": "tensors src group",
}


def _written(name: str) -> Work:
    """A collective that writes into what it is given, and gives nothing, or a handle."""

    def work(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        given = _grouped(run, _PARAMETERS[name], args, kwargs)
        asynchronous = run.resolve(given.pop("async_op", False))
        run.ask(f"{_DIST}.{name}", (), given)
        return None if asynchronous is False else run.unknown("a handle of what is being sent")

    return work


def _given_back(name: str, parameters: str) -> Work:
    """A collective that gives a new tensor, or one from each process."""

    def work(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        made = run.ask(name, (), _grouped(run, parameters, args, kwargs))
        size = group_of(run, by_name(parameters, args, kwargs).get("group")).size
        if isinstance(made, List) and made.items is None and isinstance(size, Expr):
            made.cells[SIZE] = None, 0, size
        return made

    return work


def _grouped(run: Interpreter, parameters: str, args: Args, kwargs: Kwargs) -> Kwargs:
    """The arguments as rules have them: with the number of processes, and what a list of unknown length holds."""
    given = by_name(parameters, args, kwargs)
    given["group"] = group_of(run, given.get("group"))
    for name in _LISTS:
        many = run.resolve(given.get(name))
        if isinstance(many, List) and many.items is None:
            item = run.resolve(many.item)
            given[name] = Many(item.type) if isinstance(item, Tensor) else run.unknown("tensors of processes")
    return given


for _name in _PARAMETERS:
    native(f"{_DIST}.{_name}")(_written(_name))
_register("all_reduce broadcast reduce all_to_all all_gather_coalesced", lambda run, args, kwargs: _waited(run, kwargs))
for _name, _names in _PARAMETERS_WITH_GRADIENTS.items():
    native(f"{_GRADIENTS}.{_name}")(_given_back(f"{_GRADIENTS}.{_name}", _names))
_FUNCTIONAL: Final = f"{_DIST}._functional_collectives"
for _names, _parameters in {
    "all_reduce": "self reduceOp",
    "broadcast": "self src",
    "permute_tensor": "self src_dst",
    "all_to_all_single all_to_all_single_autograd": "self output_split_sizes input_split_sizes",
    "all_gather_tensor all_gather_tensor_autograd all_gather_single all_gather_single_autograd": "self gather_dim",
    "reduce_scatter_tensor reduce_scatter_tensor_autograd": "self reduceOp scatter_dim",
    "reduce_scatter_single reduce_scatter_single_autograd": "self reduceOp scatter_dim",
}.items():
    for _name in _names.split():
        native(f"{_FUNCTIONAL}.{_name}")(_given_back(f"{_FUNCTIONAL}.{_name}", f"{_parameters} group tag"))


def _waited(run: Interpreter, kwargs: Kwargs) -> Value:
    asynchronous = run.resolve(kwargs.get("async_op", False))
    return None if asynchronous is False else run.unknown("a handle of what is being sent")


def _ours(name: str, parameters: str) -> Work:
    def work(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        given = by_name(parameters, args, kwargs)
        return run.ask(f"{_OURS}.{name}", (), {**given, "group": group_of(run, None)})

    return work


for _name, _names in {
    "all_reduce": "x op",
    "all_gather": "x dim",
    "reduce_scatter": "x op dim",
    "broadcast": "x src",
    "all_to_all": "x dim",
    "scatter": "x src dim",
}.items():
    native(f"{_OURS}.{_name}")(_ours(_name, _names))


@native(f"{_OURS}.gather")
def _gather(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """What all have at one process, None at the others."""
    given = by_name("x dst dim", args, kwargs)
    there = operators.compare(run, ast.Eq, processes.rank(run), given.pop("dst", 0))
    made = _ours("all_gather", "x dim")(run, (), given)
    return Choice(there, made, None) if isinstance(there, Unknown) else made if there is True else None


# -- models and processes ----------------------------------------------------------------------------------------------


@native(f"{_DIST}.elastic.multiprocessing.errors.record")
def _recorded(run: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return args[0] if args else kwargs.get("fn")


_STATES: Final = f"{_DIST}.checkpoint.state_dict"
_register("set_model_state_dict set_optimizer_state_dict set_state_dict", _nothing, _STATES)
_register("save async_save", _of_machine(None), f"{_DIST}.checkpoint")
library_class(
    f"{_DIST}.algorithms.join.Join", methods={"__init__": _nothing, "__enter__": _itself, "__exit__": _nothing}
)
