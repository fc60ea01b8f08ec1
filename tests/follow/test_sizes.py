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
        ("n = random.randint(-5, 13)\nx = torch.randn(n)", "Float32[?]"),
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
