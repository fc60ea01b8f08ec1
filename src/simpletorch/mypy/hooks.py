"""How a feature says what it sees to: tables from names to hooks. `plugin.py` joins them, one for each kind of hook.

A feature (a module in ``calls/``) declares those of these tables that it needs, keyed by mypy's full names:

- ``FUNCTIONS``: functions and classes that are called.
- ``METHODS``: methods of one class.
- ``INHERITED_METHODS``: methods of a class and of all that derive from it.
- ``ATTRIBUTES``: attributes, under the class that defines them.
- ``FUNCTION_RESULTS``, ``METHOD_RESULTS``: what mypy asks only once it has checked a call, and knows its result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias, TypeVar

from mypy.plugin import AttributeContext, FunctionContext, FunctionSigContext, MethodContext, MethodSigContext
from mypy.types import FunctionLike, Type

from simpletorch.mypy.types import TypeTable

__all__ = ["AttributeHook", "FunctionHook", "FunctionResultHook", "MethodHook", "MethodResultHook", "joined"]

FunctionHook: TypeAlias = Callable[[FunctionSigContext, TypeTable], FunctionLike]
MethodHook: TypeAlias = Callable[[MethodSigContext, TypeTable], FunctionLike]
AttributeHook: TypeAlias = Callable[[AttributeContext, TypeTable], Type]
FunctionResultHook: TypeAlias = Callable[[FunctionContext, TypeTable], Type]
MethodResultHook: TypeAlias = Callable[[MethodContext, TypeTable], Type]

H = TypeVar("H")


def joined(*tables: Mapping[str, H]) -> dict[str, H]:
    """One table of several.

    Raises:
        ValueError: a name is in two of them, so that their order would decide.
    """
    whole: dict[str, H] = {}
    for table in tables:
        if twice := whole.keys() & table.keys():
            raise ValueError(f"two features see to {', '.join(sorted(twice))}")
        whole.update(table)
    return whole
