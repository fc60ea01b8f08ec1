"""The common base of metrics whose state is sums."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import torch

from simpletorch.errors import CheckpointError
from simpletorch.metrics._ranks import summed


class Streaming(ABC):
    """Sums over everything that was seen: tensors by name, which add up over batches and over ranks.

    They live on the device of the first batch. `state_dict` gives the sums of this rank alone, so that every rank
    continues with its own.
    """

    higher_is_better: ClassVar[bool | None] = None
    """Whether larger values are better (True) or smaller ones (False); None where that isn't known."""

    _sums: dict[str, torch.Tensor]
    _integers: dict[str, int]  # to be added to the sums: what is known without waiting for a device
    _fresh: bool  # nothing was added yet, so the sums have no device

    def __init__(self, *, synchronize: bool) -> None:
        self.synchronize = synchronize
        self.reset()

    @abstractmethod
    def _zeros(self) -> dict[str, torch.Tensor]:
        """The sums of nothing, on the CPU."""

    @abstractmethod
    def update(self, output: Any, target: Any, /) -> None:
        """Add one batch."""

    @abstractmethod
    def compute(self) -> object:
        """The value of everything since the last `reset`: said here so that a dict of several has metrics as values."""

    def _add(self, **terms: torch.Tensor | int) -> None:
        """Add a batch's terms (at least one is a tensor); an int costs no transfer to a device."""
        if self._fresh:
            device = next(term.device for term in terms.values() if isinstance(term, torch.Tensor))
            self._sums = {name: total.to(device) for name, total in self._sums.items()}
            self._fresh = False
        for name, term in terms.items():
            if not isinstance(term, torch.Tensor):
                self._integers[name] += term
            elif term.is_cpu and term.dtype == torch.int64 and term.ndim == 0:
                self._integers[name] += int(term)  # an addition of tensors takes five times as long
            else:
                total = self._sums[name]
                term = term.detach() if term.requires_grad else term
                term = term if term.device == total.device else term.to(total.device)
                self._sums[name] = total + term

    def _own(self) -> dict[str, torch.Tensor]:
        """The sums of this rank."""
        return {name: total + self._integers[name] for name, total in self._sums.items()}

    def _totals(self) -> dict[str, torch.Tensor]:
        """The sums, over all ranks if this metric is to be synchronized."""
        return {name: summed(total) if self.synchronize else total for name, total in self._own().items()}

    def reset(self) -> None:
        """Forget everything."""
        self._sums = self._zeros()
        self._integers = dict.fromkeys(self._sums, 0)
        self._fresh = True

    def state_dict(self) -> dict[str, torch.Tensor]:
        """The sums of this rank, copied."""
        return self._own()

    def load_state_dict(self, state_dict: dict[str, Any], /) -> None:
        """Restore the state that `state_dict` returned.

        Args:
            state_dict: a state that `state_dict` returned.

        Raises:
            CheckpointError: it is the state of another metric, or of one with another number of classes.
        """
        zeros = self._zeros()
        for name in sorted({*zeros, *state_dict}):
            here, there = zeros.get(name), state_dict.get(name)
            if not isinstance(there, torch.Tensor) or here is None or there.shape != here.shape:
                shapes = [list(x.shape) if isinstance(x, torch.Tensor) else "nothing" for x in (there, here)]
                raise CheckpointError(
                    f"this state is of another metric than {type(self).__name__}: "
                    f"{name!r} is {shapes[0]} there and {shapes[1]} here",
                    hint="load it into a metric of the same class, made with the same arguments",
                )
        # On the device of the next batch, as after `reset`: where the state was saved from need not exist any more.
        self._sums = {name: state_dict[name].detach().to("cpu", zeros[name].dtype, copy=True) for name in zeros}
        self._integers = dict.fromkeys(zeros, 0)
        self._fresh = True


def scalar(dtype: torch.dtype) -> torch.Tensor:
    """A sum of numbers before the first one."""
    return torch.zeros((), dtype=dtype)


def wide(value: torch.Tensor) -> torch.Tensor:
    """``value`` in Float64, so that long epochs lose no digits; in Float32 on Apple's GPUs, which have no more."""
    return value.to(torch.float32 if value.device.type == "mps" else torch.float64)
