"""torch as the oracle: every rule is asked what torch is asked, and the two answers are compared.

Run it from the root of the repository (``python -m tests.oracle --help``)::

    python -m tests.oracle --op torch.cat --show wrong,false_error,unknown
    python -m tests.oracle --family reduction --perturb --errors --show wrong,false_error,missed

The calls come from torch's own test inputs (op_db, `samples`); for what op_db lacks, from the table `by_hand`.
"""

from __future__ import annotations

from simpletorch.rules import RULES, infer
from tests.oracle.samples import DTYPES, error_inputs, perturbations, redraw, refill, samples
from tests.oracle.truth import exists, lift, lift_dtype, resolve, run_torch, show, tensors_in
from tests.oracle.verdict import VERDICTS, Call, Judgement, Verdict, compare, compare_dtypes, examine, judge

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
