"""A module as HTML: its layers as a tree to open, each with its parameters' number."""

from __future__ import annotations

from html import escape
from typing import Final

from torch import nn

__all__ = ["module_as_html"]

_OPEN: Final = 2  # levels that are open at first
_MOST: Final = 400  # modules that are shown


def module_as_html(module: nn.Module) -> str | None:
    """The tree; None where a parameter isn't made yet, for IPython to show the text."""
    if any(map(nn.parameter.is_lazy, module.parameters())):
        return None
    return f'<div style="color:inherit">{_node("", module, 0, [_MOST])}</div>'


def _node(name: str, module: nn.Module, level: int, left: list[int]) -> str:
    left[0] -= 1
    if left[0] < 0:
        return "<div>…</div>" if left[0] == -1 else ""
    shown = f"{type(module).__name__}({module.extra_repr()})" if not module._modules else type(module).__name__
    label = f"{f'<b>{escape(name)}</b> ' if name else ''}{escape(shown)} {_size(module)}"
    if not module._modules:
        return f'<div style="padding-left:2em">{label}</div>'
    inner = "".join(_node(k, m, level + 1, left) for k, m in module._modules.items() if m is not None)
    is_open = " open" if level < _OPEN else ""
    return f'<details{is_open} style="padding-left:1em"><summary>{label}</summary>{inner}</details>'


def _size(module: nn.Module) -> str:
    """How many numbers its parameters have, each counted once, and how many of them are trained."""
    parameters = list(module.parameters())
    count, trained = (sum(p.numel() for p in rows) for rows in (parameters, [p for p in parameters if p.requires_grad]))
    if not count:
        return ""
    frozen = "" if trained == count else f", {trained:,} trained"
    return f'<span style="opacity:0.7;white-space:nowrap">{count:,} parameters{frozen}</span>'
