"""SwiGLU and GeGLU: ``silu(gate) * up`` and ``gelu(gate) * up``.

torch has neither fused. Eager keeps ``silu(gate)`` besides both arguments and moves 3/2 of the bytes forward; ours keeps the
arguments. The two may be halves of one packed projection (``gate, up = packed.chunk(2, -1)``), which aren't copied.
"""

from __future__ import annotations

import torch
from jaxtyping import Float

from simpletorch.kernels._operator import operator
from simpletorch.kernels.shipped._launch import as_rows, has_kernel, power_of_two, widened

__all__ = ["geglu", "swiglu"]

_SILU, _GELU, _GELU_TANH = 0, 1, 2


def _activated(gate: torch.Tensor, activation: int) -> torch.Tensor:
    if activation == _SILU:
        return torch.nn.functional.silu(gate)
    return torch.nn.functional.gelu(gate, approximate="tanh" if activation == _GELU_TANH else "none")


@operator("simpletorch::swiglu")
def swiglu(gate: Float[torch.Tensor, "*b n"], up: Float[torch.Tensor, "*b n"]) -> Float[torch.Tensor, "*b n"]:
    """``silu(gate) * up``, computed in float32."""
    return (_activated(widened(gate), _SILU) * widened(up)).to(gate.dtype)


@operator("simpletorch::geglu")
def geglu(
    gate: Float[torch.Tensor, "*b n"], up: Float[torch.Tensor, "*b n"], tanh: bool = False
) -> Float[torch.Tensor, "*b n"]:
    """``gelu(gate) * up``, computed in float32; ``tanh`` takes torch's approximation of GELU by it."""
    return (_activated(widened(gate), _GELU_TANH if tanh else _GELU) * widened(up)).to(gate.dtype)


@operator("simpletorch::gated_backward")
def gated_backward(
    grad: Float[torch.Tensor, "*b n"],
    gate: Float[torch.Tensor, "*b n"],
    up: Float[torch.Tensor, "*b n"],
    activation: int,
) -> tuple[Float[torch.Tensor, "*b n"], Float[torch.Tensor, "*b n"]]:
    """The gradients of ``gate`` and ``up``; ``activation`` is 0 for SiLU, 1 for GELU, 2 for GELU by tanh."""
    x, y, down = widened(gate), widened(up), widened(grad)
    if activation == _SILU:
        slope = torch.ops.aten.silu_backward(down * y, x)
    else:
        approximate = "tanh" if activation == _GELU_TANH else "none"
        slope = torch.ops.aten.gelu_backward(down * y, x, approximate=approximate)
    return slope.to(grad.dtype), (down * _activated(x, activation)).to(grad.dtype)


def _rows(*tensors: torch.Tensor) -> tuple[list[torch.Tensor], int, int]:
    """The tensors as rows, and how many of what length: one long row where all lie in memory in one piece."""
    if all(tensor.is_contiguous() for tensor in tensors):
        return [tensor.view(1, -1) if tensor.numel() else tensor for tensor in tensors], 1, tensors[0].numel()
    rows = [as_rows(tensor) for tensor in tensors]
    return rows, *rows[0].shape


def _tile(n: int, activation: int) -> dict[str, int]:
    block = min(2048, max(128, power_of_two(n)))
    return {"ACTIVATION": activation, "BLOCK": block, "num_warps": max(1, block // 512)}


def _forward(gate: torch.Tensor, up: torch.Tensor, activation: int) -> torch.Tensor:
    from simpletorch.kernels.shipped._triton.gated import gated_forward

    out = torch.empty(gate.shape, dtype=gate.dtype, device=gate.device)
    (x, y), count, n = _rows(gate, up)
    if out.numel():
        gated_forward(x, y, out, count, n, x.stride(0), y.stride(0), **_tile(n, activation))
    return out


@swiglu.cuda
def swiglu_cuda(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    """A program for each 2048 elements of a row."""
    return _forward(gate, up, _SILU) if has_kernel(gate, up) else swiglu.reference(gate, up)


@geglu.cuda
def geglu_cuda(gate: torch.Tensor, up: torch.Tensor, tanh: bool = False) -> torch.Tensor:
    """As `swiglu`."""
    if not has_kernel(gate, up):
        return geglu.reference(gate, up, tanh)
    return _forward(gate, up, _GELU_TANH if tanh else _GELU)


@gated_backward.cuda
def gated_backward_cuda(
    grad: torch.Tensor, gate: torch.Tensor, up: torch.Tensor, activation: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """As the forward."""
    if not has_kernel(grad, gate, up):
        return gated_backward.reference(grad, gate, up, activation)
    from simpletorch.kernels.shipped._triton.gated import gated_backward as kernel

    gates, ups = (torch.empty(gate.shape, dtype=grad.dtype, device=gate.device) for _ in range(2))
    (down, x, y), count, n = _rows(grad, gate, up)
    if gates.numel():
        strides = (down.stride(0), x.stride(0), y.stride(0))
        kernel(down, x, y, gates, ups, count, n, *strides, **_tile(n, activation))
    return gates, ups


@swiglu.backward
def _(grad: torch.Tensor, gate: torch.Tensor, up: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    gates, ups = gated_backward(grad, gate, up, _SILU)
    return gates, ups.to(up.dtype)


@geglu.backward
def _(grad: torch.Tensor, gate: torch.Tensor, up: torch.Tensor, tanh: bool) -> tuple[torch.Tensor, torch.Tensor]:
    gates, ups = gated_backward(grad, gate, up, _GELU_TANH if tanh else _GELU)
    return gates, ups.to(up.dtype)
