"""Launch parameters of the shipped operators: rows, sizes of tiles, and a GPU's resources."""

from __future__ import annotations

import math
from functools import cache
from importlib import import_module
from typing import Any

import torch

__all__ = ["as_rows", "has_kernel", "in_triton", "power_of_two", "processors", "row_tile", "walking_tile", "widened"]

# a program has at most 1024 threads, and AMD's wavefronts have 64
_MOST_WARPS = 16 if torch.version.hip else 32
_KERNEL_DTYPES = (torch.float32, torch.float16, torch.bfloat16)


@cache
def in_triton(name: str) -> Any:
    """The kernels in a file of ``_triton``; no import statement leads there, or mypy would read all of Triton."""
    return import_module(f"simpletorch.kernels.shipped._triton.{name}")


def has_kernel(*tensors: torch.Tensor | None, longest: int | None = None) -> bool:
    """Whether the Triton kernels take these: float64 goes through torch, and so do rows of more than ``longest``."""
    for tensor in tensors:
        if tensor is not None and tensor.dtype not in _KERNEL_DTYPES:
            return False
    first = tensors[0]
    return longest is None or first is None or bool(first.shape[-1] <= longest)


def widened(x: torch.Tensor) -> torch.Tensor:
    """In float32, what is computed in float32; float64 stays."""
    return x if x.dtype == torch.float64 else x.float()


def as_rows(x: torch.Tensor) -> torch.Tensor:
    """``x`` as (rows, n) with the elements of a row side by side; copied only if it has to be."""
    rows = x.reshape(math.prod(x.shape[:-1]), x.shape[-1])
    return rows if rows.stride(1) == 1 or rows.shape[1] == 1 else rows.contiguous()


def power_of_two(n: int) -> int:
    """The power of two that holds ``n``. While a program is compiled, ``n`` becomes a constant of it."""
    return 1 << max(int(n) - 1, 0).bit_length()


@cache
def _processors(device: torch.device) -> int:
    return torch.cuda.get_device_properties(device).multi_processor_count


def processors(x: torch.Tensor) -> int:
    """How many multiprocessors the GPU of ``x`` has (Triton's interpreter, on the CPU: two)."""
    return _processors(x.device) if x.is_cuda else 2


def row_tile(n: int) -> dict[str, int]:
    """The tile for rows of ``n`` that are read once: 16 to 32 elements a thread, several short rows at once."""
    return _row_tile(int(n))


@cache
def _row_tile(n: int) -> dict[str, int]:
    block = power_of_two(n)
    rows = max(1, 2048 // block)
    return {"BLOCK_M": rows, "BLOCK": block, "num_warps": min(_MOST_WARPS, max(4, rows * block // 1024))}


def walking_tile(x: torch.Tensor, elements: int) -> tuple[int, dict[str, int]]:
    """Programs and tile where each program walks over the rows of ``x`` and adds up in registers.

    As measured on an H100: 16 elements a thread, 16 warps a multiprocessor, and two tiles of about ``elements`` loaded
    ahead into shared memory; rows that need all registers leave no time to wait there.
    """
    rows, n = x.shape
    block = power_of_two(n)
    height = max(1, elements // block)
    warps = min(16, max(4, height * block // 512))
    programs = min(-(-rows // height), processors(x) * max(1, 16 // warps))
    # three tensors are read; AMD has less shared memory
    room = (32 << 10) if torch.version.hip else (96 << 10)
    ahead = min(2, room // (3 * height * block * x.element_size())) if block <= 8192 else 0
    return programs, {"BLOCK_M": height, "BLOCK": block, "STAGES": 1 + ahead, "num_warps": warps}
