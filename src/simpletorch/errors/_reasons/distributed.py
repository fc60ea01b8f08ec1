"""Several processes: collectives that time out, peers that are gone, models that differ between ranks."""

from __future__ import annotations

import re

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from simpletorch import _peers
from simpletorch.errors._description import describe
from simpletorch.errors._failure import Failure
from simpletorch.errors._kinds import BackendError, DTypeMismatch, ShapeMismatch
from simpletorch.errors._reasons._table import Reason, message
from simpletorch.errors._reasons._words import numbers
from simpletorch.errors._stack import steps

_SAME_ORDER = "every rank must call the same collectives in the same order, with the same shapes and dtypes"

_FINGERPRINT = (
    r"Rank (\d+) is running (?:inconsistent )?collective: CollectiveFingerPrint\(SequenceNumber=\d+, OpType=(\w+)"
    r"(?:, TensorShape=\[([^\]]*)\], TensorDtypes=(\w+))?"
)


def _rank() -> str:
    if dist.is_available() and dist.is_initialized():
        return f"rank {dist.get_rank()} of {dist.get_world_size()}"
    return "this process"


def _call(f: Failure) -> str | None:
    """The running operation: the collective with its arguments, or the backward whose gradients are averaged.

    The user's code may have called something else, as a fit or a module that gathers its parameters does.
    """
    frames = [step.frame for step in steps(f.error.__traceback__)] if f.error is not None else []
    for frame in reversed(frames):
        name = frame.f_code.co_name
        if frame.f_code.co_filename == dist.distributed_c10d.__file__ and not name.startswith("_"):
            given = next((v for v in frame.f_locals.values() if isinstance(v, torch.Tensor)), None)
            return name if given is None else f"{name} of {describe('', given).type_text}"
    if any(frame.f_code is torch.autograd.backward.__code__ for frame in frames):
        return "backward"
    return None


@message(
    r"Timed out waiting (\d+)ms for (\w+) operation to complete",
    r"Watchdog caught collective operation timeout: WorkNCCL\(.*?OpType=(\w+).*?ran for (\d+) milliseconds",
)
def _collective_timeout(f: Failure, m: re.Match[str]) -> Reason:
    # gloo's message has the time first, NCCL's the collective
    nccl = m[1].isalpha() or "_" in m[1]
    milliseconds = int(m[2] if nccl else m[1])
    what = _peers.doing or _call(f) or f.operation or (m[1].lower() if nccl else "a collective")
    others = _peers.on_the_others(what)
    return Reason(
        BackendError,
        f"{_rank()} waited {milliseconds / 1000:g} s in {what} for "
        + (f"others: {others}" if others else "a rank that didn't take part"),
        hint=f"{_SAME_ORDER}: is one inside an if, did another rank fail or run out of batches? "
        "TORCH_DISTRIBUTED_DEBUG=DETAIL in the environment names the difference",
    )


@message(
    r"Connection (?:closed by peer|reset by peer|refused)",
    r"Broken pipe",
    r"received errors while waiting for send/recv from rank 0",
    r"NCCL error.*(?:remote process exited|socket|peer)",
)
def _peer_gone(f: Failure, _m: re.Match[str]) -> Reason:
    what = _peers.doing or _call(f)
    others = _peers.on_the_others(what)
    return Reason(
        BackendError,
        f"{_rank()} lost the connection to another rank{f' in {what}' if what else ''}"
        + (f": {others}" if others else ", which has ended"),
        hint="gloo ends a process where sizes differ between ranks: distributed.init(check=True) names the difference"
        if _peers.WITHOUT_A_WORD in others
        else "the log of that rank tells why; its error came first",
    )


@message(r"Ranks ([\d, ]+) failed to pass monitoredBarrier in (\d+) ms")
def _did_not_come(f: Failure, m: re.Match[str]) -> Reason:
    """Of groups that compare calls before each collective."""
    what = _peers.doing or _call(f) or f.operation or "a collective"
    others = _peers.on_the_others(what) or f"rank {m[1]}"
    return Reason(
        BackendError, f"{_rank()} waited {int(m[2]) / 1000:g} s in {what} for others: {others}", hint=_SAME_ORDER
    )


@message(r"(?:NCCL error in|ncclInternalError|ncclSystemError|ncclUnhandledCudaError|ncclInvalidUsage)[^\n]*")
def _nccl(_f: Failure, m: re.Match[str]) -> Reason:
    return Reason(
        BackendError,
        f"NCCL failed on {_rank()}: {m[0].strip()}",
        hint="NCCL_DEBUG=INFO in the environment tells more; each rank needs a GPU of its own: "
        "torch.cuda.set_device(local_rank)",
    )


@message(
    r"Timed out after (\d+) seconds waiting for clients\. (\d+)/(\d+) clients joined",
    r"The client socket has timed out after (\d+)ms while trying to connect to \(([^)]*)\)",
)
def _rendezvous(_f: Failure, m: re.Match[str]) -> Reason:
    if m.re.groups == 3:
        sentence = f"only {m[2]} of {m[3]} processes had joined after {m[1]} s"
        hint = (
            "start all of them (torchrun --nproc-per-node does), with the same MASTER_ADDR, MASTER_PORT and WORLD_SIZE"
        )
    else:
        sentence = f"no process listens at {m[2].replace(', ', ':')}, where rank 0 should be"
        hint = "is rank 0 running, are MASTER_ADDR and MASTER_PORT the same everywhere, does a firewall stop them?"
    return Reason(BackendError, sentence, hint=hint)


@message(r"wait timeout after (\d+)ms, keys: (\S+)")
def _store_timeout(_f: Failure, m: re.Match[str]) -> Reason:
    return Reason(
        BackendError,
        f"{_rank()} waited {int(m[1]) / 1000:g} s for another process to report ({m[2]})",
        hint="did all ranks start, and does the rank that is addressed exist?",
    )


@message(r"Detected mismatch between collectives on ranks\.(.*)")
def _different_collectives(_f: Failure, m: re.Match[str]) -> Reason:
    calls = [
        f"rank {number} runs {name.lower()}{f' of {dtype}[{shape}]' if dtype else ''}"
        for number, name, shape, dtype in re.findall(_FINGERPRINT, m.string)
    ]
    return Reason(BackendError, f"the ranks run different collectives: {', '.join(calls)}", hint=_SAME_ORDER)


@message(r"port: (\d+)[^\n]*EADDRINUSE", r"EADDRINUSE[^\n]*port: (\d+)")
def _port_in_use(_f: Failure, m: re.Match[str]) -> Reason:
    return Reason(
        BackendError,
        f"port {m[1]}, at which the ranks were to meet, is in use on this machine",
        hint="another training runs here, or one was not ended; another MASTER_PORT, or torchrun --rdzv-backend c10d "
        "--rdzv-endpoint localhost:0, which takes a free one",
    )


@message(r"environment variable (\w+) expected, but not set")
def _environment(_f: Failure, m: re.Match[str]) -> Reason:
    return Reason(
        BackendError,
        f"{m[1]} isn't set in the environment, from which init_process_group reads the processes",
        hint="start the program with torchrun, which sets it; or give rank, world_size and init_method",
    )


@message(r"Default process group has not been initialized")
def _no_group(_f: Failure, _m: re.Match[str]) -> Reason:
    return Reason(
        BackendError, "there is no process group yet", hint="call init_process_group first, once in a process"
    )


@message(r"trying to initialize the default process group twice")
def _second_group(_f: Failure, _m: re.Match[str]) -> Reason:
    return Reason(
        BackendError,
        "the process group has been initialised already",
        hint="once in a process; destroy_process_group() before another",
    )


@message(r"params\[(\d+)\] in this process with sizes \[([\d, ]*)\] appears not to match sizes of the same param")
def _parameters_differ(_f: Failure, m: re.Match[str]) -> Reason:
    shape = numbers(m[2])
    return Reason(
        ShapeMismatch,
        f"parameter {m[1]} is {shape} on {_rank()}, but has another shape on rank 0",
        None,
        shape,
        "build the same model, from the same configuration, on every rank",
    )


@message(
    r"DDP expects same model across all ranks, but Rank (\d+) has (\d+) params, while rank (\d+) has inconsistent (\d+)"
)
def _models_differ(_f: Failure, m: re.Match[str]) -> Reason:
    return Reason(
        ShapeMismatch,
        f"the model has {m[2]} parameters on rank {m[1]}, but {m[4]} on rank {m[3]}",
        int(m[4]),
        int(m[2]),
        "build the same model, from the same configuration, on every rank",
    )


@message(r"Expected to have finished reduction in the prior iteration before starting a new one")
def _unused_parameters(f: Failure, m: re.Match[str]) -> Reason:
    named = re.search(r"Parameters which did not receive grad for rank \d+: ([^\n]+)", m.string)
    found = re.search(r"Parameter indices which did not receive grad for rank \d+: ([\d ]+)", m.string)
    indices = [int(i) for i in found[1].split()] if found else []
    which = named[1].strip() if named else ", ".join(_parameter_names(f.layer, indices))
    return Reason(
        BackendError,
        f"parameters{f' ({which})' if which else ''} got no gradient in the last step, and DDP still waits for them",
        hint="use every parameter in forward and every output in the loss, or DDP(..., find_unused_parameters=True)",
    )


def _parameter_names(model: nn.Module | None, indices: list[int]) -> list[str]:
    """The names of DDP's parameters, which it counts without the frozen ones; numbers if the model isn't known."""
    names = [name for name, p in model.module.named_parameters() if p.requires_grad] if isinstance(model, DDP) else []
    return [names[i] if i < len(names) else f"number {i}" for i in indices]


@message(r"Expected to mark a variable ready only once")
def _ready_twice(_f: Failure, _m: re.Match[str]) -> Reason:
    return Reason(
        BackendError,
        "a parameter got its gradient twice in one backward",
        hint="with gradient checkpointing: use_reentrant=False; or DDP(..., static_graph=True)",
    )


@message(r"DistributedDataParallel is not needed when a module doesn't have any parameter that requires a gradient")
def _nothing_to_train(_f: Failure, _m: re.Match[str]) -> Reason:
    return Reason(
        BackendError,
        "the model has no parameter that requires a gradient, so there is nothing to synchronise",
        hint="use it without DDP, or unfreeze a parameter before wrapping it",
    )


@message(r"invalid output tensor list at index \d+ \(expected length (\d+), got (\d+)\)")
def _outputs(f: Failure, m: re.Match[str]) -> Reason:
    expected, got = int(m[1]), int(m[2])
    given = f"{got} output tensor{' is' if got == 1 else 's are'} given"
    sentence = f"{given} to {f.operation or 'the collective'}, but there are {expected} ranks"
    return Reason(ShapeMismatch, sentence, expected, got, "one for each rank: get_world_size() of them")


@message(r"Invalid usage of tensors with different dtypes\s*Found (\S+) and\s+(\S+)")
def _dtypes(_f: Failure, m: re.Match[str]) -> Reason:
    first, second = (name.removeprefix("torch.") for name in m.groups())
    return Reason(
        DTypeMismatch,
        f"tensors of {first} and {second} are given to one collective",
        first,
        second,
        "convert one of them",
    )
