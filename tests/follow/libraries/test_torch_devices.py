"""Programs that mix devices where there is CUDA, and programs that don't: torch's fake CUDA tensors say which do."""

import contextlib
import io
import re
from pathlib import Path

import pytest
import torch
from programs import compare, follow_source
from torch import nn
from torch._subclasses import FakeTensorMode

from simpletorch.follow import follow
from simpletorch.follow.values import Unknown

HEAD = """import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
"""
TRAINING = """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

class Net(nn.Module):
    def __init__(self, inputs, classes):
        super().__init__()
        self.first = nn.Linear(inputs, 11)
        self.second = nn.Linear(11, classes)
    def forward(self, x):
        return self.second(F.relu(self.first(x)))

x, y = torch.randn(38, 5), torch.randint(0, 7, (38,))
loader = DataLoader(TensorDataset(x, y), batch_size=19)
model = Net(5, 7)
MODEL
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for inputs, targets in loader:
        MOVES
        optimizer.zero_grad()
        outputs = model(inputs)
        loss = criterion(outputs, targets)
        loss.backward()
        optimizer.step()
AFTER
"""


def training(
    model="model = model.to(device)", moves="inputs, targets = inputs.to(device), targets.to(device)", after=""
):
    """A training script with these lines."""
    return TRAINING.replace("MODEL", model).replace("MOVES", moves).replace("AFTER", after)


CLASSES = """
device = "cuda" if torch.cuda.is_available() else "cpu"

class Encoder(nn.Module):
    def __init__(self, words, size):
        super().__init__()
        self.words = nn.Embedding(words, size)
        self.rnn = nn.LSTM(size, size, batch_first=True)
        INIT
    def forward(self, tokens):
        x = self.words(tokens)
        FORWARD
        return x

model = Encoder(50, 13).to(device)
tokens = torch.randint(0, 50, (3, 7)).to(device)
print(model(tokens).shape)
"""


def encoder(forward, init="pass"):
    """A model with this in its constructor and its forward."""
    return CLASSES.replace("INIT", init).replace("FORWARD", forward)


STATEMENTS = """
use_cuda = torch.cuda.is_available()
x, y = torch.randn(38, 5), torch.randint(0, 7, (38,))
loader = DataLoader(TensorDataset(x, y), batch_size=19)
model = nn.Sequential(nn.Linear(5, 11), nn.ReLU(), nn.Linear(11, 7))
criterion = nn.CrossEntropyLoss()
MODEL
for inputs, targets in loader:
    BATCH
    loss = criterion(model(inputs), targets)
    print(loss.shape)
AFTER
"""
MOVED = "if use_cuda:\n    inputs, targets = inputs.cuda(), targets.cuda()"


def statements(model="if use_cuda:\n    model.cuda()", batch=MOVED, after="pass"):
    """A script that moves things by ``if`` statements."""
    return STATEMENTS.replace("MODEL", model).replace("BATCH", batch.replace("\n", "\n    ")).replace("AFTER", after)


DEVICE = 'torch.device("cuda" if torch.cuda.is_available() else "cpu")'
FLAG = """no_cuda = False
use_cuda = not no_cuda and torch.cuda.is_available()
device = torch.device("cuda" if use_cuda else "cpu")"""
LONG = f"""
device = {DEVICE}

class Sines(torch.utils.data.Dataset):
    def __init__(self, size, steps):
        self.x = torch.rand(size, steps, 1)
        self.y = self.x.sum((1, 2))
    def __len__(self):
        return len(self.x)
    def __getitem__(self, i):
        return self.x[i], self.y[i]

model = nn.Linear(7, 1).to(device)
for i, (x, y) in enumerate(DataLoader(Sines(500, 7), batch_size=32)):
    x = x.to(device)
    loss = F.mse_loss(model(x.flatten(1)).squeeze(1), y)
    if i % 10 == 0:
        print(i)
"""
OPTION = """import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--plain", action="store_true")
args = parser.parse_args([])
fast = not args.plain and torch.cuda.is_available()
device = torch.device("cuda" if fast else "cpu")"""
WRONG = {
    "an option that is off, whatever its name": training(moves="inputs = inputs.to(device)").replace(
        f"device = {DEVICE}", OPTION
    ),
    "a condition whose name has nothing to do with it": statements(
        batch="if use_cuda:\n    inputs = inputs.cuda()",
        after="cuda_layers = 2\nif cuda_layers > 2:\n    x = x.cpu()",
    ),
    "a text about cuda in a condition": statements(
        batch="if use_cuda:\n    inputs = inputs.cuda()", after='if "accelerator" in str(x.shape):\n    x = x.cpu()'
    ),
    "a flag that is off": training(moves="inputs = inputs.to(device)").replace(f"device = {DEVICE}", FLAG),
    "many batches": LONG,
    "inputs left behind": training(moves="targets = targets.to(device)"),
    "targets left behind": training(moves="inputs = inputs.to(device)"),
    "a model left behind": training(model="pass"),
    "a result that is dropped": training(moves="inputs.to(device); targets = targets.to(device)"),
    "evaluation": training(after="with torch.no_grad():\n    print(model(x).argmax(1).shape)"),
    "labels of all": training(
        after="with torch.no_grad():\n    print((model(x.to(device)).argmax(1) == y).float().mean().shape)"
    ),
    "numpy": training(after="print(model(x.to(device)).detach().numpy().shape)"),
    "a mask made in forward": encoder("x = x.masked_fill(torch.rand(3, 7, 1) > 0.5, 0.0)"),
    "positions made in forward": encoder(
        "x = x + self.places(torch.arange(tokens.size(1)))", "self.places = nn.Embedding(7, size)"
    ),
    "noise": encoder("x = x + 0.1 * torch.randn(x.shape)"),
    "a state of zeros": encoder("x, _ = self.rnn(x, (torch.zeros(1, 3, 13), torch.zeros(1, 3, 13)))"),
    "an attribute that is no buffer": encoder("x = x * self.scale", "self.scale = torch.ones(size)"),
    "layers in a list": encoder(
        "for layer in self.layers:\n            x = layer(x)", "self.layers = [nn.Linear(size, size) for _ in range(2)]"
    ),
    "a layer made in forward": encoder("x = nn.Linear(13, 5)(x)"),
    "cat": encoder("x = torch.cat([x, torch.zeros(3, 1, 13)], dim=1)"),
    "stack": encoder("x = torch.stack([x, torch.zeros_like(x).cpu()])"),
    "cuda by name": "model = nn.Linear(3, 5).cuda()\nprint(model(torch.randn(7, 3)).shape)\n",
    "a flag": """
use_cuda = torch.cuda.is_available()
device = torch.device("cuda:0" if use_cuda else "cpu")
weight = torch.randn(5, 3, device=device)
for step in range(3):
    weight = weight - 0.1 * (torch.randn(7, 5) @ weight).mean(0)
""",
}
WRONG |= {
    "told to be on the CPU, and not moved": """
x = torch.zeros(7, 3, device="cpu")
x.cuda()
print((x + torch.zeros(7, 3, device="cuda")).shape)
""",
    "told to be on cuda, and half of it back": """
x = torch.zeros(7, 3, device="cuda")
y = x.cpu() + torch.zeros(7, 3, device="cpu")
print((x + y).shape)
""",
}
WRONG_STATEMENTS = {
    "a batch left behind": statements(batch="pass"),
    "targets left behind": statements(batch="if use_cuda:\n    inputs = inputs.cuda()"),
    "inputs left behind": statements(batch="if torch.cuda.is_available():\n    targets = targets.cuda()"),
    "a model left behind": statements(model="pass"),
    "a move that is dropped": statements(batch="if use_cuda:\n    inputs.cuda()\n    targets = targets.cuda()"),
    "to cuda": statements(
        model='if use_cuda:\n    model = model.to("cuda")', batch='if use_cuda:\n    inputs = inputs.to("cuda")'
    ),
    "an evaluation": statements(after="print(model(x).argmax(1).shape)"),
    "a device by a statement": statements(
        model='if use_cuda:\n    device = torch.device("cuda")\nelse:\n    device = torch.device("cpu")\n'
        "model = model.to(device)",
        batch="inputs = inputs.to(device)",
    ),
    "a name by a statement": statements(
        model='device = "cpu"\nif torch.cuda.is_available():\n    device = "cuda:0"\nmodel = model.to(device)',
        batch="pass",
    ),
    "by a choice": statements(batch="inputs = inputs.cuda() if use_cuda else inputs"),
    "with a word": statements(
        model='if use_cuda:\n    print("on a GPU")\n    torch.cuda.manual_seed(0)\n    model = model.cuda()',
        batch="pass",
    ),
    "numpy": statements(after="print(model(x.cuda() if use_cuda else x).detach().numpy().shape)"),
    "noise": statements(batch=MOVED + "\ninputs = inputs + 0.1 * torch.randn(inputs.shape)"),
    "in a class": """
class Trainer:
    def __init__(self):
        self.cuda = torch.cuda.is_available()
        self.model = nn.Linear(3, 5)
        if self.cuda:
            self.model = self.model.cuda()
    def step(self, x, y):
        if self.cuda:
            x = x.cuda()
        return F.cross_entropy(self.model(x), y)
print(Trainer().step(torch.randn(7, 3), torch.randint(0, 5, (7,))))
""",
}
RIGHT_STATEMENTS = {
    "all moved": statements(),
    "to cuda": statements(
        model='if use_cuda:\n    model = model.to("cuda")',
        batch='if use_cuda:\n    inputs = inputs.to("cuda")\n    targets = targets.to("cuda")',
    ),
    "nothing moved": statements(model="pass", batch="pass"),
    "a device by a statement": statements(
        model='if use_cuda:\n    device = torch.device("cuda")\nelse:\n    device = torch.device("cpu")\n'
        "model = model.to(device)",
        batch="inputs, targets = inputs.to(device), targets.to(device)",
    ),
    "a name by a statement": statements(
        model='device = "cpu"\nif torch.cuda.is_available():\n    device = "cuda:0"\nmodel = model.to(device)',
        batch="inputs, targets = inputs.to(device), targets.to(device)",
    ),
    "by a choice": statements(
        batch="inputs = inputs.cuda() if use_cuda else inputs\ntargets = targets.cuda() if use_cuda else targets"
    ),
    "the other way round": statements(
        batch="if not use_cuda:\n    pass\nelse:\n    inputs, targets = inputs.cuda(), targets.cuda()"
    ),
    "a list": statements(batch="if use_cuda:\n    inputs, targets = [t.cuda() for t in (inputs, targets)]"),
    "numpy": statements(after="print(model(x.cuda() if use_cuda else x).detach().cpu().numpy().shape)"),
    "by the model's parameters": statements(
        batch="inputs = inputs.to(next(model.parameters()).device)\ntargets = targets.to(inputs.device)"
    ),
    "by another condition, too": statements(
        model="big = True\nif use_cuda and big:\n    model.cuda()",
        batch="if use_cuda and big:\n    inputs, targets = inputs.cuda(), targets.cuda()",
    ),
    "by a function": statements(
        model="def move(x):\n    if use_cuda:\n        x = x.cuda()\n    return x\nmodel = move(model)",
        batch="inputs, targets = move(inputs), move(targets)",
    ),
    "back again": statements(after="if use_cuda:\n    x = x.cuda()\nprint(model(x).cpu() + torch.zeros(38, 7))"),
    "what is made there": statements(
        batch=MOVED + "\nnoise = torch.randn(inputs.shape)\nif use_cuda:\n    noise = noise.cuda()\n"
        "inputs = inputs + noise"
    ),
    "what is made beside weights that were filled before they moved": """
model = nn.Linear(3, 5)
model.weight.data.uniform_(-1, 1)
if torch.cuda.is_available():
    model.cuda()
x = next(model.parameters()).data.new_zeros(7, 3)
print(model(x).shape)
""",
    "a loss with weights": statements(
        after="if use_cuda:\n    x = x.cuda()\nclasses = torch.ones(7).to(x.device)\n"
        "print(nn.CrossEntropyLoss(weight=classes)(model(x), torch.zeros(38, device=x.device).long()).shape)"
    ),
    "what is moved twice": statements(after="if use_cuda:\n    x = x.cuda()\n    x = x.cuda()\nprint(model(x).shape)"),
    "in a class": """
class Trainer:
    def __init__(self):
        self.cuda = torch.cuda.is_available()
        self.model = nn.Linear(3, 5)
        if self.cuda:
            self.model = self.model.cuda()
    def step(self, x, y):
        if self.cuda:
            x, y = x.cuda(), y.cuda()
        return F.cross_entropy(self.model(x), y)
print(Trainer().step(torch.randn(7, 3), torch.randint(0, 5, (7,))).shape)
""",
}
WRONG |= {f"if: {name}": source for name, source in WRONG_STATEMENTS.items()}
RIGHT = {f"if: {name}": source for name, source in RIGHT_STATEMENTS.items()} | {
    "a flag that is off": training().replace(f"device = {DEVICE}", FLAG),
    "many batches": LONG.replace("x = x.to(device)", "x, y = x.to(device), y.to(device)"),
    "all moved": training(),
    "cuda": training(
        model="model = model.cuda()", moves="inputs, targets = inputs.cuda(non_blocking=True), targets.cuda()"
    ),
    "the parameters' device": training(
        moves="device = next(model.parameters()).device; inputs, targets = inputs.to(device), targets.to(device)"
    ),
    "a list of the batch": training(moves="inputs, targets = [t.to(device) for t in (inputs, targets)]"),
    "evaluation": training(
        after="with torch.no_grad():\n    print((model(x.to(device)).argmax(1).cpu() == y).float().mean().shape)"
    ),
    "numpy": training(after="print(model(x.to(device)).detach().cpu().numpy().shape)"),
    "a number on the CPU": training(after="print((model(x.to(device)) * torch.tensor(2.0) + torch.ones(())).shape)"),
    "back on the CPU": training(after="model.cpu()\nprint(model(x).shape)"),
    "everything at first": training(
        model="model = model.to(device); x, y = x.to(device), y.to(device); "
        "loader = list(zip(x.split(19), y.split(19)))",
        moves="pass",
    ),
    "no device at all": training(model="pass", moves="pass"),
    "a mask where the input is": encoder("x = x.masked_fill(torch.rand(3, 7, 1, device=x.device) > 0.5, 0.0)"),
    "positions where the tokens are": encoder(
        "x = x + self.places(torch.arange(tokens.size(1), device=tokens.device))", "self.places = nn.Embedding(7, size)"
    ),
    "like another": encoder("x = x + 0.1 * torch.randn_like(x) + x.new_zeros(7, 13)"),
    "moved to another": encoder("x = x + torch.zeros(7, 13).to(x) + torch.ones(13).type_as(x)"),
    "a buffer": encoder("x = x * self.scale", 'self.register_buffer("scale", torch.ones(size))'),
    "a parameter": encoder("x = x * self.scale", "self.scale = nn.Parameter(torch.ones(size))"),
    "a list of layers": encoder(
        "for layer in self.layers:\n            x = layer(x)",
        "self.layers = nn.ModuleList([nn.Linear(size, size) for _ in range(2)])",
    ),
    "by a condition": """
model, x = nn.Linear(3, 5), torch.randn(7, 3)
if torch.cuda.is_available():
    model, x = model.cuda(), x.cuda()
print(model(x).shape)
""",
    "by a condition and by name": """
device = "cuda" if torch.cuda.is_available() else "cpu"
model, x = nn.Linear(3, 5), torch.randn(7, 3)
if torch.cuda.is_available():
    model.cuda()
print(model(x.to(device)).shape)
""",
    "a function that chooses": """
def choose():
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("cpu")
device = choose()
print(nn.Linear(3, 5).to(device)(torch.randn(7, 3, device=device)).shape)
""",
    "back on the CPU, one by one": """
device = "cuda" if torch.cuda.is_available() else "cpu"
out = torch.zeros(7, 3, device=device)
print((out.cpu() + torch.randn(7, 3)).shape)
""",
    "told to be on the CPU, and moved": """
x = torch.zeros(7, 3, device="cpu").cuda()
print((x * 2 + torch.zeros(7, 3, device="cuda")).shape)
""",
    "told to be on cuda, and back": """
x = torch.zeros(7, 3, device="cuda")
print((x.cpu() * 2 + torch.zeros(7, 3, device="cpu")).shape)
""",
    "by name and chosen": """
device = "cuda" if torch.cuda.is_available() else "cpu"
x = torch.zeros(7, 3, device=device) * 2 + torch.zeros(7, 3, device="cuda")
y = torch.zeros(7, 3, device="cuda") + torch.zeros(7, 3, device=torch.device(device))
print((x + y).shape)
""",
    "a parameter that was made on the CPU, and moved": """
class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.by = nn.Parameter(torch.ones(3, device="cpu"))
device = "cuda" if torch.cuda.is_available() else "cpu"
scale = Scale().to(device)
print((scale.by * torch.zeros(7, 3, device="cuda")).shape)
""",
    "shapes of another": """
device = "cuda" if torch.cuda.is_available() else "cpu"
a, b = torch.randn(2, 3, device=device), torch.randn(6)
print((b.view_as(a) + torch.ones(3).expand_as(b.view(2, 3))).shape)
""",
}
NAMES = {
    "gpu": 'model = nn.Linear(3, 5).to("gpu")',
    "a tensor to the gpu": 'x = torch.randn(7, 3).to("gpu")',
    "a device of this name": 'device = torch.device("gpu")',
    "in capitals": 'x = torch.zeros(3, device="CUDA")',
    "no index": 'device = torch.device("cuda:x")',
    "without colon": 'x = torch.tensor([1.0, 2.0], device="cuda0")',
    "a choice": 'device = "gpu" if not torch.cuda.is_available() else "cuda"\nx = torch.ones(3).to(device)',
    "in a function": 'def load(device):\n    return nn.Linear(3, 5).to(device=device)\nload("cude")',
    "of a string": 'n = 0\ndevice = torch.device(f"gpu:{n}")',
    "in a class": """class Trainer:
    def __init__(self, model, device="gpu:0"):
        self.device = torch.device(device)
        self.model = model.to(self.device)
Trainer(nn.Linear(3, 5))""",
}
NAMES_THERE = {  # where there is CUDA
    "a choice": 'device = "gpu" if torch.cuda.is_available() else "cpu"\nx = torch.ones(3).to(device)',
    "a flag": 'cuda = torch.cuda.is_available()\nx = torch.ones(3, device="gpu:0" if cuda else "cpu")',
    "a device": 'device = torch.device("gpu" if torch.cuda.is_available() else "cpu")',
}
GOOD_NAMES = {
    "another library's": 'accelerator = "gpu" if torch.cuda.is_available() else "cpu"\nprint(f"on {accelerator}")',
    "cpu": 'x = torch.zeros(3).to("cpu")',
    "meta": 'x = torch.zeros(3, device="meta")',
    "cpu:0": 'device = torch.device("cpu:0")',
    "cuda:1": 'device = torch.device("cuda:1")',
    "mps": 'device = torch.device("mps")',
    "xpu": 'device = torch.device("xpu", 0)',
    "an index": 'device = torch.device("cuda", 1)',
    "a dtype": "x = torch.zeros(3).to(torch.float64)",
    "caught": 'try:\n    torch.device("gpu")\nexcept RuntimeError:\n    pass',
    "another": "x = torch.zeros(3).to(torch.ones(2))",
}


def said(source: str, folder: Path) -> list[str]:
    """What is said of a program."""
    path = folder / "program.py"
    path.write_text(HEAD + source)
    followed = follow(path)
    assert not followed.faults
    return [f"{f.code}: {f.message}" for f in (*followed.errors, *followed.warnings)]


def fails(source: str, monkeypatch: pytest.MonkeyPatch) -> bool | str:
    """Whether a program mixes devices on a machine with CUDA, which torch's fake tensors stand for.

    They need the index of a device, know nothing of numbers (of a loader's seed, of NumPy), and have no backward.
    """

    def to(self, device):
        for module in self.modules():
            for held in (module._parameters, module._buffers):
                held.update({k: nn.Parameter(v.to(device), False) for k, v in held.items()})
        return self

    def numpy(self):
        if self.device.type != "cpu":
            raise TypeError(f"can't convert {self.device} device type tensor to numpy")
        return self

    def load(dataset, batch_size):
        return [dataset[i : i + batch_size] for i in range(0, len(dataset), batch_size)]

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(nn.Module, "to", to)
    monkeypatch.setattr(nn.Module, "cpu", lambda self: to(self, "cpu"))
    monkeypatch.setattr(torch.Tensor, "numpy", numpy)
    monkeypatch.setattr(torch.Tensor, "backward", lambda self: None)
    monkeypatch.setattr(torch.utils.data, "DataLoader", load)
    source = re.sub(r"(?<!torch)\.cuda\([^)]*\)", '.to("cuda:0")', HEAD + source.replace('"cuda"', '"cuda:0"'))
    with FakeTensorMode(), torch.no_grad(), contextlib.redirect_stdout(io.StringIO()):
        try:
            exec(compile(source, "program.py", "exec"), {"__name__": "__main__"})
        except (RuntimeError, TypeError) as error:
            text = str(error)
            return "same device" in text or "to numpy" in text or text
    return False


@pytest.mark.parametrize("source", WRONG.values(), ids=WRONG)
def test_mixed_devices_are_found_once(source, tmp_path, monkeypatch):
    assert fails(source, monkeypatch) is True
    monkeypatch.undo()
    (found,) = said(source, tmp_path)
    assert found.startswith("tensor-device")


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT)
def test_one_device_is_left_alone(source, tmp_path, monkeypatch):
    assert fails(source, monkeypatch) is False
    monkeypatch.undo()
    assert said(source, tmp_path) == []


@pytest.mark.parametrize("source", NAMES.values(), ids=NAMES)
def test_a_name_of_no_device_is_found(source, tmp_path):
    with pytest.raises(RuntimeError, match=r"(?i)device"):
        exec(compile(HEAD + source, "program.py", "exec"), {"__name__": "__main__"})
    (found,) = said(source, tmp_path)
    assert found.startswith("tensor-device")
    assert "is not a device" in found


@pytest.mark.parametrize("source", NAMES_THERE.values(), ids=NAMES_THERE)
def test_a_name_of_no_device_is_found_for_where_there_is_one(source, tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    with pytest.raises(RuntimeError, match=r"(?i)device"):
        exec(compile(HEAD + source, "program.py", "exec"), {})
    (found,) = said(source, tmp_path)
    assert found.startswith("tensor-device")
    assert "is not a device" in found


@pytest.mark.parametrize("source", GOOD_NAMES.values(), ids=GOOD_NAMES)
def test_names_of_devices_are_left_alone(source, tmp_path):
    exec(compile(HEAD + source, "program.py", "exec"), {"__name__": "__main__"})
    assert said(source, tmp_path) == []


def test_what_fake_tensors_do_not_show(tmp_path):
    """Indexes fit on the CPU, and where the tensor is; what is written may be elsewhere; a layer may be made there."""
    made = """
device = "cuda" if torch.cuda.is_available() else "cpu"
out = nn.Linear(3, 5, device=device)(torch.randn(7, 3, device=device)).detach()
out[2] = torch.randn(5)
out.copy_(torch.randn(7, 5))
"""
    assert said(made, tmp_path) == []
    assert said(training(after="print(model(x.to(device))[torch.arange(19)].shape)"), tmp_path) == []
    (found,) = said(encoder("print(torch.arange(50)[tokens].shape)"), tmp_path)
    assert found.startswith("tensor-device: []: Int64[50] is on the CPU, but the index Int64[3, 7] is on cuda")


def test_layers_that_are_made_on_a_device(tmp_path):
    """torch has no random numbers for what isn't there, so that fake tensors can't be parameters that are made so."""
    right = """
device = "cuda" if torch.cuda.is_available() else "cpu"
a = nn.Linear(3, 5, device=device)(torch.zeros(7, 3, device="cuda"))
b = nn.Linear(3, 5, device="cuda")(torch.zeros(7, 3, device=device))
layer = nn.Linear(3, 5, device="cuda")
layer = layer.cpu()
x = torch.zeros(7, 3, device="cpu")
print(layer(x).shape, (x @ layer.weight.T).shape)
"""
    assert said(right, tmp_path) == []
    (found,) = said('nn.Linear(3, 5, device="cuda")(torch.zeros(7, 3, device="cpu"))', tmp_path)
    assert "input is on cpu, but the layer is on cuda" in found


def test_a_device_that_is_chosen_is_what_it_is(tmp_path):
    """Whatever a program asks of it, the answers are those of "cpu"."""
    source = """
import torch
_name = "cuda" if torch.cuda.is_available() else "cpu"
chosen = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
kind, index = chosen.type, chosen.index
shown = f"on {_name}, {chosen}", str(chosen), _name + ":0", _name.upper(), _name.split(":"), "cuda" in _name
asked = _name.startswith("cuda"), _name == "cpu", chosen == torch.device("cpu"), chosen.type != "cuda", len(_name)
kinds = isinstance(chosen, torch.device), isinstance(_name, str), isinstance(chosen, str), type(_name) is str
again, other = torch.device(_name).type, {_name: 1}["cpu"]
x = torch.zeros(3, device=chosen)
where = x.device.type, torch.ones(2, device=x.device).to(_name).device.type, (x + x.to("cpu")).device == chosen
"""
    compare(source, tmp_path / "program.py")


def test_where_something_is_isnt_what_numbers_it_holds(tmp_path):
    source = """
import torch
from elsewhere import load
x, settings = load(), load()
a = torch.zeros(3, 5).to(x.device)
b = torch.zeros(3, 5).to(settings.device, non_blocking=True)
c = torch.zeros(3, 5).to(x)
d = isinstance(settings.device, str)
"""
    found, _ = follow_source(source, tmp_path / "program.py")
    assert [str(found[name].type) for name in "abc"] == ["Float32[3, 5]", "Float32[3, 5]", "Tensor[3, 5]"]
    assert isinstance(found["d"], Unknown)  # a text may be a device


@pytest.mark.parametrize(
    "right",
    [
        "layer(torch.cuda.FloatTensor(2, 3))",
        "layer(torch.cuda.FloatTensor(2, 3).fill_(1.0))",
        "layer(torch.cuda.FloatTensor(2, 3).copy_(torch.zeros(2, 3)))",
        "layer(torch.zeros(2, 3).type(torch.cuda.FloatTensor))",
        "layer(torch.zeros(2, 3).type('torch.cuda.FloatTensor'))",
        "Tensor = torch.cuda.FloatTensor\nlayer(Tensor(2, 3) + Tensor([1, 2, 3]))",
        "layer(torch.cuda.LongTensor([[1, 2, 3]]).float())",
        "plain(torch.zeros(2, 3).type(torch.FloatTensor))",
        "plain(torch.FloatTensor(2, 3))",
        "T = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.FloatTensor\nplain(T(2, 3).cpu())",
    ],
)
def test_the_types_of_tensors_on_cuda_are_left_alone(right, tmp_path):
    assert said(f"layer, plain = nn.Linear(3, 4).cuda(), nn.Linear(3, 4)\n{right}\n", tmp_path) == []


@pytest.mark.parametrize(
    "wrong",
    [
        "layer(torch.FloatTensor(2, 3))",
        "layer(torch.cuda.FloatTensor(2, 3).cpu())",
        "plain(torch.cuda.FloatTensor(2, 3))",
        "plain(torch.zeros(2, 3).type(torch.cuda.FloatTensor))",
        "torch.zeros(3) + torch.cuda.FloatTensor(3)",
    ],
)
def test_the_types_of_tensors_on_cuda_are_on_cuda(wrong, tmp_path):
    (found,) = said(f"layer, plain = nn.Linear(3, 4).cuda(), nn.Linear(3, 4)\n{wrong}\n", tmp_path)
    assert found.startswith("tensor-device")
