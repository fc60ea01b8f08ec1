"""The constructors' parameters, and the modules' names, are those of the installed torch.

``python -m tests.follow.test_signatures`` writes the names anew.
"""

import importlib
import inspect
import pkgutil
import typing
from pathlib import Path

import pytest
import torch

from simpletorch.follow.libraries.pytorch import signatures
from simpletorch.follow.libraries.pytorch.signatures import PARAMETERS, names_of

MODULES = [
    *("torch", "torch.nn", "torch.nn.functional", "torch.nn.init", "torch.nn.utils", "torch.nn.utils.rnn"),
    *("torch.optim", "torch.optim.lr_scheduler", "torch.utils.data", "torch.cuda", "torch.cuda.amp", "torch.amp"),
    *("torch.linalg", "torch.fft", "torch.autograd", "torch.distributions", "torch.special"),
]


def _parameters(constructor: typing.Any) -> tuple[str, ...]:
    """The names that arguments may be given to; of several signatures, those of the first."""
    overloads = typing.get_overloads(constructor)
    own = list(inspect.signature(overloads[0] if overloads else constructor).parameters.values())[1:]
    return tuple(p.name for p in own if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD))


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters_are_those_of_torch(name: str) -> None:
    assert _parameters(getattr(torch.nn, name).__init__) == PARAMETERS[name]


def _public(name: str) -> list[str]:
    module = importlib.import_module(name)
    submodules = {each.name for each in pkgutil.iter_modules(getattr(module, "__path__", ()))}
    return sorted(each for each in {*dir(module), *submodules} if not each.startswith("_"))


@pytest.mark.parametrize("name", MODULES)
def test_names_are_those_of_torch(name: str) -> None:
    assert sorted(names_of(name)) == _public(name)


if __name__ == "__main__":
    lines = [f"{name}: {' '.join(_public(name))}\n" for name in MODULES]
    Path(signatures.__file__).with_name("names.txt").write_text("".join(lines), encoding="utf-8")
