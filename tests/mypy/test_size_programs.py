"""Random programs over tensors of any size: what mypy reveals is what torch gives, whatever the sizes are."""

from collections import Counter

import pytest
import torch

from tests.marks import thorough
from tests.mypy import size_programs

COUNT = 250


@pytest.fixture(scope="module", params=[11, *thorough([13])])
def findings(request, tmp_path_factory):
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    found = size_programs.examine(size_programs.programs(COUNT, request.param), tmp_path_factory.mktemp("symbolic"))
    torch.set_num_threads(before)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("verdict", ["wrong", "false error", "unreadable"])
def test_nothing_is_wrong_for_any_size(findings, verdict):
    bad = [f for f in findings if f.verdict == verdict]
    assert not bad, f"{len(bad)} of {len(findings)}\n" + "\n\n".join(map(str, bad[:10]))


@pytest.mark.slow
def test_most_is_known(findings):
    counts = Counter(f.verdict for f in findings)
    assert len(findings) >= 5 * COUNT
    assert counts["exact"] / len(findings) > 0.9, counts
