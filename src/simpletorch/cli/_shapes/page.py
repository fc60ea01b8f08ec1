"""``simpletorch follow --html``: the source with its shapes as a page, and above it the model."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Final

from simpletorch.cli._shapes.beside import WIDEST, of_line
from simpletorch.cli._shapes.diagram import STYLE, diagram
from simpletorch.follow import Finding, Followed
from simpletorch.follow.cache.told import Told
from simpletorch.follow.sources import texts

__all__ = ["page"]


def page(file: str, found: Followed) -> str:
    """The source with its shapes, and with the errors under their lines; above it the model if that was watched."""
    told = Told.of(found)
    source = texts.lines(texts.read(Path(file)))
    errors: dict[int, list[Finding]] = {}
    for error in found.errors:
        if error.path == file:
            errors.setdefault(error.line, []).append(error)
    rows = []
    width = min(max(map(len, source), default=0), WIDEST)
    for number, line in enumerate(source, 1):
        shown = html.escape(of_line(told, file, number))
        bad = ' class="bad"' if number in errors else ""
        code = f"<code>{html.escape(line)}</code>"
        if shown:  # blanks, not a column: one long line would push the shapes of all others out of the window
            code = f"<code>{html.escape(f'{line:<{width}}')}  </code><i>{shown}</i>"
        rows.append(f"<tr{bad}><td>{number}</td><td>{code}</td></tr>")
        for error in errors.get(number, ()):
            hint = f"hint: {error.hint}" if error.hint else ""
            text = "\n".join(filter(None, (error.message, hint, *map(str, error.trace))))
            rows.append(f'<tr class="error"><td></td><td><pre>{html.escape(text)}</pre></td></tr>')
    model = diagram(found.seen.visits) if found.seen is not None else ""
    return _PAGE.format(title=html.escape(file), rows="\n".join(rows), model=model, style=STYLE)


_PAGE: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width"><style>
:root {{ color-scheme: light dark; --dim: #777; --bad: #c0392b22; --mark: #c0392b; --shape: #2471a3; --line: #ccc;
  --hover: #0001; }}
@media (prefers-color-scheme: dark) {{ :root {{ --dim: #999; --bad: #e74c3c33; --mark: #ff7b6b; --shape: #7fb8e6;
  --line: #555; --hover: #fff1; }} }}
body {{ font: 14px/1.45 system-ui, sans-serif; margin: 1.5rem; }}
table {{ border-collapse: collapse; }}
td {{ padding: 0 .9rem 0 0; vertical-align: top; }}
td:first-child {{ color: var(--dim); text-align: right; user-select: none; }}
td:nth-child(2) {{ white-space: nowrap; }}
td i {{ color: var(--shape); font: 12px/1.75 ui-monospace, monospace; white-space: nowrap; }}
code, pre {{ font: 13px/1.5 ui-monospace, monospace; white-space: pre; margin: 0; }}
.bad {{ background: var(--bad); }}
.error pre {{ color: var(--mark); white-space: pre-wrap; padding: .2rem 0 .5rem; max-width: calc(100vw - 7rem); }}
{style}</style></head><body><h1>{title}</h1>
{model}
<table>
{rows}
</table></body></html>"""
