"""Is what the follower says of each line true? Compared with the same program run in torch.

    python benchmarks/follow/differential.py                      # the corpus
    python benchmarks/follow/differential.py vit_plain swin
    python benchmarks/follow/differential.py --random 300         # programs made up for it, from seed 0 on
    python benchmarks/follow/differential.py --files examples/*.py
    python benchmarks/follow/differential.py --ports              # examples/models

Wrong is

- a claim that is fully known (an int; a tensor with dtype and shape) and not among the values that the line gave to the
  name, unless the follower makes it only for a condition that it says it doesn't know ("open": that way was not taken);
- in random programs a value that the line gave, where the follower says that only others are possible, or that the
  line never runs ("more" in other programs: it follows two rounds of a training loop, and batches that are full);
- a mistake told of a program that runs to its end, and a crash.

Random programs are run on each way that their random conditions open; claims on lines that torch didn't reach, or of a
program that has more ways than ``RUNS``, are counted apart. Exit status 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import corpus
import random_programs
from corpus import Program
from follower import Answer, Follower, Pattern, Place, Value, simpletorch_follower
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
    open: list[str] = field(default_factory=list)
    more: list[str] = field(default_factory=list)
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
                conditional = answer.conditional.get((file, line), {}).get(name, frozenset[Value]())
                out.claims += len(said)
                out.wrong += [_wrong(place, name, value, real) for value in said - real - conditional]
                out.open += [_wrong(place, name, value, real) for value in (said - real) & conditional]
            else:
                out.claims += len(said & real)
                out.unreached += len(said - real)
    out.claimed = len(claimed)
    if answer.ways is not None:
        uncovered = _uncovered(program, recorded, answer.ways)
        (out.wrong if _is_random(program) else out.more).extend(uncovered)
    return out


def _is_random(program: Program) -> bool:
    return program.name.startswith("random_")


def _uncovered(
    program: Program, recorded: Recorded, said: Mapping[Place, Mapping[str, Sequence[Pattern]]]
) -> list[str]:
    """Values that nothing that the follower says of their line allows."""
    ways: dict[tuple[Place, str], list[Pattern]] = {}
    for (file, line), names in said.items():
        for name, patterns in names.items():
            ways.setdefault((program.statement(file, line), name), []).extend(patterns)
    out = []
    for place, names_there in recorded.items():
        for name, real in names_there.items():
            patterns = ways.get((place, name), [])
            strange = sorted((v for v in real if not any(fits(v) for fits in patterns)), key=str)
            what = "something else" if patterns else "never to get a value"
            out += [f"{place[0]}:{place[1]}: {name} is said to be {what}, but is {strange[0]}"] if strange else []
    return out


def _wrong(place: Place, name: str, said: Value, real: set[Value]) -> str:
    return (
        f"{place[0]}:{place[1]}: {name} is said to be {said}, but is {', '.join(map(str, sorted(real, key=str)[:4]))}"
    )


def _recorded(program: Program) -> tuple[list[object], bool]:
    """What JSON can carry of what was recorded. One run of a program of the corpus is taken for everything."""
    recorded, everything = record(program, RUNS if _is_random(program) else 1)
    rows = [[*place, name, sorted(real, key=str)] for place in recorded for name, real in recorded[place].items()]
    return rows, everything or not _is_random(program)


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
    lists = [(len(c.open), len(c.more), len(c.wrong)) for c in compared]
    counts = [
        (c.names, c.claimed, c.claims, c.unreached, c.unknown, *rest) for c, rest in zip(compared, lists, strict=True)
    ]
    names, claimed, claims, unreached, unknown, open_, more, wrong = map(sum, zip(*counts, strict=True))
    share = f"{100 * claimed / names:.0f} %" if names else "-"
    return f"{name:20}{names:8}{claimed:9}{share:>7}{claims:8}{unreached:11}{unknown:9}{open_:7}{more:7}{wrong:7}"


def main() -> int:
    """Print the wrong claims, and the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("program", nargs="*", help="names of programs (all)")
    parser.add_argument("--random", type=int, default=0, help="so many random programs instead")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the first of them")
    parser.add_argument("--open", action="store_true", help="show the claims of ways that were not taken")
    parser.add_argument("--more", action="store_true", help="show the values that no claim allows")
    parser.add_argument("--files", nargs="*", default=[], type=Path, help="these programs instead")
    parser.add_argument("--ports", action="store_true", help="the models of examples/models instead")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time (2)")
    arguments = parser.parse_args()
    seeds = range(arguments.seed, arguments.seed + arguments.random)
    made_up = [random_programs.program(seed) for seed in seeds] or (corpus.ports() if arguments.ports else [])
    programs = made_up or [corpus.read(path) for path in arguments.files] or corpus.programs(arguments.program)
    compared = comparisons(programs, simpletorch_follower(), arguments.jobs)
    for comparison in compared:
        for wrong in comparison.wrong:
            print(f"{comparison.program.name}: {wrong}")
        for shown in comparison.open if arguments.open else ():
            print(f"{comparison.program.name}: {shown} (on a way that was not taken)")
        for shown in comparison.more if arguments.more else ():
            print(f"{comparison.program.name}: {shown} (more)")
    print(
        f"{'program':20}{'names':>8}{'claimed':>9}{'':7}{'claims':>8}{'unreached':>11}{'unknown':>9}{'open':>7}{'more':>7}{'wrong':>7}"
    )
    if not arguments.random:
        print("\n".join(line_of(c.program.name, [c]) for c in compared))
    print(line_of(f"all {len(compared)}", compared))
    return int(any(c.wrong for c in compared))


if __name__ == "__main__":
    raise SystemExit(main())
