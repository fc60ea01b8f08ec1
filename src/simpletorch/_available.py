"""Whether torch is there; this module needs none to say so."""

import importlib.util

__all__ = ["torch_available"]


def torch_available() -> bool:
    """Whether torch is installed. Without it, this is False and other names raise `ModuleNotFoundError`."""
    return importlib.util.find_spec("torch") is not None
