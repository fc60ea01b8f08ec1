"""``layer.weight.data = …``: a layer has the sizes and the dtype of what its parameters hold."""

from pathlib import Path

import pytest
import torch

from simpletorch.follow import Followed, follow

HEAD = "import torch\nfrom torch import nn\nlayer = nn.Linear(5, 3)\n"
RIGHT = {
    "other sizes": "layer.weight.data = torch.zeros(3, 7)\nlayer(torch.zeros(2, 7))\n",
    "another dtype": "layer.weight.data = layer.weight.data.double()\nlayer.bias.data = layer.bias.data.double()\n"
    "layer(torch.zeros(2, 5).double())\n",
    "all parameters": "for p in layer.parameters():\n    p.data = p.data.half()\nlayer(torch.zeros(2, 5).half())\n",
    "of a model": "model = nn.Sequential(layer, nn.Linear(3, 2))\nfor name, p in model.named_parameters():\n"
    "    p.data = p.data.to(torch.float64)\nmodel(torch.zeros(2, 5, dtype=torch.float64))\n",
    "a frozen one": "layer.weight.requires_grad = False\nlayer.weight.data = torch.ones(3, 5).long()\n",
    "no parameter": "x = torch.zeros(3)\nx.data = torch.zeros(3).long()\n",
    "another object": "layer.weight = nn.Parameter(torch.zeros(3, 5).double())\nlayer.bias = None\n"
    "layer(torch.zeros(2, 5).double())\n",
}
WRONG = {
    "the same sizes": ("layer.weight.data = torch.zeros(3, 5)\nlayer(torch.zeros(2, 7))\n", 5, "Linear(5, 3)"),
    "an update": ("layer.weight.data = layer.weight.data - 0.1\nlayer(torch.zeros(2, 7))\n", 5, "Linear(5, 3)"),
    "ints": ("layer.weight.data = torch.ones(3, 5).long()\nlayer(torch.zeros(2, 5))\n", 4, "data: a tensor that"),
    "a leaf of ints": ("x = torch.zeros(3, requires_grad=True)\nx.data = torch.ones(3).bool()\n", 5, "data: a tensor"),
}


def followed(body: str, folder: Path) -> Followed:
    path = folder / "program.py"
    path.write_text(HEAD + body)
    return follow(path)


@pytest.mark.parametrize("body", RIGHT.values(), ids=RIGHT)
def test_what_runs_is_left_alone(body: str, tmp_path: Path):
    exec(HEAD + body, {"torch": torch})
    assert followed(body, tmp_path).errors == ()


@pytest.mark.parametrize(("body", "line", "message"), WRONG.values(), ids=WRONG)
def test_what_fails_is_found(body: str, line: int, message: str, tmp_path: Path):
    with pytest.raises(RuntimeError):
        exec(HEAD + body, {"torch": torch})
    (error,) = followed(body, tmp_path).errors
    assert error.line == line
    assert error.message.startswith(message)
