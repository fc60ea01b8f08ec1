"""The result as data and as a table."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Final

from simpletorch._bytes import size_text
from simpletorch.kernels._chips import GPU

__all__ = ["Opportunities", "Opportunity", "Traffic"]

_SMALL: Final = 0.001
"""Rows that save a smaller share of the step's bytes are left out of the table."""


@dataclass(frozen=True)
class Traffic:
    """Bytes between a GPU and its memory, kernels, and the time that both take at least.

    Attributes:
        read: bytes that are read.
        written: bytes that are written.
        kernels: the number of kernel launches.
        seconds: the least time for both, estimated.

    Examples:
        >>> from simpletorch import kernels
        >>> traffic = kernels.Traffic(read=8_000, written=4_000, kernels=2, seconds=1e-5)
        >>> traffic.read + traffic.written
        12000
    """

    read: int
    written: int
    kernels: int
    seconds: float

    @property
    def bytes(self) -> int:
        """Read and written."""
        return self.read + self.written


@dataclass(frozen=True)
class Opportunity:
    """A chain that one kernel could do: ``now`` and ``after`` are of one occurrence, what is saved of all.

    Examples:
        >>> import torch
        >>> from simpletorch import kernels, nn
        >>> found = kernels.opportunities(nn.MLP(1024, 4096, 1024), "Float32[8192, 1024]")
        >>> [(row.operations, row.passes) for row in found.rows]
        [(('addmm', 'relu'), 'forward')]
    """

    use: str
    """What does it: ``kernels.swiglu``, ``torch.compile``."""
    write: str
    """What to write instead."""
    operations: tuple[str, ...]
    """What runs now, in its order."""
    paths: tuple[str, ...]
    """The modules that call it, one for each occurrence; the model itself is at the empty path."""
    places: tuple[tuple[str, int], ...]
    """Files and lines of the first occurrence."""
    shapes: tuple[str, ...]
    """What goes in: ``Float32[3, 5]``."""
    passes: str
    """``forward``, ``backward`` or both."""
    now: Traffic
    """The traffic of one occurrence today."""
    after: Traffic
    """The traffic of one occurrence with one kernel."""

    @property
    def times(self) -> int:
        """How often it occurs."""
        return len(self.paths)

    @property
    def bytes_saved(self) -> int:
        """By all occurrences."""
        return self.times * (self.now.bytes - self.after.bytes)

    @property
    def seconds_saved(self) -> float:
        """By all occurrences, on the roofline."""
        return self.times * (self.now.seconds - self.after.seconds)

    @property
    def where(self) -> str:
        """The modules and the line: ``layers.0-11.mlp, llama.py:108``."""
        return ", ".join(filter(None, (_folded(self.paths), _lines(self.places))))


@dataclass(frozen=True)
class Opportunities:
    """The fusion opportunities of a model's step, the largest saving first.

    ``str(o)`` and ``print(o)`` give a table as text, notebooks show it as HTML.

    Examples:
        >>> import torch
        >>> from simpletorch import kernels, nn
        >>> found = kernels.opportunities(nn.MLP(1024, 4096, 1024), "Float32[8192, 1024]")
        >>> found.step.kernels
        3
        >>> [row.use for row in found.rows]
        ['torch.compile(mode="max-autotune")']
    """

    rows: tuple[Opportunity, ...]
    """The chains, the largest saving first."""
    step: Traffic
    """All kernels of the step as it is."""
    gpu: GPU
    """The GPU that times are estimated for."""

    @property
    def bytes_saved(self) -> int:
        """By all rows together; no kernel is in two of them."""
        return sum(row.bytes_saved for row in self.rows)

    @property
    def seconds_saved(self) -> float:
        """By all rows together, on the roofline."""
        return sum(row.seconds_saved for row in self.rows)

    @property
    def share(self) -> float:
        """The part of the step's bytes that could be saved."""
        return self.bytes_saved / self.step.bytes if self.step.bytes else 0.0

    def of(self, use: str) -> tuple[Opportunity, ...]:
        """The rows of one kernel: ``report.of("kernels.swiglu")``, ``report.of("torch.compile")``.

        Args:
            use: the kernel, as in `Opportunity.use`.
        """
        return tuple(row for row in self.rows if row.use == use)

    def text(self, rows: int | None = None) -> str:
        """The table for a terminal.

        Args:
            rows: how many; by default those that save at least a thousandth of the step's bytes.
        """
        shown, note = self._shown(rows)
        lines = [self._head()]
        if shown:
            table = [_HEADS, *map(_cells, shown)]
            widths = [max(len(row[i]) for row in table) for i in range(len(_HEADS))]
            aligned = [
                "  ".join(
                    f"{c:>{w}}" if i in _NUMBERS else f"{c:<{w}}"
                    for i, (c, w) in enumerate(zip(row, widths, strict=True))
                ).rstrip()
                for row in table
            ]
            rule = "─" * max(map(len, aligned))
            lines += ["", aligned[0], rule]
            for row, line in zip(shown, aligned[1:], strict=True):
                lines += [line, f"    {_chain(row)}", f"    → {row.write}"]
            lines += [rule]
        return "\n".join((*lines, *note))

    def html(self, rows: int | None = None) -> str:
        """The table as HTML.

        Args:
            rows: the number of rows, as for `text`.
        """
        shown, note = self._shown(rows)
        cells = ["".join(f"<th>{head}</th>" for head in (*_HEADS, "instead of", "write"))]
        for row in shown:
            texts = (*_cells(row), _chain(row))
            cells.append(
                "".join(f"<td>{html.escape(t)}</td>" for t in texts) + f"<td><code>{html.escape(row.write)}</code></td>"
            )
        table = f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>" if shown else ""
        return f"<p>{html.escape(self._head())}</p>{table}" + "".join(f"<p>{html.escape(line)}</p>" for line in note)

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return self.html()

    def _head(self) -> str:
        step = self.step
        return (
            f"a step reads {size_text(step.read)} and writes {size_text(step.written)} in {_counted(step.kernels)}: "
            f"{time_text(step.seconds)} on the roofline of {self.gpu.name}"
        )

    def _shown(self, rows: int | None) -> tuple[Sequence[Opportunity], list[str]]:
        if not self.rows:
            return (), ["nothing in it could be fused by a shipped kernel or by torch.compile"]
        shown = self.rows[:rows]
        if rows is None:
            shown = tuple(row for row in self.rows if row.bytes_saved >= _SMALL * self.step.bytes) or self.rows[:1]
        left = self.rows[len(shown) :]
        notes = []
        if left:
            saved = sum(row.bytes_saved for row in left)
            notes.append(f"{len(left)} more save {size_text(saved)} together; .rows has them")
        kernels = sum(row.times * (row.now.kernels - row.after.kernels) for row in self.rows)
        notes.append(
            f"all together: {size_text(self.bytes_saved)} ({self.share:.0%} of the bytes), "
            f"{time_text(self.seconds_saved)} ({self.seconds_saved / self.step.seconds:.0%} of the time) and "
            f"{_counted(kernels)} less"
        )
        return shown, notes


_HEADS: Final = ("use", "times", "bytes now", "after", "saved", "time saved", "where")
_NUMBERS: Final = range(1, 6)


def _cells(row: Opportunity) -> tuple[str, ...]:
    return (
        row.use,
        f"× {row.times}",
        size_text(row.times * row.now.bytes),
        size_text(row.times * row.after.bytes),
        size_text(row.bytes_saved),
        time_text(row.seconds_saved),
        row.where,
    )


def _chain(row: Opportunity) -> str:
    names: list[tuple[str, int]] = []
    for name in row.operations:
        if names and names[-1][0] == name:
            names[-1] = (name, names[-1][1] + 1)
        else:
            names.append((name, 1))
    texts = [name if count == 1 else f"{count} {name}" for name, count in names]
    if len(texts) > 12:
        texts = [*texts[:6], f"… {len(texts) - 9} more …", *texts[-3:]]
    return f"{' + '.join(texts)} of {', '.join(row.shapes) or 'nothing'} ({row.passes})"


def _counted(kernels: int) -> str:
    return f"{kernels:,} kernel" + "s" * (kernels != 1)


def time_text(seconds: float) -> str:
    """A time for people: ``1.84 ms``."""
    value, unit = seconds * 1e6, "µs"
    if value >= 1e6:
        value, unit = value / 1e6, "s"
    elif value >= 1000:
        value, unit = value / 1000, "ms"
    return f"{value:.3g} {unit}" if value < 1000 else f"{value:,.0f} {unit}"


def _folded(paths: Sequence[str]) -> str:
    """Several paths as one, ``layers.0-11.mlp`` or ``layers.0,2.mlp``; the first ones, if they differ otherwise."""
    different = list(dict.fromkeys(paths))
    split = [re.split(r"(\d+)", path) for path in different]
    columns = [list(dict.fromkeys(column)) for column in zip(*split, strict=False)]
    odd, even = columns[1::2], columns[::2]
    if len({len(parts) for parts in split}) > 1 or any(len(column) > 1 for column in even):
        return ", ".join(different[:3]) + (", …" if len(different) > 3 else "")
    numbers = [_ranges(sorted(map(int, column))) for column in odd]
    return "".join(text for pair in zip_longest((c[0] for c in even), numbers, fillvalue="") for text in pair)


def _ranges(numbers: Sequence[int]) -> str:
    out: list[list[int]] = []
    for number in numbers:
        if out and number == out[-1][-1] + 1:
            out[-1].append(number)
        else:
            out.append([number])
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in out)


def _lines(places: Sequence[tuple[str, int]]) -> str:
    files: dict[str, list[int]] = {}
    for file, line in places:
        files.setdefault(file, []).append(line)
    texts = []
    for file, lines in files.items():
        low, high = min(lines), max(lines)
        texts.append(f"{Path(file).name}:{low}" if low == high else f"{Path(file).name}:{low}-{high}")
    return ", ".join(texts[:2]) + (", …" if len(texts) > 2 else "")
