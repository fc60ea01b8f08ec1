"""Out of memory."""

from __future__ import annotations

import re

import torch

from simpletorch._alive import address, free_memory, names_of, tensors_on
from simpletorch._bytes import size_text
from simpletorch.errors._description import describe
from simpletorch.errors._failure import Failure
from simpletorch.errors._kinds import OutOfMemory
from simpletorch.errors._reasons._table import Reason, message

_UNITS = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
_AMOUNT = r"([\d.]+) (bytes|[KMGT]iB)"


@message(
    rf"(?:CUDA|HIP|XPU) out of memory\. Tried to allocate {_AMOUNT}",
    r"can't allocate memory: you tried to allocate (\d+) (bytes)",
    r"MPS backend out of memory .*Tried to allocate ([\d.]+) (\w+)",
    r"CUDA error: out of memory",
    r"(?:CUDA|HIP|XPU|MPS)\S* out of memory",
)
def _out_of_memory(f: Failure, m: re.Match[str]) -> Reason:
    requested = _bytes(m[1], m[2]) if m.re.groups else None
    device = _device(f.message)
    available, total = _amount(f, rf"of which {_AMOUNT} is free"), _amount(f, rf"total capacity of {_AMOUNT}")
    unused = _amount(f, rf"and {_AMOUNT} is reserved by PyTorch but unallocated")
    if available is None:
        available = free_memory(device)
    holdings = _largest_tensors(f, device)
    details = [f"the largest tensors on {device}:", *holdings] if holdings else []
    return Reason(
        OutOfMemory,
        OutOfMemory(requested, available, total).reason,
        hint=_hint(f, requested, unused),
        details=tuple(details),
        fields={"requested": requested, "available": available, "total": total},
    )


def _largest_tensors(f: Failure, device: torch.device, count: int = 5) -> list[str]:
    """A line each for the largest that are alive: bytes, type, and the name that a frame or a model has for it."""
    largest = tensors_on(device)[:count]
    # what is a thousand times smaller than the largest doesn't explain why memory is full
    least = largest[0].untyped_storage().nbytes() // 1000 if largest else 0
    names = names_of(f.frames, f.models)
    return [
        f"  {size_text(size):>10}  {describe('', t).type_text}  {names.get(address(t), '(no name)')}"
        for t in largest
        if (size := t.untyped_storage().nbytes()) >= least
    ]


def _bytes(count: str, unit: str) -> int:
    return int(float(count) * _UNITS.get(unit, 1))


def _amount(f: Failure, pattern: str) -> int | None:
    found = re.search(pattern, f.message)
    return _bytes(found[1], found[2]) if found else None


def _device(message: str) -> torch.device:
    index = re.search(r"\bGPU (\d+)", message)
    if "MPS" in message:
        return torch.device("mps")
    if "XPU" in message:
        return torch.device(f"xpu:{index[1]}") if index else torch.device("xpu")
    if "CUDA" in message or "HIP" in message:
        return torch.device("cuda", int(index[1])) if index else torch.device("cuda")
    return torch.device("cpu")


def _hint(f: Failure, requested: int | None, unused: int | None) -> str:
    batch = f.batch_size
    smaller = "a smaller batch"
    if batch is not None and batch > 1:
        smaller = f"a smaller batch ({batch // 2} instead of {batch} needs about half for activations)"
    hint = f"{smaller}, mixed precision (amp) or gradient checkpointing need less"
    if requested is not None and unused is not None and unused >= requested:
        hint = f"memory is fragmented: PYTORCH_ALLOC_CONF=expandable_segments:True in the environment helps; or {hint}"
    return hint
