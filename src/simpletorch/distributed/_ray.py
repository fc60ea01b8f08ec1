"""Ray itself, which may not be installed. Its types say little of actors, and where it is missing nothing: Any."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

from simpletorch._distribution import installing
from simpletorch.errors import TorchError, as_also

__all__ = ["is_installed", "library", "start"]


def is_installed() -> bool:
    """Whether Ray is there.

    Examples:
        >>> from simpletorch.distributed import ray
        >>> ray.is_installed() in (False, True)
        True
    """
    return importlib.util.find_spec("ray") is not None


def library(name: str = "ray") -> Any:
    """A module of Ray.

    Raises:
        TorchError: (an `ImportError` too) it is not installed.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise as_also(TorchError, ImportError)(
            f"what runs on Ray needs the package {error.name}, which is not installed",
            hint=installing("ray"),
        ) from error


def start(*, cpus: int | None = None) -> Any:
    """Join the cluster of ``RAY_ADDRESS``, or start one on this machine; a second call changes nothing.

    Args:
        cpus: how many workers of one CPU there may be at a time on this machine; by default its cores.

    Returns:
        The module ``ray``.

    Raises:
        TorchError: (an `ImportError` too) Ray is not installed.

    Source: https://docs.ray.io/en/latest/ray-core/api/doc/ray.init.html
    """
    import os

    ray = library()
    if not ray.is_initialized():
        here = {} if os.environ.get("RAY_ADDRESS") else {"num_cpus": cpus, "include_dashboard": False}
        ray.init(logging_level="error", **here)
    return ray
