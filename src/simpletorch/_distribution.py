"""The installed distribution, which has its own name: ``simpletorch`` on the package index is another project."""

from __future__ import annotations

from typing import Final

__all__ = ["NAME", "installing", "version", "version_of"]

NAME: Final = "simpletorch-typed"


def version() -> str:
    """The version that is installed.

    Raises:
        importlib.metadata.PackageNotFoundError: it is imported from a folder, without having been installed.
    """
    from importlib import metadata  # it takes a third of the time of a command that has nothing to do

    return metadata.version(NAME)


def version_of(distribution: str) -> str | None:
    """The version of a distribution; None if it isn't installed, also if it is imported from a folder."""
    from importlib import metadata

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def installing(extra: str) -> str:
    """The command that installs what an extra needs: ``pip install 'simpletorch-typed[plot]'``."""
    return f"pip install '{NAME}[{extra}]'"
