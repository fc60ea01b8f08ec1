"""Loaders that fit, or of which too little is known to say."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypedDict

import torch
from torch.nn import functional as F

from simpletorch import B, Float32, Int64, Tensor, nn
from simpletorch.data import DataLoader, Dataset, TensorDataset
from simpletorch.metrics import AUROC, F1, Accuracy, ConfusionMatrix
from simpletorch.optim import SGD, AdamW, LearningRate, ParameterGroup, decay_groups
from simpletorch.train import Callback, Epoch, Fit, Step, Trainer, Update, evaluate, predict, track


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


@dataclass
class Sample:
    x: Tensor[Float32, 7]
    label: Tensor[Int64]


class Samples(Dataset[Sample]):
    def __len__(self) -> int:
        return 11

    def __getitem__(self, index: int) -> Sample:
        return Sample(torch.zeros(7), torch.tensor(2))


class LabelFirst(NamedTuple):
    label: torch.Tensor
    x: torch.Tensor


class Columns(TypedDict):
    x: torch.Tensor
    label: torch.Tensor


def by_name() -> Trainer:
    """Batches whose items have names; metrics that give a number and others."""
    metrics = {"accuracy": Accuracy(), "confusion": ConfusionMatrix(3)}
    return Trainer(loss=F.cross_entropy, optimizer=optimizer, target="label", metrics=metrics, progress=False)


def binary() -> list[Epoch]:
    """Targets that are floats, as a binary loss takes them, are classes to the metrics too."""
    one = nn.Sequential(nn.Linear(7, 1), nn.Flatten(0))
    floats = DataLoader(TensorDataset(torch.zeros(11, 7), (torch.arange(11) % 2).float()), 5)
    area, share = AUROC(), Accuracy(threshold=0.0)
    for scores, targets in ((one(inputs), targets) for inputs, targets in floats):
        area.update(scores, targets)
        share.update(scores, targets)
        F1(2, "binary", threshold=0.0).update(scores, targets)
    return Trainer(
        loss=nn.BCEWithLogitsLoss(),
        optimizer=SGD(one.parameters()),
        metrics={"accuracy": share, "area": area},
        progress=False,
    ).fit(one, floats, validation=floats)


zeros, classes = torch.zeros(5, 7), torch.zeros(5, dtype=torch.int64)
by_label = Trainer(loss=F.cross_entropy, optimizer=optimizer, target="label", progress=False)
by_label.fit(model, DataLoader(Samples(), 7))
by_label.fit(model, [LabelFirst(classes, zeros)])
by_label.fit(model, [{"label": classes, "x": zeros}])
columns: list[Columns] = [{"x": zeros, "label": classes}]
by_label.fit(model, columns)
by_name().fit(model, [LabelFirst(classes, zeros)], validation=DataLoader(Samples(), 7))
share: float = by_label.fit(model, DataLoader(Samples(), 7))[-1].loss
assert predict(model, loader).shape == (11, 3)
assert binary()[-1].validation.keys() == {"loss", "accuracy", "area"}
assert set(trainer.test(model, loader)) == {"loss"}


class Critic(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.actor, self.critic = nn.Linear(7, 3), nn.Linear(7, 1)

    def forward(self, x: Tensor[Float32, B, 7]) -> Tensor[Float32, B, 3]:
        return self.actor(x)


both = Critic()
improve, judge = Update(SGD(both.actor.parameters())), Update(AdamW(both.critic.parameters()), clip_norm=1.0)


def own_step(states: Tensor[Float32, B, 7], rewards: Tensor[Float32, B, 1]) -> None:
    values = both.critic(states)
    judge(F.mse_loss(values, rewards))
    improve(-(both.actor(states) * (rewards - values.detach())).mean())


# the model isn't called with these batches, so they need not fit its forward
rollouts = DataLoader(TensorDataset(torch.zeros(11, 7), torch.zeros(11, 1)), 5)
Trainer.with_step(own_step, {"actor": improve, "critic": judge}, progress=False).fit(both, rollouts)
three = DataLoader(TensorDataset(torch.zeros(11, 7), torch.zeros(11, 1), torch.zeros(11, 1)), 5)
stepping = Trainer.with_step(lambda a, b, c: own_step(a, b + c), {"actor": improve, "critic": judge}, progress=False)
stepping.fit(both, three)
