"""No error inside a hook may crash mypy, and none may hide: ``SIMPLETORCH_DEBUG=1`` raises it."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from typing import Final, TypeVar

__all__ = ["DEBUG_VARIABLE", "guarded"]

DEBUG_VARIABLE: Final = "SIMPLETORCH_DEBUG"

C = TypeVar("C")
R = TypeVar("R")


def guarded(work: Callable[[C], R], default: Callable[[C], R]) -> Callable[[C], R]:
    """``work``, or ``default`` with a line on stderr if it fails; under the debug switch the failure is raised."""

    def run(context: C) -> R:
        try:
            return work(context)
        except Exception:
            if os.environ.get(DEBUG_VARIABLE):
                raise
            _tell(context)
            return default(context)

    return run


def _tell(context: object) -> None:
    api, place = getattr(context, "api", None), getattr(context, "context", None)
    error = traceback.format_exc().strip().rpartition("\n")[2]
    where = f"{getattr(api, 'path', '?')}:{getattr(place, 'line', '?')}"
    print(
        f"{where}: note: simpletorch could not analyse this and leaves it to mypy ({error}); "
        f"please report it, {DEBUG_VARIABLE}=1 shows the traceback",
        file=sys.stderr,
    )
