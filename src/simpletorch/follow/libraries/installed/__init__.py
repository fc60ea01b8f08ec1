"""Installed libraries that are followed into their source (`sources.packages`): what their source alone doesn't say.

Where a library's base classes are more machinery than sizes, a text beside these files stands for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from simpletorch.follow import files
from simpletorch.follow.libraries import ABSENT, ALIASES, OWN, native

if TYPE_CHECKING:
    from simpletorch.follow.interpreter import Interpreter
    from simpletorch.follow.values import Cause, Value

__all__ = ["anything", "spoils", "stand"]

_HERE: Final = Path(__file__).parent


def stand(library: str, file: str, names: Mapping[str, str], *, where_absent: bool = False) -> None:
    """A text defines these names of a library: by name there, the places where the library has it.

    ``where_absent``: what is installed comes before the text.
    """
    for name, places in names.items():
        first, *others = (f"{library}.{place}" for place in places.split())
        real = f"{first.rpartition('.')[0]}.{name}"
        (ABSENT if where_absent else OWN)[real] = _HERE / file
        ALIASES.update({place: real for place in (first, *others) if place != real})


def anything(name: str, reason: str) -> None:
    """Register ``anything()`` for a text: unknown; code that may change objects gets them, as ``anything(self)``."""

    @native(name)
    def _(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        run.escape(args)
        return run.unknown(reason)


anything("simpletorch_installed.anything", "what a library makes of it")


def spoils(name: str, reason: str, cause: Cause = "code") -> None:
    """Register ``written(path, …)`` for a text: files at these paths, and below them, aren't known from then on."""

    @native(name)
    def _(run: Interpreter, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        files.handed_over(run, args)
        return run.unknown(reason, None, cause)
