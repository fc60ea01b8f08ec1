"""Gradients: what torch refuses, asked of torch itself, and programs that look alike and run."""

from pathlib import Path

import pytest
import torch

from simpletorch.follow import follow

HEAD = """import torch
import torch.nn.functional as F
from torch import nn
torch.manual_seed(0)
x, target = torch.randn(7, 3), torch.arange(7) % 5
model = nn.Linear(3, 5)
"""

RAISES = {
    "not a scalar": "loss = F.cross_entropy(model(x), target, reduction='none')\nloss.backward()\n",
    "an output": "model(x).backward()\n",
    "item": "loss = F.cross_entropy(model(x), target).item()\nloss.backward()\n",
    "argmax": "accuracy = (model(x).argmax(1) == target).float().mean()\naccuracy.backward()\n",
    "detached": "loss = F.cross_entropy(model(x).detach(), target)\nloss.backward()\n",
    "data": "loss = F.cross_entropy(model(x).data, target)\nloss.backward()\n",
    "no_grad": "with torch.no_grad():\n    loss = F.cross_entropy(model(x), target)\nloss.backward()\n",
    "inference_mode": "with torch.inference_mode():\n    loss = model(x).sum()\nloss.backward()\n",
    "set_grad_enabled": "torch.set_grad_enabled(False)\nloss = model(x).sum()\nloss.backward()\n",
    "set_grad_enabled, with": "with torch.set_grad_enabled(False):\n    loss = model(x).sum()\nloss.backward()\n",
    "a decorator": "@torch.no_grad()\ndef loss():\n    return model(x).sum()\nloss().backward()\n",
    "a decorator without parentheses": "@torch.no_grad\ndef loss():\n    return model(x).sum()\nloss().backward()\n",
    "a method": """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 5)
    @torch.no_grad()
    def forward(self, x):
        return self.layer(x)
F.cross_entropy(Net()(x), target).backward()
""",
    "nothing requires a gradient": "w = torch.randn(3, 5)\nF.cross_entropy(x @ w, target).backward()\n",
    "integers": "torch.tensor([2, 3, 5]).sum().backward()\n",
    "a frozen model": "model.requires_grad_(False)\nF.cross_entropy(model(x), target).backward()\n",
    "a frozen model, by loop": """for p in model.parameters():
    p.requires_grad = False
F.cross_entropy(model(x), target).backward()
""",
    "numpy": "model(x).numpy()\n",
    "numpy of a parameter": "model.weight.numpy()\n",
    "numpy on the CPU": "model(x).softmax(-1).cpu().numpy()\n",
    "np.array": "import numpy as np\nnp.array(model(x))\n",
    "a leaf in place": "w = torch.zeros(3, requires_grad=True)\nw += 1\n",
    "a leaf's item": "w = torch.zeros(3, requires_grad=True)\nw[0] = 1\n",
    "a parameter in place": "model.weight.mul_(0.5)\n",
    "a parameter filled": "nn.Parameter(torch.ones(5)).fill_(2)\n",
    "gradient descent by hand": """w = torch.ones(3, 5, requires_grad=True)
F.cross_entropy(x @ w, target).backward()
w -= 0.1 * w.grad
""",
    "twice": "loss = F.cross_entropy(model(x), target)\nloss.backward()\nloss.backward()\n",
    "two losses of one output": """y = model(x).relu()
F.cross_entropy(y, target).backward()
y.mean().backward()
""",
    "a hidden state that is kept": """rnn, h = nn.GRU(3, 5, batch_first=True), torch.zeros(1, 7, 5)
for step in range(3):
    out, h = rnn(torch.randn(7, 2, 3), h)
    out.mean().backward()
""",
    "requires_grad_ of integers": "torch.arange(5).requires_grad_()\n",
    "requires_grad of integers": "target.requires_grad = True\n",
    "a tensor of integers": "torch.tensor([2, 3], requires_grad=True)\n",
    "a parameter of integers": "nn.Parameter(torch.arange(5))\n",
    "the flag of no leaf": "y = model(x)\ny.requires_grad_(False)\n",
    "an optimizer of no leaf": "w = torch.randn(3, 5, requires_grad=True) * 0.1\ntorch.optim.SGD([w], lr=0.1)\n",
}

RUNS = {
    "a scalar": "F.cross_entropy(model(x), target).backward()\n",
    "one number": "model(x[:1])[:, :1].backward()\n",
    "with a gradient": "y = model(x)\ny.backward(torch.ones(7, 5))\n",
    "a gradient for some": "y = model(x)\ntorch.autograd.backward([y.sum(), y], [None, torch.ones(7, 5)])\n",
    "many gradients": """x.requires_grad_()
y = model(x)
rows = torch.autograd.grad(y, x, torch.ones(2, 7, 5), is_grads_batched=True)[0].view(14, 3)
""",
    "detached beside": "y = model(x)\nF.mse_loss(y, y.detach() + 1).backward()\n",
    "no_grad before": "with torch.no_grad():\n    y = model(x)\nF.mse_loss(model(x), y).backward()\n",
    "enable_grad": "with torch.no_grad(), torch.enable_grad():\n    y = model(x).sum()\ny.backward()\n",
    "set_grad_enabled of True": "with torch.set_grad_enabled(model.training):\n    y = model(x).sum()\ny.backward()\n",
    "on again": "torch.set_grad_enabled(False)\ntorch.set_grad_enabled(True)\nmodel(x).sum().backward()\n",
    "a decorated neighbour": "@torch.no_grad()\ndef show():\n    model(x)\nshow()\nmodel(x).sum().backward()\n",
    "a generator under no_grad": """@torch.no_grad()
def batches():
    for _ in range(3):
        yield torch.randn(7, 3)
for batch in batches():
    model(batch).sum().backward()
""",
    "an input that requires one": "x.requires_grad_()\n(x ** 2).sum().backward()\n",
    "written into a buffer": "out = torch.zeros(2, 7, 5)\nout[0] = model(x)\nout.sum().backward()\n",
    "written through a view": "out = torch.zeros(2, 7, 5)\nrow = out[0]\nrow.copy_(model(x))\nout.sum().backward()\n",
    "a view of it": "out = torch.zeros(2, 5)\nlast = out[-1]\nout[1] = model(x)[0]\nlast.sum().backward()\n",
    "a sum that is filled": "total = torch.zeros(5)\ntotal += model(x).mean(0)\ntotal.sum().backward()\n",
    "a sum that begins with 0": "total = 0\nfor row in x:\n    total = total + model(row).sum()\ntotal.backward()\n",
    "a part is frozen": "model.weight.requires_grad = False\nmodel(x).sum().backward()\n",
    "frozen and thawed": """for p in model.parameters():
    p.requires_grad = False
for p in model.parameters():
    p.requires_grad = True
model(x).sum().backward()
""",
    "numpy of what is detached": "model(x).detach().numpy()\n",
    "numpy under no_grad": "with torch.no_grad():\n    model(x).numpy()\n",
    "numpy of classes": "model(x).argmax(1).numpy()\n",
    "numpy by force": "model(x).numpy(force=True)\n",
    "numpy of data": "model.weight.data.numpy()\n",
    "numpy of a frozen model": "model.requires_grad_(False)\nmodel(x).numpy()\n",
    "a leaf under no_grad": "with torch.no_grad():\n    model.weight.mul_(0.5)\n    model.weight[0] = 1\n",
    "a leaf's data": "model.weight.data.mul_(0.5)\nmodel.weight.data[0] = 1\n",
    "no leaf in place": "w = torch.zeros(3, requires_grad=True) * 1\nw += 1\nw[0] = 1\nw.sum().backward()\n",
    "gradient descent by hand": """w = torch.ones(3, 5, requires_grad=True)
for _ in range(3):
    F.cross_entropy(x @ w, target).backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad.zero_()
""",
    "initialised": "nn.init.normal_(model.weight)\nnn.init.zeros_(model.bias)\n",
    "twice, and the graph is kept": (
        "loss = F.cross_entropy(model(x), target)\nloss.backward(retain_graph=True)\nloss.backward()\n"
    ),
    "twice, of a graph that holds nothing": "loss = (model.weight + 1).sum()\nloss.backward()\nloss.backward()\n",
    "two graphs": "F.cross_entropy(model(x), target).backward()\nF.cross_entropy(model(x), target).backward()\n",
    "one backward of two losses": "y = model(x)\n(F.cross_entropy(y, target) + y.mean()).backward()\n",
    "a hidden state that is detached": """rnn, h = nn.GRU(3, 5, batch_first=True), torch.zeros(1, 7, 5)
for step in range(3):
    out, h = rnn(torch.randn(7, 2, 3), h)
    out.mean().backward()
    h = h.detach()
""",
    "a hidden state that is detached in place": """rnn, h = nn.GRU(3, 5, batch_first=True), torch.zeros(1, 7, 5)
for step in range(3):
    h.detach_()
    out, h = rnn(torch.randn(7, 2, 3), h)
    out.mean().backward()
""",
    "a generator and a discriminator": """critic = nn.Linear(5, 1)
fake = model(x)
critic(fake.detach()).mean().backward()
critic(fake).mean().backward()
""",
    "a function of its own": """class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone() * 2
    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2
Double.apply(model(x)).sum().backward()
""",
    "who knows what a library does": """import contextlib, functools
@contextlib.contextmanager
def quiet():
    with torch.no_grad():
        yield
with quiet():
    y = model(x)
y.numpy()
model(x).sum().backward()
""",
    "an exit stack": """import contextlib
with contextlib.ExitStack() as stack:
    stack.enter_context(torch.no_grad())
    model(x).numpy()
model(x).sum().backward()
""",
    "one of two managers": """import contextlib
for trains in (True, False):
    with contextlib.nullcontext() if trains else torch.no_grad():
        y = model(x).sum()
    if trains:
        y.backward()
""",
    "caught": "try:\n    model(x).numpy()\nexcept RuntimeError:\n    pass\n",
    "an optimizer of a leaf": "w = (torch.randn(3, 5) * 0.1).requires_grad_()\ntorch.optim.SGD([w], lr=0.1)\n",
    "a new flag": "w = torch.zeros(3)\nw.requires_grad = True\nw.sum().backward()\n",
    "a loader's batches": """from torch.utils.data import DataLoader, TensorDataset
for a, b in DataLoader(TensorDataset(x, target), batch_size=4):
    a.numpy()
    F.cross_entropy(model(a), b).backward()
""",
}


def found(source: str, folder: Path) -> list[str]:
    """The codes of what is said of a program."""
    path = folder / "program.py"
    path.write_text(HEAD + source)
    followed = follow(path)
    assert not followed.faults
    return [f.code for f in (*followed.errors, *followed.warnings)]


def run(source: str) -> None:
    """Run a program; gradients are on again afterwards."""
    try:
        exec(compile(HEAD + source, "program.py", "exec"), {"__name__": "__main__"})
    finally:
        torch.set_grad_enabled(True)


@pytest.mark.parametrize("source", RAISES.values(), ids=RAISES)
def test_what_torch_refuses_is_found(source, tmp_path):
    with pytest.raises((RuntimeError, AttributeError, ValueError)):
        run(source)
    assert found(source, tmp_path) == ["tensor-grad"]


STARTS = {  # the gradients that a backward begins with
    "one for each row": "model(x).backward(torch.ones(7))\n",
    "by name": "model(x).backward(gradient=torch.ones(7, 1))\n",
    "backward of several": "y = model(x)\ntorch.autograd.backward([y.sum(), y], [None, torch.ones(5, 7)])\n",
    "backward of several without": "y = model(x)\ntorch.autograd.backward([y.sum(), y])\n",
    "grad": "x.requires_grad_()\ntorch.autograd.grad(model(x), x, torch.ones(7))\n",
    "grad by name": "x.requires_grad_()\ntorch.autograd.grad(outputs=model(x), inputs=x, grad_outputs=torch.ones(7))\n",
    "grad of a list": "x.requires_grad_()\ntorch.autograd.grad([model(x)], [x], [torch.ones(5)])\n",
    "grad of no scalar": "x.requires_grad_()\ntorch.autograd.grad(model(x), x, create_graph=True)\n",
    "grad of a table": """x.requires_grad_()
scores = model(x).sum(1, keepdim=True) + model(x).sum(1)
torch.autograd.grad(scores.squeeze(1), x, torch.ones(7))
""",
}


@pytest.mark.parametrize("source", STARTS.values(), ids=STARTS)
def test_gradients_to_start_from_have_the_shapes_of_what_they_are_of(source, tmp_path):
    with pytest.raises(RuntimeError):
        run(source)
    assert "tensor-shape" in found(source, tmp_path)


@pytest.mark.parametrize("source", RUNS.values(), ids=RUNS)
def test_what_runs_is_left_alone(source, tmp_path):
    run(source)
    assert found(source, tmp_path) == []


CHANGED = {  # what an operation has kept for its backward is changed in place
    "a residual after relu": "y = F.relu(model(x))\ny += 1\ny.sum().backward()\n",
    "exp": "y = model(x).exp()\nloss = y.sum()\ny.mul_(2)\nloss.backward()\n",
    "a mask": "y = torch.sigmoid(model(x))\ny[:, 0] = 0\ny.mean().backward()\n",
    "softmax": "p = model(x).softmax(-1)\np.clamp_(min=1e-6)\n(-p[:, 0]).sum().backward()\n",
    "a gate": "h = model(x)\ng = torch.tanh(h)\ny = h * g\ng += 1\ny.sum().backward()\n",
    "an operand": "h = model(x)\ny = (h * h).sum()\nh.add_(1)\ny.backward()\n",
    "a weight between": "w = torch.randn(5, 2)\nloss = (model(x) @ w).sum()\nw.mul_(0.9)\nloss.backward()\n",
    "an operand of leaky_relu": "h = model(x)\ny = F.leaky_relu(h)\nh += 1\ny.sum().backward()\n",
    "a prediction": "h = model(x)\nloss = F.mse_loss(h, torch.zeros_like(h))\nh.zero_()\nloss.backward()\n",
    "a weight of linear": """w = torch.randn(2, 5)
loss = F.linear(model(x), w, torch.zeros(2)).sum()
w.zero_()
loss.backward()
""",
    "in a function": """def block(h):
    out = F.relu(h)
    out += h
    return out
block(model(x)).sum().backward()
""",
    "in a module": """class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 3, padding=1)
    def forward(self, x):
        out = torch.relu(self.conv(x))
        out += x
        return out
Block()(torch.randn(2, 3, 7, 5)).mean().backward()
""",
    "without gradients": "y = model(x).sigmoid()\nwith torch.no_grad():\n    y.zero_()\ny.sum().backward()\n",
    "relu in place": "y = torch.sigmoid(model(x))\nF.relu(y, inplace=True)\ny.sum().backward()\n",
}
UNCHANGED = {
    "relu of a sum": "y = model(x)\ny += 1\nF.relu(y).sum().backward()\n",
    "relu in place after a layer": "y = F.relu(model(x), inplace=True)\n(y + 1).sum().backward()\n",
    "a sum in place": "y = model(x) + 1\ny += 2\ny.sum().backward()\n",
    "a product with a number": "y = model(x) * 3\ny += 2\ny.sum().backward()\n",
    "an operand that nobody keeps": "y = torch.randn(7, 5) * model(x).detach()\ny += model(x)\ny.sum().backward()\n",
    "a batch that a product copies": """w = torch.randn(2, 7, 5, 11, requires_grad=True)
q = torch.randn(2, 3, 7, 5).transpose(1, 2)
loss = (q @ w).sum()
q.mul_(2)
loss.backward()
""",
    "a bias alone, twice": """b = torch.randn(5, requires_grad=True)
y = F.linear(torch.randn(7, 3), torch.randn(5, 3), b).sum()
y.backward()
y.backward()
""",
    "a new tensor": "y = F.relu(model(x))\ny = y + 1\ny.sum().backward()\n",
    "before": "w = torch.randn(5, 2)\nw.mul_(0.9)\n(model(x) @ w).sum().backward()\n",
    "afterwards": "y = model(x).exp()\ny.sum().backward()\nwith torch.no_grad():\n    y.zero_()\n",
    "each round anew": """w = torch.randn(3, 5, requires_grad=True)
for step in range(5):
    loss = (x @ w).exp().mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad.zero_()
""",
    "another one's": "y = model(x)\nz = y.exp()\ny += 1\nz.sum().backward()\n",
    "on one way": "y = F.relu(model(x))\nif y.sum() < 0:\n    y += 1\ny.sum().backward()\n",
    "leaky relu of a result": "y = F.leaky_relu(model(x))\ny += 1\ny.sum().backward()\n",
    "a buffer of a running mean": """mean = torch.zeros(5)
for step in range(3):
    y = model(x)
    ((y - mean) ** 2).mean().backward()
    mean.mul_(0.9).add_(0.1 * y.detach().mean(0))
""",
}
NONE = {  # .grad is None
    "before backward": "w = torch.randn(3, requires_grad=True)\nloss = (x * w).sum()\nprint(w.grad.norm())\n",
    "zeroed too early": """w = torch.randn(3, 5, requires_grad=True)
for step in range(3):
    loss = F.cross_entropy(x @ w, target)
    w.grad.zero_()
    loss.backward()
""",
    "of what an operation made": "w = 2 * torch.ones(3, requires_grad=True)\n(x * w).sum().backward()\nw.grad.mean()\n",
    "of an activation": "h = model(x)\nh.sum().backward()\nprint(h.grad.shape)\n",
    "moved": "w = torch.zeros(3, 5, requires_grad=True).mul(0.1)\n(x @ w).sum().backward()\nw.grad.abs()\n",
}
THERE = {
    "after backward": "w = torch.randn(3, requires_grad=True)\n(x * w).sum().backward()\nprint(w.grad.norm())\n",
    "asked first": """w = torch.randn(3, 5, requires_grad=True)
for step in range(3):
    loss = F.cross_entropy(x @ w, target)
    if w.grad is not None:
        w.grad.zero_()
    loss.backward()
""",
    "kept": "h = model(x)\nh.retain_grad()\nh.sum().backward()\nprint(h.grad.shape)\n",
    "set by hand": "w = torch.randn(3, requires_grad=True)\nw.grad = torch.zeros(3)\nw.grad.zero_()\n",
    "of a parameter": "model(x).sum().backward()\nprint(model.weight.grad.norm())\n",
    "in a function": """def step(w):
    w.grad.zero_()
w = torch.randn(3, requires_grad=True)
w.sum().backward()
step(w)
""",
    "of a function": "w = torch.ones(3, requires_grad=True)\ng, = torch.autograd.grad((w * w).sum(), w)\ng.norm()\n",
    "a clone asked for": "w = torch.zeros(3).requires_grad_()\n(w + 1).sum().backward()\nw.grad.clone()\n",
    "a list": """ws = [torch.randn(3, requires_grad=True) for _ in range(2)]
sum(w.sum() for w in ws).backward()
for w in ws:
    w.grad.zero_()
""",
    "by a library": """import scipy.optimize
w = torch.randn(3, requires_grad=True)
def work(values):
    loss = (w * w).sum()
    loss.backward()
    return loss.item()
scipy.optimize.minimize(work, [1.0])
w.grad.zero_()
""",
}


@pytest.mark.parametrize("source", (CHANGED | NONE).values(), ids=CHANGED | NONE)
def test_what_was_changed_and_what_is_none_is_found(source, tmp_path):
    with pytest.raises((RuntimeError, AttributeError), match=r"inplace|NoneType"):
        run(source)
    assert found(source, tmp_path) == ["tensor-grad"]


@pytest.mark.parametrize("source", (UNCHANGED | THERE).values(), ids=UNCHANGED | THERE)
def test_what_is_kept_or_there_is_left_alone(source, tmp_path):
    run(source)
    assert found(source, tmp_path) == []


FLAGS = """trained = [p for p in model.parameters() if p.requires_grad]
every = torch.zeros(len(trained), 1)
model.weight.requires_grad = False
some = torch.zeros(len(list(filter(lambda p: p.requires_grad, model.parameters()))), 2)
with torch.no_grad():
    without = torch.zeros(1 + model(x).requires_grad, 3)
through = torch.zeros(1 + model(x).requires_grad, 4)
indexes = torch.zeros(1 + model(x).argmax(1).requires_grad, 5)
numbers = torch.zeros(sum(p.numel() for p in model.parameters() if p.requires_grad), 6)
"""


def test_whether_a_tensor_requires_a_gradient_is_known(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(HEAD + FLAGS)
    found = {name: str(shown[-1]) for names in follow(path).claims.values() for name, shown in names.items()}
    program: dict[str, object] = {}
    exec(HEAD + FLAGS, program)
    made = {name: value for name, value in program.items() if name in found and name not in ("x", "target")}
    assert {name: found[name] for name in made} == {
        name: f"Float32[{', '.join(map(str, value.shape))}]"
        for name, value in made.items()
        if isinstance(value, torch.Tensor)
    }
    assert len(made) == 6
