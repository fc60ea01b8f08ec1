"""What torch's layers refuse beside shapes, and layers that torch builds though nothing fits them."""

from pathlib import Path

import pytest

from simpletorch.follow import follow

HEAD = "import torch\nfrom torch import nn\n"
BATCH_NORM = HEAD + "net = nn.Sequential(nn.Linear(3, 5), nn.BatchNorm1d(5))\n"


def lines(source: str, folder: Path) -> list[int]:
    """The lines with a mistake."""
    path = folder / "program.py"
    path.write_text(source)
    result = follow(path)
    assert not result.faults
    return [e.line for e in result.errors]


def run(source: str) -> None:
    """The program, in torch."""
    exec(compile(source, "program.py", "exec"), {"__name__": "__main__"})


REFUSED = [
    BATCH_NORM + "net(torch.randn(1, 3))\n",
    BATCH_NORM + "net.eval()\nnet.train()\nnet(torch.randn(1, 3))\n",
    HEAD + "nn.BatchNorm2d(7)(torch.randn(1, 7, 1, 1))\n",
    HEAD + "net = nn.Conv1d(3, 7, (5, 3))\nsum(p.numel() for p in net.parameters())\nnet(torch.randn(2, 3, 11, 13))\n",
    HEAD
    + "net = nn.Transformer(8, 2, 1, 1, 16, batch_first=True)\nmask = net.generate_square_subsequent_mask(7)\n"
    + "net(torch.randn(2, 7, 8), torch.randn(2, 5, 8), tgt_mask=mask)\n",
    HEAD
    + "layer = nn.Embedding.from_pretrained(torch.zeros(11, 7))\n"
    + "nn.Linear(5, 3)(layer(torch.tensor([1, 2])))\n",
    HEAD + "nn.Embedding.from_pretrained(torch.zeros(11, 7))(torch.tensor([1, 11]))\n",
    HEAD
    + "layer = nn.Embedding.from_pretrained(torch.zeros(11, 7, dtype=torch.float64))\n"
    + "nn.Linear(7, 3)(layer(torch.tensor([1, 2])))\n",
    HEAD + "nn.Embedding.from_pretrained(torch.zeros(11, 7))(torch.tensor([1, 2])).sum().backward()\n",
]


@pytest.mark.parametrize("source", REFUSED)
def test_what_torch_refuses_is_told_where_it_raises(source, tmp_path):
    with pytest.raises((RuntimeError, ValueError, IndexError)):
        run(source)
    assert lines(source, tmp_path) == [source.count("\n")]


RIGHT = [
    HEAD
    + "mask = nn.Transformer.generate_square_subsequent_mask(5)\n"
    + "nn.Transformer(8, 2, 1, 1, 16)(torch.randn(7, 2, 8), torch.randn(5, 2, 8), tgt_mask=mask)\n",
    HEAD
    + "layer = nn.Embedding.from_pretrained(torch.zeros(11, 7), freeze=False, padding_idx=0)\n"
    + "layer(torch.tensor([1, 2])).sum().backward()\nassert layer.weight.grad.shape == (11, 7)\n",
    HEAD
    + "bag = nn.EmbeddingBag.from_pretrained(torch.zeros(11, 7), mode='sum')\n"
    + "nn.Linear(7, 3)(bag(torch.zeros(2, 5, dtype=torch.long)))\n",
    BATCH_NORM + "net.eval()\nnet(torch.randn(1, 3))\n",
    BATCH_NORM + "net(torch.randn(2, 3))\n",
    BATCH_NORM + "net[1].training = False\nnet(torch.randn(1, 3))\n",
    HEAD + "nn.BatchNorm1d(7)(torch.randn(1, 7, 2))\n",
    HEAD
    + "class Frozen(nn.BatchNorm1d):\n    def train(self, mode=True):\n        return super().train(False)\n"
    + "Frozen(5).train()(torch.randn(1, 5))\n",
]


@pytest.mark.parametrize("source", RIGHT)
def test_what_torch_takes_is_not_told(source, tmp_path):
    run(source)
    assert not lines(source, tmp_path)


PATCHED = (
    HEAD
    + "from unittest import mock\nfrom unittest.mock import patch\nnet = nn.Sequential(nn.Linear(5, 3), nn.ReLU())\n"
)
ROWS = "lambda self, x: x.sum(1)"
IN_PATCHES = [
    f"with mock.patch.object(nn.Linear, 'forward', {ROWS}):\n    net(torch.zeros(2, 7)).view(2)\n",
    f"with patch('torch.nn.Linear.forward', {ROWS}):\n    net(torch.zeros(2, 7)).view(2)\n",
    "with patch.object(net, 'forward', lambda x: x):\n    net(torch.zeros(2, 7)).view(14)\n",
    "with patch.object(net, 'forward', return_value=torch.zeros(11)):\n    net(torch.zeros(2, 7)).view(11)\n",
    "with patch.object(net[0], 'weight', nn.Parameter(torch.zeros(3, 7))):\n    net(torch.zeros(2, 7)).view(6)\n",
    f"began = patch.object(nn.Linear, 'forward', new={ROWS})\nbegan.start()\nnet(torch.zeros(2, 7))\nbegan.stop()\n",
]


@pytest.mark.parametrize("body", IN_PATCHES)
def test_a_patch_holds_while_it_lasts(body, tmp_path):
    run(PATCHED + body + "net(torch.zeros(2, 5)).view(6)\n")
    assert not lines(PATCHED + body + "net(torch.zeros(2, 5)).view(6)\n", tmp_path)
    source = PATCHED + body + "net(torch.zeros(2, 7))\n"
    with pytest.raises(RuntimeError):
        run(source)
    assert lines(source, tmp_path) == [source.count("\n")]


def test_a_patch_of_a_name_of_the_program(tmp_path):
    source = PATCHED + "with patch('__main__.net', lambda x: x.sum(1)):\n    net(torch.zeros(2, 7)).view(2)\n"
    assert not lines(source, tmp_path)
    assert lines(source + "net(torch.zeros(2, 7))\n", tmp_path) == [source.count("\n") + 1]


UNCALLED = """
from jaxtyping import Float

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm1d(5)

    def forward(self, x: Float[torch.Tensor, "1 5"]):
        return self.bn(x)
"""


def test_a_module_that_nobody_calls_may_be_in_either_mode(tmp_path):
    assert not lines(HEAD + UNCALLED, tmp_path)
