"""How much of torch the rules know, measured against torch itself.

    python -m benchmarks.op_coverage              # about two minutes on one core
    python -m benchmarks.op_coverage --quick      # one sample an operation, seconds
    python -m benchmarks.op_coverage --per-op     # a line for every operation
    python -m benchmarks.op_coverage --json       # for programs
    python -m benchmarks.op_coverage --docs docs/operations.md   # also writes the page, and what `ops` shows
    python -m benchmarks.op_coverage --mypy       # the same calls as ordinary Python through mypy; a few minutes

Calls that torch accepts come from its own op_db, re-drawn with primes, in every public spelling. Calls that it must
refuse are those with one dim one larger ("dim") or one operand of another dtype ("dtype"), and its own error_inputs.
Through mypy, "stub" counts the lines that torch's own annotations refuse, with or without us, and "twice" the mistakes
that are more than one error.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from itertools import groupby
from pathlib import Path

import torch

from simpletorch.cli import _coverage
from simpletorch.cli._coverage import COLUMNS
from simpletorch.cli._ops import operations, title
from tests import oracle
from tests.mypy import programs

KINDS = ("call", "dim", "dtype", "error_inputs")


@dataclass
class Tally:
    """The verdicts on one operation or family, by kind of call."""

    names: set[str] = field(default_factory=set)
    verdicts: dict[str, Counter[str]] = field(default_factory=lambda: {k: Counter() for k in KINDS})

    def add(self, kind: str, name: str, verdict: str) -> None:
        """Count one call."""
        self.names.add(name)
        self.verdicts[kind][verdict] += 1

    def row(self, mypy: bool = False) -> dict[str, object]:
        """The columns of the table."""
        calls = self.verdicts["call"]
        every = sum(self.verdicts.values(), Counter[str]())
        row: dict[str, object] = {
            "operations": len(self.names),
            "lines": calls.total(),
            **{v: calls[v] for v in ("exact", "partial", "unknown", "wrong")},
            "false error": calls["false_error"],
            **({"stub": calls["stub"]} if mypy else {}),
            "exact %": _percent(calls["exact"], calls.total()),
            "wrong*": every["wrong"] - calls["wrong"],
            "false error*": every["false_error"] - calls["false_error"],
        }
        for kind in KINDS[1:]:
            found = self.verdicts[kind]
            must_fail = found["both_refuse"] + found["missed"]
            row[f"{kind}: must fail"] = must_fail
            row[f"{kind}: flagged %"] = _percent(found["both_refuse"], must_fail)
        if mypy:
            row["twice"] = every["twice"]
        return row

    def counts(self) -> list[int]:
        """The columns of `Coverage`."""
        calls, changed = self.verdicts["call"], [self.verdicts[k] for k in KINDS[1:]]
        flagged, missed = (sum(v[verdict] for v in changed) for verdict in ("both_refuse", "missed"))
        known = [calls[v] for v in ("exact", "partial", "unknown", "wrong", "false_error")]
        return [calls.total(), *known, flagged + missed, flagged]


def _percent(part: int, whole: int) -> float | None:
    return round(100 * part / whole, 1) if whole else None


def calls(quick: bool) -> Iterator[tuple[str, oracle.Call]]:
    """Every call with its kind."""
    dtypes = (torch.float32, torch.int64) if quick else oracle.DTYPES
    for call in oracle.samples(count=1 if quick else 6, dtypes=dtypes):
        yield "call", call
        for changed in oracle.perturbations(call, count=1 if quick else 2):
            yield changed.change, changed
    for call in oracle.error_inputs():
        yield "error_inputs", call


def measure(quick: bool) -> tuple[dict[str, Tally], dict[str, Tally], Tally, float]:
    """Tallies by family, by operation and of all, and the microseconds that one inference takes."""
    families: dict[str, Tally] = defaultdict(Tally)
    by_operation: dict[str, Tally] = defaultdict(Tally)
    total = Tally()
    asked: list[tuple[str, tuple[object, ...], dict[str, object]]] = []
    for kind, call in calls(quick):
        verdict = call.judge().verdict
        for tally in (families[oracle.family(call.name)], by_operation[call.name], total):
            tally.add(kind, call.name, verdict)
        if kind == "call" and len(asked) < 5_000 and call.name in oracle.RULES:
            asked.append((call.name, oracle.lift(call.args), {k: oracle.lift(v) for k, v in call.kwargs.items()}))
    start = time.perf_counter()
    for name, args, kwargs in asked:
        oracle.infer(name, args, kwargs)  # type: ignore[arg-type]
    spent = time.perf_counter() - start
    return families, by_operation, total, 1e6 * spent / max(1, len(asked))


def measure_through_mypy(quick: bool) -> tuple[dict[str, Tally], dict[str, Tally], Tally]:
    """The same through mypy."""
    families: dict[str, Tally] = defaultdict(Tally)
    by_operation: dict[str, Tally] = defaultdict(Tally)
    total = Tally()
    kinds, asked = zip(*calls(quick), strict=True)
    with tempfile.TemporaryDirectory() as folder:
        results = programs.examine(asked, Path(folder))
    kind_of = dict(zip(map(id, asked), kinds, strict=True))
    for result in results:
        call = result.call
        for tally in (families[oracle.family(call.name)], by_operation[call.name], total):
            tally.add(kind_of[id(call)], call.name, result.outcome)
    return families, by_operation, total


def table(tallies: dict[str, Tally], mypy: bool = False) -> str:
    """The rows as aligned text."""
    rows = {name: tally.row(mypy) for name, tally in tallies.items()}
    width = max(map(len, rows))
    columns = list(next(iter(rows.values())))
    lines = ["  ".join([" " * width, *columns])]
    for name, row in rows.items():
        cells = ["" if row[c] is None else str(row[c]) for c in columns]
        lines.append("  ".join([name.ljust(width), *(v.rjust(len(c)) for v, c in zip(cells, columns, strict=True))]))
    return "\n".join(lines)


HEAD = (
    f"| names | rule | {' | '.join(c.replace('_', ' ') for c in COLUMNS)} |\n| --- | --- |{' ---: |' * len(COLUMNS)}\n"
)
ACCEPTED = ", where a change is accepted too"
COMMAND = "python -m benchmarks.op_coverage --docs docs/operations.md"
PAGE = """# Operations

The torch operations that simpletorch understands, with the rule of each: what it takes, and the shape that it gives.
`*b` is any number of dims; other letters are one dim each. `simpletorch ops PATTERN` prints the same.
The columns count calls: those that torch accepts, of these the exact ones, those known in part, not known, wrong,
reported as a mistake; those that torch refuses, and of these the reported ones. Empty: torch has no test inputs for it.

This page is generated, as is `src/simpletorch/cli/_coverage.json`: `{command}` writes both.
Measured on {date} with torch {torch}: torch's own test inputs with primes for sizes; the same with one dim or dtype
changed where torch then refuses; and its own error inputs.

{totals}

"""


def write_data(by_operation: dict[str, Tally]) -> None:
    """Put what was measured of each operation where ``simpletorch ops`` finds it."""
    lines = [f'"generated by": "{COMMAND}"', f'"date": "{date.today()}"', f'"torch": "{torch.__version__}"']
    counts = [
        f"{json.dumps(name)}: {tally.counts()}" for name, tally in sorted(by_operation.items()) if name in oracle.RULES
    ]
    lines.append('"operations": {\n' + ",\n".join(counts) + "\n}")
    Path(_coverage.__file__).with_name(_coverage.FILE).write_text("{\n" + ",\n".join(lines) + "\n}\n")
    _coverage._document.cache_clear()
    _coverage.measured.cache_clear()


def page(total: Tally) -> str:
    """The page of all operations, by family."""
    rows = total.row().items()
    totals = [
        "| measure | all operations |",
        "| --- | ---: |",
        *(f"| {k.replace('*', ACCEPTED)} | {v} |" for k, v in rows),
    ]
    text = PAGE.format(command=COMMAND, date=date.today(), torch=torch.__version__, totals="\n".join(totals))
    for family, members in groupby(operations(), key=lambda o: o.family):
        text += f"## {family}\n\n{title(family)}\n\n{HEAD}"
        for o in members:
            names = ", ".join(f"`{n}`" for n in o.names)
            counts = [""] * len(COLUMNS) if o.coverage is None else [str(getattr(o.coverage, c)) for c in COLUMNS]
            text += f"| {names} | {o.rule.replace('``', '`').replace('|', chr(92) + '|')} | {' | '.join(counts)} |\n"
        text += "\n"
    return text.rstrip() + "\n"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one sample an operation and dtype, two dtypes")
    parser.add_argument("--per-op", action="store_true", help="a row for every operation")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--docs",
        type=Path,
        metavar="PATH",
        help="also write the page of all operations there, and the package's own table",
    )
    parser.add_argument("--mypy", action="store_true", help="through mypy instead of straight on the rules")
    options = parser.parse_args()
    torch.set_num_threads(1)
    microseconds = None
    if options.mypy:
        families, by_operation, total = measure_through_mypy(options.quick)
    else:
        families, by_operation, total, microseconds = measure(options.quick)
    shown = dict(sorted(by_operation.items() if options.per_op else families.items())) | {"total": total}
    if options.docs:
        write_data(by_operation)
        options.docs.write_text(page(total))
    if options.json:
        rows = {name: tally.row(options.mypy) for name, tally in shown.items()}
        print(json.dumps({"torch": torch.__version__, "microseconds per inference": microseconds, "rows": rows}))
        return
    print(table(shown, options.mypy))
    print("* in changed calls that torch still accepts")
    print(f"torch {torch.__version__}" + ("" if microseconds is None else f", {microseconds:.1f} µs per inference"))


if __name__ == "__main__":
    main()
