"""Training loops that run, and don't do what was meant; and loops that look alike."""

from pathlib import Path

import pytest
from scripts import Scripts

HEAD = """import copy
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
x, target = torch.randn(14, 3), torch.arange(14) % 5
loader = DataLoader(TensorDataset(x, target), batch_size=7)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 5)
    def forward(self, x):
        return self.first(x)
class Deep(nn.Module):
    def __init__(self, hold=list):
        super().__init__()
        self.first = nn.Linear(3, 5)
        self.rest = hold([nn.Linear(5, 5), nn.Linear(5, 5)])
    def forward(self, x):
        x = self.first(x)
        for layer in self.rest:
            x = layer(x)
        return x
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""
LOOP = """for a, b in loader:
    loss = F.cross_entropy(model(a), b)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
NO_ZERO = LOOP.replace("    optimizer.zero_grad()\n", "")

SUMS = {  # each ends with total, which keeps a graph
    "after backward": "total = 0\n" + LOOP + "    total += loss\nprint(total / 2)\n",
    "before backward": (
        "total = 0\n" + LOOP.replace("    optimizer.zero", "    total += loss\n    optimizer.zero") + "print(total)\n"
    ),
    "from 0.0": "total = 0.0\n" + LOOP + "    total += loss\nprint(float(total))\n",
    "into a tensor": "total = torch.zeros(())\n" + LOOP + "    total += loss\nprint(total.item())\n",
    "times the batch": "total = 0\n" + LOOP + "    total += loss * a.size(0)\nprint(total)\n",
    "in a function": (
        "def train():\n    total = 0\n"
        + "".join(f"    {line}\n" for line in (LOOP + "    total += loss").splitlines())
        + "    return total\ntotal = train()\n"
    ),
    "in epochs": (
        "for epoch in range(3):\n    total = 0\n"
        + "".join(f"    {line}\n" for line in (LOOP + "    total += loss").splitlines())
        + "    print(total)\n"
    ),
}
ADD_UP = {
    "a loop": NO_ZERO,
    "epochs": "for epoch in range(3):\n" + "".join(f"    {line}\n" for line in NO_ZERO.splitlines()),
    "a while": "i = 0\nwhile i < 3:\n    model(x).square().mean().backward()\n    optimizer.step()\n    i += 1\n",
    "a function": (
        "def train(model, optimizer):\n"
        + "".join(f"    {line}\n" for line in NO_ZERO.splitlines())
        + "train(model, optimizer)\n"
    ),
    "Adam": "optimizer = torch.optim.Adam(model.parameters())\n" + NO_ZERO,
}
UNTRAINED = {  # (what is made, the parameter that never changes)
    "a new model": ("model = Net()\n" + LOOP, "model.first.weight"),
    "a copy": ("model = copy.deepcopy(model)\n" + LOOP, "model.first.weight"),
    "another model": ("model = Deep(nn.ModuleList)\n" + LOOP, "model.first.weight"),
    "a Sequential": ("model = nn.Sequential(nn.Linear(3, 5))\n" + LOOP, "model[0].weight"),
    "a list": (
        "model = Deep()\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n" + LOOP,
        "model.rest[0].weight",
    ),
    "a list that is filled": (
        "model = Net()\nmodel.more = []\nfor _ in range(2):\n    model.more.append(nn.Linear(5, 5))\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        + LOOP.replace("model(a)", "model.more[1](model.more[0](model(a)))"),
        "model.more[0].weight",
    ),
    "a list of the program's own": (
        "model = Net()\nmodel.more = [Deep(nn.ModuleList) for _ in range(2)]\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        + LOOP.replace("model(a)", "model(a) + sum(m(a) for m in model.more)"),
        "model.more[1].rest[0].weight",
    ),
}
ANEW = {  # the body of a forward that makes layers which nobody trains
    "a layer": "return nn.Linear(5, 5)(self.first(x))",
    "a named layer": "x = self.first(x)\n        last = nn.Linear(5, 5)\n        return last(x.relu())",
    "batch norm": "return nn.BatchNorm1d(5)(self.first(x))",
    "one of several": (
        "x = self.first(x)\n        for _ in range(2):\n            x = nn.Linear(5, 5)(x)\n        return x"
    ),
    "in a method": "return self.head(self.first(x))\n\n    def head(self, x):\n        return nn.Linear(5, 5)(x)",
    "an activation with a parameter": "return nn.PReLU()(self.first(x))",
}
HELD = {
    "an activation": "return nn.ReLU()(self.first(x))",
    "dropout": "return nn.Dropout(0.5)(self.first(x))",
    "a layer that is kept": (
        "if not hasattr(self, 'last'):\n            self.last = nn.Linear(5, 5)\n"
        "        return self.last(self.first(x))"
    ),
    "a frozen one": "last = nn.Linear(5, 5)\n        last.requires_grad_(False)\n        return last(self.first(x))",
    "a layer without parameters": "return nn.LayerNorm(5, elementwise_affine=False)(self.first(x))",
    "a loss": "x = self.first(x)\n        self.extra = nn.MSELoss()(x, torch.zeros_like(x))\n        return x",
}
INSIDE = "class Inside(Net):\n    def forward(self, x):\n        BODY\nmodel = Inside()\n" + (
    "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n" + LOOP
)
HIDDEN = """
class Student(Net):
    def __init__(self, teachers):
        super().__init__()
        self.teachers = teachers
    def forward(self, x):
        return super().forward(x) + TEACH
model = Student([Net() for _ in range(COUNT)])
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""
RIGHT = {
    "a teacher that is hidden": HIDDEN.replace("TEACH", "self.teachers[0](x).detach()").replace("COUNT", "1") + LOOP,
    "several teachers": HIDDEN.replace("TEACH", "sum(self.judge(x))")
    .replace("COUNT", "2")
    .replace(
        "model = ",
        "    @torch.no_grad()\n    def judge(self, x):\n        return [t(x) for t in self.teachers]\nmodel = ",
    )
    + LOOP,
    "several with an optimizer each": HIDDEN.replace("TEACH", "sum(t(x) for t in self.teachers)").replace("COUNT", "2")
    + "more = [torch.optim.SGD(t.parameters(), lr=0.1) for t in model.teachers]\n"
    + LOOP
    + "    for one in more:\n        one.step()\n        one.zero_grad()\n",
    **{f"{name} inside": INSIDE.replace("BODY", body) for name, body in HELD.items()},
    "a loop": LOOP,
    "item": "total = 0\n" + LOOP + "    total += loss.item()\n",
    "detach": "total = 0\n" + LOOP + "    total += loss.detach()\n",
    "no_grad": "total = 0\n" + LOOP + "    with torch.no_grad():\n        total += loss\n",
    "detached each time": "total = 0\n" + LOOP + "    total += loss\n    total = total.detach()\n",
    "a sum of two losses": LOOP.replace("    optimizer.zero", "    loss += model(a).pow(2).mean()\n    optimizer.zero"),
    "one backward of the sum": """total = 0
for a, b in loader:
    total += F.cross_entropy(model(a), b)
optimizer.zero_grad()
total.backward()
optimizer.step()
""",
    "a sum in evaluation": "total = 0\n"
    + LOOP
    + "with torch.no_grad():\n    for a, b in loader:\n        total += loss\n",
    "model.zero_grad": LOOP.replace("optimizer.zero_grad", "model.zero_grad"),
    "gradients set to None": LOOP.replace(
        "optimizer.zero_grad()", "\n    for p in model.parameters():\n        p.grad = None"
    ),
    "one step": "F.cross_entropy(model(x), target).backward()\noptimizer.step()\n",
    "a ModuleList": "model = Deep(nn.ModuleList)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n" + LOOP,
    "a list that is registered": """model = Deep()
for i, layer in enumerate(model.rest):
    model.add_module(f"rest{i}", layer)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""
    + LOOP,
    "a list that is trained": """model = Deep()
optimizer = torch.optim.SGD([*model.parameters(), *model.rest[0].parameters(), *model.rest[1].parameters()], lr=0.1)
"""
    + LOOP,
    "a list that is frozen": """model = Deep()
for layer in model.rest:
    layer.requires_grad_(False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""
    + LOOP,
    "a model in another": "model = nn.Sequential(model, nn.ReLU())\n" + LOOP,
    "a parameter by itself": """w = torch.zeros(3, 5, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
"""
    + LOOP.replace("model(a)", "a @ w"),
    "a leaf in an object": """class Weight:
    def __init__(self):
        self.w = torch.zeros(3, 5, requires_grad=True)
        self.optimizer = torch.optim.SGD([self.w], lr=0.1)
        self.model = Net()
        self.other = torch.optim.SGD(self.model.parameters(), lr=0.1)
    def train(self):
        for a, b in loader:
            self.optimizer.zero_grad()
            self.other.zero_grad()
            F.cross_entropy(self.model(a) + a @ self.w.exp(), b).backward()
            self.optimizer.step()
            self.other.step()
Weight().train()
""",
    "gradients from elsewhere": """other = copy.deepcopy(model)
for a, b in loader:
    F.cross_entropy(other(a), b).backward()
    for p, q in zip(model.parameters(), other.parameters()):
        p.grad = q.grad
    optimizer.step()
    other.zero_grad()
""",
}


SCRIPTS = Scripts(HEAD)
run = SCRIPTS.run


def warned(source: str, folder: Path) -> list[str]:
    """The codes of what is said of a program."""
    followed = SCRIPTS.said(source, folder)
    assert not followed.errors
    return [w.code for w in followed.warnings]


@pytest.mark.parametrize("source", SUMS.values(), ids=SUMS)
def test_a_sum_of_graphs_is_found(source, tmp_path):
    assert run(source)["total"].grad_fn is not None
    assert warned(source, tmp_path) == ["tensor-training"]


@pytest.mark.parametrize("source", ADD_UP.values(), ids=ADD_UP)
def test_gradients_that_add_up_are_found(source, tmp_path):
    counted = "seen = []\nmodel.first.weight.register_hook(seen.append)\n"
    model = run(counted + source)
    last, kept = model["seen"][-1], model["model"].first.weight.grad
    assert not last.allclose(kept)  # what the last step used isn't the gradient of its loss
    assert warned(source, tmp_path) == ["tensor-training"]


@pytest.mark.parametrize(("source", "name"), UNTRAINED.values(), ids=UNTRAINED)
def test_what_no_optimizer_trains_is_found(source, name, tmp_path):
    made, loop = source.replace(LOOP.partition("\n")[0], "CUT" + LOOP.partition("\n")[0]).split("CUT")
    assert eval(f"before.equal({name})", run(f"{made}before = {name}.clone()\n{loop}"))
    assert warned(source, tmp_path) == ["tensor-training"]


@pytest.mark.parametrize("body", ANEW.values(), ids=ANEW)
def test_layers_that_are_made_anew_are_found(body, tmp_path):
    source = INSIDE.replace("BODY", body)
    model = run(source)["model"]
    assert list(dict(model.named_parameters())) == ["first.weight", "first.bias"]
    assert warned(source, tmp_path) == ["tensor-training"]


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT)
def test_what_is_meant_is_left_alone(source, tmp_path):
    run(source)
    assert warned(source, tmp_path) == []
