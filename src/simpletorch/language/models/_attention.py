"""The common part of the models' attention: masks, and cached keys and values.

Letters: B batch, T new tokens, S earlier tokens, N all tokens seen, H heads, E width of a head.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

import torch
import torch.nn.functional as F

from simpletorch.dims import B, Dim, E, H, N, S, T
from simpletorch.dtypes import Bool, Float, Shaped
from simpletorch.errors import ShapeMismatch, as_also
from simpletorch.tensor import Tensor

__all__ = ["KeyValues", "attend", "causal", "earlier_tokens", "empty", "unpadded"]

DT = TypeVar("DT", bound=Float)


class KeyValues(NamedTuple, Generic[B, H, S, E]):
    """Keys and values of the ``S`` tokens seen so far, in one layer of ``H`` heads of width ``E``.

    Attributes:
        keys: ``(B, H, S, E)``.
        values: ``(B, H, S, E)``.

    Examples:
        >>> import torch
        >>> from simpletorch.language import models
        >>> config = models.GPT2Config(100, 32, 16, 2, n_layer=1)
        >>> keys = torch.zeros(2, 2, 7, 8)
        >>> models.KeyValues(keys, values=keys).keys.shape
        torch.Size([2, 2, 7, 8])
    """

    keys: Tensor[Float, B, H, S, E]
    values: Tensor[Float, B, H, S, E]


def empty(like: torch.Tensor, batch: Dim[B], heads: Dim[H], width: Dim[E]) -> KeyValues[B, H, 0, E]:
    """The keys and values of no token yet, of the dtype and on the device of ``like``."""
    nothing = torch.zeros(batch, heads, 0, width, dtype=like.dtype, device=like.device)
    return KeyValues(nothing, nothing)


def earlier_tokens(past: Sequence[KeyValues[B, H, S, E]], layers: int) -> Dim[S]:
    """How many tokens were seen before, by what a step is given.

    Raises:
        ShapeMismatch: (a `ValueError` too) it has not one item for each layer.
    """
    if len(past) != layers or not past:
        reason = f"past_key_values has {len(past)} items, but the model has {layers} layers; empty_cache(batch) begins"
        raise as_also(ShapeMismatch, ValueError)(layers, len(past), reason, operation="step")
    return past[0].keys.shape[2]


def causal(new: Dim[T], earlier: Dim[S], device: torch.device) -> Tensor[Bool, T, "S+T"]:
    """Which tokens each new one sees: the earlier ones, the new ones before it, and itself."""
    return torch.ones(new, earlier + new, dtype=torch.bool, device=device).tril(earlier)


def unpadded(attention_mask: Tensor[Shaped, B, N]) -> Tensor[Bool, B, 1, 1, N]:
    """Which tokens may be seen by all heads and tokens: those where the mask isn't 0."""
    return attention_mask[:, None, None, :] != 0


def attend(
    queries: Tensor[DT, B, H, T, E],
    keys: Tensor[DT, B, H, N, E],
    values: Tensor[DT, B, H, N, E],
    mask: torch.Tensor | None,
    *,
    dropout: float = 0.0,
    scale: float | None = None,
    is_causal: bool = False,
) -> Tensor[DT, B, T, "H*E"]:
    """Attention: ``values`` weighted for each query, the heads side by side.

    Args:
        queries: of all heads.
        keys: of all heads.
        values: of all heads.
        mask: of a shape that broadcasts to ``(B, H, T, N)``: True where a query sees a key, or floats that are added
            to the scores.
        dropout: probability with which a weight is dropped.
        scale: factor of the scores; the root of one ``E``-th by default.
        is_causal: without a mask, whether the first query sees the first key alone, the second the first two, …
    """
    seen = F.scaled_dot_product_attention(queries, keys, values, mask, dropout, is_causal, scale=scale)
    rows = seen.transpose(1, 2)
    if torch.compiler.is_exporting():  # what takes its place in another engine may lay its result out otherwise
        rows = rows.clone(memory_format=torch.contiguous_format)
    return rows.flatten(2)
