"""Claims as surfaces print them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from simpletorch.follow.findings import OR, OneOf
from simpletorch.rules import TensorType

__all__ = ["texts_of"]


def texts_of(
    claims: Mapping[tuple[str, int], Mapping[str, Sequence[Any]]],
) -> dict[tuple[str, int], dict[str, tuple[str, ...]]]:
    """By file and line, for each name the texts of the tensors and tuples that it gets, as far as it gets some."""
    found = {}
    for place, names in claims.items():
        texts = {name: _said(values) for name, values in names.items()}
        if shown := {name: said for name, said in texts.items() if said}:
            found[place] = shown
    return found


def _said(values: Sequence[Any]) -> tuple[str, ...]:
    texts = tuple(map(_text, filter(_is_shown, values)))
    return (OR.join(dict.fromkeys(texts)),) if texts and isinstance(values, OneOf) else texts


def _is_shown(value: Any) -> bool:
    return isinstance(value, TensorType | tuple)


def _text(value: Any) -> str:
    if isinstance(value, tuple) and not isinstance(value, TensorType):
        return f"({', '.join(map(_text, value))})"
    return "…" if value is None else str(value)
