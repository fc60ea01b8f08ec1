"""Loaders that fit, or of which too little is known to say."""

from collections.abc import Iterator
from typing import Any

import torch
from torch.nn import functional as F

from simpletorch import B, Float32, Tensor, nn
from simpletorch.data import DataLoader, TensorDataset
from simpletorch.metrics import Accuracy
from simpletorch.optim import SGD, AdamW, LearningRate, ParameterGroup, decay_groups
from simpletorch.train import Callback, Epoch, Fit, Step, Trainer, evaluate, track


class Classifier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(7, 3)

    def forward(self, x: Tensor[Float32, B, 7]) -> Tensor[Float32, B, 3]:
        return self.fc(x)


def untyped() -> Any:
    return [(torch.zeros(5, 7), torch.zeros(5, dtype=torch.int64))]


def generated() -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    for _ in range(2):
        yield torch.zeros(5, 7), torch.zeros(5, dtype=torch.int64)


class Report(Callback):
    def on_epoch_end(self, fit: Fit) -> None:
        losses: list[float] = [epoch.loss for epoch in fit.history]
        assert losses


model = Classifier()
optimizer = AdamW(decay_groups(model, 0.1), lr=LearningRate(0.1))
loader = DataLoader(TensorDataset(torch.zeros(11, 7), torch.zeros(11, dtype=torch.int64)), 5)
trainer = Trainer(loss=F.cross_entropy, optimizer=optimizer, callbacks=[Report()], progress=False)
history: list[Epoch] = trainer.fit(model, loader, validation=loader)
trainer.fit(model, untyped())
trainer.fit(model, generated())
trainer.fit(model, [(torch.zeros(5, 7), torch.zeros(5, dtype=torch.int64))], epochs=1)
plain = torch.nn.Sequential(torch.nn.Linear(7, 3))
Trainer(loss=F.cross_entropy, optimizer=SGD(plain.parameters()), progress=False).fit(plain, loader)
unknown: torch.nn.Module = plain
step = Step(unknown, F.cross_entropy, SGD([ParameterGroup(plain.parameters(), lr=0.1)]))
for inputs, targets in track(loader):
    loss: torch.Tensor = step(inputs, targets)
measured: dict[str, float] = evaluate(unknown, loader, {"accuracy": Accuracy()})
