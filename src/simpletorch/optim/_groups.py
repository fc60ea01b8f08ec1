"""Groups of parameters with settings of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import UninitializedParameter

from simpletorch.errors import TorchError, as_also

_NORMS = (
    nn.modules.batchnorm._NormBase,  # the common base of BatchNorm and InstanceNorm has no public name
    nn.LayerNorm,
    nn.GroupNorm,
    nn.RMSNorm,
    nn.LocalResponseNorm,
)


class ParameterGroup(dict[str, Any]):
    """Parameters and the settings that hold for them: one of the dicts that every optimizer takes, with typed keys.

    ::

        AdamW([ParameterGroup(model.body.parameters(), lr=1e-5), ParameterGroup(model.head.parameters(), lr=1e-3)])

    Missing options have the optimizer's values.

    Args:
        params: the parameters, or pairs ``(name, parameter)``.
        lr: the learning rate, per update.
        weight_decay: how fast unused weights go to 0.
        momentum: of SGD and RMSprop.
        betas: of Adam and its relatives.
        eps: added to denominators.
        options: whatever else the optimizer knows.

    Examples:
        >>> from simpletorch import nn, optim
        >>> model = nn.Sequential(nn.Linear(8, 4), nn.Linear(4, 2))
        >>> backbone: optim.ParameterGroup = {"params": model[0].parameters(), "lr": 1e-5}
        >>> head: optim.ParameterGroup = {"params": model[1].parameters()}
        >>> optimizer = optim.AdamW([backbone, head], lr=1e-3)
        >>> [group["lr"] for group in optimizer.param_groups]
        [1e-05, 0.001]
    """

    def __init__(
        self,
        params: Iterable[torch.Tensor] | Iterable[tuple[str, torch.Tensor]],
        *,
        lr: float | None = None,
        weight_decay: float | None = None,
        momentum: float | None = None,
        betas: tuple[float, float] | None = None,
        eps: float | None = None,
        **options: Any,
    ) -> None:
        given = {"lr": lr, "weight_decay": weight_decay, "momentum": momentum, "betas": betas, "eps": eps, **options}
        super().__init__(params=list(params), **{name: value for name, value in given.items() if value is not None})


def decay_groups(
    model: nn.Module,
    weight_decay: float,
    *,
    decays: Callable[[str, nn.Parameter], bool] | None = None,
) -> list[ParameterGroup]:
    """The trainable parameters of ``model`` in two groups: weights that decay, and norms and biases that don't.

    ::

        optimizer = AdamW(decay_groups(model, weight_decay=0.1), lr=3e-4)

    Decay keeps weights that multiply activations small; shrinking a norm's scale or a bias only biases the model.

    Args:
        model: any module; only parameters that require a gradient are taken.
        weight_decay: of the first group; the second has 0.
        decays: tells whether a parameter decays, by its name; by default those with at least two dims that don't belong
            to a normalisation do.

    Returns:
        The group with decay and the group without, for an optimizer's constructor.

    Raises:
        ValueError: ``weight_decay`` is negative, a lazy module has not seen a batch, or nothing is trainable.

    Examples:
        >>> from simpletorch import nn, optim
        >>> model = nn.Sequential(nn.Linear(8, 4), nn.LayerNorm(4))
        >>> optimizer = optim.AdamW(optim.decay_groups(model, weight_decay=0.1))
        >>> [(group["weight_decay"], len(group["params"])) for group in optimizer.param_groups]
        [(0.1, 1), (0.0, 3)]

    Source: Loshchilov & Hutter 2019, "Decoupled weight decay regularization"; which parameters: He et al. 2019,
    "Bag of tricks for image classification with convolutional neural networks", section 3.1.
    """
    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    if reason := _why_not(weight_decay, named):
        raise as_also(TorchError, ValueError)(reason)
    if decays is None:
        of_norms = {id(p) for m in model.modules() if isinstance(m, _NORMS) for p in m.parameters(recurse=False)}
        chosen = {name: p.ndim >= 2 and id(p) not in of_norms for name, p in named.items()}
    else:
        chosen = {name: decays(name, p) for name, p in named.items()}
    decaying = [p for name, p in named.items() if chosen[name]]
    others = [p for name, p in named.items() if not chosen[name]]
    groups = ParameterGroup(decaying, weight_decay=weight_decay), ParameterGroup(others, weight_decay=0.0)
    return [group for group in groups if group["params"]]


def _why_not(weight_decay: float, named: dict[str, nn.Parameter]) -> str:
    if not weight_decay >= 0:
        return f"weight_decay is {weight_decay}: it must be 0 or more"
    if not named:
        return "the model has no trainable parameter: there is nothing to put in groups"
    lazy = next((name for name, p in named.items() if isinstance(p, UninitializedParameter)), None)
    if lazy is not None:
        return f"the parameter {lazy} has no shape yet: send a batch through the model before making groups"
    return ""
