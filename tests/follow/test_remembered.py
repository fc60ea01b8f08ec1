"""Calls of modules that are followed once: what they give the second time, and when they are followed again."""

from pathlib import Path

import pytest

from simpletorch.follow import follow
from simpletorch.follow.memory import remembered

HEAD = "import torch\nfrom torch import nn\n"


@pytest.fixture
def counted(monkeypatch):
    """How often a call was answered from memory."""
    answers = []
    again = remembered._again

    def count(run, known, given):
        answers.append(known)
        return again(run, known, given)

    monkeypatch.setattr(remembered, "_again", count)
    return answers


def shown(source: str, folder: Path) -> list[str]:
    """What ``reveal_type`` shows, line by line."""
    path = folder / "program.py"
    path.write_text(HEAD + source)
    found = follow(path)
    assert not found.faults
    return [n.message.removeprefix('Revealed type is "').removesuffix('"') for n in found.notes]


NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.width, self.calls = nn.Linear(3, 5), 5, []
    def forward(self, x, flat=False):
        {body}
net = Net()
"""


def test_the_same_arguments_give_the_same_shapes_and_another_tensor(counted, tmp_path):
    source = NET.format(body="return self.layer(x)")
    source += "a, b = net(torch.zeros(7, 3)), net(torch.zeros(7, 3))\na.t_()\nreveal_type(a)\nreveal_type(b)\n"
    assert shown(source, tmp_path) == ["Float32[5, 7]", "Float32[7, 5]"]
    assert len(counted) == 1


def test_an_argument_that_is_given_back_is_the_argument(counted, tmp_path):
    source = NET.format(body="return x, self.layer(x)")
    source += "net(torch.zeros(7, 3))\nx = torch.zeros(7, 3)\ny, _ = net(x)\ny.t_()\nreveal_type(x)\n"
    assert shown(source, tmp_path) == ["Float32[3, 7]"]
    assert len(counted) == 1


@pytest.mark.parametrize(
    ("body", "change"),
    [
        ("return x.new_zeros(self.width)", "net.width = 11"),
        ("return x.new_zeros(WIDTH)", "WIDTH = 11"),
        ("return x.new_zeros(*SIZES)", "SIZES.append(11)"),
        ("return x.new_zeros(SIZE['w'])", "SIZE['w'] = 11"),
        ("return x.new_zeros(Net.size)", "Net.size = 11"),
        ("return x.new_zeros(self.layer.weight.shape)", "net.layer = nn.Linear(3, 11)"),
        ("self.width += 6\n        return x.new_zeros(self.width)", ""),
        ("self.calls.append(x)\n        return x.new_zeros(len(self.calls))", ""),
        ("return x.new_zeros(5 if self.training else 11)", "net.eval()"),
    ],
)
def test_what_a_call_depends_on_is_followed_again_when_it_has_changed(body, change, counted, tmp_path):
    source = "WIDTH, SIZES, SIZE = 5, [5], {'w': 5}\n" + NET.format(body=body) + "Net.size = 5\n"
    source += f"a = net(torch.zeros(7, 3))\n{change}\nb = net(torch.zeros(7, 3))\nreveal_type(a)\nreveal_type(b)\n"
    first, second = shown(source, tmp_path)
    assert first != second
    assert counted == []


def test_unknown_numbers_are_others_each_time(tmp_path):
    source = NET.format(body="return x[x > 0]")
    source += "a, b = net(torch.zeros(7, 3)), net(torch.zeros(7, 3))\n"
    source += "c = a.size(0) == b.size(0)\nreveal_type(c)\n"
    assert "unknown" in shown(source, tmp_path)[0]


def test_a_mistake_is_told_at_each_call_that_leads_to_it(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(HEAD + NET.format(body="return self.layer(x)") + "net(torch.zeros(7, 5))\nnet(torch.zeros(7, 5))\n")
    (found,) = follow(path).errors
    assert found.message.startswith("Linear(3, 5)")
