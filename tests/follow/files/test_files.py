"""Files that a program writes and reads back: what is found behind them, and what nobody can know."""

from pathlib import Path

import pytest

from simpletorch.follow import Followed, follow

START = """
import io, os, tempfile
from pathlib import Path
import torch
from torch import nn
from elsewhere import train, names

class Net(nn.Module):
    def __init__(self, width, depth=2):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.head = nn.Linear(width, 3)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x)

net, td = Net(7), tempfile.mkdtemp()
path = os.path.join(td, "net.pt")
"""

WRONG = {
    "a model that is built from what was saved": """
torch.save({"config": {"width": 7}, "state": net.state_dict()}, path)
other = Net(**torch.load(path)["config"])
other(torch.zeros(2, 11))
""",
    "a weight from a checkpoint": """
torch.save(net.state_dict(), path)
torch.zeros(2, 5) @ torch.load(path, map_location="cpu")["head.weight"].t()
""",
    "the best of a training loop": """
best = 0.5
for epoch in range(100):
    loss = net(torch.randn(5, 7)).mean()
    if loss.item() < best:
        best = loss.item()
        torch.save({"net": net.state_dict(), "epoch": epoch}, path)
torch.zeros(2, 5) @ torch.load(path)["net"]["head.weight"].t()
""",
    "a model that was saved whole": """
torch.save(net, path)
torch.load(path, weights_only=False)(torch.zeros(2, 11))
""",
    "a name that begins and ends otherwise": """
torch.save(torch.zeros(5), path)
for name in names():
    torch.save(torch.zeros(3), f"{td}/epoch_{name}.pt")
torch.load(path) + torch.zeros(7)
""",
    "what a closure writes": """
def keep(value):
    torch.save(value, path)
keep(torch.zeros(5))
keep(torch.zeros(11))
torch.load(path) + torch.zeros(7)
""",
}
RIGHT = {
    "what unknown code may have written": """
torch.save(torch.zeros(5), path)
train(td)
torch.load(path) + torch.zeros(7)
""",
    "what an object of the program's that unknown code has may have written": """
torch.save(torch.zeros(5), path)
train(Path(td) / "net.pt")
torch.load(path) + torch.zeros(7)
""",
    "a name that nobody knows": """
torch.save(torch.zeros(5), path)
for name in names():
    torch.save(torch.zeros(7), f"{td}/{name}.pt")
torch.load(path) + torch.zeros(7)
""",
    "a path that nobody knows": """
torch.save(torch.zeros(5), path)
torch.save(torch.zeros(7), names()[0])
torch.load(path) + torch.zeros(7)
""",
    "one path from here and one from the root": """
torch.save(torch.zeros(5), "net.pt")
torch.save(torch.zeros(7), "/home/me/net.pt")
torch.load("net.pt") + torch.zeros(7)
""",
    "another directory": """
torch.save(torch.zeros(5), "net.pt")
os.chdir(names())
torch.load("net.pt") + torch.zeros(7)
""",
    "what may be there since another run": """
if names():
    torch.save(torch.zeros(5), "net.pt")
torch.load("net.pt") + torch.zeros(7)
""",
    "a stream that unknown code has": """
buffer = io.BytesIO()
torch.save(torch.zeros(5), buffer)
train(buffer)
buffer.seek(0)
torch.load(buffer) + torch.zeros(7)
""",
    "a stream that isn't at its start": """
buffer = io.BytesIO()
torch.save(torch.zeros(5), buffer)
place = buffer.tell()
torch.save(torch.zeros(7), buffer)
buffer.seek(place)
torch.load(buffer) + torch.zeros(7)
""",
    "a part of a state dict": """
torch.save({"module." + k: v for k, v in net.state_dict().items()}, path)
found = {k.removeprefix("module."): v for k, v in torch.load(path).items()}
missing, unexpected = net.load_state_dict({k: v for k, v in found.items() if "head" not in k}, strict=False)
assert not unexpected and len(missing) == 2
wide = Net(7, depth=3)
assert wide.load_state_dict(found, strict=False).missing_keys
print(net.load_state_dict(found))
own = net.state_dict()
own.update({k: v for k, v in found.items() if k in own and v.shape == own[k].shape})
net.load_state_dict(own)
net(torch.zeros(5, 7))
""",
    "an average, an optimizer and a schedule": """
optimizer = torch.optim.AdamW(net.parameters())
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 5)
shadow = {k: v.detach().clone() for k, v in net.named_parameters()}
state = {"opt": optimizer.state_dict(), "schedule": schedule.state_dict(), "shadow": shadow, "epoch": 3}
torch.save(state, path)
found = torch.load(path)
optimizer.load_state_dict(found["opt"])
schedule.load_state_dict(found["schedule"])
for k, p in net.named_parameters():
    p.data.copy_(found["shadow"][k])
for epoch in range(found["epoch"] + 1, 7):
    optimizer.zero_grad()
    net(torch.randn(5, 7)).mean().backward()
    optimizer.step()
    schedule.step()
""",
    "a program that goes on where it was": """
start = 0
if os.path.exists("last.pt"):
    found = torch.load("last.pt")
    net.load_state_dict(found["net"])
    start = found["epoch"]
for epoch in range(start, 5):
    torch.save({"net": net.state_dict(), "epoch": epoch}, "last.pt")
""",
}


def followed(source: str, tmp_path: Path) -> Followed:
    path = tmp_path / "program.py"
    path.write_text(START + source)
    return follow(path)


@pytest.mark.parametrize("source", WRONG.values(), ids=WRONG.keys())
def test_what_is_loaded_is_what_was_saved(source: str, tmp_path: Path) -> None:
    found = followed(source, tmp_path)
    assert [e.code for e in found.errors] == ["tensor-shape"]
    assert not found.warnings


@pytest.mark.parametrize("source", RIGHT.values(), ids=RIGHT.keys())
def test_nothing_is_said_of_what_nobody_knows(source: str, tmp_path: Path) -> None:
    found = followed(source, tmp_path)
    assert not found.errors
    assert not found.warnings


def test_a_checkpoint_is_where_it_is_mapped_to(tmp_path: Path) -> None:
    source = """
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net.to(device)
torch.save({"x": torch.zeros(5, 7, device=device), "y": torch.zeros(5, 7)}, path)
here, there = torch.load(path), torch.load(path, map_location=device)
net(here["x"])
net(there["y"])
net(torch.load(path, map_location=lambda storage, place: storage)["x"])
"""
    assert not followed(source, tmp_path).errors
    assert [e.code for e in followed(source + 'net(here["y"])', tmp_path).errors] == ["tensor-device"]
