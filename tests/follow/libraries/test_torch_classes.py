"""Classes along the wrong dim, targets that are no classes, and programs that look alike."""

from pathlib import Path

import pytest
import torch

from simpletorch.follow import follow

HEAD = """import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset
torch.manual_seed(0)
class Digits(Dataset):
    def __len__(self):
        return 30
    def __getitem__(self, index):
        return torch.randn(1, 5, 5), index % 10
class Net(nn.Module):
    def __init__(self, last=nn.Identity()):
        super().__init__()
        self.hidden = nn.Linear(25, 17)
        self.classes = nn.Linear(17, 10)
        self.last = last
    def forward(self, x):
        x = torch.relu(self.hidden(x.flatten(1)))
        return self.last(self.classes(x))
"""
EVALUATION = """
model = Net()
def accuracy(model, loader):
    model.eval()
    hits = []
    with torch.no_grad():
        for images, labels in loader:
            logits = model(images)
            RESULT
            RIGHT
            hits.append((result, right))
    return hits
result, right = accuracy(model, DataLoader(Digits(), batch_size=10))[0]
"""
TRAINING = """
model = Net(LAST)
criterion = CRITERION
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for images, labels in DataLoader(Digits(), batch_size=15):
        output = model(images)
        loss = LOSS
        right = F.cross_entropy(model.classes(torch.relu(model.hidden(images.flatten(1)))), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
result = loss
"""
POLICY = """
policy = nn.Sequential(nn.Linear(4, 13), nn.Tanh(), nn.Linear(13, 3))
states = torch.randn(7, 4)
logits = policy(states)
probabilities = PROBABILITIES
right = torch.ones(7)
result = probabilities.sum(1)
actions = torch.multinomial(probabilities, 1)
chosen = probabilities.gather(1, actions).squeeze(1)
(-chosen.log().mean()).backward()
"""


def evaluation(result, right="right = (logits.argmax(1) == labels).sum()"):
    """An evaluation that computes this, and what was meant."""
    return EVALUATION.replace("RESULT", result).replace("RIGHT", right)


def training(loss, criterion="nn.CrossEntropyLoss()", last="nn.Identity()"):
    """A training loop with this loss."""
    return TRAINING.replace("LOSS", loss).replace("CRITERION", criterion).replace("LAST", last)


ALL = "result = probabilities.argmax(1); right = logits.argmax(1)"
WRONG = {
    "argmax over the samples": evaluation("result = (logits.argmax(dim=0) == labels).sum()"),
    "argmax(0)": evaluation("prediction = torch.argmax(logits, 0)\n            result = prediction.eq(labels).sum()"),
    "max over the samples": evaluation(
        "_, prediction = torch.max(logits, 0)\n            result = (labels == prediction).sum()"
    ),
    "a softmax over the samples": evaluation(
        "probabilities = F.softmax(logits, dim=0)\n            result = probabilities.argmax(1)",
        "right = logits.argmax(1)",
    ),
    "max of a softmax over the samples": evaluation(
        "confidence, prediction = torch.softmax(logits, 0).max(dim=1)\n            result = confidence",
        "right = logits.softmax(1).max(1)[0]",
    ),
    "the best of a softmax over the samples": evaluation(
        "best, which = logits.softmax(dim=0).topk(3)\n            result = best", "right = logits.softmax(1).topk(3)[0]"
    ),
    "a layer over the samples": training("criterion(output, labels)", last="nn.Softmax(dim=0)"),
    "its logarithm": training("criterion(torch.log(output), labels)", "nn.NLLLoss()", "nn.Softmax(dim=0)"),
    "a logarithm over the samples": training("criterion(output, labels)", "nn.NLLLoss()", "nn.LogSoftmax(dim=0)"),
    "a function over the samples": training("F.nll_loss(F.log_softmax(output, dim=0), labels)"),
    "a policy": POLICY.replace("PROBABILITIES", "F.softmax(logits, dim=0)"),
}
RAISES = {
    "one-hot ints": training("criterion(output, F.one_hot(labels, 10))"),
    "one-hot ints for the classes that there are": training(
        "F.cross_entropy(output, F.one_hot(labels, num_classes=10))"
    ),
    "one-hot ints and logarithms": training(
        "criterion(output, F.one_hot(labels, 10))", "nn.NLLLoss()", "nn.LogSoftmax(dim=1)"
    ),
    "a column of classes": training("criterion(output, labels.unsqueeze(1))"),
    "floats as classes": training("criterion(output, labels.float())"),
    "classes from 1": """
x, y = torch.randn(80, 25), torch.randint(1, 11, (80,))
print(nn.CrossEntropyLoss()(Net()(x), y))
""",
    "classes from 1 in a loader": """
data = TensorDataset(torch.randn(80, 25), torch.randint(0, 10, (80,)) + 1)
model = Net()
for x, y in DataLoader(data, batch_size=40):
    loss = F.cross_entropy(model(x), y)
    loss.backward()
""",
    "a class too many": """
y = torch.tensor([0, 3, 10, 9])
print(F.nll_loss(F.log_softmax(Net()(torch.randn(4, 25)), 1), y))
""",
    "an output too few": """
classes = 12
y = torch.arange(24) % classes
model = nn.Linear(5, classes - 1)
loss = nn.CrossEntropyLoss()(model(torch.randn(24, 5)), torch.arange(12).repeat(2))
""",
    "one-hot of too few": "print(F.one_hot(torch.tensor([1, 2, 3]), 3))\n",
}
RIGHT = {
    "argmax": evaluation("result = (logits.argmax(dim=1) == labels).sum()"),
    "argmax(-1)": evaluation("result = torch.argmax(logits, -1).eq(labels).sum()"),
    "max": evaluation("result = (torch.max(logits, 1)[1] == labels).sum()"),
    "a softmax": evaluation("probabilities = F.softmax(logits, dim=1); " + ALL, "pass"),
    "the best": evaluation("result = logits.softmax(-1).topk(3)[0]; right = logits.softmax(1).topk(3)[0]", "pass"),
    "one picture": evaluation("result = logits[0].softmax(0).argmax(0); right = logits[0].argmax()", "pass"),
    "the sample that is most of a class": evaluation(
        "result = labels[logits.argmax(0)]; right = labels[logits.max(0)[1]]", "pass"
    ),
    "its sample by a softmax over them": evaluation(
        "result = logits.softmax(0).argmax(0); right = logits.argmax(0)", "pass"
    ),
    "a logarithm": training("criterion(torch.log(output), labels)", "nn.NLLLoss()", "nn.Softmax(dim=1)"),
    "a function": training("F.nll_loss(F.log_softmax(output, dim=1), labels)"),
    "one-hot floats": training("criterion(output, F.one_hot(labels, 10).float())"),
    "a policy": POLICY.replace("PROBABILITIES", "F.softmax(logits, dim=-1)"),
    "attention over samples": """
class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.score, self.out = nn.Linear(13, 3), nn.Linear(39, 2)
    def forward(self, x):
        weights = self.score(x).softmax(dim=0)
        return self.out((weights.t() @ x).flatten())
result = right = Bag()(torch.randn(19, 13)).detach()
""",
    "a class that is ignored": """
y = torch.tensor([0, 3, 255, 9])
logits = Net()(torch.randn(4, 25))
result = nn.CrossEntropyLoss(ignore_index=255)(logits, y)
right = F.cross_entropy(logits, y, ignore_index=255)
""",
    "all classes": """
y = torch.randint(0, 10, (80,))
logits = Net()(torch.randn(80, 25))
result, right = F.cross_entropy(logits, y), F.nll_loss(logits.log_softmax(1), y)
""",
}


def run(source: str) -> bool:
    """Whether what a program gives is what was meant.

    Raises:
        Exception: it fails.
    """
    scope: dict[str, torch.Tensor] = {}
    exec(compile(HEAD + source, "program.py", "exec"), scope)
    return scope["result"].shape == scope["right"].shape and scope["result"].allclose(scope["right"])


def said(source: str, folder: Path) -> list[str]:
    """The codes of what is said of a program."""
    path = folder / "program.py"
    path.write_text(HEAD + source)
    followed = follow(path)
    assert not followed.faults
    return [f.code for f in (*followed.errors, *followed.warnings)]


@pytest.mark.parametrize("source", WRONG.values(), ids=WRONG)
def test_classes_along_another_dim_are_found(source, tmp_path):
    assert not run(source)
    assert said(source, tmp_path) == ["tensor-loss"]


@pytest.mark.parametrize("source", RAISES.values(), ids=RAISES)
def test_targets_that_are_no_classes_are_errors(source, tmp_path):
    with pytest.raises((RuntimeError, IndexError)):
        run(source)
    (code,) = said(source, tmp_path)
    assert code in ("tensor-shape", "tensor-dtype")


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT)
def test_what_is_meant_is_left_alone(source, tmp_path):
    assert run(source)
    assert said(source, tmp_path) == []
