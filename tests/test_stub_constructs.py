"""A construct that our stubs admit exists at run time. They are read from the stubs, so a new one is tested."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
import torch

import simpletorch
from simpletorch import Float32, Float64, Int32, Parameter, Tensor, nn
from tests.oracle.outcomes import differences, outcome

SOURCE = Path(simpletorch.__file__).parent
STUB = ast.parse((SOURCE / "_tensor.pyi").read_text(encoding="utf-8"))
CLASSES = {statement.name: statement for statement in STUB.body if isinstance(statement, ast.ClassDef)}
FACTORIES = [each for each in CLASSES["_Factories"].body if isinstance(each, ast.FunctionDef)]
FACES = [name for name in CLASSES if hasattr(simpletorch, name)]

ARGUMENTS: dict[str, Any] = {
    "size": (3, 5), "fill_value": 7.0, "low": 0, "high": 7, "start": 0.0, "end": 7.0, "step": 2.0, "steps": 3,
    "base": 3.0, "n": 3, "m": 5, "data": [2.0, 3.0], "array": np.ones(6, np.float32), "input": torch.zeros(3, 5),
    "row": 3, "col": 5, "offset": 1, "num_classes": 7, "dtype": Float64, "device": "cpu", "requires_grad": False,
    "pin_memory": False, "memory_format": torch.preserve_format, "generator": torch.Generator(), "shape": [2, 3],
    "copy": True,
}  # fmt: skip
"""For each parameter of a factory. A new parameter needs one, or its test fails."""
SPECIAL = {
    ("one_hot", "input"): torch.tensor([1, 2]),
    ("empty", "memory_format"): torch.contiguous_format,
    ("tril_indices", "dtype"): Int32,  # torch has none of floats
}


OF_INTS = ("randint", "tril_indices", "one_hot")


def sample(factory: ast.FunctionDef, parameter: str) -> Any:
    return SPECIAL.get((factory.name, parameter), ARGUMENTS[parameter])


def calls(factory: ast.FunctionDef) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """Calls that the stub's signature admits: with what is required, and with one more argument each."""
    given = factory.args
    positional = [each.arg for each in (*given.posonlyargs, *given.args) if each.arg != "cls"]
    required = positional[: len(positional) - len(given.defaults)]
    args = [sample(factory, name) for name in required]
    if given.vararg is not None:
        yield [*sample(factory, given.vararg.arg)], {}
        args = [sample(factory, given.vararg.arg)]
    yield args, {}
    optional = [*positional[len(required) :], *(each.arg for each in given.kwonlyargs)]
    needed = {
        each.arg: sample(factory, each.arg)
        for each, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
        if default is None
    }
    for name in optional:
        yield args, {**needed, name: sample(factory, name)}


@pytest.mark.parametrize("face", ["Tensor", "CPUTensor", "Parameter"])
@pytest.mark.parametrize("factory", FACTORIES, ids=[f"{each.name}-{each.lineno}" for each in FACTORIES])
def test_a_factory_takes_what_the_stub_says(face: str, factory: ast.FunctionDef):
    cls = getattr(simpletorch, face)
    for args, kwargs in calls(factory):
        is_of_floats = factory.name not in OF_INTS or ("dtype" in kwargs and factory.name != "tril_indices")
        if face == "Parameter" and not is_of_floats:
            continue  # torch has parameters of floats alone
        made = getattr(cls, factory.name)(*args, **kwargs)
        assert isinstance(made, cls), (args, kwargs)


@pytest.mark.parametrize("factory", FACTORIES, ids=[f"{each.name}-{each.lineno}" for each in FACTORIES])
def test_a_factory_of_a_dtype_takes_what_the_stub_says(factory: ast.FunctionDef):
    dtype = sample(factory, "dtype")
    for args, kwargs in calls(factory):
        kwargs.pop("dtype", None)
        assert getattr(Tensor[dtype], factory.name)(*args, **kwargs).dtype == dtype.dtype


def methods() -> list[str]:
    """The public methods of `torch.Tensor`, of which the stub's classes are, as torch's own stub has them."""
    torch_s = ast.parse((Path(torch.__file__).parent / "_C" / "__init__.pyi").read_text(encoding="utf-8"))
    (base,) = (each for each in torch_s.body if isinstance(each, ast.ClassDef) and each.name == "TensorBase")
    named = {each.name for each in base.body if isinstance(each, ast.FunctionDef)}
    named |= {name for name, value in vars(torch.Tensor).items() if callable(value)}
    factories = {each.name for each in FACTORIES}
    return sorted(name for name in named - factories if not name.startswith("_") and hasattr(torch.Tensor, name))


@pytest.mark.parametrize("face", FACES)
def test_every_method_is_a_function(face: str):
    cls = getattr(simpletorch, face)
    missing = [name for name in methods() if callable(getattr(torch.Tensor, name)) and not hasattr(cls, name)]
    assert missing == []


# they wait, change the process, or give an object that is another one each time
NOT_CALLED = {
    "share_memory_",
    "backward",
    "data_ptr",
    "to_dlpack",
    "storage",
    "untyped_storage",
    "record_stream",
    "cuda",
    "xpu",
    "ipu",
}


@pytest.mark.parametrize("name", [name for name in methods() if name not in NOT_CALLED])
def test_a_method_is_called_as_a_function(name: str):
    method = getattr(torch.Tensor, name)
    if not callable(method):
        return
    ours = outcome(partial(getattr(Tensor, name), torch.eye(3)))
    theirs = outcome(partial(method, torch.eye(3)))
    assert differences(repr(ours), repr(theirs)) == []


@pytest.mark.parametrize("face", FACES)
def test_an_annotation_has_sizes_a_rest_and_parameters(face: str):
    cls = getattr(simpletorch, face)
    I, O = TypeVar("I"), TypeVar("O")  # noqa: E741
    alias = cls[Float32, I, O]
    x = Parameter(torch.zeros(3, 5)) if face == "Parameter" else torch.zeros(3, 5)
    is_here = isinstance(x, cls)
    assert isinstance(x, cls[Float32, "...", 5]) == is_here
    assert isinstance(x, cls[Float32, ..., 5]) == is_here
    assert isinstance(x, alias[3, 5]) == is_here
    assert not isinstance(x, alias[3, 7])
    assert not isinstance(x, cls[Float32, "...", 7])


PLAIN = ast.parse((SOURCE / "nn" / "_plain.pyi").read_text(encoding="utf-8"))
GENERIC = {
    each.name: parameters
    for each in PLAIN.body
    if isinstance(each, ast.ClassDef) and not each.name.startswith("_")
    if (parameters := [p for base in each.bases if isinstance(base, ast.Subscript) for p in ast.walk(base.slice)])
}


@pytest.mark.parametrize("name", [name for name in GENERIC if hasattr(nn, name)])
def test_a_layer_takes_sizes(name: str):
    assert getattr(nn, name)[3, 5] is not None
