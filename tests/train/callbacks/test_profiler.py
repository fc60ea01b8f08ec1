"""Where the time goes."""

import json
import warnings

from simpletorch.train import Profiler
from tests.train.callbacks.small_training import loader, net, trainer


def test_the_profiler_writes_a_trace_and_a_table(tmp_path):
    model, profiler = net(), Profiler(tmp_path / "profile", active=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's profiler warns of itself
        trainer(model, profiler).fit(model, loader(), epochs=2)
    trace = json.loads((tmp_path / "profile" / "trace.json").read_text())
    assert any("addmm" in str(event.get("name")) for event in trace["traceEvents"])
    assert "aten::addmm" in (tmp_path / "profile" / "operations.txt").read_text()
    assert "aten::addmm" in profiler.table
