"""`initialize`: a model's weights drawn anew, by the recipe of a paper.

torch's own ``nn.init`` fills one tensor; these recipes know what each layer of a model needs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, Literal, TypeAlias, TypeVar, get_args

import torch
from torch import nn

__all__ = ["Recipe", "initialize"]

M = TypeVar("M", bound=nn.Module)
Recipe: TypeAlias = Literal["torch", "he", "glorot", "orthogonal", "gpt2", "vit"]
_Fill: TypeAlias = Callable[[torch.Tensor], object]

_CONVOLUTIONS: Final = (nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)
_BATCH_NORMS: Final = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm)
_INSTANCE_NORMS: Final = (nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d)
_NORMS: Final = (*_BATCH_NORMS, *_INSTANCE_NORMS, nn.LayerNorm, nn.GroupNorm, nn.RMSNorm)
_TABLES: Final = (nn.Embedding, nn.EmbeddingBag)  # looked up, not multiplied: fans mean nothing to them

_ADDED: Final = ("attention.out", "feed_forward.down")  # the last layers of a `TransformerBlock`'s two branches


def initialize(model: M, recipe: Recipe = "he", *, gain: float = 1.0, generator: torch.Generator | None = None) -> M:
    """Draw the weights of ``model`` anew, in place, and return it.

    Linear, convolution and recurrent layers and attention's projections get weights by the recipe and zero biases,
    norms weight 1, bias 0, fresh running statistics. Embeddings are looked up, not multiplied: except by ``"gpt2"`` and
    ``"vit"`` they get std 1, as in torch. A parameter that belongs to no layer of torch's (a class token, say) stays as
    it is; so does one that is frozen (``requires_grad=False``).

    - ``"torch"``: what each layer's ``reset_parameters`` does, as torch does when it builds the layer.
    - ``"he"``: normal, std ``sqrt(2 / fan_out)`` for convolutions and ``sqrt(2 / fan_in)`` for linear layers; for
      ReLU. He et al., Delving Deep into Rectifiers, 2015; the fans are torchvision's.
    - ``"glorot"``: uniform, variance ``2 / (fan_in + fan_out)``; for tanh. Glorot and Bengio, Understanding the
      difficulty of training deep feedforward neural networks, 2010.
    - ``"orthogonal"``: orthogonal rows or columns; for recurrent networks and reinforcement learning. Saxe et al.,
      Exact solutions to the nonlinear dynamics of learning in deep linear neural networks, 2014.
    - ``"gpt2"``: normal, std 0.02, and 0.02 / sqrt(2 · blocks) for the layers that end a branch of a
      `TransformerBlock`. Radford et al., Language Models are Unsupervised Multitask Learners, 2019.
    - ``"vit"``: normal, std 0.02, cut at two standard deviations. Touvron et al., DeiT, 2021.

    Args:
        model: any module; ``meta`` tensors have no values to draw and are refused.
        recipe: the name of a recipe.
        gain: a factor for the weights (not with ``"torch"``), such as `torch.nn.init.calculate_gain` gives.
        generator: where the random numbers come from; torch's own by default (not with ``"torch"``).

    Returns:
        ``model``, the same object.

    Raises:
        ValueError: there is no such recipe, or a parameter is on the ``meta`` device.

    Examples:
        >>> import torch
        >>> from simpletorch import nn
        >>> model = nn.initialize(nn.MLP(784, 128, 10), "he", generator=torch.Generator().manual_seed(0))
    """
    if recipe not in get_args(Recipe):
        known = ", ".join(map(repr, get_args(Recipe)))
        raise ValueError(f"initialize: there is no recipe {recipe!r}; there are {known}")
    bare = [name for name, parameter in model.named_parameters() if parameter.is_meta]
    if bare:
        more = f" and {len(bare) - 1} more" if len(bare) > 1 else ""
        raise ValueError(
            f"initialize: {bare[0]}{more} is on the meta device and holds no values: model.to_empty(device='cpu') first"
        )
    if recipe == "torch":
        if gain != 1.0 or generator is not None:
            raise ValueError(
                "initialize: the recipe 'torch' takes neither gain nor generator; torch.manual_seed seeds it"
            )
        return _reset(model)
    blocks = sum(name.endswith(_ADDED[0]) for name, _ in model.named_modules())
    with torch.no_grad():
        for name, layer in model.named_modules():
            scale = gain / math.sqrt(2 * blocks) if recipe == "gpt2" and name.endswith(_ADDED) else gain
            draw = _unit_normal if isinstance(layer, _TABLES) and recipe not in ("gpt2", "vit") else _WEIGHTS[recipe]
            _fill(layer, partial(draw, layer=layer, scale=scale, generator=generator))
    return model


def _reset(model: M) -> M:
    """Call ``reset_parameters`` of every layer that has one, in the order in which constructors do."""
    for layer in reversed(list(model.modules())):
        # MultiheadAttention and Transformer only have the private name
        reset = getattr(layer, "reset_parameters", None) or getattr(layer, "_reset_parameters", None)
        if callable(reset):
            reset()
    return model


def _fill(layer: nn.Module, draw: _Fill) -> None:
    """Draw a layer's own weights and set its biases."""
    if isinstance(layer, _NORMS):
        if isinstance(layer, _BATCH_NORMS + _INSTANCE_NORMS):
            layer.reset_running_stats()
        _set(layer, {"weight": nn.init.ones_, "bias": nn.init.zeros_})
    elif isinstance(layer, (nn.Linear, nn.Bilinear, *_TABLES, *_CONVOLUTIONS)):
        _set(layer, {"weight": draw, "bias": nn.init.zeros_})
        if isinstance(layer, _TABLES) and layer.padding_idx is not None and layer.weight.requires_grad:
            # as torch's own reset_parameters does
            layer.weight[layer.padding_idx].zero_()
    elif isinstance(layer, nn.MultiheadAttention):
        projections = ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight")
        _set(layer, {**dict.fromkeys(projections, draw), "in_proj_bias": nn.init.zeros_})
    elif isinstance(layer, nn.RNNBase | nn.RNNCellBase):
        of_bias = {n: nn.init.zeros_ for n, _ in layer.named_parameters(recurse=False) if n.startswith("bias")}
        _set(layer, {n: draw for n, _ in layer.named_parameters(recurse=False)} | of_bias)


def _set(layer: nn.Module, fills: Mapping[str, _Fill]) -> None:
    for name, fill in fills.items():
        parameter = getattr(layer, name, None)
        if isinstance(parameter, nn.Parameter) and parameter.requires_grad:
            fill(parameter)


def _he(weight: torch.Tensor, layer: nn.Module, scale: float, generator: torch.Generator | None) -> None:
    mode: Literal["fan_in", "fan_out"] = "fan_out" if isinstance(layer, _CONVOLUTIONS) else "fan_in"
    nn.init.kaiming_normal_(weight, mode=mode, nonlinearity="relu", generator=generator)
    weight.mul_(scale)


def _glorot(weight: torch.Tensor, layer: nn.Module, scale: float, generator: torch.Generator | None) -> None:
    nn.init.xavier_uniform_(weight, scale, generator)


def _orthogonal(weight: torch.Tensor, layer: nn.Module, scale: float, generator: torch.Generator | None) -> None:
    nn.init.orthogonal_(weight, scale, generator)


def _unit_normal(weight: torch.Tensor, layer: nn.Module, scale: float, generator: torch.Generator | None) -> None:
    nn.init.normal_(weight, 0.0, scale, generator)


def _gpt2(weight: torch.Tensor, layer: nn.Module, scale: float, generator: torch.Generator | None) -> None:
    nn.init.normal_(weight, 0.0, 0.02 * scale, generator)


def _vit(weight: torch.Tensor, layer: nn.Module, scale: float, generator: torch.Generator | None) -> None:
    std = 0.02 * scale
    nn.init.trunc_normal_(weight, 0.0, std, -2 * std, 2 * std, generator)


_WEIGHTS: Final[Mapping[str, Callable[..., None]]] = {
    "he": _he,
    "glorot": _glorot,
    "orthogonal": _orthogonal,
    "gpt2": _gpt2,
    "vit": _vit,
}
