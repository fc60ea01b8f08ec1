"""What mypy keeps of a module in its cache is enough for the plugin, and a check says the same with and without it."""

import os
import subprocess
import sys

import pytest

from tests import warm

LIBRARY = """
from typing import Generic

import torch
from simpletorch import Dim, Float32, N, Tensor, nn

WIDTH = 13


class Layer(nn.Module, Generic[N]):
    def __init__(self, bias: bool = True, n: Dim[N] = {default}) -> None:
        super().__init__()

    def forward(self, x: Tensor[Float32, N]) -> Tensor[Float32, N]:
        return x


class Derived(Layer[N]): ...


class Wide(nn.Module, Generic[N]):
    def __init__(self, n: Dim[N] = WIDTH) -> None:
        super().__init__()

    def forward(self, x: Tensor[Float32, N]) -> Tensor[Float32, N]:
        return x


def zeros(n: Dim[N] = 11 + 2 * 4) -> Tensor[Float32, N]:
    return torch.zeros(n)


reveal_type(Wide()(torch.zeros(13)))
reveal_type(zeros())
"""
USE = """
import torch
from library import Derived, Layer, Wide, zeros
reveal_type(Layer(n={n})(torch.zeros({n})))
reveal_type(Layer())
reveal_type(Derived())
Layer()(torch.zeros(7))
reveal_type(Wide())
reveal_type(zeros())
"""


@pytest.mark.slow
def test_a_module_from_the_cache_says_what_it_said_at_first(tmp_path):
    cache = warm.cache(tmp_path)

    def check(size, *, default=7):
        if not (library := tmp_path / "library.py").exists() or f"= {default})" not in library.read_text():
            library.write_text(LIBRARY.format(default=default) + "\n" * default)
        (tmp_path / "use.py").write_text(USE.format(n=size) + "\n" * size)
        command = [sys.executable, "-m", "mypy", "--config-file", warm.STRICT, "--cache-dir", cache, "use.py"]
        environment = {key: value for key, value in os.environ.items() if key != "SIMPLETORCH_DEBUG"}
        environment["SIMPLETORCH_FOLLOW"] = "off"
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)
        assert "could not analyse" not in done.stdout + done.stderr
        return [line.partition(": ")[2] for line in done.stdout.splitlines() if line.startswith("use.py")]

    def revealed(size, layer):
        types = [f"Tensor[Float32, {size}]", f"library.Layer[{layer}]", f"library.Derived[{layer}]"]
        return [f'note: Revealed type is "{name}"' for name in (*types, "library.Wide[Any]", "Tensor[Float32, 19]")]

    assert check(3) == revealed(3, 7)
    assert check(5) == revealed(5, 7), "now library.py comes from the cache"
    changed = check(5, default=17)
    assert [line for line in changed if "note" in line and "Revealed" in line] == revealed(5, 17)
    assert [line for line in changed if "[tensor-shape]" in line], "7 is no longer what Layer() takes"
