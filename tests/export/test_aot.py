"""Packages of AOTInductor."""

from __future__ import annotations

import shutil

import pytest
import torch

from simpletorch import export
from simpletorch.errors import ShapeMismatch
from tests.export.models import MLP


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="AOTInductor compiles C++")
def test_a_package_is_compared_written_and_read(tmp_path):
    model = MLP().eval()
    run = export.aot(model, tmp_path / "net.pt2")
    assert run.report.difference <= 1e-5
    again = export.load(tmp_path / "net.pt2")
    x = torch.randn(17, 11)
    torch.testing.assert_close(again(x), model(x))
    with pytest.raises(ShapeMismatch, match="dim 1 of x is 7"):
        again(torch.randn(17, 7))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["net.pt2", "net.pt2.json"]
