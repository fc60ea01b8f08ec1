"""Is what the follower says of each line true? Compared with the same program run in torch.

    python benchmarks/follow/differential.py                      # the corpus
    python benchmarks/follow/differential.py vit_plain swin
    python benchmarks/follow/differential.py --random 300         # programs made up for it, from seed 0 on

A claim that is fully known (an int; a tensor with dtype and shape) must be among the values that the line gave to the
name. Random programs are run on each way that their random conditions open; claims on lines that torch didn't reach, or
of a program that has more ways than ``RUNS``, are counted apart. Exit status 1 for a wrong claim, for a mistake told of
a program that runs to its end, or for a crash.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field

import corpus
import random_programs
from corpus import Program
from follower import Answer, Follower, Place, Value, simpletorch_follower
from forked import forked
from recording import Recorded, record

RUNS = 64


@dataclass
class Comparison:
    """Of one program: how many names got tensors or ints, what was claimed of them, and what of that is wrong."""

    program: Program
    names: int = 0
    claimed: int = 0  # of these names
    claims: int = 0
    unreached: int = 0
    unknown: int = 0
    wrong: list[str] = field(default_factory=list)


def compare(program: Program, recorded: Recorded, everything: bool, answer: Answer) -> Comparison:
    """The claims of an answer beside what was recorded, which may be everything that can be."""
    out = Comparison(program, unknown=answer.unknown)
    out.names = sum(len(names) for names in recorded.values())
    out.wrong += [f"{f.place[0]}:{f.place[1]}: no mistake, but: {f.message}" for f in answer.found]
    out.wrong += [answer.crash] if answer.crash else []
    claimed = set()
    for (file, line), names in answer.claims.items():
        place = program.statement(file, line)
        for name, said in names.items():
            real = recorded.get(place, {}).get(name, set())
            if said & real:
                claimed.add((place, name))
            if real and everything:
                out.claims += len(said)
                out.wrong += [_wrong(place, name, value, real) for value in said - real]
            else:
                out.claims += len(said & real)
                out.unreached += len(said - real)
    out.claimed = len(claimed)
    return out


def _wrong(place: Place, name: str, said: Value, real: set[Value]) -> str:
    return (
        f"{place[0]}:{place[1]}: {name} is said to be {said}, but is {', '.join(map(str, sorted(real, key=str)[:4]))}"
    )


def _recorded(program: Program) -> tuple[list[object], bool]:
    """What JSON can carry of what was recorded. One run of a program of the corpus is taken for everything."""
    is_random = program.name.startswith("random_")
    recorded, everything = record(program, RUNS if is_random else 1)
    rows = [[*place, name, sorted(real, key=str)] for place in recorded for name, real in recorded[place].items()]
    return rows, everything or not is_random


def comparisons(programs: Sequence[Program], follow: Follower, jobs: int) -> list[Comparison]:
    """Run each program in a process of its own, follow it here, and compare."""
    out = []
    for program, answer in forked(_recorded, programs, jobs):
        if not isinstance(answer, list):
            raise SystemExit(f"{program.name} doesn't run: {answer}")
        rows, everything = answer
        recorded: Recorded = {}
        for file, line, name, real in rows:
            values = {value if isinstance(value, int) else (value[0], tuple(value[1])) for value in real}
            recorded.setdefault((file, line), {})[name] = values
        with program.written() as main:
            out.append(compare(program, recorded, everything, follow(main)))
    return sorted(out, key=lambda c: c.program.name)


def line_of(name: str, compared: Sequence[Comparison]) -> str:
    """A line of the table."""
    counts = [(c.names, c.claimed, c.claims, c.unreached, c.unknown, len(c.wrong)) for c in compared]
    names, claimed, claims, unreached, unknown, wrong = map(sum, zip(*counts, strict=True))
    share = f"{100 * claimed / names:.0f} %" if names else "-"
    return f"{name:20}{names:8}{claimed:9}{share:>7}{claims:8}{unreached:11}{unknown:9}{wrong:7}"


def main() -> int:
    """Print the wrong claims, and the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("program", nargs="*", help="names of programs (all)")
    parser.add_argument("--random", type=int, default=0, help="so many random programs instead")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the first of them")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time (2)")
    arguments = parser.parse_args()
    seeds = range(arguments.seed, arguments.seed + arguments.random)
    programs = [random_programs.program(seed) for seed in seeds] or corpus.programs(arguments.program)
    compared = comparisons(programs, simpletorch_follower(), arguments.jobs)
    for comparison in compared:
        for wrong in comparison.wrong:
            print(f"{comparison.program.name}: {wrong}")
    print(f"{'program':20}{'names':>8}{'claimed':>9}{'':7}{'claims':>8}{'unreached':>11}{'unknown':>9}{'wrong':>7}")
    if not arguments.random:
        print("\n".join(line_of(c.program.name, [c]) for c in compared))
    print(line_of(f"all {len(compared)}", compared))
    return int(any(c.wrong for c in compared))


if __name__ == "__main__":
    raise SystemExit(main())
