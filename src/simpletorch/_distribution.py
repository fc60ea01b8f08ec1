"""The installed distributions, which have names of their own: ``simpletorch`` on the package index is another project.

``simpletorch-check`` has the checker and needs no torch; ``simpletorch-typed`` has the framework and requires it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

__all__ = [
    "NAME",
    "framework_missing",
    "installed_version",
    "installing",
    "page_of",
    "torch_available",
    "version",
    "version_of",
]

_PACKAGE: Final = Path(__file__).parent
_PAGES: Final = (_PACKAGE / "docs" / "errors", _PACKAGE.parents[1] / "docs" / "errors")  # of a wheel; of a checkout
NAME: Final = "simpletorch-typed"
_CHECKER: Final = "simpletorch-check"


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

    return installed_version() or metadata.version(NAME)


def installed_version() -> str | None:
    """The version that is installed; None if it is imported from a folder."""
    return version_of(NAME) or version_of(_CHECKER)


def version_of(distribution: str) -> str | None:
    """The version of a distribution; None if it isn't installed, also if it is imported from a folder."""
    from importlib import metadata

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def installing(extra: str) -> str:
    """The command that installs what an extra needs: ``pip install 'simpletorch-typed[plot]'``."""
    name = NAME if version_of(NAME) or not version_of(_CHECKER) else _CHECKER
    return f"pip install '{name}[{extra}]'"


def framework_missing(error: ModuleNotFoundError) -> str | None:
    """The command that installs torch or the framework's module that isn't found; None if it is another module."""
    if (error.name or "").partition(".")[0] not in ("torch", "simpletorch"):
        return None
    return f"it needs PyTorch and simpletorch's framework: pip install {NAME}"


def torch_available() -> bool:
    """Whether torch is installed. Without it, this is False and other names raise `ModuleNotFoundError`.

    Examples:
        >>> import simpletorch
        >>> simpletorch.torch_available()
        True
    """
    from importlib.util import find_spec

    return find_spec("torch") is not None
