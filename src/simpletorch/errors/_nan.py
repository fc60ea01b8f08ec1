"""`detect_nan`: which module, or which operation, first gave a number that isn't finite."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import nn
from torch.nn.modules import module as hooks
from torch.overrides import TorchFunctionMode

from simpletorch._tensors import tensors_in
from simpletorch.errors._description import describe, short
from simpletorch.errors._kinds import NotFinite
from simpletorch.errors.context import module_path, place

__all__ = ["detect_nan"]


@contextmanager
def detect_nan(*, operations: bool = False, gradients: bool = True) -> Iterator[None]:
    """In this block, the first module whose output is NaN or infinite raises, with its name.

    ::

        with simpletorch.errors.detect_nan():
            loss = criterion(model(x), y)
            loss.backward()

    Every output is looked at, which waits for the device: this is for finding a mistake, not for every step. Modules
    inside a compiled model can't be looked at, only the model's results.

    Args:
        operations: look at every operation's result too, so that the very operation is named; slower.
        gradients: in backward, look at the gradients that reach the modules' outputs.

    Raises:
        NotFinite: with the module's path, the line that called it, how many values are NaN and how many infinite, and
            whether the module's input was finite.

    Examples:
        >>> import torch
        >>> from simpletorch import errors, nn
        >>> model = nn.Sequential(nn.Linear(3, 2), nn.ReLU())
        >>> try:
        ...     with errors.detect_nan():
        ...         model(torch.full((7, 3), torch.nan))
        ... except errors.NotFinite as error:
        ...     print(error.module_path)
        model.0
    """
    with ExitStack() as stack:
        handle = hooks.register_module_forward_hook(_Outputs(gradients), always_call=False)
        stack.callback(handle.remove)
        if operations:
            stack.enter_context(_Operations())
        yield


def _problem(value: Any) -> tuple[torch.Tensor, str] | None:
    """The first tensor in ``value`` that isn't finite, and its problem."""
    for tensor in tensors_in(value):
        if not (tensor.is_floating_point() or tensor.is_complex()) or tensor.device.type == "meta":
            continue
        data = tensor.detach()
        if bool(torch.isfinite(data).all()):
            continue
        nans = int(torch.isnan(data).sum())
        infinite = data.numel() - int(torch.isfinite(data).sum()) - nans
        parts = [f"{count} {word}" for count, word in ((nans, "NaN"), (infinite, "infinite")) if count]
        return tensor, f"{' and '.join(parts)} of {data.numel()} values"
    return None


class _Outputs:
    """A forward hook for all modules."""

    def __init__(self, gradients: bool) -> None:
        self.gradients = gradients

    def __call__(self, module: nn.Module, args: tuple[Any, ...], output: Any) -> None:
        if torch.compiler.is_compiling():
            return
        found = _problem(output)
        name = None
        # now, because in backward no module is on the stack that the path could be read from
        if found is not None or self.gradients:
            name = module_path()
        if found is not None:
            given = _problem(args)
            raise _error(module, name, found, given)
        if self.gradients:
            for tensor in tensors_in(output):
                if tensor.requires_grad:
                    # not a full backward hook: with one, torch forbids to change a module's outputs in place
                    tensor.register_hook(_Gradient(name or type(module).__name__))


class _Gradient:
    """A hook for the gradient that reaches the output of the module called ``name``."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, gradient: torch.Tensor) -> None:
        found = _problem(gradient)
        if found is not None:
            raise NotFinite(
                f"the gradient that reaches the output of {self.name} has {found[1]}",
                operation="backward",
                operands=[describe("gradient", found[0])],
                module_path=self.name,
                hint="what comes after it in the forward pass made it: a division or log near 0, sqrt at 0, "
                "a norm of zeros; clip_grad_norm doesn't help against NaN",
            )


class _Operations(TorchFunctionMode):
    """Looks at the result of every operation."""

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        name = getattr(func, "__name__", str(func))
        if name.startswith(("empty", "isfinite", "isnan")) or name in ("__get__", "detach", "new_empty"):
            return result  # what is not written yet may be anything
        with torch._C.DisableTorchFunction():  # the question is no operation of the program
            found, given = _problem(result), None
            if found is not None:
                given = _problem((args, kwargs or {}))
        if found is None or given is not None:
            return result  # it only passed on what it was given; who made it has been named, or came from outside
        raise NotFinite(
            f"the result has {found[1]}, and all operands are finite",
            operation=name.strip("_"),
            operands=[describe(f"operand {i + 1}", t) for i, t in enumerate(tensors_in(args))],
            hint=_HINTS.get(name.strip("_")),
            **place(),
        )


_HINTS = {
    "log": "log of 0: add an epsilon, or use log_softmax, log1p, logsumexp",
    "sqrt": "the root of a negative number: clamp(min=0) first, with an epsilon where it is differentiated",
    "div": "a division by 0: add an epsilon to the divisor",
    "truediv": "a division by 0: add an epsilon to the divisor",
    "exp": "exp overflows above 88 in Float32: subtract the maximum first, as softmax and logsumexp do",
    "softmax": "a row that is masked out wholly has no softmax: every row needs one finite score",
    "scaled_dot_product_attention": "a row that is masked out wholly has no softmax: every row needs one key",
}


def _error(
    module: nn.Module, name: str | None, found: tuple[torch.Tensor, str], given: tuple[torch.Tensor, str] | None
) -> NotFinite:
    bad = [n for n, p in (*module.named_parameters(), *module.named_buffers()) if _problem(p) is not None]
    if given is not None:
        why, hint = f"; its input already had {given[1]}", "the data, or an operation outside of any module, made them"
    elif bad:
        why = f"; its {', '.join(bad[:3])} {'is' if len(bad) == 1 else 'are'} not finite"
        hint = "an earlier update spoilt them: lower the learning rate, clip the gradients, detect_nan() before it"
    else:
        why = ", though its input is finite"
        hint = "detect_nan(operations=True) names the operation"
    return NotFinite(
        f"the output of {short(name or type(module).__name__)} has {found[1]}{why}",
        operation=type(module).__name__,
        operands=[describe("output", found[0])],
        hint=hint,
        **place(),
    )
