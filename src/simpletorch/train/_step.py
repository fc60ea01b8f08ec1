"""One update of a model."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

import torch
from torch.optim import LBFGS
from torch.optim.swa_utils import AveragedModel

from simpletorch._samples import length_of
from simpletorch.amp import GradScaler, Precision, precise
from simpletorch.errors import TorchError, as_also, explained
from simpletorch.optim import Optimizer, clip_grad_norm, clip_grad_value
from simpletorch.train._batch import parts_of
from simpletorch.train._device import device_of
from simpletorch.train._parallel import Replicated

_Wrong = as_also(TorchError, ValueError)


class Step:
    """One training step: forward, loss, backward, clipping, update. ``step(images, targets)`` gives the loss.

    The last argument is the target, the others go to the model: ``loss(model(*inputs), target)``. A batch may be given
    as a whole, too: ``step(batch)``. One whose items have names (a dict, a dataclass, a named tuple, transformers'
    ``BatchEncoding``) needs ``target``, the name of its target; the others go to the parameters of the same names.

    With ``accumulate=n`` a call makes only the gradients, and every n-th one updates: as if the n batches had been one.
    Each batch counts by its number of samples, so that a smaller last one is not worth more than it should be; `flush`
    makes an update from the rest at an epoch's end.

    Args:
        model: trained in place; its mode is the caller's business (`mode`, or ``model.train()``).
        loss: from outputs and targets to the mean loss of a batch, a 0-d tensor.
        optimizer: has the parameters to update.
        clip_norm: limits the norm of all gradients together; None doesn't.
        clip_value: limits each element of the gradients; None doesn't.
        accumulate: how many batches make one update.
        precision: of the forward pass: ``"bfloat16"`` and ``"float16"`` run it under `torch.autocast`.
        scaler: scales losses; by default a new `GradScaler` for ``"float16"``, else none.
        ema: an average of the weights (`simpletorch.optim.EMA`, `SWA`), updated after each update.
        count: how many items of a batch's target the loss averages over, when that is not ``len(target)``: for tokens
            with padding, ``lambda target: int((target != -100).sum())``. Only accumulation asks.
        target: the name of the target, in batches whose items have names; None for tuples.
        keep_output: keep the model's last output, detached, in `output`.
        on_loss: called with the detached loss before each ``backward``.
        on_gradients: called before each update, when the gradients are complete, unscaled and not yet clipped.
        replicas: with whom gradients are exchanged, by ``model`` itself: asked only when batches are accumulated.

    Raises:
        ValueError: the optimizer has no parameter of the model or needs a closure, or a number is out of range.

    Examples:
        >>> import torch
        >>> from simpletorch import nn, optim
        >>> from simpletorch.train import Step
        >>> model = nn.Linear(13, 3)
        >>> step = Step(model, nn.functional.cross_entropy, optim.SGD(model.parameters(), lr=0.1), clip_norm=1.0)
        >>> step(torch.randn(7, 13), torch.randint(3, (7,))).shape
        torch.Size([])
    """

    pending: int
    """How many batches have made gradients since the last update."""
    skipped: bool
    """Whether the last update was skipped, because a Float16 gradient was not finite; the scaler sees to it."""
    output: Any
    """The model's last output, detached, if it is kept."""

    def __init__(
        self,
        model: torch.nn.Module,
        loss: Callable[[Any, Any], torch.Tensor],
        optimizer: Optimizer,
        *,
        clip_norm: float | None = None,
        clip_value: float | None = None,
        accumulate: int = 1,
        precision: Precision = "float32",
        scaler: torch.amp.GradScaler | None = None,
        ema: AveragedModel | None = None,
        count: Callable[[Any], float] = length_of,
        target: str | None = None,
        keep_output: bool = False,
        on_loss: Callable[[torch.Tensor], object] | None = None,
        on_gradients: Callable[[], object] | None = None,
        replicas: Replicated | None = None,
    ) -> None:
        if reason := _why_not(model, optimizer, clip_norm, clip_value, accumulate):
            raise _Wrong(reason)
        self.model = model
        self.loss = loss
        self.optimizer = optimizer
        self.clip_norm = clip_norm
        self.clip_value = clip_value
        self.accumulate = accumulate
        self.context = None if precision == "float32" else precise(precision, device_of(model))
        self.scaler = scaler_for(precision, model) if scaler is None else scaler
        self.ema = ema
        self.count = count
        self.target = target
        self.keep_output = keep_output
        self.on_loss = on_loss
        self.on_gradients = on_gradients
        self.replicas = replicas if accumulate > 1 else None
        self.output = None
        self.pending = 0
        self.skipped = False
        self._zero_grad = _zero_grad_of(optimizer)
        self._unit = self._counted = 1.0
        if self.replicas is not None:
            self.replicas.synchronize(False)

    def __call__(self, *batch: Any) -> torch.Tensor:
        """Learn from one batch ``(*inputs, target)``; returns its mean loss before the update, 0-d, detached.

        Raises:
            DataError: it is no batch.
            TorchError: torch raised an error inside.
        """
        try:
            if not self.pending:
                self._zero_grad()  # before the forward pass, which can then use the gradients' memory
            inputs, named, target = parts_of(batch[0] if len(batch) == 1 else batch, self.target)
            if self.context is None:  # written twice: a context that does nothing has a cost in every step
                output = self.model(*inputs, **named)
                loss = self.loss(output, target)
            else:
                with self.context:
                    output = self.model(*inputs, **named)
                    loss = self.loss(output, target)
            detached = loss.detach() if isinstance(loss, torch.Tensor) else _no_loss(loss)
            if self.keep_output:
                self.output = output.detach() if isinstance(output, torch.Tensor) else output
            if self.on_loss is not None:
                self.on_loss(detached)
            if self.accumulate > 1:
                loss = loss * self._weight(target)
            if self.scaler is not None:
                loss = self.scaler.scale(loss)
            loss.backward()
            self.pending += 1
            if self.pending == self.accumulate:
                self._update()
            elif self.replicas is not None:
                self.replicas.synchronize(self.pending + 1 == self.accumulate)
        except Exception as error:
            new = explained(error)
            if new is None:
                raise
            raise new from new.__cause__
        return detached

    def flush(self) -> bool:
        """Update from the batches that wait for more.

        Returns:
            Whether there were gradients that waited for more batches.
        """
        if not self.pending:
            return False
        self._update()
        return True

    def _weight(self, target: Any) -> float:
        """This batch's share of the update, if all its batches are as large as its first; `_update` corrects that."""
        items = float(self.count(target))
        if not self.pending:
            unit = items if self.replicas is None else self.replicas.mean(items)
            # ``or 1.0``: a batch may have no item that counts, such as one that is all padding
            self._unit, self._counted = unit * self.accumulate or 1.0, 0.0
        self._counted += items
        return items / self._unit

    def _exchange(self, replicas: Replicated) -> None:
        """Make the gradients, and what they were counted by, those of all processes."""
        if self.pending < self.accumulate:
            replicas.exchange([p.grad for p in self._with_gradients() if p.grad is not None])
        self._counted = replicas.mean(self._counted)
        replicas.synchronize(False)

    def _update(self) -> None:
        if self.replicas is not None:
            self._exchange(self.replicas)
        is_uneven = self.accumulate > 1 and self._counted not in (0, self._unit)
        if self.scaler is not None and (is_uneven or self.on_gradients or self.clip_norm or self.clip_value):
            self.scaler.unscale_(self.optimizer)  # type: ignore[arg-type]  # any optimizer with param_groups will do
        if is_uneven:
            gradients = [p.grad for p in self._with_gradients() if p.grad is not None]
            # private, as all of torch's fused operations on lists; a loop of `mul_` would start a kernel per tensor
            torch._foreach_mul_(gradients, self._unit / self._counted)
        if self.on_gradients is not None:
            self.on_gradients()
        if self.clip_norm is not None:
            clip_grad_norm(self._with_gradients(), self.clip_norm)
        if self.clip_value is not None:
            clip_grad_value(self._with_gradients(), self.clip_value)
        if self.scaler is None:
            self.optimizer.step()
        else:
            before = self.scaler.get_scale()
            self.scaler.step(self.optimizer)  # type: ignore[arg-type]
            self.scaler.update()
            # torch's scaler doesn't say that it skipped the step; it shrinks the scale then, and only then
            self.skipped = self.scaler.get_scale() < before
        if self.ema is not None and not self.skipped:
            self.ema.update_parameters(self.model)
        self.pending = 0

    def _with_gradients(self) -> list[torch.nn.Parameter]:
        return [p for group in self.optimizer.param_groups for p in group["params"] if p.grad is not None]


def _no_loss(loss: object) -> NoReturn:
    """A loss function's result that isn't a tensor, so that nothing can learn from it.

    Raises:
        TorchError: always.
    """
    hint = "leave .item() out of the loss" if isinstance(loss, float | int) else None
    what = "nothing (is a return missing?)" if loss is None else f"a {type(loss).__name__}"
    raise TorchError(reason=f"the loss function gives {what}, but a tensor is needed, with its graph", hint=hint)


def _zero_grad_of(optimizer: Optimizer) -> Callable[[], None]:
    """``optimizer.zero_grad``, or what does the same as torch's without its profiler range, which costs more than all
    else that a step adds to the loop written out (benchmarks/training.py)."""
    own = getattr(optimizer.zero_grad, "__func__", None)  # neither overridden nor replaced
    return partial(_drop_gradients, optimizer) if own is torch.optim.Optimizer.zero_grad else optimizer.zero_grad


def _drop_gradients(optimizer: Optimizer) -> None:
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            parameter.grad = None


def scaler_for(precision: Precision, model: torch.nn.Module) -> torch.amp.GradScaler | None:
    """The scaler that training in this precision needs: one for Float16, else none."""
    device = device_of(model)
    return GradScaler("cpu" if device is None else device.type) if precision == "float16" else None


def _why_not(
    model: torch.nn.Module,
    optimizer: Optimizer,
    clip_norm: float | None,
    clip_value: float | None,
    accumulate: int,
) -> str:
    """Why these can't make a step; "" when they can."""
    for name, limit in (("clip_norm", clip_norm), ("clip_value", clip_value)):
        if limit is not None and not limit > 0:
            return f"{name} is {limit}: give a positive number, or None for no clipping"
    if accumulate < 1:
        return f"accumulate is {accumulate}: it is the number of batches that make one update, 1 or more"
    if isinstance(optimizer, LBFGS):
        return "LBFGS evaluates the loss several times for each update: write its loop by hand, with a closure"
    owned = {id(parameter) for group in optimizer.param_groups for parameter in group["params"]}
    if not any(id(parameter) in owned for parameter in model.parameters()):
        return (
            "the optimizer updates none of this model's parameters: build it from model.parameters(), "
            "after the model was moved or wrapped"
        )
    return ""
