"""Batches as the training code sees them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Final

from simpletorch._samples import length_of
from simpletorch.errors import DataError

_NOTHING: Final[dict[str, Any]] = {}


def parts_of(batch: Any, target: str | None = None) -> tuple[Sequence[Any], dict[str, Any], Any]:
    """The parts of a batch: the model's positional and named arguments, and the target.

    A tuple or list is ``(*inputs, target)``. A dict, a dataclass, a named tuple and a dict-like object (transformers'
    ``BatchEncoding``) have names: ``target`` is that of the target, and the others are those of ``forward``'s
    parameters.

    Raises:
        DataError: it is none of these, or has no such name.
    """
    if target is None:
        if isinstance(batch, (tuple, list)) and len(batch) > 1:
            return batch[:-1], _NOTHING, batch[-1]
        raise DataError(_why_no_tuple(batch))
    named = named_items(batch)
    if named is None:
        raise DataError(
            f"a batch is a {type(batch).__name__}, whose items have no names, so there is no {target!r}: without "
            f"target={target!r} the last item of a tuple is the target"
        )
    if target not in named:
        raise DataError(f"a batch has {_listed(named)}, and no {target!r}: give as target= the name of its target")
    return (), {name: item for name, item in named.items() if name != target}, named[target]


def named_items(batch: Any) -> dict[str, Any] | None:
    """The items of a dict, dataclass or named tuple by name; None of anything else."""
    if isinstance(batch, Mapping):
        return dict(batch)
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return dict(zip(batch._fields, batch, strict=True))
    if dataclasses.is_dataclass(batch) and not isinstance(batch, type):
        return {field.name: getattr(batch, field.name) for field in dataclasses.fields(batch)}
    return None


def samples_in(batch: Any, target: str | None = None) -> int:
    """How many samples a batch has: the length of its target.

    Raises:
        DataError: it is no batch that `parts_of` takes, or a single sample.
    """
    return length_of(parts_of(batch, target)[2])


def _why_no_tuple(batch: Any) -> str:
    named = named_items(batch)
    if named:
        return (
            f"a batch is a {type(batch).__name__} with {_listed(named)}: say which of them is the target, such as "
            f"target={list(named)[-1]!r}; the others go to the parameters of forward that are called so"
        )
    return (
        f"a batch is a {type(batch).__name__}, but training and evaluation need tuples (inputs, target), or dicts, "
        "dataclasses or named tuples and target=…: anything else is for Trainer.with_step"
    )


def _listed(named: Mapping[str, Any]) -> str:
    return ", ".join(map(repr, named))
