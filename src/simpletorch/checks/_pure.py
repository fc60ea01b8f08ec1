"""`pure`: a promise that following a program proves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["pure"]

F = TypeVar("F", bound=Callable[..., Any])


def pure(function: F) -> F:
    """Promise that a function changes none of its arguments, draws no random numbers and changes nothing global.

    ::

        @pure
        def normalized(x: Tensor[Float32, B, D]) -> Tensor[Float32, B, D]:
            return x / x.norm(dim=1, keepdim=True)

    ``simpletorch follow``, ``check`` and the mypy plugin look at each call that they follow, and say at which line the
    promise is broken (``tensor-pure``). At run time the function comes back as it is: the promise costs nothing.

    Args:
        function: the function or method that makes the promise.

    Returns:
        The function, with the promise attached.

    Examples:
        >>> import torch
        >>> from simpletorch import pure
        >>> @pure
        ... def double(x: torch.Tensor) -> torch.Tensor:
        ...     return 2 * x
        >>> double(torch.ones(3))
        tensor([2., 2., 2.])
    """
    return function
