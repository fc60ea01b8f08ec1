"""A summary as a table: text for terminals, HTML for notebooks."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from simpletorch.shapes import Dim, Expr

if TYPE_CHECKING:
    from simpletorch.nn._summary import Row, Summary

__all__ = ["as_html", "as_text", "count", "room"]

_HEADS: Final = ("module", "input", "output", "parameters", "weights", "FLOPs", "output bytes")
_LEFT: Final = 3  # columns of text; the others are numbers


@dataclass(frozen=True)
class _Node:
    """A module with its submodules; several alike are one node, named by the first and the last."""

    row: Row
    name: str
    times: int
    children: tuple[_Node, ...]

    def is_like(self, other: _Node) -> bool:
        """Whether the two differ in nothing but their place."""
        same = replace(self.row, path="") == replace(other.row, path="")
        pairs = zip(self.children, other.children, strict=False)
        return (
            same
            and len(self.children) == len(other.children)
            and all(a.name == b.name and a.times == b.times and a.is_like(b) for a, b in pairs)
        )


def _tree(rows: Sequence[Row], depth: int | None) -> _Node:
    row, below = rows[0], rows[1:]
    children: list[_Node] = []
    start = 0
    for i in range(1, len(below) + 1):
        if i == len(below) or below[i].depth == row.depth + 1:
            if below[start:i] and (depth is None or depth > 0):
                children.append(_tree(below[start:i], None if depth is None else depth - 1))
            start = i
    return _Node(row, row.name, 1, tuple(_folded(children)))


def _folded(nodes: Sequence[_Node]) -> Iterator[_Node]:
    """Neighbours that are alike, numbered one after the other, as one."""
    i = 0
    while i < len(nodes):
        last = i
        while last + 1 < len(nodes) and nodes[i].name.isdigit() and nodes[last + 1].is_like(nodes[i]):
            last += 1
        times = last - i + 1
        name = nodes[i].name if times == 1 else f"{nodes[i].name}-{nodes[last].name}"
        yield replace(nodes[i], name=name, times=times)
        i = last + 1


def _lines(node: _Node, stem: str = "", branch: str = "", below: str = "") -> Iterator[tuple[str, _Node]]:
    yield stem + branch, node
    for i, child in enumerate(node.children):
        end = i == len(node.children) - 1
        yield from _lines(child, stem + below, "└─ " if end else "├─ ", "   " if end else "│  ")


def _label(node: _Node) -> str:
    kind = node.row.kind if node.times == 1 else f"{node.times} × {node.row.kind}"
    return f"{node.name}: {kind}" if node.name else kind


def _cells(node: _Node) -> tuple[str, ...]:
    """The columns after the first; of several alike, what each of them has."""
    row = node.row
    if not row.calls:
        # torch tells nothing of the calls within a scripted model
        flow = ("not seen" if row.kind == "RecursiveScriptModule" else "not called", "")
    else:
        flow = (str(row.inputs), str(row.output) + (f" ({row.calls} calls)" if row.calls > 1 else ""))
    numbers = (f"{row.parameters:,}", room(row.weight_bytes), count(row.flops), room(row.output_bytes))
    return (*flow, *(number if number not in ("0", "0 bytes") else "–" for number in numbers))


def _footer(summary: Summary) -> list[str]:
    total = summary.total
    frozen = total.parameters - total.trainable
    weights = f"{total.parameters:,} parameters ({room(total.weight_bytes)} with buffers)"
    lines = [weights + (f", {frozen:,} of them frozen" if frozen else "")]
    lines.append(
        f"{count(total.flops)} FLOPs a call; {room(summary.activation_bytes)} of results in the innermost modules"
    )
    return lines


def as_text(summary: Summary, depth: int | None) -> str:
    """The table with aligned columns."""
    lines = list(_lines(_tree(summary.rows, depth)))
    table = [_HEADS, *((stem + _label(node), *_cells(node)) for stem, node in lines)]
    widths = [max(len(row[i]) for row in table) for i in range(len(_HEADS))]
    out = [
        "  ".join(f"{c:<{w}}" if i < _LEFT else f"{c:>{w}}" for i, (c, w) in enumerate(zip(row, widths, strict=True)))
        for row in table
    ]
    rule = "─" * max(map(len, out))
    return "\n".join(line.rstrip() for line in (out[0], rule, *out[1:], rule, *_footer(summary)))


def as_html(summary: Summary, depth: int | None) -> str:
    """The table with the colours of the page around it."""
    style = "text-align:left;white-space:pre;font-family:monospace"
    number = style.replace("left", "right")

    def row(tag: str, cells: Sequence[str]) -> str:
        made = (
            f'<{tag} style="{style if i < _LEFT else number}">{html.escape(cell)}</{tag}>'
            for i, cell in enumerate(cells)
        )
        return f"<tr>{''.join(made)}</tr>"

    body = [row("td", (stem + _label(node), *_cells(node))) for stem, node in _lines(_tree(summary.rows, depth))]
    notes = "<br>".join(map(html.escape, _footer(summary)))
    return f"<table><thead>{row('th', _HEADS)}</thead><tbody>{''.join(body)}</tbody></table><p>{notes}</p>"


# -- numbers --------------------------------------------------------------------------------------------------------


def count(number: Dim) -> str:
    """A number for people: ``9,408``, ``3.63 G``, and over symbols ``3.63 G·B``."""
    return _over_symbols(number, _count)


def room(number: Dim) -> str:
    """Bytes for people: ``44.6 MiB``."""
    return _over_symbols(number, _room)


def _count(number: int) -> str:
    if number < 1_000_000:
        return f"{number:,}"
    value = float(number)
    for unit in ("", "k", "M", "G", "T"):
        if value < 999.5:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:,.0f} P"


def _room(number: int) -> str:
    value = float(number)
    for unit in ("", "KiB", "MiB", "GiB"):
        if value < 1023.5:
            return f"{number} bytes" if not unit else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"


def _over_symbols(number: Dim, show: Callable[[int], str]) -> str:
    if isinstance(number, int):
        return show(number)
    if not isinstance(number, Expr):
        return "?"
    parts = []
    for monomial, coefficient in number.terms:
        symbols = str(Expr(((monomial, 1),))) if monomial else ""
        body = "·".join(filter(None, (show(abs(coefficient)), symbols.replace("**2", "²").replace("*", "·"))))
        parts.append(("-" if coefficient < 0 else "+", body))
    text = "".join(f" {sign} {body}" for sign, body in parts)
    return text.removeprefix(" + ").replace(" - ", "-", 1) if text.startswith(" - ") else text.removeprefix(" + ")
