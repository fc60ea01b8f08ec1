"""Gradient clipping: torch's functions, which also take a whole module."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch.nn.utils import clip_grad_norm_, clip_grad_value_


def clip_grad_norm(
    parameters: torch.nn.Module | torch.Tensor | Iterable[torch.Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    *,
    error_if_nonfinite: bool = False,
) -> torch.Tensor:
    """Scale the gradients of ``parameters`` in place so that their norm, taken together, is at most ``max_norm``.

    Returns the norm before clipping: a 0-d tensor on the gradients' device, 0 when there is no gradient.

    Args:
        parameters: a module, a tensor, or tensors; those without a gradient are skipped.
        max_norm: the largest norm allowed, more than 0.
        norm_type: the p of the p-norm; 2 is the Euclidean norm, ``float("inf")`` the largest absolute value.
        error_if_nonfinite: raise if the norm is NaN or infinite; otherwise the gradients are scaled by it all the same.

    Returns:
        The norm before clipping, a 0-d tensor.

    Raises:
        ValueError: ``max_norm`` is not positive.
        RuntimeError: the norm is NaN or infinite and ``error_if_nonfinite`` is set.

    Examples:
        >>> import torch
        >>> from simpletorch import optim
        >>> weight = torch.ones(4, requires_grad=True)
        >>> (3 * weight).sum().backward()
        >>> optim.clip_grad_norm([weight], max_norm=1.0)
        tensor(6.)
        >>> weight.grad
        tensor([0.5000, 0.5000, 0.5000, 0.5000])

    Source: Pascanu et al. 2013, "On the difficulty of training recurrent neural networks", algorithm 1;
    https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html
    """
    if not max_norm > 0:
        raise ValueError(f"max_norm is {max_norm}: a gradient norm can only be limited to a positive number")
    return clip_grad_norm_(_tensors(parameters), max_norm, norm_type, error_if_nonfinite)


def clip_grad_value(parameters: torch.nn.Module | torch.Tensor | Iterable[torch.Tensor], max_value: float) -> None:
    """Clamp every element of the gradients of ``parameters`` in place to ``[-max_value, max_value]``.

    Args:
        parameters: a module, a tensor, or tensors; those without a gradient are skipped.
        max_value: the largest absolute value allowed, more than 0.

    Raises:
        ValueError: ``max_value`` is not positive.

    Examples:
        >>> import torch
        >>> from simpletorch import nn, optim
        >>> layer = nn.Linear(3, 2)
        >>> (100 * layer(torch.ones(7, 3))).sum().backward()
        >>> optim.clip_grad_value(layer, 0.5)
        >>> layer.bias.grad
        tensor([0.5000, 0.5000])

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_value_.html
    """
    if not max_value > 0:
        raise ValueError(f"max_value is {max_value}: gradients can only be limited to a positive number")
    clip_grad_value_(_tensors(parameters), max_value)


def _tensors(
    parameters: torch.nn.Module | torch.Tensor | Iterable[torch.Tensor],
) -> torch.Tensor | Iterable[torch.Tensor]:
    return parameters.parameters() if isinstance(parameters, torch.nn.Module) else parameters
