"""Libraries for settings: readers of files, dicts with attributes, OmegaConf and Hydra, and command lines.

Their classes are followed in texts beside the files here, which say in Python what the libraries do.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from simpletorch.follow.libraries import ALIASES, OWN

__all__ = ["own"]

_HERE: Final = Path(__file__).parent


def own(file: str, names: dict[str, str]) -> None:
    """A text beside this file defines these names: the short one there, by dotted names of the library's."""
    for dotted, short in names.items():
        real = f"{dotted.rpartition('.')[0]}.{short}"
        if real != dotted:
            ALIASES[dotted] = real
        OWN[real] = _HERE / file
