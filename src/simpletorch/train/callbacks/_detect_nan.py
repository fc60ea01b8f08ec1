"""Find the origin of the first NaN."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import torch

from simpletorch._tensors import tensors_in
from simpletorch.errors import TorchError, as_also
from simpletorch.train._batch import parts_of
from simpletorch.train._callback import Callback
from simpletorch.train._step import Step

if TYPE_CHECKING:
    from simpletorch.train._fit import Fit


class DetectNaN(Callback):
    """Stop at the first loss or gradient that is not finite, before it reaches the weights, and say where it began.

    The batch is sent through the model once more, layer by layer. The error names the first layer that made such a
    value out of good ones, or says that the data or the weights already had it. Gradients that a `GradScaler` will skip
    are left to it.

    Args:
        every: look only at updates whose number is a multiple of this; looking waits for a GPU.

    Raises:
        ValueError: ``every`` is less than 1.
        TorchError: while training: a value isn't finite; it names the layer.

    Examples:
        >>> from simpletorch import data, nn, optim, train
        >>> model = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
        >>> optimizer = optim.AdamW(model.parameters(), lr=0.01)
        >>> loader = data.DataLoader(data.Digits(), batch_size=100)
        >>> settings = {"loss": nn.functional.cross_entropy, "optimizer": optimizer, "progress": False}
        >>> trainer = train.Trainer(**settings, callbacks=[train.DetectNaN(every=10)])
        >>> history = trainer.fit(model, loader, epochs=1)
        >>> len(history)
        1
    """

    def __init__(self, *, every: int = 1) -> None:
        if every < 1:
            raise as_also(TorchError, ValueError)(f"DetectNaN got every={every}: look at every 1 or more updates")
        self.every = every

    def on_loss(self, fit: Fit) -> None:
        """Look at the loss."""
        if (fit.step + 1) % self.every or fit.loss is None:
            return
        loss = float(fit.loss)
        if not math.isfinite(loss):
            found, layer = _origin(fit)
            raise TorchError(
                f"the loss became {loss} in epoch {fit.epoch}, batch {fit.batches + 1}, update {fit.step + 1}: {found}",
                module_path=layer,
                hint=f"lower the learning rate ({fit.learning_rate:g}), set clip_norm, or look at this layer's input",
            )

    def on_gradients(self, fit: Fit) -> None:
        """Look at the gradients."""
        if (fit.step + 1) % self.every or fit.scaler is not None:
            return
        gradients = {name: p.grad for name, p in fit.model.named_parameters() if p.grad is not None}
        if not gradients or math.isfinite(float(torch.nn.utils.get_total_norm(list(gradients.values())))):
            return
        bad = [name for name, gradient in gradients.items() if not _is_finite(gradient)]
        where = f"of {', '.join(bad)} is" if bad else "of each parameter is, but their norm together is"
        raise TorchError(
            f"the loss of update {fit.step + 1} in epoch {fit.epoch} is finite, but the gradient {where} not",
            hint="a sqrt, log, norm or division at 0 has no finite derivative: add a small number inside of it",
        )


def _origin(fit: Fit) -> tuple[str, str | None]:
    """The cause of a loss that isn't finite, as a sentence, and the path of the layer."""
    model, is_own = fit.model, not isinstance(fit.train_step, Step)
    inputs, named, target = ((fit.batch,), {}, None) if is_own else parts_of(fit.batch, fit.target)
    for what, item in (("input", (inputs, named)), ("target", target)):
        if not all(map(_is_finite, tensors_in(item))):
            return f"the batch's {what} already has a value that is not finite", None
    for name, parameter in model.named_parameters():
        if not _is_finite(parameter):
            return f"the weights {name} already have a value that is not finite", None
    if is_own:
        return (
            "batch and weights are finite, so it is made in the step; detect_anomaly of torch.autograd may help",
            None,
        )
    with torch.no_grad():
        for name, layer in _first_bad(model, inputs, named):
            return f"{type(layer).__name__} makes it out of finite inputs", f"model.{name}" if name else "model"
    return "every layer's output is finite, so it is the loss function that makes it", None


def _first_bad(
    model: torch.nn.Module, inputs: Sequence[Any], named: dict[str, Any]
) -> Iterator[tuple[str, torch.nn.Module]]:
    """The layers, in the order in which they finish, whose output is not finite though their input is."""
    found: list[tuple[str, torch.nn.Module]] = []
    names = {module: name for name, module in model.named_modules()}

    def look(module: torch.nn.Module, args: Any, keywords: Any, output: Any) -> None:
        if all(map(_is_finite, tensors_in((args, keywords)))) and not all(map(_is_finite, tensors_in(output))):
            found.append((names[module], module))

    handles = [module.register_forward_hook(look, with_kwargs=True) for module in names]
    try:
        model(*inputs, **named)
    finally:
        for handle in handles:
            handle.remove()
    return iter(found)


def _is_finite(tensor: torch.Tensor) -> bool:
    return bool(torch.isfinite(tensor).all())
