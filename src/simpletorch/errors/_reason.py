"""The table of reasons: torch's messages, and what each means for the operands at hand."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from simpletorch.errors._failure import Failure
from simpletorch.errors._kinds import TorchError

__all__ = ["SOURCES", "Reason", "by_message", "message", "reason_for"]


@dataclass(frozen=True, slots=True)
class Reason:
    """What a failure means: the kind of error, a sentence that names the operands, and a hint."""

    kind: type[TorchError]
    sentence: str
    expected: object = None
    got: object = None
    hint: str | None = None


Explain: TypeAlias = Callable[[Failure, "re.Match[str]"], Reason | None]

_MESSAGES: Final[list[tuple[re.Pattern[str], Explain]]] = []


def message(*patterns: str) -> Callable[[Explain], Explain]:
    """Register what torch messages that contain one of these patterns mean."""

    def register(explain: Explain) -> Explain:
        _MESSAGES.extend((re.compile(pattern), explain) for pattern in patterns)
        return explain

    return register


def by_message(failure: Failure) -> Reason | None:
    """The reason that torch's own message tells."""
    for pattern, explain in _MESSAGES:
        found = pattern.search(failure.message)
        if found is not None:
            reason = explain(failure, found)
            if reason is not None:
                return reason
    return None


# Who is asked for the meaning of a failure, in this order; the first answer counts. The rules that the static check
# uses (`simpletorch.rules`) belong in front: a source takes a `Failure` (operation, operands by role) and answers a
# `Reason`.
SOURCES: Final[list[Callable[[Failure], Reason | None]]] = [by_message]


def reason_for(failure: Failure) -> Reason | None:
    """What a failure means, None if nobody knows."""
    return next((reason for source in SOURCES if (reason := source(failure)) is not None), None)
