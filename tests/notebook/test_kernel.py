"""The extension in a real kernel."""

from __future__ import annotations

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = pytest.mark.slow

BUILDS = "%load_ext simpletorch\n%simpletorch {mode}\nimport torch\nfrom torch import nn\nnet = nn.Linear(7, 3)"
CHANGES = "net = nn.Sequential(net, nn.Linear(5, 2))"
FAILS = "open('made', 'w').close()\nawait __import__('asyncio').sleep(0)\ny = net(torch.zeros(11, 7))"


def outputs_of(folder, mode: str):
    """The outputs of the last cell."""
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(s) for s in (BUILDS.format(mode=mode), CHANGES, FAILS)]
    )
    NotebookClient(notebook, allow_errors=True, resources={"metadata": {"path": str(folder)}}).execute()
    assert notebook.cells[0].outputs == notebook.cells[1].outputs == []
    return notebook.cells[2].outputs


def test_with_stop_the_cell_does_not_run(tmp_path):
    (error,) = outputs_of(tmp_path, "stop")
    assert not (tmp_path / "made").exists()
    assert error.output_type == "error"
    assert error.ename == "CellStopped"
    told = "\n".join(error.traceback)
    assert "Cell In[3], line 3" in told
    assert "the last dim of input is 3, but the layer takes 5 features [input: Float32[11, 3]]" in told


def test_with_warn_both_show(tmp_path):
    card, error = outputs_of(tmp_path, "warn")
    assert (tmp_path / "made").exists()
    assert "Cell In[3], line 3" in card.data["text/plain"]
    assert "would fit" in card.data["text/html"]
    assert error.ename == "RuntimeError"
