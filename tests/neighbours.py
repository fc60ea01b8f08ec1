"""The packages that tests need and a contributor may not have: those of no extra that `dev` sums up."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Final

INSTALLED: Final = frozenset(
    (
        *(
            "accelerate",
            "basedpyright",
            "fastapi",
            "httpx",
            "jax",
            "lightning",
            "ml_dtypes",
            "onnx",
            "onnxruntime",
            "onnxscript",
        ),
        *("pyrefly", "ray", "torchao", "transformers", "ty", "uvicorn", "wandb"),
    )
)
"""Those of the extra `neighbours`, which `make test-all` installs."""
NOT_INSTALLED: Final = frozenset(("aim", "cupy", "executorch", "h5py", "mlflow"))
"""Those that are tested where somebody has installed them."""


def of_file(path: Path) -> list[str]:
    """The packages that a whole file of tests is marked with, in its ``pytestmark``."""
    text = path.read_text(encoding="utf-8")
    if "mark.neighbour(" not in text:
        return []
    for statement in ast.parse(text).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "pytestmark":
            marks = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
            marks = [mark for mark in marks if ast.unparse(mark.func) == "pytest.mark.neighbour"]
            return [ast.literal_eval(package) for mark in marks for package in mark.args]
    return []


def imported(path: Path) -> list[str]:
    """The packages that a program imports of those."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.partition(".")[0])
    return sorted(names & (INSTALLED | NOT_INSTALLED))


def missing(packages: Iterable[str]) -> str:
    """Why what needs these packages is skipped; "" if they are there."""
    gone = [name for name in packages if find_spec(name) is None]
    by = "nothing here" if NOT_INSTALLED.intersection(gone) else "`make test-all`"
    return f"needs {' and '.join(gone)}, which {by} installs" if gone else ""
