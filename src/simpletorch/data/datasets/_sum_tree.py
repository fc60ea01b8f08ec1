"""Sums over parts of a list of weights, kept as they change: drawing by weight in logarithmic time."""

from __future__ import annotations

import numpy as np
import torch


class SumTree:
    """``capacity`` weights, at first 0, and the sums of their pairs, of the pairs of pairs, and so on.

    A binary tree in one array: node ``i`` is the sum of nodes ``2i`` and ``2i + 1``; the weights are its leaves. All
    operations take many positions at once, a level of the tree at a time.
    """

    def __init__(self, capacity: int) -> None:
        # a power of two: all leaves are on one level, so the first of several nodes tells how deep all of them are
        self.leaves = 1 << max(0, capacity - 1).bit_length()
        self.nodes = np.zeros(2 * self.leaves, dtype=np.float64)

    @property
    def total(self) -> float:
        """The sum of all weights."""
        return float(self.nodes[1])

    def __getitem__(self, positions: np.ndarray) -> np.ndarray:
        """The weights there."""
        weights: np.ndarray = self.nodes[self.leaves + positions]
        return weights

    def __setitem__(self, positions: np.ndarray, weights: np.ndarray) -> None:
        """Change weights; of a position given twice the last one counts."""
        nodes = self.leaves + positions
        self.nodes[nodes] = weights
        while nodes.size and nodes[0] > 1:
            nodes = np.unique(nodes >> 1)
            self.nodes[nodes] = self.nodes[2 * nodes] + self.nodes[2 * nodes + 1]

    def find(self, sums: np.ndarray) -> np.ndarray:
        """The first positions whose weights, with all before them, add up to more than each of ``sums``."""
        nodes = np.ones(len(sums), dtype=np.int64)
        rest = sums.astype(np.float64)
        while nodes.size and nodes[0] < self.leaves:
            left = self.nodes[2 * nodes]
            # a rounded sum may point past the last weight: never go where there is none
            right = (rest >= left) & (self.nodes[2 * nodes + 1] > 0)
            rest = np.where(right, rest - left, rest)
            nodes = 2 * nodes + right
        return nodes - self.leaves

    def state(self) -> torch.Tensor:
        """The weights, Float64."""
        return torch.from_numpy(self.nodes[self.leaves :].copy())

    def load(self, state: torch.Tensor) -> None:
        """Take over weights and add them up."""
        self[np.arange(self.leaves)] = state.numpy()
