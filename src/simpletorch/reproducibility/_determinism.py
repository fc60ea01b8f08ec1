"""The same numbers each time."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from types import TracebackType
from typing import Any, Final, ParamSpec, TypeVar

import torch

from simpletorch.errors import TorchError

P = ParamSpec("P")
R = TypeVar("R")

_WORKSPACE: Final = "CUBLAS_WORKSPACE_CONFIG"


class deterministic:  # used like a function, as torch.set_grad_enabled is
    """From now on, or in a block or a function, every operation gives the same result for the same input.

    ::

        deterministic()          # until the program ends
        with deterministic():    # in this block; afterwards everything is as it was
        @deterministic()         # in this function

    It switches on torch's deterministic algorithms and those of cuDNN, and switches off cuDNN's search for the fastest
    one; an operation that has only a nondeterministic implementation raises. With `seed_everything`, a training is then
    the same each time: on the same hardware and versions, with the same number of threads.

    Args:
        mode: False switches determinism off in the same way.
        warn_only: warn instead of raising.

    Raises:
        TorchError: CUDA is in use already, and the environment has not had ``CUBLAS_WORKSPACE_CONFIG=:4096:8``, which
            cuBLAS reads only once.

    Examples:
        >>> import torch
        >>> from simpletorch import reproducibility
        >>> with reproducibility.deterministic():
        ...     print(torch.are_deterministic_algorithms_enabled())
        True

    Source: https://docs.pytorch.org/docs/stable/notes/randomness.html
    """

    def __init__(self, mode: bool = True, *, warn_only: bool = False) -> None:
        self.mode, self.warn_only = mode, warn_only
        self._before: dict[str, Any] = {}
        self._switch()

    def _switch(self) -> None:
        cudnn, workspace = torch.backends.cudnn, os.environ.get(_WORKSPACE)
        if self.mode and torch.cuda.is_available() and workspace not in (":4096:8", ":16:8"):
            if torch.cuda.is_initialized():
                raise TorchError(
                    f"cuBLAS can't be made deterministic any more: CUDA is in use, and {_WORKSPACE} was {workspace!r}",
                    hint=f"call deterministic() before the first CUDA operation, or start with {_WORKSPACE}=:4096:8",
                )
            os.environ[_WORKSPACE] = ":4096:8"
        self._before = {
            "algorithms": torch.are_deterministic_algorithms_enabled(),
            "warn_only": torch.is_deterministic_algorithms_warn_only_enabled(),
            "cudnn": (cudnn.deterministic, cudnn.benchmark),
            "workspace": workspace,
        }
        torch.use_deterministic_algorithms(self.mode, warn_only=self.warn_only)
        cudnn.deterministic, cudnn.benchmark = self.mode, False if self.mode else cudnn.benchmark

    def _restore(self) -> None:
        before = self._before
        torch.use_deterministic_algorithms(before["algorithms"], warn_only=before["warn_only"])
        torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark = before["cudnn"]
        if before["workspace"] is None:
            os.environ.pop(_WORKSPACE, None)
        else:
            os.environ[_WORKSPACE] = before["workspace"]

    def __enter__(self) -> None:
        """Nothing to do: a plain call has to switch too, so `__init__` did."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._restore()

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """``function``, in a block of its own each time it is called."""
        self._restore()  # as a decorator it holds while the function runs, not from now on

        @functools.wraps(function)
        def call(*args: P.args, **options: P.kwargs) -> R:
            with deterministic(self.mode, warn_only=self.warn_only):
                return function(*args, **options)

        return call
