"""Saving and loading."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import torch

from simpletorch._atomic import StrPath, duplicate
from simpletorch._distribution import NAME, version_of
from simpletorch.checkpoint._folder import previous_good
from simpletorch.checkpoint._format import read as read_file
from simpletorch.checkpoint._format import write
from simpletorch.checkpoint._plain import pack, unpack
from simpletorch.checkpoint._sharded import Lent, filled, is_folder, of_one_version, read_folder, write_sharded
from simpletorch.checkpoint._stateful import Data, Part, Stateful, differences, in_order, load_into, state_of, undoing
from simpletorch.errors import CheckpointError
from simpletorch.reproducibility import rng_state, set_rng_state
from simpletorch.reproducibility._random import check_rng_state


@dataclass(frozen=True)
class Saved:
    """The contents of a checkpoint file.

    Examples:
        >>> from simpletorch import checkpoint, nn
        >>> _ = checkpoint.save("run.safetensors", model=nn.Linear(3, 2), epoch=3)
        >>> saved = checkpoint.read("run.safetensors")
        >>> saved.parts["epoch"], sorted(saved.parts)
        (3, ['epoch', 'model', 'rng'])
    """

    path: Path
    """The file or folder that was read."""
    parts: dict[str, Any]
    """The parts by name: states as plain data and tensors on the CPU, and what else was saved."""
    versions: dict[str, str]
    """The versions of Python, torch, simpletorch and NumPy that wrote it."""
    written: str
    """When, in ISO 8601, UTC."""
    format: int
    """The version of the file's layout."""


def save(path: StrPath, /, *, rng: bool = True, **parts: Stateful | Data) -> Path:
    """Write a checkpoint: ``save("run.safetensors", model=model, optimizer=optimizer, epoch=3)``.

    Objects with `state_dict` (alone, or in dicts, lists and tuples) are saved by it; everything else is saved as it is.
    Models are saved under their own names, whatever `torch.compile` or `DistributedDataParallel` has put around them.

    The file appears in one step when all of it is on the disk. Until then, and after a failure, ``path`` is unchanged.
    It has a checksum over every byte, and nothing in it is code.

    If tensors are divided among processes (`DTensor`: FSDP2, tensor parallel), every process must call this, and
    ``path`` becomes a folder. Each process writes its own part, and the checkpoint is complete when all have.
    Everything else in it is the first process's. Any number of processes can load it, and `consolidate` makes one file
    of it.

    Args:
        path: of the file; folders are made as needed. The name should end with ``.safetensors``.
        rng: save the states of Python's, NumPy's and torch's generators as well, as the part ``rng``.
        parts: by the names that `load` asks for.

    Returns:
        The path.

    Raises:
        CheckpointError: a part is neither stateful nor plain data, or the file can't be written (disk full, no
            permission, …: it is then also of the system's class, such as `PermissionError`).

    Examples:
        >>> from simpletorch import checkpoint, nn
        >>> model = nn.Linear(13, 3)
        >>> path = checkpoint.save("run.safetensors", model=model, epoch=3)
        >>> checkpoint.load(path, model=model).parts["epoch"]
        3
    """
    return _write(Path(path), _packed(parts, rng=rng, copy=False))


def save_async(path: StrPath, /, *, rng: bool = True, **parts: Stateful | Data) -> Future[Path]:
    """`save`, in the background: returns as soon as everything has been copied, so that training can go on.

    Of divided tensors, the copies are on the CPU, and processes talk to each other in a group of their own. Files
    are written one after the other in the order of the calls. ``result()`` of the returned object waits, and raises the
    errors of `save`. A program that ends finishes the writing first.

    Args:
        path, rng, parts: as for `save`.

    Returns:
        A future of the path; ``result()`` waits until the file is whole.

    Raises:
        CheckpointError: a part is neither stateful nor plain data.

    Examples:
        >>> from simpletorch import checkpoint, nn
        >>> future = checkpoint.save_async("run.safetensors", model=nn.Linear(3, 2))
        >>> future.result()
        PosixPath('run.safetensors')
    """
    return _in_background(Path(path), _packed(parts, rng=rng, copy=True))


@lru_cache(1)
def _writer(process: int) -> ThreadPoolExecutor:
    """The thread that writes; a process that was forked has none of its parent's threads, and so needs its own."""
    return ThreadPoolExecutor(1, f"checkpoint-{process}")


@dataclass(frozen=True)
class _Packed:
    about: dict[str, Any]
    state: Any
    tensors: dict[str, torch.Tensor]
    sharded: dict[str, torch.Tensor]


def _packed(parts: Mapping[str, Any], *, rng: bool, copy: bool) -> _Packed:
    if rng and "rng" in parts:
        raise CheckpointError("rng is the name of the generators' states: give that part another name, or rng=False")
    about = {"versions": library_versions(), "written": datetime.now(UTC).isoformat(timespec="seconds")}
    tensors: dict[str, torch.Tensor] = {}
    sharded: dict[str, torch.Tensor] = {}
    try:
        states = {name: state_of(part) for name, part in parts.items()}
        if rng:
            states["rng"] = rng_state()
        return _Packed(about, pack(states, tensors, copy=copy, sharded=sharded), tensors, sharded)
    except RecursionError as error:
        raise CheckpointError("the value to save is nested too deeply, or contains itself") from error


def _write(path: Path, packed: _Packed, copies: Sequence[Path] = ()) -> Path:
    if packed.sharded:
        write_sharded(path, packed.about, packed.state, packed.tensors, packed.sharded, copies)
        return path
    write(path, packed.about, packed.state, packed.tensors)
    for copy in copies:
        duplicate(path, copy)
    return path


def _in_background(path: Path, packed: _Packed, copies: Sequence[Path] = ()) -> Future[Path]:
    if packed.sharded:
        about, state, tensors = packed.about, packed.state, packed.tensors
        return cast(
            "Future[Path]", write_sharded(path, about, state, tensors, packed.sharded, copies, asynchronous=True)
        )
    return _writer(os.getpid()).submit(_write, path, packed, copies)


def save_parts(
    path: Path, parts: Mapping[str, Any], copies: Sequence[Path] = (), *, asynchronous: bool = False
) -> Path | Future[Path]:
    """`save` or `save_async` of parts of any name, ``rng`` included, with the same file under other names too."""
    packed = _packed(parts, rng=False, copy=asynchronous)
    return _in_background(path, packed, copies) if asynchronous else _write(path, packed, copies)


@lru_cache(1)
def library_versions() -> dict[str, str]:
    """The versions that a checkpoint records; "unknown" of what runs from its source and isn't installed."""
    return {"python": platform.python_version()} | {
        name: version_of(distribution) or "unknown"
        for name, distribution in (("torch", "torch"), ("simpletorch", NAME), ("numpy", "numpy"))
    }


def read(path: StrPath, /) -> Saved:
    """The contents of the checkpoint ``path``, on the CPU; nothing is executed and nothing else changed.

    Tensors that were divided among processes are whole again.

    Args:
        path: the checkpoint, a file or a folder.

    Returns:
        The parts by their names, with versions and the time of writing.

    Raises:
        CheckpointError: there is no such file, or it is no checkpoint, damaged, or of a newer version of the format.

    Examples:
        >>> from simpletorch import checkpoint, nn
        >>> _ = checkpoint.save("run.safetensors", model=nn.Linear(3, 2), epoch=3)
        >>> checkpoint.read("run.safetensors").parts["model"]["weight"].shape
        torch.Size([2, 3])
    """

    def work() -> Saved:
        saved = read_unfilled(Path(path))
        return replace(saved, parts=filled(saved.parts))

    return of_one_version(Path(path), work)


def read_unfilled(path: Path) -> Saved:
    """`read`, in which what is divided has no numbers yet; `filled` reads them, for what it is told."""
    try:
        version, about, state, tensors = read_folder(path) if is_folder(path) else read_file(path)
    except CheckpointError as error:
        if error.hint is None and (good := previous_good(path)) is not None:
            error.hint = f"{good} is undamaged"
        raise
    try:
        parts = dict(unpack(state, tensors))
        if not all(type(name) is str for name in parts):
            raise TypeError("the name of a part is no string")
        return Saved(path, parts, dict(about["versions"]), str(about["written"]), version)
    # the checksum was right, so it was written so: by another program, or by hand
    except (RecursionError, KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path} is no valid checkpoint: {type(error).__name__}: {error}") from error


def load(path: StrPath, /, *, rng: bool = True, **parts: Part) -> Saved:
    """Restore a checkpoint of `save`: ``saved = load("run.safetensors", model=model, optimizer=optimizer)``.

    Everything is read and compared first, so that nothing is changed when something doesn't fit. Tensors go to the
    devices of the objects that they are loaded into. Parts that aren't asked for stay in the file; plain data such as
    an epoch is in ``saved.parts``.

    Sharded tensors (`DTensor`) may have been saved by another number of processes, or by one: each process then reads
    the parts that it needs. Tensors that models and optimizers took are in ``saved.parts`` as the loaded ones,
    without a second copy.

    Args:
        path: the checkpoint, a file or a folder.
        rng: put the generators where they were, if they were saved.
        parts: the objects to restore, by the names that they were saved under.

    Returns:
        The contents of the checkpoint.

    Raises:
        CheckpointError: as for `read`, or a part is missing or doesn't fit: all differences are listed.

    Examples:
        >>> from simpletorch import checkpoint, nn
        >>> path = checkpoint.save("run.safetensors", model=nn.Linear(13, 3))
        >>> checkpoint.load(path, model=nn.Linear(13, 5))
        Traceback (most recent call last):
        simpletorch.errors.CheckpointError: ...
    """
    return of_one_version(Path(path), lambda: _load(Path(path), rng, parts))


def _load(path: Path, rng: bool, parts: Mapping[str, Part]) -> Saved:
    saved = read_unfilled(path)
    if missing := sorted(set(parts) - set(saved.parts)):
        raise CheckpointError(f"{path} has no {', '.join(missing)}; it has {', '.join(sorted(saved.parts))}")
    lines = [line for name, part in parts.items() for line in differences(part, saved.parts[name], name)]
    if lines:
        count = "one difference" if len(lines) == 1 else f"{len(lines)} differences"
        raise CheckpointError(
            "\n    ".join([f"{path} is not of what it is loaded into, {count}:", *lines]),
            hint="simpletorch.checkpoint.load_weights(path, model, partial=True) loads what fits",
        )
    if rng and "rng" in saved.parts:
        try:
            check_rng_state(saved.parts["rng"])
        except ValueError as error:
            raise CheckpointError(f"{path} has no states of generators as its rng: {error}") from error
    lent: Lent = []
    wary, others = in_order(parts)
    with undoing(parts.values()):
        found = filled({name: saved.parts[name] for name in wary}, parts, lent)
        for name in wary:
            load_into(parts[name], found[name], name)
        # not before those above took theirs: it writes into tensors that optimizers have
        found |= filled({name: value for name, value in saved.parts.items() if name not in found}, parts, lent)
        for name in others:
            load_into(parts[name], found[name], name)
        if rng and "rng" in found:
            set_rng_state(found["rng"])
    for state, name, own in lent:
        state[name] = own  # or else the files would stay open, and their room on the disk taken
    return replace(saved, parts={name: found[name] for name in saved.parts})


def consolidate(path: StrPath, into: StrPath, /) -> Path:
    """Make one file of a checkpoint of several processes: ``consolidate("run/step-000000100", "all.safetensors")``.

    It holds the same, and loads in any number of processes too. One process does it, and needs memory for all tensors;
    no process group is needed.

    Args:
        path: the folder of a checkpoint that several processes wrote.
        into: the file to write.

    Returns:
        The path of the file.

    Raises:
        CheckpointError: there is no such checkpoint, it is damaged, or the file can't be written.
    """
    saved = read(path)
    packed = _packed(saved.parts, rng=False, copy=False)
    # when it was trained, by what, and not when it was put together
    about = {"versions": saved.versions, "written": saved.written}
    write(Path(into), about, packed.state, packed.tensors)
    return Path(into)
