"""Seeds that make the rounds of a training alike, and programs that look alike."""

from __future__ import annotations

import pytest
import torch
from scripts import Scripts

HEAD = """import argparse
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset
SEED = 3
data = TensorDataset(torch.randn(33, 5), torch.randint(0, 7, (33,)))
"""
SCRIPTS = Scripts(HEAD)
LOADER = """
loader = DataLoader(data, batch_size=11, shuffle=True)
"""
SCRIPT = f"""{LOADER}
model = nn.Sequential(nn.Linear(5, 11), nn.ReLU(), nn.Dropout(0.5), nn.Linear(11, 7))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
BEFORE
for epoch in range(3):
    EPOCH
    for x, y in loader:
        BATCH
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
    AFTER
"""


def script(epoch="pass", batch="pass", before="pass", after="pass"):
    out = SCRIPT
    for name, text in {"EPOCH": epoch, "BATCH": batch, "BEFORE": before, "AFTER": after}.items():
        out = out.replace(name, text)
    return out


FUNCTIONS = f"""{LOADER}
def train(model, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()

def make():
    model = nn.Linear(5, 7)
    return model, torch.optim.Adam(model.parameters())
"""
WRONG = {
    "each epoch": script("torch.manual_seed(0)"),
    "a constant": script("torch.manual_seed(SEED)"),
    "each batch": script(batch="torch.manual_seed(0)"),
    "behind the batches": script(after="torch.manual_seed(42)"),
    "by its other name": script("torch.random.manual_seed(0)"),
    "a sum that stays": script("torch.manual_seed(SEED + 1)"),
    "of the command line": script(
        "torch.manual_seed(args.seed)",
        before="parser = argparse.ArgumentParser()\nparser.add_argument('--seed', type=int, default=5)\n"
        "args = parser.parse_args([])",
    ),
    "dropout alone": script("torch.manual_seed(0)").replace(", shuffle=True", ""),
    "with functions": FUNCTIONS
    + "model, optimizer = make()\nfor epoch in range(3):\n    torch.manual_seed(0)\n    train(model, optimizer)\n",
    "while": FUNCTIONS
    + "model, optimizer = make()\nepoch = 0\nwhile epoch < 3:\n    torch.manual_seed(0)\n    train(model, optimizer)\n"
    "    epoch += 1\n",
    "in a class": FUNCTIONS
    + """
class Trainer:
    def __init__(self):
        self.model, self.optimizer = make()
    def fit(self, epochs):
        for epoch in range(epochs):
            torch.manual_seed(0)
            train(self.model, self.optimizer)
Trainer().fit(3)
""",
}
RIGHT = {
    "before the loop": script(before="torch.manual_seed(0)"),
    "another in each epoch": script("torch.manual_seed(epoch)"),
    "another one each time": script("torch.manual_seed(SEED + epoch)"),
    "models that are compared": FUNCTIONS
    + "for rate in (0.1, 0.01):\n    torch.manual_seed(0)\n    model, optimizer = make()\n"
    "    train(model, optimizer)\n",
    "models of several sizes": "for width in (11, 13):\n    torch.manual_seed(0)"
    + script().replace("11)", "width)").replace("nn.Linear(11", "nn.Linear(width").replace("\n", "\n    ")
    + "\n",
    "a fork": script("with torch.random.fork_rng():\n        torch.manual_seed(0)\n        print(torch.randn(3))"),
    "a state that is put back": script(
        after="state = torch.get_rng_state(); torch.manual_seed(0); print(torch.rand(2)); torch.set_rng_state(state)"
    ),
    "a generator of its own": script("g = torch.Generator(); g.manual_seed(0); print(torch.randn(3, generator=g))"),
    "an evaluation": script(
        before="def evaluate():\n    torch.manual_seed(0)\n    return torch.randn(3)", after="print(evaluate())"
    ),
    "once": script("if epoch == 0:\n        torch.manual_seed(0)"),
    "nothing by chance": script("torch.manual_seed(0)").replace(", shuffle=True", "").replace("nn.Dropout(0.5), ", ""),
    "a loop that doesn't train": script(
        after="for i in range(2):\n        torch.manual_seed(0)\n        print(torch.rand(2))"
    ),
}


def seeds(source: str, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The seeds that a program sets in torch's generator."""
    found: list[int] = []
    seed = torch.manual_seed
    with monkeypatch.context() as patch:
        for owner in (torch, torch.random):
            patch.setattr(owner, "manual_seed", lambda n: (found.append(n), seed(n))[1])
        SCRIPTS.run(source)
    return found


@pytest.mark.parametrize("source", WRONG.values(), ids=WRONG)
def test_the_same_seed_in_each_round_is_found(source, tmp_path, monkeypatch):
    found = seeds(source, monkeypatch)
    assert len(found) > 1
    assert len({*found}) == 1
    (warning,) = SCRIPTS.said(source, tmp_path).warnings
    assert (warning.code, warning.hint) == ("tensor-training", "set it once, before the loop")
    alike = "so every iteration shuffles and drops out alike"
    assert warning.message == f"the seed {found[0]} is set in each iteration, {alike}"


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT)
def test_what_is_meant_is_left_alone(source, tmp_path, monkeypatch):
    seeds(source, monkeypatch)
    assert SCRIPTS.said(source, tmp_path).warnings == ()
