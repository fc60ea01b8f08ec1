"""Classes of the program's that derive from a library's, which may be modules: models have their parameters."""

from pathlib import Path

import pytest

from simpletorch.follow import Followed, follow

HEAD = """import torch
from torch import nn
from elsewhere import Conv
class Mine(Conv):
    def extra(self):
        return 3
class Plain:
    pass
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        PART
    def forward(self, x):
        return x
net = Net()
"""


def followed(part: str, use: str, folder: Path) -> Followed:
    path = folder / "program.py"
    path.write_text(HEAD.replace("PART", part) + use)
    return follow(path)


@pytest.mark.parametrize(
    "part", ["self.conv = Mine(3)", "self.conv = Conv(3)", "self.conv = Mine(3) if Conv else None"]
)
@pytest.mark.parametrize("use", ["torch.optim.Adam(net.parameters())", "assert len(list(net.parameters())) > 0"])
def test_what_may_be_a_module_may_have_parameters(part: str, use: str, tmp_path: Path):
    found = followed(part, f"{use}\ntorch.zeros(2, 3) @ torch.zeros(2, 3)\n", tmp_path)
    assert [f.line for f in found.errors] == [17]
    assert found.ended == ""


def test_what_is_no_module_has_none(tmp_path: Path):
    (error,) = followed("self.part = Plain()", "torch.optim.Adam(net.parameters())\n", tmp_path).errors
    assert error.message == "Adam is given a model without parameters"
