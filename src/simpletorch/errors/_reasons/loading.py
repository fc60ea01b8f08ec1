"""Failures in a loader's worker processes."""

from __future__ import annotations

import re

from simpletorch.errors._failure import Failure
from simpletorch.errors._kinds import DataError
from simpletorch.errors._origin import WORKER_ERROR
from simpletorch.errors._reasons._table import Reason, message
from simpletorch.errors._source import relative
from simpletorch.errors._stack import is_user_file

_ERROR = re.compile(r"^(?P<name>[A-Za-z_][\w.]*)(?:: (?P<text>.*))?$")
_FRAME = re.compile(r'^  File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>.*)$')


@message(WORKER_ERROR, first=True)
def _in_worker(_f: Failure, m: re.Match[str]) -> Reason:
    lines = m.string[m.end() :].rstrip().splitlines()
    frames = [(i, found) for i, line in enumerate(lines) if (found := _FRAME.match(line)) is not None]
    own = [f for _, f in frames if is_user_file(f["file"])] or [f for _, f in frames]
    at = frames[-1][0] if frames else -1
    said = [i for i, line in enumerate(lines) if i > at and not line.startswith(" ")]
    error = _ERROR.match(lines[said[0]]) if said else None
    name, text = (error["name"].rpartition(".")[2], error["text"] or "") if error else ("an error", "")
    where = m[2].replace("DataLoader worker process", "worker")
    details = [line.strip() for line in lines[said[0] + 1 :]] if said else []
    details += [f"in {f['function']}, at {relative(f['file'])}:{f['line']}" for f in own[-2:]]
    return Reason(
        DataError,
        f"{where} failed: {name}" + (f": {text}" if text else ""),
        got=name,
        hint="num_workers=0 runs the dataset in this process, where a debugger reaches it",
        details=tuple(details),
    )


@message(
    r"DataLoader worker \(pid(?:\(s\))? ([\d, ]+)\) "
    r"(?:is killed by signal: ([^.]+)|exited unexpectedly(?: with exit code (\d+))?)"
)
def _worker_died(f: Failure, m: re.Match[str]) -> Reason:
    cause = re.search(r"killed by signal: ([^.]+)", str(getattr(f.error, "__cause__", None)))
    signal = (m[2] or (cause[1] if cause else "")).strip()
    how = f"was killed ({signal})" if signal else "exited" + (f" with code {m[3]}" if m[3] else "")
    hint = "num_workers=0 runs the dataset in this process and shows why"
    if "Killed" in signal:
        hint = "the system ran out of memory: fewer workers, a smaller prefetch_factor, or samples read one at a time"
    elif "Bus" in signal or "shared memory" in m.string:
        hint = "shared memory is full: more of it (docker run --shm-size=8g), or fewer workers"
    elif "Segmentation" in signal or "Aborted" in signal:
        hint = "a library crashed, often because it doesn't survive fork: multiprocessing_context='spawn'"
    return Reason(DataError, f"worker process {m[1]} {how} while it was loading", hint=hint)


@message(r"DataLoader timed out after ([\d.]+) seconds")
def _timed_out(_f: Failure, m: re.Match[str]) -> Reason:
    return Reason(
        DataError,
        f"no batch came within {m[1]} seconds",
        hint="a longer timeout, more workers, or a dataset that doesn't wait (a lock, the network)",
    )


@message(r"unable to (?:open|write to|mmap) (?:file|shared memory object)", r"Too many open files")
def _shared_memory(_f: Failure, m: re.Match[str]) -> Reason:
    full = "open files" not in m[0]
    return Reason(
        DataError,
        "batches can't be passed on: " + ("shared memory is full" if full else "too many files are open"),
        hint="docker run --shm-size=8g, or fewer workers"
        if full
        else "ulimit -n 65535, or torch.multiprocessing.set_sharing_strategy('file_system')",
    )
