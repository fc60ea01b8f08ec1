"""How many mistakes that torch refuses are found by following the program, and what is said of programs that are right.

    python benchmarks/follow/mutants.py                              # the table
    python benchmarks/follow/mutants.py vit_plain --count 40 --misses 20

A mistake is found at the line where torch raises, or on the way there: at a line of the traceback that is the
program's, or at the line that was changed. A mistake told anywhere else is "elsewhere", which is no help. Exit status 1
when a program that is right, or a mutant that runs to its end, is said to have a mistake, or when the follower crashes.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

import corpus
from corpus import Program
from follower import Answer, Follower, Found, simpletorch_follower
from mutate import Mutant, mutants
from verdicts import COUNT, HARMLESS, TORCH, Verdict, Verdicts


@dataclass(frozen=True)
class Judged:
    """A mutant, what torch says to it, and what following it says."""

    mutant: Mutant
    verdict: Verdict
    answer: Answer

    @property
    def outcome(self) -> str:
        """One of the columns of the table."""
        if self.verdict.kind == HARMLESS:
            return "false alarm" if self.answer.found else "quiet"
        if self.verdict.kind != TORCH:
            return "other"
        told = {self._statement(*f.place) for f in self.answer.found}
        way = [self._statement(*place) for place in self.verdict.trace]
        if way and way[0] in told:
            return "at the line"
        if told & {*way, *(self._statement(self.mutant.file, line) for line in self.mutant.lines)}:
            return "on the way"
        return "elsewhere" if told else "missed"

    def _statement(self, file: str, line: int) -> tuple[str, int]:
        return self.mutant.program.statement(file, line)


@dataclass
class Row:
    """All that was measured of one program."""

    program: Program
    right: Answer
    judged: list[Judged] = field(default_factory=list)

    def of(self, *outcomes: str) -> list[Judged]:
        """The mutants with one of these outcomes."""
        return [j for j in self.judged if j.outcome in outcomes]


RAISING = ("at the line", "on the way", "elsewhere", "missed")


def measure(programs: Sequence[Program], verdicts: Verdicts, follow: Follower, count: int, seed: int = 0) -> list[Row]:
    """Follow each program as it is, and each of its mutants."""
    changed = {program.name: mutants(program, count, seed) for program in programs}
    verdicts.learn(m.program for made in changed.values() for m in made)
    rows = []
    for program in programs:
        row = Row(program, _followed(program, follow))
        for mutant in changed[program.name]:
            row.judged.append(Judged(mutant, verdicts[mutant.program], _followed(mutant.program, follow)))
        rows.append(row)
    return rows


def _followed(program: Program, follow: Follower) -> Answer:
    with program.written() as main:
        return follow(main)


def table(rows: Sequence[Row]) -> str:
    """The numbers of each program, and of all."""
    lines = [f"{'program':20}{'raise':>7}{'line':>6}{'way':>6}{'else':>6}{'missed':>8}{'found':>8}"]
    lines[0] += f"{'other':>7}{'harmless':>10}{'flagged':>9}{'right':>9}{'ms':>7}"
    lines += [_line(row.program.name, [row]) for row in rows]
    lines.append(_line("all", rows))
    milliseconds = [1000 * row.right.seconds for row in rows]
    lines.append(f"time of a program: median {statistics.median(milliseconds):.0f} ms, max {max(milliseconds):.0f} ms")
    return "\n".join(lines)


def _line(name: str, rows: Sequence[Row]) -> str:
    at, way, elsewhere, missed, flagged, quiet, other = (
        sum(len(row.of(outcome)) for row in rows) for outcome in (*RAISING, "false alarm", "quiet", "other")
    )
    raising = at + way + elsewhere + missed
    found = f"{100 * (at + way) / raising:.0f} %" if raising else "-"
    wrong = sum(bool(row.right.found) for row in rows)
    right = f"{wrong} wrong" if wrong else "ok"
    milliseconds = 1000 * sum(row.right.seconds for row in rows)
    return (
        f"{name:20}{raising:7}{at:6}{way:6}{elsewhere:6}{missed:8}{found:>8}"
        f"{other:7}{flagged + quiet:10}{flagged:9}{right:>9}{milliseconds:7.0f}"
    )


def complaints(rows: Sequence[Row]) -> list[str]:
    """What must not be: mistakes told of what is right, and crashes."""
    out = []
    for row in rows:
        out += [f"{row.program.name} is right, but: {_told(f)}" for f in row.right.found]
        out += [f"{row.program.name}: {row.right.crash}"] if row.right.crash else []
        for judged in row.judged:
            if judged.outcome == "false alarm":
                told = "; ".join(_told(f) for f in judged.answer.found)
                out.append(f"{row.program.name} is harmless: {judged.mutant}\n    but: {told}")
            if judged.answer.crash:
                out.append(f"{row.program.name}: {judged.mutant}\n    {judged.answer.crash}")
    return out


def _told(found: Found) -> str:
    return f"{found.place[0]}:{found.place[1]}: {found.message}"


def misses(rows: Sequence[Row], count: int) -> list[str]:
    """The first so many mutants that torch refuses and nobody told of, or told of elsewhere."""
    out = []
    for row in rows:
        for judged in row.of("missed", "elsewhere"):
            raised = " < ".join(f"{file}:{line}" for file, line in judged.verdict.trace[:3])
            out.append(
                f"{row.program.name}: {judged.mutant}\n    {judged.outcome}: {judged.verdict.error}\n    at {raised}"
            )
    return out[:count]


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("program", nargs="*", help="names of programs (all)")
    parser.add_argument("--count", type=int, default=COUNT, help=f"mutants of each program ({COUNT})")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--held-out", action="store_true", help="programs that were written apart, to examine")
    parser.add_argument("--misses", type=int, default=0, help="list so many of those that were missed")
    arguments = parser.parse_args()
    programs = corpus.programs(arguments.program, corpus.HELD_OUT if arguments.held_out else corpus.PROGRAMS)
    rows = measure(programs, Verdicts(), simpletorch_follower(), arguments.count, arguments.seed)
    wrong = complaints(rows)
    print("\n".join([*misses(rows, arguments.misses), *wrong, table(rows)]))
    return int(bool(wrong))


if __name__ == "__main__":
    raise SystemExit(main())
