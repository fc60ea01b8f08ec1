"""torch's optimizers, with their fastest implementation by default and misspelt options refused."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Iterable, Mapping
from typing import Any, Final

import torch

from simpletorch.errors import TorchError, as_also

_Wrong = as_also(TorchError, ValueError)

# Where torch has one kernel for a whole update. Without being asked it takes a loop over the parameters on the CPU and
# one kernel for each operation on a GPU: for AdamW on the CPU 3.5 times as long (benchmarks/results/training.md).
_FUSED: Final = frozenset(("Adam", "AdamW", "SGD"))
_DEVICES: Final = frozenset(("cpu", "cuda", "mps", "xpu"))
_CHOICES: Final = ("fused", "foreach", "differentiable", "capturable")
_NOT_OPTIONS: Final = frozenset(("params", "param_names", "name", "initial_lr"))


def ours(torch_class: type[torch.optim.Optimizer]) -> type[torch.optim.Optimizer]:
    """A subclass of an optimizer of torch's, with the same name, arguments, state and results."""

    @functools.wraps(torch_class.__init__)
    def init(self: torch.optim.Optimizer, params: Any, *args: Any, **options: Any) -> None:
        params = list(params) if not isinstance(params, (torch.Tensor, Mapping)) else params
        chosen = torch_class.__name__ in _FUSED and not any(options.get(name) for name in _CHOICES)
        if (
            chosen
            and options.get("fused") is None
            and options.get("foreach") is None
            and _can_fuse(torch_class, params)
        ):
            options["fused"] = True
            torch_class.__init__(self, params, *args, **options)
            if torch_class is torch.optim.SGD:
                _unfuse_if_needed(self)
        else:
            torch_class.__init__(self, params, *args, **options)
        if reason := _misspelt(self):
            raise _Wrong(reason)

    # pickle looks a class up in its module, where `simpletorch.optim` puts this one
    namespace = {"__init__": init, "__doc__": torch_class.__doc__, "__module__": "simpletorch.optim"}
    return type(torch_class.__name__, (torch_class,), namespace)


def _can_fuse(torch_class: type[torch.optim.Optimizer], params: Any) -> bool:
    """Whether all parameters are of a kind that the fused kernels take, and compute rightly."""
    tensors = list(_tensors(params)) if isinstance(params, list) else []
    return bool(tensors) and all(
        tensor.is_floating_point()
        and tensor.device.type in _DEVICES
        and tensor.layout is torch.strided
        and not (torch_class is torch.optim.SGD and _is_left_behind(tensor))
        for tensor in tensors
    )


def _is_left_behind(tensor: torch.Tensor) -> bool:
    """Whether the fused SGD leaves some elements as they were: of 16 bits, on the CPU, in torch 2.13.

    A step with ``torch.optim.SGD([weight], fused=True)`` on 97 of them shows it.
    """
    return tensor.is_cpu and tensor.element_size() < 4


def _is_not_for_fused_sgd(parameter: torch.Tensor) -> bool:
    """Whether a parameter's gradient, or what became of the parameter since, is nothing for the fused SGD."""
    gradient = parameter.grad
    return gradient is not None and (
        gradient.is_sparse or hasattr(parameter, "placements") or _is_left_behind(parameter)
    )


def _tensors(params: Iterable[Any]) -> Iterable[torch.Tensor]:
    """The tensors in what an optimizer takes: tensors, ``(name, tensor)`` pairs, or groups of either."""
    for item in params:
        if isinstance(item, torch.Tensor):
            yield item
        elif isinstance(item, Mapping):
            inner = item.get("params", ())
            # a generator can be read only once: torch finds a list in its place
            if isinstance(inner, torch.Tensor):
                yield inner
            else:
                if not isinstance(inner, list) and isinstance(item, dict):
                    inner = item["params"] = list(inner)
                yield from _tensors(inner)
        elif isinstance(item, tuple) and len(item) == 2:
            yield item[1]


def _unfuse_if_needed(optimizer: torch.optim.Optimizer) -> None:
    """SGD also takes sparse gradients and parameters that are divided among processes (`DTensor`), but not fused, and
    only updates show whether there are any: it is looked until every parameter has had a gradient."""

    seen_all = False

    def look() -> None:
        nonlocal seen_all
        for group in optimizer.param_groups:
            if any(map(_is_not_for_fused_sgd, group["params"])):
                group["fused"] = None
        seen_all = all(
            p.grad is not None for group in optimizer.param_groups for p in group["params"] if p.requires_grad
        )

    def before(_: Any, args: Any, kwargs: Any) -> Any:
        if seen_all:  # the hook stays: torch forbids to remove one while it goes through them
            return None
        given = {**dict(zip(("self", "closure"), args, strict=False)), **kwargs}
        closure = given.get("closure")
        if closure is None:
            look()
            return None

        def closing() -> Any:
            loss = closure()
            look()  # the gradients are there only now
            return loss

        return (given["self"],), {**kwargs, "closure": closing}

    optimizer.register_step_pre_hook(before)


def _misspelt(optimizer: torch.optim.Optimizer) -> str:
    """Why an option of a group must be a mistake; "" if none is. torch takes any, and ignores what it doesn't know."""
    known = list(optimizer.defaults)
    for position, group in enumerate(optimizer.param_groups):
        for option in group.keys() - set(known) - _NOT_OPTIONS:
            close = difflib.get_close_matches(option, known, n=1, cutoff=0.8)
            if close:
                name = type(optimizer).__name__
                return f"parameter group {position} of {name} has an option {option!r}: did you mean {close[0]!r}?"
    return ""
