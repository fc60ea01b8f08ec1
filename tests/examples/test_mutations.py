"""Of the slips that break a port at run time, mypy sees nearly all, and says so where they are."""

from __future__ import annotations

import mutants
import pytest
import torch

pytestmark = pytest.mark.slow

CAUGHT = 0.91  # the share that was reached


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    found = mutants.examine(tmp_path_factory.mktemp("mutants"))
    torch.set_num_threads(before)
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
    far = [mutant for mutant in broken if mutant.errors and not mutant.is_near]
    assert not far, shown(far)
