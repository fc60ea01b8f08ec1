"""Linear layers that multiply in eight bits: weights and activations in e4m3, gradients in e5m2, scaled as they come.

Source: Micikevicius et al., FP8 Formats for Deep Learning, https://arxiv.org/abs/2209.05433
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import torch
from torch import nn
from torch.nn import functional as F

from simpletorch.device import Device, DeviceLike
from simpletorch.errors import BackendError, TorchError, as_also

__all__ = ["Float8Linear", "float8", "float8_available"]

_ROWS: Final = 16  # what the kernels' inner dims have to be multiples of
_Wrong: Final = as_also(TorchError, ValueError)


def float8_available(device: DeviceLike = None) -> bool:
    """Whether a device multiplies in eight bits: NVIDIA's from compute capability 8.9 on, and the CPU, slowly.

    Args:
        device: by default the accelerator that torch finds, else the CPU.

    Returns:
        True if it does.

    Examples:
        >>> from simpletorch import amp
        >>> amp.float8_available("cpu")
        True
    """
    where = Device.best() if device is None else torch.device(device)
    if where.type == "cuda":
        return torch.cuda.is_available() and torch.cuda.get_device_capability(where) >= (8, 9)
    return where.type == "cpu"


def float8(model: nn.Module, choose: Callable[[str, nn.Linear], bool] | None = None) -> nn.Module:
    """``model`` with its linear layers as `Float8Linear`, in place; parameters stay the objects that they are.

    Layers whose sizes the kernels can't take (multiples of 16) stay as they are.

    Args:
        model: where ``nn.Linear`` layers are looked for; subclasses of it are left alone.
        choose: says by path and layer which ones; the last layer of a network often needs its precision.

    Returns:
        ``model``, the same object.

    Raises:
        BackendError: the model is on a device that doesn't multiply in eight bits.
        ValueError: there is no layer to change.

    Examples:
        >>> from simpletorch import amp, nn
        >>> amp.float8(nn.Sequential(nn.Linear(32, 16), nn.ReLU()))
        Sequential(
          (0): Float8Linear(in_features=32, out_features=16, bias=True)
          (1): ReLU()
        )
    """
    parameter = next(model.parameters(), None)
    if parameter is not None and not float8_available(parameter.device):
        raise as_also(BackendError, RuntimeError)(
            f"the model is on {str(parameter.device)!r}, which doesn't multiply in float8",
            hint="that takes a GPU of compute capability 8.9 or more (Ada, Hopper, Blackwell); elsewhere use bfloat16",
        )
    changed = 0
    for path, module in list(model.named_modules()):
        fits = type(module) is nn.Linear and not (module.in_features % _ROWS or module.out_features % _ROWS)
        if fits and (choose is None or choose(path, module)):
            module.__class__ = Float8Linear
            changed += 1
    if not changed:
        raise _Wrong(f"the model has no linear layer whose sizes are multiples of {_ROWS}, or choose refused them all")
    return model


class Float8Linear(nn.Linear):
    """``nn.Linear`` whose three products (forward, and both of backward) are made of eight-bit operands.

    Each operand is scaled by its own greatest value, at the moment it is used; sums are made in higher precision, and
    results have the input's dtype, or autocast's. Shapes are those of ``nn.Linear``: ``(*, in) -> (*, out)``.

    Examples:
        >>> import torch
        >>> from simpletorch import amp
        >>> amp.Float8Linear(32, 16).weight.dtype
        torch.float32
    """

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """``[*B, in_features] -> [*B, out_features]``, of autocast's dtype, else the input's.

        Args:
            input: of any float dtype; float64 is multiplied without float8.
        """
        kind = input.device.type
        dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else input.dtype
        if dtype not in (torch.bfloat16, torch.float16, torch.float32):
            return super().forward(input)
        rows = input.reshape(-1, self.in_features).to(dtype)
        with torch.autocast(kind, enabled=False):
            result: torch.Tensor = _Product.apply(rows, self.weight.to(dtype))  # type: ignore[no-untyped-call]
            if self.bias is not None:
                result = result + self.bias.to(dtype)
        return result.view(*input.shape[:-1], self.out_features)


def _scaled(tensor: torch.Tensor, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """The tensor in eight bits, and the factor that restores it (float32, one element)."""
    most = torch.finfo(dtype).max
    greatest = torch.linalg.vector_norm(tensor.detach(), torch.inf, dtype=torch.float32)
    scale = most / greatest.clamp(min=torch.finfo(torch.float32).tiny * most)
    # The greatest becomes `most` up to a rounding in the tensor's own precision, which the cast rounds away.
    return (tensor * scale).to(dtype), scale.reciprocal()


def _multiplied(
    left: tuple[torch.Tensor, torch.Tensor], right: tuple[torch.Tensor, torch.Tensor], dtype: torch.dtype
) -> torch.Tensor:
    """``(n, k) @ (m, k).T -> (n, m)`` of scaled operands."""
    # private: the public `scaled_mm` came with torch 2.10 and takes enums that differ between releases
    result: torch.Tensor = torch._scaled_mm(left[0], right[0].t(), scale_a=left[1], scale_b=right[1], out_dtype=dtype)
    return result


def _turned(scaled: tuple[torch.Tensor, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    return scaled[0].t().contiguous(), scaled[1]


class _Product(torch.autograd.Function):
    """``(n, k), (m, k) -> (n, m)``, with both gradients in eight bits too."""

    @staticmethod
    def forward(ctx: Any, input: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        x, w = _scaled(input, torch.float8_e4m3fn), _scaled(weight, torch.float8_e4m3fn)
        ctx.save_for_backward(*x, *w)
        ctx.dtype = input.dtype
        return _multiplied(x, w, input.dtype)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        (gradient,) = gradients
        x, x_scale, w, w_scale = ctx.saved_tensors
        g = _scaled(gradient, torch.float8_e5m2)
        of_input = of_weight = None
        if ctx.needs_input_grad[0]:
            of_input = _multiplied(g, _turned((w, w_scale)), ctx.dtype)
        if ctx.needs_input_grad[1]:
            # summed over the rows: the kernels want a multiple of 16 of them
            missing = -gradient.shape[0] % _ROWS
            by_row, rows = (F.pad(t.t(), (0, missing)) if missing else t.t().contiguous() for t in (g[0], x))
            of_weight = _multiplied((by_row, g[1]), (rows, x_scale), ctx.dtype)
        return of_input, of_weight
