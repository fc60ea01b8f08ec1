"""Sizes that got a name while a call was followed: when the call is remembered, they are others, with other names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from simpletorch.follow.values import Dict, Instance, List, Tensor, Value
from simpletorch.rules import TensorType
from simpletorch.shapes import Dim, Expr, Var, substitute, variables

__all__ = ["made_since", "rename", "substituted"]


def made_since(number: int, *values: Value) -> list[Var]:
    """The sizes in these values, which lead to nothing older, that got their names after so many others had."""
    found = {v for value in values for v in _sizes(value, set()) if v.is_some and _number(v) > number}
    return sorted(found, key=lambda v: v.sort_key)


def _number(size: Var) -> int:
    """How many had been made with it; 0 for one that isn't made by `Interpreter.some_size`."""
    return int(size.scope[1:]) if size.scope.startswith("?") else 0


def _sizes(value: Value, seen: set[int]) -> Iterator[Var]:
    if isinstance(value, Expr):
        yield from variables(value)
    elif isinstance(value, tuple):
        for item in value:
            yield from _sizes(item, seen)
    elif isinstance(value, TensorType):
        yield from _sizes(value.shape.items, seen)
    elif isinstance(value, Tensor):
        yield from _sizes((value.type, value.layout), seen)
    elif isinstance(value, List | Dict | Instance) and id(value) not in seen:
        seen.add(id(value))
        for table in (value.cells, *([value.state] if not isinstance(value, List) else [])):
            for item in table.values():
                yield from _sizes(item, seen)


def substituted(type: TensorType, names: Mapping[Var, Dim]) -> TensorType:
    """A type with other names for its sizes."""
    return replace(type, shape=type.shape.substitute(names))


def rename(tensor: Tensor, names: Mapping[Var, Dim]) -> Tensor:
    """A new tensor, which has got these names for its sizes."""
    tensor.cells["type"] = substituted(tensor.type, names)
    if isinstance(tensor.layout, tuple):
        tensor.layout = tuple(substitute(d, names) for d in tensor.layout)
    return tensor
