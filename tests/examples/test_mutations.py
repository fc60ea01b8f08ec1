"""Of the slips that break a port at run time, mypy sees nearly all, and says so where they are."""

from __future__ import annotations

import pytest

from tests.examples import mutants

pytestmark = pytest.mark.slow

CAUGHT = 0.95
NEAR = 0.99


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    found = mutants.examine(tmp_path_factory.mktemp("mutants"))
    return [mutant for mutant in found if mutant.failure]


def shown(some):
    return "\n".join(map(str, some))


def test_each_port_has_ten(broken):
    for name in mutants.MUTATIONS:
        assert sum(mutant.name == name for mutant in broken) >= 10, name


def test_mypy_catches_them(broken):
    missed = [mutant for mutant in broken if not mutant.errors]
    assert 1 - len(missed) / len(broken) >= CAUGHT, shown(missed)


def test_mypy_says_so_where_they_are(broken):
    caught = [mutant for mutant in broken if mutant.errors]
    far = [mutant for mutant in caught if not mutant.is_near]
    assert 1 - len(far) / len(caught) >= NEAR, shown(far)


@pytest.mark.thorough  # tests/cli/test_check.py has three edits
def test_the_daemon_says_the_same_after_each_edit(broken, tmp_path):
    """What an editor sees: the slips are made and taken back one after the other, in one process of mypy."""
    edits = [mutant for mutant in broken if mutant.name in ("gpt", "lstm_tagger")]
    assert len(edits) > 15
    for mutant, said, after in mutants.check_in_daemon(edits, tmp_path):
        assert said == mutant.errors, mutant
        assert after == [], mutant
