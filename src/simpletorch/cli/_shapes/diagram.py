"""A model as a diagram of shapes: which modules call which, with what each takes and gives; collapsible HTML."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from typing import Final

from simpletorch.follow.marks.seen import Visit

__all__ = ["STYLE", "diagram", "lines"]

_OPEN: Final = 2  # levels of the first call that are open at first
_MOST: Final = 2_000  # modules in one page

STYLE: Final = """
.model { margin: 0 0 1.5rem; }
.model details, .model .leaf { border-left: 2px solid var(--line); padding: .1rem 0 .1rem .8rem; margin-left: .35rem; }
.model .leaf { padding-left: calc(.8rem + 15px); } /* below the names that have an arrow */
.model > details { border-left: 0; margin-left: 0; padding-left: 0; }
.model summary { cursor: pointer; }
.model summary:hover, .model .leaf:hover { background: var(--hover); }
.model .path { font: 13px/1.6 ui-monospace, monospace; color: inherit; text-decoration: none; }
.model a.path:hover { text-decoration: underline; }
.model .fails { color: var(--mark); }
.model .lost { color: var(--dim); font-size: 12px; }
.model .kind { color: var(--dim); margin: 0 .8rem 0 .4rem; }
.model .shape { color: var(--shape); font: 12px/1.6 ui-monospace, monospace; }
.model .times { color: var(--dim); margin-left: .6rem; }
"""


def diagram(visits: Sequence[Visit]) -> str:
    """The calls of modules that nothing is around, each once; "" where there is none."""
    seen = {repr(visit): visit for visit in visits}  # an evaluation may call what training has called
    left = [_MOST]
    rows = "\n".join(_shown(v, 0 if i == 0 else _OPEN, left) for i, v in enumerate(seen.values()))
    return f'<section class="model" aria-label="The model">\n{rows}\n</section>' if rows else ""


def _shown(visit: Visit, depth: int, left: list[int]) -> str:
    left[0] -= 1
    if left[0] < 0:
        return '<div class="leaf">…</div>' if left[0] == -1 else ""
    reached = _reached(visit)
    rows = [row for v in reached if (row := _shown(v, depth + 1, left))]
    if lost := visit.inner[len(reached) :]:
        names = ", ".join(html.escape(v.name or v.kind) for v in lost)
        rows.append(f'<div class="leaf lost">not reached: {names}</div>')
    inner = "\n".join(rows)
    line = "".join(_line(visit))
    if not inner:
        return f'<div class="leaf">{line}</div>'
    is_open = " open" if depth < _OPEN or visit.fails else ""
    return f"<details{is_open}><summary>{line}</summary>\n{inner}\n</details>"


def _reached(visit: Visit) -> Sequence[Visit]:
    """The calls inside one up to that in which the program ends."""
    end = next((number for number, v in enumerate(visit.inner, 1) if v.ends), len(visit.inner))
    return visit.inner[:end]


def lines(visits: Sequence[Visit]) -> dict[int, list[str]]:
    """The paths of the modules that each line of the program calls, each once."""
    found: dict[int, dict[str, None]] = {}
    todo = [("", visit) for visit in reversed(visits)]
    while todo:
        around, visit = todo.pop()
        path = ".".join(filter(None, (around, visit.name))) or visit.kind
        if visit.line:
            found.setdefault(visit.line, {})[path] = None
        inside = "" if not visit.name and not around else path
        todo += [(inside, v) for v in reversed(_reached(visit))]
    return {line: list(paths) for line, paths in found.items()}


def _line(visit: Visit) -> Iterator[str]:
    name = html.escape(visit.name or visit.kind)
    if visit.line:
        yield f'<a class="path" href="#L{visit.line}" data-line="{visit.line}">{name}</a>'
    else:
        yield f'<span class="path">{name}</span>'
    if visit.name:
        yield f' <span class="kind">{html.escape(visit.kind)}</span>'
    gives = '<b class="fails">✘ fails</b>' if visit.ends or (visit.fails and visit.gives == "…") else None
    yield f' <span class="shape">{html.escape(", ".join(visit.takes))} → {gives or html.escape(visit.gives)}</span>'
    if visit.times > 1:
        yield f'<span class="times">× {visit.times}</span>'
