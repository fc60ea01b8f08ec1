"""Building one of torch's modules, with an error that says which argument is wrong.

torch refuses a negative size with ``Trying to create tensor with negative dimension -3: [5, -3]``, and a size of 0 not
at all: what such a layer gives is its bias, whatever goes in. Here both are one clear error, in the words of the rule
that the static check uses.
"""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Any, Final

from torch import nn
from torch.nn.modules.lazy import LazyModuleMixin

from simpletorch._empty import SIZES, empty
from simpletorch.errors import ShapeMismatch, TorchError, as_also
from simpletorch.errors.context import remember_layer
from simpletorch.nn._arguments import sizes

__all__ = ["build"]


_LEFT_OPEN: Final = frozenset({"in_features", "in_channels", "num_features"})


def build(cls: type[nn.Module], args: tuple[Any, ...], kwargs: dict[str, Any]) -> nn.Module:
    """``cls(*args, **kwargs)``.

    Raises:
        ShapeMismatch: a size is below 1, or doesn't go with another (heads that don't divide the width); of the class
            of torch's own exception too, a `ValueError` where torch has none.
        TypeMismatch: (a `TypeError` too) a size is no int.
        Exception: torch's own, where no rule knows better.
    """
    try:
        built = cls(*args, **kwargs)
    except Exception as error:
        refused = _explained(cls, args, kwargs, error)
        if refused is None:
            raise
        raise refused from error
    held = vars(built)
    if isinstance(built, LazyModuleMixin):  # the first input decides these
        held = {name: value for name, value in held.items() if name not in _LEFT_OPEN}
    if found := empty(cls.__name__, held):
        raise as_also(ShapeMismatch, ValueError)(1, 0, found.reason, operation=cls.__name__, hint=found.hint)
    remember_layer(built)
    return built


def _explained(
    cls: type[nn.Module], args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception
) -> TorchError | None:
    """The error that the rule for the class reports about the arguments; None if it finds nothing wrong."""
    from simpletorch.rules import (  # a hundred modules, which a program without errors spares
        MODULES,
        Report,
        new_module,
    )

    rule = MODULES.get(f"torch.nn.{cls.__name__}")
    signature = inspect.signature(cls)
    if rule is not None and "args" in signature.parameters:  # RNN, LSTM and GRU take *args; the rule has their names
        arguments = {**dict(zip((f.name for f in fields(rule)), args, strict=False)), **kwargs}
    else:
        try:
            arguments = signature.bind(*args, **kwargs).arguments
        except TypeError:  # Python's own message says it
            return None
    # a float or a text for a size comes first: the rule takes what is no int for unknown, and says nothing
    named = {name: arguments[name] for name in SIZES if isinstance(arguments.get(name), float | str)}
    try:
        list(sizes(**named))
    except TorchError as refused:
        refused.operation = cls.__name__
        return refused
    given = {name: tuple(value) if isinstance(value, list) else value for name, value in arguments.items()}
    report = new_module(f"torch.nn.{cls.__name__}", given)
    if not isinstance(report, Report):
        return None
    return as_also(ShapeMismatch, type(error))(
        report.expected, report.got, report.reason, operation=report.op, hint=report.hint
    )
