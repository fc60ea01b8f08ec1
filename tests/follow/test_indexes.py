"""Indexes: those that surely lie outside what they select from, and those of which that can't be said."""

from pathlib import Path

import pytest

from simpletorch.follow import follow

HEAD = "import numpy as np\nimport torch\nfrom torch import nn\nimport torch.nn.functional as F\n"


def errors(source: str, folder: Path) -> list[tuple[int, str]]:
    """The lines of ``source`` with an error, counted from 1, and the messages."""
    path = folder / "program.py"
    path.write_text(HEAD + source)
    found = follow(path)
    assert not found.faults
    return [(e.line - HEAD.count("\n"), e.message) for e in found.errors]


@pytest.mark.parametrize(
    "wrong",
    [
        "nn.Embedding(13, 5)(torch.arange(17))",
        "nn.Embedding(13, 5)(torch.randint(0, 29, (7, 11)))",
        "F.embedding(torch.tensor([3, 13]), torch.zeros(13, 5))",
        "F.cross_entropy(torch.zeros(31, 5), torch.randint(0, 11, (31,)))",
        "nn.CrossEntropyLoss()(torch.zeros(31, 5), torch.randint(11, (31,)))",
        "F.one_hot(torch.arange(7), 5)",
        "torch.zeros(5, 7)[:, torch.arange(11)]",
        "torch.zeros(5, 7)[..., torch.tensor([2, 7])]",
        "torch.zeros(5, 7).gather(1, torch.arange(11).expand(5, 11))",
        "torch.zeros(5, 7).index_select(0, torch.randperm(13))",
        "np.zeros((5, 7))[np.random.choice(97, 11)]",
        "np.zeros(5)[np.arange(3) + 3]",
        "np.zeros((5, 7))[np.zeros(5)]",
        "np.zeros((5, 7))[np.zeros(5)] = 3",
        "torch.zeros(5)[torch.arange(4).view(2, 2).long() - 6]",
        "torch.zeros(5)[torch.cat([torch.arange(3), torch.arange(7)])]",
        "nn.Embedding(5, 3)(torch.arange(13, dtype=torch.int32).short().long())",
        "torch.zeros(5)[torch.arange(13).view(13, 1).mT.requires_grad_(False)]",
        "i, j = torch.meshgrid(torch.arange(8), torch.arange(7), indexing='ij'); torch.zeros(8, 7, 3)[j, i]",
    ],
)
def test_an_index_outside_is_found(wrong, tmp_path):
    assert [line for line, _ in errors(wrong, tmp_path)] == [1]


def test_the_message_says_what_is_asked_for_and_what_there_is(tmp_path):
    (found,) = errors("torch.zeros(5, 7)[:, torch.arange(11)]", tmp_path)
    assert found == (1, "[]: indexes from 0 to 10: 10 is out of range for dim 1 of size 7")


@pytest.mark.parametrize(
    "right",
    [
        "nn.Embedding(13, 5)(torch.arange(13))",
        "nn.Embedding(13, 5)(torch.arange(17)[2:7])",
        "nn.Embedding(3, 5)(torch.repeat_interleave(torch.tensor([4, 5, 6])))",
        "nn.Embedding(3, 5)(torch.tensor([1, 2, 6]).repeat_interleave(torch.tensor([1, 1, 0])))",
        "nn.Embedding(256, 5)(torch.tensor([300, 2]).view(torch.uint8).long())",
        "nn.Embedding(13, 5)(torch.arange(17).gather(0, torch.tensor([2, 3])))",
        "nn.Embedding(13, 5)(torch.randint(0, 29, (7, 11)) % 13)",
        "nn.Embedding(13, 5)(torch.randint(0, 29, (7, 11)).clamp(max=12))",
        "x = torch.randint(0, 29, (7, 11))\nnn.Embedding(13, 5)(x[x < 13])",
        "x = torch.randint(0, 29, (7, 11))\nx[x >= 13] = 0\nnn.Embedding(13, 5)(x)",
        "x = torch.randint(0, 29, (7, 11))\nx.view(-1).clamp_(max=12)\nnn.Embedding(13, 5)(x)",
        "x = torch.randint(0, 29, (7, 11))\nx.data[0] = 3\nnn.Embedding(13, 5)(x)",
        "x = np.random.randint(0, 29, 11)\nx[x > 12] = 0\nnn.Embedding(13, 5)(torch.from_numpy(x))",
        "x = np.random.randint(0, 29, 11)\nx %= 13\nnp.zeros(13)[x]",
        "torch.zeros(5)[torch.tensor([-5, 4])]",
        "x = torch.stack([torch.randint(0, 5, (31,)), torch.randint(0, 11, (31,))], 1)\nnn.Embedding(5, 3)(x[:, 0])",
        "x = torch.cat([torch.randint(0, 5, (31, 1)), torch.randint(0, 11, (31, 1))], 1)\nnn.Embedding(5, 3)(x[:, 0])",
        "i, j = torch.meshgrid(torch.arange(8), torch.arange(7), indexing='ij')\ntorch.zeros(8, 7, 3)[i, j]",
        "i, j = torch.meshgrid([torch.arange(8), torch.arange(7)], indexing='ij')\ntorch.zeros(8, 7, 3)[i, j]",
        "i, j = torch.broadcast_tensors(torch.arange(8)[:, None], torch.arange(7))\ntorch.zeros(8, 7, 3)[i, j]",
        "i, j = np.meshgrid(np.arange(8), np.arange(7), indexing='ij')\nnp.zeros((8, 7))[i, j]",
        "nn.Embedding(13, 5)(torch.randint(0, 14, (1,)))  # hardly ever wrong",
        "F.cross_entropy(torch.zeros(3, 5), torch.tensor([1, -100, 4]))",
    ],
)
def test_an_index_that_may_lie_inside_is_none(right, tmp_path):
    assert errors(right, tmp_path) == []


def test_what_a_loop_counts_up_is_not_what_it_was_in_the_last_round_that_was_followed(tmp_path):
    source = """
x = torch.zeros(3, dtype=torch.long)
for step in range(int(input())):
    x = x + 1
torch.zeros(2)[x]
"""
    assert errors(source, tmp_path) == []


def test_a_loader_asks_for_as_many_samples_as_a_dataset_says_that_it_has(tmp_path):
    source = """
class Rows(torch.utils.data.Dataset):
    def __init__(self, rows):
        self.rows = rows
    def __len__(self):
        return 41
    def __getitem__(self, i):
        return self.rows[i]
for batch in torch.utils.data.DataLoader(Rows(torch.zeros(3, 5)), batch_size=7):
    pass
for batch in torch.utils.data.DataLoader(Rows(torch.zeros(41, 5)), batch_size=7):
    pass
"""
    assert [line for line, _ in errors(source, tmp_path)] == [8]


@pytest.mark.parametrize(
    "wrong",
    [
        "nn.Linear(7 / 2, 3)",
        "nn.Conv2d(3, 5.0, 1)",
        "torch.zeros(3, 6 / 2)",
        "torch.zeros(2, 6).view(2, 3, 4 / 2)",
        "n = len(input().split())\ntorch.zeros(n, 6).view(n / 2, 12)",
    ],
)
def test_a_float_is_no_size(wrong, tmp_path):
    (found,) = errors(wrong, tmp_path)
    assert "must be an int" in found[1]


def test_one_of_two_numbers_deep_in_an_index_is_one_of_two_indexes(tmp_path: Path) -> None:
    source = "import torch\nn = 0 if input() else 1\nx = torch.zeros(2, 3)[[[n, 1], [1, 0]]]\n"
    source += "y = torch.zeros(2, 3)[[(n, 1)]]\nz = torch.tensor([[n, 1]])\ntorch.zeros(5, 7) @ torch.zeros(5, 7)\n"
    (tmp_path / "program.py").write_text(source)
    found = follow(tmp_path / "program.py")
    assert (found.faults, [e.line for e in found.errors]) == ((), [6])
