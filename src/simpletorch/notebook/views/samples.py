"""Samples as HTML: a grid of pictures where they have images, else a table with a row for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from html import escape
from typing import Any, Final

import numpy as np
import torch

from simpletorch.errors.live import lift
from simpletorch.notebook.views.pictures import as_image, picture_of
from simpletorch.notebook.views.tables import cell, table
from simpletorch.rules import TensorType

__all__ = ["items_of", "kind_of", "samples_as_html"]

Names = Mapping[str, Sequence[str]]
"""What numbers are called, by the name of the item that holds them."""

_LONGEST: Final = 60  # characters of a text
_NUMBERS: Final = 6  # of a tensor
_COLUMNS: Final = 12
_WIDEST: Final = 16  # cells of a row


def items_of(sample: Any) -> dict[str, Any]:
    """The items of a sample, by name or by number; a sample that is one thing, such as a long list, is under ``""``."""
    if _is_row(sample):
        return {"": sample}
    if isinstance(sample, Mapping):
        return {str(k): v for k, v in sample.items()}
    if is_dataclass(sample) and not isinstance(sample, type):
        return {f.name: getattr(sample, f.name) for f in fields(sample)}
    if isinstance(sample, tuple | list):
        names = getattr(sample, "_fields", None) or range(len(sample))
        return {str(k): v for k, v in zip(names, sample, strict=True)}
    return {"": sample}


def _is_row(value: Any) -> bool:
    """Whether a list or tuple is a row of numbers, or too long for each item to be one of its own."""
    if not isinstance(value, tuple | list) or hasattr(value, "_fields"):
        return False
    return len(value) > _COLUMNS or (isinstance(value, list) and all(isinstance(v, int | float) for v in value))


def kind_of(values: Sequence[Any]) -> str:
    """The type of the samples: ``(Float32[3, …, …], str)``. Of sizes that differ no number is given."""
    first = values[0]
    if isinstance(first, torch.Tensor):
        return _tensor_kind(values)
    inner = items_of(first)
    if "" in inner:
        return " or ".join(dict.fromkeys(_name_of(v) for v in values))
    rows = [items_of(v) for v in values]
    if any(row.keys() != inner.keys() for row in rows):
        return type(first).__name__
    parts = {name: kind_of([row[name] for row in rows]) for name in inner}
    if isinstance(first, list | tuple) and not hasattr(first, "_fields"):
        return f"({', '.join(parts.values())})"
    more = ", …" if len(parts) > _COLUMNS else ""
    named = ", ".join(f"{name}: {kind}" for name, kind in list(parts.items())[:_COLUMNS]) + more
    return f"{{{named}}}" if isinstance(first, Mapping) else f"{type(first).__name__}({named})"


def _name_of(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{list(value.shape)}"
    if _is_row(value):
        kinds = dict.fromkeys(type(v).__name__ for v in value[:_NUMBERS])
        return f"{type(value).__name__}[{' | '.join(kinds)}]"
    return type(value).__name__


def _tensor_kind(values: Sequence[Any]) -> str:
    kinds = [lift(v) for v in values]
    first = kinds[0]
    if not all(isinstance(k, TensorType) for k in kinds) or len({(v.dtype, v.dim()) for v in values}) > 1:
        return " or ".join(dict.fromkeys(map(str, kinds)))
    sizes = zip(*(v.shape for v in values), strict=True)
    shown = ", ".join(str(s[0]) if len(set(s)) == 1 else "…" for s in sizes)
    return f"{str(first).partition('[')[0]}[{shown}]"


def samples_as_html(samples: Sequence[Any], names: Names, columns: Sequence[str] = ()) -> str:
    """The grid or the table.

    Args:
        samples: the first ones.
        names: what class numbers are called.
        columns: what the numbers of each sample's first item are called; the second item is the target.
    """
    rows = [items_of(sample) for sample in samples]
    image = next((name for name, value in rows[0].items() if as_image(value) is not None), None)
    if image is None:
        return _table(rows, names, columns)
    return f'<div style="display:flex;flex-wrap:wrap">{"".join(_tile(row, image, names) for row in rows)}</div>'


def _tile(row: Mapping[str, Any], image: str, names: Names) -> str:
    """A picture with what else belongs to it below."""
    pixels = as_image(row.get(image))
    drawn = "" if pixels is None else picture_of(pixels)
    label = ", ".join(_value(value, names.get(name, ())) for name, value in row.items() if name != image)
    style = "margin:0 0.4em 0.4em 0;text-align:center;max-width:100px;overflow-wrap:break-word;font-size:0.85em"
    return f'<div style="{style}">{drawn}<div>{label}</div></div>'


def _table(rows: Sequence[Mapping[str, Any]], names: Names, columns: Sequence[str]) -> str:
    spread = next(iter(rows[0]), "") if columns else None
    parts = [_cells(row, names, spread, columns) for row in rows]
    heads = [title for title, _ in parts[0]]
    lines = [[cell(str(i)), *(cell(text) for _, text in part)] for i, part in enumerate(parts)]
    return table([cell("", head=True), *(cell(escape(h), head=True) for h in heads)], lines)


def _cells(row: Mapping[str, Any], names: Names, spread: str | None, columns: Sequence[str]) -> list[tuple[str, str]]:
    """Title and content of each cell of a row."""
    cells = []
    for name, value in row.items():
        if name == spread and isinstance(value, torch.Tensor) and value.shape == (len(columns),):
            numbers = value[:_COLUMNS].tolist()
            cells += [(title, _number(v)) for title, v in zip(columns, numbers, strict=False)]
            cells += [("…", "")] * (len(columns) > _COLUMNS)
        else:
            cells.append(("target" if columns else name, _value(value, names.get(name, ()))))
    return cells if len(cells) <= _WIDEST else [*cells[:_WIDEST], ("…", "")]


def _value(value: Any, names: Sequence[str]) -> str:
    """An item of a sample in a few characters of HTML: the name of a class, numbers, or what it is."""
    if isinstance(value, torch.Tensor | np.ndarray | np.generic):
        value = torch.as_tensor(value) if isinstance(value, torch.Tensor) or value.dtype.kind in "buif" else str(value)
    if isinstance(value, torch.Tensor):
        return _numbers(value, names)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(names):
        return escape(_short(str(names[value])))
    if isinstance(value, float):
        return _number(value)
    if value is None or isinstance(value, str | int | bytes):
        return escape(_short(str(value[: 4 * _LONGEST]) if isinstance(value, str | bytes) else str(value)))
    if _is_row(value):
        return " ".join(_value(v, ()) for v in value[:_NUMBERS]) + (" …" if len(value) > _NUMBERS else "")
    inner = items_of(value)
    return escape(_short(type(value).__name__ if "" in inner else kind_of([value])))


def _numbers(tensor: torch.Tensor, names: Sequence[str]) -> str:
    if tensor.dim() > 1 or tensor.is_meta or tensor.layout is not torch.strided or tensor.is_complex():
        return escape(str(lift(tensor)))
    if not tensor.dim():
        only = tensor.item()
        return _number(only) if isinstance(only, float) else _value(only, names)
    shown = [_number(v) for v in tensor[:_NUMBERS].tolist()]
    return " ".join(shown) + (" …" if len(tensor) > _NUMBERS else "")


def _number(value: float) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _short(text: str) -> str:
    line = " ".join(text[: 4 * _LONGEST].split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
