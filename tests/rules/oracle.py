"""torch as the oracle: every rule is asked what torch is asked, and the two answers are compared.

python tests/rules/oracle.py --op torch.cat --show wrong,false_error,unknown
python tests/rules/oracle.py --family reduce --perturb --errors --show wrong,false_error,missed
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence

import torch
from oracle_samples import DTYPES, error_inputs, perturbations, redraw, refill, samples, spellings
from oracle_torch import exists, lift, lift_dtype, resolve, run_torch, show, tensors_in
from oracle_verdict import VERDICTS, Call, Judgement, Verdict, compare, compare_dtypes, examine, judge

from simpletorch.rules import RULES, infer

__all__ = [
    "DTYPES",
    "RULES",
    "VERDICTS",
    "Call",
    "Judgement",
    "Verdict",
    "compare",
    "compare_dtypes",
    "error_inputs",
    "examine",
    "exists",
    "family",
    "infer",
    "judge",
    "lift",
    "lift_dtype",
    "perturbations",
    "redraw",
    "refill",
    "resolve",
    "run_torch",
    "samples",
    "show",
    "tensors_in",
]


def family(name: str) -> str:
    """The module of rules that a name belongs to."""
    entry = RULES.get(name)
    return "(no rule)" if entry is None else entry.function.__module__.rpartition(".")[2]


def main() -> None:
    """Print the calls with the wanted verdicts, and the count of all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--op", action="append", default=[], help="a public name (torch.cat) or one of op_db (cat)")
    parser.add_argument("--family", action="append", default=[], help="a module of simpletorch.rules, e.g. reduce")
    parser.add_argument("--show", default="wrong,false_error", help=f"verdicts to print, of {', '.join(VERDICTS)}")
    parser.add_argument("--limit", type=int, default=40, help="print at most so many calls")
    parser.add_argument("--count", type=int, default=8, help="samples for each entry and dtype")
    parser.add_argument("--perturb", action="store_true", help="also calls with one dim or dtype changed")
    parser.add_argument("--errors", action="store_true", help="also torch's own error_inputs")
    options = parser.parse_args()
    torch.set_num_threads(1)
    wanted, ops, families = set(options.show.split(",")), set(options.op), set(options.family)

    def chosen(name: str) -> bool:
        return (not ops and not families) or name in ops or family(name) in families

    def select(names: Sequence[str]) -> bool:
        return any(chosen(n) or any(chosen(s) for s in spellings(n, ())) for n in names)

    counts: Counter[tuple[str, str]] = Counter()
    shown = 0

    def handle(kind: str, call: Call, own: bool) -> None:
        nonlocal shown
        if not own and not chosen(call.name):
            return
        found = call.judge()
        counts[kind, found.verdict] += 1
        if found.verdict in wanted and shown < options.limit:
            shown += 1
            print(f"{call}\n  {kind}: {found}")

    for call in samples(select, count=options.count):
        own = call.origin in ops or call.origin.partition(".")[0] in ops
        handle("sample", call, own)
        if options.perturb and (own or chosen(call.name)):
            for changed in perturbations(call):
                handle("perturbed", changed, own)
    if options.errors:
        for call in error_inputs(select):
            handle("error_input", call, call.origin in ops)
    for (kind, verdict), n in sorted(counts.items()):
        print(f"{kind:12} {verdict:12} {n}", file=sys.stderr)


if __name__ == "__main__":
    main()
