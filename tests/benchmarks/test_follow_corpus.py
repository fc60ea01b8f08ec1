"""The corpus of `benchmarks/follow`: its programs run, and torch's verdicts on their mutants are those in the store."""

from pathlib import Path

import corpus
import pytest
from mutate import mutants
from verdicts import COUNT, HARMLESS, Verdicts

PROGRAMS = corpus.programs()


def test_the_store_knows_every_mutant():
    known = Verdicts().known
    missing = [p.name for p in PROGRAMS if any(m.program.key not in known for m in mutants(p, COUNT))]
    assert not missing, "python benchmarks/follow/verdicts.py"


@pytest.mark.slow
def test_every_program_runs_to_its_end(tmp_path: Path):
    verdicts = Verdicts(tmp_path / "store.json")
    verdicts.learn(PROGRAMS)
    assert {p.name: verdicts[p].error for p in PROGRAMS if verdicts[p].kind != HARMLESS} == {}
