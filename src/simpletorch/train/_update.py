"""One optimizer's share in a step that has several, or that is no ``loss(model(inputs), target)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.optim import LBFGS

from simpletorch.checkpoint._plain import is_sharded
from simpletorch.errors import TorchError, as_also, explained
from simpletorch.optim import LRScheduler, Optimizer, ReduceLROnPlateau, clip_grad_norm, clip_grad_value

_Wrong = as_also(TorchError, ValueError)


class Update:
    """``update(loss)`` is backward, clipping and the optimizer's step, on this optimizer's parameters alone.

    It is for steps that you write yourself, in a loop of your own or for `Trainer.with_step`::

        discriminate = Update(Adam(discriminator.parameters(), lr=2e-4))
        generate = Update(Adam(generator.parameters(), lr=2e-4), clip_norm=1.0)

        def step(images: Tensor[Float32, B, 784]) -> None:
            fakes = generator(torch.randn(len(images), 64))
            discriminate(hinge(discriminator(images), discriminator(fakes.detach())))
            generate(-discriminator(fakes).mean())

    Only the gradients of the optimizer's own parameters are computed, so there are none to zero, to freeze or to leave
    over. The generator's loss leaves no trace in the discriminator that it goes through. Where parameters are divided
    among processes (`simpletorch.distributed.shard`), it leaves gradients there, which the discriminator's own update
    forgets first.

    Args:
        optimizer: has the parameters to update.
        clip_norm: limits the norm of all their gradients together; None doesn't.
        clip_value: limits each element of the gradients; None doesn't.
        scheduler: changes the learning rate after each update.

    Raises:
        ValueError: the optimizer needs a closure, the scheduler is of another optimizer, or a number is out of range.

    Examples:
        >>> from simpletorch import data, nn, optim, train
        >>> model = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
        >>> optimizer = optim.AdamW(model.parameters(), lr=0.01)
        >>> loader = data.DataLoader(data.Digits(), batch_size=100)
        >>> update = train.Update(optimizer, clip_norm=1.0)
        >>> for images, targets in loader:
        ...     _ = update(nn.functional.cross_entropy(model(images), targets))
    """

    def __init__(
        self,
        optimizer: Optimizer,
        *,
        clip_norm: float | None = None,
        clip_value: float | None = None,
        scheduler: LRScheduler | None = None,
    ) -> None:
        if reason := _why_not(optimizer, clip_norm, clip_value, scheduler):
            raise _Wrong(reason)
        self.optimizer = optimizer
        self.clip_norm = clip_norm
        self.clip_value = clip_value
        self.scheduler = scheduler
        self.on_loss: Callable[[torch.Tensor], object] | None = None
        self.on_gradients: Callable[[], object] | None = None
        self._losses: list[torch.Tensor] = []

    def __call__(self, loss: torch.Tensor, *, retain_graph: bool = False) -> torch.Tensor:
        """Learn from a loss, 0-d; returns it detached.

        Args:
            retain_graph: keep the graph, for another update whose loss comes out of the same forward pass.

        Raises:
            TorchError: torch raised an error inside; or none of the parameters has anything to do with the loss.
        """
        detached = loss.detach()
        if self.on_loss is not None:
            self.on_loss(detached)
        own = [p for group in self.optimizer.param_groups for p in group["params"] if p.requires_grad]
        for parameter in own:
            parameter.grad = None
        try:
            if any(map(is_sharded, own)):
                # FSDP2 computes with other tensors than these, and hands their gradients on when it sees all of them
                loss.backward(retain_graph=retain_graph)
            else:
                loss.backward(retain_graph=retain_graph, inputs=own)
            if all(parameter.grad is None for parameter in own):
                raise TorchError(
                    "the loss of this update depends on none of the parameters of its optimizer: was it made of "
                    "detached tensors, or by another model?"
                )
            if self.on_gradients is not None:
                self.on_gradients()
            if self.clip_norm is not None:
                clip_grad_norm(own, self.clip_norm)
            if self.clip_value is not None:
                clip_grad_value(own, self.clip_value)
            self.optimizer.step()
        except Exception as error:
            new = explained(error)
            if new is None:
                raise
            raise new from new.__cause__
        if self.scheduler is not None:
            self.scheduler.step()
        self._losses.append(detached)
        return detached

    def taken(self) -> torch.Tensor | None:
        """The mean loss of the calls since this was last asked, 0-d, detached; None if there was no call."""
        losses, self._losses = self._losses, []
        return None if not losses else losses[0] if len(losses) == 1 else torch.stack(losses).mean()

    @property
    def parts(self) -> dict[str, Optimizer | LRScheduler]:
        """The parts with a state: the optimizer, and the scheduler if there is one."""
        parts: dict[str, Optimizer | LRScheduler] = {"optimizer": self.optimizer}
        return parts if self.scheduler is None else {**parts, "scheduler": self.scheduler}

    def state_dict(self) -> dict[str, Any]:
        """The states of the optimizer, and of the scheduler if there is one."""
        return {name: part.state_dict() for name, part in self.parts.items()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the state that `state_dict` returned.

        Args:
            state: a state that `state_dict` returned.

        Raises:
            TorchError: only one of the two has a scheduler.
        """
        if state.keys() != self.parts.keys():
            raise TorchError(f"the saved update has {' and '.join(state)}, and this one {' and '.join(self.parts)}")
        for name, part in self.parts.items():
            part.load_state_dict(state[name])


def _why_not(
    optimizer: Optimizer, clip_norm: float | None, clip_value: float | None, scheduler: LRScheduler | None
) -> str:
    """Why these can't make an update; "" when they can."""
    for name, limit in (("clip_norm", clip_norm), ("clip_value", clip_value)):
        if limit is not None and not limit > 0:
            return f"{name} is {limit}: give a positive number, or None for no clipping"
    if isinstance(optimizer, LBFGS):
        return "LBFGS evaluates the loss several times for each update: write its loop by hand, with a closure"
    if isinstance(scheduler, ReduceLROnPlateau):
        return "ReduceLROnPlateau needs a measure, which an update has none of: step it in a callback's on_epoch_end"
    if scheduler is not None and scheduler.optimizer is not optimizer:
        return (
            f"the {type(scheduler).__name__} changes the learning rate of another optimizer than the one of this "
            "update: build the scheduler from this optimizer, after it"
        )
    return ""
