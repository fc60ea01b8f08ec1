"""Devices, and what this machine has."""

from __future__ import annotations

import random

import numpy as np
import pytest
import torch

import simpletorch as st
from simpletorch import Device


def test_devices_are_torchs():
    assert torch.device("cpu") == Device.CPU
    assert Device.CUDA(1) == torch.device("cuda:1")
    assert Device.CUDA() == torch.device("cuda:0")
    assert torch.device("mps") == Device.MPS
    assert Device.Vulkan(0) == torch.device("vulkan:0")
    assert all(
        type(d) is torch.device for d in (Device.CPU, Device.CUDA(0), Device.MPS, Device.Vulkan(0), Device.best())
    )


def test_vulkan_is_a_name_only():
    assert not torch.is_vulkan_available()
    with pytest.raises(NotImplementedError, match="Vulkan"):
        torch.zeros(3, device=Device.Vulkan(0))


def test_a_device_goes_wherever_torch_takes_one():
    assert torch.zeros(2, device=Device.CPU).device == Device.CPU
    assert torch.zeros(2).to(Device.CPU).device == Device.CPU
    assert torch.nn.Linear(2, 3, device=Device.CPU).weight.device == Device.CPU
    assert torch.nn.Linear(2, 3).to(Device.best()).weight.device == Device.best()
    with Device.CPU:
        assert torch.zeros(2).device == Device.CPU


def test_isinstance_asks_torch():
    assert isinstance(torch.device("cuda"), Device)
    assert not isinstance("cpu", Device)


@pytest.mark.parametrize("index", [-1, 1.5, True, "0"])
def test_a_bad_index_is_told(index: object):
    with pytest.raises(
        ValueError, match=r"a device index is an int of 0 or more, not .*; the first is Device.CUDA\(0\)"
    ):
        Device.CUDA(index)


def test_a_device_is_not_made_by_calling():
    with pytest.raises(TypeError) as caught:
        Device("cpu")
    assert str(caught.value) == "Device('cpu'): write torch.device('cpu'), or Device.CPU, Device.CUDA(0), Device.best()"


def test_the_best_device_is_what_torch_offers():
    accelerator = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    assert Device.best().type == (accelerator.type if accelerator else "cpu")
    assert st.device_count() == (torch.accelerator.device_count() if accelerator else 0)


def test_what_the_library_says_of_torch():
    assert st.torch_available() is True
    assert st.torch_version() == torch.__version__
    assert st.cuda_available() == torch.cuda.is_available()


def test_one_seed_seeds_all_generators():
    def draw() -> tuple[float, float, float]:
        return random.random(), float(np.random.rand()), float(torch.rand(()))

    st.seed_everything(7)
    first = draw()
    assert draw() != first
    st.seed_everything(7)
    assert draw() == first


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_a_seed_out_of_range_is_told(seed: int):
    with pytest.raises(ValueError, match=rf"a seed is an int from 0 to 2\*\*32 - 1, not {seed}"):
        st.seed_everything(seed)
