"""Losses that are given something else than they take: computed without a word, and not what was meant."""

from pathlib import Path

import pytest
import torch

from simpletorch.follow import follow

HEAD = """import torch
import torch.nn.functional as F
from torch import nn
torch.manual_seed(0)
x, target = torch.randn(7, 3), torch.arange(7) % 5
layer, one = nn.Linear(3, 5), nn.Linear(3, 1)
logits, score, yes = layer(x), one(x), torch.ones(7, 1)
right = F.cross_entropy(logits, target)
right_of_two = F.binary_cross_entropy_with_logits(score, yes)
class Net(nn.Module):
    def __init__(self, last):
        super().__init__()
        self.layer, self.last = layer, last
    def forward(self, x):
        return self.last(self.layer(x))
"""

WRONG = {
    "softmax": "loss = F.cross_entropy(F.softmax(logits, dim=1), target)\n",
    "softmax, a method": "loss = nn.CrossEntropyLoss()(logits.softmax(-1), target)\n",
    "softmax and a name": "probs = torch.softmax(logits, -1)\nloss = F.cross_entropy(probs.float(), target)\n",
    "a model that ends in one": "loss = nn.CrossEntropyLoss()(Net(nn.Softmax(dim=1))(x), target)\n",
    "a Sequential that ends in one": "loss = F.cross_entropy(nn.Sequential(layer, nn.Softmax(-1))(x), target)\n",
    "a policy over the batch": (
        "right = torch.distributions.Categorical(probs=logits.softmax(-1)).probs\n"
        "loss = torch.distributions.Categorical(probs=logits.softmax(0)).probs\n"
    ),
    "of images": """images, target = torch.randn(2, 5, 3, 3), torch.zeros(2, 3, 3, dtype=torch.long)
right, loss = F.cross_entropy(images, target), F.cross_entropy(images.softmax(1), target)
""",
    "softmax and nll_loss": "loss = F.nll_loss(F.softmax(logits, dim=1), target)\n",
    "Softmax and NLLLoss": "loss = nn.NLLLoss()(Net(nn.Softmax(dim=1))(x), target)\n",
    "log_softmax over the batch": "loss = F.nll_loss(F.log_softmax(logits, dim=0), target)\n",
    "LogSoftmax over the batch": "loss = nn.NLLLoss()(nn.LogSoftmax(dim=0)(logits), target)\n",
    "sigmoid": "right, loss = right_of_two, F.binary_cross_entropy_with_logits(torch.sigmoid(score), yes)\n",
    "sigmoid, a method": "right, loss = right_of_two, nn.BCEWithLogitsLoss()(score.sigmoid(), yes)\n",
    "sigmoid and a shape": """right = F.binary_cross_entropy_with_logits(score.squeeze(1), yes[:, 0])
loss = F.binary_cross_entropy_with_logits(score.sigmoid().squeeze(1), yes[:, 0])
""",
    "Sigmoid": "right, loss = right_of_two, nn.BCEWithLogitsLoss()(nn.Sequential(one, nn.Sigmoid())(x), yes)\n",
    "in a loop": """for _ in range(3):
    probs = nn.Sequential(layer, nn.Softmax(dim=1))(x)
    loss = F.cross_entropy(probs, target)
""",
}

RIGHT = {
    "logits": "loss = F.cross_entropy(logits, target)\n",
    "log_softmax and nll_loss": "loss = F.nll_loss(F.log_softmax(logits, dim=1), target)\n",
    "LogSoftmax and NLLLoss": "loss = nn.NLLLoss()(Net(nn.LogSoftmax(dim=-1))(x), target)\n",
    "log_softmax twice is once": "loss = F.cross_entropy(F.log_softmax(logits, dim=1), target)\n",
    "the logarithm of a softmax": "loss = F.nll_loss(F.softmax(logits, dim=1).log(), target)\n",
    "probabilities as a target": "loss = F.cross_entropy(logits, F.softmax(logits.detach(), dim=1))\nright = loss\n",
    "a softmax that is a weight": "loss = F.cross_entropy(logits * F.softmax(logits, 1).sum(1, True), target)\n",
    "a softmax inside": "loss = F.cross_entropy(logits + 0 * logits.softmax(-1), target)\n",
    "attention": """weights = F.softmax(logits @ logits.T, dim=-1)
loss, right = F.cross_entropy(weights @ logits, target), F.cross_entropy(weights @ logits, target)
""",
    "a probability beside": "probs = F.softmax(logits, dim=1)\nloss = F.cross_entropy(logits, target)\n",
    "a way that isn't gone": "loss = F.cross_entropy(logits if True else logits.softmax(1), target)\n",
    "sigmoid and binary_cross_entropy": "right, loss = right_of_two, F.binary_cross_entropy(score.sigmoid(), yes)\n",
    "scores": "right, loss = right_of_two, nn.BCEWithLogitsLoss()(score, yes)\n",
    "a sigmoid that is a gate": """gated = score * torch.sigmoid(score)
loss = right = F.binary_cross_entropy_with_logits(gated, yes)
""",
    "nll_loss to pick": """picked = -F.nll_loss(F.softmax(logits, dim=1), target, reduction="none")
loss, right = -picked.log().mean(), F.cross_entropy(logits, target)
""",
    "a softmax over places": """images, target = torch.randn(2, 5, 7), torch.zeros(2, 7, dtype=torch.long)
loss = right = F.cross_entropy(images.softmax(2), target)
""",
}


def warned(source: str, folder: Path) -> list[str]:
    """The codes of what is said of a program."""
    path = folder / "program.py"
    path.write_text(HEAD + source)
    followed = follow(path)
    assert not followed.faults
    assert not followed.errors
    return [w.code for w in followed.warnings]


def is_right(source: str) -> bool:
    """Whether a program's loss is the one that is meant."""
    scope: dict[str, torch.Tensor] = {}
    exec(compile(HEAD + source, "program.py", "exec"), scope)
    return torch.allclose(scope["loss"], scope["right"])


@pytest.mark.parametrize("source", WRONG.values(), ids=WRONG)
def test_a_loss_of_something_else_is_found(source, tmp_path):
    assert not is_right(source)
    assert warned(source, tmp_path) == ["tensor-loss"]


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT)
def test_what_is_meant_is_left_alone(source, tmp_path):
    assert is_right(source)
    assert warned(source, tmp_path) == []


def test_a_warning_does_not_fail_the_program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(HEAD + WRONG["softmax"])
    (warning,) = follow(path).warnings
    assert warning.severity == "warning"
    assert "softmax" in warning.message
    assert warning.hint
