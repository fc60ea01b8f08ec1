"""Conditions that aren't known: both ways count, and what they leave remembers which one it was."""

from pathlib import Path

import pytest

from simpletorch.follow import follow

START = """
import json
import random
import torch
from torch import nn

flag = json.load(open("settings.json"))["flag"]
"""


def lines(source: str, folder: Path) -> list[int]:
    """The lines at which following a program finds an error, counted after the common start."""
    path = folder / "program.py"
    path.write_text(START + source)
    found = follow(path)
    assert not found.faults
    return [e.line - START.count("\n") for e in found.errors]


def test_two_conditions_on_one_value_go_together(tmp_path):
    source = """
class Net(nn.Module):
    def __init__(self, pool):
        super().__init__()
        self.pool = nn.Linear(7, 5) if pool else None
        self.head = nn.Linear(5 if pool else 7, 3)
        self.pools = pool

    def forward(self, x):
        if self.pools:
            x = self.pool(x)
        return self.head(x)

Net(flag)(torch.zeros(2, 7))
"""
    assert lines(source, tmp_path) == []


def test_what_fails_on_both_ways_is_an_error(tmp_path):
    assert lines("x = torch.zeros(2, 3 if flag else 5)\ny = x @ torch.zeros(7, 11)\n", tmp_path) == [2]


def test_what_fails_on_one_way_of_the_settings_is_none(tmp_path):
    assert lines("x = torch.zeros(2, 3)\nif flag:\n    x = x @ torch.zeros(7, 11)\n", tmp_path) == []


LIBRARY = "import somewhere\nx = torch.zeros(2, 3)\nenvironment = somewhere.make('Pong')\n"


def test_what_fails_where_a_library_is_asked_is_an_error(tmp_path):
    steps = "while not environment.steps() > 100:\n    x @ torch.zeros(7, 11)\n"
    assert lines(LIBRARY + steps, tmp_path) == [5]
    ends = "if somewhere.is_asked():\n    raise SystemExit\nx @ torch.zeros(7, 11)\n"
    assert lines(LIBRARY + ends, tmp_path) == [6]
    assert lines(LIBRARY + "if environment.count == len(flag):\n    x @ torch.zeros(7, 11)\n", tmp_path) == []


def test_a_class_that_fails_where_a_library_is_asked_is_none(tmp_path):
    """The library may know which class it has: ``if "torch" in somewhere.kind(x): x.numpy()``."""
    assert lines(LIBRARY + "x = [x]\nif environment.fast:\n    x = torch.relu(x)\n", tmp_path) == []


CORRELATED = (
    ("cfg = json.load(open('s.json'))", "cfg['pool']", "cfg.get('pool', False)"),
    ("", "os.environ.get('POOL') == '1'", "os.getenv('POOL') == '1'"),
    ("import somewhere", "somewhere.is_fast()", "somewhere.is_fast()"),
    ("import somewhere\ncfg = somewhere.load()", "cfg.name == 'a'", "not cfg.name != 'a'"),
    ("import somewhere\ncfg = somewhere.load()", "cfg.n > 3", "cfg.n >= 4"),
    ("import somewhere\ncfg = somewhere.load()", "cfg.name.startswith('res')", "cfg.name.startswith('res')"),
    ("import somewhere\ncfg = somewhere.load()", "isinstance(cfg, dict)", "isinstance(cfg, dict)"),
    ("import somewhere\ncfg = somewhere.load()", "cfg.a and cfg.b", "cfg.a and cfg.b"),
    ("", "os.path.exists('f.pt')", "Path('f.pt').exists()"),
    ("import re, somewhere", "re.match('res', somewhere.NAME)", "re.match('res', somewhere.NAME)"),
    ("lines = open('x.txt').readlines()", "len(lines) > 10", "len(lines) > 10"),
)


@pytest.mark.parametrize(("start", "first", "second"), CORRELATED, ids=[c[1] for c in CORRELATED])
def test_settings_that_go_together_are_no_error(start, first, second, tmp_path):
    source = f"""
import os
from pathlib import Path
{start}
w, v = torch.zeros(5), torch.zeros(5)
if {first}:
    w = torch.zeros(13)
if {second}:
    v = torch.zeros(13)
w + v
x = torch.zeros(2, 7)
if {first}:
    x = torch.zeros(2, 7, 11)
if {second}:
    x = x.permute(0, 2, 1)
"""
    assert lines(source, tmp_path) == []


def test_what_fails_by_chance_is_an_error(tmp_path):
    assert lines("x = torch.zeros(2, 3)\nif random.random() < 0.5:\n    x = x @ torch.zeros(7, 11)\n", tmp_path) == [3]


def test_a_guard_that_raises_is_remembered(tmp_path):
    source = """
x = torch.zeros(2, 3 if flag else 5)
if not flag:
    raise ValueError
y = x @ torch.zeros(5, 7)
"""
    assert lines(source, tmp_path) == [5]


def test_changes_of_one_way_are_taken_back_for_the_other(tmp_path):
    source = """
sizes = [3]
def widen():
    sizes.append(5)
    return sizes[-1]
if flag:
    n = widen()
else:
    n = sizes[-1]
x = torch.zeros(2, n) @ torch.zeros(3, 7)
m = len(sizes)
"""
    assert lines(source, tmp_path) == []


@pytest.mark.parametrize("end", ["return None", "raise ValueError"])
def test_a_way_that_leaves_the_function_doesn_t_count_afterwards(end, tmp_path):
    source = f"""
def f(x):
    if flag:
        x = x.flatten()
        {end}
    return x @ torch.zeros(3, 7)
f(torch.zeros(2, 3))
"""
    assert lines(source, tmp_path) == []


def test_what_somebody_catches_is_no_error(tmp_path):
    source = """
try:
    x = torch.zeros(2, 3) @ torch.zeros(5, 7)
except RuntimeError:
    x = torch.zeros(11)
y = x @ torch.zeros(13)
"""
    assert lines(source, tmp_path) == [6]


FILLED = """
def forward(x, counts):
    if counts.max() == 0:
        return x.mean(1)
    return torch.cat([x[b, : counts[b]].mean(0, keepdim=True) for b in range(x.shape[0])])

x = torch.rand(2, 5, 7)
print(forward(x, torch.tensor([3, 2])).shape)
print(forward(x, COUNTS).shape)
"""


@pytest.mark.parametrize("counts", ["torch.zeros(1).long()", "torch.zeros(1).type(x.type()).long()"])
def test_what_the_program_fills_a_tensor_with_decides_with_it(counts, tmp_path):
    """A condition on data may hold or not; one on numbers that the program itself wrote goes together with them."""
    assert lines(FILLED.replace("COUNTS", counts), tmp_path) == []


@pytest.mark.parametrize("counts", ["torch.randint(0, 3, (1,))", "torch.zeros(1).uniform_().long()"])
def test_a_condition_on_data_may_hold_or_not(counts, tmp_path):
    assert lines(FILLED.replace("COUNTS", counts), tmp_path) == [5]


# -- mistakes inside ``try`` -------------------------------------------------------------------------------------------

TRAINING = """
import logging
import sys
import traceback
net = nn.Sequential(nn.Linear(5, 7), nn.ReLU(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), 0.1)
def train():
    for epoch in range(3):
        loss = net(torch.randn(11, 5)).mean()
        loss.backward()
        opt.step()
try:
    train()
"""
TOLD = {
    "only its message": "except Exception as e:\n    print(e)\n",
    "an exit": "except Exception as e:\n    logging.error(e)\n    sys.exit(1)\n",
    "raised again": "except Exception:\n    traceback.print_exc()\n    raise\n",
    "raised as another": "except Exception as e:\n    raise RuntimeError('training failed') from e\n",
    "out of memory": "except RuntimeError as e:\n    if 'out of memory' in str(e):\n        print('smaller batches')\n"
    "    else:\n        raise e\n",
    "passed on": "finally:\n    print('saved')\n",
    "another class": "except KeyboardInterrupt:\n    print('stopped')\n",
}


@pytest.mark.parametrize("handler", TOLD.values(), ids=TOLD.keys())
def test_a_training_that_surely_fails_is_an_error_inside_try(handler, tmp_path):
    assert lines(TRAINING + handler, tmp_path) == [9]


def test_a_step_that_surely_fails_in_each_round_is_an_error(tmp_path):
    source = """
net = nn.Linear(5, 7)
opt = torch.optim.SGD(net.parameters(), 0.1)
for epoch in range(3):
    try:
        loss = net(torch.randn(11, 3)).mean()
        loss.backward()
        opt.step()
    except Exception as e:
        print("skipped", e)
        continue
"""
    assert lines(source, tmp_path) == [6]


UNTOLD = {
    "a demonstration": "try:\n    nn.Linear(3, 5)(torch.zeros(2, 7))\nexcept Exception as e:\n    print('see:', e)\n",
    "one of several classes": "try:\n    nn.Linear(3, 5)(torch.zeros(2, 7))\nexcept RuntimeError:\n    pass\n",
    "another way": "try:\n    y = nn.Linear(3, 5)(torch.zeros(2, 7))\nexcept Exception:\n    y = torch.zeros(2, 5)\n",
    "taken as another": """def check(x):
    try:
        return nn.Linear(3, 5)(x)
    except RuntimeError as e:
        raise ValueError("wrong") from e
try:
    check(torch.zeros(2, 7))
except ValueError as e:
    print("good:", e)
""",
    "a training with another way": TRAINING + "except Exception:\n    net = nn.Linear(5, 3)\n    train()\n",
    "a step on purpose": "w = torch.zeros(3, requires_grad=True)\ntry:\n    (w @ torch.zeros(5)).backward()\n"
    "except RuntimeError as e:\n    print(e)\n",
}


@pytest.mark.parametrize("source", UNTOLD.values(), ids=UNTOLD.keys())
def test_a_mistake_that_is_taken_is_no_error(source, tmp_path):
    assert lines(source, tmp_path) == []
