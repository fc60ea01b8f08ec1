"""Work done in forks of this process, which has torch imported: thousands of runs without thousands of imports."""

from __future__ import annotations

import json
import os
import resource
import selectors
import traceback
from collections.abc import Callable, Iterable, Iterator
from typing import Any

SECONDS = 20  # of the processor: a machine that is busy with other things must not change a verdict
MEMORY = 12 << 30


def forked(work: Callable[[Any], object], items: Iterable[Any], jobs: int = 2) -> Iterator[tuple[Any, Any]]:
    """Each item with what ``work(item)`` returned in a process of its own (as JSON); None if that process died or hung.

    They come in the order in which they end.
    """
    _prepare()
    waiting, running = iter(items), {}
    with selectors.DefaultSelector() as selector:
        while True:
            while len(running) < jobs and (item := next(waiting, running)) is not running:
                read, pid = _fork(work, item)
                running[read] = (pid, item, [])
                selector.register(read, selectors.EVENT_READ)
            if not running:
                return
            for key, _ in selector.select():
                pid, item, parts = running[key.fd]
                if part := os.read(key.fd, 1 << 16):
                    parts.append(part)
                    continue
                selector.unregister(key.fd)
                os.close(key.fd)
                os.waitpid(pid, 0)
                del running[key.fd]
                yield item, json.loads(b"".join(parts) or b"null")


def _prepare() -> None:
    """Import what the programs import, once for all forks."""
    import sklearn.datasets
    import sklearn.model_selection  # noqa: F401
    import torch
    import torch._dynamo  # private, but every optimizer imports it at its first step: two seconds in each fork

    torch.set_num_threads(1)


def _fork(work: Callable[[Any], object], item: Any) -> tuple[int, int]:
    read, write = os.pipe()
    pid = os.fork()
    if pid:
        os.close(write)
        return read, pid
    try:
        os.close(read)
        for stream in (0, 1, 2):
            os.dup2(os.open(os.devnull, os.O_RDWR), stream)
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        answer = json.dumps(work(item)).encode()
    except BaseException:
        answer = json.dumps({"broken": traceback.format_exc()}).encode()
    with os.fdopen(write, "wb") as pipe:
        pipe.write(answer)
    os._exit(0)
