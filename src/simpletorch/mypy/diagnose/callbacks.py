"""Functions where a protocol with ``__call__`` is asked for: mypy's message has the protocol's name, and no sizes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from mypy.messages import format_type_bare
from mypy.nodes import Expression, TypeInfo
from mypy.plugin import CheckerPluginInterface
from mypy.subtypes import find_member, is_subtype
from mypy.types import CallableType, Instance, ProperType, get_proper_type

from simpletorch.mypy.convert.spelling import union_members
from simpletorch.mypy.diagnose.concerned import at_line
from simpletorch.mypy.diagnose.inferred import widen
from simpletorch.mypy.program.syntax import expressions_in, expressions_of
from simpletorch.mypy.types import TypeTable

__all__ = ["as_callables"]


def as_callables(pair: tuple[str, str], line: int, api: CheckerPluginInterface) -> tuple[str, str]:
    """The two types with what a protocol's ``__call__`` takes and gives in the place of its name.

    They stay as they are if the function and the protocol are at odds in anything but sizes and dtypes.
    """
    got, expected = pair
    checker = cast(Any, api)
    if not got.startswith("Callable[["):
        return pair
    for name in union_members(expected):
        for wanted in _callbacks(name, checker):
            for given in _functions(got, line, checker):
                if _agree_but_for_sizes(given, wanted, checker):
                    return _spelt(given, wanted, checker)
    return pair


def _callbacks(name: str, checker: Any) -> Iterator[CallableType]:
    """The calls that protocols with this name describe: messages have the short name alone."""
    *module, short = name.rsplit(".", 1)
    if not short.isidentifier():
        return
    for tree in [checker.modules.get(m) for m in module] or list(checker.modules.values()):
        symbol = None if tree is None else tree.names.get(short)
        info = None if symbol is None else symbol.node
        if isinstance(info, TypeInfo) and info.is_protocol and info.protocol_members == ["__call__"]:
            instance = Instance(info, [])
            call = get_proper_type(find_member("__call__", instance, instance))
            if isinstance(call, CallableType) and not info.type_vars:
                yield call


def _functions(text: str, line: int, checker: Any) -> Iterator[CallableType]:
    """The functions among the expressions at a line that mypy prints so."""
    for node in at_line(checker.tree, line):
        for e in expressions_in(node) if isinstance(node, Expression) else expressions_of(cast(Any, node)):
            typ: ProperType | None = get_proper_type(checker.lookup_type_or_none(e))
            if isinstance(typ, CallableType) and format_type_bare(typ, checker.options) == text:
                yield typ


def _agree_but_for_sizes(given: CallableType, wanted: CallableType, checker: Any) -> bool:
    types = TypeTable(checker.modules)
    return is_subtype(widen(given, types), widen(wanted, types), options=checker.options)


def _spelt(given: CallableType, wanted: CallableType, checker: Any) -> tuple[str, str]:
    """Both as mypy prints them, with the parameters that both have."""
    count = min(len(given.arg_types), len(wanted.arg_types))
    got, expected = (
        t.copy_modified(arg_types=t.arg_types[:count], arg_kinds=t.arg_kinds[:count], arg_names=t.arg_names[:count])
        for t in (given, wanted)
    )
    return format_type_bare(got, checker.options), format_type_bare(expected, checker.options)
