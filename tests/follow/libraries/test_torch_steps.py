"""Weights that a step has changed before a backward needs them, and programs that look alike."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from simpletorch.follow import follow
from simpletorch.follow.marks.weights import WEIGHTED

GAN = """import torch
from torch import nn
torch.manual_seed(0)
G = nn.Sequential(nn.Linear(7, 11), nn.ReLU(), nn.Linear(11, 13))
D = nn.Sequential(nn.Linear(13, 5), nn.LeakyReLU(0.2), nn.Linear(5, 1))
opt_g, opt_d = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())
loss = nn.BCEWithLogitsLoss()
for step in range(3):
    real, z = torch.randn(17, 13), torch.randn(17, 7)
    fake = G(z)
"""
SEQUENCE = """import torch
from torch import nn
torch.manual_seed(0)
rnn, head = nn.LSTM(5, 7, batch_first=True), nn.Linear(7, 3)
optimizer = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.1)
state = None
for step in range(5):
    x, y = torch.randn(11, 13, 5), torch.randint(0, 3, (11,))
    out, state = rnn(x, state)
    loss = nn.functional.cross_entropy(head(out[:, -1]), y)
    optimizer.zero_grad()
"""
TWO = """import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(11, 5), torch.randn(11, 1)
"""


def gan(rest: str) -> str:
    return GAN + "".join(f"    {line}\n" for line in rest.strip().splitlines())


def sequence(rest: str) -> str:
    return SEQUENCE + "".join(f"    {line}\n" for line in rest.strip().splitlines())


D_STEP = """scores = D(fake)
d_loss = loss(D(real), torch.ones(17, 1)) + loss(scores, torch.zeros(17, 1))
opt_d.zero_grad()
d_loss.backward(retain_graph=True)
"""
OUTDATED = {
    "the generator's loss of scores before the step": gan(
        D_STEP + "opt_d.step()\nopt_g.zero_grad()\nloss(scores, torch.ones(17, 1)).backward()\nopt_g.step()"
    ),
    "as a variable": gan(
        D_STEP + "g_loss = loss(scores, torch.ones(17, 1))\nopt_d.step()\nopt_g.zero_grad()\ng_loss.backward()"
    ),
    "the generator first": gan(
        "scores = D(fake)\ng_loss = loss(scores, torch.ones(17, 1))\nopt_g.zero_grad()\n"
        "g_loss.backward(retain_graph=True)\nopt_g.step()\nopt_d.zero_grad()\n"
        "loss(scores, torch.zeros(17, 1)).backward()\nopt_d.step()"
    ),
    "rounds that hang together": sequence("loss.backward(retain_graph=True)\noptimizer.step()"),
    "rounds of a GRU": sequence("loss.backward(retain_graph=True)\noptimizer.step()").replace("LSTM", "GRU"),
    "rounds of a cell": """import torch
from torch import nn
cell, head = nn.GRUCell(5, 7), nn.Linear(7, 3)
optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
state = torch.zeros(11, 7)
for step in range(5):
    state = cell(torch.randn(11, 5), state)
    optimizer.zero_grad()
    head(state).pow(2).mean().backward(retain_graph=True)
    optimizer.step()
""",
    "twice through one graph": TWO
    + "loss = (net(x) - y).pow(2).mean()\nfor _ in range(3):\n    optimizer.zero_grad()\n"
    "    loss.backward(retain_graph=True)\n    optimizer.step()\n",
    "two losses of one pass": TWO
    + "out = net(x)\nfirst, second = out.mean(), (out - y).pow(2).mean()\nfirst.backward(retain_graph=True)\n"
    "optimizer.step()\nsecond.backward()\n",
    "a sum of losses": TWO
    + "total = torch.zeros(())\nfor _ in range(3):\n    total = total + (net(x) - y).pow(2).mean()\n"
    "    optimizer.zero_grad()\n    total.backward(retain_graph=True)\n    optimizer.step()\n",
    "two optimizers of one encoder": """import torch
from torch import nn
encoder, a, b = nn.Linear(5, 7), nn.Linear(7, 1), nn.Linear(7, 1)
opt_a = torch.optim.SGD([*encoder.parameters(), *a.parameters()], lr=0.1)
opt_b = torch.optim.SGD([*encoder.parameters(), *a.parameters(), *b.parameters()], lr=0.1)
code = encoder(torch.randn(11, 5))
first, second = a(code).mean(), (a(code) + b(code)).mean()
first.backward(retain_graph=True)
opt_a.step()
second.backward()
""",
    "convolutions": """import torch
from torch import nn
net = nn.Sequential(nn.Conv2d(3, 5, 3), nn.ReLU(), nn.Conv2d(5, 7, 3))
optimizer = torch.optim.Adam(net.parameters())
out = net(torch.randn(2, 3, 11, 11))
out.mean().backward(retain_graph=True)
optimizer.step()
out.pow(2).mean().backward()
""",
}
RIGHT = {
    "scores anew": gan(
        D_STEP + "opt_d.step()\nopt_g.zero_grad()\nloss(D(fake), torch.ones(17, 1)).backward()\nopt_g.step()"
    ),
    "a detached fake": gan(
        D_STEP.replace("D(fake)", "D(fake.detach())").replace("retain_graph=True", "")
        + "opt_d.step()\nopt_g.zero_grad()\nloss(D(fake), torch.ones(17, 1)).backward()\nopt_g.step()"
    ),
    "both backwards before the steps": gan(
        D_STEP + "opt_g.zero_grad()\nloss(scores, torch.ones(17, 1)).backward()\nopt_d.step()\nopt_g.step()"
    ),
    "the generator's step, then the critic anew": gan(
        "opt_g.zero_grad()\nloss(D(fake), torch.ones(17, 1)).backward(retain_graph=True)\nopt_g.step()\n"
        "opt_d.zero_grad()\nloss(D(fake.detach()), torch.zeros(17, 1)).backward()\nopt_d.step()"
    ),
    "a detached state": sequence("loss.backward()\noptimizer.step()\nstate = tuple(s.detach() for s in state)"),
    "a step without gradients": TWO
    + "loss = (net(x) - y).pow(2).mean()\nloss.backward(retain_graph=True)\noptimizer.zero_grad()\n"
    "optimizer.step()\nloss.backward()\n",
    "no step between": TWO + "loss = (net(x) - y).pow(2).mean()\nloss.backward(retain_graph=True)\nloss.backward()\n"
    "optimizer.step()\n",
    "a step of others": TWO + "other = nn.Linear(5, 1)\nchanged = torch.optim.SGD(other.parameters(), lr=0.1)\n"
    "loss = (net(x) - y).pow(2).mean() + other(x).mean()\nloss.backward(retain_graph=True)\nchanged.step()\n"
    "loss.backward()\n",
    "a layer alone, which needs its input": """import torch
from torch import nn
net = nn.Linear(5, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
total = 0
for step in range(4):
    total = total + net(torch.randn(11, 5)).pow(2).mean()
    optimizer.zero_grad()
    total.backward(retain_graph=True)
    optimizer.step()
""",
    "the graph of each round by itself": TWO + "for _ in range(4):\n    loss = (net(x) - y).pow(2).mean()\n"
    "    optimizer.zero_grad()\n    loss.backward(retain_graph=True)\n    optimizer.step()\n",
    "frozen layers": TWO
    + "for p in net[2].parameters():\n    p.requires_grad_(False)\nloss = (net(x) - y).pow(2).mean()\n"
    "loss.backward(retain_graph=True)\noptimizer.step()\nloss.backward()\n",
    "LBFGS": TWO.replace("SGD", "LBFGS")
    + "def closure():\n    optimizer.zero_grad()\n    loss = (net(x) - y).pow(2).mean()\n"
    "    loss.backward()\n    return loss\nfor _ in range(3):\n    optimizer.step(closure)\n",
}


def found(source: str, folder: Path) -> list[tuple[int, str]]:
    path = folder / "program.py"
    path.write_text(source)
    followed = follow(path)
    assert not followed.faults
    return [(f.line, f.code) for f in followed.errors]


@pytest.mark.parametrize("source", OUTDATED.values(), ids=OUTDATED)
def test_a_backward_through_weights_of_before_the_step_is_an_error(source, tmp_path):
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
        exec(compile(source, "program.py", "exec"), {})
    (line,) = (entry.lineno + 1 for entry in caught.traceback if str(entry.path).endswith("program.py"))
    assert found(source, tmp_path) == [(line, "tensor-grad")]


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT)
def test_what_torch_takes_is_left_alone(source, tmp_path):
    exec(compile(source, "program.py", "exec"), {})
    assert found(source, tmp_path) == []


LAYERS = {
    "Linear": (lambda: torch.nn.Linear(5, 5), (3, 5)),
    **{f"Conv{n}d": (lambda n=n: getattr(torch.nn, f"Conv{n}d")(5, 5, 3), (2, 5, *(7,) * n)) for n in (1, 2, 3)},
    **{
        f"ConvTranspose{n}d": (lambda n=n: getattr(torch.nn, f"ConvTranspose{n}d")(5, 5, 3), (2, 5, *(7,) * n))
        for n in (1, 2, 3)
    },
    "LayerNorm": (lambda: torch.nn.LayerNorm(5), (3, 5)),
    **{f"BatchNorm{n}d": (lambda n=n: getattr(torch.nn, f"BatchNorm{n}d")(5), (2, 5, *(7,) * n)) for n in (1, 2, 3)},
    "PReLU": (lambda: torch.nn.PReLU(), (3, 5)),
    **{kind: (lambda kind=kind: getattr(torch.nn, kind)(5, 7), (3, 2, 5)) for kind in ("RNN", "GRU", "LSTM")},
    **{f"{k}Cell": (lambda k=k: getattr(torch.nn, f"{k}Cell")(5, 7), (3, 5)) for k in ("RNN", "GRU", "LSTM")},
}


@pytest.mark.parametrize("name", sorted(WEIGHTED))
def test_the_backward_of_such_a_layer_needs_its_weight(name):
    make, shape = LAYERS[name]
    layer = make()
    result = layer(torch.randn(shape, requires_grad=True))
    loss = (result[0] if isinstance(result, tuple) else result).pow(2).sum()
    loss.backward(retain_graph=True)
    torch.optim.SGD(layer.parameters(), lr=0.1).step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()
