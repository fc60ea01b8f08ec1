"""torch's own module inputs as ordinary Python through mypy: exact, no false error, and every misuse is one error."""

from __future__ import annotations

import pytest
import torch

from simpletorch.rules import MODULES
from tests.mypy import module_programs
from tests.oracle.modules import ACCEPTED, LACKING, MISUSE, cases, error_cases

# torch's annotations alone refuse these: GRUCell's and RNNCell's third argument is bias, not nonlinearity
TWICE = {"torch.nn.RNNCell", "torch.nn.GRUCell"}


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    found = {}
    drawn = {
        "module_db": cases(),
        "lacking": LACKING,
        "errors": error_cases(),
        "misuse": MISUSE,
        "accepted": ACCEPTED,
    }
    everything = [case for group in drawn.values() for case in group]
    judged = iter(module_programs.examine(everything, tmp_path_factory.mktemp("modules")))
    by_case = {id(o.case): o for o in judged}
    for name, group in drawn.items():
        found[name] = [by_case[id(case)] for case in group if id(case) in by_case]
    return found


def test_every_module_has_a_case():
    covered = {c.name for c in (*cases(), *LACKING)}
    # SyncBatchNorm runs on an accelerator only, and einops has no case here; tests/typing has both
    missing = {n for n in MODULES if n.startswith("torch.nn.")} - covered
    assert missing == {"torch.nn.SyncBatchNorm"}


def shown(outcomes):
    return "\n\n".join(map(str, outcomes[:20]))


@pytest.mark.parametrize("group", ["module_db", "lacking", "accepted"])
def test_nothing_is_wrong_and_nothing_sound_is_refused(outcomes, group):
    bad = [o for o in outcomes[group] if o.verdict not in ("exact", "partial", "unknown", "both_refuse")]
    assert not bad, shown(bad)


@pytest.mark.parametrize("group", ["module_db", "lacking"])
def test_nearly_everything_is_known_exactly(outcomes, group):
    rest = [o for o in outcomes[group] if o.verdict not in ("exact", "both_refuse")]
    assert len(rest) <= 0.02 * len(outcomes[group]), shown(rest)


def test_error_inputs_are_flagged(outcomes):
    missed = [o for o in outcomes["errors"] if o.verdict not in ("both_refuse", "twice")]
    assert len(missed) <= 0.1 * len(outcomes["errors"]), shown(missed)
    twice = [o for o in outcomes["errors"] if o.verdict == "twice" and o.case.name not in TWICE]
    assert not twice, shown(twice)


def test_every_constructor_misuse_is_one_error(outcomes):
    bad = [o for o in outcomes["misuse"] if o.verdict != "both_refuse"]
    assert not bad, shown(bad)
