"""`import simpletorch`: lazy, complete, and torch's own objects behind its functions."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import torch

import simpletorch
import simpletorch as st
from simpletorch._stub import homes

HOMES = homes("simpletorch")


def torch_s(value: object) -> object:
    """What a function of ours calls; any other value itself."""
    return getattr(value, "__wrapped__", value) if getattr(value, "__module__", None) == "simpletorch" else value


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize(
    "module",
    [
        "simpletorch",
        "simpletorch.dtypes",
        "simpletorch.dims",
        "simpletorch.shapes",
        "simpletorch.mypy",
        "simpletorch.interop",
        "simpletorch.language",
    ],
)
def test_importing_what_the_checker_needs_loads_no_torch(module: str):
    assert run(f"import sys, {module}; print('torch' in sys.modules or 'numpy' in sys.modules)") == "False"


def test_looking_around_loads_no_torch():
    looks = "dir(st), st.__all__, hasattr(st, 'lineer'), st.Float32, st.B"
    assert run(f"import sys, simpletorch as st; {looks}; print('torch' in sys.modules)") == "False"


@pytest.mark.parametrize("package", ["simpletorch", "simpletorch.nn", "simpletorch.interop", "simpletorch.language"])
def test_a_stub_exports_each_name_once(package: str):
    stub = Path(import_module(package).__file__).with_suffix(".pyi")
    names = [
        name
        for statement in ast.parse(stub.read_text()).body
        if isinstance(statement, ast.ImportFrom) and not statement.module.endswith("._plain")
        for name in statement.names
        if name.name != "*"
    ]
    assert [name.name for name in names if name.asname != name.name] == []  # without "as" a checker would hide it
    assert sorted(name.name for name in names) == sorted(homes(package))


@pytest.mark.parametrize("package", ["simpletorch", "simpletorch.nn"])
def test_what_other_checkers_see_once_more_is_there(package: str):
    """What a stub imports again, from `_plain`, is also what the package has at run time."""
    stub = Path(import_module(package).__file__).with_suffix(".pyi")
    (again,) = [s for s in ast.parse(stub.read_text()).body if getattr(s, "module", None) == f"{package}._plain"]
    assert [name.name for name in again.names if not hasattr(import_module(package), name.name)] == []
    assert [name.name for name in again.names if name.asname != name.name] == []


@pytest.mark.parametrize("name", [name for name, home in HOMES.items() if home != "simpletorch"])
def test_every_name_resolves_to_the_object_of_its_home(name: str):
    ours, theirs = getattr(simpletorch, name), getattr(import_module(HOMES[name]), name)
    assert torch_s(ours) is torch_s(theirs)


@pytest.mark.parametrize("name", [name for name, home in HOMES.items() if home == "simpletorch"])
def test_every_submodule_resolves(name: str):
    assert getattr(simpletorch, name) is sys.modules[f"simpletorch.{name}"]


def test_functions_call_torch_s_own():
    assert torch_s(simpletorch.zeros) is torch.zeros
    assert torch_s(simpletorch.cross_entropy) is torch.nn.functional.cross_entropy
    assert torch_s(simpletorch.eigh) is torch.linalg.eigh
    assert st.Tensor.zeros is st.zeros


@pytest.mark.slow
def test_the_function_tensor_survives_the_import_of_the_module_tensor():
    orders = (
        "x = st.tensor; import simpletorch.tensor",
        "import simpletorch.tensor; x = st.tensor",
        "x = st.Tensor; from simpletorch import tensor as x",
    )
    code = f"""
import os, torch
for order in {orders}:
    if not os.fork():  # torch is loaded once for all orders
        scope = {{}}
        exec(f"import simpletorch as st; {{order}}", scope)
        print(scope["x"] is scope["st"].tensor, scope["x"].__wrapped__ is torch.tensor, flush=True)
        os._exit(0)
    os.wait()
"""
    assert run(code).split() == ["True"] * 6


def test_an_unknown_name_is_an_ordinary_attribute_error():
    with pytest.raises(AttributeError, match=r"^module 'simpletorch' has no attribute 'lineer'$") as caught:
        _ = simpletorch.lineer
    assert (caught.value.name, caught.value.obj) == ("lineer", simpletorch)  # from these Python suggests 'linear'
    with pytest.raises(ImportError):
        exec("from simpletorch import lineer")


def test_dir_lists_everything():
    assert {*simpletorch.__all__, "__doc__"} <= set(dir(simpletorch))
    assert set(simpletorch.__all__) == {"__version__", *HOMES}


def test_a_star_import_brings_everything():
    names: dict[str, object] = {}
    exec("from simpletorch import *", names)
    assert names.keys() - {"__builtins__"} == set(simpletorch.__all__)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (st.save, torch.save),
        (st.load, torch.load),
        (st.autograd, torch.autograd),
        (st.utils, torch.utils),
        (st.float32, torch.float32),
        (st.TensorShape, torch.Size),
        (st.vision.transforms, st.transforms),
        (st.distributed.init_process_group, torch.distributed.init_process_group),
        (st.distributed.DistributedDataParallel, torch.nn.parallel.DistributedDataParallel),
    ],
)
def test_torch_s_names_are_torch_s(ours: object, theirs: object):
    assert torch_s(ours) is theirs


def test_without_torch_it_is_said_that_there_is_none():
    code = (
        "import sys, importlib.abc\n"
        "class Hidden(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] == 'torch': raise ModuleNotFoundError(name)\n"
        "import importlib.util\n"
        "real = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, package=None: None if name == 'torch' else real(name, package)\n"
        "sys.meta_path.insert(0, Hidden())\n"
        "import simpletorch\n"
        "assert simpletorch.torch_available() is False\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
