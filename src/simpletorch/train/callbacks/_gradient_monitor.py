"""How large the gradients are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from simpletorch.errors import TorchError, as_also
from simpletorch.train._callback import Callback

if TYPE_CHECKING:
    from simpletorch.train._fit import Fit


class GradientMonitor(Callback):
    """Log the norm of the gradients before clipping, as ``gradient_norm``, for the loggers to write down.

    Args:
        every: only updates whose number is a multiple of this.
        each: also log the norm of each parameter's gradient, as ``gradient_norm/<name>``.

    Raises:
        ValueError: ``every`` is less than 1.

    Examples:
        >>> from pathlib import Path
        >>> from simpletorch import data, nn, optim, train
        >>> model = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
        >>> optimizer = optim.AdamW(model.parameters(), lr=0.01)
        >>> loader = data.DataLoader(data.Digits(), batch_size=100)
        >>> settings = {"loss": nn.functional.cross_entropy, "optimizer": optimizer, "progress": False}
        >>> trainer = train.Trainer(**settings, callbacks=[train.GradientMonitor(), train.CSVLogger("run.csv")])
        >>> history = trainer.fit(model, loader, epochs=1)
        >>> "gradient_norm" in Path("run.csv").read_text()
        True
    """

    without_gradient: tuple[str, ...] = ()
    """The trainable parameters that got no gradient in the last update looked at: unused, or cut off by a detach."""

    def __init__(self, *, every: int = 1, each: bool = False) -> None:
        if every < 1:
            raise as_also(TorchError, ValueError)(f"GradientMonitor got every={every}: look at every 1 or more updates")
        self.every = every
        self.each = each

    def on_gradients(self, fit: Fit) -> None:
        """Measure and log."""
        if (fit.step + 1) % self.every:
            return
        trainable = [(name, p.grad) for name, p in fit.model.named_parameters() if p.requires_grad]
        self.without_gradient = tuple(name for name, gradient in trainable if gradient is None)
        gradients = {name: gradient for name, gradient in trainable if gradient is not None}
        if not gradients:
            return
        fit.log("gradient_norm", torch.nn.utils.get_total_norm(list(gradients.values())))
        if self.each:
            for name, gradient in gradients.items():
                fit.log(f"gradient_norm/{name}", torch.linalg.vector_norm(gradient))
