"""What mypy keeps of a module in its cache is enough for the plugin: defaults of sizes are not in it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

LIBRARY = """
from typing import Generic

import torch
from simpletorch import Dim, Float32, N, Tensor, nn


class Layer(nn.Module, Generic[N]):
    def __init__(self, bias: bool = True, n: Dim[N] = 7) -> None:
        super().__init__()

    def forward(self, x: Tensor[Float32, N]) -> Tensor[Float32, N]:
        return x
"""
USE = "import torch\nfrom library import Layer\nreveal_type(Layer(n={n})(torch.zeros({n})))\nLayer()(torch.zeros(7))\n"


@pytest.mark.slow
def test_a_constructor_from_the_cache_is_understood(tmp_path):
    cache = Path(__file__).parents[2] / ".mypy_cache/typing"
    (tmp_path / "library.py").write_text(LIBRARY)

    def check(size):
        (tmp_path / "use.py").write_text(USE.format(n=size))
        command = [sys.executable, "-m", "mypy", "use.py", "--cache-dir", str(cache)]
        options = ["--config-file", str(Path(__file__).parents[1] / "typing/mypy.ini")]
        environment = {key: value for key, value in os.environ.items() if key != "SIMPLETORCH_DEBUG"}
        done = subprocess.run(
            [*command, *options], cwd=tmp_path, capture_output=True, text=True, check=False, env=environment
        )
        return done.stdout + done.stderr

    for size in (3, 5):  # the second time, library.py comes from the cache
        said = check(size)
        assert "could not analyse" not in said
        assert f'"Tensor[Float32, {size}]"' in said
        assert "Success" in said
