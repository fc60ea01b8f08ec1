"""How many bytes a value has, as a parameter, a gradient, a state of the optimizer, while it is computed and sent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import torch

from simpletorch.errors import TorchError, as_also

__all__ = ["PRECISIONS", "Precision", "States", "precision_of", "states_of"]


@dataclass(frozen=True)
class Precision:
    """The dtypes of a training; None is the parameter's own."""

    name: str
    stored: torch.dtype | None = None
    """Of parameters and, with them, gradients and the optimizer's states."""
    compute: torch.dtype | None = None
    """Of what the model computes with."""
    master: torch.dtype | None = None
    """Of a second copy of the parameters, which the optimizer updates; its states have this dtype then."""

    def of_parameter(self, dtype: torch.dtype) -> torch.dtype:
        """The dtype in which a parameter is kept."""
        return self.stored if self.stored is not None and dtype.is_floating_point else dtype

    def of_compute(self, dtype: torch.dtype) -> torch.dtype:
        """The dtype in which a parameter takes part in the computation."""
        return self.compute if self.compute is not None and dtype.is_floating_point else self.of_parameter(dtype)

    def of_state(self, dtype: torch.dtype) -> torch.dtype:
        """The dtype of the optimizer's states."""
        return self.master if self.master is not None and dtype.is_floating_point else self.of_parameter(dtype)


PRECISIONS: Final[Mapping[str, Precision]] = {
    found.name: found
    for found in (
        Precision("float32"),
        Precision("bfloat16", compute=torch.bfloat16),
        Precision("float16", compute=torch.float16),
        Precision("bfloat16-true", stored=torch.bfloat16, compute=torch.bfloat16),
        Precision("bfloat16-master", stored=torch.bfloat16, compute=torch.bfloat16, master=torch.float32),
    )
}


def precision_of(name: str) -> Precision:
    """The precision of this name; ``bf16`` and ``fp16`` are short for ``bfloat16`` and ``float16``.

    Raises:
        TorchError: (a `ValueError` too) there is none.
    """
    whole = re.sub(r"^(bf|fp)(16|32)", lambda found: f"{'bfloat' if found[1] == 'bf' else 'float'}{found[2]}", name)
    if whole not in PRECISIONS:
        raise as_also(TorchError, ValueError)(f"{name!r} is no precision: write one of {', '.join(PRECISIONS)}")
    return PRECISIONS[whole]


@dataclass(frozen=True)
class States:
    """The state of an optimizer for each parameter: tensors of its shape, and bytes that don't depend on it."""

    name: str
    tensors: int
    constant: int


def states_of(name: str, options: Mapping[str, Any] | None = None) -> States:
    """The state of a torch optimizer, found by a step on two small parameters.

    Args:
        name: a class of ``torch.optim``; upper and lower case are the same.
        options: its own arguments, ``{"momentum": 0.9}`` of SGD.

    Raises:
        TorchError: (a `ValueError` too) there is no such optimizer, or its states aren't as large as the parameters
            (Adafactor keeps rows and columns).
    """
    kinds = {kind.lower(): kind for kind, found in vars(torch.optim).items() if _is_optimizer(found)}
    if name.lower() not in kinds:
        raise as_also(TorchError, ValueError)(f"{name!r} is no optimizer of torch: {', '.join(sorted(kinds))}")
    kind = kinds[name.lower()]
    found = {_measured(getattr(torch.optim, kind), shape, options or {}) for shape in ((2, 3), (5, 7))}
    if len(found) != 1 or None in found:
        raise as_also(TorchError, ValueError)(
            f"the states of {kind} are not as large as its parameters, so that a plan can't say what they take"
        )
    tensors, constant = next(pair for pair in found if pair is not None)
    return States(kind, tensors, constant)


def _is_optimizer(found: object) -> bool:
    base = torch.optim.Optimizer
    return isinstance(found, type) and issubclass(found, base) and found is not base


def _measured(kind: Any, shape: tuple[int, int], options: Mapping[str, Any]) -> tuple[int, int] | None:
    """How many tensors of the parameter's size are kept, and the bytes of those of one value; None for any other."""
    parameter = torch.nn.Parameter(torch.ones(shape))
    optimizer = kind([parameter], lr=0.0, **options)
    parameter.grad = torch.ones(shape)
    if kind is torch.optim.LBFGS:  # takes a closure, and keeps a history
        return None
    if kind is torch.optim.SparseAdam:
        parameter.grad = parameter.grad.to_sparse()
    optimizer.step()
    kept = [value for value in optimizer.state[parameter].values() if isinstance(value, torch.Tensor)]
    if any(value.numel() not in (1, parameter.numel()) for value in kept):
        return None
    whole = sum(value.numel() == parameter.numel() for value in kept)
    return whole, sum(value.numel() * value.element_size() for value in kept if value.numel() == 1)
