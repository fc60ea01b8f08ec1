"""Images: models with torchvision's parameter names (`vision.models`), and files read (`vision.io`).

Both are imported when they are first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simpletorch.vision import io as io
    from simpletorch.vision import models as models

__all__ = ["io", "models"]


def __getattr__(name: str) -> object:
    """Import a part on its first use."""
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
