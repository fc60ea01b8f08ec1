"""An answer that is kept is the one of a fresh follow, whatever was edited in between."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simpletorch.follow import follow
from simpletorch.follow.cache.kept import Question
from simpletorch.follow.cache.told import Told
from simpletorch.follow.sources import syntax
from tests.marks import thorough

MAIN = """\
import glob, os, sys
import numpy as np, pandas as pd, torch
from torch import nn
from net import Net, width
import pkg.sub
from pkg.sub import depth
try:
    import extra
    size = extra.size
except ImportError:
    size = 2
try:
    from folder import inner
    size += inner.more
except ImportError:
    pass

data = torch.from_numpy(np.load("data/x.npy"))
y = nn.Linear(width, size)(data)
names = torch.zeros(len(os.listdir("data/images")), 3)
found = torch.zeros(len(glob.glob("data/*.npy")), 7)
number = torch.zeros(int(open("data/n.txt").read()), depth)
table = torch.tensor(pd.read_csv("data/t.csv").values)
z = Net()(data) @ torch.zeros(11, len(sys.argv))
w = pkg.sub.made(names)
other = torch.from_numpy(np.load("../elsewhere.npy"))
"""
NETS = tuple(
    f"""\
import torch
from torch import nn
width = {width}
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear({inside}, 11)
    def forward(self, x):
        return self.fc(x){end}
"""
    for width, inside, end in ((3, 3, ""), (5, 5, ""), (5, 3, ""), (3, 5, "  # type: ignore"), (3, 3, " +"))
)
SUBS = (
    "depth = 3\ndef made(x): return x.T\n",
    "depth = 5\ndef made(x): return x @ x\n",
    "from .deep import depth\ndef made(x): return x\n",
    "raise RuntimeError('no')\n",
)
TEXTS: dict[str, tuple[str, ...]] = {
    "net.py": NETS,
    "pkg/__init__.py": ("", "import net\n", "from pkg.sub import depth\n"),
    "pkg/sub.py": SUBS,
    "pkg/deep.py": ("depth = 7\n", "depth = 9\n"),
    "extra.py": ("size = 13\n", "size = 17\n", "size =\n"),
    "extra/__init__.py": ("size = 19\n",),
    "folder/inner.py": ("more = 1\n", "more = 4\n"),
    "folder/note.txt": ("text\n",),
    "data/n.txt": ("3", "5", "words"),
    "data/t.csv": ("a,b\n1.5,2\n", "a,b\n1.5,2\n3,4.5\n", "a,b,c\n1.5,2,3\n"),
    "data/images/1.png": ("1",),
    "data/images/2.png": ("2",),
    "glob.py": ("def glob(pattern): return 'abcde'\n",),
    "setup.cfg": ("",),
    "__init__.py": ("",),
}
ARRAYS = ((7, 3), (7, 5), (5, 3))
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"data": False},
    {"kind": "library"},
    {"steps": 30},
    {"severities": {"tensor-size": "warning"}},
    {"arguments": ("--n", "3", "data")},
)


class Project:
    """A folder that is edited."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.folder, self.chance = folder, chance
        (folder / "main.py").write_text(MAIN)
        for name in ("net.py", "pkg/__init__.py", "pkg/sub.py", "data/n.txt", "data/t.csv", "data/images/1.png"):
            self.write(name, TEXTS[name][0])
        self.array("data/x.npy")
        self.options = OPTIONS[0]

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def array(self, name: str) -> None:
        np.save(self.folder / name, np.zeros(self.chance.choice(ARRAYS), np.float32))

    def edit(self) -> None:
        """Change something, with luck to what it was before."""
        texts, files = (self.text, self.remove), (self.data, self.link, self.mark_project)
        edits: tuple[Callable[[], None], ...] = (*texts, *texts, *files, self.choose)
        self.chance.choice(edits)()

    def text(self) -> None:
        name = self.chance.choice(list(TEXTS))
        self.write(name, self.chance.choice(TEXTS[name]))

    def remove(self) -> None:
        path = self.folder / self.chance.choice([*TEXTS, "pkg", "extra", "folder", "data/images", "data/x.npy"])
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)

    def data(self) -> None:
        (self.folder / "data").mkdir(exist_ok=True)
        self.array(self.chance.choice(("data/x.npy", "data/y.npy")))

    def link(self) -> None:
        """The array is a link to one of two others, of which one lies outside of the project."""
        (self.folder / "data").mkdir(exist_ok=True)
        link, target = self.folder / "data/x.npy", self.chance.choice(("other.npy", "../elsewhere.npy"))
        self.array(target)
        link.unlink(missing_ok=True)
        link.symlink_to(self.folder / target)

    def mark_project(self) -> None:
        """The project begins in this folder, or in the one around it: data may be read from there."""
        for folder in (self.folder, self.folder.parent):
            (folder / "pyproject.toml").unlink(missing_ok=True)
        self.write(self.chance.choice(("pyproject.toml", "../pyproject.toml")), "")

    def choose(self) -> None:
        self.options = self.chance.choice(OPTIONS)

    def fresh(self) -> Told:
        syntax._trees.clear()  # what is kept in memory is no part of this
        options = {**self.options}
        return Told.of(follow("main.py", options.pop("arguments", ()), **options))

    def question(self) -> Question:
        options = {**self.options}
        return Question("main.py", options.pop("arguments", ()), uses_cache=True, **options)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SIMPLETORCH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.parametrize("seed", [0, *thorough(range(1, 11))])
def test_a_hundred_sequences_of_edits(seed, tmp_path, cache, monkeypatch):
    chance = random.Random(seed)
    asked, kept, told = 0, 0, set[str]()
    for number in range(100):
        folder = tmp_path / str(number % 7)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        monkeypatch.chdir(folder)
        project = Project(folder, chance)
        for step in range(3):
            if step:
                project.edit()
            answer, fresh = project.question().kept(), project.fresh()
            asked, kept = asked + 1, kept + (answer is not None)
            told.add(repr(fresh))
            assert answer in (None, fresh), f"sequence {number}, edit {step}: {sorted(os.walk('.'))}"
            assert project.question().told() == fresh
    assert kept > asked / 10  # of projects that were like this before, and after edits that the program doesn't see
    assert len(told) > asked / 4
