"""Loops: unrolled where each round counts, over where the rounds are alike."""

from pathlib import Path

from simpletorch.follow import Followed, follow, loops


def followed(source: str, folder: Path) -> Followed:
    """What following a program gives."""
    path = folder / "program.py"
    path.write_text("import torch\nfrom torch import nn\n" + source)
    found = follow(path)
    assert not found.faults
    return found


def test_layers_of_a_list_are_each_followed(tmp_path):
    source = """
layers = nn.ModuleList([nn.Linear(a, b) for a, b in zip([3, 5, 7], [5, 7, 11])])
x = torch.zeros(2, 3)
for layer in layers:
    x = layer(x)
y = x @ torch.zeros(13, 17)
"""
    assert [(e.line, e.message.partition(":")[0]) for e in followed(source, tmp_path).errors] == [(8, "@")]


def test_a_long_loop_ends_where_nothing_changes(tmp_path):
    source = """
model = nn.Linear(3, 5)
total, seen, losses = 0.0, 0, []
for step in range(100_000):
    loss = model(torch.zeros(7, 3)).sum()
    loss.backward()
    total += loss.item()
    seen += 7
    losses.append(loss.item())
x = torch.zeros(seen, 2) @ torch.zeros(3, 2)
"""
    found = followed(source, tmp_path)
    assert found.complete
    assert [e.line for e in found.errors] == [12]


def test_what_changes_from_round_to_round_is_unknown_afterwards(tmp_path):
    source = """
x = torch.zeros(2, 3)
for step in range(int(input())):
    x = torch.cat([x, x[:, :1]], dim=1)
y = x @ torch.zeros(7, 5)
z = x.T @ torch.zeros(5, 7)
"""
    assert [e.line for e in followed(source, tmp_path).errors] == [8]


def test_a_loop_that_may_be_broken_off_leaves_both(tmp_path):
    source = """
import random
x = torch.zeros(2, 3)
for step in range(3):
    if random.random() < 0.5:
        x = torch.zeros(2, 5)
        break
y = x @ torch.zeros(3, 7)
z = x @ torch.zeros(11, 7)
"""
    assert [e.line for e in followed(source, tmp_path).errors] == [11]


def test_a_counting_while_loop_is_unrolled(tmp_path):
    source = """
n = 1
while n < 100:
    n *= 3
x = torch.zeros(2, n) @ torch.zeros(81, 5)
"""
    assert [e.line for e in followed(source, tmp_path).errors] == [7]


def test_a_sequence_gets_too_long_in_the_last_rounds(tmp_path):
    source = """
token, place = nn.Embedding(31, 8), nn.Embedding(64, 8)
ids = torch.zeros(2, 5, dtype=torch.long)
for step in range(500):
    x = token(ids) + place(torch.arange(ids.shape[1]))
    ids = torch.cat([ids, x.sum(-1)[:, -1:].long()], dim=1)
y = ids @ torch.zeros(504, 3, dtype=torch.long)
z = ids @ torch.zeros(505, 3, dtype=torch.long)
"""
    assert [e.line for e in followed(source, tmp_path).errors] == [7, 9]


def test_a_mistake_of_one_round_in_the_middle_is_found(tmp_path):
    source = """
x = torch.zeros(2, 3)
for i in range(60):
    x = torch.cat([x, x[:, :1]], dim=1)
    if i == 31:
        x @ torch.zeros(34, 5)
    y = x * 2
    z = y.sum(1)
    if x.shape[1] == 41:
        z @ torch.zeros(7, 5)
"""
    assert [e.line for e in followed(source, tmp_path).errors] == [8, 12]


def test_an_even_loop_shows_its_first_rounds_and_its_last(tmp_path):
    source = """
x = torch.zeros(2, 3)
for i in range(200):
    x = torch.cat([x, x[:, :1]], dim=1)
    y = x.sum(0)
    z = y * y
    w = z + y
"""
    found = followed(source, tmp_path)
    shown = found.shapes_at(str(tmp_path / "program.py"), 6)["x"]
    assert [t.shape.dims for t in shown] == [(2, 4), (2, 5), (2, 203)]


def test_a_list_whose_items_never_settle_has_any_number_of_them(tmp_path, monkeypatch):
    monkeypatch.setattr(loops, "_ROUNDS", 1)
    source = """
import source
rows = [torch.zeros(3), torch.zeros(3)]
while source.more():
    rows[0] = torch.zeros(3, 5)
rows.append(torch.zeros(7))
x = torch.stack(rows)
"""
    assert not followed(source, tmp_path).errors


def test_an_attribute_called_items_is_no_lists(tmp_path):
    source = """
class Bag:
    def __init__(self):
        self.items = ()
bag = Bag()
for i in range(1000):
    bag.items = bag.items + (torch.zeros(3),)
x = bag.items[0] + 1
nn.Linear(3, 5)(torch.zeros(2, 4))
"""
    found = followed(source, tmp_path)
    assert [e.line for e in found.errors] == [11]
    assert not any("raise" in what for _, _, what in found.not_followed)


def test_a_range_of_unknown_length_can_be_gone_through_backwards(tmp_path):
    source = """
n = int(input())
sizes = [3]
for i in reversed(range(n)):
    sizes.append(i)
try:
    reversed(i for i in range(3))
    x = torch.zeros(2, 7)
except TypeError:
    x = torch.zeros(2, 5)
x @ torch.zeros(7, 3)
"""
    found = followed(source, tmp_path)
    assert [e.line for e in found.errors] == [13]
    assert not any("raise" in what for _, _, what in found.not_followed)
