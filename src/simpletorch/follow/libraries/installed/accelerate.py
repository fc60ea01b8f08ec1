"""``accelerate``: a program in one process runs as it would without it (`accelerate.txt`)."""

from __future__ import annotations

from typing import Final

from simpletorch.follow.libraries.installed import (
    callers,  # noqa: F401  (what is some bool)
    stand,
    transformers,  # noqa: F401  (what is anything)
)

__all__: Final = ()

stand("accelerate", "accelerate.txt", {"Accelerator": "Accelerator accelerator.Accelerator"})
