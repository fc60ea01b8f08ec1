"""Models: functions with a library's own signature, bound as Python binds the library's."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from simpletorch.follow import follow, libraries
from simpletorch.follow.libraries import CLASSES, METHODS, NATIVES, Model, load
from simpletorch.follow.sources.comparing import signatures_differ
from simpletorch.follow.sources.program import Program
from simpletorch.follow.values import Dict, List, Native, Property, Set, Tensor

for _library in libraries._FILES:
    load(f"{_library}.")


KINDS: dict[type | str, str] = {"array": "numpy.ndarray", Tensor: "torch.Tensor", List: "builtins.list",
                                Dict: "builtins.dict", Set: "builtins.set"}  # fmt: skip
"""The classes that methods belong to."""


def works() -> Iterator[tuple[str, Any]]:
    """What computes each function and method that libraries have."""
    program = Program(Path("none.py"))
    yield from ((name, native.work) for name, native in NATIVES.items())
    for kind, table in METHODS.items():
        owner = KINDS.get(kind) or f"builtins.{kind.__name__}"
        yield from ((f"{owner}.{name}", work) for name, work in table.items())
    for name in CLASSES:
        for member, value in program.library_class(name).cells.items():
            native = value.getter if isinstance(value, Property) else value
            if isinstance(native, Native):
                yield f"{name}.{member}", native.work


MODELS = {name: work for name, work in works() if isinstance(work, Model)}


def test_what_is_no_model_takes_arguments_as_they_are():
    """A model that is put into a table by itself would get the arguments as two values."""
    plain = {name: work for name, work in works() if isinstance(work, FunctionType)}
    odd = {name for name, work in plain.items() if work.__code__.co_varnames[:3] != ("run", "args", "kwargs")}
    assert odd == set()
    assert len(MODELS) > 450


def real(name: str) -> inspect.Signature | None:
    """The library's own signature, if the library is here and has one that Python can read."""
    parts = name.split(".")
    for end in range(len(parts) - 1, 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:end]))
        except ImportError:
            continue
        try:
            for part in parts[end:]:
                found = getattr(found, part)
            return inspect.signature(found)
        except (AttributeError, TypeError, ValueError):
            return None
    return None


REAL = {name: signature for name in MODELS if (signature := real(name)) is not None}


def test_most_models_can_be_compared():
    assert len(REAL) > 350


@pytest.mark.parametrize("name", sorted(REAL))
def test_a_model_takes_what_the_library_takes(name):
    """All that it takes: a call which the model refuses is said to fail."""
    assert signatures_differ(MODELS[name].signature, REAL[name]) == []


FAILING = """\
import copy
import numpy as np
from PIL import Image
x, image = np.ones((3, 5)), Image.new('RGB', (3, 5))
{call}
"""


@pytest.mark.parametrize(
    ("call", "message", "hint"),
    [
        ("np.split(x, 3, axes=0)", "numpy.split has no argument axes (ary, indices_or_sections, axis)", "axis"),
        ("np.insert(x, 0)", "numpy.insert is called without values", None),
        ("np.argwhere(x, 1)", "numpy.argwhere takes 1 argument (a), but it is given 2", None),
        ("copy.copy()", "copy.copy is called without x", None),
        ("len(x, x)", "len takes 1 argument (obj), but it is given 2", None),
        ("image.crop((0, 0, 1, 1), 5)", "Image.crop takes 1 argument (box), but it is given 2", None),
    ],
)
def test_a_call_that_does_not_fit_is_a_finding(tmp_path, call, message, hint):
    """And Python's TypeError, when it runs."""
    program = FAILING.format(call=call)
    path = tmp_path / "program.py"
    path.write_text(program)
    (found,) = follow(path).errors
    assert (found.line, found.message) == (5, message)
    assert found.hint == (f"did you mean {hint}?" if hint else None)
    with pytest.raises(TypeError):
        exec(program, {})


OF_TORCH = """\
import torch
from torch import nn
from torch.utils.data import ConcatDataset, DataLoader, RandomSampler, Subset, TensorDataset, random_split
data, net = TensorDataset(torch.zeros(7, 3)), nn.Sequential(nn.Linear(3, 5))
{call}
"""


@pytest.mark.parametrize(
    ("call", "message", "hint"),
    [
        ("DataLoader(data, batchsize=3)", "DataLoader has no argument batchsize", "batch_size"),
        ("DataLoader()", "DataLoader is called without dataset", None),
        ("class Own(DataLoader):\n    pass\nOwn(data, shufle=True)", "DataLoader has no argument shufle", "shuffle"),
        ("Subset(data)", "Subset is called without indices", None),
        ("random_split(data)", "torch.utils.data.random_split is called without lengths", None),
        (
            "RandomSampler(data, num_sample=3)",
            "RandomSampler has no argument num_sample (data_source, replacement, num_samples, generator)",
            "num_samples",
        ),
        (
            "net.register_buffer('a', None, persist=False)",
            "Module.register_buffer has no argument persist (name, tensor, persistent)",
            "persistent",
        ),
        ("net.eval(True)", "Module.eval takes no argument, but it is given 1", None),
        ("net.train(mode=True, recurse=False)", "Module.train has no argument recurse (mode)", None),
        ("net.append()", "Sequential.append is called without module", None),
        ("net.apply()", "Module.apply is called without fn", None),
    ],
)
def test_a_call_of_torch_that_does_not_fit_is_a_finding(tmp_path, call, message, hint):
    program = OF_TORCH.format(call=call)
    path = tmp_path / "program.py"
    path.write_text(program)
    (found,) = follow(path).errors
    assert found.message == message
    assert found.hint == (f"did you mean {hint}?" if hint else None)
    with pytest.raises(TypeError):
        exec(program, {"__name__": "own"})


@pytest.mark.parametrize(
    "calls",
    [
        "try:\n    np.insert(x, 0)\nexcept TypeError:\n    pass",  # somebody catches it
        "np.savetxt('x', x, later=True)",  # a part of the signature: it may be there
        "rows = [x]\nnp.argwhere(*rows)",
        "list(map(np.argwhere, [x]))",
        "image.filter(3).rotate(5)",
        "np.split(ary=x, indices_or_sections=3, axis=0)",
        "import os\nos.environ.get('A', default='3')",
        "import os\nos.environ.pop('A', default='3')",
        "from collections import OrderedDict\nOrderedDict(a=3).pop(key='a', default=5)",
        "from collections import UserDict\nUserDict(a=3).get('a', default=5)",
        "from collections import ChainMap\nChainMap({}).get('a', default=3)",
    ],
)
def test_a_call_that_may_fit_is_none(tmp_path, calls):
    path = tmp_path / "program.py"
    path.write_text(FAILING.format(call=calls))
    found = follow(path)
    assert (found.errors, found.warnings, found.faults) == ((), (), ())


def broken(run: Any, a: Any, axis: Any = None) -> Any:
    return [][axis or 0]


def test_a_mistake_inside_a_model_is_said_and_following_goes_on(tmp_path, monkeypatch):
    """It isn't what the program does wrong, and the result isn't unknown for no reason."""
    monkeypatch.setitem(NATIVES, "numpy.argwhere", Native("numpy.argwhere", Model("numpy.argwhere", broken, False)))
    monkeypatch.delenv("SIMPLETORCH_DEBUG", raising=False)
    path = tmp_path / "program.py"
    path.write_text(FAILING.format(call="np.argwhere(a=x)\nimport torch\ntorch.zeros(3) @ torch.zeros(5)"))
    found = follow(path)
    assert [e.line for e in found.errors] == [7]
    assert found.faults == (f"{path}:5: IndexError: list index out of range",)
    monkeypatch.setenv("SIMPLETORCH_DEBUG", "1")
    with pytest.raises(IndexError):
        follow(path)


def test_a_function_under_wraps_is_the_wrapper(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(
        "import functools\nimport torch\ndef twice(f):\n    @functools.wraps(f)\n    def wrapper(n):\n"
        "        return f(2 * n)\n    return wrapper\nx = twice(torch.zeros)(3)\n"
    )
    assert [str(v) for names in follow(path).claims.values() for v in names.get("x", ())] == ["Float32[6]"]


def test_a_method_without_self_names_all_that_it_takes(tmp_path):
    path = tmp_path / "program.py"
    path.write_text("class A:\n    def g(a, b):\n        return a\na = A()\na.g(1, 2)\n")
    (found,) = follow(path).errors
    assert found.message == "A.g takes 2 arguments (a, b), but it is given 2 and the object"
    assert found.hint == "def g(self, a, b)"
