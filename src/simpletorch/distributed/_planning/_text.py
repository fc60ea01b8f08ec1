"""A plan as text and as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simpletorch.distributed._planning._plan import Plan

__all__ = ["as_dict", "as_text", "room"]

_KINDS = ("parameters", "gradients", "optimizer", "buffers", "gathered", "activations", "total")


def room(count: float) -> str:
    """Bytes as papers give them: 1 GB is 10⁹."""
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count:.0f} bytes"


def as_text(plan: Plan) -> str:
    """Two tables, and whether it fits."""
    mesh = ", ".join(f"{axis}={size}" for axis, size in plan.mesh.items() if size > 1) or "one rank"
    sizes = ", ".join(f"{name}={size}" for name, size in plan.sizes.items()) or "as given"
    lines = [
        f"{plan.model}: {plan.parameters:,} parameters" + _trained(plan),
        f"{mesh} ({plan.ranks} rank{'s' if plan.ranks > 1 else ''}), {plan.parallel}, {plan.precision.name}, "
        f"{plan.optimizer.name}, inputs {sizes} a rank{', blocks computed again' if plan.recompute else ''}",
        "",
        "memory of a rank",
    ]
    lines += _table([(kind, room(getattr(plan.memory, kind))) for kind in _KINDS if getattr(plan.memory, kind)], "<>")
    lines += ["", "sent in a step"]
    rows = [(c.kind, c.purpose, c.axis, f"{c.calls:,}", room(c.bytes), room(c.sent)) for c in plan.collectives]
    head = ("collective", "of", "axis", "calls", "bytes", "a rank sends")
    lines += _table([head, *rows], "<<<>>>") if rows else ["  nothing: there is one rank"]
    return "\n".join([*lines, "", *_fits(plan)])


def _trained(plan: Plan) -> str:
    return "" if plan.trained == plan.parameters else f", {plan.trained:,} of them trained"


def _table(rows: Sequence[Sequence[str]], sides: str) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  " + "  ".join(f"{c:{s}{w}}" for c, s, w in zip(row, sides, widths, strict=True)).rstrip() for row in rows
    ]


def _fits(plan: Plan) -> list[str]:
    device = room(plan.room)
    if plan.fits:
        left = plan.room - plan.memory.total
        lines = [f"fits in {device}: {room(left)} are left, for workspaces, fragments and results without a backward"]
    else:
        lines = [f"does not fit in {device}: {room(plan.memory.total - plan.room)} too much"]
        fewest = plan.fewest_ranks if plan.parallel != "ddp" else None
        if fewest is not None:
            lines.append(f"with data={fewest} this batch would fit")
        elif not plan.recompute:
            lines.append("computing blocks again (--recompute) keeps only their inputs")
    if plan.batch is not None and plan.largest_batch is not None:
        lines.append(f"largest batch that fits: {plan.largest_batch} a rank")
    return lines


def as_dict(plan: Plan) -> dict[str, Any]:
    """The plan as plain data: bytes as integers."""
    return {
        "model": plan.model,
        "mesh": dict(plan.mesh),
        "ranks": plan.ranks,
        "parallel": plan.parallel,
        "precision": plan.precision.name,
        "optimizer": plan.optimizer.name,
        "sizes": dict(plan.sizes),
        "recompute": plan.recompute,
        "parameters": plan.parameters,
        "trained": plan.trained,
        "memory": {kind: getattr(plan.memory, kind) for kind in _KINDS},
        "collectives": [
            {
                "kind": c.kind,
                "purpose": c.purpose,
                "axis": c.axis,
                "ranks": c.ranks,
                "calls": c.calls,
                "bytes": c.bytes,
                "sent": c.sent,
            }
            for c in plan.collectives
        ],
        "room": plan.room,
        "fits": plan.fits,
        "largest_batch": plan.largest_batch,
    }
