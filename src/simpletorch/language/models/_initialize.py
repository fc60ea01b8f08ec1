"""The weights that most of the models begin with."""

from __future__ import annotations

from torch import nn

__all__ = ["initialize_normal"]


def initialize_normal(model: nn.Module, std: float) -> None:
    """Draw the weights of linear layers and embeddings from a normal distribution, with biases of zero.

    Rows of an embedding that stand for padding are zero.
    """
    for layer in model.modules():
        if isinstance(layer, nn.Linear):
            nn.init.normal_(layer.weight, std=std)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
        elif isinstance(layer, nn.Embedding):
            nn.init.normal_(layer.weight, std=std)
            if layer.padding_idx is not None:
                nn.init.zeros_(layer.weight.data[layer.padding_idx])
