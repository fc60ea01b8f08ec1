"""A typed module on ExecuTorch: the same numbers for every batch up to the largest, and an error beyond."""

from __future__ import annotations

import pytest
import torch
from executorch import exir, runtime

from simpletorch import export
from tests.interop.loops import Net

pytestmark = [pytest.mark.slow, pytest.mark.neighbour("executorch")]


def test_a_typed_module_runs_on_executorch(tmp_path):
    model, path = Net().eval(), tmp_path / "net.pte"
    program = export.program(model, dynamic={"B": (1, 31)}).program
    path.write_bytes(exir.to_edge_transform_and_lower(program).to_executorch().buffer)
    forward = runtime.Runtime.get().load_program(path).load_method("forward")
    for rows in (1, 7, 31):
        x = torch.randn(rows, 3)
        torch.testing.assert_close(forward.execute([x])[0], model(x))
    for wrong in (torch.zeros(32, 3), torch.zeros(7, 4)):
        with pytest.raises(RuntimeError, match="failed with error"):
            forward.execute([wrong])
