"""Saving and loading."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

import torch

from simpletorch._atomic import StrPath, duplicate
from simpletorch._distribution import NAME
from simpletorch.checkpoint._folder import previous_good
from simpletorch.checkpoint._format import read as read_file
from simpletorch.checkpoint._format import write
from simpletorch.checkpoint._plain import pack, unpack
from simpletorch.checkpoint._stateful import Data, Part, Stateful, differences, load_into, state_of
from simpletorch.errors import CheckpointError
from simpletorch.reproducibility import rng_state, set_rng_state


@dataclass(frozen=True)
class Saved:
    """What a checkpoint file holds."""

    path: Path
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

    Of what has `state_dict` (alone, or in dicts, lists and tuples), that is saved; everything else as it is. Models are
    saved under their own names, whatever `torch.compile` or `DistributedDataParallel` has put around them.

    The file appears in one step when all of it is on the disk; until then, and when something fails, ``path`` is what
    it was before. It has a checksum over every byte, and nothing in it is code.

    Args:
        path: of the file; folders are made as needed. The name should end with ``.safetensors``.
        rng: save the states of Python's, NumPy's and torch's generators as well, as the part ``rng``.
        parts: by the names that `load` asks for.

    Returns:
        The path.

    Raises:
        CheckpointError: a part is neither stateful nor plain data, or the file can't be written (disk full, no
            permission, …: it is then also of the system's class, such as `PermissionError`).
    """
    return _write(Path(path), *_packed(parts, rng=rng, copy=False))


def save_async(path: StrPath, /, *, rng: bool = True, **parts: Stateful | Data) -> Future[Path]:
    """`save`, in the background: returns as soon as everything has been copied, so that training can go on.

    Files are written one after the other in the order of the calls. ``result()`` of what is returned waits, and raises
    what `save` raises. A program that ends finishes the writing first.

    Raises:
        CheckpointError: a part is neither stateful nor plain data.
    """
    return _writer(os.getpid()).submit(_write, Path(path), *_packed(parts, rng=rng, copy=True))


@lru_cache(1)
def _writer(process: int) -> ThreadPoolExecutor:
    """The thread that writes; a process that was forked has none of its parent's threads, and so needs its own."""
    return ThreadPoolExecutor(1, f"checkpoint-{process}")


def _packed(
    parts: Mapping[str, Any], *, rng: bool, copy: bool
) -> tuple[dict[str, Any], dict[str, Any], dict[str, torch.Tensor]]:
    if rng and "rng" in parts:
        raise CheckpointError("rng is the name of the generators' states: give that part another name, or rng=False")
    about = {"versions": library_versions(), "written": datetime.now(UTC).isoformat(timespec="seconds")}
    tensors: dict[str, torch.Tensor] = {}
    try:
        states = {name: state_of(part) for name, part in parts.items()}
        if rng:
            states["rng"] = rng_state()
        return about, pack(states, tensors, copy=copy), tensors
    except RecursionError as error:
        raise CheckpointError("what is to be saved is nested too deeply, or contains itself") from error


def _write(
    path: Path, about: dict[str, Any], state: Any, tensors: dict[str, torch.Tensor], copies: Sequence[Path] = ()
) -> Path:
    write(path, about, state, tensors)
    for copy in copies:
        duplicate(path, copy)
    return path


def save_parts(
    path: Path, parts: Mapping[str, Any], copies: Sequence[Path] = (), *, asynchronous: bool = False
) -> Path | Future[Path]:
    """`save` or `save_async` of parts of any name, ``rng`` included, with the same file under other names too."""
    packed = _packed(parts, rng=False, copy=asynchronous)
    return _writer(os.getpid()).submit(_write, path, *packed, copies) if asynchronous else _write(path, *packed, copies)


@lru_cache(1)
def library_versions() -> dict[str, str]:
    """The versions that a checkpoint records."""
    return {"python": platform.python_version()} | {
        name: metadata.version(distribution)
        for name, distribution in (("torch", "torch"), ("simpletorch", NAME), ("numpy", "numpy"))
    }


def read(path: StrPath, /) -> Saved:
    """What the checkpoint ``path`` holds, on the CPU; nothing is executed and nothing else changed.

    Raises:
        CheckpointError: there is no such file, or it is no checkpoint, damaged, or of a newer version of the format.
    """
    path = Path(path)
    try:
        version, about, state, tensors = read_file(path)
    except CheckpointError as error:
        if error.hint is None and (good := previous_good(path)) is not None:
            error.hint = f"{good} is undamaged"
        raise
    try:
        return Saved(path, dict(unpack(state, tensors)), about["versions"], about["written"], version)
    # the checksum was right, so it was written so: by another program, or by hand
    except (RecursionError, KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path} is no valid checkpoint: {type(error).__name__}: {error}") from error


def load(path: StrPath, /, *, rng: bool = True, **parts: Part) -> Saved:
    """Restore what `save` saved: ``saved = load("run.safetensors", model=model, optimizer=optimizer)``.

    Everything is read and compared first, so that nothing is changed when something doesn't fit. Tensors go to the
    devices of what they are loaded into. Parts that aren't asked for stay in the file; plain data such as an epoch
    is in ``saved.parts``.

    Args:
        rng: put the generators where they were, if they were saved.
        parts: the objects to restore, by the names that they were saved under.

    Raises:
        CheckpointError: as for `read`, or a part is missing or doesn't fit: all differences are listed.
    """
    saved = read(path)
    if missing := sorted(set(parts) - set(saved.parts)):
        raise CheckpointError(f"{path} has no {', '.join(missing)}; it has {', '.join(sorted(saved.parts))}")
    lines = [line for name, part in parts.items() for line in differences(part, saved.parts[name], name)]
    if lines:
        count = "one difference" if len(lines) == 1 else f"{len(lines)} differences"
        raise CheckpointError(
            "\n    ".join([f"{path} is not of what it is loaded into, {count}:", *lines]),
            hint="simpletorch.checkpoint.load_weights(path, model, partial=True) loads what fits",
        )
    for name, part in parts.items():
        load_into(part, saved.parts[name], name)
    if rng and "rng" in saved.parts:
        try:
            set_rng_state(saved.parts["rng"])
        except (AttributeError, IndexError, KeyError, OverflowError, RuntimeError, TypeError, ValueError) as error:
            raise CheckpointError(f"{path} has no states of generators as its rng: {error}") from error
    return saved
