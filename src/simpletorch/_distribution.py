"""The installed distribution, which has its own name: ``simpletorch`` on the package index is another project."""

from __future__ import annotations

from importlib import metadata
from typing import Final

__all__ = ["NAME", "installing", "version"]

NAME: Final = "simpletorch-typed"


def version() -> str:
    """The version that is installed.

    Raises:
        importlib.metadata.PackageNotFoundError: it is imported from a folder, without having been installed.
    """
    return metadata.version(NAME)


def installing(extra: str) -> str:
    """The command that installs what an extra needs: ``pip install 'simpletorch-typed[plot]'``."""
    return f"pip install '{NAME}[{extra}]'"
