"""Where the rules say that a parameter is a tensor, torch takes nothing else; layers are called as torch's are."""

import contextlib
import inspect
import itertools
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import torch

from simpletorch.follow.mistakes.no_tensors import Places
from simpletorch.rules import MODULES, RULES
from simpletorch.rules.core.registry import forward_rule
from tests.oracle.databases import op_db
from tests.oracle.modules import torch_class

OTHERS = {
    "an array": lambda t: np.ones(t.shape, np.float32),
    "a number": lambda t: 3,
    "an object": lambda t: object(),
    "a module": lambda t: torch.nn.ReLU(),
    "a tuple": lambda t: (t, t),
}
REFUSES = (TypeError, AttributeError, ValueError, IndexError, RuntimeError)


def names() -> list[str]:
    """The functions and methods that torch has inputs for."""
    known = {op.name for op in op_db()}
    return [n for n in RULES if Places(n).is_torchs and n.removeprefix("torch.").removeprefix("Tensor.") in known]


def called(name: str) -> Any:
    module, _, short = name.rpartition(".")
    return getattr(torch.Tensor if module == "Tensor" else import_module(module), short)


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
def test_torch_takes_tensors_alone_where_the_rules_say_so():
    taken, tried = [], 0
    for name in names():
        places, function = Places(name), called(name)
        for op in (op for op in op_db() if op.name == name.removeprefix("torch.").removeprefix("Tensor.")):
            dtype = torch.float32 if torch.float32 in op.dtypes else torch.int64
            if dtype not in op.dtypes:
                continue
            for sample in list(op.sample_inputs("cpu", dtype))[:2]:
                args = (sample.input, *sample.args)
                for i in (*places.tensors, *places.operands):
                    if i >= len(args) or not isinstance(args[i], torch.Tensor) or (i == 0 and places.is_method):
                        continue
                    for kind, make in OTHERS.items():
                        if kind == "a number" and places.takes_numbers:
                            continue
                        if i in places.operands and (kind == "a number" or args[i].ndim == 0):
                            continue
                        given = [a.clone() if isinstance(a, torch.Tensor) else a for a in args]
                        given[i] = make(args[i])
                        tried += 1
                        try:
                            function(*given, **sample.kwargs)
                        except REFUSES:
                            continue
                        taken.append((name, i, kind))
    assert taken == []
    assert tried > 3_000


def test_layers_are_called_as_torchs_are():
    for name, cls in MODULES.items():
        own = list(inspect.signature(torch_class(name).forward).parameters.values())
        ours = list(forward_rule(cls).signature.parameters.values())
        assert [(p.name, p.kind, p.default is p.empty) for p in own[1:]] == [
            (p.name, p.kind, p.default is p.empty) for p in ours[1:]
        ], name


SQUARE = torch.ones(2, 2)


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore")
def test_no_other_function_takes_a_number_for_its_tensor_in_any_of_its_signatures():
    """Calls with a number where a tensor is due, and tensors or numbers around it: torch still has old signatures."""
    taken = set()
    for name in (n for n in RULES if Places(n).is_torchs and hasattr(RULES[n], "signature")):
        places = Places(name)
        try:
            function = called(name)
        except (AttributeError, ImportError):
            continue
        for count in range(1, min(len(RULES[name].signature.parameters), 4) + 2):
            for given in itertools.product((0.5, SQUARE), repeat=count):
                if places.is_method and given[0] is not SQUARE:
                    continue
                if any(i < count and given[i] is not SQUARE for i in places.tensors[places.is_method :]):
                    batched = [g[None] if g is SQUARE and "bmm" in name else g for g in given]
                    with contextlib.suppress(Exception):
                        function(*(g.clone() if isinstance(g, torch.Tensor) else g for g in batched))
                        taken.add(name)
    assert taken == {n for n in taken if Places(n).takes_numbers}
    assert "torch.addmm" in taken
