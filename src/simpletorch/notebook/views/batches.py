"""A batch as HTML, or any tuple, list or dict of tensors: what each is, and the first rows along dim 0."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any, Final

import torch

from simpletorch.errors.live import lift
from simpletorch.notebook.views.samples import samples_as_html
from simpletorch.notebook.views.tables import cell, table
from simpletorch.notebook.views.tensors import has_numbers, numbers_of

__all__ = ["batch_as_html"]

_MOST: Final = 64  # tensors that are shown
_ROWS: Final = 8
_DEEPEST: Final = 3


def batch_as_html(value: Any) -> str | None:
    """The table; None for what holds no tensor with a dim, or something else than tensors, numbers and texts."""
    leaves = {}
    for name, leaf in _leaves(value, "", _DEEPEST):
        if not isinstance(leaf, torch.Tensor | str | int | float | None):
            return None
        leaves[name] = leaf
    tensors = {name: leaf for name, leaf in leaves.items() if isinstance(leaf, torch.Tensor)}
    if not any(t.dim() for t in tensors.values()):
        return None
    with torch.no_grad():
        shown = {name: tensors[name] for name in list(tensors)[:_MOST]}
        more = f"<div>… and {len(tensors) - _MOST} more</div>" if len(tensors) > _MOST else ""
        return f'<div style="color:inherit">{_contents(shown)}{more}{_rows(value, tensors)}</div>'


def _leaves(value: Any, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    """The values in tuples, lists and dicts, by path."""
    items: Iterator[tuple[Any, Any]]
    if depth and isinstance(value, Mapping):
        items = iter(value.items())
    elif depth and isinstance(value, tuple | list):
        items = zip(getattr(value, "_fields", None) or range(len(value)), value, strict=True)
    else:
        yield path, value
        return
    for name, inner in items:
        yield from _leaves(inner, f"{path}.{name}" if path else str(name), depth - 1)


def _contents(tensors: Mapping[str, torch.Tensor]) -> str:
    head = [cell(text, head=True, left=True) for text in ("", "tensor", "device", "numbers")]
    return table(head, ([cell(text, left=True) for text in _line(name, t)] for name, t in tensors.items()))


def _line(name: str, tensor: torch.Tensor) -> tuple[str, ...]:
    numbers = numbers_of(tensor) if has_numbers(tensor) else ""
    return f"<b>{escape(name)}</b>", escape(str(lift(tensor))), escape(str(tensor.device)), numbers


def _rows(value: Any, tensors: Mapping[str, torch.Tensor]) -> str:
    """The first rows, where all tensors have the same number of them and the value isn't what a module's state is."""
    counts = {len(t) if t.dim() else 0 for t in tensors.values()}
    is_state = hasattr(value, "_metadata")
    if is_state or len(counts) > 1 or not all(counts) or not all(map(has_numbers, tensors.values())):
        return ""
    most = min(_ROWS, *counts)
    rows = [{name: tensor[i] for name, tensor in tensors.items()} for i in range(most)]
    return f'<div style="opacity:0.8">the first {most} along dim 0</div>{samples_as_html(rows, {})}'
