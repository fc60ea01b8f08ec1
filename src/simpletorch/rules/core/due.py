"""Places where a tensor is due, and the sentence about another value that stands there."""

from __future__ import annotations

from typing import Final

from simpletorch.rules.core.registry import ModuleRule, Rule, forward_rule

__all__ = ["places", "places_of_layer", "refusal"]


def places(rule: Rule) -> tuple[int, ...]:
    """The places of the arguments that an operation takes as tensors alone."""
    return tuple(i for i, name in enumerate(rule.signature.parameters) if name in rule.tensor_parameters)


def places_of_layer(rule: ModuleRule) -> tuple[int, ...]:
    """The same of a layer's ``forward``."""
    found = _of_layers.get(rule.names)
    if found is None:  # the first parameter is the layer itself
        forward = forward_rule(type(rule))  # type: ignore[arg-type]  # mypy asks for a hashable class
        found = _of_layers[rule.names] = tuple(i - 1 for i in places(forward))
    return found


_of_layers: Final[dict[tuple[str, ...], tuple[int, ...]]] = {}


def refusal(described: str) -> str:
    """Why an operation or a layer refuses a value that is no tensor: the sentence behind its name."""
    return f"takes a tensor, but it is given {described}"
