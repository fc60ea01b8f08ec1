"""``%load_ext simpletorch``: cells are followed before they run, shown, and stopped where the user wants that."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

from simpletorch.notebook import _following, load_ipython_extension, unload_ipython_extension
from simpletorch.notebook._extension import CellStopped
from simpletorch.notebook._following import follow_cell

MODEL = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(7, 11)
        self.head = nn.Linear(11, 3)

    def forward(self, x):
        return self.head(self.body(x))

net = Net()
"""
FAILS = """
open({path!r}, "w").close()
y = net(torch.zeros(5, 13))
"""


@contextmanager
def shell_in(folder: Path) -> Iterator[InteractiveShell]:
    """A shell that keeps its files in a folder, and leaves nothing behind."""
    made = InteractiveShell(ipython_dir=str(folder / "ipython"))
    made.history_manager.enabled = False
    made.colors = "nocolor"
    load_ipython_extension(made)
    try:
        yield made
    finally:
        unload_ipython_extension(made)
        made.restore_sys_module_state()


def run(shell: InteractiveShell, source: str):
    """Run a cell as a frontend does."""
    return shell.run_cell(textwrap.dedent(source), store_history=True)


@pytest.fixture
def shell(tmp_path):
    with shell_in(tmp_path) as made:
        run(made, MODEL)
        yield made


def test_a_cell_that_must_fail_is_not_run(shell, tmp_path, capsys):
    run(shell, "%simpletorch stop")
    done = run(shell, FAILS.format(path=str(tmp_path / "made")))
    assert isinstance(done.error_before_exec, CellStopped)
    assert not (tmp_path / "made").exists()
    shown = capsys.readouterr().out
    assert "simpletorch: error: the cell was not run  [tensor-shape]\nCell In[3], line 2\n" in shown
    assert "Cell In[1], line 11\n----> 11         return self.head(self.body(x))\n" in shown
    assert "the last dim of input is 13, but the layer takes 7 features [input: Float32[5, 13]]" in shown
    assert "hint: Linear(13, 11) would fit" in shown
    assert "Traceback" not in shown


def test_by_default_the_error_is_shown_and_the_cell_runs(shell, tmp_path, capsys):
    done = run(shell, FAILS.format(path=str(tmp_path / "made")))
    assert isinstance(done.error_in_exec, RuntimeError)
    assert (tmp_path / "made").exists()
    shown = capsys.readouterr().out
    assert shown.index("the cell fails here") < shown.index("Traceback")


def test_off(shell, capsys):
    run(shell, "%simpletorch off")
    run(shell, "y = net(torch.zeros(5, 13))")
    assert "simpletorch" not in capsys.readouterr().out


def test_what_is_right_is_left_alone(shell, capsys):
    run(shell, "%simpletorch stop")
    assert run(shell, "y = net(torch.zeros(5, 7))").success
    assert capsys.readouterr().out == ""


def test_a_model_that_is_changed_in_a_cell_is_known_in_the_next(shell):
    run(shell, "%simpletorch stop")
    assert run(shell, "net.head = nn.Linear(13, 3)").success
    assert "Linear(13, 3)" in str(run(shell, "net(torch.zeros(5, 7))").error_before_exec)
    assert run(shell, "net.body = nn.Linear(7, 13)\ny = net(torch.zeros(5, 7))").success


def test_a_class_that_is_defined_anew(shell):
    run(shell, "%simpletorch stop")
    old = MODEL.replace("self.head(self.body(x))", "self.body(x) @ x")
    assert "@: the inner dims differ" in str(run(shell, old + "net(torch.zeros(5, 7))").error_before_exec)
    assert run(shell, "net(torch.zeros(5, 7))").success


@pytest.mark.parametrize(
    "source",
    [
        "%%time\nx = torch.zeros(5, 13)\nnet(x)",
        "import asyncio\nawait asyncio.sleep(0)\nnet(torch.zeros(5, 13))",
        "!true\nnet(torch.zeros(5, 13))",
        "%time net(torch.zeros(5, 13))",
        "%%shapes\nnet(torch.zeros(5, 13))",
    ],
)
def test_cells_with_magics_and_await_are_stopped(shell, source):
    run(shell, "%simpletorch stop")
    assert isinstance(run(shell, source).error_before_exec, CellStopped)


def test_a_mistake_in_what_nobody_calls_is_shown_and_stops_nothing(shell, capsys):
    run(shell, "%simpletorch stop")
    source = "def f():\n    return torch.zeros(3, 5) @ torch.zeros(7, 11)"
    assert run(shell, source).success
    assert "@: the inner dims differ" in capsys.readouterr().out


def test_what_is_no_python_is_ipython_s(shell, capsys):
    run(shell, "x = = 3")
    assert "SyntaxError" in capsys.readouterr().out


def test_the_cell_with_its_shapes(shell, capsys):
    assert run(shell, "%%shapes\nx = torch.zeros(5, 7)\ny = net(x)\ny.shape").success
    assert capsys.readouterr().out.startswith(
        "x = torch.zeros(5, 7)  # x: Float32[5, 7]\n"
        "y = net(x)             # y: Float32[5, 3]\n"
        "y.shape\n"
        "Out[2]: torch.Size([5, 3])"
    )


def test_the_shapes_of_a_cell_with_await(shell):
    assert run(shell, "%%shapes\nimport asyncio\nawait asyncio.sleep(0)\nz = 3").success
    assert shell.user_ns["z"] == 3


@pytest.mark.parametrize(
    ("asked", "given"), [("net 5 7", "Float32[5, 7]"), ("net x", "Float32[2, 7]"), ("net", "Tensor[..., 7]")]
)
def test_the_way_of_a_batch(shell, capsys, asked, given):
    run(shell, "x = torch.zeros(2, 7)")
    run(shell, f"%shapes {asked}")
    rows = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert [row.partition("(")[0].partition(" →")[0] for row in rows[:2]] == ["body Linear", "head Linear"]
    assert rows[2].startswith(f"net Net {given} → ")


def test_a_batch_that_does_not_fit(shell, capsys):
    run(shell, "%shapes net 5 13")
    assert "the last dim of input is 13, but the layer takes 7" in capsys.readouterr().out


@pytest.mark.parametrize("line", ["%simpletorch halt", "%shapes", "%shapes torch", "%shapes net f(3)"])
def test_wrong_use(shell, capsys, line):
    run(shell, line)
    captured = capsys.readouterr()
    assert "UsageError" in captured.out + captured.err


def test_the_mode_is_told(shell, capsys):
    run(shell, "%simpletorch stop")
    run(shell, "%simpletorch")
    assert capsys.readouterr().out == "simpletorch: stop\n"


def test_only_what_ends_a_line_of_python_counts_lines(shell, capsys):
    run(shell, "%%shapes\ns = '\u2028'\nnet.head(torch.zeros(5, 13))\nx = torch.zeros(3)")
    shown = capsys.readouterr().out
    assert "----> 3 net.head(torch.zeros(5, 13))" in shown
    assert "x = torch.zeros(3)            # x: Float32[3]" in shown


def test_a_card_as_html(shell):
    from simpletorch.notebook._card import card_of
    from simpletorch.notebook._following import follow_cell

    source = 'y = net(torch.zeros(5, 13))  # "<b>"'
    seen = follow_cell(source, shell.user_ns, "Cell In[2]")
    page = card_of(seen.stops, "", lambda name: source if name == "Cell In[2]" else "")._repr_html_()
    assert "&lt;b&gt;" in page
    assert '"<b>"' not in page
    assert "would fit" in page
    assert "color:inherit" in page


def test_unloading_leaves_the_shell_as_it_was(tmp_path, capsys):
    def registered(shell: InteractiveShell):
        return (
            len(shell.ast_transformers),
            len(shell.input_transformers_cleanup),
            sum(map(len, shell.events.callbacks.values())),
            sorted(shell.magics_manager.magics["line"]),
        )

    made = InteractiveShell(ipython_dir=str(tmp_path))
    before = registered(made)
    with shell_in(tmp_path):
        pass
    made.run_line_magic("load_ext", "simpletorch")
    assert registered(made) != before
    made.run_line_magic("unload_ext", "simpletorch")
    assert registered(made) == before


FIRST_CELLS = (
    """
import sys
import torch
from torch import nn
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "simpletorch")
model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(72, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
from simpletorch.notebook._following import follow_cell
before = set(sys.modules)
text = """
    + repr("""
for x, y in [(torch.randn(7, 3, 5, 5), torch.zeros(7, dtype=torch.long))]:
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    print((model(x).argmax(1) == y).float().mean().item())
""")
    + """
assert not follow_cell(text, globals(), "Cell In[1]").followed.errors
print(sorted(m for m in set(sys.modules) - before if m.startswith("simpletorch.")))
"""
)


def test_the_first_cell_waits_for_no_table(tmp_path):
    done = subprocess.run([sys.executable, "-c", FIRST_CELLS], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_what_is_followed_to_read_the_tables_is_a_right_cell():
    found = follow_cell(_following._FIRST, {}, "").followed
    assert (found.errors, found.warnings, found.faults, found.complete) == ((), (), (), True)


def test_the_package_has_the_functions_that_ipython_asks_for():
    code = (
        "import sys, simpletorch; assert callable(simpletorch.load_ipython_extension);"
        "assert not {'IPython', 'torch', 'simpletorch.follow'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_right_cells_are_left_alone(tmp_path, capsys):
    """A long notebook of all kinds of values: each cell runs, and nothing is said of it."""
    cells = Path(__file__).with_name("right_cells.txt").read_text().split("# %%\n")
    with shell_in(tmp_path) as shell:
        run(shell, "%simpletorch stop")
        for cell in cells:
            assert run(shell, cell).success, cell
            assert "simpletorch:" not in capsys.readouterr().out, cell
