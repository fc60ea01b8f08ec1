"""Rotary positions: how far each pair of values of a head turns at each place.

Su et al., RoFormer: Enhanced Transformer with Rotary Position Embedding, 2021. Scaled for longer texts: ``"linear"`` as
in Chen et al., Extending Context Window of Large Language Models via Positional Interpolation, 2023. ``"dynamic"`` and
``"yarn"`` are as in Peng et al., YaRN: Efficient Context Window Extension of Large Language Models, 2023.
``"longrope"`` is as in Ding et al., LongRoPE: Extending LLM Context Window Beyond 2 Million Tokens, 2024. ``"llama3"``
is as in Grattafiori et al., The Llama 3 Herd of Models, 2024.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import torch

from simpletorch.dims import B, Dim, E, H, N, T
from simpletorch.dtypes import Float, Float32, Int64
from simpletorch.errors import TorchError, as_also
from simpletorch.nn._arguments import Fault
from simpletorch.tensor import Tensor

__all__ = ["Rotary", "rotate", "turns"]

DT = TypeVar("DT", bound=Float)


@dataclass(frozen=True)
class Rotary:
    """``rope_parameters`` of a configuration.

    Args:
        theta: the base of the frequencies, ``rope_theta``.
        kind: ``"default"``, ``"linear"``, ``"dynamic"``, ``"yarn"``, ``"longrope"`` or ``"llama3"``, ``rope_type``.
        factor: by how much texts may be longer than in the first training; of yarn and longrope None is the quotient of
            the two lengths below.
        low_freq_factor: llama3: waves longer than the original context by this are slowed down wholly.
        high_freq_factor: llama3: waves shorter than the original context by this are left alone.
        original_max_position_embeddings: length of the texts of the first training, in tokens.
        max_position_embeddings: length of the longest text that needs no scaling of kind dynamic, in tokens.
        attention_factor: yarn and longrope: the factor of cosine and sine; None is the paper's.
        beta_fast: yarn: waves that turn more often than this in the original context are left alone.
        beta_slow: yarn: waves that turn less often than this are slowed down wholly.
        mscale: yarn: how much of the factor's logarithm is in the attention factor, if ``mscale_all_dim`` is given too.
        mscale_all_dim: yarn: the same of what it is divided by.
        truncate: yarn: whether the limits between fast and slow are whole numbers of pairs.
        short_factor: longrope: by how much each pair is slowed down in texts up to the original length.
        long_factor: longrope: the same in longer texts.

    Examples:
        >>> from simpletorch.language import models
        >>> models.Rotary(theta=500000.0, kind="llama3", factor=8.0).factor
        8.0
    """

    theta: float = 10_000.0
    kind: str = "default"
    factor: float | None = 1.0
    low_freq_factor: float = 1.0
    high_freq_factor: float = 4.0
    original_max_position_embeddings: int = 8192
    max_position_embeddings: int = 2048
    attention_factor: float | None = None
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    mscale: float | None = None
    mscale_all_dim: float | None = None
    truncate: bool = True
    short_factor: tuple[float, ...] = ()
    long_factor: tuple[float, ...] = ()

    @classmethod
    def from_transformers(cls, parameters: Mapping[str, Any] | None, max_position_embeddings: int = 2048) -> Rotary:
        """Read ``config.rope_parameters`` and ``config.max_position_embeddings``; None is the default kind.

        Args:
            parameters: the configuration's dict; None is the default kind.
            max_position_embeddings: the configuration's length of the longest text, in tokens.

        Returns:
            The rotary embedding.

        Raises:
            TorchError: (a `ValueError` too) it is of a kind that isn't computed here, or lacks a number.
        """
        given = {name: value for name, value in (parameters or {}).items() if value is not None}
        error = as_also(TorchError, ValueError)
        kind = given.get("rope_type", "default")
        if kind not in _NUMBERS:
            reason = f"rope_type is {kind!r}, but this model computes {', '.join(_NUMBERS)}"
            raise error(reason, operation="Rotary", expected=tuple(_NUMBERS), got=kind)
        if given.get("partial_rotary_factor", 1.0) != 1.0:
            raise error("partial_rotary_factor is not 1: whole heads turn here", operation="Rotary")
        required, optional = _NUMBERS[kind]
        missing = [name for name in required if name not in given]
        if missing:
            raise error(f"rope_parameters of type {kind!r} have no {', '.join(missing)}", operation="Rotary")
        found = {name: given[name] for name in (*required, *optional) if name in given}
        if kind in ("yarn", "longrope"):
            found = {"factor": None, "original_max_position_embeddings": max_position_embeddings} | found
        found |= {name: tuple(found[name]) for name in ("short_factor", "long_factor") if name in found}
        if kind != "default":
            found["max_position_embeddings"] = max_position_embeddings
        return cls(given.get("rope_theta", cls.theta), kind, **found)

    def misfits(self, width: int) -> Iterator[Fault]:
        """Why heads of a width can't turn so.

        Args:
            width: the width of a head.

        Returns:
            For each reason a message, the number that is needed, and the number that was given.
        """
        pairs = width // 2
        if self.kind == "dynamic" and pairs < 2:
            yield f"head_dim={width}, but rotary positions of kind dynamic need 4 or more", 4, width
        for name in ("short_factor", "long_factor") if self.kind == "longrope" else ():
            given = len(getattr(self, name))
            if given != pairs:
                yield f"{name} has {given} numbers, but in head_dim={width} there are {pairs} pairs", pairs, given

    def frequencies(self, width: Dim[E], places: Tensor[Int64, B, T]) -> Tensor[Float32, "(E+1)//2"]:
        """By how much each of the ``width // 2`` pairs turns from one place to the next, in radians.

        Args:
            width: the width of a head, E.
            places: the tokens' positions; the kinds dynamic and longrope depend on the largest.

        Returns:
            The angle between neighbouring positions of each pair, in radians: Float32 ``[(E+1)//2]``.
        """
        # not a buffer: model.half() would round it, and far places would turn by something else
        share = torch.arange(0, width, 2, dtype=torch.float32, device=places.device) / width
        if self.kind == "dynamic":
            return self._stretched(width, places) ** -share
        plain = 1.0 / self.theta**share
        if self.kind == "linear":
            return plain / self._factor
        if self.kind == "yarn":
            return self._ramped(plain, width)
        if self.kind == "longrope":
            return plain / self._factors(places)
        return self._slowed(plain) if self.kind == "llama3" else plain

    @property
    def attention_scaling(self) -> float:
        """The factor of cosine and sine."""
        if self.kind not in ("yarn", "longrope"):
            return 1.0
        if self.attention_factor is not None:
            return self.attention_factor
        longer = math.log(max(self._factor, 1.0))
        if self.kind == "longrope":
            return math.sqrt(1 + longer / math.log(self.original_max_position_embeddings))
        if self.mscale and self.mscale_all_dim:
            return (0.1 * self.mscale * longer + 1.0) / (0.1 * self.mscale_all_dim * longer + 1.0)
        return 0.1 * longer + 1.0

    @property
    def _factor(self) -> float:
        if self.factor is not None:
            return self.factor
        return self.max_position_embeddings / self.original_max_position_embeddings

    def _stretched(self, width: int, places: Tensor[Int64, B, T]) -> Tensor[Float32]:
        """The base for texts as long as this one."""
        longest = self.max_position_embeddings
        length = (places.max() + 1).clamp(min=longest)
        stretch = self._factor * length / longest - (self._factor - 1)
        return self.theta * stretch ** (width / (width - 2))

    def _ramped(self, plain: Tensor[Float32, N], width: int) -> Tensor[Float32, N]:
        """Pairs that turn fast as they are, slow ones slowed down by the factor, and a ramp between."""

        def pair_of(rounds: float) -> float:
            length = self.original_max_position_embeddings / (rounds * 2 * math.pi)
            return width * math.log(length) / (2 * math.log(self.theta))

        low, high = pair_of(self.beta_fast), pair_of(self.beta_slow)
        if self.truncate:
            low, high = math.floor(low), math.ceil(high)
        low, high = max(low, 0), min(high, width - 1)
        steps = torch.arange(len(plain), dtype=torch.float32, device=plain.device)
        slowed = ((steps - low) / (high - low if high != low else 0.001)).clamp(0, 1)
        return plain / self._factor * slowed + plain * (1 - slowed)

    def _factors(self, places: Tensor[Int64, B, T]) -> torch.Tensor:
        """By how much each pair is slowed down in a text as long as this one."""
        short, long = (torch.tensor(f, device=places.device) for f in (self.short_factor, self.long_factor))
        return torch.where(places.max() + 1 > self.original_max_position_embeddings, long, short)

    def _slowed(self, plain: Tensor[Float32, N]) -> Tensor[Float32, N]:
        """Long waves slowed down by the factor, short ones as they are, and something between for those between."""
        waves = 2 * math.pi / plain
        low = self.original_max_position_embeddings / self.low_freq_factor
        high = self.original_max_position_embeddings / self.high_freq_factor
        share = (self.original_max_position_embeddings / waves - self.low_freq_factor) / (
            self.high_freq_factor - self.low_freq_factor
        )
        between = (1 - share) * plain / self._factor + share * plain
        return torch.where(waves > low, plain / self._factor, torch.where(waves < high, plain, between))


_LLAMA3 = ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings")
_LONGER = ("factor", "original_max_position_embeddings", "attention_factor")
_NUMBERS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "default": ((), ()),
    "linear": (("factor",), ()),
    "dynamic": (("factor",), ()),
    "yarn": ((), (*_LONGER, "beta_fast", "beta_slow", "mscale", "mscale_all_dim", "truncate")),
    "longrope": (("short_factor", "long_factor"), _LONGER),
    "llama3": (_LLAMA3, ()),
}
"""What ``rope_parameters`` of each kind have to say, and what they may."""


def turns(
    places: Tensor[Int64, B, T], width: Dim[E], rotary: Rotary
) -> tuple[Tensor[Float32, B, 1, T, E], Tensor[Float32, B, 1, T, E]]:
    """Cosine and sine of the angle by which each value's pair turns at each place, for all heads.

    Of kinds that look at how long a text is, it is the longest of the call: a text that is written token by token turns
    by more as it grows, as transformers has it.
    """
    angles = places[:, None, :, None] * rotary.frequencies(width, places)
    both: Tensor[Float32, B, 1, T, E] = torch.cat([angles, angles], dim=-1)
    scaling = rotary.attention_scaling
    if scaling == 1.0:
        return both.cos(), both.sin()
    return both.cos() * scaling, both.sin() * scaling


def rotate(
    x: Tensor[DT, B, H, T, E], cos: Tensor[Float, B, 1, T, E], sin: Tensor[Float, B, 1, T, E]
) -> Tensor[DT, B, H, T, E]:
    """Turn the pairs ``(x[i], x[i + E//2])`` of each head."""
    left, right = x.chunk(2, dim=-1)
    return x * cos.to(x.dtype) + torch.cat([-right, left], dim=-1) * sin.to(x.dtype)
