"""A program run on shapes: without annotations, and without running it.

``follow("train.py")`` reads the program as ``python train.py`` would run it, with what is known of each value, and
finds the lines at which torch would raise. An unknown value is never an error, and never guessed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simpletorch.follow.findings import Call, Finding, Note

if TYPE_CHECKING:
    from simpletorch.follow.followed import Followed, follow
    from simpletorch.follow.sources.comparing import differences, results_differ

__all__ = ["Call", "Finding", "Followed", "Note", "differences", "follow", "results_differ"]


def __getattr__(name: str) -> Any:
    """The names that take the whole interpreter, which a kept answer (`follow.cache`) doesn't need."""
    if name in ("Followed", "follow"):
        from simpletorch.follow import followed

        return getattr(followed, name)
    if name in ("differences", "results_differ"):
        from simpletorch.follow.sources import comparing

        return getattr(comparing, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
