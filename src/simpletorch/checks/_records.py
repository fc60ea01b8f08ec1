"""Dataclasses, named tuples and typed dicts: the fields of a value that hold tensors, which are checked with it.

The names of sizes in a class's annotations are the class's own: one value binds them for itself.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, NotRequired, Required, get_args, get_origin
from weakref import WeakKeyDictionary

import typing_extensions

from simpletorch.checks._hints import evaluated, tensor_hints
from simpletorch.dims import DimType

__all__ = ["MISSING", "Field", "fields", "values"]

MISSING: Final = object()


@dataclass(frozen=True, slots=True)
class Field:
    """A field whose annotation says something about a tensor or a size."""

    name: str
    hint: Any
    default: Any
    is_key: bool = False  # of a typed dict
    is_optional: bool = False

    def of(self, value: Any) -> Any:
        """The field's value in ``value``; `MISSING` if it isn't there."""
        if self.is_key:
            return value.get(self.name, MISSING)
        return getattr(value, self.name, MISSING)

    def path(self, name: str) -> str:
        """The field of the value called ``name``, as source text."""
        return f"{name}[{self.name!r}]" if self.is_key else f"{name}.{self.name}"


_KNOWN: Final[WeakKeyDictionary[type, tuple[Field, ...]]] = WeakKeyDictionary()


def fields(hint: Any) -> tuple[Field, ...]:
    """The fields that are checked with a value of the type ``hint``; none if it is no record, or holds no tensors."""
    if not isinstance(hint, type):
        return ()
    known = _KNOWN.get(hint)
    if known is None:
        _KNOWN[hint] = ()  # a class may hold values of its own kind
        known = _KNOWN[hint] = tuple(_fields(hint, _names(hint)))
    return known


def values(value: Any) -> list[Any]:
    """The values of all fields."""
    found = (f.of(value) for f in fields(type(value)))
    return [v for v in found if v is not MISSING]


def _names(cls: type) -> dict[str, Any]:
    """The names of a record's fields with their defaults; none for another class."""
    if typing.is_typeddict(cls) or typing_extensions.is_typeddict(cls):
        return dict.fromkeys(cls.__annotations__, MISSING)
    if dataclasses.is_dataclass(cls):
        return {f.name: f.default for f in dataclasses.fields(cls)}
    if issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple):
        defaults = getattr(cls, "_field_defaults", {})
        return {name: defaults.get(name, MISSING) for name in getattr(cls, "_fields")}  # noqa: B009 - for mypy
    return {}


def _fields(cls: type, names: Mapping[str, Any]) -> Iterator[Field]:
    is_key = issubclass(cls, dict)
    optional = getattr(cls, "__optional_keys__", ())
    hints = dict(_annotations(cls)) if names else {}
    for name, default in names.items():
        hint = _plain(hints.get(name, Any))
        if _says_a_size(hint):
            # typing itself doesn't see a NotRequired that is in a string
            may_miss = name in optional or get_origin(hints[name]) is NotRequired
            yield Field(name, hint, default, is_key, may_miss)


def _annotations(cls: type) -> Iterator[tuple[str, Any]]:
    # not `typing.get_type_hints`: one name that is missing would take all the other fields' hints with it
    for base in reversed(cls.__mro__):
        module = vars(sys.modules[base.__module__]) if base.__module__ in sys.modules else {}
        scope = {base.__name__: base, cls.__name__: cls}
        for name, annotation in inspect.get_annotations(base).items():
            try:
                hint = evaluated(annotation, lambda text, m=module, s=scope: eval(text, m, s))  # type: ignore[misc]
            except (NameError, SyntaxError):  # imported for the type checker only
                continue
            yield name, hint


def _plain(hint: Any) -> Any:
    """The hint without what says that a key may be missing."""
    while get_origin(hint) in (Required, NotRequired, typing_extensions.ReadOnly):
        (hint,) = get_args(hint)
    return hint


def _says_a_size(hint: Any) -> bool:
    if tensor_hints(hint) or isinstance(hint, DimType) or fields(hint):
        return True
    args = get_args(hint)
    return any(map(_says_a_size, args[:1] if get_origin(hint) is Annotated else args))
