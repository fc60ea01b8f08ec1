"""The short way of an eager call: straight to the implementation, where torch's dispatcher would only lead there.

The dispatcher and what `torch.library` wraps around a Python operator take 20 to 100 µs a call. They are needed where
something besides the implementation has a say: modes, transforms, autocast, tracing, the profiler, tensors that are
more than numbers in memory. Whether something has is read from the dispatcher's own keys: those of the thread and of
the tensors. Whatever isn't known to be plain goes through the dispatcher.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Thread
from typing import Any, Final, Protocol

import torch

from simpletorch.kernels._gradients import Differentiable, formula
from simpletorch.kernels._schema import Plain, TensorSpec

__all__ = ["ELSEWHERE", "Eager", "direct_call"]

ELSEWHERE: Final = object()
"""What a direct call gives if the dispatcher has to be asked."""

Kernel = Callable[..., Any]


class Eager(Differentiable, Protocol):
    """An operator's implementations for eager calls; read in each call, because more may be registered."""

    @property
    def bodies(self) -> Mapping[str, Kernel]:
        """The implementation for each type of device."""
        ...

    @property
    def body(self) -> Kernel:
        """The implementation for other devices."""
        ...


# private, because torch has no public way to ask what a call would meet; without them the dispatcher is always asked
_included: Final[Any] = getattr(torch._C, "_dispatch_tls_local_include_set", None)
_excluded: Final[Any] = getattr(torch._C, "_dispatch_tls_local_exclude_set", None)
_keys: Final[Any] = getattr(torch._C, "_dispatch_keys", None)
_function_modes: Final[Any] = getattr(torch._C, "_len_torch_function_stack", None)
_is_profiled: Final[Any] = getattr(torch._C._autograd, "_profiler_enabled", None)
_IS_KNOWN: Final = None not in (_included, _excluded, _keys, _function_modes, _is_profiled)


def _plain_states() -> frozenset[tuple[int, int]]:
    """The keys of a thread in which nothing is switched on, and of one in inference mode."""
    found: set[tuple[int, int]] = set()

    def look() -> None:
        found.add((_included().raw_repr(), _excluded().raw_repr()))
        with torch.inference_mode():
            found.add((_included().raw_repr(), _excluded().raw_repr()))

    if _IS_KNOWN:
        # a thread of its own, whatever is switched on where simpletorch is imported
        thread = Thread(target=look)
        thread.start()
        thread.join()
    return frozenset(found)


def _plain_tensors() -> dict[int, str]:
    """The keys of tensors that are dense numbers in memory, made in inference mode or not, with their device."""
    if not _IS_KNOWN:
        return {}
    found = {}
    for device in ("CPU", "CUDA"):
        inference = _key(device) | _key(f"Autocast{device}")
        others = _key(f"Autograd{device}") | _key("ADInplaceOrView")
        found[inference.raw_repr()] = found[(inference | others).raw_repr()] = device.lower()
    return found


def _key(name: str) -> torch._C.DispatchKeySet:
    return torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, name))


_STATES: Final = _plain_states()
_CLASSES: Final = (torch.Tensor, torch.nn.Parameter)
_DEVICES: Final = _plain_tensors()

# what the dispatcher passes on as it is; an int for a float it would convert
_EXACT: Final[Mapping[str, tuple[type, ...]]] = {
    "SymInt": (int,),
    "float": (float,),
    "bool": (bool,),
    "str": (str,),
    "Scalar": (int, float, bool),
    "ScalarType": (torch.dtype,),
    "Device": (torch.device,),
}


def direct_call(operator: Eager) -> Callable[[Sequence[Any]], Any] | None:
    """A function that calls an operator's implementation with all arguments by position, or gives `ELSEWHERE`.

    None for an operator whose calls always go through the dispatcher: of lists, and one that changes its arguments.
    """
    signature = operator.signature
    forms = [p.form for p in signature.parameters]
    if not _IS_KNOWN or signature.mutated or signature.returns not in ("one", "tuple"):
        return None
    tensors = tuple(i for i, form in enumerate(forms) if isinstance(form, TensorSpec))
    others = tuple((i, _types(form)) for i, form in enumerate(forms) if isinstance(form, Plain))
    if len(tensors) + len(others) < len(forms) or any(types is None for _, types in others):
        return None
    count, devices = len(forms), _DEVICES
    apply = _differentiable(operator)

    def call(values: Sequence[Any]) -> Any:
        if (_included().raw_repr(), _excluded().raw_repr()) not in _STATES or _function_modes() or _is_profiled():
            return ELSEWHERE
        if len(values) != count:
            return ELSEWHERE
        for i, types in others:
            if type(values[i]) not in types:  # type: ignore[operator]
                return ELSEWHERE
        device, wanted = None, False
        for i in tensors:
            tensor = values[i]
            if tensor is not None:
                # a subclass may have its own say in what an operator does with it
                own = devices.get(_keys(tensor).raw_repr()) if type(tensor) in _CLASSES else None
                if own is None or (device is not None and own != device):
                    return ELSEWHERE
                device, wanted = own, wanted or tensor.requires_grad
        if device is None:
            return ELSEWHERE
        kernel = operator.bodies.get(device, operator.body)
        if not torch.is_grad_enabled():
            return kernel(*values)
        if wanted:
            return apply(kernel, *values)
        torch._C._set_grad_enabled(False)
        try:
            return kernel(*values)
        finally:
            torch._C._set_grad_enabled(True)

    return call


def _types(form: Plain) -> tuple[type, ...] | None:
    """The types of arguments that an operator gets as they are given; None for lists of numbers."""
    types = _EXACT.get(form.type.removesuffix("?"))
    return types if types is None or not form.type.endswith("?") else (*types, type(None))


def _differentiable(operator: Eager) -> Callable[..., Any]:
    """The same for arguments that need a gradient: the kernel, then the arguments."""
    keep, backward = formula(operator)

    def forward(ctx: Any, kernel: Kernel, *values: Any) -> Any:
        result = kernel(*values)
        keep(ctx, values, result)
        return result

    def gradients(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        return (None, *backward(ctx, *grads))

    body = {"forward": staticmethod(forward), "backward": staticmethod(gradients)}
    function = type(operator.name, (torch.autograd.Function,), body)
    apply: Callable[..., Any] = function.apply  # type: ignore[attr-defined]
    return apply
