"""Philox 4x32-7 in torch, with the bits of Triton's: counters and a key become random numbers.

Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3". Seven rounds are the fewest that pass BigCrush there
(table 2); torch takes ten.
"""

from __future__ import annotations

from typing import Final

import torch

__all__ = ["philox"]

_LOW: Final = 0xFFFFFFFF


def _product(factor: int, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The upper and lower 32 bits of a product of 32-bit numbers, which are kept in int64."""
    low = (factor & 0xFFFF) * x  # below 2**48
    high = (factor >> 16) * x + (low >> 16)
    return high >> 16, ((high & 0xFFFF) << 16) | (low & 0xFFFF)


def philox(seed: torch.Tensor, c0: torch.Tensor, c1: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Four 32-bit numbers, as int64, for each counter ``(c0, c1, 0, 0)``."""
    k0, k1 = seed & _LOW, (seed >> 32) & _LOW
    c0, c1 = torch.broadcast_tensors(c0, c1)
    c2 = c3 = torch.zeros_like(c0)
    for _ in range(7):
        high_a, low_a = _product(0xD2511F53, c0)
        high_b, low_b = _product(0xCD9E8D57, c2)
        c0, c1, c2, c3 = high_b ^ c1 ^ k0, low_b, high_a ^ c3 ^ k1, low_a
        k0, k1 = (k0 + 0x9E3779B9) & _LOW, (k1 + 0xBB67AE85) & _LOW
    return c0, c1, c2, c3
