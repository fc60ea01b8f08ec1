"""Tables as HTML: the colours are the page's, and cells are as wide as what is in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["cell", "table"]

_CELL = "padding:0.15em 0.7em;white-space:nowrap"


def cell(content: str, style: str = "", *, left: bool = False, head: bool = False) -> str:
    """A cell of what is HTML already; numbers stand at the right."""
    kind = "th" if head else "td"
    return f'<{kind} style="{_CELL};text-align:{"left" if left else "right"}{style and ";"}{style}">{content}</{kind}>'


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells; where it is wider than the page it is scrolled by itself."""
    top = f'<thead style="border-bottom:1px solid"><tr>{"".join(head)}</tr></thead>'
    lines = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return (
        '<div style="overflow-x:auto"><table style="color:inherit;border-collapse:collapse;margin:0.3em 0">'
        f"{top}<tbody>{lines}</tbody></table></div>"
    )
