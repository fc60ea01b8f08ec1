"""A training that draws random numbers wherever one can, in many variants."""

import random
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional as F

from simpletorch.data import DataLoader, TensorDataset
from simpletorch.metrics import Accuracy
from simpletorch.optim import EMA
from simpletorch.reproducibility import seed_everything
from simpletorch.train import Callback, Checkpoint, Trainer


class Augmented(torch.utils.data.Dataset):
    """Samples that are changed at random with each of the three generators when they are read."""

    def __init__(self, inputs, targets):
        self.inputs, self.targets = inputs, targets

    def __len__(self):
        return len(self.inputs)

    def __getitem__(self, index):
        noise = torch.randn(3) * random.random() + float(np.random.rand())
        return self.inputs[index] + 0.1 * noise, self.targets[index]


@dataclass(frozen=True)
class Variant:
    samples: int = 31
    batch: int = 4
    epochs: int | None = 3
    steps: int | None = None
    accumulate: int = 1
    workers: int = 0
    augmented: bool = True
    own_generator: bool = False
    precision: str = "float32"
    ema: bool = False
    schedule: str | None = None
    validation: bool = False
    evaluate_every: int | None = None
    plain_loader: bool = False

    @classmethod
    def drawn(cls, seed):
        draw = random.Random(seed)
        return cls(
            samples=draw.choice([23, 47, 59]),  # no last batch of one sample, which has no variance
            batch=draw.choice([3, 4, 5]),
            epochs=draw.choice([2, 3]),
            accumulate=draw.choice([1, 1, 2, 3]),
            workers=draw.choice([0, 0, 0, 2]),
            augmented=draw.random() < 0.7,
            own_generator=draw.random() < 0.5,
            precision=draw.choice(["float32", "float32", "bfloat16", "float16"]),
            ema=draw.random() < 0.5,
            schedule=draw.choice([None, "epoch", "step"]),
            validation=draw.random() < 0.5,
            evaluate_every=draw.choice([None, None, 3]),
            plain_loader=draw.random() < 0.2,
        )

    def run(self, folder, *others, seed=0, resume=None, **options):
        """Train, from the start or from where ``folder`` says; gives everything there is to compare."""
        seed_everything(seed)
        model = torch.nn.Sequential(
            torch.nn.Linear(3, 7),
            torch.nn.BatchNorm1d(7),
            torch.nn.ReLU(),
            torch.nn.Dropout(0.3),
            torch.nn.Linear(7, 2),
        )
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
        scheduler = None
        if self.schedule is not None:
            scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.95)
        generator = torch.Generator().manual_seed(5)
        inputs = torch.randn(self.samples, 3, generator=generator)
        targets = torch.randint(2, (self.samples,), generator=generator)
        dataset = (Augmented if self.augmented else TensorDataset)(inputs, targets)
        kind = torch.utils.data.DataLoader if self.plain_loader else DataLoader
        loader = kind(
            dataset,
            self.batch,
            shuffle=True,
            num_workers=0 if self.plain_loader else self.workers,
            generator=torch.Generator().manual_seed(seed) if self.own_generator else None,
        )
        trainer = Trainer(
            loss=F.cross_entropy,
            optimizer=optimizer,
            scheduler=scheduler,
            schedule=self.schedule or "epoch",
            clip_norm=1.0,
            accumulate=self.accumulate,
            precision=self.precision,
            ema=EMA(model, 0.9) if self.ema else None,
            metrics={"accuracy": Accuracy()},
            train_metrics={"accuracy": Accuracy()},
            evaluate_every=self.evaluate_every if self.validation else None,
            callbacks=[*others, Checkpoint(folder, **options)],
            progress=False,
        )
        validation = DataLoader(TensorDataset(inputs[:7], targets[:7]), 3) if self.validation else None
        history = trainer.fit(model, loader, epochs=self.epochs, steps=self.steps, validation=validation, resume=resume)
        return {
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "ema": None if trainer.ema is None else trainer.ema.state_dict(),
            "scheduler": None if scheduler is None else scheduler.state_dict(),
            "history": [
                (e.number, e.loss, e.validation, e.training, e.learning_rate, e.samples, e.steps) for e in history
            ],
            "generators": [random.random(), np.random.rand(), torch.rand(3)],
        }

    @property
    def updates(self):
        batches = -(-self.samples // self.batch)
        return self.epochs * -(-batches // self.accumulate)


class At(Callback):
    """Do something in the middle of an update."""

    def __init__(self, step, action):
        self.step, self.action = step, action

    def on_gradients(self, fit):
        if fit.step + 1 == self.step:
            self.action()


def nothing():
    """What `At` can do as well."""


def same(left, right):
    if isinstance(left, torch.Tensor):
        return left.dtype == right.dtype and torch.equal(left, right)
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right or left != left
