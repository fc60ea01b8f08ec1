"""SwiGLU and GeGLU: ``silu(gate) * up`` and ``gelu(gate) * up``.

torch has neither fused. Eager keeps ``silu(gate)`` besides both arguments and moves 3/2 of the bytes forward; ours
keeps the arguments. The two may be halves of one packed projection (``gate, up = packed.chunk(2, -1)``), which aren't
copied.
"""

from __future__ import annotations

import torch
from jaxtyping import Float

from simpletorch.kernels._operator import operator
from simpletorch.kernels.shipped._launch import as_rows, has_kernel, in_triton, power_of_two, widened

__all__ = ["geglu", "geglu_packed", "swiglu", "swiglu_packed"]

_SILU, _GELU, _GELU_TANH = 0, 1, 2


def _activated(gate: torch.Tensor, activation: int) -> torch.Tensor:
    if activation == _SILU:
        return torch.nn.functional.silu(gate)
    return torch.nn.functional.gelu(gate, approximate="tanh" if activation == _GELU_TANH else "none")


def _gelu(tanh: bool) -> int:
    return _GELU_TANH if tanh else _GELU


def _gated(gate: torch.Tensor, up: torch.Tensor, activation: int) -> torch.Tensor:
    """The product, in torch."""
    return (_activated(widened(gate), activation) * widened(up)).to(gate.dtype)


@operator("simpletorch::swiglu")
def swiglu(gate: Float[torch.Tensor, "*b n"], up: Float[torch.Tensor, "*b n"]) -> Float[torch.Tensor, "*b n"]:
    """``silu(gate) * up``, computed in float32.

    Args:
        gate: ``(*b, n)``, of a floating dtype; SiLU is applied to it.
        up: ``(*b, n)``, of a floating dtype.

    Examples:
        >>> import torch
        >>> from simpletorch import kernels
        >>> kernels.swiglu(torch.zeros(2, 4), torch.ones(2, 4))[0]
        tensor([0., 0., 0., 0.])
    """
    return _gated(gate, up, _SILU)


@operator("simpletorch::geglu")
def geglu(
    gate: Float[torch.Tensor, "*b n"], up: Float[torch.Tensor, "*b n"], tanh: bool = False
) -> Float[torch.Tensor, "*b n"]:
    """``gelu(gate) * up``, computed in float32; ``tanh`` takes torch's approximation of GELU by it.

    Args:
        gate: ``(*b, n)``, of a floating dtype; GELU is applied to it.
        up: ``(*b, n)``, of a floating dtype.
        tanh: take torch's ``approximate="tanh"`` instead of the exact GELU.

    Examples:
        >>> import torch
        >>> from simpletorch import kernels
        >>> kernels.geglu(torch.zeros(2, 4), torch.ones(2, 4))[0]
        tensor([0., 0., 0., 0.])
    """
    return _gated(gate, up, _gelu(tanh))


@operator("simpletorch::swiglu_packed")
def swiglu_packed(packed: Float[torch.Tensor, "*b 2*n"]) -> Float[torch.Tensor, "*b n"]:
    """`swiglu` of the halves of one projection. Its gradient is written in one piece, where autograd would join two.

    Args:
        packed: ``(*b, 2*n)``, of a floating dtype: ``gate``, then ``up``.

    Examples:
        >>> import torch
        >>> from simpletorch import kernels
        >>> kernels.swiglu_packed(torch.zeros(2, 8)).shape
        torch.Size([2, 4])
    """
    return _gated(*packed.chunk(2, -1), _SILU)


@operator("simpletorch::geglu_packed")
def geglu_packed(packed: Float[torch.Tensor, "*b 2*n"], tanh: bool = False) -> Float[torch.Tensor, "*b n"]:
    """`geglu` of the halves of one projection.

    Args:
        packed: ``(*b, 2*n)``, of a floating dtype: ``gate``, then ``up``.
        tanh: take torch's ``approximate="tanh"`` instead of the exact GELU.

    Examples:
        >>> import torch
        >>> from simpletorch import kernels
        >>> kernels.geglu_packed(torch.zeros(2, 8)).shape
        torch.Size([2, 4])
    """
    return _gated(*packed.chunk(2, -1), _gelu(tanh))


def _slopes(
    grad: torch.Tensor, gate: torch.Tensor, up: torch.Tensor, activation: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The gradients of gate and up, in torch."""
    x, y, down = widened(gate), widened(up), widened(grad)
    if activation == _SILU and torch.is_grad_enabled():  # of torch's own there are no second derivatives
        sigmoid = torch.sigmoid(x)
        slope = down * y * sigmoid * (1 + x * (1 - sigmoid))
    elif activation == _SILU:
        slope = torch.ops.aten.silu_backward(down * y, x)
    else:
        approximate = "tanh" if activation == _GELU_TANH else "none"
        slope = torch.ops.aten.gelu_backward(down * y, x, approximate=approximate)
    return slope.to(grad.dtype), (down * _activated(x, activation)).to(grad.dtype)


@operator("simpletorch::gated_packed_backward")
def gated_packed_backward(
    grad: Float[torch.Tensor, "*b n"], packed: Float[torch.Tensor, "*b 2*n"], activation: int
) -> Float[torch.Tensor, "*b 2*n"]:
    """The gradient of both halves; ``activation`` as in `gated_backward`."""
    return torch.cat(_slopes(grad, *packed.chunk(2, -1), activation), -1)


@operator("simpletorch::gated_backward")
def gated_backward(
    grad: Float[torch.Tensor, "*b n"],
    gate: Float[torch.Tensor, "*b n"],
    up: Float[torch.Tensor, "*b n"],
    activation: int,
) -> tuple[Float[torch.Tensor, "*b n"], Float[torch.Tensor, "*b n"]]:
    """The gradients of ``gate`` and ``up``; ``activation`` is 0 for SiLU, 1 for GELU, 2 for GELU by tanh."""
    return _slopes(grad, gate, up, activation)


def _rows(*tensors: torch.Tensor) -> tuple[list[torch.Tensor], int, int]:
    """The tensors as rows, and how many of what length: one long row where all lie in memory in one piece."""
    if all(tensor.is_contiguous() for tensor in tensors):
        return [tensor.view(1, -1) if tensor.numel() else tensor for tensor in tensors], 1, tensors[0].numel()
    rows = [as_rows(tensor) for tensor in tensors]
    return rows, *rows[0].shape


def _tile(n: int, activation: int) -> dict[str, int]:
    block = 2048 if n > 1024 else max(128, power_of_two(n))
    return {"ACTIVATION": activation, "BLOCK": block, "num_warps": max(1, block // 256)}


def _forward(gate: torch.Tensor, up: torch.Tensor, activation: int) -> torch.Tensor:
    gated_forward = in_triton("gated").gated_forward

    out = torch.empty(gate.shape, dtype=gate.dtype, device=gate.device)
    (x, y), count, n = _rows(gate, up)
    if out.numel():
        gated_forward(x, y, out, count, n, x.stride(0), y.stride(0), **_tile(n, activation))
    return out


@swiglu.cuda(traced=True)
def swiglu_cuda(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    """A program for each 2048 elements of a row."""
    return _forward(gate, up, _SILU) if has_kernel(gate, up) else swiglu.reference(gate, up)


@geglu.cuda(traced=True)
def geglu_cuda(gate: torch.Tensor, up: torch.Tensor, tanh: bool = False) -> torch.Tensor:
    """As `swiglu`."""
    if not has_kernel(gate, up):
        return geglu.reference(gate, up, tanh)
    return _forward(gate, up, _gelu(tanh))


@gated_backward.cuda(traced=True)
def gated_backward_cuda(
    grad: torch.Tensor, gate: torch.Tensor, up: torch.Tensor, activation: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """As the forward."""
    if not has_kernel(grad, gate, up):
        return _slopes(grad, gate, up, activation)
    kernel = in_triton("gated").gated_backward

    gates, ups = (torch.empty(gate.shape, dtype=grad.dtype, device=gate.device) for _ in range(2))
    (down, x, y), count, n = _rows(grad, gate, up)
    if gates.numel():
        strides = (down.stride(0), x.stride(0), y.stride(0), n)
        kernel(down, x, y, gates, ups, count, n, *strides, **_tile(n, activation))
    return gates, ups


@swiglu_packed.cuda(traced=True)
def swiglu_packed_cuda(packed: torch.Tensor) -> torch.Tensor:
    """As `swiglu`: the halves are read where they lie."""
    if not has_kernel(packed):
        return swiglu_packed.reference(packed)
    gate, up = packed.chunk(2, -1)
    return _forward(gate, up, _SILU)


@geglu_packed.cuda(traced=True)
def geglu_packed_cuda(packed: torch.Tensor, tanh: bool = False) -> torch.Tensor:
    """As `geglu`: the halves are read where they lie."""
    if not has_kernel(packed):
        return geglu_packed.reference(packed, tanh)
    gate, up = packed.chunk(2, -1)
    return _forward(gate, up, _gelu(tanh))


@gated_packed_backward.cuda(traced=True)
def gated_packed_backward_cuda(grad: torch.Tensor, packed: torch.Tensor, activation: int) -> torch.Tensor:
    """Both gradients are written beside each other."""
    if not has_kernel(grad, packed):
        return gated_packed_backward.reference(grad, packed, activation)
    kernel = in_triton("gated").gated_backward

    out = torch.empty(packed.shape, dtype=grad.dtype, device=grad.device)
    if out.numel():
        down = as_rows(grad)
        (x, y), (gates, ups) = (as_rows(tensor).chunk(2, 1) for tensor in (packed, out))
        strides = (down.stride(0), x.stride(0), y.stride(0), gates.stride(0))
        kernel(down, x, y, gates, ups, *down.shape, *strides, **_tile(down.shape[1], activation))
    return out


@swiglu_packed.backward
def _(grad: torch.Tensor, packed: torch.Tensor) -> torch.Tensor:
    return gated_packed_backward(grad, packed, _SILU)


@geglu_packed.backward
def _(grad: torch.Tensor, packed: torch.Tensor, tanh: bool) -> torch.Tensor:
    return gated_packed_backward(grad, packed, _gelu(tanh))


@swiglu.backward
def _(grad: torch.Tensor, gate: torch.Tensor, up: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    gates, ups = gated_backward(grad, gate, up, _SILU)
    return gates, ups.to(up.dtype)


@geglu.backward
def _(grad: torch.Tensor, gate: torch.Tensor, up: torch.Tensor, tanh: bool) -> tuple[torch.Tensor, torch.Tensor]:
    gates, ups = gated_backward(grad, gate, up, _gelu(tanh))
    return gates, ups.to(up.dtype)
