"""The fields of an error, from which its text is written: operands, a place in the source, and others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypedDict

__all__ = ["Common", "Context", "Fields", "Location", "Operand", "Place"]


@dataclass(frozen=True, slots=True)
class Operand:
    """One thing that took part: a tensor by dtype, shape and device, anything else by ``text``; never its contents.

    ``name`` is its source text (``self.fc2``); ``should_be`` the annotation it fails, if it fails one;
    ``role`` the parameter that it was given for, where the sentence calls it so (``input``).

    Attributes:
        name: its source text, such as ``"self.fc2"``.
        dtype: of a tensor, such as ``"float32"``.
        shape: of a tensor.
        device: of a tensor, such as ``"cuda:0"``.
        text: the description of a value that is no tensor.
        should_be: the annotation that it fails; None if it fails none.
        role: the parameter that it was given for, such as ``"input"``.

    Examples:
        >>> from simpletorch import errors
        >>> weight = errors.Operand("weight", "Float32", (5, 7))
        >>> error = errors.ShapeMismatch(3, 5, operation="matmul", operands=[weight])
        >>> print(error)
        matmul: expected shape 3, but got 5
          weight  Float32[5, 7]
    """

    name: str
    dtype: str | None = None
    shape: tuple[int, ...] | None = None
    device: str | None = None
    text: str = ""
    should_be: str | None = None
    role: str | None = None

    @property
    def type_text(self) -> str:
        """``Float32[32, 128]``, or the text of another value."""
        if self.shape is None:
            return self.text
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


@dataclass(frozen=True, slots=True)
class Location:
    """Where in the source: lines from 1, columns from 0 (``end_column`` is one past the last), as `ast` counts.

    ``code`` is the statement on one line, ``expression`` the part of it that failed.

    Attributes:
        file: the path of the source file.
        line: the line of ``expression``, or that is being run.
        code: the statement on one line.
        function: the name of the function that it is in.
        end_line: the last line of ``expression``.
        column: the first column of ``expression``.
        end_column: the column behind ``expression``.
        expression: the part of the statement that failed.

    Examples:
        >>> from simpletorch import errors
        >>> errors.Location("net.py", 12, code="y = x @ w").line
        12
    """

    file: str
    line: int
    code: str = ""
    function: str = ""
    end_line: int | None = None
    column: int | None = None
    end_column: int | None = None
    expression: str = ""


class Place(TypedDict):
    """A place in a program: its line, and the path of the called module."""

    location: Location | None
    module_path: str | None


class Common(TypedDict, total=False):
    """The optional fields of any error."""

    operation: str | None
    operands: Sequence[Operand]
    location: Location | None
    module_path: str | None
    hint: str | None
    details: Sequence[str]
    message: str


class Context(Common, total=False):
    """The same, with the two things that differ."""

    expected: object
    got: object


class Fields(Protocol):
    """The fields of any error, as its text needs them; `TorchError` has them."""

    reason: str
    operation: str | None
    operands: tuple[Operand, ...]
    location: Location | None
    module_path: str | None
    hint: str | None
    details: tuple[str, ...]

    @property
    def kind(self) -> str:
        """The name of the kind: ``"ShapeMismatch"``."""
        ...
