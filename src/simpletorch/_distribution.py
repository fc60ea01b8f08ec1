"""The installed distribution, which has its own name: ``simpletorch`` on the package index is another project."""

from __future__ import annotations

from pathlib import Path
from typing import Final

__all__ = ["NAME", "installing", "page_of", "torch_available", "version", "version_of"]

_PACKAGE: Final = Path(__file__).parent
_PAGES: Final = (_PACKAGE / "docs" / "errors", _PACKAGE.parents[1] / "docs" / "errors")  # of a wheel; of a checkout
NAME: Final = "simpletorch-typed"


def page_of(code: str) -> Path | None:
    """The file that explains a code such as ``tensor-shape``, in Markdown."""
    files = (folder / f"{code}.md" for folder in _PAGES)
    return next((file for file in files if file.is_file()), None)


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


def torch_available() -> bool:
    """Whether torch is installed. Without it, this is False and other names raise `ModuleNotFoundError`.

    Examples:
        >>> import simpletorch
        >>> simpletorch.torch_available()
        True
    """
    from importlib.util import find_spec

    return find_spec("torch") is not None
