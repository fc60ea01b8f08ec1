"""A follow's answer as surfaces print it: findings, notes, coverage, and shapes as texts. JSON can hold it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

from simpletorch.follow.findings import Call, Finding, Note

if TYPE_CHECKING:
    from simpletorch.follow.followed import Followed

__all__ = ["Told"]

Place: TypeAlias = tuple[str, int]
Passed: TypeAlias = tuple[str, int, int]


@final
@dataclass(frozen=True, slots=True)
class Told:
    """`Followed` without its values: two are equal if every surface prints the same."""

    errors: tuple[Finding, ...] = ()
    warnings: tuple[Finding, ...] = ()
    remarks: tuple[Finding, ...] = ()
    ignored: tuple[Finding, ...] = ()
    notes: tuple[Note, ...] = ()
    faults: tuple[str, ...] = ()
    complete: bool = True
    ended: str = ""
    not_followed: tuple[tuple[str, int, str], ...] = ()
    coverage: tuple[int, int] = (0, 0)
    causes: tuple[tuple[str, int, str, bool], ...] = ()
    files: tuple[str, ...] = ()
    data: tuple[tuple[str, str], ...] = ()
    reasons: Mapping[Place, Sequence[str]] = field(default_factory=dict)
    shown: Mapping[Place, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    """By file and line: for each name the texts of the tensors, and of the tuples with some, that it gets in turn."""

    @classmethod
    def of(cls, found: Followed) -> Told:
        """The answer of a follow."""
        from simpletorch.follow.cache.shown import texts_of  # it needs the rules' types

        return cls(
            found.errors,
            found.warnings,
            found.remarks,
            found.ignored,
            found.notes,
            found.faults,
            found.complete,
            found.ended,
            found.not_followed,
            found.coverage,
            found.causes,
            found.files,
            found.data,
            {place: tuple(said) for place, said in found.reasons.items()},
            texts_of(found.claims),
        )

    @classmethod
    def together(cls, answers: Sequence[Told]) -> Told:
        """The answers of several programs as one; a finding in a module that two of them import is there once."""
        if len(answers) == 1:
            return answers[0]
        named: dict[str, Any] = {
            name: tuple(dict.fromkeys(part for answer in answers for part in getattr(answer, name)))
            for name in (*_FINDINGS, "notes", "faults", "not_followed", "causes", "files", "data")
        }
        for name in _FINDINGS:
            named[name] = tuple({(f.path, f.line, f.code, f.message): f for f in reversed(named[name])}.values())[::-1]
        return cls(
            **named,
            complete=all(answer.complete for answer in answers),
            ended="\nfollowed to ".join(dict.fromkeys(answer.ended for answer in answers if answer.ended)),
            coverage=(sum(answer.coverage[0] for answer in answers), sum(answer.coverage[1] for answer in answers)),
        )

    # -- as JSON ------------------------------------------------------------------------------------------------------

    def as_json(self) -> dict[str, Any]:
        """A document that `from_json` reads."""
        passed: dict[Passed, int] = {}
        document: dict[str, Any] = {
            name: [_written(finding, passed) for finding in getattr(self, name)] for name in _FINDINGS
        }
        document["passed"] = list(passed)
        document["notes"] = [[n.path, n.line, n.message] for n in self.notes]
        document |= {name: getattr(self, name) for name in _PLAIN}
        document["reasons"] = [[*place, said] for place, said in self.reasons.items()]
        document["shown"] = [[*place, shown] for place, shown in self.shown.items()]
        return document

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Told:
        """The answer that a document holds.

        Raises:
            KeyError: it is another document; so do `TypeError`, `ValueError` and `IndexError`.
        """
        passed: list[Passed] = [(path, first, last) for path, first, last in document["passed"]]
        errors, warnings, remarks, ignored = (tuple(_read(f, passed) for f in document[name]) for name in _FINDINGS)
        return cls(
            errors,
            warnings,
            remarks,
            ignored,
            tuple(Note(*note) for note in document["notes"]),
            tuple(document["faults"]),
            document["complete"],
            document["ended"],
            tuple((path, line, name) for path, line, name in document["not_followed"]),
            (document["coverage"][0], document["coverage"][1]),
            tuple((path, line, why, is_partly) for path, line, why, is_partly in document["causes"]),
            tuple(document["files"]),
            tuple((path, words) for path, words in document["data"]),
            {(path, line): tuple(said) for path, line, said in document["reasons"]},
            {
                (path, line): {name: tuple(texts) for name, texts in shown.items()}
                for path, line, shown in document["shown"]
            },
        )


_FINDINGS: Final = ("errors", "warnings", "remarks", "ignored")
_PLAIN: Final = ("faults", "complete", "ended", "not_followed", "coverage", "causes", "files", "data")


def _written(finding: Finding, passed: dict[Passed, int]) -> list[Any]:
    """The fields of a finding in their order; statements that it passed by their numbers among all that are."""
    f = finding
    trace = [[c.path, c.line, c.function, c.tensors, c.is_entry, c.words] for c in f.trace]
    statements = sorted(passed.setdefault(statement, len(passed)) for statement in sorted(f.passed))
    return [
        *(f.path, f.line, f.column, f.code, f.message, f.hint, trace, f.end_line, f.end_column, f.entry),
        *(_spans(statements), f.is_promise, f.severity, f.is_certain, f.operation),
    ]


def _read(written: Sequence[Any], passed: Sequence[Passed]) -> Finding:
    path, line, column, code, message, hint, trace, end_line, end_column, entry, spans, *rest = written
    calls = tuple(
        Call(where, at, function, tuple((name, shown) for name, shown in tensors), *more)
        for where, at, function, tensors, *more in trace
    )
    statements = frozenset(passed[i] for first, last in spans for i in range(first, last + 1))
    return Finding(path, line, column, code, message, hint, calls, end_line, end_column, entry, statements, *rest)


def _spans(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Sorted numbers as spans, each with its first and its last: what one finding passes, the next one does mostly."""
    spans: list[tuple[int, int]] = []
    for number in numbers:
        if spans and spans[-1][1] == number - 1:
            spans[-1] = (spans[-1][0], number)
        else:
            spans.append((number, number))
    return spans
