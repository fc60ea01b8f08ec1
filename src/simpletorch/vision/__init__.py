"""Images: models with torchvision's parameter names (`vision.models`), files read (`vision.io`), `vision.transforms`.

`simpletorch.transforms` is the same module under torchvision's name. All are imported when they are first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simpletorch import transforms as transforms
    from simpletorch.vision import io as io
    from simpletorch.vision import models as models

__all__ = ["io", "models", "transforms"]


def __getattr__(name: str) -> object:
    """Import a part on its first use."""
    if name == "transforms":
        return import_module("simpletorch.transforms")
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
