"""`hub.load`: a local folder for real; a repository on GitHub with the network replaced."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Protocol
from urllib.error import URLError

import pytest
import torch

from simpletorch import Float32, Tensor
from simpletorch.dims import B
from simpletorch.errors import BackendError, DataError, ShapeMismatch, TorchError, TypeMismatch
from simpletorch.interop import hub

COMMIT = "96e779759f74384da5c54db571b9ad0b90c6f4ee"
HUBCONF = """
dependencies = ["torch"]
from pathlib import Path

import torch

Path(__file__).with_name("ran").touch()

def linear(width=5, bias=True):
    return torch.nn.Linear(3, width, bias)

def number():
    return 7

def _hidden():
    return None
"""


class Call(Protocol):
    def __call__(self, input: Tensor[Float32, B, 3]) -> Tensor[Float32, B, 5]: ...


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "mine"
    made.mkdir()
    (made / "hubconf.py").write_text(HUBCONF)
    return made


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """torch.hub's folder."""
    monkeypatch.setattr(torch.hub, "_hub_dir", str(tmp_path / "hub"))  # as set_dir does, which can't be taken back
    return tmp_path / "hub"


# -- a folder ----------------------------------------------------------------------------------------------------------


def test_a_folder(folder):
    model = hub.load(folder, "linear", 7, trust=True, bias=False)
    assert isinstance(model, torch.nn.Linear)
    assert model(torch.zeros(2, 3)).shape == (2, 7)
    assert model.bias is None


def test_typed(folder):
    model = hub.load(str(folder), "linear", trust=True, signature=Call)
    assert model(torch.zeros(2, 3)).shape == (2, 5)
    with pytest.raises(ShapeMismatch, match="Linear: input has 1 dim, not 2"):
        model(torch.zeros(3))


def test_nothing_runs_without_trust(folder):
    with pytest.raises(TorchError, match="has code of its own, which would run here; trust=True says that it may"):
        hub.load(folder, "linear")
    with pytest.raises(TorchError, match=r"has no 'conv'; its hubconf\.py has .*linear, number"):
        hub.load(folder, "conv", trust=True)
    assert hub.entry_points(folder) == ("Path", "linear", "number")
    assert not (folder / "ran").exists()


def test_what_makes_no_module(folder):
    with pytest.raises(TypeMismatch, match=r"number of .* makes a int, no module"):
        hub.load(folder, "number", trust=True)


def test_packages_that_are_missing(folder):
    (folder / "hubconf.py").write_text(HUBCONF.replace('["torch"]', '["torch", "no_such_package"]'))
    with pytest.raises(BackendError, match="Missing dependencies: no_such_package"):
        hub.load(folder, "linear", trust=True)


def test_a_folder_without_a_readable_hubconf(tmp_path):
    with pytest.raises(DataError, match=r"has no hubconf\.py that can be read: No such file"):
        hub.load(tmp_path, "linear", trust=True)
    (tmp_path / "hubconf.py").write_text("def (")
    with pytest.raises(DataError, match="is no Python"):
        hub.load(tmp_path, "linear", trust=True)


# -- a repository ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("repo", "reason"),
    [
        ("pytorch/vision", "pytorch/vision is named with no commit"),
        ("pytorch/vision:main", "pytorch/vision is named with 'main', which may be another tomorrow"),
        (f"pytorch/vision:{COMMIT[:12]}", "which may be another tomorrow"),
        ("vision", "is neither a folder nor owner/name:commit"),
        (f"https://github.com/pytorch/vision:{COMMIT}", "is neither a folder nor owner/name:commit"),
    ],
)
def test_what_is_not_pinned_is_refused(repo, reason):
    with pytest.raises(TorchError, match=reason) as caught:
        hub.load(repo, "resnet18", trust=True)
    assert isinstance(caught.value, ValueError)


def test_how_to_pin_is_said():
    with pytest.raises(TorchError, match=r"git ls-remote https://github.com/pytorch/vision HEAD says the newest"):
        hub.load("pytorch/vision", "resnet18", trust=True)


def test_trust_is_needed_before_anything_is_fetched(cache, monkeypatch):
    monkeypatch.setattr(torch.hub, "download_url_to_file", lambda *a, **k: pytest.fail("fetched"))
    with pytest.raises(TorchError, match="trust=True says that it may"):
        hub.load(f"me/mine:{COMMIT}", "linear")


def test_a_repository_is_fetched_once(cache, folder, monkeypatch):
    fetched: list[str] = []

    def fetch(url, path, **_):
        fetched.append(url)
        inner = Path(path).parent / "zipped" / f"mine-{COMMIT}"
        shutil.copytree(folder, inner)
        shutil.make_archive(str(Path(path).with_suffix("")), "zip", inner.parent, inner.name)

    monkeypatch.setattr(torch.hub, "download_url_to_file", fetch)
    for _ in range(2):
        model = hub.load(f"me/mine:{COMMIT}", "linear", trust=True)
        assert model(torch.zeros(2, 3)).shape == (2, 5)
    assert fetched == [f"https://github.com/me/mine/zipball/{COMMIT}"]


def test_without_a_network(cache, monkeypatch):
    def fetch(url, path, **_):
        raise URLError("Temporary failure in name resolution")

    monkeypatch.setattr(torch.hub, "download_url_to_file", fetch)
    with pytest.raises(DataError, match=r"can't be fetched from GitHub: .*name resolution") as caught:
        hub.load(f"me/mine:{COMMIT}", "linear", trust=True)
    assert "git clone https://github.com/me/mine" in str(caught.value)


def test_what_is_no_archive(cache, monkeypatch):
    monkeypatch.setattr(torch.hub, "download_url_to_file", lambda url, path, **_: Path(path).write_text("<html>"))
    with pytest.raises(DataError, match=r"repository\.zip is no archive that is known here"):
        hub.load(f"me/mine:{COMMIT}", "linear", trust=True)
    assert list(cache.iterdir()) == []


def test_nothing_of_a_library_is_loaded_with_the_package():
    code = "import sys, simpletorch.interop as i; dir(i); print('torch' in sys.modules, 'transformers' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout == b"False False\n"
