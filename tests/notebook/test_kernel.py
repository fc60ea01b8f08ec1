"""The extension in a real kernel."""

from __future__ import annotations

import nbformat
import pytest
from jupyter_client.manager import start_new_kernel
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


def test_an_error_that_nobody_foretold_is_a_card_above_a_short_traceback(tmp_path):
    fails = "some = torch.rand(11, 7)\nsome = some[some[:, 0] > 0]\nsome @ torch.zeros(len(some), 5)"
    cells = [nbformat.v4.new_code_cell(s) for s in (BUILDS.format(mode="warn"), fails, "int('x')")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, allow_errors=True, resources={"metadata": {"path": str(tmp_path)}}).execute()
    card, error = notebook.cells[1].outputs
    assert card.data["text/plain"].startswith("ShapeMismatch: @: the inner dims differ: input has 7, other has 11")
    assert "Cell In[2]:3" in card.data["text/html"]
    assert error.ename == "RuntimeError"
    assert "torch/" not in "".join(error.traceback)
    (python,) = notebook.cells[2].outputs  # which is none of torch's
    assert python.ename == "ValueError"


# -- training ---------------------------------------------------------------------------------------------------------

MODEL = """
import torch
from torch import nn
from simpletorch import data, train
torch.manual_seed(3)
pairs = data.TensorDataset(torch.randn(35, 7), torch.randn(35, 3))
model = nn.Linear(7, 3)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
live = train.Live(every=0)
trainer = train.Trainer(loss=nn.functional.mse_loss, optimizer=optimizer, callbacks=[live], progress=False)
loader = data.DataLoader(pairs, 5)
"""


def test_a_training_shows_one_bar_and_one_curve():
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(s) for s in (MODEL, "history = trainer.fit(model, loader, epochs=3)")]
    )
    NotebookClient(notebook).execute()
    (shown,) = notebook.cells[1].outputs
    assert shown.output_type == "display_data"
    assert '<progress value="1.0000" max="1">' in shown.data["text/html"]
    assert shown.data["text/html"].count("<polyline") == 1
    assert f"[{'#' * 30}] 100% 21 updates" in shown.data["text/plain"]


@pytest.fixture
def kernel():
    manager, client = start_new_kernel(kernel_name="python3")
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def run(kernel, code: str, interrupt_at: int = 0) -> tuple[str, str]:
    """How a cell ends, and what it prints; it is interrupted when what it shows has changed so many times."""
    manager, client = kernel
    asked = client.execute(code)
    changes, printed = 0, ""
    while True:
        said = client.get_iopub_msg(timeout=120)
        if said["parent_header"].get("msg_id") != asked:
            continue
        if said["msg_type"] == "update_display_data":
            changes += 1
            assert not interrupt_at or changes < interrupt_at + 2000, "it goes on"
            if changes == interrupt_at:
                manager.interrupt_kernel()
        printed += said["content"].get("text", "") if said["msg_type"] == "stream" else ""
        if said["msg_type"] == "status" and said["content"]["execution_state"] == "idle":
            break
    while (reply := client.get_shell_msg(timeout=120))["parent_header"]["msg_id"] != asked:
        pass
    return reply["content"]["status"], printed


HANDLER = "import signal\nprint(signal.getsignal(signal.SIGINT))"
STEPS = "steps = {int(s['step']) for s in optimizer.state.values()}\nprint(len(steps), min(steps) >= 5)"
MORE = """
trainer.fit(model, loader, epochs=1)
print(int(optimizer.state[model.weight]["step"]) - min(steps))
"""


def test_the_stop_button_keeps_the_state_of_a_training(kernel):
    assert run(kernel, MODEL) == ("ok", "")
    before = run(kernel, HANDLER)
    status, _ = run(kernel, "history = trainer.fit(model, loader, epochs=10**9)", interrupt_at=5)
    assert status == "ok"
    assert run(kernel, STEPS) == ("ok", "1 True\n")  # each parameter has had the same updates
    assert run(kernel, MORE) == ("ok", "7\n")  # and goes on from there
    assert run(kernel, HANDLER) == before
