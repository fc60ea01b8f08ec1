"""The layers of a model in the order in which they compute, and which of them each stage of a pipeline has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import torch
from torch import nn

from simpletorch.errors import TorchError, as_also

if TYPE_CHECKING:
    from simpletorch.language.models import LlamaForCausalLM

_Wrong: Final = as_also(TorchError, ValueError)


class Layer(NamedTuple):
    """A module from one tensor to one tensor, and where it is in the model."""

    name: str
    """Before the names of its parameters in the whole model: ``"model.layers.3."``."""
    module: nn.Module
    inner: str = ""
    """Before the same names in ``module``."""


class LlamaBlock(nn.Module):
    """A decoder layer that makes the turns of its positions, 0, 1, 2, …, by itself: ``(B, T, D) -> (B, T, D)``."""

    def __init__(self, layer: nn.Module, config: Any) -> None:
        super().__init__()
        self.layer, self._width, self._rotary = layer, config.head_dim, config.rope_parameters

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The tokens' next states."""
        from simpletorch.language.models._rotary import turns

        places = torch.arange(x.shape[1], device=x.device).expand(x.shape[:2])
        cos, sin = turns(places, self._width, self._rotary)
        found: torch.Tensor = self.layer(x, cos, sin, None, None)[0]
        return found


def in_order(model: nn.Module | Sequence[nn.Module]) -> list[Layer]:
    """The layers in the order of their calls.

    Raises:
        ValueError: it is neither a sequence nor a Llama, or a Llama whose head is its embedding, which two stages would
            need.
    """
    from simpletorch.language.models import LlamaForCausalLM

    if isinstance(model, LlamaForCausalLM):
        return list(_of_llama(model))
    if isinstance(model, nn.Module) and not isinstance(model, (nn.Sequential, nn.ModuleList)):
        raise _Wrong(
            f"what comes one after the other in a {type(model).__name__} isn't known",
            hint="give its layers as a sequence: Pipeline([model.first, model.second], …), or a LlamaForCausalLM",
        )
    return [Layer(f"{number}.", module) for number, module in enumerate(model)]


def _of_llama(model: LlamaForCausalLM[int, int, int, int, int, int]) -> Iterable[Layer]:
    if model.config.tie_word_embeddings:
        raise _Wrong(
            "the embedding of this Llama is its head too (tie_word_embeddings), and the first stage of a pipeline "
            "would have one copy, the last another"
        )
    yield Layer("model.embed_tokens.", model.model.embed_tokens)
    for number, layer in enumerate(model.model.layers):
        yield Layer(f"model.layers.{number}.", LlamaBlock(layer, model.config), "layer.")
    yield Layer("model.norm.", model.model.norm)
    yield Layer("lm_head.", model.lm_head)


def stages_of(layers: Sequence[Layer], stages: int) -> list[list[Layer]]:
    """The layers in so many groups, in order, with about as many parameters in each.

    Raises:
        ValueError: there are fewer layers than stages.
    """
    if len(layers) < stages:
        raise _Wrong(f"a pipeline of {stages} stages needs as many layers, and there are {len(layers)}")
    sizes = [sum(parameter.numel() for parameter in layer.module.parameters()) for layer in layers]
    groups: list[list[Layer]] = []
    start, left = 0, sum(sizes)
    for stage in range(stages, 0, -1):
        goal, end, size = left / stage, start + 1, sizes[start]
        # a layer more, while that brings it nearer to its share and leaves one for each stage that comes
        while len(layers) - end > stage - 1 and abs(size + sizes[end] - goal) <= abs(size - goal):
            size += sizes[end]
            end += 1
        if stage == 1:
            end = len(layers)
        groups.append(list(layers[start:end]))
        start, left = end, left - sum(sizes[start:end])
    return groups
