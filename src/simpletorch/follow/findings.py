"""What is found: a mistake at a line, and the calls that led there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, final

from simpletorch.rules.core.codes import Severity

__all__ = ["CHANGES", "OR", "Call", "Finding", "Note", "OneOf"]

OR: Final = " or "
"""Between the values that a name may have, by a condition that isn't known."""
CHANGES: Final = " → "
"""Between the values that a name has one after the other, in a loop."""


@final
class OneOf(list[Any]):
    """The values that a line gives to a name, which has one of them, by a condition that isn't known."""


@final
@dataclass(frozen=True, slots=True)
class Call:
    """A call on the way to a mistake: where it stands, what is called, and the tensors that it gets by name.

    Examples:
        >>> from pathlib import Path
        >>> from simpletorch.follow import follow
        >>> source = "import torch\\n\\ndef net(x):\\n    return x @ torch.zeros(5, 3)\\n\\nnet(torch.zeros(2, 4))\\n"
        >>> _ = Path("net.py").write_text(source)
        >>> (finding,) = follow("net.py").errors
        >>> [(call.line, call.function) for call in finding.trace]
        [(6, 'net')]
    """

    path: str
    line: int
    function: str
    tensors: tuple[tuple[str, str], ...] = ()
    is_entry: bool = False
    """Nothing in the program calls it: following begins at the function itself."""
    words: str = ""
    """It isn't called, but a program that is run with this option, for which it asks there."""

    def __str__(self) -> str:
        given = ", ".join(f"{name}: {shown}" for name, shown in self.tensors)
        way = "is followed by itself" if self.is_entry else f"is called from {self.path}:{self.line}"
        way = f"is run with {self.words}" if self.words else way
        return f"{self.function} {way}" + (f" with {given}" if given else "")


@final
@dataclass(frozen=True, slots=True)
class Note:
    """The answer to a ``reveal_type(x)`` in the program.

    Examples:
        >>> from pathlib import Path
        >>> from simpletorch.follow import follow
        >>> _ = Path("net.py").write_text("import torch\\nreveal_type(torch.zeros(2, 3))")
        >>> print(follow("net.py").notes[0])
        net.py:2: note: Revealed type is "Float32[2, 3]"
    """

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: note: {self.message}"


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """A mistake: where torch would raise, the code and the sentence of mypy's report, and how the program gets there.

    - ``severity`` is "warning" for what torch computes, but hardly anybody means.
    - ``trace`` begins with the innermost call.
    - ``entry`` counts where the program was begun; the program itself is 0.
    - ``passed`` are the statements before it, each by its file and its lines (a compound one by its head's). A mistake
      that another checker finds in one of them may be the cause of this one.
    - ``is_certain``: the program surely gets there: no condition that isn't known leads to it, nor a loop that may run
      no round.
    - ``is_promise`` is what torch doesn't refuse: a result that isn't what its annotation says.
    - ``operation`` is what refuses its operands: an operation or a layer of torch's; empty for other mistakes.
    - ``about`` is the text of the object whose item or attribute it is; empty for other mistakes.

    Examples:
        >>> from pathlib import Path
        >>> from simpletorch.follow import follow
        >>> _ = Path("net.py").write_text("import torch; torch.zeros(2, 3) @ torch.zeros(5, 7)")
        >>> finding = follow("net.py").errors[0]
        >>> finding.line, finding.code
        (1, 'tensor-shape')
    """

    path: str
    line: int
    column: int
    code: str
    message: str
    hint: str | None = None
    trace: tuple[Call, ...] = ()
    end_line: int | None = None
    end_column: int | None = None
    entry: int = field(default=0, compare=False)
    passed: frozenset[tuple[str, int, int]] = field(default=frozenset(), compare=False, repr=False)
    is_promise: bool = False
    severity: Severity = "error"
    is_certain: bool = field(default=False, compare=False)
    operation: str = ""
    about: str = field(default="", compare=False, repr=False)

    def says_the_same(self, other: Finding) -> bool:
        """Whether another mistake is this one again, at a later line of the same call."""
        told = self.about, self.path, self.code, self.message, self.trace
        return told == (other.about, other.path, other.code, other.message, other.trace)

    def has_passed(self, path: str, line: int) -> bool:
        """Whether the program has passed the line on its way to the mistake."""
        return any(file == path and first <= line <= last for file, first, last in self.passed)

    def lines(self) -> Sequence[str]:
        """The report: the error, then a note for the hint and for each call."""
        place = f"{self.path}:{self.line}"
        out = [f"{place}: {self.severity}: {self.message}  [{self.code}]"]
        if self.hint:
            out.append(f"{place}: note: {self.hint}")
        return [*out, *(f"{call.path}:{call.line}: note: {call}" for call in self.trace)]
