"""One fact of torch's that several marks need: where a dim goes, what a branch leaves, which numbers a view has."""

from pathlib import Path

import pytest

from simpletorch.follow import follow

HEAD = """import random, torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset
lstm, index, yes = nn.LSTM(3, 5), torch.randint(50, (4, 7)), random.random() < 0.5
words = torch.randn(4, 7, 50).softmax(-1)
x, y = next(iter(DataLoader(TensorDataset(torch.randn(32, 9, 3), torch.randn(32)), 8)))
"""
LINE = HEAD.count("\n") + 1
TWICE = "cross_entropy takes logits, but it is given a softmax"
OVER_SAMPLES = "LSTM takes (time, batch, features), but dim 0"
WARNED = {
    "F.cross_entropy(words.view(-1, 50), index.view(-1))": TWICE,
    "F.cross_entropy(words.reshape(28, 50), index.flatten())": TWICE,
    "F.cross_entropy(words.flatten(0, 1), index.flatten())": TWICE,
    "F.cross_entropy(words.transpose(1, 2), index)": TWICE,
    "F.cross_entropy(words.transpose(-1, -2), index)": TWICE,
    "F.cross_entropy(words.permute(0, 2, 1), index)": TWICE,
    "F.cross_entropy(words.float().detach().mT.mT.transpose(1, 2), index)": None,  # mT isn't among what moves
    "nn.CrossEntropyLoss()(words.view(-1, 50), index.view(-1))": "CrossEntropyLoss takes logits",
    "F.cross_entropy(torch.randn(7, 50).softmax(0).T, torch.randint(7, (50,)))": TWICE,
    "F.nll_loss(words.view(-1, 50), index.view(-1))": "nll_loss takes logarithms of probabilities",
    "p = words if yes else words.clone()\nF.cross_entropy(p.view(-1, 50), index.view(-1))": TWICE,
    "z = x * 2 if yes else x + 1\nlstm(z)": OVER_SAMPLES,
    "if yes:\n    x = x.clone()\nelse:\n    x = x.float()\nlstm(x)": OVER_SAMPLES,
    "if yes:\n    x = x * 2\nlstm(x)": OVER_SAMPLES,
    "if yes:\n    x = x * 2\nlstm(x.transpose(0, 2).transpose(0, 2))": OVER_SAMPLES,
}
RIGHT = (
    "F.cross_entropy(words.log().view(-1, 50), index.view(-1))",
    "F.nll_loss(words.log().view(-1, 50), index.view(-1))",
    "F.cross_entropy(torch.randn(4, 7, 50).view(-1, 50), index.view(-1))",
    "F.cross_entropy(words.view(-1, 25), torch.randint(25, (56,)))",  # another dim: no softmax is over these
    "z = x.transpose(0, 1) * 2 if yes else x.transpose(0, 1)\nlstm(z)",
    "z = x if yes else torch.randn(8, 9, 3)\nlstm(z)",
    "nn.LSTM(3, 5, batch_first=True)(x * 2 if yes else x + 1)",
    "i = torch.tensor([300, 2]).view(torch.uint8).long()\nnn.Embedding(256, 4)(i)",
    "i = torch.tensor([3.5, 2.0]).view(torch.int32) % 4\nnn.Embedding(4, 4)(i)",
    "i = torch.tensor([-1]).view(torch.uint8).long()\nnn.Embedding(256, 4)(i)",
)


def warnings_of(body: str, tmp_path: Path) -> list[str]:
    (tmp_path / "program.py").write_text(HEAD + body + "\n")
    exec(HEAD + body, {})
    found = follow(tmp_path / "program.py")
    assert found.errors == ()
    return [f.message for f in found.warnings if f.line >= LINE]


@pytest.mark.parametrize("body", WARNED)
def test_a_fact_is_known_behind_what_moves_and_what_branches(body: str, tmp_path: Path):
    message = WARNED[body]
    said = warnings_of(body, tmp_path)
    assert len(said) == (message is not None)
    assert all(one.startswith(str(message)) for one in said)


@pytest.mark.parametrize("body", RIGHT)
def test_nothing_is_said_of_what_is_right(body: str, tmp_path: Path):
    assert warnings_of(body, tmp_path) == []


def test_a_name_with_one_of_several_shapes_is_shown_with_all(tmp_path: Path):
    body = HEAD + "z = torch.zeros(4, 5) if yes else torch.zeros(6, 5)\nw = nn.Linear(5, 7)(z)\n"
    (tmp_path / "program.py").write_text(body + "v = torch.zeros(4, 5) if yes else None\n")
    found = follow(tmp_path / "program.py")
    path = str(tmp_path / "program.py")
    shown = {
        line: {k: list(map(str, v)) for k, v in found.shapes_at(path, line).items()} for line in range(1, LINE + 3)
    }
    assert shown[LINE] == {"z": ["Float32[4, 5]", "Float32[6, 5]"]}
    assert shown[LINE + 1] == {"w": ["Float32[4, 7]", "Float32[6, 7]"]}
    assert shown[LINE + 2] == {}, "it may be no tensor"
    assert not any(line in (LINE, LINE + 1) for _, line, _, _ in found.certain)
