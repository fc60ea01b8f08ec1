"""Optimizers and schedulers leave a training loop with what it had."""

from pathlib import Path

import pytest
from against_torch import agrees, findings

HEAD = "import torch\nfrom torch import nn\n"

TRAINING = """
model = nn.Linear(3, 5)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=11)
for step in range(7):
    x = torch.randn(11, 3)
    y = model(x)
    loss = y.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    scheduler.step()
rate = torch.tensor(scheduler.get_last_lr())
w = optimizer.param_groups[0]["params"][0]
groups = len(optimizer.param_groups)
"""
GROUPS = """
first, second = nn.Linear(3, 5), nn.Linear(5, 7)
groups = [{"params": first.parameters(), "lr": 0.1}, {"params": [second.bias]}]
optimizer = torch.optim.SGD(groups, lr=0.2, momentum=0.9)
optimizer.add_param_group({"params": second.weight})
n = len(optimizer.param_groups)
a, b, c = [group["params"][0] for group in optimizer.param_groups]
for group in optimizer.param_groups:
    group["lr"] *= 0.5
"""
CLOSURE = """
model = nn.Linear(3, 5)
optimizer = torch.optim.LBFGS(model.parameters())
def closure():
    optimizer.zero_grad()
    loss = model(torch.ones(2, 3)).sum()
    loss.backward()
    return loss
loss = optimizer.step(closure)
"""
OWN = """
class Descent(torch.optim.Optimizer):
    def __init__(self, params, lr, momentum):
        super().__init__(params, dict(lr=lr, momentum=momentum))
    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if len(state) == 0:
                    state["mean"] = torch.zeros_like(p)
                state["mean"].mul_(group["momentum"]).add_(p.grad)
                p.add_(state["mean"], alpha=-group["lr"])
model = nn.Linear(3, 5)
optimizer = Descent(model.parameters(), 0.1, 0.9)
model(torch.ones(2, 3)).sum().backward()
optimizer.step()
mean = optimizer.state[model.weight]["mean"]
"""
SCALED = """
model = nn.Linear(3, 5)
average = torch.optim.swa_utils.AveragedModel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")
y = average(torch.ones(2, 3))
loss = scaler.scale(model(torch.ones(2, 3)).sum())
loss.backward()
scaler.unscale_(optimizer)
scaler.step(optimizer)
scaler.update()
average.update_parameters(model)
"""

OURS = """
import simpletorch.nn as layers
from simpletorch import optim
from simpletorch.data import DataLoader, TensorDataset, random_split
data = TensorDataset(torch.randn(35, 3), torch.randint(0, 5, (35,)))
first, rest = random_split(data, [25, 10])
batch = next(iter(DataLoader(first, batch_size=5, shuffle=True)))
model = layers.Linear(3, 5)
optimizer = optim.AdamW(model.parameters(), lr=0.1)
scheduler = optim.OneCycleLR(optimizer, 0.1, total_steps=10)
y = optim.EMA(model)(batch[0])
"""


@pytest.mark.parametrize(
    ("program", "known"),
    [
        (TRAINING, "x y loss w groups"),
        (GROUPS, "n a b c"),
        (CLOSURE, "loss"),
        (OWN, "mean"),
        (SCALED, "y loss"),
        (OURS, "batch y"),
    ],
)
def test_a_training_step_is_that_of_torch(program: str, known: str, tmp_path: Path) -> None:
    agrees(HEAD + program, tmp_path, known)


def test_a_mistake_in_a_closure_is_found(tmp_path: Path) -> None:
    ((line, message),) = findings(HEAD + CLOSURE.replace("ones(2, 3)", "ones(2, 7)"), tmp_path)
    assert line == 8
    assert "the last dim of input is 7" in message
