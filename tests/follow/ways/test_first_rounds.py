"""The first round of a loop of unknown length: what counts the rounds is known there, and nothing is left by others."""

from pathlib import Path

import pytest

from simpletorch.follow import follow

BODY = "        prev @ torch.zeros(3, 5)\n    prev = x\n"
START = """import json
import torch
from torch import nn
from torch.utils.data import DataLoader
rows = json.load(open("rows.json"))
class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return len(rows)
    def __getitem__(self, i):
        return torch.zeros(3), 1
loader = DataLoader(Rows(), batch_size=2)
n = len(rows)
prev = None
layers = nn.ModuleList([nn.Linear(3, 3)])
x = torch.zeros(2, 3)
"""


def lines(source: str, folder: Path) -> list[int]:
    """The lines at which following a program finds an error, counted after the common start."""
    path = folder / "program.py"
    path.write_text(START + source)
    found = follow(path)
    assert not found.faults
    return sorted({e.line - START.count("\n") for e in found.errors})


RIGHT = {
    "range": "for i in range(n):\n    if i > 0:\n" + BODY,
    "a later start": "for i in range(1, n):\n    if i > 1:\n" + BODY,
    "enumerate": "for i, row in enumerate(rows):\n    if i:\n" + BODY,
    "enumerate from 1": "for i, row in enumerate(rows, 1):\n    if i != 1:\n" + BODY,
    "batches": "for i, (data, y) in enumerate(loader):\n    if i > 0:\n        prev @ x.mT\n    prev = data\n",
    "pairs": "for i, row in zip(range(n), rows):\n    if not i == 0:\n" + BODY,
    "one or the other": "for i in range(n):\n    prev = prev @ torch.zeros(3, 3) if i else x\n",
    "a name for it": "for i in range(n):\n    first = i == 0\n    if not first:\n        prev @ x.mT\n    prev = x\n",
    "numbers of it": "for i in range(n):\n    if (i - 1) % 2 == 0:\n        prev @ x.mT\n    prev = x\n",
    "a list that grows": "for i in range(n):\n    if i:\n        layers[-2](x)\n    layers.append(nn.Linear(3, 3))\n",
    "inside a function": "def step(i, prev):\n    return x if i == 0 else prev @ torch.zeros(3, 3)\n"
    "for i in range(n):\n    prev = step(i, prev)\n",
    "a number that follows": "for i in range(n):\n    for k in range(n):\n        alpha = 1 - k / n if i else 0\n"
    "        if alpha > 0:\n            layers[-2](x)\n    layers.append(nn.Linear(3, 3))\n",
}


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT.keys())
def test_the_first_round_goes_its_own_way(source, tmp_path):
    assert lines(source, tmp_path) == []


WRONG = {
    "later rounds": ("for i in range(n):\n    if i > 0:\n        x @ torch.zeros(5, 7)\n", [3]),
    "some rounds": ("for i in range(n):\n    if i % 10 == 0:\n        x @ torch.zeros(5, 7)\n", [3]),
    "the first round": ("for i in range(n):\n    if i == 0:\n        x @ torch.zeros(5, 7)\n", [3]),
    "what the first leaves": ("for i in range(n):\n    if i:\n        prev @ torch.zeros(5, 7)\n    prev = x\n", [3]),
    "nothing is left": ("for i in range(n):\n    if i == 0:\n        prev @ torch.zeros(5, 7)\n    prev = x\n", [3]),
}


@pytest.mark.parametrize(("source", "found"), WRONG.values(), ids=WRONG.keys())
def test_each_round_is_followed(source, found, tmp_path):
    assert lines(source, tmp_path) == found
