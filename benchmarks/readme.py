"""What README tells a user to write: benchmarks measure that."""

from __future__ import annotations

import re
from pathlib import Path

__all__ = ["mypy_settings"]

README = Path(__file__).parents[1] / "README.md"


def mypy_settings(*, plugin: bool = True) -> str:
    """The section for mypy that README has, or the same without our plugin."""
    (section,) = re.findall(
        r"^```ini\n(\[mypy\]\n.*?)^```", README.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    assert "plugins = simpletorch.mypy\n" in section
    return section if plugin else section.replace("plugins = simpletorch.mypy\n", "")
