"""Kinds of words that were wrong in repositories without a test here, each with a program of ours."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from simpletorch.cli import main
from simpletorch.follow import Followed, follow

MISMATCH = "torch.zeros(3) @ torch.zeros(4)\n"
SOURCE = Path(__file__).parents[3] / "src"


def followed(folder: Path, text: str, **files: str) -> Followed:
    """What following says of a program, with files beside it."""
    for name, other in files.items():
        (folder / f"{name}.py").write_text(other)
    (folder / "program.py").write_text(text)
    found = follow(folder / "program.py")
    assert found.faults == ()
    return found


def seeming(found: Followed) -> list[str]:
    """What seems to raise."""
    return [name for _, _, name in found.not_followed if "seems to raise" in name]


@pytest.mark.parametrize(
    "start",
    [
        "from nowhere import *\n",
        "from nowhere.inside import *\nfrom here import *\n",
        "from here import *\nfrom nowhere import *\n",
        "try:\n    import tomllib\nexcept ImportError:\n    pass\nfrom nowhere import *\n",
    ],
)
def test_a_name_may_be_one_of_a_module_that_is_not_there(start, tmp_path):
    text = f"{start}def f(x, device=torch.device('cpu')):\n    return np.ones(x), helper(x)\nf(3)\n"
    assert seeming(followed(tmp_path, text, here="SIZE = 3\n")) == []


def test_a_name_is_none_of_a_module_that_is_there(tmp_path):
    text = "from here import *\ndef f(x=torch.device('cpu')):\n    return x\nf()\n"
    assert len(seeming(followed(tmp_path, text, here="SIZE = 3\n"))) == 1


@pytest.mark.parametrize("test", ["len(sizes) == 2", "sizes.count > 2", "sizes[0] == 3", "missing(sizes)"])
def test_an_assertion_that_cannot_be_asked_is_no_end(test, tmp_path):
    text = f'import torch\ndef f(x, sizes=None):\n    assert {test}, "two sizes"\n    {MISMATCH}f(3)\n'
    found = followed(tmp_path, text)
    assert (found.ended, [e.line for e in found.errors][-1]) == ("", 4)


def test_an_assertion_that_fails_is_an_end(tmp_path):
    found = followed(tmp_path, 'import torch\nsize = 3\nassert size == 4, "four"\n')
    assert found.ended.endswith('program.py:3, where AssertionError is raised ("four")')


@pytest.mark.parametrize(
    "bar",
    [
        "class Bar(tqdm.tqdm):\n    pass\n",
        "class Bar(tqdm.tqdm):\n    def __init__(self, rows):\n        super().__init__(iterable=rows, ascii=True)\n",
        "class Bar(tqdm.tqdm):\n    def __init__(self, rows, *, log=None, **more):\n        self.log = log\n"
        "        super(Bar, self).__init__(rows, **more)\n",
    ],
)
def test_a_progress_bar_of_the_programs_own(bar, tmp_path):
    text = f"import torch, tqdm\n{bar}for x in Bar([torch.zeros(3)]):\n    x @ torch.zeros(4)\n"
    found = followed(tmp_path, text)
    assert [e.line for e in found.errors] == [text.count("\n")]


def test_a_progress_bar_that_says_nothing_of_its_rows(tmp_path):
    text = "import torch, tqdm\nclass Bar(tqdm.tqdm):\n    def __init__(self, n):\n        self.n = n\n"
    text += "for x in Bar(3):\n    x @ torch.zeros(4)\nbar = tqdm.tqdm([1])\nbar.n + bar.total, bar.format_dict\n"
    found = followed(tmp_path, text)
    assert (found.errors, seeming(found)) == ((), [])


@pytest.mark.parametrize("given", ["", "None"])
def test_hydra_reads_its_files_where_no_configuration_is_given(given, tmp_path):
    (tmp_path / "config.yaml").write_text("size: 3\n")
    text = "import hydra, torch\n@hydra.main(version_base=None, config_path='.', config_name='config')\n"
    text += f"def main(cfg):\n    torch.zeros(cfg.size) @ torch.zeros(4)\nmain({given})\n"
    assert [e.line for e in followed(tmp_path, text).errors] == [4]


def test_an_index_beyond_a_list_is_said_once(tmp_path):
    text = "rows = [{'a': 1, 'b': 2}]\nfor i in range(3):\n    x = rows[i]['a']\n    y = rows[i]['b']\n"
    assert [e.line for e in followed(tmp_path, text).errors] == [3]


def test_a_program_that_exits_does_not_end_by_a_mistake(tmp_path):
    text = "import os, sys\nboard, on = None, bool(os.environ.get('X'))\ntry:\n    if on:\n        board.end()\n"
    text += "    sys.exit(0)\nexcept Exception:\n    if on:\n        board.end()\n    sys.exit(1)\nprint(3)\n"
    assert followed(tmp_path, text).ended.endswith("where the program exits")


LIGHTNING = """import pytorch_lightning as pl
import torch


class Data(pl.LightningDataModule):
    def setup(self, stage=None):
        self.rows = torch.zeros(8, 3)

    def train_dataloader(self):
        return torch.utils.data.DataLoader(self.rows, 2)


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 4)

    def on_train_batch_start(self, batch, batch_idx, dataloader_idx):
        pass

    def training_step(self, batch, batch_idx):
        return self.layer(batch).sum()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)


data = Data()
pl.Trainer(max_epochs=1).fit(Model(), datamodule=data)
data.lines  # fit has had it, and may have set this
Data().lines
"""


def test_what_lightning_raises_is_said_at_the_programs_line(tmp_path):
    found = followed(tmp_path, LIGHTNING)
    assert [(e.line, e.message) for e in found.errors] == [(31, "Data has no attribute 'lines'")]
    at = [(Path(path).name, line) for path, line, name in found.not_followed if "seems to raise" in name]
    assert at == [("program.py", 29)]


@pytest.mark.parametrize("here", ["os.path.dirname(os.path.abspath(__file__))", "os.path.dirname(__file__)"])
def test_a_file_has_one_name_however_it_is_found(here, tmp_path, monkeypatch, capsys):
    (tmp_path / "tools").mkdir()
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "part.py").write_text(f"import torch\ndef f():\n    {MISMATCH}")
    text = f"import os, sys\nsys.path.insert(0, os.path.join({here}, '..', 'lib'))\nfrom part import f\nf()\n"
    (tmp_path / "tools" / "program.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert main(["follow", "--no-cache", "-j", "1", "."]) == 1
    said = capsys.readouterr()
    shown = (said.out + said.err).replace(os.sep, "/")
    assert shown.count("error:") == 1
    assert "lib/part.py:3: error:" in shown
    assert f"{tmp_path.as_posix()}/" not in shown


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_program_may_have_the_name_of_a_module_of_pythons(jobs, tmp_path):
    for name in ("inspect", "random", "copy", "tokenize"):
        (tmp_path / f"{name}.py").write_text(f"import torch\n{MISMATCH}")
    environment = os.environ | {"PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-m", "simpletorch", "follow", "--no-cache", "-j", jobs, "."]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=100)
    assert "Found 4 errors in 4 files" in done.stdout + done.stderr


def test_what_a_step_takes_is_asked_of_each_model_that_it_may_be(tmp_path):
    one = LIGHTNING.replace(", dataloader_idx", "").replace("data.lines", "")
    other = "class Other(Model):\n    def training_step(self, batch):\n        return batch.sum()\n\n\ndata = Data()"
    chosen = "Model() if input() else Other()"
    text = one.replace("data = Data()", other).replace("Model(), datamodule", f"{chosen}, datamodule")
    assert seeming(followed(tmp_path, text)) == []
