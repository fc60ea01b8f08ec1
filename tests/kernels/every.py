"""What `kernels` ships, found where it is defined, so that tests of all of it leave nothing out."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from importlib import import_module
from typing import Any

from simpletorch.kernels import Operator, shipped

Call = Callable[..., Any]


def operators() -> dict[str, Operator[..., Any]]:
    """All that are registered in a module of `shipped`, gradients and inner parts too."""
    names = [module.name for module in pkgutil.iter_modules(shipped.__path__, f"{shipped.__name__}.")]
    values = [value for name in names for value in vars(import_module(name)).values()]
    return {value.name.partition("::")[2]: value for value in values if isinstance(value, Operator)}


def faces() -> dict[str, Call]:
    """The public functions that are no operators themselves."""
    public = {name: value for name, value in vars(shipped).items() if callable(value)}
    asking = {"attention_backend"}  # computes nothing
    return {n: v for n, v in public.items() if n not in asking and not isinstance(v, Operator)}


OPERATORS, FACES = operators(), faces()
