"""`import simpletorch`: lazy, complete, and torch's own objects."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import torch

import simpletorch

TREE = ast.parse(Path(simpletorch.__file__).read_text())


def static_names() -> dict[str, str]:
    """What the TYPE_CHECKING block imports: name to module."""
    (block,) = [n for n in TREE.body if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING"]
    found = {}
    for statement in block.body:
        assert isinstance(statement, ast.ImportFrom)
        for alias in statement.names:
            assert alias.asname == alias.name
            found[alias.name] = statement.module
    return found


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize(
    "module", ["simpletorch", "simpletorch.dtypes", "simpletorch.dims", "simpletorch.shapes", "simpletorch.mypy"]
)
def test_importing_what_the_checker_needs_loads_no_torch(module: str):
    try:
        import_module(module)
    except ModuleNotFoundError:
        pytest.skip(f"{module} is not there yet")
    assert run(f"import sys, {module}; print('torch' in sys.modules or 'numpy' in sys.modules)") == "False"


def test_the_lazy_names_are_those_that_checkers_see():
    runtime = {**simpletorch._HOME, **dict.fromkeys(simpletorch._SUBMODULES, "simpletorch")}
    assert static_names() == runtime


@pytest.mark.parametrize("name", sorted(simpletorch._HOME))
def test_every_name_resolves_to_the_object_of_its_home(name: str):
    assert getattr(simpletorch, name) is getattr(import_module(simpletorch._HOME[name]), name)


def test_functions_are_torchs_own():
    assert simpletorch.zeros is torch.zeros
    assert simpletorch.cross_entropy is torch.nn.functional.cross_entropy
    assert simpletorch.eigh is torch.linalg.eigh


@pytest.mark.slow
def test_the_function_tensor_survives_the_import_of_the_module_tensor():
    for first, second in (
        ("x = st.tensor", "import simpletorch.tensor"),
        ("import simpletorch.tensor", "x = st.tensor"),
    ):
        code = f"import simpletorch as st, torch; {first}; {second}; print(x is st.tensor is torch.tensor)"
        assert run(code) == "True"


def test_an_unknown_name_is_an_ordinary_attribute_error():
    with pytest.raises(AttributeError, match=r"^module 'simpletorch' has no attribute 'lineer'$"):
        _ = simpletorch.lineer
    with pytest.raises(ImportError):
        exec("from simpletorch import lineer")


def test_dir_lists_everything():
    assert set(simpletorch.__all__) <= set(dir(simpletorch))
