"""The parts of a container or record, each with its name in the source and its annotation: ``xs[1]``, ``batch.x``."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Union, get_args, get_origin

import torch

from simpletorch.checks._hints import as_any_float
from simpletorch.checks._records import MISSING, fields
from simpletorch.checks._surroundings import under_autocast

__all__ = ["Part", "leaves", "parts"]


class Part(NamedTuple):
    """A value, its annotation, and its name."""

    name: str
    hint: Any
    value: Any


def parts(whole: Part) -> list[Part]:
    """The items of a container, one level down; none if it isn't one, or not of the annotation's kind."""
    name, hint, value = whole
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        # of several members it isn't known which one was meant
        members = [h for h in args if h is not type(None)]
        return parts(Part(name, members[0], value)) if len(members) == 1 else []
    if fields(hint):
        if not isinstance(value, _kind(hint)):
            return []
        autocast = under_autocast()
        held = [(f, f.of(value)) for f in fields(hint)]
        return [
            Part(f.path(name), as_any_float(f.hint) if autocast else f.hint, item)
            for f, item in held
            if item is not MISSING
        ]
    is_of_kind: bool = isinstance(origin, type) and bool(args) and isinstance(value, origin)
    if not is_of_kind:
        return []
    if issubclass(origin, Mapping):
        return [Part(f"{name}[{key!r}]", args[1], item) for key, item in value.items()]
    if issubclass(origin, Sequence):
        several = origin is tuple and args[-1] is not Ellipsis
        if several and len(args) != len(value):
            return []
        hints = args if several else [args[0]] * len(value)
        return [Part(f"{name}[{i}]", h, item) for i, (h, item) in enumerate(zip(hints, value, strict=True))]
    return []


def _kind(hint: type) -> type:
    return Mapping if issubclass(hint, dict) else hint


def leaves(whole: Part) -> Iterator[Part]:
    """The tensors and sizes in a value, but not those of a record, whose sizes are its own."""
    inner = [] if isinstance(whole.value, torch.Tensor) or fields(whole.hint) else parts(whole)
    if not inner:
        yield whole
    for part in inner:
        yield from leaves(part)
