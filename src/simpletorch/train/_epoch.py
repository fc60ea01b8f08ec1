"""The results of one epoch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Epoch:
    """The results of one epoch; as text, one line.

    Examples:
        >>> from simpletorch import data, nn, optim, train
        >>> model = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
        >>> optimizer = optim.AdamW(model.parameters(), lr=0.01)
        >>> loader = data.DataLoader(data.Digits(), batch_size=100)
        >>> trainer = train.Trainer(loss=nn.functional.cross_entropy, optimizer=optimizer, progress=False)
        >>> epoch = trainer.fit(model, loader, epochs=1)[-1]
        >>> epoch.number, epoch.samples, epoch.steps
        (1, 1437, 15)
    """

    number: int
    """1 for the first."""
    loss: float
    """The mean training loss over the epoch's samples, each as it was when its batch was trained on."""
    validation: dict[str, float]
    """The metrics on the validation batches after the epoch, ``"loss"`` among them; empty without such batches."""
    learning_rate: float
    """Of the first parameter group, in the epoch's last update."""
    samples: int
    """How many samples were trained on."""
    steps: int
    """How many updates were made."""
    seconds: float
    """Wall time of the training part, without validation."""
    training: dict[str, float] = field(default_factory=dict)
    """The metrics that were measured on the training batches, each with the model as it then was."""
    memory: int = 0
    """The most memory in use so far, in bytes: tensors on the model's GPU, or else this process as a whole."""
    others: dict[str, Any] = field(default_factory=dict, compare=False)
    """What the metrics gave that is no single number: ``others["validation confusion"]`` of the one named so."""

    def __str__(self) -> str:
        measures = [f"loss {self.loss:.4f}"]
        measures += [f"{name} {value:.4f}" for name, value in self.training.items()]
        measures += [f"validation {name} {value:.4f}" for name, value in self.validation.items()]
        rate = f"{self.samples / self.seconds:,.0f} samples/s" if self.seconds else f"{self.samples} samples"
        pace = f"{1000 * self.seconds / self.steps:.3g} ms/step" if self.steps else "no step"
        used = f", {self.memory / 2**20:,.0f} MiB" if self.memory else ""
        return f"epoch {self.number}: {', '.join(measures)}, {rate}, {pace}{used}"
