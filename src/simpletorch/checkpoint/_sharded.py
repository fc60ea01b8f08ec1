"""Checkpoints of models that are divided among processes: a folder, each process's parts in a file of its own.

::

    step-000000100/checkpoint.safetensors        all that isn't divided, and the index of the parts
    step-000000100/part-00000-3f9c21d0.safetensors
    step-000000100/part-00001-3f9c21d0.safetensors

The folder is a checkpoint as soon as ``checkpoint.safetensors`` is in it, which comes last and in one step; it replaces
an older one, whose parts have other names and go afterwards. Its own checksum covers the index, and the index has one
for each part. DCP plans who writes what and who reads what of it (`_shards`), so that other processes can go on.
"""

from __future__ import annotations

import json
import math
import os
import secrets
import shutil
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar, cast

import torch
import torch.distributed as dist

from simpletorch._atomic import duplicate
from simpletorch.checkpoint._format import DTYPES, verify, write
from simpletorch.checkpoint._format import read as read_file
from simpletorch.checkpoint._names import own_names, unwrapped
from simpletorch.checkpoint._plain import is_sharded
from simpletorch.errors import CheckpointError, explained

MANIFEST: Final = "checkpoint.safetensors"
_INDEX: Final = "sharded"  # where it is in `about`
_PLACE: Final = "_simpletorch_part"  # on what stands for a divided tensor: its folder, its index and its name in that


def is_folder(path: Path) -> bool:
    """Whether ``path`` is a checkpoint in several files."""
    return (path / MANIFEST).is_file()


# -- writing ----------------------------------------------------------------------------------------------------------


def write_sharded(
    path: Path,
    about: dict[str, Any],
    state: Any,
    tensors: dict[str, torch.Tensor],
    sharded: dict[str, torch.Tensor],
    copies: Sequence[Path] = (),
    *,
    asynchronous: bool = False,
) -> Path | Future[Path]:
    """Write a checkpoint in which ``sharded`` are divided: every process must call, and all that counts is the first's.

    Args:
        path: of the folder.
        about, state, tensors: as for `_format.write`; the first process's are written.
        sharded: DTensors, by their names in ``state``; each process's parts are written.
        copies: other folders that are to hold the same files.
        asynchronous: write in the background, from copies in memory.

    Raises:
        CheckpointError: one of the processes couldn't write; which, and why. An older checkpoint at ``path`` stays
            untouched.
        BackendError: one of the processes is gone.
    """
    from simpletorch.distributed._failures import during  # which imports this

    agreed = [secrets.token_hex(4), list(sharded)]
    default = _default_group()
    with during("agreeing on the names of a checkpoint's parts"):
        group = _saving_group(default)
        dist.broadcast_object_list(agreed, src=0, group=group)
    token, names = cast("tuple[str, list[str]]", agreed)
    # that of tied weights which the first has is kept, whatever others could tell of their parts
    parts = {name: sharded[name].to("cpu", copy=True) if asynchronous else sharded[name] for name in names}
    if asynchronous:
        saver = _saver(os.getpid())
        return saver.submit(_write, path, about, state, tensors, parts, copies, token, group)
    return _write(path, about, state, tensors, parts, copies, token, group)


def _write(
    path: Path,
    about: dict[str, Any],
    state: Any,
    tensors: dict[str, torch.Tensor],
    parts: dict[str, torch.Tensor],
    copies: Sequence[Path],
    token: str,
    group: dist.ProcessGroup,
) -> Path:
    from torch.distributed.checkpoint.api import CheckpointException
    from torch.distributed.checkpoint.default_planner import DefaultSavePlanner
    from torch.distributed.checkpoint.state_dict_saver import save

    from simpletorch.checkpoint._shards import ShardWriter

    def commit(index: dict[str, Any]) -> None:
        before = _index_at(path)
        write(path / MANIFEST, {**about, _INDEX: index}, state, tensors)
        _tidy(path, before, index)
        for copy in copies:
            _copy(path, copy, index)

    writer = ShardWriter(path, f"part-{dist.get_rank():05d}-{token}.safetensors", commit)
    planner = DefaultSavePlanner(flatten_state_dict=False, flatten_sharded_tensors=False)
    try:
        save(dict(parts), storage_writer=writer, planner=planner, process_group=group)
    except CheckpointException as error:
        raise _failed(path, error) from error
    except RuntimeError as error:  # a process that is gone, and the like
        raise explained(error) or error from error
    return path


def _failed(path: Path, error: Any) -> CheckpointError:
    lines = []
    for rank, (reason, _) in sorted(error.failures.items()):
        text = reason.reason if isinstance(reason, CheckpointError) else f"{type(reason).__name__}: {reason}"
        lines.append(f"rank {rank}: {text}")
    count = "one process" if len(lines) == 1 else f"{len(lines)} processes"
    return CheckpointError(
        "\n    ".join([f"{path} could not be written by {count}:", *lines]),
        hint="what was there before is untouched",
    )


def _files_of(index: Mapping[str, Any]) -> set[str]:
    return {part["file"] for entry in index.values() for part in entry["parts"]}


def _index_at(folder: Path) -> Mapping[str, Any]:
    """The index of the checkpoint in a folder; an empty one if there is none that can be read."""
    try:
        return _checked(json.loads(verify(folder / MANIFEST)["about"]).get(_INDEX, {}))
    except (CheckpointError, *_NO_INDEX):
        return {}


def _tidy(folder: Path, before: Mapping[str, Any], index: Mapping[str, Any]) -> None:
    """Remove the parts of the checkpoint that was here before.

    Not all others: another program may be writing here too, and its index comes last.
    """
    for name in _files_of(before) - _files_of(index):
        (folder / name).unlink(missing_ok=True)


def remove_strays(folder: Path) -> None:
    """Remove parts that no index names, which killed processes leave behind; no process may be writing here."""
    kept = _files_of(_index_at(folder))
    for path in folder.glob("part-*.safetensors") if kept else ():
        if path.name not in kept:
            path.unlink(missing_ok=True)


def _copy(folder: Path, other: Path, index: Mapping[str, Any]) -> None:
    """The same checkpoint under another name, which is there as soon as its index is."""
    other.mkdir(parents=True, exist_ok=True)
    before = _index_at(other)
    for name in (*sorted(_files_of(index)), MANIFEST):
        duplicate(folder / name, other / name)
    _tidy(other, before, index)


def remove(path: Path) -> None:
    """Remove a checkpoint of one file or of several; a half-removed one no longer counts as a checkpoint."""
    if not path.is_dir():
        path.unlink(missing_ok=True)
        return
    (path / MANIFEST).unlink(missing_ok=True)
    shutil.rmtree(path, ignore_errors=True)


def _default_group() -> dist.ProcessGroup:
    if not (dist.is_available() and dist.is_initialized()):
        raise CheckpointError(
            "there are divided tensors (DTensor), but no process group whose processes could save them"
        )
    return cast("dist.ProcessGroup", dist.group.WORLD)


@lru_cache(4)
def _saving_group(_default: dist.ProcessGroup) -> dist.ProcessGroup:
    """A group for saving alone, on the CPU: in the background its messages must not meet those of the training."""
    return cast("dist.ProcessGroup", dist.new_group(backend="gloo"))


@lru_cache(1)
def _saver(process: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, f"sharded-checkpoint-{process}")


# -- reading ----------------------------------------------------------------------------------------------------------


Result = TypeVar("Result")


def of_one_version(path: Path, work: Callable[[], Result]) -> Result:
    """The result of ``work``, which reads a checkpoint; it is called again if the checkpoint is replaced meanwhile.

    Raises:
        CheckpointError: as ``work`` does.
    """
    for left in reversed(range(_TRIES)):
        before = _stamp(path)
        try:
            return work()
        except CheckpointError as error:
            if not (isinstance(error, FileNotFoundError) and left and before != _stamp(path)):
                raise
    raise AssertionError


_TRIES: Final = 100


def _stamp(path: Path) -> tuple[int, ...] | None:
    """A stamp that differs between versions of a checkpoint in several files."""
    try:
        found = os.stat(path / MANIFEST)
    except (OSError, ValueError):
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def read_folder(path: Path) -> tuple[int, dict[str, Any], Any, dict[str, torch.Tensor]]:
    """As `_format.read`; a tensor without numbers, on the meta device, stands for each that is divided (see `filled`).

    Raises:
        CheckpointError: it is damaged, or no checkpoint.
    """
    version, about, state, tensors = read_file(path / MANIFEST)
    try:
        index = _checked(about.get(_INDEX, {}))
        for name, entry in index.items():
            tensors[name] = torch.empty(entry["shape"], dtype=DTYPES[entry["dtype"]], device="meta")
            vars(tensors[name])[_PLACE] = (path, index, name)
    except _NO_INDEX as error:
        raise CheckpointError(f"{path} is no valid checkpoint: {type(error).__name__}: {error}") from error
    return version, about, state, tensors


_NO_INDEX: Final = (KeyError, TypeError, RuntimeError, AttributeError, ValueError, OverflowError, RecursionError)


def _checked(index: Any) -> Mapping[str, Any]:
    """An index, whose parts are all of each tensor.

    Raises:
        ValueError, TypeError, KeyError, AttributeError: it is none.
    """
    for name, entry in index.items():
        shape, itemsize = entry["shape"], DTYPES[entry["dtype"]].itemsize
        for part in entry["parts"]:
            rows = list(zip(part["offsets"], part["sizes"], shape, strict=True))
            numbers = (part["at"], part["bytes"], *part["offsets"], *part["sizes"], *shape)
            if not all(type(n) is int and n >= 0 for n in numbers) or any(
                at + size > whole for at, size, whole in rows
            ):
                raise ValueError(f"a part of {name} lies outside of it")
            if part["bytes"] != math.prod(part["sizes"]) * itemsize or Path(part["file"]).name != part["file"]:
                raise ValueError(f"a part of {name} is in no file beside it, or of another size")
        counted = sum(math.prod(part["sizes"]) for part in entry["parts"])
        if counted != math.prod(shape) or len({tuple(p["offsets"]) for p in entry["parts"]}) != len(entry["parts"]):
            raise ValueError(f"the parts of {name} aren't all of it")
    found: Mapping[str, Any] = index
    return found


def verify_folder(path: Path) -> dict[str, str]:
    """The metadata of the manifest, after every checksum was found right, also those of all parts.

    Raises:
        CheckpointError: there is none, or it is damaged.
    """
    from simpletorch.checkpoint._shards import verified

    metadata = verify(path / MANIFEST)
    try:
        index = _checked(json.loads(metadata["about"]).get(_INDEX, {}))
    except _NO_INDEX as error:
        raise CheckpointError(f"{path} is no valid checkpoint: {type(error).__name__}: {error}") from error
    files: dict[str, Any] = {}
    for entry in index.values():
        for part in entry["parts"]:
            verified(path, part, files)
    return metadata


Lent: TypeAlias = list[tuple[Any, str, torch.Tensor]]
"""A module's state, a name in it, and the module's own tensor of that name (see `filled`)."""


@dataclass
class _Request:
    source: torch.Tensor  # what stands for a divided tensor
    target: torch.Tensor  # where its numbers are to be
    used: bool = False  # the target is what an optimizer has
    place: tuple[Any, str, torch.Tensor] | None = None  # of `Lent`, if a module is going to copy it

    @property
    def count(self) -> int:
        """How many of the elements this process wants."""
        target: Any = self.target
        return int((target.to_local() if is_sharded(target) else target).numel())


def filled(saved: Any, into: Any = None, lent: Lent | None = None) -> Any:
    """``saved`` with the numbers of what was divided, read as it will be needed.

    Args:
        saved: a state, or a dict or list of states, of `read_folder`.
        into: the target of the load. Where that is divided itself, each process reads its own part;
            everything else is read as a whole. An optimizer's present state is overwritten, to save memory.
        lent: if given, modules may find their numbers as they lie in the files, which stay open as long as somebody has
            these tensors; where that is, is added. Put the module's own there when it is loaded.

    Raises:
        CheckpointError: a part is damaged; nothing is changed.
    """
    wanted: dict[int, _Request] = {}
    result = _replaced(saved, into, wanted)
    by_folder: dict[Path, tuple[Any, dict[str, list[_Request]]]] = {}
    for request in wanted.values():
        folder, index, name = vars(request.source)[_PLACE]
        by_folder.setdefault(folder, (index, {}))[1].setdefault(name, []).append(request)
    for folder, (index, requests) in by_folder.items():
        _read_into(folder, index, requests, lent)
    return result


def _read_into(
    folder: Path, index: Mapping[str, Any], requests: Mapping[str, list[_Request]], lent: Lent | None
) -> None:
    from torch.distributed.checkpoint.default_planner import DefaultLoadPlanner

    from simpletorch.checkpoint._shards import ShardReader

    alone = {name: its[0] for name, its in requests.items() if len(its) == 1 and its[0].place is not None}
    lendable = {} if lent is None else {name: its.count for name, its in alone.items()}
    reader = ShardReader(folder, index, lendable, {name for name, its in requests.items() if its[0].used})
    planner = DefaultLoadPlanner(flatten_state_dict=False, flatten_sharded_tensors=False)
    # not dcp.load: every process knows the index, so they have nothing to tell each other
    targets: dict[str, Any] = {name: its[0].target for name, its in requests.items()}
    planner.set_up_planner(targets, reader.read_metadata(), is_coordinator=True)
    reader.read_data(planner.create_local_plan(), planner)
    for first, *others in requests.values():
        for other in others:
            other.target.copy_(first.target)
    for name, part in reader.lent.items():
        place = alone[name].place
        if lent is not None and place is not None:
            state, key, _ = place
            state[key] = _arranged(part, alone[name].target)
            lent.append(place)


def _arranged(part: torch.Tensor, like: Any) -> torch.Tensor:
    """A tensor sharded as ``like`` is; ``part`` is this process's part."""
    if not is_sharded(like):
        return part
    from torch.distributed.tensor import DTensor

    mesh, shape, stride = like.device_mesh, like.shape, like.stride()
    return DTensor.from_local(part, mesh, like.placements, run_check=False, shape=shape, stride=stride)


def _replaced(saved: Any, into: Any, wanted: dict[int, _Request]) -> Any:
    """``saved`` with empty tensors for what is divided; ``wanted`` has both."""
    if isinstance(into, torch.nn.Module) and isinstance(saved, Mapping):
        here = unwrapped(into).state_dict()
        state = own_names(saved, into)
        filled_in = {name: _leaf(value, here.get(name), wanted) for name, value in state.items()}
        for name, value in filled_in.items():
            state[name] = value  # type: ignore[index]  # in place: torch hangs metadata on the dict
            if id(value) in wanted and name in here:
                wanted[id(value)].place = state, name, here[name]
        return state
    if isinstance(into, torch.optim.Optimizer) and isinstance(saved, Mapping):
        return _optimizer_state(saved, into, wanted)
    if isinstance(saved, dict):
        its = into if isinstance(into, Mapping) else {}
        for name in list(saved):
            saved[name] = _replaced(saved[name], its.get(name), wanted)
        return saved
    if isinstance(saved, (list, tuple)) and type(saved) in (list, tuple):
        several = list(into) if isinstance(into, Sequence) and not isinstance(into, str) else []
        several += [None] * (len(saved) - len(several))
        return type(saved)(_replaced(value, its, wanted) for value, its in zip(saved, several, strict=False))
    return _leaf(saved, into, wanted)


def _optimizer_state(saved: Mapping[str, Any], optimizer: torch.optim.Optimizer, wanted: dict[int, Any]) -> Any:
    state = dict(saved)
    owners: dict[Any, torch.Tensor] = {}
    for there, here in zip(saved.get("param_groups", []), optimizer.param_groups, strict=False):
        owners.update(zip(there["params"], here["params"], strict=False))
    state["state"] = {
        index: {
            name: _leaf(value, owners.get(index), wanted, _own(optimizer, owners.get(index), name))
            for name, value in its.items()
        }
        if isinstance(its, dict)
        else _replaced(its, None, wanted)
        for index, its in saved.get("state", {}).items()
    }
    return state


def _own(optimizer: torch.optim.Optimizer, owner: torch.Tensor | None, name: str) -> Any:
    """An optimizer's present state of a parameter."""
    its = None if owner is None else optimizer.state.get(owner)
    return its.get(name) if isinstance(its, dict) else None


def _leaf(saved: Any, like: Any, wanted: dict[int, _Request], room: Any = None) -> Any:
    """An empty tensor for ``saved``, divided as ``like`` is if that is of its shape; ``room`` if that is just so."""
    if not isinstance(saved, torch.Tensor):
        return _replaced(saved, None, wanted) if isinstance(saved, (dict, list, tuple)) else saved
    is_divided = is_sharded(like) and like.shape == saved.shape
    if _PLACE not in vars(saved):
        return divide(saved, like) if is_divided else saved
    used = is_divided and _is_as(room, like) and room.dtype == saved.dtype
    if used:
        target = room
    else:
        target = torch.empty_like(like, dtype=saved.dtype) if is_divided else torch.empty_like(saved, device="cpu")
    wanted[id(target)] = _Request(saved, target, used)
    return target


def _is_as(one: Any, other: Any) -> bool:
    """Whether they are divided alike."""
    return (
        is_sharded(one)
        and one is not other
        and one.shape == other.shape
        and one.device_mesh == other.device_mesh
        and one.placements == other.placements
    )


def divide(whole: torch.Tensor, like: Any) -> Any:
    """This process's part of a tensor that all have, divided as the `DTensor` ``like`` is; nothing is sent."""
    from torch.distributed.tensor import distribute_tensor

    device = like.to_local().device
    return distribute_tensor(whole.to(device), like.device_mesh, like.placements, src_data_rank=None)
