"""`kernels.extension`: what is compiled runs, and what can't be compiled is said in one sentence."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest
import torch

from simpletorch import kernels
from simpletorch.errors import BackendError
from simpletorch.kernels import _extension

EXAMPLE = Path(__file__).parents[2] / "examples/kernels/relu_add.py"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(tmp_path / "builds"))
    return tmp_path


SMALL = """\
#include <pybind11/pybind11.h>

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("twice", [](int x) { return 2 * x; });
}
"""


@pytest.mark.slow
def test_a_source_is_built_once_and_runs(folder: Path):
    """The example below includes torch's headers, which take half a minute to compile."""
    source = folder / "small.cpp"
    source.write_text(SMALL)
    assert kernels.extension(source, flags=["-O0"]).twice(7) == 14
    built = {path: path.stat().st_mtime_ns for path in (folder / "builds").rglob("*.so")}
    assert len(built) == 1
    assert kernels.extension(source, flags=["-O0"]).twice(11) == 22
    assert {path: path.stat().st_mtime_ns for path in (folder / "builds").rglob("*.so")} == built


@pytest.mark.thorough
@pytest.mark.slow
def test_the_example_is_built_and_right():
    names = runpy.run_path(str(EXAMPLE))
    relu_add = names["relu_add"]
    x, y = torch.randn(131, 997), torch.randn(131, 997)
    assert torch.equal(relu_add(x, y), torch.relu(x + y))
    assert "implementation on cpu" in str(kernels.verify(relu_add))
    again = kernels.extension(EXAMPLE.with_suffix(".cpp"), openmp=True)
    assert again.relu_add is not None


def test_the_compilers_first_errors_are_told(folder: Path):
    (folder / "broken.cpp").write_text("int f() { return missing; }\nint g() { return also_missing; }\n")
    with pytest.raises(BackendError) as caught:
        kernels.extension(folder / "broken.cpp")
    first, second, *_ = str(caught.value).splitlines()
    assert first.startswith("extension(broken): broken.cpp:1: ")
    assert "missing" in first
    assert "broken.cpp:2: " in second


def test_a_source_that_is_not_there_is_named():
    with pytest.raises(FileNotFoundError, match=r"gone\.cpp isn't there; the sources of an extension are looked for"):
        kernels.extension("gone.cpp")


def test_a_compiler_that_is_not_there_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch):
    (folder / "f.cpp").touch()
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(BackendError, match=r"extension\(f\): there is no C\+\+ compiler 'no-such-compiler'"):
        kernels.extension(folder / "f.cpp")


def test_ninja_that_is_not_there_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch):
    (folder / "f.cpp").touch()
    (folder / "bin").mkdir()
    (folder / "bin/c++").symlink_to("/bin/true")
    monkeypatch.setenv("PATH", str(folder / "bin"))
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    with pytest.raises(BackendError, match="there is no ninja, with which torch builds extensions"):
        kernels.extension(folder / "f.cpp")


def test_a_cuda_source_needs_a_toolkit(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("torch.utils.cpp_extension.CUDA_HOME", None)
    monkeypatch.setattr("torch.utils.cpp_extension.ROCM_HOME", None)
    (folder / "f.cu").touch()
    with pytest.raises(BackendError, match=r"there is no CUDA toolkit to compile f\.cu"):
        kernels.extension(folder / "f.cu")


def test_a_build_belongs_to_text_flags_and_versions(folder: Path):
    source = folder / "f.cpp"
    source.write_text("one")

    def key(*flags: str) -> Path:
        return _extension._build_folder("f", [source], "c++", flags)

    first = key()
    assert key() == first
    assert key("-O2") != first
    source.write_text("another")
    assert key() != first
