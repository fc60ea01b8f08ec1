"""Activations by the names that transformers' configurations give them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from torch import nn

from simpletorch.errors import TorchError, as_also

__all__ = ["activation"]

_TANH: Final = partial(nn.GELU, approximate="tanh")
_BY_NAME: Final[dict[str, Callable[[], nn.Module]]] = {
    "gelu": nn.GELU,
    "gelu_new": _TANH,
    "gelu_pytorch_tanh": _TANH,
    "leaky_relu": nn.LeakyReLU,
    "mish": nn.Mish,
    "relu": nn.ReLU,
    "sigmoid": nn.Sigmoid,
    "silu": nn.SiLU,
    "swish": nn.SiLU,
    "tanh": nn.Tanh,
}


def activation(name: str) -> nn.Module:
    """The activation that a configuration calls ``name``.

    Raises:
        TorchError: (a `ValueError` too) there is none of that name.
    """
    if name not in _BY_NAME:
        reason = f"there is no activation {name!r}; there are {', '.join(_BY_NAME)}"
        raise as_also(TorchError, ValueError)(reason, operation="activation", expected=tuple(_BY_NAME), got=name)
    return _BY_NAME[name]()
