"""How much of ``torch.nn`` mypy knows with the plugin, measured against torch itself.

    python -m benchmarks.module_coverage           # every plain case of module_db through mypy; about a minute
    python -m benchmarks.module_coverage --show missed,wrong,false_error,partial
    python -m benchmarks.module_coverage --json

Five groups, each written as ordinary Python and checked in one mypy run: the inputs of torch's module_db, cases of our
own for the modules that it lacks, its error inputs, constructor calls that torch refuses, and some that it accepts.
"stub" counts the lines that torch's own annotations refuse, with or without us, and "twice" the mistakes that are more
than one error.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from pathlib import Path

import torch

from tests.mypy import module_programs
from tests.oracle import modules

EVERY = 1_000_000
VERDICTS = ("exact", "partial", "unknown", "wrong", "false_error", "stub", "both_refuse", "missed", "twice")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", default="", help=f"verdicts to print, of {', '.join(VERDICTS)}")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    torch.set_num_threads(1)
    groups = {
        "module_db": modules.cases(EVERY),
        "modules that it lacks": modules.LACKING,
        "error inputs": modules.error_cases(),
        "constructors that torch refuses": modules.MISUSE,
        "constructors that it accepts": modules.ACCEPTED,
    }
    rows = {}
    for name, cases in groups.items():
        with tempfile.TemporaryDirectory() as folder:
            outcomes = module_programs.examine(cases, Path(folder))
        rows[name] = {"cases": len(outcomes), **Counter(o.verdict for o in outcomes)}
        for outcome in outcomes:
            if outcome.verdict in options.show.split(","):
                print(outcome, end="\n\n")
    if options.json:
        print(json.dumps({"torch": torch.__version__, "rows": rows}))
        return
    columns = ("cases", *VERDICTS)
    width = max(map(len, rows))
    print(" " * width, *columns, sep="  ")
    for name, row in rows.items():
        print(name.ljust(width), *(str(row.get(c, 0)).rjust(len(c)) for c in columns), sep="  ")


if __name__ == "__main__":
    main()
