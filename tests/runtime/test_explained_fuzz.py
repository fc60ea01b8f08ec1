"""Whatever fails, its explanation neither fails, nor hides what torch said, nor changes what an ``except`` catches.

Here two thousand random failures; ``python tests/runtime/failures.py`` examines 100,000.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def failures() -> ModuleType:
    spec = util.spec_from_file_location("failures", Path(__file__).parent / "failures.py")
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    sys.modules["failures"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def programs(failures: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> list[Callable[..., object]]:
    return failures.programs(tmp_path_factory.mktemp("programs"))


@pytest.mark.parametrize("seed", range(2))
def test_random_failures(failures: ModuleType, programs, seed: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SIMPLETORCH_DEBUG", "1")
    seen = failures.failures(1000, seed, programs)
    assert seen["ShapeMismatch"] > 100
    assert seen["DTypeMismatch"] > 50
    assert seen["DeviceMismatch"] > 3
