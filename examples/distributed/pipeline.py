"""Pipeline parallel: each process has some of the layers, and parts of each batch go from one to the next.

Run:    python examples/distributed/pipeline.py
        torchrun --nproc-per-node 2 examples/distributed/pipeline.py
Check:  simpletorch check examples/distributed/pipeline.py
"""

import torch

import simpletorch.nn.functional as F
from simpletorch import distributed, nn, seed_everything
from simpletorch.data import DataLoader, Digits
from simpletorch.optim import SGD

BATCH = 64
PARTS = 4
STEPS = 25


def layers() -> nn.Sequential:
    """A network for digits, one layer after the other."""
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 96), nn.ReLU(), nn.Linear(96, 10))


def alone(model: nn.Sequential) -> list[float]:
    """The losses of one process with all layers and whole batches."""
    optimizer = SGD(model.parameters(), lr=0.1)
    losses = []
    for _, (images, labels) in zip(range(STEPS), DataLoader(Digits(), BATCH, drop_last=True), strict=False):
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def main() -> float:
    """Train together and alone; returns how far the two loss curves are apart, relative to the loss."""
    torch.set_num_threads(1)
    distributed.init()
    seed_everything(0)
    model, same = layers(), layers()
    same.load_state_dict(model.state_dict())
    pipeline = distributed.Pipeline(model, F.cross_entropy, parts=PARTS)
    optimizer = SGD(pipeline.stage.parameters(), lr=0.1)
    curve = []
    for _, (images, labels) in zip(range(STEPS), DataLoader(Digits(), BATCH, drop_last=True), strict=False):
        optimizer.zero_grad()
        curve.append(pipeline.step(images, labels).item())
        optimizer.step()
    difference = max(abs(a - b) / b for a, b in zip(curve, alone(same), strict=True))

    expected = same.state_dict()
    close = all(torch.allclose(value, expected[name], atol=1e-5) for name, value in pipeline.state_dict().items())
    agree = bool(distributed.all_gather(torch.tensor([close])).all())  # each stage with its part of the whole model
    print(
        f"this process is stage {pipeline.number + 1} of {pipeline.stages}, with layers {list(pipeline.state_dict())}"
    )
    print(f"loss: {curve[0]:.6f} at first, {curve[-1]:.6f} at last")
    print(f"difference to one process: {difference:.1e}")
    print(f"ranks agree: {agree}")
    return difference


if __name__ == "__main__":
    main()
