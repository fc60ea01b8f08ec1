"""What a run was made of."""

import argparse
import dataclasses
import enum
import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import torch

import simpletorch
from simpletorch.data import TensorDataset
from simpletorch.errors import CheckpointError, DataError
from simpletorch.reproducibility import Manifest, checksum


class Mode(enum.Enum):
    FAST = 1


@dataclasses.dataclass
class Config:
    rate: float = 0.1
    layers: tuple[int, ...] = (3, 5)
    path: pathlib.Path = pathlib.Path("data")
    mode: Mode = Mode.FAST
    dtype: torch.dtype = torch.float32


def test_it_says_what_decides_a_result():
    manifest = Manifest.collect(config=Config(), data={"x": torch.ones(3)}, seed=7)
    assert manifest.config == {"rate": 0.1, "layers": [3, 5], "path": "data", "mode": "FAST", "dtype": "torch.float32"}
    assert manifest.versions["torch"].split("+")[0] == torch.__version__.split("+")[0]
    assert manifest.versions["simpletorch"] == simpletorch.__version__
    assert manifest.system["threads"] == torch.get_num_threads()
    assert manifest.seed == 7
    assert manifest.data == {"x": checksum(torch.ones(3))}
    assert manifest.command == [sys.executable, *sys.argv]


def test_it_comes_back_from_its_file(tmp_path):
    manifest = Manifest.collect(config={"a": [1, None]}, seed=3)
    assert Manifest.load(manifest.save(tmp_path / "new" / "manifest.json")) == manifest
    assert json.loads((tmp_path / "new" / "manifest.json").read_text())["config"] == {"a": [1, None]}


def test_what_differs_is_listed():
    one = Manifest.collect(config={"rate": 0.1, "old": 1}, data={"x": torch.ones(3)}, seed=3)
    other = Manifest.collect(config={"rate": 0.2, "new": 2}, data={"x": torch.zeros(3)}, seed=3)
    lines = one.differences(dataclasses.replace(other, written="later", command=["other"]))
    assert lines == [
        "config.new: nothing then, 2 now",
        "config.old: 1 then, nothing now",
        "config.rate: 0.1 then, 0.2 now",
        f"data.x: {checksum(torch.ones(3))!r} then, {checksum(torch.zeros(3))!r} now",
    ]
    assert one.differences(one) == []


@pytest.mark.parametrize(
    ("config", "plain"),
    [
        (argparse.Namespace(a=1, b=None), {"a": 1, "b": None}),
        ({1: {2, 1}}, {"1": [1, 2]}),
        ("text", "text"),
        (torch.device("cuda", 1), "cuda:1"),
    ],
)
def test_settings_become_plain_data(config, plain):
    assert Manifest.collect(config=config).config == plain


def test_settings_that_are_no_data_are_refused_by_their_place():
    with pytest.raises(DataError, match=r"config\.a\.1 is a builtin_function_or_method"):
        Manifest.collect(config={"a": [1, len]})


def run(folder, *command):
    subprocess.run(["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@b", *command], check=True)


def test_the_state_of_the_code(tmp_path):
    assert Manifest.collect(folder=tmp_path).git is None
    run(tmp_path, "init", "-q", "-b", "trunk")
    (tmp_path / "a.py").write_text("1")
    run(tmp_path, "add", "a.py")
    run(tmp_path, "commit", "-q", "-m", "one")
    clean = Manifest.collect(folder=tmp_path).git
    assert clean["branch"] == "trunk"
    assert len(clean["commit"]) == 40
    assert clean["changes"] is None
    assert clean["untracked"] == []
    (tmp_path / "a.py").write_text("2")
    (tmp_path / "b.py").write_text("3")
    changed = Manifest.collect(folder=tmp_path).git
    assert changed["commit"] == clean["commit"]
    assert len(changed["changes"]) == 64
    assert changed["untracked"] == ["b.py"]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"written": 1}'])
def test_what_is_no_manifest_is_refused(tmp_path, content):
    (tmp_path / "a").write_text(content)
    with pytest.raises(CheckpointError, match="is no manifest"):
        Manifest.load(tmp_path / "a")
    with pytest.raises(CheckpointError, match="can't read"):
        Manifest.load(tmp_path / "b")


class Samples(torch.utils.data.Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return torch.full((2,), index), str(index)


DATA = {
    "tensor": lambda: torch.arange(6.0),
    "its shape": lambda: torch.arange(6.0).reshape(2, 3),
    "its dtype": lambda: torch.arange(6.0).view(torch.int32),
    "a value": lambda: torch.arange(6.0) + 1e-6,
    "bfloat16": lambda: torch.arange(6, dtype=torch.bfloat16),
    "array": lambda: np.arange(6.0, dtype=np.float32),
    "list": lambda: [torch.arange(6.0)],
    "two": lambda: [torch.arange(3.0), torch.arange(3.0, 6.0)],
    "mapping": lambda: {"x": torch.arange(6.0)},
    "dataset": lambda: TensorDataset(torch.arange(6.0), torch.arange(6)),
    "samples": lambda: Samples(3),
    "more samples": lambda: Samples(5),
    "number": lambda: 6,
    "text": lambda: "6",
    "nothing": lambda: None,
}


def test_different_data_have_different_checksums_and_the_same_the_same():
    first = {name: checksum(make()) for name, make in DATA.items()}
    assert {name: checksum(make()) for name, make in DATA.items()} == first
    assert len(set(first.values())) == len(DATA)


def test_a_layout_in_memory_is_not_data():
    tensor = torch.arange(15).reshape(3, 5)
    assert checksum(tensor.T) == checksum(tensor.T.contiguous())


def test_files_and_folders(tmp_path):
    (tmp_path / "a" / "sub").mkdir(parents=True)
    (tmp_path / "a" / "x").write_bytes(b"12")
    (tmp_path / "a" / "sub" / "y").write_bytes(b"34")
    whole = checksum(tmp_path / "a")
    (tmp_path / "a").rename(tmp_path / "b")
    assert checksum(tmp_path / "b") == whole
    (tmp_path / "b" / "x").write_bytes(b"13")
    assert checksum(tmp_path / "b") != whole
    (tmp_path / "b" / "x").write_bytes(b"12")
    (tmp_path / "b" / "x").rename(tmp_path / "b" / "z")
    assert checksum(tmp_path / "b") != whole
    (tmp_path / "copy").write_bytes(b"34")
    assert checksum(tmp_path / "copy") == checksum(tmp_path / "b" / "sub" / "y")


def test_what_has_no_checksum(tmp_path):
    with pytest.raises(DataError, match="there is no checksum of a builtin_function_or_method"):
        checksum({"a": len})
    with pytest.raises(DataError, match="can't read"):
        checksum(tmp_path / "nowhere")
