"""The meaning of a failure: from the operation's rule, and from the table of torch's messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from simpletorch.errors._failure import Failure
from simpletorch.errors._kinds import DeviceMismatch, DTypeMismatch, Mismatch, ShapeMismatch, TorchError
from simpletorch.rules import Report

__all__ = ["Reason", "message", "reason_for"]


@dataclass(frozen=True, slots=True)
class Reason:
    """The meaning of a failure: the kind of error, a sentence that names the operands, and a hint."""

    kind: type[TorchError]
    sentence: str
    expected: object = None
    got: object = None
    hint: str | None = None
    report: Report | None = None  # the rule's own, whose sentence this is
    details: tuple[str, ...] = ()
    fields: Mapping[str, object] = field(default_factory=dict)  # what the kind has beside a `TorchError`'s own


Explain: TypeAlias = Callable[[Failure, "re.Match[str]"], Reason | None]

_MESSAGES: Final[list[tuple[re.Pattern[str], Explain]]] = []


def message(*patterns: str, first: bool = False) -> Callable[[Explain], Explain]:
    """Register what torch messages that contain one of these patterns mean.

    ``first`` is for a message that quotes others: it is recognised before they are.
    """

    def register(explain: Explain) -> Explain:
        entries = [(re.compile(pattern), explain) for pattern in patterns]
        _MESSAGES[:] = [*entries, *_MESSAGES] if first else [*_MESSAGES, *entries]
        return explain

    return register


def reason_for(failure: Failure) -> Reason | None:
    """The meaning of a failure, None if unknown.

    If there is a rule for the operation and it objects, the sentence is that of the rule, as in mypy. At times torch's
    own message tells more (which index was out of range), so the hint is taken from its explanation, unless the rule
    refutes it.
    """
    told, ruled = _by_message(failure), _by_rule(failure)
    # where torch speaks of memory or of the graph, shapes are not what failed
    if ruled is None or (told is not None and not issubclass(told.kind, Mismatch)):
        return told
    if told is not None and told.kind is not ruled.kind and ruled.kind is DTypeMismatch:
        return told  # under autocast the operation has seen other dtypes than those of its operands
    if told is not None and told.kind is ruled.kind and told.hint is not None:
        return replace(ruled, hint=_tried(told.hint, ruled, failure))
    return ruled


def _tried(hint: str, ruled: Reason, failure: Failure) -> str | None:
    """A hint, unless the rule refutes it, or its own is known to help and of this one nothing is."""
    report = ruled.report
    if report is None:
        return hint
    helps = failure.judge.try_hint(report.kind, _in_roles(hint, report, failure))
    if helps is None and report.hint is not None:
        return ruled.hint if failure.judge.try_hint(report.kind, report.hint) else hint
    return ruled.hint if helps is False else hint


def _in_roles(hint: str, report: Report, failure: Failure) -> str:
    """``x.float()`` with the operands by the names of their parameters: ``input.float()``."""
    names = {
        value.name: role for value in failure.values for role, known in report.operands.items() if known is value.known
    }
    if not names:
        return hint
    longest_first = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.sub(rf"(?<![\w.])(?:{longest_first})(?!\w)", lambda found: names[found[0]], hint)


def _by_message(failure: Failure) -> Reason | None:
    for pattern, explain in _MESSAGES:
        found = pattern.search(failure.message)
        if found is not None:
            reason = explain(failure, found)
            if reason is not None:
                return reason
    return None


_KINDS: Final = {"shape": ShapeMismatch, "dtype": DTypeMismatch, "device": DeviceMismatch}


def _by_rule(failure: Failure) -> Reason | None:
    report = failure.judge()
    if not isinstance(report, Report) or report.kind not in _KINDS:
        return None
    hint = None if report.hint is None else _in_source_names(report.hint, report, failure)
    return Reason(_KINDS[report.kind], report.reason, _plain(report.expected), _plain(report.got), hint, report)


def _in_source_names(hint: str, report: Report, failure: Failure) -> str:
    """``input.float()`` as the program would say it: ``x.float()``. A longer expression keeps its role."""
    # by identity: two operands of one dtype and shape are equal
    names = {id(value.known): value.name for value in failure.values}
    for role, known in report.operands.items():
        name = names.get(id(known), role)
        if re.fullmatch(r"[\w.]+", name):
            hint = re.sub(rf"(?<![\w.]){re.escape(role)}(?=\.\w)", name, hint)
    return hint


def _plain(value: object) -> object:
    """A rule's value as plain data: an error is pickled and logged."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    items = getattr(value, "items", None)
    if isinstance(items, Sequence):
        value = tuple(items)
    if isinstance(value, tuple | list):
        return tuple(_plain(v) for v in value)
    return str(value)
