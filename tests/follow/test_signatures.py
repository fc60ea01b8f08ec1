"""The constructors' parameters are those of the installed torch."""

import inspect
import typing

import pytest
import torch

from simpletorch.follow.libraries.pytorch.signatures import PARAMETERS


def _parameters(constructor: typing.Any) -> tuple[str, ...]:
    """The names that arguments may be given to; of several signatures, those of the first."""
    overloads = typing.get_overloads(constructor)
    own = list(inspect.signature(overloads[0] if overloads else constructor).parameters.values())[1:]
    return tuple(p.name for p in own if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD))


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters_are_those_of_torch(name: str) -> None:
    assert _parameters(getattr(torch.nn, name).__init__) == PARAMETERS[name]
