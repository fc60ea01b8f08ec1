"""What mypy has to read besides torch, when a program imports simpletorch."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from tests.sources import SOURCE, imported, modules_of

OURS = {"simpletorch", "_simpletorch"}
SMALL = {"numpy", "torch", "jaxtyping", "beartype", "typing_extensions", "executing", "safetensors", "tqdm", "filelock"}
UNTYPED = {"pandas", "pyarrow", "scipy", "sklearn", "datasets"}  # mypy doesn't look into them; stubs/ has their types
STUBS = Path(__file__).parents[2] / "stubs"
NOT_IMPORTED = (
    "simpletorch.cli",
    "simpletorch.language_server",
    "simpletorch.mypy",
    "simpletorch.notebook",
    "simpletorch._pytest_plugin",
    "simpletorch.kernels.shipped._triton",
)  # by ``import simpletorch``, as mypy follows it
READ_WITH_TORCH = {"PIL", "matplotlib"}


def test_no_import_that_leads_mypy_through_half_of_what_is_installed():
    """Importing torchmetrics, also in a function, makes mypy read transformers where it is installed: five times
    as long."""
    modules = {name: tree for name, tree in modules_of(SOURCE).items() if not name.startswith(NOT_IMPORTED)}
    importers = {
        name.partition(".")[0]: importer
        for importer, tree in modules.items()
        for name in imported(tree, for_type_checkers=True)
    }
    assert "torch" in importers
    too_much = importers.keys() - SMALL - UNTYPED - READ_WITH_TORCH - sys.stdlib_module_names - OURS
    assert not too_much, {name: importers[name] for name in too_much}


def test_there_are_stubs_for_what_ships_no_types_and_for_nothing_else():
    assert {folder.name for folder in STUBS.iterdir() if folder.is_dir()} == UNTYPED


@pytest.mark.parametrize("stub", sorted(STUBS.rglob("*.pyi")), ids=lambda s: s.relative_to(STUBS).as_posix())
def test_what_the_stubs_say_is_there(stub):
    name = ".".join(stub.relative_to(STUBS).with_suffix("").parts).removesuffix(".__init__")
    module = pytest.importorskip(name)
    for node in ast.parse(stub.read_text()).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
            found = getattr(module, node.name)
            members = [m.name for m in node.body if isinstance(m, ast.FunctionDef)] if isinstance(found, type) else []
            assert not [m for m in members if not hasattr(found, m)]
