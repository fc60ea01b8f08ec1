"""Sizes that aren't known, but between which numbers they lie, or that depend on what tensors hold."""

import pytest
from scripts import Scripts

HEAD = "import random\nimport numpy as np\nimport torch\n"
shown = Scripts(HEAD).shown
lines = Scripts(HEAD).lines


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = torch.zeros(random.randint(5, 13), 3)", "Float32[5..13, 3]"),
        ("x = torch.zeros(3, random.randrange(5, 13))", "Float32[3, 5..12]"),
        ("x = torch.arange(random.randrange(7))", "Int64[0..6]"),
        ("n = int(torch.randint(5, 13, (7,)).max())\nx = torch.randn(n)", "Float32[5..12]"),
        ("n = torch.randint(5, 13, (7,)).max().item() + 2\nx = torch.randn((n, 3))", "Float32[7..14, 3]"),
        ("n = int(torch.randint(3, 4, ()))\nx = torch.zeros(n, 7)", "Float32[3, 7]"),
        ("n = random.randint(5, 13) * 2 // 3\nx = torch.randn(n)", "Float32[3..8]"),
        ("n = random.randint(-5, 13)\nx = torch.randn(n)", "Float32[0..]"),
        ("x = torch.tensor([1] + [ord(c) for c in open('f').read()] + [2])", "Int64[2..]"),
        ("y = torch.randint(0, 7, (11,))\nx = torch.bincount(y, minlength=7)", "Int64[7]"),
        ("y = torch.randint(0, 9, (11,))\nx = torch.bincount(y, minlength=7)", "Int64[7..]"),
        ("y = torch.randn(7, 5)\nx = y[y[:, 0] > 0]", "Float32[0.., 5]"),
    ],
)
def test_what_is_known_of_a_size(source, expected, tmp_path):
    assert shown(source, tmp_path) == expected


def test_a_size_between_bounds_is_not_any_other(tmp_path):
    source = """
n = int(torch.randint(5, 15, (6,)).max())
x = torch.randn(6, n, 24).unflatten(-1, (4, 6)).transpose(1, 2)
right = torch.nn.Linear(24, 24)(x.transpose(1, 2).flatten(-2))
maybe = torch.nn.Linear(60, 24)(x.flatten(-2))
wrong = torch.nn.Linear(24, 24)(x.flatten(-2))
"""
    assert lines(source, tmp_path) == [6]


def test_a_size_of_another_round_is_another_size(tmp_path):
    source = """
n = random.randint(3, 9)
longest = torch.zeros(n)
for _ in range(50):
    n = random.randint(3, 9)
    longest = longest + 1 if len(longest) > n else torch.zeros(n)
torch.zeros(7) + longest
"""
    assert lines(source, tmp_path) == []


UNKNOWN = "from others import config, data\n"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = torch.zeros(3, len(set(data())))", "Float32[3, 0..]"),
        ("x = torch.zeros(3, config.width)", "Float32[3, 0..]"),
        ("x = torch.zeros(config.size)", "Float32[...]"),  # it may be a tuple
        ("x = torch.full((config.width, 3), config.value)", "Tensor[0.., 3]"),
        ("x = torch.arange(config.start, 5)", "Tensor[0..]"),
        ("x = torch.nn.Linear(5, config.width)(torch.zeros(3, 5))", "Float32[3, 0..]"),
        ("x = torch.zeros(7, 5)[: config.width]", "Float32[0.., 5]"),
        ("x = torch.zeros(7, 5).expand(config.width, 7, 5)", "Float32[0.., 7, 5]"),
        ("x = torch.stack([torch.zeros(5) for _ in data()])", "Float32[0.., 5]"),
        ("x = torch.zeros(7, 5).view(config.width, -1)", "Float32[0.., 0..]"),
    ],
)
def test_a_size_that_others_decide_is_one_size(source, expected, tmp_path):
    assert shown(UNKNOWN + source, tmp_path) == expected


@pytest.mark.parametrize(
    "source",
    [
        "a = torch.zeros(config.width, 3)\nb = torch.zeros(config.height, 3) + a + torch.zeros(7, 3)",
        "x = torch.nn.Linear(config.width, 5)(torch.zeros(2, 7))\ny = torch.nn.Linear(config.height, 3)(x)",
        "x = torch.arange(config.start, 5) + torch.zeros(8)",
        "e = torch.nn.Embedding(len(set(data())), 5)\n"
        "h = torch.nn.Linear(5, len(set(data())))(torch.zeros(2, 5))\nh + e.weight[:, 0]",
        "x = torch.zeros(8, 6)\nfor row in data():\n    x = x[: len(row)]\nx + torch.zeros(8, 6)",
        "sizes = [len(row) for row in data()]\ntorch.zeros(sizes[0]) + torch.zeros(sizes[1]) + torch.zeros(5)",
        "last = torch.zeros(4)\nfor row in data():\n    n = len(row)\n    x = torch.zeros(n)\n"
        "    if x.shape != last.shape:\n        torch.zeros(3, 4).view(6, 2)\n"
        "    else:\n        x + last\n    last = x",
        "first = [x[: config.width] for x in torch.zeros(4, 6)]\nfirst[0] + torch.zeros(6)",
        "x = torch.zeros(6, 4)[config.start :]\nx.view(-1, 8)\nx.reshape(3, 4)\nx @ torch.zeros(4, 5)",
    ],
)
def test_such_sizes_may_fit(source, tmp_path):
    assert lines(UNKNOWN + source, tmp_path) == []


def test_such_a_size_is_one_and_the_same(tmp_path):
    source = """
n = len(set(data()))
right = torch.nn.Linear(n, 7)(torch.zeros(3, n))
wrong = torch.nn.Linear(n, 7)(torch.zeros(n, 7).expand(5, n, 7).transpose(1, 2)) @ torch.zeros(8, 3)
"""
    assert lines(UNKNOWN + source, tmp_path) == [5]


def test_a_total_that_began_as_a_number_has_no_dims(tmp_path):
    source = """
total = 0
for row in data():
    total += torch.nn.Linear(5, 3)(torch.zeros(2, 5)).sum()
x = total / 3 + torch.zeros(2, 5)
wrong = torch.nn.Linear(3, 5)(x)
"""
    assert lines(UNKNOWN + source, tmp_path) == [7]


def test_an_index_is_not_said_to_reach_the_bounds_of_a_sum(tmp_path):
    source = """
class Pairs(torch.utils.data.Dataset):
    def __init__(self):
        self.values = torch.zeros(31, 3)
    def __len__(self):
        return 31
    def __getitem__(self, i):
        other = i + 1
        return self.values[i], self.values[other] if other < 31 else self.values[0]
for x, y in torch.utils.data.DataLoader(Pairs(), batch_size=5):
    x + y
"""
    assert lines(source, tmp_path) == []


def test_what_a_mask_leaves_over_decides_no_sizes(tmp_path):
    source = """
x = torch.randn(7, 5)
x = x[x[:, 0] > 0]
if x.shape[0]:
    x @ torch.zeros(3)
for row in torch.randn(3, 7, 5):
    row = row[row[:, 1] > 0.5]
    if not len(row):
        continue
    row + torch.zeros(2)
"""
    assert lines(source, tmp_path) == [5, 10]


def test_samples_have_sizes_of_their_own(tmp_path):
    source = """
class Boxes(torch.utils.data.Dataset):
    def __len__(self):
        return 20
    def __getitem__(self, i):
        boxes = np.zeros((np.random.randint(1, 4), 5), dtype="float32")
        return torch.from_numpy(boxes), torch.ones(len(boxes))
def collate(samples):
    boxes, weights = zip(*samples)
    return torch.cat(boxes) * torch.cat(weights)[:, None]
for x in torch.utils.data.DataLoader(Boxes(), batch_size=4, collate_fn=collate):
    x[:, 0] + torch.zeros(5)
    x[:, 0] + torch.zeros(13)
    if x.shape[0]:
        torch.zeros(7, 3)[x[:, 0]]
"""
    assert lines(source, tmp_path) == [13, 15]
