"""Batches for ``async for``: read in a thread, so that other tasks run meanwhile."""

from __future__ import annotations

from asyncio import get_running_loop
from collections.abc import AsyncGenerator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar, cast

__all__ = ["read"]

T = TypeVar("T")
_END: Final = object()


async def read(batches: Iterator[T]) -> AsyncGenerator[T, None]:
    """Yield what an iterator gives. One thread asks it, and closes it when the loop is left early."""
    reader = ThreadPoolExecutor(1, "simpletorch-loader")
    ask: Any = next
    try:
        while (batch := await get_running_loop().run_in_executor(reader, ask, batches, _END)) is not _END:
            yield cast("T", batch)
    finally:
        close = getattr(batches, "close", None)
        if close is not None:
            reader.submit(close)  # behind a batch that is being read: a generator isn't closed while it runs
        reader.shutdown(wait=False)
