"""The oracle's command line: the calls of chosen operations, with the verdicts on them."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from difflib import get_close_matches

import torch

import tests.oracle
from simpletorch.rules import RULES
from tests.oracle import by_hand, family
from tests.oracle.samples import error_inputs, perturbations, samples, spellings
from tests.oracle.verdict import VERDICTS, Call

BAD = ("wrong", "false_error")


class Choice:
    """The operations that the command line asks for: all where it names none."""

    def __init__(self, ops: Collection[str], families: Collection[str]) -> None:
        self.ops, self.families = set(ops), set(families)
        self.met: set[str] = set()  # those of them of which there was a call

    def takes(self, name: str, origin: str = "") -> bool:
        """Whether a call of this public name, from this entry of op_db, was asked for."""
        asked = {name, origin, origin.partition(".")[0]} & self.ops | {family(name)} & self.families
        self.met |= asked
        return bool(asked) or not (self.ops or self.families)

    def picks(self, names: Sequence[str]) -> bool:
        """Whether an entry of op_db with these names may have such a call."""
        every = {s for n in names for s in spellings(n, ())}
        named = bool(every & self.ops) or any(family(n) in self.families for n in every)
        return named or not (self.ops or self.families)

    def without_calls(self) -> str:
        """What is wrong with what was asked for and met no call, in sentences; "" if nothing is."""
        return "\n".join(_advice(name) for name in sorted((self.ops | self.families) - self.met))


def _advice(name: str) -> str:
    known = {family(n) for n in RULES}
    if name in RULES:
        return f"torch's op_db has no inputs for {name}, so nothing is proved: add samples to tests/oracle/by_hand.py"
    close = get_close_matches(name, [*RULES, *known], n=1)
    return f"no rule, entry of op_db or family is called {name}" + (f"; did you mean {close[0]}?" if close else "")


def calls(choice: Choice, options: argparse.Namespace) -> Iterator[tuple[str, Call]]:
    """The calls that were asked for, with where they come from."""
    drawn = [("sample", c) for c in samples(choice.picks, count=options.count)]
    for kind, call in (*drawn, *(("by hand", c) for c in by_hand.calls())):
        if choice.takes(call.name, call.origin):
            yield kind, call
            if options.perturb:
                yield from (("perturbed", changed) for changed in perturbations(call))
    if options.errors:
        yield from (("error_input", c) for c in error_inputs(choice.picks) if choice.takes(c.name, c.origin))


def parser() -> argparse.ArgumentParser:
    """What the command line takes."""
    out = argparse.ArgumentParser(
        prog="python -m tests.oracle",
        description=tests.oracle.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Exit status: 0 if no answer was wrong, 1 if one was, 2 if there was no call of what was asked for.",
    )
    out.add_argument("--op", action="append", default=[], help="a public name (torch.cat) or one of op_db (cat)")
    out.add_argument("--family", action="append", default=[], help="a file of simpletorch.rules.functions: reduction")
    out.add_argument("--show", default=",".join(BAD), help=f"verdicts to print, of {', '.join(VERDICTS)}")
    out.add_argument("--limit", type=int, default=40, help="print at most so many calls")
    out.add_argument("--count", type=int, default=8, help="samples for each entry and dtype")
    out.add_argument("--perturb", action="store_true", help="also calls with one dim or dtype changed")
    out.add_argument("--errors", action="store_true", help="also torch's own error_inputs")
    return out


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the calls with the wanted verdicts, and the count of all."""
    options = parser().parse_args(arguments)
    torch.set_num_threads(1)
    choice = Choice(options.op, options.family)
    wanted = set(options.show.split(","))
    counts: Counter[tuple[str, str]] = Counter()
    shown = 0
    for kind, call in calls(choice, options):
        found = call.judge()
        counts[kind, found.verdict] += 1
        if found.verdict in wanted and shown < options.limit:
            shown += 1
            print(f"{call}\n  {kind}: {found}")
    for (kind, verdict), n in sorted(counts.items()):
        print(f"{kind:12} {verdict:12} {n}", file=sys.stderr)
    if advice := choice.without_calls():
        print(advice, file=sys.stderr)
        return 2
    return 1 if any(verdict in BAD for _, verdict in counts) else 0


if __name__ == "__main__":
    sys.exit(main())
