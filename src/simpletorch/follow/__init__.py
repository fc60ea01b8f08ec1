"""A program run on shapes: without annotations, and without running it.

``follow("train.py")`` reads the program as ``python train.py`` would run it, with what is known of each value, and
finds the lines at which torch would raise. What isn't known is never an error, and never guessed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simpletorch.follow.findings import Call, Finding, Note

if TYPE_CHECKING:
    from simpletorch.follow.followed import Followed, follow

__all__ = ["Call", "Finding", "Followed", "Note", "follow"]


def __getattr__(name: str) -> Any:
    """The two names that take the whole interpreter, which a kept answer (`follow.cache`) doesn't need."""
    if name in ("Followed", "follow"):
        from simpletorch.follow import followed

        return getattr(followed, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
