"""Programs that work on full batches and stop at the last one, which has fewer samples; and programs that don't."""

import pytest
from scripts import Scripts

HEAD = """import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset, random_split
from tqdm import tqdm

torch.manual_seed(0)
batch_size = 16
hidden_size = 11
inputs, targets = torch.randn(103, 7, 3), torch.randint(0, 5, (103,))
dataset = TensorDataset(inputs, targets)
loader = DataLoader(dataset, batch_size=batch_size, shuffle=True)
"""
TRAIN = """
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

def train(epoch):
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(epoch, total / len(loader))

for epoch in range(2):
    train(epoch)
"""
NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(21, 13)
        self.fc2 = nn.Linear(13, 5)

    def forward(self, x):
        x = FLAT
        return self.fc2(F.relu(self.fc1(x)))

model = Net()
"""
RECURRENT = """
class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, hidden_size, batch_first=True)
        self.fc = nn.Linear(hidden_size, 5)

    def forward(self, x):
        h0 = torch.zeros(1, SIZE, hidden_size)
        c0 = torch.zeros(1, SIZE, hidden_size)
        out, _ = self.lstm(x, (h0, c0))
        return self.fc(out[:, -1])

model = Classifier()
"""
KEPT = """
rnn, fc = nn.GRU(3, hidden_size, batch_first=True), nn.Linear(hidden_size, 5)
optimizer = torch.optim.SGD([*rnn.parameters(), *fc.parameters()], lr=0.1)
for epoch in range(2):
    hidden = START
    for x, y in loader:
        out, hidden = rnn(x, hidden)
        hidden = hidden.detach()
        loss = F.cross_entropy(fc(out[:, -1]), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
GAN = """
generator = nn.Sequential(nn.Linear(13, 21), nn.Tanh())
critic = nn.Sequential(nn.Linear(21, 1), nn.Sigmoid())
g_optimizer = torch.optim.Adam(generator.parameters())
c_optimizer = torch.optim.Adam(critic.parameters())
BEFORE
for i, (x, _) in enumerate(loader):
    WITHIN
    real = x.flatten(1)
    fake = generator(torch.randn(x.size(0), 13))
    c_loss = F.binary_cross_entropy(critic(real), ones) + F.binary_cross_entropy(critic(fake.detach()), zeros)
    c_optimizer.zero_grad()
    c_loss.backward()
    c_optimizer.step()
    g_loss = F.binary_cross_entropy(critic(fake), ones)
    g_optimizer.zero_grad()
    g_loss.backward()
    g_optimizer.step()
"""
LABELS = "ones, zeros = torch.ones(SIZE, 1), torch.zeros(SIZE, 1)"
BY_HAND = """
model = nn.Sequential(nn.Flatten(), nn.Linear(21, 5))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for i in range(0, STOP, batch_size):
        x, y = inputs[i : i + batch_size], targets[i : i + batch_size]
        loss = F.cross_entropy(model(x).view(SIZE, 5), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
ONE_HOT = """
model = nn.Sequential(nn.Flatten(), nn.Linear(21, 5))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
one_hot = torch.zeros(SIZE, 5)
for x, y in loader:
    one_hot.zero_()
    one_hot = one_hot[: len(y)].scatter(1, y.unsqueeze(1), 1.0)
    loss = F.mse_loss(model(x), one_hot)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
SIMILAR = """
encoder = nn.Sequential(nn.Flatten(), nn.Linear(21, 13))
optimizer = torch.optim.Adam(encoder.parameters())
MASK
for x, _ in loader:
    a, b = encoder(x), encoder(x + 0.1 * torch.randn_like(x))
    z = torch.cat([a, b])
    scores = F.normalize(z, dim=1) @ F.normalize(z, dim=1).T
    scores = scores.masked_fill(mask, float("-inf"))
    labels = torch.arange(len(z)).roll(len(x))
    loss = F.cross_entropy(scores, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
EVALUATION = """
model = nn.Sequential(nn.Flatten(), nn.Linear(21, 5))

@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    correct = 0
    for x, y in tqdm(loader):
        correct += (model(x).argmax(1).view(batch_size) == y).sum().item()
    return correct / len(loader.dataset)

print(evaluate(model, loader))
"""
SHOWN = """
model = nn.Sequential(nn.Flatten(), nn.Linear(21, 5))
correct = 0
with torch.no_grad():
    for ORDER:
        out = model(x)
        if FIRST:
            print(out.view(batch_size, 5)[0])
        correct += (out.argmax(1) == y).sum().item() + 1
"""
CUSTOM = """
class Sequences(Dataset):
    def __init__(self, count):
        self.data = torch.randn(count, 7, 3)

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        return {"x": self.data[index], "y": index % 5}

loader = DataLoader(Sequences(103), batch_size)
model = nn.Sequential(nn.Flatten(), nn.Linear(21, 5))
for batch in loader:
    logits = model(batch["x"])
    print(F.cross_entropy(logits, batch["y"][:batch_size]), logits + torch.zeros(SIZE, 5))
"""
FEW = "loader = DataLoader(dataset, batch_size=50)\n"
BAD = {
    "view by the batch size": NET.replace("FLAT", "x.view(batch_size, -1)") + TRAIN,
    "reshape by a number": NET.replace("FLAT", "x.reshape(16, 21)") + TRAIN,
    "a hidden state of the batch size": RECURRENT.replace("SIZE", "batch_size") + TRAIN,
    "a hidden state that is kept": KEPT.replace("START", "torch.zeros(1, batch_size, hidden_size)"),
    "a hidden state that is kept, without a start": KEPT.replace("START", "None"),
    "labels of a GAN": GAN.replace("BEFORE", LABELS.replace("SIZE", "batch_size")).replace("WITHIN", "pass"),
    "labels of a GAN, in the loop": GAN.replace("BEFORE", "").replace("WITHIN", LABELS.replace("SIZE", "batch_size")),
    "batches by hand": BY_HAND.replace("STOP", "len(inputs)").replace("SIZE", "batch_size"),
    "a mask": SIMILAR.replace("MASK", "mask = torch.eye(2 * batch_size, dtype=torch.bool)"),
    "evaluation": EVALUATION,
    "a data set of the program's": CUSTOM.replace("SIZE", "batch_size"),
    "a part of the data": (
        "train_set, test_set = random_split(dataset, [70, 33])\n"
        "loader, test_loader = DataLoader(train_set, batch_size), DataLoader(test_set, 16)\n"
        + NET.replace("FLAT", "x.view(16, 21)") + TRAIN
    ),
    "few batches": FEW + NET.replace("FLAT", "x.view(50, -1)") + TRAIN,
    "few batches of an evaluation": FEW + EVALUATION.replace("batch_size", "50"),
}  # fmt: skip
ZERO = "        optimizer.zero_grad()\n"
GOOD = {
    "the size of the batch": NET.replace("FLAT", "x.view(x.size(0), -1)") + TRAIN,
    "flatten": NET.replace("FLAT", "torch.flatten(x, 1)") + TRAIN,
    "the rest is counted": NET.replace("FLAT", "x.view(-1, 21)") + TRAIN,
    "a hidden state of this batch": RECURRENT.replace("SIZE", "x.size(0)") + TRAIN,
    "drop_last": "loader = DataLoader(dataset, batch_size, drop_last=True)\n"
    + RECURRENT.replace("SIZE", "batch_size")
    + TRAIN,
    "a multiple": "loader = DataLoader(TensorDataset(inputs[:96], targets[:96]), batch_size)\n"
    + NET.replace("FLAT", "x.view(batch_size, -1)")
    + TRAIN,
    "a hidden state that is cut": KEPT.replace("START", "torch.zeros(1, batch_size, hidden_size)").replace(
        "rnn(x, hidden)", "rnn(x, hidden[:, : x.size(0)].contiguous())"
    ),
    "a hidden state for each batch": KEPT.replace("START", "None").replace("rnn(x, hidden)", "rnn(x)"),
    "labels of this batch": GAN.replace("BEFORE", "").replace("WITHIN", LABELS.replace("SIZE", "len(x)")),
    "the last batch is left out": NET.replace("FLAT", "x.view(batch_size, -1)")
    + TRAIN.replace(ZERO, "        if len(x) < batch_size:\n            continue\n" + ZERO),
    "the loop ends before": NET.replace("FLAT", "x.view(batch_size, -1)")
    + TRAIN.replace("for x, y in loader", "for i, (x, y) in enumerate(loader)").replace(
        "        optimizer.zero_grad()\n", "        if i == 3:\n            break\n        optimizer.zero_grad()\n"
    ),
    "by hand, the size of the batch": BY_HAND.replace("STOP", "len(inputs)").replace("SIZE", "len(x)"),
    "by hand, full batches": BY_HAND.replace("STOP", "len(inputs) - batch_size + 1").replace("SIZE", "batch_size"),
    "a part of a buffer": ONE_HOT.replace("SIZE", "batch_size"),
    "a mask of this batch": SIMILAR.replace("MASK", "").replace(
        "    scores = scores", "    mask = torch.eye(len(z), dtype=torch.bool)\n    scores = scores"
    ),
    "a data set of the program's": CUSTOM.replace("SIZE", "len(logits)"),
    "the first batch only": SHOWN.replace("ORDER", "x, y in loader").replace("FIRST", "correct == 0"),
    "the first batch by number": SHOWN.replace("ORDER", "i, (x, y) in enumerate(loader)").replace("FIRST", "i == 0"),
    "what stops at the last batch is caught": EVALUATION.replace(
        "        correct +=", "        try:\n            correct +="
    ).replace("== y).sum().item()\n", "== y).sum().item()\n        except RuntimeError:\n            pass\n"),
}  # fmt: skip


SCRIPTS = Scripts(HEAD)
said, run = SCRIPTS.said, SCRIPTS.run


@pytest.mark.parametrize("source", BAD.values(), ids=BAD)
def test_a_last_batch_that_does_not_fit_is_found(source, tmp_path):
    with pytest.raises((RuntimeError, ValueError)):
        run(source)
    whole = source.replace("random_split(dataset, [70, 33])", "random_split(dataset, [64, 39])")
    if whole == source:
        size = 100 if "size=50" in source else 96
        whole = f"inputs, targets = inputs[:{size}], targets[:{size}]\ndataset = TensorDataset(inputs, targets)\n"
        whole += "loader = DataLoader(dataset, batch_size)\n" + source.replace("Sequences(103)", "Sequences(96)")
    run(whole)  # full batches fit
    assert not said(whole, tmp_path).errors
    found = said(source, tmp_path)
    assert [e.code for e in found.errors] == ["tensor-shape"]
    assert found.errors[0].message.startswith("the last batch has ")
    assert not found.warnings


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD)
def test_a_last_batch_that_fits_is_left_alone(source, tmp_path):
    run(source)
    found = said(source, tmp_path)
    assert not found.errors
    assert not found.warnings


def test_the_sentence(tmp_path):
    """What is said, and what would be right."""
    (found,) = said(BAD["view by the batch size"], tmp_path).errors
    assert found.message == (
        "the last batch has 7 samples, not 16: view: 147 elements can't be viewed as (16, -1): "
        "147 is not divisible by 16 [input: Float32[7, 7, 3]]"
    )
    assert found.hint == "drop_last=True in the loader, or take the size from the batch: x.size(0)"


def test_the_shapes_are_those_of_full_batches(tmp_path):
    found = said(NET.replace("FLAT", "x.flatten(1)") + TRAIN, tmp_path)
    line = (HEAD + NET + TRAIN).splitlines().index("        loss = F.cross_entropy(model(x), y)") + 1
    path = str(tmp_path / "program.py")
    assert [str(t) for t in found.shapes_at(path, line - 2)["x"]] == ["Float32[16, 7, 3]"]
