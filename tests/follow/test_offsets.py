"""Places by chance: how long a slice is that begins at one, and lists that are filled up to a length."""

import pytest
from scripts import Scripts

HEAD = "import random\nimport numpy as np\nimport torch\n"
shown = Scripts(HEAD).shown


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("i = random.randint(0, 50)\nx = torch.arange(97)[i : i + 13]", "Int64[13]"),
        ("d = torch.arange(97)\nx = torch.stack([d[i + 1 : i + 8] for i in torch.randint(80, (5,))])", "Int64[5, 7]"),
        ("i = torch.randint(80, (1,)).item()\nx = torch.zeros(97, 3)[i : i + 11]", "Float32[11, 3]"),
        ("i = int(torch.randint(80, ()))\nx = torch.zeros(3, 97)[:, i * 5 : (i + 1) * 5]", "Float32[3, 5]"),
        ("i = random.randrange(50)\nx = torch.from_numpy(np.zeros((97, 2))[i : i + 7])", "Float64[7, 2]"),
        ("i = random.randrange(50)\nx = torch.tensor(list(range(97))[i : i + 7])", "Int64[7]"),
        ("i = random.randrange(5)\nx = torch.tensor([ord(c) for c in ('ab' * 31)[i : i + 7][:-1]])", "Int64[6]"),
    ],
)
def test_a_slice_that_begins_by_chance_has_a_length(source, expected, tmp_path):
    assert shown(source, tmp_path) == expected


@pytest.mark.parametrize(
    "source",
    [
        "i, j = random.randint(0, 50), random.randint(0, 50)\nx = torch.arange(97)[i : j + 13]",
        "i = random.randint(0, 50)\nx = torch.arange(97)[i : 2 * i + 13]",
        "i = random.randint(0, 50)\nx = torch.arange(7)[i : i + 13]",
        "i = torch.randint(80, ())\nj = i + 5\ni += 3\nx = torch.arange(97)[i:j]",
    ],
)
def test_other_slices_have_none(source, tmp_path):
    assert shown(source, tmp_path) == "Int64[0..]"


def test_a_window_of_a_dataset_has_a_length(tmp_path):
    source = """
class Windows(torch.utils.data.Dataset):
    def __init__(self):
        self.values = torch.zeros(101, 3)
    def __len__(self):
        return 101 - 7 - 5
    def __getitem__(self, i):
        end = i + 7
        return self.values[i:end], self.values[end : end + 5]
for x in torch.utils.data.DataLoader(Windows(), batch_size=11):
    pass
"""
    assert shown(source, tmp_path) == "[Float32[11, 7, 3], Float32[11, 5, 3]]"


@pytest.mark.parametrize(
    "fill",
    [
        "ids += [0] * (13 - len(ids))",
        "ids = ids + [0] * (13 - len(ids))",
        "ids.extend([0] * (13 - len(ids)))",
        "ids = [1] + ids\nids = ids + [0] * (13 - len(ids))",
        "n = 13 - len(ids)\nids = [2 * i for i in ids] + n * [0]",
    ],
)
def test_a_list_that_is_filled_up_has_the_length(fill, tmp_path):
    source = f"ids = [len(word) for word in input().split()]\n{fill}\nx = torch.tensor(ids)"
    assert shown(source, tmp_path) == "Int64[13]"


@pytest.mark.parametrize(("change", "expected"), [("append(3)", "14"), ("extend([3, 4])", "15"), ("remove(3)", "12")])
def test_a_list_that_has_changed_since_it_was_counted_is_not_filled_up(change, expected, tmp_path):
    source = f"ids = [len(w) for w in input().split()]\nn = len(ids)\nids.{change}\n"
    source += "x = torch.tensor(ids + [0] * (13 - n))"
    assert shown(source, tmp_path) == f"Int64[{expected}]"
