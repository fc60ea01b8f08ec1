"""The fastest config, found once and kept on disk."""

from __future__ import annotations

import json

import pytest
import torch

pytest.importorskip("triton", reason="Triton is for Linux")

from simpletorch.kernels import triton
from simpletorch.kernels._triton import KERNELS
from simpletorch.kernels._tuning import bucket, cache_folder, read_choices
from tests.kernels.small_kernels import blocks, scaled_body


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """A kernel of which the second config is the fastest, on a chip that isn't there; ``timed`` counts the searches."""
    monkeypatch.setenv("SIMPLETORCH_CACHE", str(tmp_path))
    for name, known in KERNELS.items():  # which binding it again would replace
        monkeypatch.setitem(KERNELS, name, known)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "H100 of the test")
    return make()


def make():
    kernel = triton(grid=blocks, configs=[{"BLOCK": 128}, {"BLOCK": 256}, {"BLOCK": 512}])(scaled_body)
    kernel.timed = []

    def fastest(values):
        kernel.timed.append(values)
        return kernel.configs[1]

    kernel._tuning._fastest = fastest
    return kernel


def choose(kernel, n=1000, dtype=torch.float32):
    return kernel._tuning.config((torch.empty(n, dtype=dtype, device="meta"), None, n, 2.0))


def test_the_fastest_is_searched_once(kernel):
    assert choose(kernel) == {"BLOCK": 256}
    assert choose(kernel) == {"BLOCK": 256}
    assert len(kernel.timed) == 1


def test_another_dtype_or_size_is_another_search(kernel):
    choose(kernel)
    choose(kernel, dtype=torch.bfloat16)
    choose(kernel, n=5000)
    assert len(kernel.timed) == 3
    choose(kernel, n=1001 + 7)  # 1008 = 63 * 16: another alignment than 1000, the same power of two
    assert len(kernel.timed) == 4


def test_sizes_up_to_a_power_of_two_are_alike():
    assert bucket(1000) == bucket(1023) == "1024"
    assert bucket(1024) == bucket(1008) == "1024a"
    assert bucket(torch.empty(3, dtype=torch.float16)) == "float16"
    assert bucket(None) == "NoneType"


def test_the_choice_is_kept_on_disk(kernel, tmp_path):
    choose(kernel)
    (file,) = tmp_path.rglob("*.json")
    assert file.relative_to(tmp_path).parts[:2] == ("tuning", "H100-of-the-test")
    assert list(json.loads(file.read_text()).values()) == [{"BLOCK": 256}]
    later = make()
    assert choose(later) == {"BLOCK": 256}
    assert later.timed == []


@pytest.mark.parametrize("damage", [b"", b"{", b"[1, 2]", b'{"key": 3}', b"\xff\xfe"])
def test_a_damaged_file_counts_as_not_there(kernel, tmp_path, damage):
    choose(kernel)
    (file,) = tmp_path.rglob("*.json")
    file.write_bytes(damage)
    later = make()
    assert choose(later) == {"BLOCK": 256}
    assert len(later.timed) == 1
    assert read_choices(file) != {}


def test_a_choice_that_is_no_config_any_more_is_not_taken(kernel, tmp_path):
    choose(kernel)
    (file,) = tmp_path.rglob("*.json")
    file.write_text(json.dumps({key: {"BLOCK": 64} for key in json.loads(file.read_text())}))
    later = make()
    assert choose(later) == {"BLOCK": 256}
    assert len(later.timed) == 1


def test_choices_of_another_process_stay(kernel, tmp_path):
    choose(kernel)
    other = make()
    other._tuning._recall = lambda chip: None
    choose(other, n=5000)
    (file,) = tmp_path.rglob("*.json")
    assert len(json.loads(file.read_text())) == 2


def test_on_the_cpu_and_while_compiling_the_first_is_taken(kernel):
    assert kernel._tuning.config((torch.empty(7), None, 7, 2.0)) == {"BLOCK": 128}
    assert kernel.timed == []


def test_the_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("SIMPLETORCH_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "simpletorch"
    monkeypatch.setenv("SIMPLETORCH_CACHE", "off")  # of what following said
    assert cache_folder() == tmp_path / "simpletorch"
