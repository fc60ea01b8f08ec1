"""What following takes is looked at while it is taken: long work counts as long, and nothing is done for ever."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from simpletorch.follow import Followed, follow
from simpletorch.follow.budget import Budget
from simpletorch.follow.outcomes import Exhausted
from simpletorch.follow.sources import syntax as programs

JOINED = """
import os
table = {i: [i] for i in range(3_000)}
for i in range(12):
    if os.environ.get(str(i)):
        for key in table:
            table[key] = [i]
"""
RECURSIVE = """
def plain(value):
    if isinstance(value, set):
        return plain(list(value))
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items() if plain(k)}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if hasattr(value, "inner"):
        return plain(value.inner)
    return value

def leaf(config):
    return plain(config["a"]), plain(config["b"])

leaf(open("config").read())
"""


def followed(source: str, folder: Path, **limits: float) -> Followed:
    """What following a program gives."""
    path = folder / "program.py"
    path.write_text(source)
    return follow(path, **limits)


def looks(source: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often following a program looks at the clock."""
    times = []
    look = Budget.look
    monkeypatch.setattr(Budget, "look", lambda budget: (times.append(1), look(budget)))
    assert followed(source, folder).faults == ()
    return len(times)


def test_joining_two_ways_counts_as_much_as_has_changed_on_them(tmp_path, monkeypatch):
    few = looks(JOINED.replace("3_000", "3"), tmp_path, monkeypatch)
    assert looks(JOINED, tmp_path, monkeypatch) > few + 12 * 3_000 / 100 / 4


def test_a_function_that_may_call_itself_again_and_again_is_soon_followed(tmp_path):
    found = followed(RECURSIVE, tmp_path, steps=20_000)
    assert found.complete


def test_a_recursion_over_other_objects_is_followed_to_its_end(tmp_path):
    source = """
import os, torch
from torch import nn

class Block(nn.Module):
    def __init__(self, inner, wide):
        super().__init__()
        self.inner, self.last = inner, nn.Linear(5, wide)

    def forward(self, x):
        if os.environ.get("A"):
            return self.last(x) if self.inner is None else self.inner(x)
        return self.last(x) if self.inner is None else self.inner(x)

block = Block(None, 7)
for _ in range(7):
    block = Block(block, 5)
y = block(torch.zeros(3, 5))
z = y @ torch.zeros(5, 11)
"""
    (error,) = followed(source, tmp_path).errors
    assert error.line == 19


def test_syntax_is_kept_while_a_file_is_as_it_was_and_not_of_all_files(tmp_path, monkeypatch):
    path = tmp_path / "one.py"
    path.write_text("x = 3\n")
    first = programs.parse(path)
    assert programs.parse(path) is first
    path.write_text("x = 3 + 4\n")
    assert programs.parse(path) is not first
    again = programs.parse(path)
    monkeypatch.setattr(programs, "_MOST_KEPT", 30)
    (tmp_path / "two.py").write_text("y = 5" + " + 7" * 6 + "\n")
    programs.parse(tmp_path / "two.py")
    assert programs.parse(path) is not again


def test_what_stays_is_not_gone_through_again_and_again(tmp_path):
    generations = []
    before = gc.get_threshold()
    gc.callbacks.append(watch := lambda phase, info: generations.append(info["generation"]))
    try:
        followed("xs = [[i] for i in range(5)]\n" + "ys = [list(x) for x in xs]\n" * 3_000, tmp_path)
    finally:
        gc.callbacks.remove(watch)
    assert 2 not in generations
    assert gc.get_threshold() == before


def test_less_time_can_be_given_and_never_more():
    budget = Budget(0)
    budget.take_at_most(100)
    with pytest.raises(Exhausted):
        budget.look()
    budget = Budget(100)
    budget.look()
    budget.take_at_most(0)
    with pytest.raises(Exhausted):
        budget.look()


def test_a_function_that_goes_through_folders_is_followed_to_its_end(tmp_path):
    (tmp_path / "program.py").write_text(
        "from pathlib import Path\n\ndef collect(path):\n    if path.is_file():\n        if path.suffix != '.py':\n"
        "            return []\n        return [path.stem]\n    found = []\n    for inner in path.iterdir():\n"
        "        found += collect(inner)\n    return found\n\n"
        "for path in Path('here').iterdir():\n    names = collect(path)\n"
    )
    found = follow(tmp_path / "program.py", steps=20_000)
    assert found.complete
    assert not found.faults


IN_TURNS = """
import torch
def turns():
    while True:
        yield torch.zeros(3)
        yield torch.zeros(7)
"""
AGAIN_AND_AGAIN = """
import random, torch
from torch.utils.data import DataLoader
def collate(rows):
    return torch.zeros(random.randint(2, 9)), torch.zeros(random.randint(2, 9))
def turns():
    while True:
        yield from DataLoader(list(range(97)), 5, shuffle=True, collate_fn=collate)
"""
USED = """
for kind in ("one", "other"):
    for step, batch in zip(range(3), turns()):
        pass
    x = torch.zeros(5) if kind == "one" else torch.zeros(3).view(7)
"""


@pytest.mark.parametrize("source", [IN_TURNS, AGAIN_AND_AGAIN], ids=["in turns", "again and again"])
def test_a_generator_without_an_end_is_followed_until_it_has_given_what_it_gives(source, tmp_path):
    found = followed(source + USED, tmp_path, steps=2_000)
    assert found.complete
    assert ["view" in error.message for error in found.errors] == [True]


OF_ITSELF = """
import torch
class Options(dict):
    def __init__(self, given=None):
        given = dict() if not given else given
        for key, value in given.items():
            if hasattr(value, "keys"):
                value = Options(value)
            self[key] = value
options = Options(open("config").read())
torch.zeros(2, 3) @ torch.zeros(5, 7)
"""


def test_a_constructor_that_calls_itself_for_what_is_not_known_does_so_a_few_times(tmp_path):
    found = followed(OF_ITSELF, tmp_path, steps=5_000)
    assert found.complete
    assert [error.line for error in found.errors] == [11]


def test_a_constructor_that_calls_itself_a_known_number_of_times_is_followed_to_the_end(tmp_path):
    source = """
import torch
class Nested:
    def __init__(self, depth):
        self.inner = Nested(depth - 1) if depth else None
        self.n = depth + 2
n = Nested(11)
while n.inner is not None:
    n = n.inner
"""
    found = followed(source + "torch.zeros(3, n.n) @ torch.zeros(13, 5)\n", tmp_path)
    assert [error.line for error in found.errors] == [10]
    assert "2" in found.errors[0].message
