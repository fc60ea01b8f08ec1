"""A confusion matrix as HTML and as text: what was right downwards, what was predicted to the right."""

from __future__ import annotations

import math
from typing import Final

import torch
from torch.nn import functional

from simpletorch._drawing import picture
from simpletorch.metrics import ConfusionMatrix
from simpletorch.notebook.views.tables import cell, table

__all__ = ["confusion_as_html", "confusion_as_text"]

_TABLE: Final = 20  # with at most so many classes, each count is written
_WORST: Final = 10
_WIDTH: Final = 256  # pixels of the picture
_BLUE, _RED = "9,105,218", "209,36,47"  # right and wrong, below text of any colour
_WEAKEST, _STRONGEST = 0.15, 0.5


def confusion_as_html(metric: ConfusionMatrix) -> str:
    """Counts on a ground that says which part of its row each is; of many classes a picture and the worst pairs."""
    counts = _counts(metric)
    head = f"<b>{type(metric).__name__}</b> {_said(counts)}"
    body = _table(counts) if len(counts) <= _TABLE else _picture(counts)
    return f'<div style="color:inherit">{head}{body}</div>'


def confusion_as_text(metric: ConfusionMatrix) -> str | None:
    """The counts in columns; None of what has a text of its own."""
    if type(metric).__repr__ is not object.__repr__:
        return None
    counts = _counts(metric)
    head = f"{type(metric).__name__}: {_said(counts)}"
    if len(counts) > _TABLE:
        worst = [f"{count:>7,}  {right} taken for {taken}" for right, taken, count in _worst(counts)]
        return "\n".join((head, *worst))
    rows = [[str(i), *map(str, row)] for i, row in enumerate(counts.tolist())]
    rows.insert(0, ["", *map(str, range(len(counts)))])
    width = max(len(text) for row in rows for text in row) + 1
    return "\n".join((head, *("".join(f"{text:>{width}}" for text in row) for row in rows)))


def _counts(metric: ConfusionMatrix) -> torch.Tensor:
    """This rank's, for to compute the sum over all ranks each of them would have to show it."""
    return metric.state_dict()["counts"].cpu()


def _said(counts: torch.Tensor) -> str:
    total, right = int(counts.sum()), int(counts.diagonal().sum())
    share = f", {right / total:.1%} right" if total else ""
    return f"{total:,} in {len(counts)} classes{share}"


def _table(counts: torch.Tensor) -> str:
    numbers = range(len(counts))
    head = [cell("right ↓ predicted →", head=True, left=True), *(cell(str(i), head=True) for i in numbers)]
    head.append(cell("recall", head=True))
    rows = [_row(i, row) for i, row in enumerate(counts.tolist())]
    found = [f"{counts[i, i] / total:.0%}" if (total := int(counts[:, i].sum())) else "" for i in numbers]
    rows.append([cell("precision", head=True, left=True), *map(cell, found), cell("")])
    return table(head, rows)


def _row(number: int, row: list[int]) -> list[str]:
    total = sum(row)
    cells = [cell(str(number), head=True, left=True)]
    for taken, count in enumerate(row):
        colour = _BLUE if taken == number else _RED
        strength = _WEAKEST + (_STRONGEST - _WEAKEST) * count / total if count else 0
        ground = f"background:rgba({colour},{strength:.3f})" if count else ""
        cells.append(cell(f"{count:,}" if count else '<span style="opacity:0.4">0</span>', ground))
    return [*cells, cell(f"{row[number] / total:.0%}" if total else "")]


def _picture(counts: torch.Tensor) -> str:
    shares = (counts / counts.sum(1, keepdim=True).clamp_min(1))[None]
    step = math.ceil(len(counts) / _WIDTH)
    small = functional.max_pool2d(shares, step, ceil_mode=True)[0]  # each pair that was mixed up shows in its pixel
    pixels = (small * 255).round().to(torch.uint8).contiguous()
    drawn = picture(pixels.numpy().tobytes(), *small.shape, grey=True, least=_WIDTH)
    head = [cell(text, head=True) for text in ("right", "taken for", "count")]
    rows = ([cell(f"{number:,}") for number in numbers] for numbers in _worst(counts))
    return f"<div>{drawn}</div>{table(head, rows)}"


def _worst(counts: torch.Tensor) -> list[tuple[int, int, int]]:
    """The pairs that were mixed up most often: right, taken for, how often."""
    wrong = counts.clone().fill_diagonal_(0).flatten()
    found = [(int(at) // len(counts), int(at) % len(counts), int(wrong[at])) for at in wrong.topk(_WORST).indices]
    return [pair for pair in found if pair[2]]
