"""torch's functions under our name: the same calls, and torch's errors as `TorchError`s."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType
from typing import Any, Final, TypeGuard

# private, but TorchScript has no other way to know that a function stands for another; a rename would fail on import
from torch._jit_internal import boolean_dispatched
from torch.jit._builtins import _find_builtin, _register_builtin

from _simpletorch.dtypes import Shaped
from simpletorch.errors._border import explained

__all__ = ["function_of_torch", "is_function"]

_FUNCTIONS: Final = (FunctionType, BuiltinFunctionType)


def is_function(value: object) -> TypeGuard[Callable[..., Any]]:
    """Whether ``value`` is a function, and not a class, a module or a dtype."""
    return isinstance(value, _FUNCTIONS)


@functools.cache  # `Tensor.zeros` and `simpletorch.zeros` are one
def function_of_torch(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` as ``simpletorch.<name>``, which explains what torch raises.

    A call costs a Python frame more than torch's; the ``try`` costs nothing.
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            if not kwargs:
                return function(*args)  # without a second dict
            wanted = kwargs.get("dtype")
            if isinstance(wanted, type) and issubclass(wanted, Shaped):  # torch asks it itself, but torch.compile can't
                kwargs["dtype"] = wanted.dtype
            return function(*args, **kwargs)
        except Exception as error:
            explanation = explained(error)
            if explanation is None:
                raise
            raise explanation from explanation.__cause__

    call.__module__, call.__name__, call.__qualname__ = "simpletorch", name, name  # pickled by this name
    _tell_torchscript(call, function)
    return call


def _tell_torchscript(call: Any, function: Any) -> None:
    """Let `torch.jit.script` compile a call of ours as torch's."""
    if (symbol := _find_builtin(function)) is not None:
        _register_builtin(call, symbol)
    elif function in boolean_dispatched:
        boolean_dispatched[call] = boolean_dispatched[function]
    else:
        setattr(call, "__script_if_tracing_wrapper", True)  # so torch marks a function of its own
        setattr(call, "__original_fn", function)
