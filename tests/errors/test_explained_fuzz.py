"""Whatever fails, its explanation neither fails, nor hides what torch said, nor changes what an ``except`` catches.

Here two thousand random failures; ``python tests/errors/failures.py`` examines 100,000.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.marks import thorough

from . import failures


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> list[Callable[..., object]]:
    return failures.programs(tmp_path_factory.mktemp("programs"))


@pytest.mark.parametrize("seed", [0, *thorough([1])])
def test_random_failures(programs, seed: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SIMPLETORCH_DEBUG", "1")
    seen = failures.failures(1000, seed, programs)
    assert seen["ShapeMismatch"] > 100
    assert seen["DTypeMismatch"] > 50
    assert seen["DeviceMismatch"] > 3
