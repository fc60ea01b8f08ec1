"""Errors as values, for people who prefer results to exceptions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Literal, NoReturn, ParamSpec, TypeAlias, TypeVar

from simpletorch.errors._border import explained
from simpletorch.errors._kinds import TorchError

__all__ = ["Err", "Ok", "Result", "attempt"]

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Ok(Generic[R_co]):
    """A call that went well, and its ``value``.

    Attributes:
        value: the call's result.

    Examples:
        >>> import torch
        >>> from simpletorch import errors
        >>> errors.attempt(torch.add, torch.ones(2), 1)
        Ok(value=tensor([2., 2.]))
    """

    value: R_co

    @property
    def ok(self) -> Literal[True]:
        """Always True."""
        return True

    def unwrap(self) -> R_co:
        """The value."""
        return self.value


@dataclass(frozen=True, slots=True)
class Err:
    """A call that failed in torch, and its ``error``.

    Attributes:
        error: the explained exception.

    Examples:
        >>> import torch
        >>> from simpletorch import errors
        >>> result = errors.attempt(torch.matmul, torch.zeros(2, 3), torch.zeros(5, 7))
        >>> isinstance(result, errors.Err), type(result.error).__name__
        (True, 'ShapeMismatch')
    """

    error: TorchError

    @property
    def ok(self) -> Literal[False]:
        """Always False."""
        return False

    def unwrap(self) -> NoReturn:
        """Raise the error."""
        raise self.error


Result: TypeAlias = Ok[R] | Err


def attempt(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> Result[R]:
    """``function(*args, **kwargs)`` as a value: `Ok` with what it returned, or `Err` with the explained exception.

    ::

        match attempt(model, x):
            case Ok(y): ...
            case Err(ShapeMismatch() as e): print(e.hint)

    A mistake in the call itself (a missing argument), an exception of the function's own and `KeyboardInterrupt` are
    no results: they propagate.

    Args:
        function: the function or module to call.
        args: its positional arguments.
        kwargs: its keyword arguments.

    Returns:
        `Ok` with the value, or `Err` with the `TorchError`.

    Examples:
        >>> import torch
        >>> from simpletorch import errors
        >>> match errors.attempt(torch.matmul, torch.zeros(2, 3), torch.zeros(3, 5)):
        ...     case errors.Ok(value):
        ...         print(value.shape)
        ...     case errors.Err(error):
        ...         print(error)
        torch.Size([2, 5])
    """
    try:
        return Ok(function(*args, **kwargs))
    except Exception as error:
        found = error if isinstance(error, TorchError) else explained(error)
        if found is None:
            raise
        return Err(found)
