"""The results of epochs as HTML: a table, and the curves of the losses."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from simpletorch._drawing import curves
from simpletorch.notebook.views.tables import cell, table

__all__ = ["epochs_as_html"]


def epochs_as_html(values: Sequence[Any]) -> str | None:
    """A list of `Epoch`; None for any other, which IPython then shows as text."""
    from simpletorch.train import Epoch

    if not values or not all(type(v) is Epoch for v in values):
        return None
    return f'<div style="color:inherit">{_table(values)}{curves(_losses(values))}</div>'


def _losses(epochs: Sequence[Any]) -> dict[str, list[float]]:
    rows = {"loss": [e.loss for e in epochs]}
    if all("loss" in e.validation for e in epochs):
        rows["validation loss"] = [e.validation["loss"] for e in epochs]
    return rows


def _table(epochs: Sequence[Any]) -> str:
    names = dict.fromkeys(name for e in epochs for name in e.training)
    checked = dict.fromkeys(name for e in epochs for name in e.validation)
    head = ["epoch", "loss", *names, *(f"validation {name}" for name in checked), "learning rate", "seconds"]
    rows = [
        [
            str(e.number),
            f"{e.loss:.4f}",
            *(_number(e.training.get(name)) for name in names),
            *(_number(e.validation.get(name)) for name in checked),
            f"{e.learning_rate:.3g}",
            f"{e.seconds:.1f}",
        ]
        for e in epochs
    ]
    return table([cell(escape(name), head=True) for name in head], ([cell(text) for text in row] for row in rows))


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"
