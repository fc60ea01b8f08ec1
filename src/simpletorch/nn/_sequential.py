"""torch's `Sequential`, built in one expression or layer by layer."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Self, overload

import torch

from simpletorch.nn._module import Module


class Sequential(Module, torch.nn.Sequential):
    """Layers called one after the other: ``Sequential(Linear(784, 128), ReLU(), Linear(128, 10))``.

    ``Sequential([Linear(784, 128), ReLU()])`` takes them as a list. Everything of `torch.nn.Sequential`
    (constructor forms, slicing, ``append``, state_dict keys, repr), plus `add_layer`. An error inside names the layer
    at fault.

    Args:
        args: modules in the order of their calls, or one list of them, or one ``OrderedDict`` of modules by name.

    Examples:
        >>> import torch
        >>> from simpletorch import nn
        >>> model = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))
        >>> model(torch.zeros(7, 784)).shape
        torch.Size([7, 10])

    Source: https://docs.pytorch.org/docs/stable/generated/torch.nn.Sequential.html
    """

    @overload
    def __init__(self, *args: torch.nn.Module) -> None: ...
    @overload
    def __init__(self, arg: OrderedDict[str, torch.nn.Module] | list[torch.nn.Module], /) -> None: ...
    def __init__(self, *args: Any) -> None:
        if len(args) == 1 and isinstance(args[0], list):
            args = tuple(args[0])
        super().__init__(*args)

    # torch's own, written again because only a forward that a class defines itself gets a border
    def forward(self, input: Any) -> Any:
        """Call the layers in order; the shapes are those of the first layer's input and the last layer's output.

        Returns:
            The last layer's output.
        """
        for layer in self:
            input = layer(input)
        return input

    def add_layer(self, layer: torch.nn.Module, name: str | None = None) -> Self:
        """Put ``layer`` at the end, under ``name`` or its position, and return ``self`` so that calls can be chained.

        Args:
            layer: the module to append.
            name: its name in ``state_dict`` and as an attribute; None takes its position (``"3"``).

        Returns:
            The same module.

        Raises:
            TypeError: ``layer`` is not a module.
            KeyError: ``name`` is taken, contains a dot or is empty.
        """
        if not isinstance(layer, torch.nn.Module):
            raise TypeError(
                f"add_layer takes a module such as nn.Linear(784, 128), not {type(layer).__name__}: pass an instance"
            )
        name = str(len(self)) if name is None else name
        if name in self._modules:
            raise KeyError(f"this Sequential has a layer named {name!r} already: choose another name")
        self.add_module(name, layer)
        return self
