"""Models in the wrong mode, and programs that look alike."""

from pathlib import Path

import pytest

from simpletorch.follow import follow

HEAD = """import copy
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
x, y = torch.randn(34, 5), torch.randint(0, 3, (34,))
train_loader = DataLoader(TensorDataset(x, y), batch_size=17)
test_loader = DataLoader(TensorDataset(x, y), batch_size=17)
class Net(nn.Module):
    def __init__(self, layer=nn.Dropout):
        super().__init__()
        self.first = nn.Linear(5, 11)
        self.between = layer(11) if layer is nn.BatchNorm1d else layer(0.5)
        self.last = nn.Linear(11, 3)
    def forward(self, x):
        seen.append(("train" if self.between.training else "eval", torch.is_grad_enabled()))
        return self.last(self.between(F.relu(self.first(x))))
seen = []
"""
LOOP = """
def train(model, optimizer):
    TRAIN
    for inputs, targets in train_loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(inputs), targets)
        loss.backward()
        optimizer.step()

def evaluate(model):
    EVAL
    correct = 0
    with torch.no_grad():
        for inputs, targets in test_loader:
            correct += (model(inputs).argmax(1) == targets).sum().item()
    AFTER
    return correct / 34

model = Net(LAYER)
START
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(4):
    train(model, optimizer)
    print(evaluate(model))
"""


def epochs(train="pass", evaluate="model.eval()", after="pass", layer="nn.Dropout", start="pass"):
    """A program of epochs, each with an evaluation."""
    parts = {"TRAIN": train, "EVAL": evaluate, "AFTER": after, "LAYER": layer, "START": start}
    out = LOOP
    for name, text in parts.items():
        out = out.replace(name, text)
    return out


FLAT = """
model = Net()
optimizer = torch.optim.Adam(model.parameters())
START
for epoch in range(4):
    EPOCH
    for inputs, targets in train_loader:
        loss = F.cross_entropy(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    BETWEEN
    with torch.no_grad():
        total = 0
        for inputs, targets in test_loader:
            total += F.cross_entropy(model(inputs), targets).item()
    print(total)
"""


def flat(epoch="pass", between="model.eval()", start="pass"):
    """The same without functions."""
    return FLAT.replace("EPOCH", epoch).replace("BETWEEN", between).replace("START", start)


OBJECT = """
class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    def step(self, batch):
        inputs, targets = batch
        loss = F.cross_entropy(self.model(inputs), targets)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()
    @torch.no_grad()
    def validate(self):
        EVAL
        hits = [(self.model(a).argmax(-1) == b).float().mean() for a, b in test_loader]
        return sum(hits) / len(hits)
    def fit(self, count):
        for epoch in range(count):
            TRAIN
            for batch in train_loader:
                self.step(batch)
            print(self.validate())
Trainer(Net()).fit(3)
"""
SEQUENTIAL = """
model = nn.Sequential(nn.Linear(5, 7), nn.BatchNorm1d(7), nn.ReLU(), nn.Linear(7, 3))
model.register_forward_hook(lambda m, a, out: seen.append(("train" if m.training else "eval", torch.is_grad_enabled())))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
TRAIN
for epoch in range(3):
    for a, b in train_loader:
        optimizer.zero_grad()
        criterion(model(a), b).backward()
        optimizer.step()
    EVAL
    with torch.inference_mode(False), torch.no_grad():
        print(sum(criterion(model(a), b).item() for a, b in test_loader))
"""
STAYS = {  # trained in eval mode
    "eval in a function": epochs(),
    "batch norm": epochs(layer="nn.BatchNorm1d"),
    "train before the epochs": epochs(start="model.train()"),
    "train(False)": epochs(evaluate="model.train(False)"),
    "without functions": flat(),
    "train once": flat(start="model.train()"),
    "now and then": flat(between="if epoch % 2 == 0: model.eval()"),
    "an object": OBJECT.replace("EVAL", "self.model.eval()").replace("TRAIN", "pass"),
    "train in the constructor": OBJECT.replace("EVAL", "self.model.eval()")
    .replace("TRAIN", "pass")
    .replace("self.model = model", "self.model = model.train()"),
    "a Sequential": SEQUENTIAL.replace("EVAL", "model.eval()").replace("TRAIN", "model.train()"),
}
ACTIVE = {  # evaluated in training mode
    "a function": epochs(evaluate="pass"),
    "a function and batch norm": epochs(evaluate="pass", layer="nn.BatchNorm1d"),
    "loops": flat(between="pass"),
    "after training": LOOP.replace("    print(evaluate(model))\n", "print(evaluate(model))\n")
    .replace("EVAL", "pass")
    .replace("TRAIN", "pass")
    .replace("AFTER", "pass")
    .replace("LAYER", "")
    .replace("START", "pass"),
    "a decorator": epochs(evaluate="pass").replace("def evaluate", "@torch.no_grad()\ndef evaluate"),
    "eq": epochs(evaluate="pass").replace(
        "(model(inputs).argmax(1) == targets)", "model(inputs).max(1)[1].eq(targets)"
    ),
    "two loops": flat(between="pass").replace("range(4)", "range(2)"),
    "an Adam": epochs(evaluate="pass").replace("SGD", "Adam"),
    "enumerated": epochs(evaluate="pass").replace(
        "for inputs, targets in test_loader", "for i, (inputs, targets) in enumerate(test_loader)"
    ),
    "accuracy of all": epochs(evaluate="losses = []", after="losses.append(correct)"),
    "train alone": epochs(train="model.train()", evaluate="pass"),
    "train once": flat(between="pass", start="model.train()"),
}
DROPS = """
class Functional(Net):
    def forward(self, x):
        hidden = F.relu(self.first(x))
        seen.append(("train" if self.training else "eval", torch.is_grad_enabled()))
        return self.last(DROPOUT)
model = Functional()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    model.train()
    for a, b in train_loader:
        optimizer.zero_grad()
        F.cross_entropy(model(a), b).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        print((model(x).argmax(1) == y).float().mean(), model(x).equal(model(x)))
"""
ALWAYS = {  # drops in eval mode, too
    "a default": "F.dropout(hidden, 0.5)",
    "both defaults": "F.dropout(hidden)",
    "by name": "F.dropout(hidden, p=0.3)",
    "twice": "F.dropout(F.relu(F.dropout(hidden, 0.2)), 0.5, self.training)",
    "channels": "F.dropout1d(hidden.unsqueeze(1)).squeeze(1)",
    "all of it": "nn.functional.dropout(hidden, 0.25)",
}
BY_MODE = {
    "the mode": "F.dropout(hidden, 0.5, training=self.training)",
    "the mode, by place": "F.dropout(hidden, 0.5, self.training)",
    "in training alone": "F.dropout(hidden, 0.5) if self.training else hidden",
    "on purpose": "F.dropout(hidden, 0.5, training=True)",
    "on purpose, by place": "F.dropout(hidden, 0.5, True)",
    "alpha, which drops if it is asked to": "F.alpha_dropout(hidden, 0.5)",
    "nothing": "F.dropout(hidden, 0.0)",
    "nothing, by name": "F.dropout(hidden, p=0)",
}
ONE = {
    "one sample": "print(Net(nn.BatchNorm1d)(torch.randn(1, 5)))\n",
    "a layer": "print(nn.BatchNorm1d(7)(torch.randn(1, 7)))\n",
    "a picture of one pixel": "print(nn.BatchNorm2d(7)(torch.randn(1, 7, 1, 1)))\n",
    "a pooled picture": """
branch = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(3, 7, 1), nn.BatchNorm2d(7), nn.ReLU())
print(branch(torch.randn(1, 3, 8, 8)).shape)
""",
    "a batch of one": """
model = Net(nn.BatchNorm1d)
for a, b in DataLoader(TensorDataset(x, y), batch_size=1):
    F.cross_entropy(model(a), b).backward()
""",
    "a last batch of one": """
model = Net(nn.BatchNorm1d)
for a, b in DataLoader(TensorDataset(x[:17], y[:17]), batch_size=16):
    F.cross_entropy(model(a), b).backward()
""",
    "an unsqueezed sample": "model = Net(nn.BatchNorm1d)\nmodel.train()\nprint(model(x[0].unsqueeze(0)))\n",
    "three dims": "print(nn.BatchNorm1d(5)(torch.randn(1, 5, 1)))\n",
    "under no_grad": "with torch.no_grad():\n    print(Net(nn.BatchNorm1d)(x[:1]))\n",
    "a volume": "print(nn.BatchNorm3d(2)(torch.zeros(1, 2, 1, 1, 1)))\n",
}
RIGHT = {
    "train in each epoch": epochs(train="model.train()"),
    "train behind the evaluation": epochs(after="model.train()"),
    "train without functions": flat(epoch="model.train()"),
    "train(True)": flat(epoch="model.train(True)"),
    "an object": OBJECT.replace("EVAL", "self.model.eval()").replace("TRAIN", "self.model.train()"),
    "a Sequential": SEQUENTIAL.replace("EVAL", "model.eval()")
    .replace("TRAIN", "pass")
    .replace("    for a, b in train", "    model.train()\n    for a, b in train"),
    "nothing that differs": epochs(layer="nn.Softplus"),
    "nothing that differs and no eval": epochs(evaluate="pass", layer="nn.Softplus"),
    "no dropout": epochs(evaluate="pass").replace("Net(nn.Dropout)", "Net(lambda p: nn.Dropout(0.0))"),
    "an evaluation behind all": flat(between="").replace(
        "    \n    with", "model.eval()\nfor _ in range(1):\n    with"
    ),
    "the mode as it was": epochs(evaluate="before = model.training; model.eval()", after="model.train(before)"),
    "in eval mode on purpose": flat(start="model.eval()"),
    "frozen batch norm": """
model = Net(nn.BatchNorm1d)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(4):
    model.train()
    if epoch >= 2:
        model.between.eval()
    for a, b in train_loader:
        optimizer.zero_grad()
        F.cross_entropy(model(a), b).backward()
        optimizer.step()
""",
    "samples by dropout": """
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for a, b in train_loader:
    optimizer.zero_grad()
    F.cross_entropy(model(a), b).backward()
    optimizer.step()
with torch.no_grad():
    print(torch.stack([model(x) for _ in range(20)]).std(0))
""",
    "a teacher": """
student, teacher = Net(), Net()
teacher.eval()
optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
for epoch in range(3):
    for a, _ in train_loader:
        with torch.no_grad():
            wanted = teacher(a).softmax(1)
        optimizer.zero_grad()
        F.cross_entropy(student(a), wanted).backward()
        optimizer.step()
""",
    "a generator whose pictures are judged": """
generator, judge = Net(nn.BatchNorm1d), nn.Linear(3, 1)
first = torch.optim.Adam(generator.parameters())
second = torch.optim.Adam(judge.parameters())
for a, _ in train_loader:
    with torch.no_grad():
        fake = generator(a)
    loss = F.softplus(judge(fake)).mean()
    second.zero_grad()
    loss.backward()
    second.step()
    first.zero_grad()
    F.softplus(-judge(generator(a))).mean().backward()
    first.step()
""",
    "samples by dropout, asked for": epochs(train="model.train()", evaluate="model.train()"),
    "one sample in eval mode": "model = Net(nn.BatchNorm1d).eval()\nprint(model(x[:1]))\n",
    "one picture of many pixels": "print(nn.BatchNorm2d(3)(torch.randn(1, 3, 4, 4)).shape)\n",
    "layer norm of one sample": "print(nn.LayerNorm(5)(x[:1]).shape)\n",
}


def modes(source: str) -> list[tuple[str, bool]]:
    """In which mode the model was called, each time, and whether with gradients."""
    scope: dict[str, list[tuple[str, bool]]] = {}
    exec(compile(HEAD + source, "program.py", "exec"), scope)
    return scope["seen"]


def said(source: str, folder: Path) -> list[str]:
    """The codes of what is said of a program."""
    path = folder / "program.py"
    path.write_text(HEAD + source)
    followed = follow(path)
    assert not followed.faults
    return [f.code for f in (*followed.errors, *followed.warnings)]


@pytest.mark.parametrize("source", STAYS.values(), ids=STAYS)
def test_training_in_eval_mode_is_found(source, tmp_path):
    seen = modes(source)
    assert ("train", True) in seen
    assert ("eval", True) in seen[seen.index(("train", True)) :]
    assert said(source, tmp_path) == ["tensor-mode"]


@pytest.mark.parametrize("source", ACTIVE.values(), ids=ACTIVE)
def test_evaluation_in_training_mode_is_found(source, tmp_path):
    assert ("train", False) in modes(source)
    assert said(source, tmp_path) == ["tensor-mode"]


@pytest.mark.parametrize("dropout", ALWAYS.values(), ids=ALWAYS)
def test_dropout_that_never_ends_is_found(dropout, tmp_path, capsys):
    modes(DROPS.replace("DROPOUT", dropout))
    assert "False" in capsys.readouterr().out  # twice the same, and twice another answer
    assert said(DROPS.replace("DROPOUT", dropout), tmp_path) == ["tensor-mode"]


@pytest.mark.parametrize("dropout", BY_MODE.values(), ids=BY_MODE)
def test_dropout_in_training_is_left_alone(dropout, tmp_path):
    modes(DROPS.replace("DROPOUT", dropout))
    assert said(DROPS.replace("DROPOUT", dropout), tmp_path) == []


@pytest.mark.parametrize("source", ONE.values(), ids=ONE)
def test_batch_norm_of_one_value_is_an_error(source, tmp_path):
    with pytest.raises(ValueError, match="more than 1 value per channel"):
        modes(source)
    assert said(source, tmp_path) == ["tensor-shape"]


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT)
def test_what_is_meant_is_left_alone(source, tmp_path):
    modes(source)
    assert said(source, tmp_path) == []


def test_the_message_says_since_when(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(HEAD + epochs())
    (warning,) = follow(path).warnings
    assert warning.severity == "warning"
    line = (HEAD + epochs()).splitlines().index("    model.eval()") + 1
    assert warning.message == f"Net is still trained in eval mode, since line {line}: Dropout is off"


# -- evaluations that are recorded for nothing -------------------------------------------------------------------------


GRAPHS_LOOP = """
def train(model, optimizer):
    model.train()
    for inputs, targets in train_loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(inputs), targets)
        loss.backward()
        optimizer.step()

DEFINITION

model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    train(model, optimizer)
    EVALUATION
"""


def graphs(definition: str, evaluation: str = "print(evaluate(model))") -> str:
    """A program with an evaluation in eval mode."""
    return GRAPHS_LOOP.replace("DEFINITION", definition.strip()).replace("EVALUATION", evaluation)


COUNTED = """
DECORATOR
def evaluate(model):
    model.eval()
    correct = 0
    for inputs, targets in test_loader:
        BODY
    return correct / 34
"""


def counted(body: str, decorator: str = "") -> str:
    return graphs(COUNTED.replace("DECORATOR", decorator).replace("BODY", body))


RECORDED = {
    "hits of argmax": counted("correct += (model(inputs).argmax(1) == targets).sum().item()"),
    "hits of max": counted("_, found = model(inputs).max(1); correct += found.eq(targets).sum().item()"),
    "the loss as a number": counted("correct += F.cross_entropy(model(inputs), targets).item()"),
    "the loss as a float": counted("correct += float(F.cross_entropy(model(inputs), targets))"),
    "with its position": graphs(
        """
def evaluate(model):
    model.eval()
    losses = []
    for i, (inputs, targets) in enumerate(test_loader):
        losses.append(F.cross_entropy(model(inputs), targets).item())
    return sum(losses)
"""
    ),
    "at the end of the program": graphs(
        "",
        "pass\nmodel.eval()\nhits = 0\nfor inputs, targets in test_loader:\n"
        "    hits += (model(inputs).argmax(1) == targets).sum().item()\nprint(hits)",
    ),
    "by train(False)": graphs(
        """
def evaluate(model):
    model.train(False)
    correct = 0
    for inputs, targets in test_loader:
        correct += (model(inputs).argmax(dim=1) == targets).sum().item()
    model.train()
    return correct
"""
    ),
    "in a method": graphs(
        """
class Trainer:
    def __init__(self, model):
        self.model = model
    def evaluate(self):
        self.model.eval()
        correct = 0
        for inputs, targets in test_loader:
            scores = self.model(inputs)
            correct += (scores.argmax(-1) == targets).sum().item()
        return correct
""",
        "print(Trainer(model).evaluate())",
    ),
    "with a helper": graphs(
        """
def accuracy(scores, targets):
    return (scores.argmax(1) == targets).float().mean().item()
def evaluate(model):
    model.eval()
    total = 0
    for inputs, targets in test_loader:
        total += accuracy(model(inputs), targets)
    return total
"""
    ),
    "detached too late": counted(
        "scores = model(inputs).detach(); correct += (scores.argmax(1) == targets).sum().item()"
    ),
}
HITS = "correct += (model(inputs).argmax(1) == targets).sum().item()"
NOT_RECORDED = {
    "no_grad around the loop": graphs(
        """
def evaluate(model):
    model.eval()
    correct = 0
    with torch.no_grad():
        for inputs, targets in test_loader:
            correct += (model(inputs).argmax(1) == targets).sum().item()
    return correct
"""
    ),
    "no_grad as a decorator": counted(HITS, "@torch.no_grad()"),
    "inference_mode": counted(HITS, "@torch.inference_mode()"),
    "no_grad in the loop": counted(f"with torch.no_grad(): {HITS}"),
    "set_grad_enabled": graphs(
        COUNTED.replace("DECORATOR", "").replace("BODY", HITS),
        "torch.set_grad_enabled(False); print(evaluate(model)); torch.set_grad_enabled(True)",
    ),
    "an attack": counted(
        "inputs.requires_grad_(True); loss = F.cross_entropy(model(inputs), targets); loss.backward(); correct += 1"
    ),
    "a helper that attacks": graphs(
        """
def attack(model, inputs, targets):
    inputs = inputs.clone().detach()
    inputs.requires_grad = True
    F.cross_entropy(model(inputs), targets).backward()
    return inputs + inputs.grad.sign()
def evaluate(model):
    model.eval()
    correct = 0
    for inputs, targets in test_loader:
        correct += (model(attack(model, inputs, targets)).argmax(1) == targets).sum().item()
    return correct
"""
    ),
    "gradients of the input": counted(
        "inputs.requires_grad_(True); scores = model(inputs); "
        "correct += (torch.autograd.grad(F.cross_entropy(scores, targets), inputs)[0] == 0).sum().item()"
    ),
    "trained with dropout off": graphs(
        """
def evaluate(model):
    model.eval()
    for inputs, targets in train_loader:
        optimizer.zero_grad()
        F.cross_entropy(model(inputs), targets).backward()
        optimizer.step()
    model.train()
""",
        "pass",
    )
    + "evaluate(model)\n",
    "one batch": graphs("", "model.eval(); print(model(x[:3]).argmax(1))"),
    "a loop that only looks": graphs(
        "", "model.eval()\n    for inputs, targets in test_loader: print(model(inputs).shape)"
    ),
}


def noted(source: str, folder: Path) -> list[str]:
    """The codes of what is noted of a program."""
    path = folder / "program.py"
    path.write_text(HEAD + source)
    followed = follow(path)
    assert not followed.faults
    return [f.code for f in followed.remarks]


@pytest.mark.parametrize("source", RECORDED.values(), ids=RECORDED)
def test_an_evaluation_that_is_recorded_is_noted(source, tmp_path):
    seen = modes(source)
    assert ("eval", True) in seen[seen.index(("train", True)) :]
    assert noted(source, tmp_path) == ["tensor-memory"]
    assert said(source, tmp_path) == []


@pytest.mark.parametrize("source", NOT_RECORDED.values(), ids=NOT_RECORDED)
def test_what_is_not_recorded_or_needed_is_left_alone(source, tmp_path):
    modes(source)
    assert noted(source, tmp_path) == []
