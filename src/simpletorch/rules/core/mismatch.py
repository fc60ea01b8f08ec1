"""Why an operation refuses its operands. A rule raises a short reason; the border adds operation and operands once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

__all__ = ["CannotTell", "Hint", "Kind", "Mismatch", "Report"]

_FEW: Final = 4
_WIDE: Final = 160

Kind: TypeAlias = Literal["shape", "dtype", "device", "broadcast", "layout", "class"]
Hint: TypeAlias = str | Iterable[str | None] | None  # of several, those that are None are left out


class Mismatch(Exception):
    """Raised by a rule: what doesn't fit, in a short sentence without the operation's name.

    Args:
        reason: what is wrong, naming parameters as torch does: ``"the last dim of input is 128, not 100"``.
        kind: "shape", "dtype", "device", "layout", or "broadcast" for what torch accepts but is likely a mistake.
        hint: what would be right, as an imperative or as code: ``"Linear(128, 10) would fit"``. Of several, the most
            likely first; the first that helps is said (`trials`).
        expected, got: the two things that differ, for programs.
    """

    def __init__(
        self,
        reason: str,
        *,
        kind: Kind = "shape",
        hint: Hint = None,
        expected: object = None,
        got: object = None,
    ) -> None:
        super().__init__(reason)
        self.reason, self.kind, self.expected, self.got = reason, kind, expected, got
        self.hints = tuple(h for h in ((hint,) if isinstance(hint, str) else hint or ()) if h is not None)

    @property
    def hint(self) -> str | None:
        """The first hint, where there is no call that it could be tried with."""
        return next(iter(self.hints), None)


class CannotTell(Exception):
    """Raised by a rule when the operands are not known well enough to say anything about the result."""


@dataclass(frozen=True, slots=True)
class Report:
    """A mismatch with its context: the operation and its operands by the names of torch's parameters."""

    op: str
    kind: Kind
    reason: str
    operands: Mapping[str, object] = field(default_factory=dict)
    hint: str | None = None
    expected: object = None
    got: object = None

    @property
    def text(self) -> str:
        """One line: operation, reason, and the operands: all if they are few, else those that the reason speaks of."""
        operands = list(self.operands.items())
        out = self._with(operands)
        if len(operands) <= _FEW and len(out) <= _WIDE:
            return out
        return self._with([o for o in operands if self._speaks_of(o[0])] or operands[:_FEW])

    def _with(self, operands: list[tuple[str, object]]) -> str:
        shown = ", ".join(f"{name}: {value}" for name, value in operands)
        return f"{self.op}: {self.reason}" + (f" [{shown}]" if shown else "")

    def _speaks_of(self, name: str) -> bool:
        return re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", self.reason) is not None
