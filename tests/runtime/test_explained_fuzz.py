"""Whatever fails, its explanation neither fails, nor hides what torch said, nor changes what an ``except`` catches.

Here a few thousand random failures; ``python tests/runtime/failures.py`` examines 100,000.
"""

from __future__ import annotations

import sys
from importlib import util
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def failures():
    spec = util.spec_from_file_location("failures", Path(__file__).parent / "failures.py")
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    sys.modules["failures"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", range(3))
def test_random_failures(failures, seed: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("SIMPLETORCH_DEBUG", "1")
    seen = failures.failures(1000, seed, tmp_path)
    assert seen["ShapeMismatch"] > 200
    assert seen["DTypeMismatch"] > 50
    assert seen["DeviceMismatch"] > 3
