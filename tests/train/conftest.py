"""What all tests of training need."""

import sys

import pytest


@pytest.fixture(autouse=True)
def _no_notebook(monkeypatch):
    """Progress is shown as in a script: tests of notebooks, in the same process, load what only a kernel has."""
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
