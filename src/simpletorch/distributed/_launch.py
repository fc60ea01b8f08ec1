"""Several processes from one: for notebooks, and for scripts that aren't started by torchrun."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

from simpletorch.distributed._group import TIMEOUT, init, is_started_together, rank
from simpletorch.errors import BackendError, TorchError, as_also, explain

T = TypeVar("T")

_Wrong = as_also(TorchError, ValueError)
_INTERRUPTED: Final = 75  # what a training that was asked to end, and has saved, ends with (`simpletorch.train`)
_FOLLOWS: Final = ("lost the connection", "was told to end")
"""In the errors of ranks that ended because another did."""


def launch(
    function: Callable[..., T], *arguments: Any, processes: int = 2, restarts: int = 0, timeout: float = TIMEOUT
) -> list[T]:
    """Call ``function(*arguments)`` in ``processes`` processes that have met.

    ::

        losses = distributed.launch(train, "runs/7", processes=2)

    It is torch's elastic launcher, on this machine, at a free port. If ``function`` can be imported, processes are
    spawned: a script then needs ``if __name__ == "__main__":``, and results and arguments are pickled. For a function
    of a notebook, processes are forked, which works as long as this process has not used a GPU. `init` has been called
    when the function begins.

    Args:
        function: the function that every process calls.
        arguments: its positional arguments, the same in each process.
        processes: how many.
        restarts: when one fails, all are started anew this often: a training with ``fit(resume="auto")`` goes on from
            its last checkpoint.
        timeout: seconds that a collective waits for the other processes, as in `init`.

    Returns:
        The results of the processes, by rank.

    Raises:
        ValueError: ``processes`` or ``restarts`` is out of range, or this is one of several processes already; it is a
            `TorchError` too.
        BackendError: a process failed: the first that did, by rank, with its own error.
        SystemExit: the processes were asked to end and have saved; the status is 75.

    Source: https://docs.pytorch.org/docs/stable/elastic/run.html

    Examples:
        >>> from simpletorch import distributed
        >>> distributed.launch(pow, 3, 2, processes=2)
        [9, 9]
    """
    if processes < 1 or restarts < 0:
        raise _Wrong(f"launch got processes={processes}, restarts={restarts}: at least 1 process, and 0 restarts")
    if is_started_together():
        raise _Wrong(f"launch starts processes, and this is rank {rank()} of some already: call {_name(function)}()")
    # here because they take half a second to import
    from torch.distributed.elastic.multiprocessing.api import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.launcher.api import LaunchConfig, elastic_launch

    config = LaunchConfig(
        min_nodes=1,
        max_nodes=1,
        nproc_per_node=processes,
        rdzv_backend="c10d",
        rdzv_endpoint="localhost:0",
        run_id=uuid.uuid4().hex,
        max_restarts=restarts,
        monitor_interval=0.1,
        start_method="spawn" if _is_importable(function) else "fork",
        local_addr="localhost",
    )
    with tempfile.TemporaryDirectory() as folder:
        try:
            results = elastic_launch(config, _entry)(function, arguments, timeout, folder)
        except ChildFailedError as error:
            if _all_saved(folder, processes):
                raise SystemExit(_INTERRUPTED) from None
            raise _failed(error.failures, processes, _told_by_ranks(Path(folder))) from error
        except SignalException as error:
            if _all_saved(folder, processes):
                raise SystemExit(_INTERRUPTED) from None
            raise SystemExit(128 + error.sigval.value) from None
    return [results[number] for number in range(processes)]


def _entry(function: Callable[..., T], arguments: tuple[Any, ...], timeout: float, folder: str) -> T:
    """The entry point of each process."""
    import torch

    # one that was forked can't use the threads that its parent had; and several share this machine
    torch.set_num_threads(1)
    init(timeout=timeout)
    try:
        with explain():  # here, since the launcher takes what is raised, and shows it
            return function(*arguments)
    except SystemExit as leaving:
        if leaving.code == _INTERRUPTED:
            (Path(folder) / f"{rank()}.saved").touch()
        elif leaving.code:
            sys.last_value = leaving
            _tell(folder, f"it called sys.exit({leaving.code!r})")
        raise
    except Exception as error:
        sys.last_value = error  # as after an uncaught error: the other ranks are told (`_peers.leave`)
        _tell(folder, f"{type(error).__name__}: {error}")
        raise


def _tell(folder: str, message: str) -> None:
    """Leave a word on why this rank ended."""
    attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    told = {"process": os.getpid(), "message": message}
    (Path(folder) / f"{attempt}-{rank()}.failed").write_text(json.dumps(told))


def _all_saved(folder: str, processes: int) -> bool:
    return len(list(Path(folder).glob("*.saved"))) == processes


def _told_by_ranks(folder: Path) -> dict[int, dict[str, Any]]:
    """The failures of each rank in the last attempt. Of ranks that end at once the launcher keeps one's error only."""
    told: dict[int, dict[int, dict[str, Any]]] = {}
    for file in folder.glob("*.failed"):
        attempt, number = map(int, file.stem.split("-"))
        told.setdefault(attempt, {})[number] = json.loads(file.read_text())
    return dict(sorted(told[max(told)].items())) if told else {}


def _is_importable(function: Callable[..., object]) -> bool:
    """Whether a fresh process finds the function: in a module, or in a script that has a file."""
    module = sys.modules.get(getattr(function, "__module__", ""))
    return getattr(module, "__file__", None) is not None and "<" not in getattr(function, "__qualname__", "<")


_NOTHING: Final = "<NONE>"  # the launcher's own, where no error was left


def _follows_another(message: str) -> bool:
    return any(words in message for words in _FOLLOWS)


def _failed(failures: dict[int, Any], processes: int, told_by_ranks: dict[int, dict[str, Any]]) -> BackendError:
    """The error of the rank that failed first."""

    def told(number: int) -> str:
        failure = failures[number]
        data = failure.error_file_data.get("message", "")
        own = told_by_ranks.get(number, {}).get("message", "")  # of sys.exit the launcher keeps no error
        given = str(data["message"] if isinstance(data, dict) else data)
        return own if given in ("", _NOTHING) and own else given or str(failure.message)

    def follows(number: int) -> tuple[bool, int]:
        # times are in whole seconds, and the launcher itself ends the others by SIGTERM
        failure = failures[number]
        is_other = failure.exitcode == -signal.SIGTERM or _follows_another(told(number))
        return is_other, failure.timestamp

    number = min(failures, key=follows)
    failure = failures[number]
    process, message = failure.pid, told(number)
    if _follows_another(message):
        causes = (n for n, each in told_by_ranks.items() if not _follows_another(each["message"]))
        if (cause := next(causes, None)) is not None:
            number, (process, message) = cause, (told_by_ranks[cause][key] for key in ("process", "message"))
    first, *more = message.splitlines()
    how = f"was ended by {failure.signal_name()}" if failure.exitcode < 0 else f"failed: {first}"
    hint = "its own traceback is above, on standard error" if failure.exitcode > 0 else None
    if failure.exitcode == -signal.SIGABRT:
        hint = (
            "gloo ends a process so when the tensors of a collective differ in dtype or size between ranks; "
            "simpletorch.distributed.all_reduce and its like compare them first, and say how"
        )
    return BackendError(
        f"launch: rank {number} of {processes} (process {process}) {how}",
        details=[line.strip() for line in more],
        hint=hint,
    )


def _name(function: Callable[..., object]) -> str:
    return getattr(function, "__name__", type(function).__name__)
