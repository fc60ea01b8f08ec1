"""What mypy has to read besides torch, when a program imports simpletorch."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import simpletorch

SMALL = {"numpy", "torch", "jaxtyping", "beartype", "typing_extensions", "executing", "safetensors", "tqdm", "filelock"}
UNTYPED = {"pandas", "pyarrow", "scipy", "sklearn", "datasets"}  # mypy doesn't look into them
NOT_IMPORTED = {"cli", "mypy", "_pytest_plugin.py"}  # by ``import simpletorch``, as mypy follows it
READ_WITH_TORCH = {"PIL", "matplotlib"}


def imported(file):
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def test_no_import_that_leads_mypy_through_half_of_what_is_installed():
    """Importing torchmetrics, also in a function, makes mypy read transformers where it is installed: five times
    as long."""
    root = Path(simpletorch.__file__).parent
    files = [f for f in root.rglob("*.py") if f.relative_to(root).parts[0] not in NOT_IMPORTED]
    named = {name: file for file in files for name in imported(file)}
    assert "torch" in named
    too_much = set(named) - SMALL - UNTYPED - READ_WITH_TORCH - sys.stdlib_module_names - {"simpletorch"}
    assert not too_much, {name: str(named[name]) for name in too_much}
