"""One step of AdamW over any number of parameters, in place.

torch has a fused one, which keeps the averages in the dtype of the parameter. Ours takes float32 averages beside
bfloat16 parameters and rounds the parameters stochastically (`seed`), so that updates smaller than half a step of
bfloat16 aren't lost. This allows training in bfloat16 without a float32 copy of the weights.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int64

from simpletorch.kernels._operator import operator
from simpletorch.kernels.shipped._launch import has_kernel, in_triton, widened
from simpletorch.kernels.shipped._philox import philox

__all__ = ["adamw_step"]

_BLOCK = 2048


def adamw_step(
    parameters: Sequence[torch.Tensor],
    grads: Sequence[torch.Tensor],
    averages: Sequence[torch.Tensor],
    squares: Sequence[torch.Tensor],
    *,
    step: int,
    lr: float = 1e-3,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 1e-2,
    seed: int | None = None,
) -> None:
    """Change parameters and averages as `torch.optim.AdamW` does in step ``step``, the first is 1; one launch on a GPU.

    Args:
        parameters: the tensors to change.
        grads: their gradients, in the same order.
        averages: of the gradients, zeros before the first step; float32 or the parameter's dtype.
        squares: averages of the squares of the gradients, likewise.
        step: the number of this update, from 1.
        lr: the learning rate.
        betas: the decay rates of the averages of gradients and of their squares, each from 0 to below 1.
        eps: added to the root of the average of squares.
        weight_decay: the decoupled weight decay: parameters are multiplied by ``1 - lr * weight_decay``.
        seed: bfloat16 parameters are rounded stochastically, as decided by ``seed`` and ``step``.

    Raises:
        ValueError: the lists differ in length, ``step`` is less than 1, or a parameter is part of a graph.

    Examples:
        >>> import torch
        >>> from simpletorch import kernels
        >>> weight, grad = torch.ones(3), torch.ones(3)
        >>> average, square = torch.zeros(3), torch.zeros(3)
        >>> kernels.adamw_step([weight], [grad], [average], [square], step=1, lr=0.1)
        >>> weight
        tensor([0.8990, 0.8990, 0.8990])
    """
    if not len(parameters) == len(grads) == len(averages) == len(squares):
        counts = ", ".join(str(len(one)) for one in (parameters, grads, averages, squares))
        raise ValueError(f"adamw_step takes as many gradients and averages as parameters, not {counts}")
    if step < 1:
        raise ValueError(f"step={step}: the first step is 1")
    for i, parameter in enumerate(parameters):
        if not parameter.is_leaf:
            raise ValueError(
                f"adamw_step can't change parameters[{i}], which is computed from other tensors: a step has no "
                "gradient; give it the tensor that is trained, or detach it"
            )
    if not parameters:
        return
    noise = None
    if seed is not None:
        mixed = (seed * 0x9E3779B97F4A7C15 + step) % 2**63
        shape: tuple[int, ...] = ()
        noise = torch.full(shape, mixed, dtype=torch.int64, device=parameters[0].device)
    with torch.no_grad():
        for one, slopes, means, spreads in _alike(parameters, grads, averages, squares):
            adamw_step_in_place(
                one,
                slopes,
                means,
                spreads,
                noise,
                step,
                float(lr),
                float(betas[0]),
                float(betas[1]),
                float(eps),
                float(weight_decay),
            )


def _alike(*lists: Sequence[torch.Tensor]) -> list[tuple[list[torch.Tensor], ...]]:
    """The tensors in groups of the same device and dtypes: one launch each."""
    groups: dict[object, list[tuple[torch.Tensor, ...]]] = {}
    for tensors in zip(*lists, strict=True):
        groups.setdefault((tensors[0].device, *[tensor.dtype for tensor in tensors]), []).append(tensors)
    return [tuple(list(column) for column in zip(*group, strict=True)) for group in groups.values()]


@operator("simpletorch::adamw_step_in_place", mutates=("parameters", "averages", "squares"))
def adamw_step_in_place(
    parameters: list[Float[torch.Tensor, "..."]],
    grads: list[Float[torch.Tensor, "..."]],
    averages: list[Float[torch.Tensor, "..."]],
    squares: list[Float[torch.Tensor, "..."]],
    seed: Int64[torch.Tensor, ""] | None,
    step: int,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
) -> None:
    """Change parameters and averages; each list holds tensors of one dtype."""
    block = 0
    for parameter, grad, average, square in zip(parameters, grads, averages, squares, strict=True):
        slope, mean, spread = widened(grad), widened(average), widened(square)
        mean = beta1 * mean + (1 - beta1) * slope
        spread = beta2 * spread + (1 - beta2) * slope.square()
        change = mean / (1 - beta1**step) / ((spread / (1 - beta2**step)).sqrt() + eps)
        value = widened(parameter) * (1 - lr * weight_decay) - lr * change
        if seed is not None and parameter.dtype == torch.bfloat16:
            value = _rounded(value, seed, block)
        block += -(-parameter.numel() // _BLOCK)
        parameter.copy_(value)
        average.copy_(mean)
        square.copy_(spread)


def _rounded(value: torch.Tensor, seed: torch.Tensor, block: int) -> torch.Tensor:
    """To bfloat16 by chance, with the noise that the kernel takes from its ``block`` on."""
    blocks = block + torch.arange(-(-value.numel() // _BLOCK), device=value.device)
    numbers = philox(seed, torch.arange(_BLOCK // 4, device=value.device)[None, :], blocks[:, None])
    noise = torch.stack(numbers, -1).reshape(-1)[: value.numel()].reshape(value.shape) & 0xFFFF
    bits = value.contiguous().view(torch.int32).long()
    noisy = torch.where((bits & 0x7F800000) == 0x7F800000, bits, bits + noise) & ~0xFFFF
    return noisy.to(torch.int32).view(torch.float32)


@adamw_step_in_place.cuda
def adamw_step_in_place_cuda(
    parameters: list[torch.Tensor],
    grads: list[torch.Tensor],
    averages: list[torch.Tensor],
    squares: list[torch.Tensor],
    seed: torch.Tensor | None,
    step: int,
    lr: float,
    beta1: float,
    beta2: float,
    eps: float,
    weight_decay: float,
) -> None:
    """One launch: a program for each 2048 elements."""
    rates = (lr, beta1, beta2, eps, weight_decay)
    kept = (parameters, averages, squares)
    dense = all(tensor.is_contiguous() for tensors in kept for tensor in tensors)
    if not dense or not has_kernel(parameters[0], grads[0], averages[0], squares[0]):
        adamw_step_in_place.reference(parameters, grads, averages, squares, seed, step, *rates)
        return
    kernel = in_triton("adamw_step").adamw_step

    grads = [grad.contiguous() for grad in grads]
    columns = (parameters, grads, averages, squares)
    table, aligned = _table(tuple(tuple((t.data_ptr(), t.numel()) for t in column) for column in columns), columns)
    noise = seed if parameters[0].dtype == torch.bfloat16 else None
    kernel(
        *(parameters[0], grads[0], averages[0], squares[0], table, noise, table.shape[0]),
        *(lr, 1 - lr * weight_decay, beta1, 1 - beta1, beta2, 1 - beta2, eps),
        *(1 / (1 - beta1**step), 1 / (1 - beta2**step)),
        ALIGNED=aligned,
        BLOCK=_BLOCK,
        num_warps=4,
    )


# the tables of the last few lists of tensors, by where the tensors lie: they are the same in each step of a training
_TABLES: dict[object, tuple[torch.Tensor, bool]] = {}
_MOST_TABLES = 16


def _table(places: object, columns: Sequence[Sequence[torch.Tensor]]) -> tuple[torch.Tensor, bool]:
    """A row for each block: where it starts in the four tensors, in elements from the first ones, and its length."""
    key = (places, columns[0][0].device)
    if key not in _TABLES:
        if len(_TABLES) >= _MOST_TABLES:
            _TABLES.pop(next(iter(_TABLES)), None)
        offsets = [[(t.data_ptr() - c[0].data_ptr()) // t.element_size() for t in c] for c in columns]
        rows = []
        for index, parameter in enumerate(columns[0]):
            start = torch.arange(0, parameter.numel(), _BLOCK)
            starts = [start + column[index] for column in offsets]
            rows.append(torch.stack([*starts, (parameter.numel() - start).clamp(max=_BLOCK)], 1))
        table = torch.cat(rows)
        bases = all(column[0].data_ptr() % 16 == 0 for column in columns)
        aligned = bases and not bool((table % 8).any())
        _TABLES[key] = (table.to(columns[0][0].device), aligned)
    return _TABLES[key]
