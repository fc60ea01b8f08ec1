"""Rotary positions: how far each pair of values of a head turns at each place.

Su et al., RoFormer: Enhanced Transformer with Rotary Position Embedding, 2021. Scaled for longer texts: "linear" as in
Chen et al., Extending Context Window of Large Language Models via Positional Interpolation, 2023; "llama3" as in
Grattafiori et al., The Llama 3 Herd of Models, 2024.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import torch

from simpletorch.dims import B, Dim, E, H, N, T
from simpletorch.dtypes import Float, Float32, Int64
from simpletorch.errors import TorchError, as_also
from simpletorch.tensor import Tensor

__all__ = ["Rotary", "rotate", "turns"]

DT = TypeVar("DT", bound=Float)


@dataclass(frozen=True)
class Rotary:
    """What ``rope_parameters`` of a configuration says.

    Args:
        theta: the base of the frequencies, ``rope_theta``.
        kind: ``"default"``, ``"linear"`` or ``"llama3"``, ``rope_type``.
        factor: by how much texts may be longer than in the first training.
        low_freq_factor: waves longer than the original context by this are slowed down wholly.
        high_freq_factor: waves shorter than the original context by this are left alone.
        original_max_position_embeddings: length of the texts of the first training, in tokens.
    """

    theta: float = 10_000.0
    kind: str = "default"
    factor: float = 1.0
    low_freq_factor: float = 1.0
    high_freq_factor: float = 4.0
    original_max_position_embeddings: int = 8192

    @classmethod
    def from_transformers(cls, parameters: Mapping[str, Any] | None) -> Rotary:
        """What ``config.rope_parameters`` says; None is the default.

        Raises:
            TorchError: (a `ValueError` too) it is of a kind that isn't computed here, or lacks a number.
        """
        given = dict(parameters or {})
        error = as_also(TorchError, ValueError)
        kind = given.get("rope_type", "default")
        wanted = _NUMBERS.get(kind)
        if wanted is None:
            reason = f"rope_type is {kind!r}, but what is computed here is {', '.join(_NUMBERS)}"
            raise error(reason, operation="Rotary", expected=tuple(_NUMBERS), got=kind)
        if given.get("partial_rotary_factor", 1.0) != 1.0:
            raise error("partial_rotary_factor is not 1: whole heads turn here", operation="Rotary")
        missing = [name for name in wanted if given.get(name) is None]
        if missing:
            raise error(f"rope_parameters of type {kind!r} have no {', '.join(missing)}", operation="Rotary")
        return cls(given.get("rope_theta", cls.theta), kind, **{name: given[name] for name in wanted})

    def frequencies(self, width: Dim[E], device: torch.device) -> Tensor[Float32, "(E+1)//2"]:
        """By how much each of the ``width // 2`` pairs turns from one place to the next, in radians."""
        # not a buffer: model.half() would round it, and far places would turn by something else
        plain = 1.0 / self.theta ** (torch.arange(0, width, 2, dtype=torch.float32, device=device) / width)
        if self.kind == "linear":
            return plain / self.factor
        return self._slowed(plain) if self.kind == "llama3" else plain

    def _slowed(self, plain: Tensor[Float32, N]) -> Tensor[Float32, N]:
        """Long waves slowed down by the factor, short ones as they are, and something between for those between."""
        waves = 2 * math.pi / plain
        low = self.original_max_position_embeddings / self.low_freq_factor
        high = self.original_max_position_embeddings / self.high_freq_factor
        share = (self.original_max_position_embeddings / waves - self.low_freq_factor) / (
            self.high_freq_factor - self.low_freq_factor
        )
        between = (1 - share) * plain / self.factor + share * plain
        return torch.where(waves > low, plain / self.factor, torch.where(waves < high, plain, between))


_LLAMA3 = ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings")
_NUMBERS: Mapping[str, tuple[str, ...]] = {"default": (), "linear": ("factor",), "llama3": _LLAMA3}


def turns(
    places: Tensor[Int64, B, T], width: Dim[E], rotary: Rotary
) -> tuple[Tensor[Float32, B, 1, T, E], Tensor[Float32, B, 1, T, E]]:
    """Cosine and sine of the angle by which each value's pair turns at each place, for all heads."""
    angles = places[:, None, :, None] * rotary.frequencies(width, places.device)
    both: Tensor[Float32, B, 1, T, E] = torch.cat([angles, angles], dim=-1)
    return both.cos(), both.sin()


def rotate(
    x: Tensor[DT, B, H, T, E], cos: Tensor[Float, B, 1, T, E], sin: Tensor[Float, B, 1, T, E]
) -> Tensor[DT, B, H, T, E]:
    """Turn the pairs ``(x[i], x[i + E//2])`` of each head."""
    left, right = x.chunk(2, dim=-1)
    return x * cos.to(x.dtype) + torch.cat([-right, left], dim=-1) * sin.to(x.dtype)
