"""Whether a value passes a type hint: beartype and jaxtyping's verdict, with every item of a container looked at.

beartype samples one item of a list, which is right for a check that comes again with every call. A verdict that is kept
must be about all of them.
"""

from __future__ import annotations

import types
from collections import OrderedDict, defaultdict, deque
from collections.abc import Collection, Mapping, MutableMapping, MutableSequence, MutableSet, Sequence, Set
from typing import Any, Final, Generic, Union, get_args, get_origin

import jaxtyping
from torch import nn

from simpletorch.checks._computed_sizes import verdicts
from simpletorch.checks._hints import as_any_float, is_tensor_hint
from simpletorch.checks._keys import decides_by_class
from simpletorch.checks._records import MISSING, Field, fields
from simpletorch.checks._surroundings import under_autocast

__all__ = ["Uncheckable", "passes", "passes_or_unknown", "wrong_fields"]


class Uncheckable(Exception):
    """Raised for a hint that beartype can't check."""


_CONTAINERS: Final = frozenset(
    (
        *(list, tuple, dict, set, frozenset, deque, OrderedDict, defaultdict),
        *(Collection, Sequence, MutableSequence, Set, MutableSet, Mapping, MutableMapping),
    )
)


def passes(value: Any, hint: Any) -> bool:
    """Whether ``value`` is of the type ``hint``; sizes bind in the scope of jaxtyping that is open."""
    if is_tensor_hint(hint):
        return isinstance(value, hint)
    if fields(hint):
        kind = Mapping if issubclass(hint, dict) else hint  # a typed dict has no instances
        return isinstance(value, kind) and not wrong_fields(value, hint)
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(passes(value, member) for member in args)
    if isinstance(origin, type) and issubclass(origin, nn.Module):
        return isinstance(value, origin)  # its sizes are for a type checker
    if origin is None and isinstance(hint, type) and issubclass(hint, Generic) and decides_by_class(hint):
        return isinstance(value, hint)  # beartype lets everything pass for a generic NamedTuple
    if origin not in _CONTAINERS:
        return _by_beartype(value, hint)
    if not isinstance(value, origin):
        return False
    if issubclass(origin, Mapping):
        return all(passes(k, args[0]) and passes(v, args[1]) for k, v in value.items())
    if origin is tuple and not (len(args) == 2 and args[1] is Ellipsis):
        args = () if args == ((),) else args
        return len(value) == len(args) and all(map(passes, value, args))
    return all(passes(item, args[0]) for item in value)


def passes_or_unknown(value: Any, hint: Any) -> bool:
    """Whether ``value`` is of the type ``hint``, or that can't be told."""
    try:
        return passes(value, hint)
    except Uncheckable:
        return True


def wrong_fields(value: Any, hint: Any) -> list[Field]:
    """The fields of a record that fail their annotations; the names of sizes are the record's own."""
    autocast = under_autocast()
    found = [(f, f.of(value)) for f in fields(hint)]
    wrong = [f for f, held in found if held is MISSING and f.is_key and not f.is_optional]
    looked = [(f, held) for f, held in found if held is not MISSING and held is not f.default]
    with jaxtyping.jaxtyped("context"):
        good = verdicts([(held, as_any_float(f.hint) if autocast else f.hint) for f, held in looked], passes_or_unknown)
    return wrong + [f for (f, _), fits in zip(looked, good, strict=True) if not fits]


def _by_beartype(value: Any, hint: Any) -> bool:
    from beartype.door import is_bearable  # here, because it is half of what importing simpletorch would cost
    from beartype.roar import BeartypeDecorHintException

    try:
        return bool(is_bearable(value, hint))
    except BeartypeDecorHintException as error:
        raise Uncheckable(hint) from error
