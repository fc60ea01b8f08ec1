"""Whose an exception is: torch's, its compiler's, a loader's worker's; any other belongs to the program."""

from __future__ import annotations

import pickle
import re
from typing import Final

import torch

from simpletorch.errors._kinds import TorchError

__all__ = ["WORKER_ERROR", "is_from_compiler", "is_from_torch"]

# The classes that torch raises. Exactly these: a subclass is a program's own error and means something there.
_RAISED_BY_TORCH: Final[frozenset[type[BaseException]]] = frozenset(
    cls
    for cls in (
        RuntimeError,
        IndexError,
        ValueError,
        TypeError,
        NotImplementedError,
        AssertionError,
        pickle.UnpicklingError,
        torch.OutOfMemoryError,
        getattr(torch.linalg, "LinAlgError", None),
        getattr(torch, "AcceleratorError", None),
    )
    if cls is not None
)

# Errors of their own that torch's parts and einops have; they tell of the program, and are explained as well.
_LIBRARIES: Final = ("torch._dynamo.exc", "torch._inductor.exc", "torch.distributed", "einops")

# How torch passes on what was raised in a loader's worker process: any class, with the worker's traceback as its text.
WORKER_ERROR: Final = (
    r"^Caught (\w+) in (DataLoader worker process \d+|pin memory thread[^.]*|replica \d+ on .*)\.\nOriginal "
)


def is_from_torch(error: BaseException) -> bool:
    """Whether torch may have raised it, or a library on top of torch; the program may raise some of these as well."""
    return type(error) in _RAISED_BY_TORCH or _is_from_library(error) or _is_from_worker(error)


def is_from_compiler(error: BaseException) -> bool:
    """Whether torch.compile raised it."""
    return type(error).__module__.startswith(("torch._dynamo.", "torch._inductor."))


def _is_from_library(error: BaseException) -> bool:
    return isinstance(error, RuntimeError) and type(error).__module__ in _LIBRARIES


def _is_from_worker(error: BaseException) -> bool:
    text = error.reason if isinstance(error, TorchError) else error.args[0] if len(error.args) == 1 else None
    return isinstance(text, str) and re.match(WORKER_ERROR, text) is not None
