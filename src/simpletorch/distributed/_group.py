"""The group of processes: those that torchrun started, or this one alone."""

from __future__ import annotations

import atexit
import os
import sys
import time
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Final

import torch
import torch.distributed as dist
from torch.distributed.rendezvous import rendezvous

from simpletorch import _peers
from simpletorch.distributed._failures import compare_calls, during, explain_the_end, explain_uncaught
from simpletorch.errors import BackendError, TorchError, as_also, explain

_Wrong = as_also(TorchError, ValueError)

_GLOO: Final = "pt_gloo_runloop"
"""The name of the threads of gloo that carry collectives out."""

TIMEOUT: Final = 600.0
"""Seconds that a process waits for the others before it says who is missing; gloo's own half an hour is a long hang."""


def init(
    *,
    device: str | torch.device | None = None,
    timeout: float = TIMEOUT,
    only_main_prints: bool = True,
    check: bool = False,
) -> torch.device:
    """Join the processes that torchrun started; returns the device of this one.

    Without torchrun there is one process and no group, and nothing happens, so that every script runs plainly too. A
    second call changes nothing. From then on an uncaught error of torch's is explained where it ends the
    process: a collective of torch's own, or the backward of DDP, names the ranks that didn't take part.

    Args:
        device: where this process computes; by default the GPU of its local rank, the CPU where there is none. It says
            the backend: NCCL for tensors on a GPU, gloo for those on the CPU.
        timeout: seconds that a collective waits for the other processes before it fails.
        only_main_prints: drop the standard output of the other processes; errors and warnings, on standard error, stay.
        check: compare the calls of all ranks before each collective of torch's too, so that one that differs is an
            error at once (``TORCH_DISTRIBUTED_DEBUG=DETAIL``); costs a second collective each time. Those of
            `simpletorch.distributed` are always compared on the CPU.

    Returns:
        The device of this process.

    Raises:
        ValueError: a process has no GPU of its own, or ``timeout`` is not positive; it is a `TorchError` too.
        BackendError: the processes don't find each other, the port is in use, or Python, torch or simpletorch is
            another version on one of them.

    Examples:
        >>> from simpletorch import distributed
        >>> distributed.init()
        device(type='cpu')
        >>> distributed.rank(), distributed.world_size()
        (0, 1)

    Source: https://docs.pytorch.org/docs/stable/elastic/run.html#environment-variables
    """
    if not timeout > 0:
        raise _Wrong(f"init got timeout={timeout}: it is a number of seconds, more than 0")
    own = _own_device(device)
    if own.type == "cuda":
        torch.cuda.set_device(own)  # what `barrier` and objects go through, and where "cuda" is
    if is_started_together() and not dist.is_initialized():
        _join(own, timeout, check)
        explain_the_end()
        explain_uncaught()
        atexit.register(_leave)
    if only_main_prints and not is_main():
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115  (for the rest of the process)
    return own


def rank() -> int:
    """The number of this process among all, from 0; 0 if it is alone.

    Returns:
        A number from 0 to ``world_size() - 1``.

    Examples:
        >>> from simpletorch import distributed
        >>> distributed.rank()
        0
    """
    return dist.get_rank() if has_group() else int(os.environ.get("RANK", 0))


def local_rank() -> int:
    """The number of this process among those on this machine, from 0; 0 if it is alone.

    Examples:
        >>> from simpletorch import distributed
        >>> distributed.local_rank()
        0
    """
    return int(os.environ.get("LOCAL_RANK", 0))


def world_size() -> int:
    """How many processes there are, on all machines; 1 if this one is alone.

    Returns:
        1 without a group.

    Examples:
        >>> from simpletorch import distributed
        >>> distributed.world_size()
        1
    """
    return dist.get_world_size() if has_group() else int(os.environ.get("WORLD_SIZE", 1))


def is_main() -> bool:
    """Whether this is the process that prints, logs and writes files: rank 0.

    Returns:
        True in the process of rank 0, and without a group.

    Examples:
        >>> from simpletorch import distributed
        >>> distributed.is_main()
        True
    """
    return rank() == 0


def barrier() -> None:
    """Wait until every process has come here; alone, nothing. A collective.

    Examples:
        >>> from simpletorch import distributed
        >>> distributed.barrier()
    """
    if has_group():
        with during("barrier"):
            dist.barrier()


def has_group() -> bool:
    """Whether there is a process group."""
    return dist.is_available() and dist.is_initialized()


def is_started_together() -> bool:
    """Whether torchrun, or a launcher that sets the same variables, has started this process."""
    return {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"} <= os.environ.keys()


def _join(device: torch.device, timeout: float, check: bool) -> None:
    """Meet at the address that the environment has, and make the group of all."""
    backend = "gloo"
    if device.type != "cpu":
        backend = f"cpu:gloo,{device.type}:{dist.get_default_backend_for_device(device)}"
    if check:  # of all collectives, torch's own too
        dist.set_debug_level(dist.DebugLevel.DETAIL)  # type: ignore[attr-defined]  # public, but not in __all__
    limit = timedelta(seconds=timeout)
    with explain():
        store, number, size = next(rendezvous("env://", timeout=limit))
        store.set_timeout(limit)
        store = _peers.fresh(store, number, size, timeout)
        different = _peers.meet(store, number, size)
        if different:
            raise BackendError(
                "the processes can't train together: " + "; ".join(different),
                hint="install the same versions everywhere",
            )
        own = dist.PrefixStore("default", store)  # type: ignore[attr-defined]
        dist.init_process_group(backend, timeout=limit, store=own, rank=number, world_size=size)
        compare_calls(limit)


def _own_device(given: str | torch.device | None) -> torch.device:
    if given is None:
        given = torch.accelerator.current_accelerator(check_available=True) or "cpu"
    device = torch.device(given)
    if device.type == "cpu" or device.index is not None or not is_started_together():
        return device
    number, here = torch.accelerator.device_count(), local_rank()
    if here >= number:
        raise _Wrong(
            f"local rank {here} has no {device.type} device of its own: this machine has {number}",
            hint=f"torchrun --nproc-per-node {number}, or init(device='cpu')",
        )
    return torch.device(device.type, here)


def _leave() -> None:
    """Part in peace; after an error the others may never answer: they are told, and nothing is waited for."""
    _peers.leave()
    if has_group() and not hasattr(sys, "last_value"):
        dist.destroy_process_group()
    _wait_for_gloo()


def _wait_for_gloo() -> None:
    """Wait, a second at most, until gloo's threads have let go of the tensors of what they did.

    They do it after a collective is done, and need the interpreter for it. If a thread asks for the interpreter while
    Python ends, Python ends the thread, and torch then aborts the process with SIGABRT. On a loaded machine that
    happened to 10 of 60 pairs of processes, and with this wait to none of 60.

    Source: https://github.com/pytorch/pytorch/issues/190489
    """
    quiet = 0
    for _ in range(1000):
        time.sleep(0.001)  # without the interpreter: a thread that waits for it goes on
        quiet = 0 if _gloo_works() else quiet + 1
        if quiet == 3:
            return


def _gloo_works() -> bool:
    """Whether a thread of gloo computes or would if it had a core; False where the system does not tell (not Linux)."""
    for thread in Path("/proc/self/task").glob("*/stat"):
        with suppress(OSError):  # it has just ended
            name, _, rest = thread.read_text().partition(" (")[2].rpartition(") ")
            if name == _GLOO and not rest.startswith("S"):
                return True
    return False
