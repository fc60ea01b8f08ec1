"""Layers that read or write nothing: torch builds them, but it is nearly always a division that went wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

__all__ = ["SIZES", "Empty", "empty"]

# How much a layer reads or writes. (An embedding of 0 words is left alone: a vocabulary can grow.)
SIZES: Final = (
    *("in_features", "out_features", "in1_features", "in2_features", "in_channels", "out_channels"),
    *("num_features", "num_channels", "num_parameters", "normalized_shape", "embedding_dim"),
    *("input_size", "hidden_size", "embed_dim", "d_model", "dim_feedforward"),
)


class Empty(NamedTuple):
    """The reason and the hint in the error for such a layer."""

    reason: str
    hint: str


def empty(layer: str, sizes: Mapping[str, object]) -> Empty | None:
    """The mistake in a layer of this class name with these arguments; only arguments of 0 matter."""
    for name in SIZES:
        value = sizes.get(name)
        if (type(value) is int and value == 0) or (isinstance(value, tuple) and 0 in value):
            return Empty(
                f"{name} is {value}, but it must be at least 1",
                f"a division may have made it; if it is meant, torch.nn.{layer} allows it",
            )
    return None
