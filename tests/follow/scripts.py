"""Programs as people write them: what following says of each, and what it does when it runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from simpletorch.follow import Followed, follow

__all__ = ["Scripts"]


@dataclass(frozen=True)
class Scripts:
    """Programs that all begin with the same lines."""

    head: str

    def said(self, source: str, folder: Path) -> Followed:
        """What is said of a program."""
        path = folder / "program.py"
        path.write_text(self.head + source)
        found = follow(path)
        assert not found.faults
        return found

    def shown(self, source: str, folder: Path, *, right: bool = False) -> str:
        """What ``x`` is at the end of a program, which has no mistake if it is ``right``."""
        found = self.said(f"{source}\nreveal_type(x)\n", folder)
        assert not (right and found.errors)
        return found.notes[-1].message.removeprefix('Revealed type is "').removesuffix('"')

    def lines(self, source: str, folder: Path) -> list[int]:
        """The lines of the source with mistakes, from 1."""
        return [f.line - self.head.count("\n") for f in self.said(source, folder).errors]

    def run(self, source: str) -> dict[str, object]:
        """The variables of a program after it has run."""
        scope: dict[str, object] = {"__name__": "__main__"}
        exec(compile(self.head + source, "program.py", "exec"), scope)
        return scope
