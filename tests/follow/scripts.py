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

    def run(self, source: str) -> dict[str, object]:
        """The variables of a program after it has run."""
        scope: dict[str, object] = {"__name__": "__main__"}
        exec(compile(self.head + source, "program.py", "exec"), scope)
        return scope
