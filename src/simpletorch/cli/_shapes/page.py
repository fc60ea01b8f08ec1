"""``simpletorch follow --html``: the source with its shapes as a page, and above it the model."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from simpletorch._distribution import page_of
from simpletorch.cli._shapes.beside import WIDEST, of_line
from simpletorch.cli._shapes.diagram import STYLE, diagram, lines
from simpletorch.cli._shapes.source import Source, styles
from simpletorch.follow import Finding, Followed
from simpletorch.follow.cache.told import Told
from simpletorch.follow.sources import texts
from simpletorch.rules.core.codes import CODES

__all__ = ["page"]

_MOST_LINKS: Final = 6  # from a line to modules


def page(file: str, found: Followed) -> str:
    """The source with its shapes, and with the findings under their lines; above it the model if that was watched."""
    told = Told.of(found)
    written = texts.lines(texts.read(Path(file)))
    findings: dict[int, list[Finding]] = {}
    for finding in (*found.errors, *found.warnings, *found.remarks):
        if finding.path == file:
            findings.setdefault(finding.line, []).append(finding)
    source = Source(written, file, found.seen)
    visits = found.seen.visits if found.seen is not None else []
    rows = []
    width = min(max(map(len, written), default=0), WIDEST)
    calls = lines(visits)
    for number, line in enumerate(written, 1):
        shown = html.escape(of_line(told, file, number))
        here = findings.get(number, ())
        bad = ' class="bad"' if any(f.severity == "error" for f in here) else ""
        code = f"<code>{source.line(number)}</code>"
        if shown:  # blanks, not a column: one long line would push the shapes of all others out of the window
            code = f"<code>{source.line(number)}{' ' * (width - len(line))}  </code><i>{shown}</i>"
        back = _links(calls.get(number, ()))
        rows.append(f'<tr{bad} id="L{number}"><td>{number}</td><td>{code}{back}</td></tr>')
        rows += map(_told, here)
    return _PAGE.format(
        title=html.escape(file),
        rows="\n".join(rows),
        model=diagram(visits),
        style=STYLE + styles(),
        tables=source.tables,
        codes=_explained({finding.code for here in findings.values() for finding in here}),
    )


def _links(names: Sequence[str]) -> str:
    """A mark behind a line that calls modules, with their names; a click shows them in the model."""
    if not names:
        return ""
    more = f" and {len(names) - _MOST_LINKS} more" if len(names) > _MOST_LINKS else ""
    said = html.escape(", ".join(names[:_MOST_LINKS]) + more)
    return f' <a class="up" href="#model" title="in the model: {said}">▴</a>'


def _told(finding: Finding) -> str:
    hint = f"hint: {finding.hint}" if finding.hint else ""
    text = "\n".join(filter(None, (finding.message, hint, *map(str, finding.trace))))
    about = html.escape(CODES[finding.code].about if finding.code in CODES else "")
    code = html.escape(finding.code)
    code = f'<a href="#{code}">{code}</a>' if page_of(finding.code) else code
    kind = "error" if finding.severity == "error" else "error mild"
    return f'<tr class="{kind}"><td></td><td><pre>{html.escape(text)}</pre>{code}: {about}</td></tr>'


def _explained(codes: Iterable[str]) -> str:
    """The pages of codes, folded: whoever gets the file has no other; a link to one unfolds it."""
    pages = {code: page_of(code) for code in sorted(codes)}
    return "\n".join(
        f'<details class="code"><summary>{code}</summary><pre id="{code}">'
        f"{html.escape(texts.read(page))}</pre></details>"
        for code, page in pages.items()
        if page is not None
    )


_PAGE: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width"><style>
:root {{ color-scheme: light dark; --dim: #777; --bad: #c0392b22; --mark: #c0392b; --shape: #2471a3; --line: #ccc;
  --hover: #0001; --tip: #fffffff5; --mild: #8a6d00; }}
@media (prefers-color-scheme: dark) {{ :root {{ --dim: #999; --bad: #e74c3c33; --mark: #ff7b6b; --shape: #7fb8e6;
  --line: #555; --hover: #fff1; --tip: #222222f5; --mild: #e0c060; }} }}
body {{ font: 14px/1.45 system-ui, sans-serif; margin: 1.5rem; }}
table {{ border-collapse: collapse; }}
td {{ padding: 0 .9rem 0 0; vertical-align: top; }}
td:first-child {{ color: var(--dim); text-align: right; user-select: none; }}
td:nth-child(2) {{ white-space: nowrap; }}
td i {{ color: var(--shape); font: 12px/1.75 ui-monospace, monospace; white-space: nowrap; }}
code, pre {{ font: 13px/1.5 ui-monospace, monospace; white-space: pre; margin: 0; }}
.bad {{ background: var(--bad); }}
.error td {{ color: var(--dim); font-size: 12px; padding-bottom: .5rem; }}
.error pre {{ color: var(--mark); white-space: pre-wrap; padding: .2rem 0; max-width: calc(100vw - 7rem); }}
.code {{ margin-top: 1rem; }}
.code pre {{ white-space: pre-wrap; max-width: 100ch; padding: .5rem 1rem; }}
.error a {{ color: inherit; }}
.mild pre {{ color: var(--mild); }}
.up {{ color: var(--dim); text-decoration: none; }}
tr:target, .lit {{ outline: 2px solid var(--shape); outline-offset: -1px; }}
[data-t].on {{ background: var(--hover); box-shadow: 0 1px var(--shape); }}
#tip {{ position: fixed; display: none; background: var(--tip); border: 1px solid var(--line); padding: .3rem .6rem;
  font: 12px/1.5 ui-monospace, monospace; pointer-events: none; max-width: 90vw; z-index: 1; }}
#tip td {{ color: inherit; text-align: left; }}
#tip td:first-child {{ color: var(--shape); }}
{style}</style></head><body><h1>{title}</h1>
<div id="model">
{model}
</div>
<table id="source">
{rows}
</table>
{codes}
<div id="tip" role="tooltip"></div>
<script>
const tables = {tables};
const tip = document.getElementById('tip');
let on = null;
const cells = row => [row.type, row.device, row.layout, row.gradient,
  row.sizes && 'sizes: ' + row.sizes].filter(Boolean);
document.getElementById('source').addEventListener('mouseover', event => {{
  const found = event.target.closest('[data-t]');
  if (on) on.classList.remove('on');
  on = found;
  tip.style.display = found ? 'block' : 'none';
  if (!found) return;
  found.classList.add('on');
  const table = document.createElement('table');
  for (const row of tables[found.dataset.t]) {{
    const line = table.insertRow();
    for (const text of cells(row)) line.insertCell().textContent = text;
  }}
  tip.replaceChildren(table);
  const box = found.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(box.left, innerWidth - tip.offsetWidth - 4)) + 'px';
  const below = box.bottom + 4;
  tip.style.top = (below + tip.offsetHeight < innerHeight ? below : box.top - tip.offsetHeight - 4) + 'px';
}});
document.getElementById('source').addEventListener('click', event => {{
  const up = event.target.closest('.up');
  if (!up) return;
  event.preventDefault();
  for (const lit of document.querySelectorAll('.lit')) lit.classList.remove('lit');
  const line = up.closest('tr').id.slice(1);
  const rows = [...document.querySelectorAll('#model a[data-line="' + line + '"]')];
  for (const row of rows) {{
    row.classList.add('lit');
    for (let e = row.parentElement; e; e = e.parentElement) if (e.tagName === 'DETAILS') e.open = true;
  }}
  if (rows.length) rows[0].scrollIntoView({{block: 'center'}});
}});
</script></body></html>"""
