"""A program run on shapes: without annotations, and without running it.

``follow("train.py")`` reads the program as ``python train.py`` would run it, with what is known of each value, and
finds the lines at which torch would raise. What isn't known is never an error, and never guessed.
"""

from __future__ import annotations

from simpletorch.follow.findings import Call, Finding, Note
from simpletorch.follow.followed import Followed, follow
from simpletorch.follow.sources.comparing import differences, results_differ

__all__ = ["Call", "Finding", "Followed", "Note", "differences", "follow", "results_differ"]
