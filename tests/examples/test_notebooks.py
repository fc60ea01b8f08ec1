"""The notebooks of the examples run from the first cell to the last; cells that shall fail do, before they run."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import simpletorch

FOLDER = Path(simpletorch.__file__).parents[2] / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebooks_run(path, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    failing = [c for c in notebook.cells if "raises-exception" in c.metadata.get("tags", ())]
    assert failing
    for cell in failing:
        (error,) = cell.outputs
        assert error.ename == "CellStopped"
    others = [o for c in notebook.cells if c.cell_type == "code" and c not in failing for o in c.outputs]
    assert not [o for o in others if "simpletorch: error" in str(o)]
    assert list(tmp_path.iterdir()) == []


def test_they_are_kept_without_outputs():
    assert NOTEBOOKS
    for path in NOTEBOOKS:
        cells = nbformat.read(path, as_version=4).cells
        assert [c.id for c in cells if c.get("outputs") or c.get("execution_count")] == [], path
