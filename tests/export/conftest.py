"""What all tests of exports need."""

import pytest
import torch


@pytest.fixture(autouse=True)
def _nothing_compiled_before():
    """What was compiled before decides which sizes torch takes to be fixed."""
    torch.compiler.reset()
